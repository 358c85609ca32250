"""If these fail, FigLang 2024's board would refuse our file, or score it in another way."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import commands
import numpy as np
import pandas
import pytest
from flute_rows import write_vflute_repo
from published_runs import NAME, records, rows, write_run
from sklearn.metrics import f1_score

from figlang_tasks import scoring
from figlang_tasks.core import hub
from figlang_tasks.metrics.explanation import Scorer, get_scorer
from figlang_tasks.submit import SubmissionError, figlang2024

Records = list[dict[str, Any]]
Damage = Callable[[Records], None]


@pytest.fixture(name="run_records")
def make_records() -> Records:
    return records()


def submit(tmp_path: Path, run_records: Records) -> str:
    """What the command prints that makes ``out.zip`` of a run with these records."""
    run = write_run(tmp_path / "run", run_records)
    return commands.done("submit", "figlang2024", run, "-o", tmp_path / "out.zip")


def refused(tmp_path: Path, run_records: Records) -> str:
    """The message of the command that refuses a run with these records."""
    run = write_run(tmp_path / "run", run_records)
    message = commands.refused("submit", "figlang2024", run, "-o", tmp_path / "out.zip")
    assert not (tmp_path / "out.zip").exists()
    return message


# --- the file ---


def test_the_file_is_what_the_shared_task_takes(tmp_path: Path, run_records: Records) -> None:
    run_records[0]["explanation"] = None
    run_records[1]["explanation"] = "None"
    run_records[3] |= {"predicted": 0, "explanation": 'Two\nlines, "quotes", ; and NA'}
    run_records[4]["explanation"] = "half \ud83d and \0 nothing"
    printed = submit(tmp_path, run_records[::-1])
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        assert archive.namelist() == ["pred.csv"]
    table = pandas.read_csv(tmp_path / "out.zip", na_filter=False)
    assert list(table.columns) == ["id", "label", "explanation"]
    # The board's scorer fails on a file whose first row has no explanation; it finds rows by ids.
    expected = [run_records[2], *run_records[:2], *run_records[3:]]
    assert list(table["id"]) == [record["id"] for record in expected]
    assert list(table["label"]) == [record["predicted"] for record in expected]
    assert list(table["explanation"][1:5]) == [
        "",
        "None",
        'Two\nlines, "quotes", ; and NA',
        "half � and � nothing",
    ]
    assert list(table["explanation"][5:]) == [record["explanation"] for record in expected[5:]]
    empty = sum(record["explanation"] in (None, "", "None") for record in expected)
    content = (
        f"out.zip (723 rows of V-FLUTE/test:0123456789ab, 0 without a label, {empty} without an"
        " explanation)\n"
    )
    assert f"{content}to upload: " in printed
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.zip", "run"]


def change_all(**fields: object) -> Damage:
    """Give these fields to all records."""

    def damage(run_records: Records) -> None:
        for record in run_records:
            record.update(fields)

    return damage


def change_one(**fields: object) -> Damage:
    """Give these fields to one record."""

    def damage(run_records: Records) -> None:
        run_records[9].update(fields)

    return damage


def remove_a_row(run_records: Records) -> None:
    del run_records[2]


def remove_an_explanation(run_records: Records) -> None:
    del run_records[9]["explanation"]


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (remove_a_row, "722 of the 723 rows of test: evaluate all rows"),
        (change_all(revision="own"), "has samples of V-FLUTE/test, not of V-FLUTE's test split"),
        (
            change_all(data="V-FLUTE/validation:ff"),
            "has samples of V-FLUTE/validation, not of V-FLUTE's test split",
        ),
        (
            remove_an_explanation,
            r"not as the task vflute writes it \(KeyError: 'explanation'\)",
        ),
        (
            change_one(explanation=["a"]),
            r"not as the task vflute writes it \(AttributeError",
        ),
        (
            change_one(id="mine"),
            r"not as the task vflute writes it \(ValueError: .*'mine'",
        ),
        (change_all(asks_for_explanation=False), "test split with explanations"),
        (
            change_all(explanation="NA"),
            "none of the 723 rows has an explanation, and the board's scorer fails",
        ),
    ],
)
def test_what_is_wrong_with_the_samples(
    damage: Damage, message: str, tmp_path: Path, run_records: Records
) -> None:
    damage(run_records)
    assert re.search(message, refused(tmp_path, run_records))


def test_of_several_tasks_one_is_named(tmp_path: Path, run_records: Records) -> None:
    folder = write_run(tmp_path / "run", run_records)
    (folder / NAME.replace("vflute", "vflute_sg")).write_bytes((folder / NAME).read_bytes())
    message = commands.refused("submit", "figlang2024", folder, "-o", tmp_path / "out.zip")
    assert re.search(
        "2 runs of V-FLUTE's test split with expl.*: give the samples file of one of vflute, vf",
        message,
    )
    commands.done("submit", "figlang2024", folder / NAME, "-o", tmp_path / "out.zip")


# --- files of any tool ---


def write_submission(
    path: Path,
    table: Sequence[tuple[str, ...]],
    head: str = "id,label,explanation",
    name: str = "pred.csv",
) -> Path:
    """A submission as another tool might write it."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n", quoting=csv.QUOTE_ALL).writerows(table)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(name, (head + "\r\n" + text.getvalue()).encode("utf-8", "surrogatepass"))
    return path


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        ([("a", "2", "x"), ("b", "?", "x")], {}, "2 labels are not 0, 1 or none: a has 2, b has ?"),
        (
            [("a", "1", "x", "more"), ("a", "1", "x", "more", "y")],
            {},
            "is not CSV with the columns id, label, expl",
        ),
        ([("a", "1", ""), ("a", "0", "")], {}, "1 ids occur more than once: a"),
        (
            [],
            {"head": "id,label"},
            r"is not CSV with the columns id, label, explanation \(.*'explanation'",
        ),
        (
            [],
            {"name": "out/pred.csv"},
            r"must hold one pred.csv, at the top and not in a folder \(it holds: out/pred",
        ),
        ([("a", "1", "\ud83d")], {}, "pred.csv is not UTF-8"),
    ],
)
def test_files_that_are_not_valid(
    table: Any, options: dict[str, str], message: str, tmp_path: Path
) -> None:
    with pytest.raises(SubmissionError, match=message):
        figlang2024.read(write_submission(tmp_path / "a.zip", table, **options))


