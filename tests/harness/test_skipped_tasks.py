"""A group leaves out what a model cannot do, and says so; a task named alone is refused."""

from __future__ import annotations

import argparse
from pathlib import Path

import lmms_eval.tasks
import pytest
from commands import logged_warnings
from demo_runs import FixedAnswers, evaluate, task_manager

from figlang_tasks import FigLangError
from figlang_tasks.cli.lmms_eval import ending
from figlang_tasks.harness.preflight import preflight

GROUP = "figlang_mini_irfl"
NEEDS_SCORES = "figlang_mini_irfl_match_idiom"
ANSWERED = ("figlang_mini_irfl_detect_idiom", "figlang_mini_irfl_retrieve_metaphor")
LINE = f"skipped: {NEEDS_SCORES} (needs scores)"


@pytest.fixture
def user_groups(tmp_path: Path) -> str:
    """A folder with groups of a user's: one has a mean and an inner group, and one scores alone."""
    (tmp_path / "outer.yaml").write_text(
        f"group: outer\ntask: [{ANSWERED[0]}, inner, scores_alone]\n"
        "aggregate_metric_list: [{metric: acc, aggregation: mean, weight_by_size: false}]\n"
        "generation_kwargs: {max_new_tokens: 7}\n"
    )
    (tmp_path / "inner.yaml").write_text(
        f"group: inner\ntask: [{NEEDS_SCORES}, figlang_mini_irfl_detect_idiom_grid]\n"
    )
    (tmp_path / "scores_twice.yaml").write_text(
        f"group: scores_twice\ntask: [scores_alone, {ANSWERED[0]}, "
        "{group: inline, task: [scores_alone]}, scores_alone]\n"
    )
    (tmp_path / "scores_alone.yaml").write_text(f"group: scores_alone\ntask: [{NEEDS_SCORES}]\n")
    return str(tmp_path)


def test_a_group_leaves_out_what_the_model_cannot_do() -> None:
    with logged_warnings() as warnings:
        results = evaluate(GROUP, FixedAnswers("A"), limit=6)
    assert f"figlang_tasks: {LINE}" in warnings
    assert results["config"]["skipped"] == {NEEDS_SCORES: "needs scores"}
    assert NEEDS_SCORES not in results["results"]
    assert set(ANSWERED) <= set(results["group_subtasks"][GROUP])
    assert LINE in ending(results, []).splitlines()
    assert NEEDS_SCORES in evaluate(GROUP, "figlang_random", limit=6)["results"]


def test_a_users_group_keeps_its_other_members_and_its_settings(user_groups: str) -> None:
    results = evaluate("outer", FixedAnswers("A"), include_path=user_groups)
    detecting = {ANSWERED[0], "figlang_mini_irfl_detect_idiom_grid"}
    assert set(results["configs"]) == detecting
    assert "acc,none" in results["groups"]["outer"]
    assert f"{LINE}. The means of groups are without them" in ending(results, []).splitlines()
    for config in results["configs"].values():
        assert config["generation_kwargs"]["max_new_tokens"] == 7


@pytest.mark.parametrize("tasks", [[NEEDS_SCORES], ["scores_alone"], [GROUP, "scores_alone"]])
def test_what_nothing_would_be_left_of_is_refused(tasks: list[str], user_groups: str) -> None:
    with pytest.raises(FigLangError, match=f"task {NEEDS_SCORES}: it compares scores"):
        evaluate(tasks, FixedAnswers("A"), include_path=user_groups)
    assert NEEDS_SCORES in task_manager(user_groups, None).task_index


def test_a_group_that_is_empty_is_left_out_wherever_it_stands(user_groups: str) -> None:
    results = evaluate("scores_twice", FixedAnswers("A"), limit=2, include_path=user_groups)
    assert set(results["configs"]) == {ANSWERED[0]}
    assert results["group_subtasks"] == {"scores_twice": [ANSWERED[0]]}


def test_a_pattern_leaves_out_what_the_model_cannot_do(user_groups: str) -> None:
    """The harness replaces a pattern by names before it evaluates."""
    selection = f"{GROUP}_[dm]*,scores_*"
    names = task_manager(user_groups, None).match_tasks(selection.split(","))
    assert {NEEDS_SCORES, "scores_alone"} < set(names)
    results = evaluate(
        names,
        FixedAnswers("A"),
        limit=2,
        include_path=user_groups,
        cli_args=argparse.Namespace(tasks=selection, model_args=None, process_with_media=True),
    )
    assert results["config"]["skipped"] == {NEEDS_SCORES: "needs scores"}
    assert ANSWERED[0] in results["results"] and NEEDS_SCORES not in results["results"]
    assert set(results["group_subtasks"]) & {"scores_alone", "scores_twice"} == {"scores_twice"}


@pytest.mark.parametrize("selection", [f"{GROUP}*,scores_al*", f"{GROUP}*,{NEEDS_SCORES}"])
def test_beside_a_pattern_the_rest_is_refused_as_ever(selection: str, user_groups: str) -> None:
    manager = task_manager(user_groups, "idefics2")
    names = manager.match_tasks(selection.split(","))
    with pytest.raises(FigLangError, match=f"task {NEEDS_SCORES}: it compares scores"):
        preflight(manager, names, model="idefics2", selection=selection)
    assert preflight(manager, names, model="idefics2", selection=f"{GROUP}*").skipped


# --- beside tasks of others ---

OTHERS_TASK = """
task: letters
dataset_path: json
dataset_kwargs: {{data_files: {{test: {folder}/letters.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "Say {{{{letter}}}}."
doc_to_target: "{{{{letter}}}}"
metric_list: [{{metric: exact_match, aggregation: mean, higher_is_better: true}}]
"""


def test_a_group_is_left_with_a_task_of_others(tmp_path: Path) -> None:
    """The task of ours was once evaluated there all the same, without a value."""
    (tmp_path / "letters.jsonl").write_text('{"letter": "A"}\n{"letter": "B"}\n')
    (tmp_path / "letters.yaml").write_text(OTHERS_TASK.format(folder=tmp_path))
    (tmp_path / "mixed.yaml").write_text(f"group: mixed\ntask: [letters, {NEEDS_SCORES}]\n")
    results = evaluate("mixed", FixedAnswers("A"), include_path=str(tmp_path))
    assert set(results["configs"]) == {"letters"}
    assert results["results"]["letters"]["exact_match,none"] == 0.5
    assert results["config"]["skipped"] == {NEEDS_SCORES: "needs scores"}


def test_a_group_is_left_with_a_task_of_the_harness(tmp_path: Path) -> None:
    (tmp_path / "mixed.yaml").write_text(f"group: mixed\ntask: [mmmu_val, {NEEDS_SCORES}]\n")
    manager = task_manager(str(tmp_path), "idefics2")
    # As the harness enters its own tasks, which this manager leaves out because that takes seconds.
    file = Path(lmms_eval.tasks.__file__).parent / "mmmu" / "mmmu_val.yaml"
    assert file.is_file()
    manager.task_index["mmmu_val"] = {"type": "task", "yaml_path": str(file)}
    checked = preflight(manager, ["mixed"], model="idefics2")
    assert (checked.configs, checked.skipped) == ([], {NEEDS_SCORES: "needs scores"})
