"""The task definitions of both harnesses: pinned, complete, and the same where they must be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lmms_eval import utils

from figlang_tasks import resource_dir
from figlang_tasks.benchmarks.nykms import rows, task
from figlang_tasks.benchmarks.nykms.measures import BY_QUESTION
from figlang_tasks.benchmarks.nykms.parse import QUESTIONS
from figlang_tasks.core.prompting import prompt_hash
from figlang_tasks.harness import plugin

LMMS = plugin.tasks_dir()
TEXT = resource_dir("task_yamls") / "lm_eval" / "nykms"
SINGLES = tuple(question for question in QUESTIONS if question not in ("metaphor", "sarcasm"))


def config(path: Path) -> dict[str, Any]:
    return utils.load_yaml_config(str(path))


def files(folder: Path) -> dict[str, dict[str, Any]]:
    return {path.stem: config(path) for path in folder.glob("*.yaml") if not path.name.startswith("_")}


def tasks(folder: Path) -> dict[str, dict[str, Any]]:
    return {name: loaded for name, loaded in files(folder).items() if "group" not in loaded}


def test_task_files_list_the_measures_of_their_question() -> None:
    for folder in (LMMS / "nykms", LMMS / "mini" / "nykms", TEXT):
        for name, loaded in tasks(folder).items():
            question = name.removeprefix("figlang_mini_").removeprefix("nykms_").partition("_")[0]
            expected = [(row["metric"], row["higher_is_better"]) for row in BY_QUESTION[question]]
            listed = [(row["metric"], row["higher_is_better"]) for row in loaded["metric_list"]]
            assert listed == expected, name
            assert {name for name, better in expected if not better} == {"refusal_rate", "unfinished"}


def test_both_harnesses_ask_and_judge_by_the_same_functions() -> None:
    ours, theirs = tasks(TEXT), tasks(LMMS / "nykms") | tasks(LMMS / "mini" / "nykms")
    for name, loaded in ours.items():
        other = theirs[name]
        for key in ("doc_to_text", "doc_to_target", "output_type"):
            assert loaded[key] == other[key], (name, key)
        assert (other["process_results"], loaded["process_results"]) == (
            task.process_results,
            task.lm_eval_process_results,
        )
        assert loaded["metadata"]["version"] == other["metadata"]["version"]
        assert loaded["generation_kwargs"]["max_gen_toks"] == other["generation_kwargs"]["max_new_tokens"] == 256


def test_prompt_hashes_of_the_text_files_are_current() -> None:
    # Those of lmms-eval: tests/test_task_files.py.
    for loaded in tasks(TEXT).values():
        assert loaded["metadata"]["prompt_hash"] == prompt_hash("nykms")


@pytest.mark.parametrize("folder", [LMMS / "mini" / "nykms", TEXT], ids=["lmms_eval", "lm_eval"])
def test_revisions_of_the_shipped_data_are_current(folder: Path) -> None:
    found = {name: loaded for name, loaded in tasks(folder).items() if name.startswith("figlang_mini")}
    assert found
    for name, loaded in found.items():
        question, _, form = name.removeprefix("figlang_mini_nykms_").partition("_")
        data = rows.load("figlang_mini_nykms", question, form or "image")[0]["data"]  # type: ignore[arg-type]
        assert data.endswith(f":{loaded['metadata']['data_revision']}"), name