def test_a_damaged_zip(tmp_path: Path) -> None:
    path = write_submission(tmp_path / "a.zip", [("a", "1", "text " * 100)])
    path.write_bytes(path.read_bytes().replace(b"text text", b"text tent", 1))
    with pytest.raises(SubmissionError, match=r"is not a readable zip .*CRC"):
        figlang2024.read(path)


# --- scores ---


@pytest.fixture
def split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The references, where the user may have put them."""
    write_vflute_repo(tmp_path / "data" / "V-FLUTE", {"test": rows()}, image_size=2)
    monkeypatch.setenv(hub.DATA_DIR_VARIABLE, str(tmp_path / "data"))


@pytest.mark.usefixtures("split")
def test_missing_labels_and_explanations_count_as_on_the_board(
    tmp_path: Path, run_records: Records
) -> None:
    """The board's rules, written again with pandas and scikit-learn after its public scorer."""
    for number, record in enumerate(run_records):
        if number % 11 == 5:
            record["predicted"] = None
        if number % 13 == 0:
            record["explanation"] = ("", None, "None", "N/A")[number % 4]
    submit(tmp_path, run_records)
    scorer = get_scorer("embedded")
    command = ("submit", "score2024", tmp_path / "out.zip", "--scorer", "embedded")
    report = json.loads(commands.done(*command, "--json"))
    references = pandas.DataFrame(run_records)[["id", "gold", "reference"]]
    table = pandas.read_csv(tmp_path / "out.zip").merge(references, on="id", how="left")
    assert isinstance(table["explanation"][0], str)  # a missing one raises in the board's scorer
    label = table["label"].fillna(1 - table["gold"]).astype(int)
    explanations = [str(text) for text in table["explanation"]]
    score = scorer.score(list(table["reference"]), explanations).mean
    estimates = scoring.from_json(report["measures"])
    values = {name: scopes["all"].value for name, scopes in estimates.items()}
    for name, threshold in (("f1@0", 0.0), ("f1@50", 0.5), ("f1@60", 0.6)):
        predicted = np.where(score > threshold, label, 1 - table["gold"])
        f1 = f1_score(table["gold"], predicted, average="macro")
        assert values[name] == pytest.approx(f1), name
    assert values["acc"] == pytest.approx((label == table["gold"]).mean())
    assert values["explanation_score"] == pytest.approx(score.mean())
    printed = commands.done(*command)
    assert f"{100 * values['f1@50']:.1f} [" in printed
    assert "explanation scorer: embedded (not a publ" in printed
    assert report["without_label"] == table["label"].isna().sum() == 66
    assert report["without_explanation"] == table["explanation"].isna().sum() > 56


@pytest.mark.usefixtures("split")
def test_a_file_that_the_board_cannot_read_has_no_score(tmp_path: Path) -> None:
    table = [(row.id, "1", "The snail.") for row in rows()]
    path = write_submission(tmp_path / "a.zip", [(table[0][0], "1", "NA"), *table[1:]])
    message = rf"first row of pred.csv \({table[0][0]}\) has no explanation, and"
    with pytest.raises(SubmissionError, match=message):
        figlang2024.score(path, get_scorer)


@pytest.mark.usefixtures("split")
def test_the_order_of_a_submission_does_not_matter_and_its_ids_do(tmp_path: Path) -> None:
    table = [(row.id, "1", "The snail.") for row in rows()]
    scorer = get_scorer("embedded")

    def the_one_scorer() -> Scorer:
        return scorer

    forward = figlang2024.score(write_submission(tmp_path / "a.zip", table), the_one_scorer)
    backward = figlang2024.score(write_submission(tmp_path / "b.zip", table[::-1]), the_one_scorer)
    assert forward["measures"] == backward["measures"]
    message = f"2 of 723 rows are missing: {table[0][0]}, {table[1][0]}$"
    with pytest.raises(SubmissionError, match=message):
        figlang2024.score(write_submission(tmp_path / "a.zip", table[2:]), get_scorer)
    with pytest.raises(SubmissionError, match=r"1 ids are not in the test split: x-test-0$"):
        figlang2024.score(
            write_submission(tmp_path / "a.zip", [*table, ("x-test-0", "1", "")]), get_scorer
        )
