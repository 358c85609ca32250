"""Templates are those of the package; what models and data say is never one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from jinja2 import TemplateNotFound, UndefinedError

from figlang_tasks.benchmarks.metaclue import task as metaclue
from figlang_tasks.benchmarks.vflute import task as vflute
from figlang_tasks.core.prompting import render

ROOT = Path(__file__).resolve().parents[2]
HOSTILE = (
    "{{ 7 * 7 }} {% for x in ().__class__.__mro__ %}{{ x }}{% endfor %} {# gone #} {{ cycler.__init__.__globals__ }}"
)


def test_data_is_shown_as_it_is() -> None:
    assert HOSTILE in render("vflute/question.jinja", instruction=1, claim=HOSTILE)
    assert HOSTILE in render("vflute/scene_graph_answer.jinja", scene_graph=HOSTILE, question="q")
    assert HOSTILE in render("flute/v2.jinja", premise=HOSTILE, hypothesis=HOSTILE)


def test_what_a_model_said_first_is_no_template_of_the_second_prompt() -> None:
    doc = {"claim": "c", "instruction": 1, "dataset": "d", "id": "i", "image": None}
    visuals_prompt = vflute.scene_graph_doc_to_text(doc, {"blind": True}, [HOSTILE])
    assert HOSTILE in str(visuals_prompt[1])


@pytest.mark.parametrize("name", ["../pyproject.toml", "/etc/hosts", "vflute/../../README.md", "..\\README.md", ""])
def test_templates_come_from_one_folder(name: str) -> None:
    with pytest.raises((TemplateNotFound, IsADirectoryError)):
        render(name)


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError):
        render("vflute/question.jinja", instruction=1)


@pytest.mark.parametrize("prompt", ["../../README", "/etc/hosts", "draw", "caption\0", ["caption"], None])
def test_users_choose_among_named_templates_alone(prompt: object) -> None:
    with pytest.raises(ValueError, match="option prompt="):
        metaclue.Options.of_task({"prompt": prompt}, "caption")


# A template by a computed name: file -> the names that fill it, all checked against a fixed set before.
COMPUTED = {
    "figlang_tasks/benchmarks/admire/task.py": {"template"},  # of Options.prompt of that file
    "figlang_tasks/benchmarks/irfl/task.py": {"options.prompt"},  # PROMPTS of that file
    "figlang_tasks/benchmarks/flute/task.py": {"doc['prompt']"},  # v1 or v2: parse.Prompt
    "figlang_tasks/benchmarks/metaclue/task.py": {
        "Options.of_task(lmms_eval_specific_kwargs, task_of(doc)).prompt"
    },  # PROMPTS
    "figlang_tasks/benchmarks/metaclue/rows.py": {"role", "template"},  # constants of that file
}


def test_no_template_has_a_name_from_elsewhere() -> None:
    for path in sorted((ROOT / "figlang_tasks").rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if name == "figlang_tasks/core/prompting.py":
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and node.attr == "from_string":
                raise AssertionError(f"{name}:{node.lineno}: a text becomes a template")
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "render"
                and node.args
            ):
                parts = [part for part in ast.walk(node.args[0]) if isinstance(part, ast.FormattedValue)]
                names = {ast.unparse(part.value) for part in parts}
                constant = isinstance(node.args[0], ast.Constant | ast.JoinedStr)
                assert names <= COMPUTED.get(name, set()) and (constant or "report/page.py" in name), (
                    f"{name}:{node.lineno}"
                )
