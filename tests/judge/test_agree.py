"""A figure of ``judge agree`` is not what its sheets say if these tests fail.

The figures are compared with the paper's Table 6, and counted by hand.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import Item, kappa, key_of, right_label, save_key, save_sheet, sheet_of

from figlang_tasks.benchmarks.vflute.agreement import PUBLISHED
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.sheet import ERRORS
from figlang_tasks.metrics.agreement import krippendorff_alpha

TABLE_6 = {
    "adequacy_rate": [(25, 74), (20, 67), (38, 75)],
    "preference_rate": [(12, 52), (4, 52), (23, 52)],
}
"""Counts that give Table 6.

Up to 95, the adequacy rates have no other counts. The preference rates have no others if all are of
one number of items: 39 of 52 prefer a system, so that 13 prefer none.
"""


def test_the_published_rates_are_those_of_table_6() -> None:
    for rate, counts in TABLE_6.items():
        for system, (part, whole) in zip(PUBLISHED["systems"], counts, strict=True):
            assert system[rate] == round(part / whole, 4)


@dataclass(frozen=True)
class Judge:
    """An annotator whose judgements are drawn.

    Attributes:
        name: of the annotator.
        error: what this annotator finds wrong with every inadequate explanation.
        labels: by item, 1 entailment or 0 contradiction.
        adequate: whether the explanation of an item and system is adequate.
        preferred: the best system of each item, or "none".
    """

    name: str
    error: str
    labels: dict[int, int]
    adequate: dict[tuple[int, str], bool]
    preferred: dict[int, str]

    def rows(self, key: dict[str, Any]) -> list[dict[str, str]]:
        """The rows of the sheet that this annotator fills in."""

        def label(item: Item) -> str:
            return "e" if self.labels[item["number"]] else "c"

        def judgement(item: Item, system: str) -> tuple[str, str]:
            if self.adequate[item["number"], system]:
                return "yes", ""
            return "no", self.error

        def preferred(item: Item) -> str:
            return self.preferred[item["number"]]

        return sheet_of(key, self.name, label, judgement, preferred)


def drawn_judge(draw: random.Random, number: int, items: range, systems: Sequence[str]) -> Judge:
    """An annotator who judges by chance."""
    labels: dict[int, int] = {}
    adequate: dict[tuple[int, str], bool] = {}
    preferred: dict[int, str] = {}
    for item in items:
        labels[item] = draw.choice([0, 1, 1])
        for system in systems:
            adequate[item, system] = draw.random() < 0.5
        preferred[item] = draw.choice([*systems, "none"])
    return Judge(f"annotator {number}", ERRORS[number], labels, adequate, preferred)


def share(part: int, whole: int) -> float | None:
    """The ratio of two counts; None where it is undefined."""
    return part / whole if whole else None


@pytest.mark.parametrize("seed", range(12))
def test_every_figure_by_counting(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    systems = ["one", "two"][: draw.randint(1, 2)]
    items = range(1, 1 + draw.randint(1, 8))
    any_label = draw.random() < 0.5
    gold: dict[int, int] = {}
    scores: list[list[float]] = []
    for item in items:
        gold[item] = draw.randint(0, 1)
        scores.append(draw.choices([0.2, 0.53, 0.6, 0.61], k=len(systems)))
    key = key_of(systems, list(gold.values()), scores)
    judges = [drawn_judge(draw, number, items, systems) for number in range(draw.randint(2, 3))]
    paths: list[Path] = []
    for judge in judges:
        rows = judge.rows(key)
        if len(systems) > 1:
            move_cells_within_items(draw, rows)
        paths.append(save_sheet(tmp_path / f"{judge.name}.csv", rows))
    report = agree(save_key(tmp_path, key), paths, any_label=any_label)

    counted: list[int] = []
    for item in items:
        if any_label or all(judge.labels[item] == gold[item] for judge in judges):
            counted.append(item)
    assert report["items_counted"] == len(counted)
    for system, judgements in zip(systems, report["systems"], strict=True):
        check_adequacy(judgements, system, counted, judges)

    first, second = judges[:2]
    pair = report["pairs"][0]
    assert len(report["pairs"]) == len(judges) * (len(judges) - 1) / 2
    assert pair["label_kappa"] == kappa([*first.labels.values()], [*second.labels.values()])
    adequacy = pair["adequacy_kappa"]
    all_explanations: list[tuple[int, str]] = []
    for system in systems:
        explanations = [(item, system) for item in counted]
        assert adequacy["by_system"][system] == adequacy_kappa(first, second, explanations)
        all_explanations += explanations
    assert adequacy["overall"] == adequacy_kappa(first, second, all_explanations)

    assert ("alpha" in report) == (len(judges) > 2)
    if "alpha" in report:
        labels_by_item: list[list[int]] = []
        for item in items:
            labels_by_item.append([judge.labels[item] for judge in judges])
        alpha = krippendorff_alpha(labels_by_item)
        expected = None if math.isnan(alpha) else pytest.approx(alpha)
        assert report["alpha"]["label"] == expected
    if len(systems) > 1:
        check_preferences(report, systems, counted, judges)
    json.dumps(report, allow_nan=False)
    assert ("| all, Krippendorff's alpha " in text(report)) == ("alpha" in report)


def move_cells_within_items(draw: random.Random, rows: list[dict[str, str]]) -> None:
    """Move the label or the preference of each item from its first row to its second one."""
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        column = "label" if draw.random() < 0.5 else "preferred"
        second[column] = first.pop(column)


def check_adequacy(
    judgements: dict[str, Any], system: str, counted: list[int], judges: list[Judge]
) -> None:
    """Compare what the report says of a system with counts over the judges."""
    adequate = 0
    inadequate = 0
    for item in counted:
        votes = [judge.adequate[item, system] for judge in judges]
        if all(votes):
            adequate += 1
        elif not any(votes):
            inadequate += 1
    agreed = adequate + inadequate
    assert judgements["agreed"] == agreed
    assert judgements["adequate"] == adequate
    assert judgements["adequacy_rate"] == share(adequate, agreed)
    assert judgements["error_marks"] == len(judges) * inadequate
    # Each judge marks another error, the second one "unsound".
    assert judgements["errors"]["unsound"] == (1 / len(judges) if inadequate else None)


def adequacy_kappa(first: Judge, second: Judge, explanations: list[tuple[int, str]]) -> Any:
    """Cohen's kappa of two judges on the adequacy of explanations."""
    first_judgements: list[bool] = []
    second_judgements: list[bool] = []
    for explanation in explanations:
        first_judgements.append(first.adequate[explanation])
        second_judgements.append(second.adequate[explanation])
    return kappa(first_judgements, second_judgements)


