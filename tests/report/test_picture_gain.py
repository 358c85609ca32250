"""If these fail, the gain by pictures is of other runs, has a wrong sign, or counts wrong rows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
import rows_with_images
import yaml
from saved_runs import METADATA, sample_lines, write_run

from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.report.buckets import sort_into_buckets
from figlang_tasks.report.page import build
from figlang_tasks.report.picture_gain import PictureGain, picture_gains
from figlang_tasks.results.blind_runs import seeing_and_blind
from figlang_tasks.results.runs import read, read_all
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring import Measures, process_results

LABELS = "figlang_mini"
CHOICES = "figlang_mini_irfl_match_idiom"
CAPTIONS = "figlang_mini_metaclue_caption"
BLIND = {"lmms_eval_specific_kwargs": {"default": {"blind": True}, "blind": True}}
"""What the harness records of a task file with ``{default: {blind: true}}``."""

compare = partial(commands.figlang, "compare")


def right_choices(count: int, doc: Mapping[str, Any], number: int) -> str:
    """The right choice in the first rows, another one in the others."""
    scores = [0.1, 0.1, 0.1, 0.1]
    scores[(doc["answer"] + (number >= count)) % 4] = 0.8
    return json.dumps({"scores": scores})


def choices(right: int) -> list[dict[str, Any]]:
    """Samples of 12 rows, of which the first are right."""
    return sample_lines(CHOICES, answer=partial(right_choices, right))


def make_run(
    folder: Path,
    name: str,
    lines: Sequence[Mapping[str, Any]],
    model_class: str = "figlang_vlm",
    task: str = CHOICES,
    model: str = "org/one",
    options: Mapping[str, Any] | None = None,
) -> Run:
    """A run of one task, as its files say."""
    config = {"task": task, "metadata": METADATA, **(options or {})}
    path = write_run(
        folder / name,
        {task: lines},
        {"model": model_class},
        configs={task: config},
        model_name=model,
    )
    return read(f"{name}={path}")


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """A seeing run with 9 of 12 rows right, and a blind one with 3 of these and one other."""
    folder = tmp_path_factory.mktemp("picture_gain")
    blind_lines = [*choices(3)[:11], choices(12)[11]]
    seeing = make_run(folder, "b", choices(9))
    return [seeing, make_run(folder, "a", blind_lines, "figlang_blind")]


def single_gain(runs: Sequence[Run], **options: Any) -> PictureGain:
    (gain,) = picture_gains(runs, resamples=200, **options)
    return gain


@pytest.mark.parametrize("order", [1, -1])
def test_the_gain_is_of_the_seeing_run_in_any_order(pair: list[Run], order: int) -> None:
    gain = single_gain(pair[::order])
    assert (gain.seeing, gain.blind, gain.metric, gain.task) == ("b", "a", "acc", CHOICES)
    assert gain.gain == pytest.approx(9 / 12 - 4 / 12)
    assert gain.low is not None and gain.high is not None and gain.low < gain.gain < gain.high
    assert gain.solved is not None
    assert (gain.solved.seeing, gain.solved.both) == (9, 3)
    assert ": b has 75.0, a, which does not see it, 33.3;" in gain.sentence
    assert gain.sentence.endswith("; a also gets 3 of the 9 rows right that b gets right (33.3 %)")


@pytest.mark.parametrize("classes", [("figlang_vlm",) * 2, ("figlang_blind",) * 2])
def test_two_seeing_or_two_blind_runs_have_none(tmp_path: Path, classes: tuple[str, str]) -> None:
    """Nor has a baseline that reads nothing: it stands neither for pictures nor for the text."""
    runs = [
        make_run(tmp_path, name, choices(right), model_class)
        for name, right, model_class in zip(("a", "blind"), (3, 9), classes, strict=True)
    ]
    chance = make_run(tmp_path, "chance", choices(2), "figlang_random")
    blind_chance = make_run(tmp_path, "blind_chance", choices(2), "figlang_random", options=BLIND)
    assert picture_gains([*runs, chance, blind_chance]) == []


def test_an_option_makes_a_task_blind_and_other_options_part_it(tmp_path: Path) -> None:
    seeing = make_run(tmp_path, "seeing", choices(9))
    blind = make_run(tmp_path, "second", choices(3), options=BLIND)
    assert single_gain([blind, seeing]).blind == "second"
    not_blind = make_run(
        tmp_path, "third", choices(3), options={"lmms_eval_specific_kwargs": {"blind": False}}
    )
    with_shots = {"lmms_eval_specific_kwargs": {"blind": True, "num_shots": 5}}
    other_prompt = make_run(tmp_path, "fourth", choices(3), options=with_shots)
    assert picture_gains([seeing, not_blind, other_prompt]) == []
    own_block = {"lmms_eval_specific_kwargs": {"mine": {"blind": True}, "default": {}}}
    of_own_class = make_run(tmp_path, "fifth", choices(3), "mine", options=own_block)
    assert single_gain([seeing, of_own_class]).blind == "fifth"


def test_two_tasks_of_one_run_are_compared_too(tmp_path: Path) -> None:
    blind_task = f"{CHOICES}_blind"
    path = write_run(
        tmp_path / "run",
        {CHOICES: choices(9), blind_task: choices(3)},
        {"model": "figlang_vlm"},
        configs={
            CHOICES: {"task": CHOICES, "metadata": METADATA},
            blind_task: {"task": blind_task, "metadata": METADATA, **BLIND},
        },
    )
    gain = single_gain([read(str(path))])
    assert (gain.seeing, gain.blind) == (CHOICES, blind_task)
    assert gain.task == f"{CHOICES} / {blind_task}"
    assert picture_gains([read(str(path))], {LABELS}) == []
    # Beside a second such run, each belongs to its own.
    pairs = seeing_and_blind([read(f"{name}={path}") for name in "ab"])
    assert [(pair.seeing.name, pair.blind.name) for pair in pairs] == [("a", "a"), ("b", "b")]


def test_runs_of_one_model_belong_together_and_others_are_named(tmp_path: Path) -> None:
    one = make_run(tmp_path, "one", choices(9))
    two = make_run(tmp_path, "two", choices(8), model="org/two")
    blind_one = make_run(tmp_path, "blind_one", choices(3), "figlang_blind")
    (pair,) = seeing_and_blind([one, two, blind_one])
    assert (pair.seeing.name, pair.blind.name) == ("one", "blind_one")
    gain = single_gain([two, blind_one])
    assert gain.models == ("two", "one")
    assert "the runs name different models (two, one)" in gain.sentence


def test_repeats_are_summed_over_all_pairs(tmp_path: Path) -> None:
    paths = []
    for number, right in enumerate((9, 7)):
        run = make_run(tmp_path, f"seed{number}", choices(right))
        paths.append(f"seeing={run.path}")
    blind = make_run(tmp_path, "blind", choices(8), "figlang_blind")
    runs = read_all([*paths, f"blind={blind.path}"], repeats=True)
    gain = single_gain(runs)
    assert gain.gain == pytest.approx(0)  # the mean of 9 and 7 of 12 against 8
    assert gain.solved is not None
    assert (gain.solved.seeing, gain.solved.both) == (9 + 7, 8 + 7)


def choose_role(odd_role: str, doc: Mapping[str, Any], number: int) -> str:
    """A literal picture in even rows, one of this role in odd ones."""
    scores = [0.1, 0.1, 0.1, 0.1]
    scores[doc["roles"].index(odd_role if number % 2 else "literal")] = 0.8
    return json.dumps({"scores": scores})


def test_a_fall_is_a_gain_where_lower_is_better(tmp_path: Path) -> None:
    """By a metric of which less is better as the only one: how many wrong choices are literal."""
    runs = []
    for name, odd_role, model_class in (
        ("s", "random", "figlang_vlm"),
        ("b", "literal", "figlang_blind"),
    ):
        lines = sample_lines(CHOICES, answer=partial(choose_role, odd_role))
        run = make_run(tmp_path, name, lines, model_class)
        task = run.tasks[CHOICES]
        measures = Measures.of(task.measures.by_name["literal_preference"])
        task = replace(task, kind=replace(task.kind, measures=measures))
        runs.append(replace(run, tasks={CHOICES: task}))
    gain = single_gain(runs)
    assert (gain.seeing_value, gain.blind_value, gain.gain) == (0.5, 1.0, 0.5)
    assert gain.low is not None and gain.high is not None and 0 < gain.low < 0.5 < gain.high
    assert "] (+ is a fall, since lower is better) on" in gain.sentence
    assert gain.solved is None, "a choice that the metric counts is a wrong one"


def test_equal_outputs_are_said_and_a_metric_without_right_rows_has_no_share(
    tmp_path: Path,
) -> None:
    """A task without pictures gives a class that hides them nothing to hide."""
    lines = sample_lines(CAPTIONS)
    seeing = make_run(tmp_path, "seeing", lines, task=CAPTIONS)
    blind = make_run(tmp_path, "blind", lines, "figlang_blind", CAPTIONS)
    gain = single_gain([seeing, blind])
    assert gain.sentence == (
        f"seeing and blind, which sees no picture, say the same of every row of {CAPTIONS}: the"
        " picture adds nothing, or the task shows none"
    )
    task = "figlang_mini_metaclue_localize"
    boxes = sample_lines(task)
    seeing = make_run(tmp_path, "boxes", boxes, task=task)
    assert (
        single_gain([seeing, make_run(tmp_path, "x", boxes, task=task, options=BLIND)]).solved
        is None
    )


def test_an_explanation_alone_is_no_right_row(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No label is asked for, so that every explanation of a blind run would count as right."""
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "data"))
    rows_with_images.write_valid_nycc(tmp_path / "data", explanation_from_pixels_1=3)
    benchmark, request = parse_request("NYCC,config=explanation_from_pixels,fold=1")
    runs: list[Run] = []
    for name, model_class in (("seeing", "figlang_vlm"), ("blind", "figlang_blind")):
        lines: list[dict[str, Any]] = []
        for number, document in enumerate(benchmark.documents(request, check_images=True)):
            output = f"Explanation: {name} {number}."
            record = process_results(dict(document), [output])["sample"]
            lines.append({"doc_id": number, "filtered_resps": [output], "sample": record})
        runs.append(make_run(tmp_path, name, lines, model_class, "nycc_explain"))
    assert single_gain(runs).solved is None
    assert sort_into_buckets(runs) == []


