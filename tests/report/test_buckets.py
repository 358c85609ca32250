"""If these fail, the report counts rows as fixed or broken that are not."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from saved_runs import sample_lines, write_run

from figlang_tasks.report import page
from figlang_tasks.report.buckets import sort_into_buckets
from figlang_tasks.report.gallery import build
from figlang_tasks.report.sections import Group
from figlang_tasks.report.sections.overview import overview_section
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run

LABELS = "figlang_mini"
CHOICES = "figlang_mini_irfl_match_idiom"
RANKINGS = "figlang_mini_irfl_retrieve_metaphor"
CAPTIONS = "figlang_mini_metaclue_caption"
BOXES = "figlang_mini_metaclue_localize"
TASKS = (LABELS, CHOICES, RANKINGS, CAPTIONS)

BUCKET = {
    (False, True): "fixed",
    (True, False): "broken",
    (False, False): "both wrong",
    (True, True): "both right",
}
"""By whether the first run is right, and the second."""


def _answer_labels(doc: Mapping[str, Any], number: int) -> str:
    return ("So.\nLABEL: entailment", f"So.\nLABEL: {doc['label']}", "Hm.", "")[number % 4]


def _answer_choices(doc: Mapping[str, Any], number: int) -> str:
    return json.dumps({"scores": [0.1, 0.4, 0.2, (0.8, 0.4)[number % 2]]})


def _answer_rankings(doc: Mapping[str, Any], number: int) -> str:
    is_high = doc["positive"] and number < 14
    return json.dumps({"scores": [0.9 if is_high else 0.1]})


def _answer_captions(doc: Mapping[str, Any], number: int) -> str:
    return (doc["references"][0], "this is as bright as that")[number % 2]


ANSWERS = {
    LABELS: _answer_labels,
    CHOICES: _answer_choices,
    RANKINGS: _answer_rankings,
    CAPTIONS: _answer_captions,
}
"""What the second run answers; the first has the answers of `saved_runs`."""

Samples = Mapping[str, list[dict[str, Any]]]


@pytest.fixture(scope="module")
def samples() -> tuple[Samples, Samples]:
    """The samples of two runs by task."""
    first = {task: sample_lines(task, 40) for task in TASKS}
    second = {task: sample_lines(task, 40, answer) for task, answer in ANSWERS.items()}
    return first, second


@pytest.fixture(scope="module")
def runs(samples: tuple[Samples, Samples], tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder = tmp_path_factory.mktemp("buckets")
    names = ("first", "second")
    paths = [write_run(folder / name, lines) for name, lines in zip(names, samples, strict=True)]
    return [read(f"{name}={path}") for name, path in zip(names, paths, strict=True)]


def right_rows(task: str, lines: list[dict[str, Any]]) -> dict[str, bool]:
    """Whether each row is right, by the fields of its records."""
    if task == RANKINGS:
        return right_rankings([line["sample"] for line in lines])
    rights: dict[str, bool] = {}
    for line in lines:
        record = line["sample"]
        if task == LABELS:
            rights[record["id"]] = record["predicted"] == record["gold"]
        elif task == CHOICES:
            rights[record["id"]] = record["chosen"] == record["answer"]
        else:
            rights[record["id"]] = line["em"] == 1
    return rights


def right_rankings(records: list[dict[str, Any]]) -> dict[str, bool]:
    """Whether all right images of each row rank above all others."""
    values: dict[str, dict[bool, list[float]]] = {}
    for record in records:
        values_of_row = values.setdefault(record["row"], {True: [], False: []})
        values_of_row[record["positive"]].append(record["value"])
    return {row: min(by_kind[True]) > max(by_kind[False]) for row, by_kind in values.items()}


@pytest.mark.parametrize("task", TASKS)
def test_rows_are_in_the_bucket_that_their_records_say(
    task: str, samples: tuple[Samples, Samples], runs: list[Run]
) -> None:
    first, second = (right_rows(task, lines[task]) for lines in samples)
    expected = {row: BUCKET[first[row], second[row]] for row in first}
    by_task = {buckets.task: buckets for buckets in sort_into_buckets(runs)}
    assert by_task[task].by_row == expected
    assert by_task[task].counts == {
        bucket: list(expected.values()).count(bucket) for bucket in BUCKET.values()
    }
    assert len(set(expected.values())) > 1


@pytest.mark.parametrize("task", [LABELS, RANKINGS])
def test_of_several_answers_to_a_row_the_first_counts_wherever_it_stands(
    task: str, samples: tuple[Samples, Samples], runs: list[Run], tmp_path: Path
) -> None:
    first, second = samples
    lines = [*numbered(second[task], 2), *numbered(first[task], 1)]
    repeated = read(str(write_run(tmp_path, {task: lines})))
    (buckets,) = sort_into_buckets([repeated, runs[1]])
    by_task = {buckets.task: buckets for buckets in sort_into_buckets(runs)}
    assert buckets == by_task[task]


def numbered(lines: list[dict[str, Any]], repeat: int) -> list[dict[str, Any]]:
    """The lines of a samples file as those of a repeat."""
    return [{**line, "sample": {**line["sample"], "repeat": repeat}} for line in lines]


def test_what_is_right_is_said(runs: list[Run]) -> None:
    meanings = {buckets.task: buckets.right for buckets in sort_into_buckets(runs)}
    assert meanings[LABELS] == "the right label, whatever the score of its explanation"
    assert meanings[CHOICES] == "an answer that acc counts"
    assert "its card marks as right (p@k does not" in meanings[RANKINGS]
    assert meanings[CAPTIONS] == "an answer that em counts"


def html_of(runs: list[Run], max_cards: int = 100) -> str:
    """The page of runs whose only section is the overview, without charts."""
    buckets = sort_into_buckets(runs)
    group = Group("overview", "Overview", (overview_section(runs, [], [], buckets),))
    gallery = build(runs, with_pictures=False, max_cards=max_cards, buckets=buckets)
    return page.render(runs, [group], gallery, "Two runs").content.decode()


def test_the_page_counts_them_with_a_link_to_each_and_cards_name_theirs(runs: list[Run]) -> None:
    html = html_of(runs)
    links = re.findall(r'<a href="#(\S+?):([a-z-]+)" aria-label="\d+[^>]+>(\d+)</a>', html)
    buckets = sort_into_buckets(runs)
    expected = []
    for task_buckets in buckets:
        for bucket, count in task_buckets.counts.items():
            if count:
                expected.append((task_buckets.task, bucket.replace(" ", "-"), str(count)))
    assert links == expected
    assert 'name="bucket"' in html
    cards = build(runs, with_pictures=False, max_cards=1000, buckets=buckets).cards
    counts = Counter((card["task"], card["bucket"].replace(" ", "-")) for card in cards)
    assert counts == {(task, bucket): int(count) for task, bucket, count in expected}


def test_without_samples_there_are_counts_but_no_links(runs: list[Run]) -> None:
    html = html_of(runs, max_cards=0)
    assert "<th>both wrong</th>" in html
    assert ":both-wrong" not in html.partition("<script")[0]


def test_answers_that_no_comparison_decides_have_none(tmp_path: Path) -> None:
    samples = sample_lines(BOXES, 6)
    paths = [write_run(tmp_path / name, {BOXES: samples}) for name in "ab"]
    runs = [read(str(path)) for path in paths]
    assert len(runs[0].tasks[BOXES].records) == 6
    assert sort_into_buckets(runs) == []


def test_there_are_none_unless_two_runs_have_the_same_rows(
    runs: list[Run], samples: tuple[Samples, Samples], tmp_path: Path
) -> None:
    assert sort_into_buckets(runs[:1]) == []
    assert sort_into_buckets([*runs, runs[0]]) == []
    html = html_of(runs[:1])
    assert 'name="bucket"' not in html
    assert "both wrong</th>" not in html
    changed = sample_lines(LABELS, 3)
    for line in changed:
        line["sample"]["data"] = "figlang_mini/test:0123456789ab"
    other = read(str(write_run(tmp_path / "other", {LABELS: changed})))
    assert sort_into_buckets([runs[0], other]) == []