def check_preferences(
    report: Any, systems: list[str], counted: list[int], judges: list[Judge]
) -> None:
    """Compare the preferences in a report with counts over the judges."""
    agreed: list[str] = []
    first_preferences: list[str] = []
    second_preferences: list[str] = []
    for item in counted:
        preferences = [judge.preferred[item] for judge in judges]
        first, second, *_ = preferences
        first_preferences.append(first)
        second_preferences.append(second)
        if len(set(preferences)) == 1:
            agreed.append(first)
    assert report["preference"] == {"agreed": len(agreed), "none": agreed.count("none")}
    for system, judgements in zip(systems, report["systems"], strict=True):
        assert judgements["preferred"] == agreed.count(system)
    expected = kappa(first_preferences, second_preferences)
    assert report["pairs"][0]["preference_kappa"] == expected


def save_sheet_with_gaps(folder: Path) -> tuple[Path, list[Path]]:
    """A key of three items, the whole sheet of "ann", and that of "bob", which has gaps.

    In item 3 bob has a wrong label, so that no further judgement is expected.
    """
    key = key_of(["one", "two"], [1, 0, 1])

    def adequate(item: Item, system: str) -> tuple[str, str]:
        return "yes", ""

    def first_system(item: Item) -> str:
        return "one"

    def entailment_for_item_1(item: Item) -> str:
        return "e" if item["number"] == 1 else "c"

    def inadequate_for_item_2(item: Item, system: str) -> tuple[str, str]:
        return ("no", "") if item["number"] == 2 else ("", "")

    complete = sheet_of(key, "ann", right_label, adequate, first_system)
    with_gaps = sheet_of(key, "bob", entailment_for_item_1, inadequate_for_item_2)
    sheets = [
        save_sheet(folder / "0.csv", complete),
        save_sheet(folder / "1.csv", with_gaps),
    ]
    return save_key(folder, key), sheets