def test_compare_and_the_report_say_it(pair: list[Run]) -> None:
    arguments = (f"b={pair[0].path}", f"a={pair[1].path}", "--resamples", "200")
    output = compare(*arguments).stdout
    content = json.loads(compare(*arguments, "--json").stdout)
    (gain,) = content["picture_gains"]
    assert output.splitlines()[-1] == gain["sentence"]
    # The interval is that of the table, from the other side.
    (difference,) = content["differences"]
    assert (gain["low"], gain["high"]) == pytest.approx((-difference["high"], -difference["low"]))
    page = build(pair, with_pictures=False).content.decode()
    assert page.count('<p class="verdict">The picture adds acc +41.7 [') == 1
    only_seeing = build(pair[:1], with_pictures=False).content.decode()
    assert "The picture adds" not in only_seeing


def test_outputs_of_a_file_are_blind_by_the_task_that_they_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    content = {
        "include": str(tasks_dir() / "mini/figlang_mini.yaml"),
        "task": "mini_blind",
        "lmms_eval_specific_kwargs": {"default": {"blind": True}},
    }
    Path("mini_blind.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    rows = []
    for number, line in enumerate(sample_lines(LABELS)):
        rows.append({"id": line["sample"]["id"], "output": ("entailment", "neither")[number % 2]})
    Path("answers.json").write_text(json.dumps(rows), encoding="utf-8")
    for task, folder in ((LABELS, "seeing"), ("mini_blind.yaml", "blind")):
        options = ("--task", task, "-o", folder, "--model", "m", "--scorer", "off")
        assert commands.figlang("score", "answers.json", *options).exit_code == 0
    gain = single_gain(read_all(["seeing", "blind"]))
    assert gain.task == f"{LABELS} / mini_blind"
    assert gain.models == ()
