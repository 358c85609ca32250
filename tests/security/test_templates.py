"""Templates are those of the package; what models and data say is never one."""

from __future__ import annotations

import pytest
from jinja2 import UndefinedError

from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.core.prompting import render

HOSTILE = (
    "{{ 7 * 7 }} {% for x in ().__class__.__mro__ %}{{ x }}{% endfor %} {# gone #} {{"
    " cycler.__init__.__globals__ }}"
)


def test_data_is_shown_as_it_is() -> None:
    assert HOSTILE in render("vflute/question.jinja", instruction=1, claim=HOSTILE)


def test_what_a_model_said_first_is_no_template_of_the_second_prompt() -> None:
    doc = {"claim": "c", "instruction": 1, "dataset": "d", "id": "i", "image": None}
    visuals_prompt = vflute.scene_graph_doc_to_text(doc, {"blind": True}, [HOSTILE])
    assert HOSTILE in str(visuals_prompt[1])


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("vflute/question.jinja", instruction=1)
