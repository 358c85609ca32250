"""What people would say of all rows is estimated from wrong rows or answers if these tests fail."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import commands
import pytest
from filled_sheets import Item, key_of, right_label, save_key, save_run, save_sheet, sheet_of

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import judged_runs, powered_text
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.export import export
from figlang_tasks.judge.key import sign
from figlang_tasks.results import runs

figlang = commands.figlang
NAMES = ("Shark", "Kettle")
ROWS = 76


def answer(doc: Mapping[str, Any], wrong_every: int) -> str:
    """An answer whose label is wrong for some documents."""
    label = doc["label"]
    if len(doc["claim"]) % wrong_every == 0:
        label = "contradiction" if label == "entailment" else "entailment"
    return f"Because of {doc['claim'][:9]}\n\nLABEL: {label}"


def score(number: int) -> float:
    """The score of a document by its number: it turns through ten values."""
    return number % 10 / 10


def save_runs(folder: Path) -> list[str]:
    """Write a run of each system below a folder, and return them as arguments of a command."""
    arguments: list[str] = []
    for wrong_every, name in zip((4, 3), NAMES, strict=True):
        path = folder / name / "samples_figlang_mini.jsonl"
        save_run(path, partial(answer, wrong_every=wrong_every), score)
        arguments.append(f"{name}={path}")
    return arguments


def judgement(item: Item, system: str, strict: bool) -> tuple[str, str]:
    """Adequate if the score is high; Kettle's explanations less often; a strict person says no."""
    letter = next(letter for letter, name in item["systems"].items() if name == system)
    least = 0.4 if system == "Kettle" else 0.2
    if strict and item["number"] % 9 == 0:
        return "no", "verbose"
    return ("yes", "") if item["scores"][letter] >= least else ("no", "unsound")


def label_of(item: Item, wrong_every: int) -> str:
    """The label that an annotator gives an item: at times a wrong one."""
    if item["number"] % wrong_every == 0:
        return ("entailment", "contradiction")[item["gold"]]
    return right_label(item)