def test_missing_judgements_are_listed_and_none_is_expected_after_a_wrong_label(
    tmp_path: Path,
) -> None:
    key_path, sheets = save_sheet_with_gaps(tmp_path)
    report = agree(key_path, sheets)
    ann, bob = report["annotators"]
    assert ann["missing"] == []
    assert bob["missing"] == [
        "item 1 A adequate",
        "item 1 B adequate",
        "item 2 A error",
        "item 2 B error",
        "item 1 preferred",
        "item 2 preferred",
    ]
    assert bob["labels_right"] == 2 / 3
    printed = text(report)
    assert "bob: 1.csv, labels right 66.67 %, 6 judgements missing: item 1 A adequate" in printed
    assert " item 1 A adequate, item 1 B" in printed
    with_any_label = agree(key_path, sheets, any_label=True)
    assert "item 3 B adequate" in with_any_label["annotators"][1]["missing"]


def test_judgements_that_one_annotator_lacks_are_not_agreed(tmp_path: Path) -> None:
    key_path, sheets = save_sheet_with_gaps(tmp_path)
    report = agree(key_path, sheets)
    assert report["items_counted"] == 2
    assert [system["agreed"] for system in report["systems"]] == [0, 0]
    undefined = report["explanation_score"]["undefined"]
    assert undefined == "all agree on the adequacy of no explanation"
    assert f"not computed, {undefined}\n" in text(report)


def two_sheets(
    folder: Path, scores: list[list[float | None]] | None = None
) -> tuple[Path, list[Path]]:
    """A key of two items, and two annotators who find only system two's explanations adequate."""
    key = key_of(["one", "two"], [1, 0], scores)

    def judgement(item: Item, system: str) -> tuple[str, str]:
        return ("1", "") if system == "two" else ("0", "v")

    sheets: list[Path] = []
    for annotator in ("ann", "bob"):
        rows = sheet_of(key, annotator, right_label, judgement)
        sheets.append(save_sheet(folder / f"{annotator}.csv", rows))
    return save_key(folder, key), sheets


def test_scores_predict_adequacy(tmp_path: Path) -> None:
    key_path, sheets = two_sheets(tmp_path, [[0.1, 0.9], [0.2, None]])
    predictor = agree(key_path, sheets)["explanation_score"]
    assert predictor["n"] == 3
    assert predictor["without_score"] == 1
    assert predictor["adequate"] == 1
    assert predictor["scorer"] == "embedded"
    assert predictor["average_precision"] == predictor["trapezoidal_area"] == 1
    assert predictor["best_f1"] == {"f1": 1, "precision": 1, "recall": 1, "at_least": 0.9}


@pytest.mark.parametrize(
    ("scores", "reason"),
    [
        (None, "no scores (figlang score, then export)"),
        ([[0.1, None], [0.2, None]], "all agree on one adequacy alone"),  # system one is inadequate
    ],
)
def test_scores_that_can_predict_nothing(
    scores: list[list[float | None]] | None, reason: str, tmp_path: Path
) -> None:
    key_path, sheets = two_sheets(tmp_path, scores)
    assert agree(key_path, sheets)["explanation_score"]["undefined"] == reason


def test_keys_and_sheets_that_do_not_belong_together(tmp_path: Path) -> None:
    key_path, (first, second) = two_sheets(tmp_path)

    def check_refusal(message: str, key: Path, *sheets: Path) -> None:
        """Check that a key and sheets are refused with this message."""
        with pytest.raises(FigLangError, match=message):
            agree(key, list(sheets))

    check_refusal("ann.csv is of ann, like another sheet", key_path, first, first)
    copy = tmp_path / "copy.csv"
    copy.write_bytes(first.read_bytes().replace(b'"1","A"', b'"1","C"'))
    no_such_letter = "copy.csv, row 2: the key has no such item and letter"
    check_refusal(no_such_letter, key_path, copy, second)

    other_key = tmp_path / "other.json"
    other_key.write_text(json.dumps(key_of(["one"], [1])))
    other_code = r"bob.csv is a sheet of s-\w+, but the key is of s-"
    check_refusal(other_code, other_key, second, second)
    changed = key_path.read_text().replace('"gold": 1', '"gold": 0', 1)
    for content in ("{", "[]", '{"sheet": 1}', changed):
        other_key.write_text(content)
        no_key = "other.json is not a key as figlang judge export wrote it"
        check_refusal(no_key, other_key, first, second)
