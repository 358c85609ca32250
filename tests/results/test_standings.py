"""Runs stand beside each other only if they are comparable, best first."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from loguru import logger
from saved_runs import METADATA, sample_lines, write_run

import figlang_tasks
from figlang_tasks.results.run_names import with_distinct_names
from figlang_tasks.results.runs import read
from figlang_tasks.results.standings import comparable_sets
from figlang_tasks.results.task_run import Run

TASK = "figlang_mini_irfl_detect_idiom"
Answer = Callable[[Mapping[str, Any], int], str]


def answering(share: float) -> Answer:
    """An answer that is right for this share of the documents; the other ones are left out."""

    def answer(doc: Mapping[str, Any], number: int) -> str:
        right = "ABCD"[int(doc["answer"])] if isinstance(doc["answer"], int) else "A"
        return right if number < share * 12 else "I would not say."

    return answer


def run(folder: Path, share: float, count: int | None = None, **results: Any) -> Run:
    lines = sample_lines(TASK, count, answering(share))
    return read(f"{folder.name}={write_run(folder, {TASK: lines}, **results)}")


def of_version(version: str) -> dict[str, Any]:
    """The sections of a results file of another version of the task."""
    return {"configs": {TASK: {"task": TASK, "metadata": METADATA | {"version": version}}}}


def accuracy(of_run: Run) -> float:
    """The share of right answers, from the records."""
    records = of_run.tasks[TASK].records
    return sum(record["chosen"] == record["answer"] for record in records) / len(records)


def test_runs_are_ranked_with_letters_of_what_cannot_be_told_apart(tmp_path: Path) -> None:
    runs = [run(tmp_path / "weak", 0.0), run(tmp_path / "good", 1.0), run(tmp_path / "near", 0.9)]
    (compared,) = comparable_sets(TASK, runs, resamples=2000)
    assert [standing.name for standing in compared.standings] == ["good", "near", "weak"]
    values = {standing.name: standing.value for standing in compared.standings}
    assert values == {of_run.name: pytest.approx(accuracy(of_run)) for of_run in runs}
    assert [standing.letters for standing in compared.standings] == ["a", "a", "b"]
    assert compared.tests == len(compared.differences) == 3


def test_partial_runs_and_other_rows_are_sets_of_their_own(tmp_path: Path) -> None:
    whole = [run(tmp_path / "a", 0.9), run(tmp_path / "b", 0.2)]
    sizes = {"n-samples": {TASK: {"original": 12, "effective": 8}}}
    partial = run(tmp_path / "cut", 0.9, count=8, config={"limit": 8}, **sizes)
    fewer = run(tmp_path / "fewer", 0.9, count=10)
    sets = comparable_sets(TASK, [partial, fewer, *whole], resamples=200)
    assert [len(compared.standings) for compared in sets] == [2, 1, 1]
    assert [compared.reasons_apart_from(sets[0]) for compared in sets[1:]] == [
        ["other rows (10)"],
        ["partial (limit 8)"],
    ]
    assert sets[2].standings[0].letters == "", "a single run is not tested"


def test_other_versions_are_sets_of_their_own(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / "a", 0.9),
        run(tmp_path / "b", 0.5, **of_version("2-9")),
        run(tmp_path / "new", 0.5, **of_version("3-0")),
    ]
    sets = comparable_sets(TASK, runs, resamples=200)
    assert [[s.name for s in compared.standings] for compared in sets] == [["a", "b"], ["new"]]
    assert sets[1].reasons_apart_from(sets[0]) == ["task version 3-0, not 2-0"]


def test_a_run_of_unknown_version_does_not_bring_two_versions_into_one_set(tmp_path: Path) -> None:
    runs = [
        run(tmp_path / "unknown", 0.9, configs={}),
        run(tmp_path / "old", 0.5),
        run(tmp_path / "new", 0.5, **of_version("3-0")),
    ]
    sets = comparable_sets(TASK, runs, resamples=200)
    names = [{standing.name for standing in compared.standings} for compared in sets]
    assert names == [{"unknown", "old"}, {"new"}]
    assert sets[1].reasons_apart_from(sets[0]) == ["task version 3-0, not 2-0"]


def test_runs_that_share_one_of_their_tasks_are_ranked_without_a_warning(
    tmp_path: Path,
) -> None:
    lines = {TASK: sample_lines(TASK), "figlang_mini": sample_lines("figlang_mini", 6)}
    both = read(f"both={write_run(tmp_path / 'both', lines)}")
    messages: list[str] = []
    handler = logger.add(messages.append, level="WARNING")
    (compared,) = comparable_sets(TASK, [both, run(tmp_path / "one", 0.5)], resamples=200)
    logger.remove(handler)
    assert len(compared.standings) == 2
    assert messages == []


def test_other_scorers_of_explanations_are_sets_of_their_own(tmp_path: Path) -> None:
    task = "figlang_mini"
    runs = []
    for name, scorer in (("a", "vflute"), ("b", "vflute"), ("c", "embedded")):
        lines = sample_lines(task, 6)
        for number, line in enumerate(lines):
            scores = {"scorer": scorer, "bertscore": 0.5, "bleurt": 0.5, "mean": number / 6}
            line["sample"]["explanation_scores"] = scores
        metadata = METADATA | {"explanation_scorer": f"{scorer}|x:1"}
        configs = {task: {"task": task, "metadata": metadata}}
        runs.append(read(f"{name}={write_run(tmp_path / name, {task: lines}, configs=configs)}"))
    sets = comparable_sets(task, runs, resamples=200)
    assert [len(compared.standings) for compared in sets] == [2, 1]
    reason = "explanations scored by embedded, not by vflute"
    assert sets[1].reasons_apart_from(sets[0]) == [reason]
    assert (sets[0].scorer, sets[1].scorer) == ("vflute|x:1", "embedded|x:1")


def test_repeats_have_one_standing_with_their_mean(tmp_path: Path) -> None:
    runs = []
    for name, share in (("seed1", 0.9), ("seed2", 0.5), ("b", 0.0)):
        folder = write_run(tmp_path / name, {TASK: sample_lines(TASK, None, answering(share))})
        runs.append(read(f"{'b' if name == 'b' else 'a'}={folder}"))
    (compared,) = comparable_sets(TASK, runs, resamples=200)
    first = compared.standings[0]
    assert (first.name, len(first.task_runs), first.estimate) == ("a", 2, None)
    assert first.value == pytest.approx((accuracy(runs[0]) + accuracy(runs[1])) / 2)


# --- names ---


def named(folder: Path, model: str, arguments: str, gen_kwargs: str = "") -> Run:
    """A run of a model that is called ``m``."""
    config = {"model": model, "model_args": arguments, "gen_kwargs": gen_kwargs}
    lines = {TASK: sample_lines(TASK, 2)}
    return read(str(write_run(folder, lines, config, model_name="org/m")))


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ([("figlang_vlm", "", ""), ("figlang_blind", "", "")], ["figlang_vlm", "figlang_blind"]),
        (
            [("c", "pretrained=org/m,revision=v1", ""), ("c", "pretrained=org/m,revision=v2", "")],
            ["m (revision=v1)", "m (revision=v2)"],
        ),
        (
            [("c", "pretrained=org/m", ""), ("c", "pretrained=org/m,peft=/home/me/tuned", "")],
            ["m", "m (peft=tuned)"],
        ),
        (
            [("c", "", "temperature=0.2,top_p=1"), ("c", "", "temperature=0.7,top_p=1")],
            ["m (temperature=0.2)", "m (temperature=0.7)"],
        ),
        ([("c", "", ""), ("c", "", "")], ["m (0)", "m (1)"]),
        (
            [("c", "revision=1", ""), ("d", "revision=1", ""), ("c", "revision=2", "")],
            ["m (0)", "m (1)", "m (2)"],
        ),
    ],
)
def test_runs_of_one_model_are_named_by_what_differs(
    settings: list[tuple[str, str, str]], names: list[str], tmp_path: Path
) -> None:
    runs = []
    for number, setting in enumerate(settings):
        runs.append(named(tmp_path / str(number) / "model", *setting))
    assert [of_run.name for of_run in with_distinct_names(runs)] == names


def test_a_class_that_names_two_runs_stands_behind_the_name_of_the_model(tmp_path: Path) -> None:
    runs = []
    for model in ("m1", "m2"):
        for model_class in ("c", "d"):
            folder = tmp_path / model / model_class
            lines = {TASK: sample_lines(TASK, 2)}
            path = write_run(folder, lines, {"model": model_class}, model_name=model)
            runs.append(read(str(path)))
    assert [of_run.name for of_run in with_distinct_names(runs)] == [
        "m1 (c)",
        "m1 (d)",
        "m2 (c)",
        "m2 (d)",
    ]


def test_long_names_of_two_runs_do_not_become_one(tmp_path: Path) -> None:
    runs = []
    for revision in ("v1", "v2"):
        lines = {TASK: sample_lines(TASK, 2)}
        config = {"model": "c", "model_args": f"revision={revision}"}
        path = write_run(tmp_path / revision, lines, config, model_name="m" * 300)
        runs.append(read(str(path)))
    names = [of_run.name for of_run in with_distinct_names(runs)]
    assert [name.partition("... ")[2] for name in names] == ["(revision=v1)", "(revision=v2)"]
    assert {len(name) for name in names} == {200}


def test_results_of_one_model_without_a_path_are_told_apart() -> None:
    values = {"acc": {"all": {"value": 0.5, "rows": 12}}}
    configs = {TASK: {"metadata": {"measures": {"format": 1, "failed": [], "values": values}}}}
    results = {"model_name": "org/m", "configs": configs}
    assert list(figlang_tasks.table([results, results])["run"]) == ["m (1)", "m (2)"]


def test_secrets_are_in_no_name(tmp_path: Path) -> None:
    runs = [
        named(tmp_path / "a", "c", "token=hf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        named(tmp_path / "b", "c", "token=hf_BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB"),
    ]
    names = json.dumps([of_run.name for of_run in with_distinct_names(runs)])
    assert "hf_A" not in names and names == '["m (a)", "m (b)"]'