def fill(key_path: Path, folder: Path, skip: int = 0) -> list[Path]:
    """Fill in two sheets of a key in a folder; without the first `skip` items."""
    key = json.loads(key_path.read_text())
    paths: list[Path] = []
    for number in (1, 2):
        rows = sheet_of(
            key,
            f"annotator {number}",
            partial(label_of, wrong_every=10 + number),
            partial(judgement, strict=number == 2),
        )
        rows = [row for row in rows if int(row["item"]) > skip]
        paths.append(save_sheet(folder / f"annotator{number}.csv", rows))
    return paths


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with two runs, and an export of 60 of their rows that is filled in."""
    folder = tmp_path_factory.mktemp("judged")
    human = folder / "human"
    human.mkdir()
    export(save_runs(folder), human, count=60, seed=3, annotators=2)
    fill(human / "key.json", human)
    return folder


def arguments_in(folder: Path) -> list[str]:
    """The two runs in a folder as arguments of a command."""
    return [f"{name}={folder / name}" for name in NAMES]


def test_labels_alone_are_what_the_agreement_counts(judged: Path) -> None:
    human = judged / "human"
    report: Mapping[str, Any] = agree(human / "key.json", sorted(human.glob("*.csv")))
    estimates = {
        (estimate["measure"], estimate["system"], estimate["baseline"]): estimate
        for estimate in report["all_rows"]["estimates"]
    }
    assert len(estimates) == 9  # three measures of two systems and of their difference
    for system in report["systems"]:
        estimate = estimates["adequate explanation", system["name"], None]
        assert estimate["labels"] == system["agreed"]
        assert estimate["labels_alone"]["value"] == pytest.approx(system["adequacy_rate"])
        low, high = estimate["interval"]
        assert low < estimate["value"] < high
    baseline, candidate = (
        estimates["adequate explanation", name, None]["labels_alone"]["value"] for name in NAMES
    )
    difference = estimates["adequate explanation", NAMES[1], NAMES[0]]["labels_alone"]["value"]
    assert difference == pytest.approx(candidate - baseline)


def test_right_for_the_right_reason_by_counting(judged: Path) -> None:
    human = judged / "human"
    key = json.loads((human / "key.json").read_text())
    rows = {row["id"]: row for row in key["rows"]}
    hits: list[bool] = []
    for item in key["items"]:
        number = item["number"]
        if number % 11 == 0 or number % 12 == 0:  # an annotator chose the wrong label
            continue
        by_annotator = [judgement(item, "Shark", strict)[0] for strict in (False, True)]
        if by_annotator[0] == by_annotator[1]:
            row = rows[item["id"]]
            hits.append(by_annotator[0] == "yes" and row["predicted"]["Shark"] == row["gold"])
    report: Mapping[str, Any] = agree(human / "key.json", sorted(human.glob("*.csv")))
    (estimate,) = (
        estimate
        for estimate in report["all_rows"]["estimates"]
        if estimate["measure"] == "right for the right reason"
        and (estimate["system"], estimate["baseline"]) == ("Shark", None)
    )
    assert estimate["labels"] == len(hits)
    assert estimate["labels_alone"]["value"] == pytest.approx(sum(hits) / len(hits))
    assert estimate["effective_labels"] > len(hits)  # right labels are known of all rows


def test_a_key_without_the_record_of_its_draw_gives_no_estimates(tmp_path: Path) -> None:
    key = key_of(["one"], [0, 1] * 20, [[0.5]] * 40)
    sheets = [
        save_sheet(
            tmp_path / f"{name}.csv",
            sheet_of(key, name, right_label, lambda item, system: ("yes", "")),
        )
        for name in ("ann", "bob")
    ]
    report = agree(save_key(tmp_path, key), sheets)
    assert report["all_rows"]["estimates"] == []
    printed = text(report)
    assert "no record of how its rows were drawn" in printed
    assert "Cohen's kappa" in printed


def test_too_few_judgements_are_refused_with_the_number_that_is_missing(
    judged: Path, tmp_path: Path
) -> None:
    key = judged / "human" / "key.json"
    report: Mapping[str, Any] = agree(key, fill(key, tmp_path, skip=30))
    counted = {system["name"]: system["agreed"] for system in report["systems"]}
    assert report["all_rows"]["estimates"] == []
    for refusal, name in zip(report["all_rows"]["refused"], NAMES, strict=True):
        assert refusal.startswith(f"{name} has {counted[name]} judgements that count")
        assert f"{30 - counted[name]} fewer than the 30" in refusal


def test_a_language_model_does_not_say_what_people_would_say(judged: Path, tmp_path: Path) -> None:
    sheets = fill(judged / "human" / "key.json", tmp_path)
    filled = sheets[1].read_text(encoding="utf-8-sig")
    sheets[1].write_text(filled.replace("annotator 2", "LLM judge a-model, prompt 0123"))
    report: Mapping[str, Any] = agree(judged / "human" / "key.json", sheets)
    assert report["all_rows"]["estimates"] == []
    assert "No estimate for all rows: one of the annotators is a language model" in text(report)


def test_judgements_that_are_missing_are_said(judged: Path, tmp_path: Path) -> None:
    key = judged / "human" / "key.json"
    report: Mapping[str, Any] = agree(key, fill(key, tmp_path, skip=6))
    assert report["all_rows"]["unjudged"] == 12  # six items of two systems
    assert "12 drawn explanations are not judged" in text(report)


def test_systems_judged_on_different_rows_have_no_difference(judged: Path, tmp_path: Path) -> None:
    key_path = judged / "human" / "key.json"
    key = json.loads(key_path.read_text())
    system_of_row: dict[tuple[str, str], str] = {}
    for item in key["items"]:
        for letter, system in item["systems"].items():
            system_of_row[str(item["number"]), letter] = system
    sheets = [tmp_path / "ann.csv", tmp_path / "bob.csv"]
    for path in sheets:
        rows = sheet_of(key, path.stem, right_label, lambda item, system: ("yes", ""))
        for row in rows:
            # Shark is judged in the first 35 items, Kettle in the last 35: 10 are of both.
            number = int(row["item"])
            is_shark = system_of_row[row["item"], row["letter"]] == "Shark"
            if not (number <= 35 if is_shark else number > 25):
                row["adequate"] = ""
        save_sheet(path, rows)
    report: Mapping[str, Any] = agree(key_path, sheets)
    assert {estimate["baseline"] for estimate in report["all_rows"]["estimates"]} == {None}
    (refusal,) = report["all_rows"]["refused"]
    assert refusal.startswith("Kettle and Shark have too few rows that are judged of both")


def test_nearly_all_rows_judged(judged: Path, tmp_path: Path) -> None:
    # Two other rows tell next to nothing, whatever their predictions.
    content = json.loads((judged / "human" / "key.json").read_text())
    drawn = {item["id"] for item in content["items"]}
    others = [row for row in content["rows"] if row["id"] not in drawn]
    content["rows"] = [row for row in content["rows"] if row["id"] in drawn] + others[:2]
    key = save_key(tmp_path, sign_again(content))
    report: Mapping[str, Any] = agree(key, fill(key, tmp_path))
    for estimate in report["all_rows"]["estimates"]:
        assert estimate["value"] == pytest.approx(estimate["labels_alone"]["value"], abs=0.03)
        assert estimate["interval"] is not None


def test_a_system_without_scores_has_no_estimate(judged: Path, tmp_path: Path) -> None:
    content = json.loads((judged / "human" / "key.json").read_text())
    for row in content["rows"]:
        row["scores"]["Shark"] = None
    key = save_key(tmp_path, sign_again(content))
    report: Mapping[str, Any] = agree(key, fill(key, tmp_path))
    assert {estimate["system"] for estimate in report["all_rows"]["estimates"]} == {"Kettle"}
    (refusal,) = report["all_rows"]["refused"]
    assert refusal.startswith("Shark has no explanation scores: add some (figlang score, ")


def sign_again(content: dict[str, Any]) -> dict[str, Any]:
    """A key with changed content, signed as an export signs it."""
    signed_by_export = ("written_by", "sheet", "digest")
    return sign(**{name: content[name] for name in content if name not in signed_by_export})


def test_a_draw_by_source_is_in_proportion_to_the_rows_of_each_source(
    judged: Path, tmp_path: Path
) -> None:
    export(save_runs(tmp_path), tmp_path / "human", count=38, seed=3, annotators=2, by_source=True)
    key = json.loads((tmp_path / "human" / "key.json").read_text())
    assert key["draw"] == {"method": "by source", "seed": 3, "rows": ROWS, "drawn": 38}
    source_of_row = {row["id"]: row["source"] for row in key["rows"]}
    assert len(source_of_row) == ROWS
    sizes = Counter(source_of_row.values())
    drawn = Counter(source_of_row[item["id"]] for item in key["items"])
    assert len({item["id"] for item in key["items"]}) == 38
    for source, size in sizes.items():
        assert abs(drawn[source] - size / 2) <= 1
    message = f"--n must be {2 * len(sizes)} or more"
    with pytest.raises(FigLangError, match=message):
        export(
            arguments_in(judged),
            tmp_path / "few",
            count=3,
            seed=0,
            annotators=1,
            by_source=True,
        )


def test_judgements_stand_beside_the_numbers_of_the_machine(judged: Path) -> None:
    shown = judged_runs.read(judged / "human" / "key.json", runs.read_all(arguments_in(judged)[:1]))
    estimates = shown.report["all_rows"]["estimates"]
    assert {estimate["system"] for estimate in estimates} == {"Shark"}  # the run that is shown
    numbers = {estimate["measure"]: shown.machine_text(estimate) for estimate in estimates}
    f1 = shown.tasks["Shark"].estimates["f1@60"]["all"].value
    assert numbers["macro F1, adequate only"] == f"f1@60 {100 * f1:.1f}"
    assert "drawn:60 of 76, simple, seed 3|annotators:2" in shown.signature


@pytest.mark.long
def test_compare_and_cite_show_the_judgements_beside_the_key(judged: Path) -> None:
    key = judged / "human" / "key.json"
    options = ["--judged", key, "--resamples", "100"]
    shown = judged_runs.read(key, runs.read_all(arguments_in(judged)))
    table = powered_text.text(shown.report["all_rows"], shown.machine_text)
    assert table in figlang("compare", *arguments_in(judged), *options).stdout
    as_latex = figlang("compare", *arguments_in(judged), *options, "--format", "latex").stdout
    assert "\n% | macro F1, adequate only " in as_latex
    as_json = figlang("compare", *arguments_in(judged), *options, "--json").stdout
    assert json.loads(as_json)["judged"] == shown.report["all_rows"]
    cited = figlang("cite", arguments_in(judged)[0], "--judged", key).stdout
    assert f"% judged:{json.loads(key.read_text())['sheet']}" in cited
    assert "2311.01453" in cited


@pytest.mark.long
def test_the_report_shows_the_judgements(judged: Path, tmp_path: Path) -> None:
    key = judged / "human" / "key.json"
    page = tmp_path / "report.html"
    done = figlang(
        "report",
        *arguments_in(judged),
        "--judged",
        key,
        "-o",
        page,
        "--no-images",
        "--max-samples",
        "0",
    )
    assert done.exit_code == 0
    html = page.read_text(encoding="utf-8")
    assert "right for the right reason" in html
    assert "Kettle - Shark" in html


def test_judgements_of_other_answers_or_runs_are_refused(judged: Path, tmp_path: Path) -> None:
    key = judged / "human" / "key.json"
    other = tmp_path / "Shark" / "samples_figlang_mini.jsonl"
    save_run(other, partial(answer, wrong_every=5), score)
    with pytest.raises(FigLangError, match="of Shark has another label or score"):
        judged_runs.read(key, runs.read_all([f"Shark={other}"]))
    with pytest.raises(FigLangError, match="name a run as in the export"):
        judged_runs.read(key, runs.read_all([f"Whale={other}"]))
    lonely = tmp_path / "key.json"
    lonely.write_text(key.read_text())
    with pytest.raises(FigLangError, match="0 filled sheets of people"):
        judged_runs.read(lonely, runs.read_all(arguments_in(judged)))


def test_the_power_of_labels_is_said_without_an_export(judged: Path) -> None:
    said = figlang("judge", "export", *arguments_in(judged), "--power")
    assert said.exit_code == 0
    # Wilson's interval of a half with 39 rows: +- .5 * 1.96 / sqrt(39 + 3.84) = 14.97 points.
    (row,) = (line for line in said.stdout.splitlines() if "15 points" in line)
    assert row.split("|")[2].strip() == "39"
    assert figlang("judge", "export", *arguments_in(judged)).exit_code == 2
    with_output = figlang("judge", "export", *arguments_in(judged), "--power", "-o", "human")
    assert with_output.exit_code == 2
    assert not Path("human").exists()
