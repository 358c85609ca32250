"""If these fail, a figure of `judge agree` is not what its sheets say: the paper's Table 6,
counting by hand.
"""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import Item, kappa, key_of, right_label, save_key, save_sheet, sheet_of

from figlang_tasks.benchmarks.vflute.agreement import PUBLISHED
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.sheet import ERRORS
from figlang_tasks.metrics.agreement import krippendorff_alpha

# Counts that give Table 6. Up to 95, the adequacy rates have no other; the preference rates have no
# other if all are of one number of items: 39 of 52, so that 13 prefer none.
TABLE_6 = {
    "adequacy_rate": [(25, 74), (20, 67), (38, 75)],
    "preference_rate": [(12, 52), (4, 52), (23, 52)],
}


def test_the_published_rates_are_those_of_table_6() -> None:
    for rate, counts in TABLE_6.items():
        assert [each[rate] for each in PUBLISHED["systems"]] == [
            round(part / whole, 4) for part, whole in counts
        ]


@pytest.mark.parametrize("seed", range(12))
def test_every_figure_by_counting(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    names, count, any_label = (
        ["one", "two"][: draw.randint(1, 2)],
        draw.randint(1, 8),
        draw.random() < 0.5,
    )
    scores = [[draw.choice([0.2, 0.53, 0.6, 0.61]) for _ in names] for _ in range(count)]
    key = key_of(names, [draw.randint(0, 1) for _ in range(count)], scores)
    said: list[dict[tuple[int, str], Any]] = []
    paths = []
    for annotator in range(draw.randint(2, 3)):
        one: dict[tuple[int, str], Any] = {}
        one |= {
            (number, name): draw.random() < 0.5 for number in range(1, count + 1) for name in names
        }
        one |= {(number, "label"): draw.choice([0, 1, 1]) for number in range(1, count + 1)}
        one |= {
            (number, "preferred"): draw.choice([*names, "none"]) for number in range(1, count + 1)
        }
        said.append(one)
        rows = sheet_of(
            key,
            f"annotator {annotator}",
            lambda item: "ce"[said[-1][item["number"], "label"]],
            lambda item, name: (
                ("yes", "") if said[-1][item["number"], name] else ("no", ERRORS[len(said) - 1])
            ),
            lambda item: said[-1][item["number"], "preferred"],
        )
        if len(names) > 1:  # label and preference may stand in any row of an item
            for row, other in zip(rows[::2], rows[1::2], strict=True):
                other |= (
                    {"label": row.pop("label")}
                    if draw.random() < 0.5
                    else {"preferred": row.pop("preferred")}
                )
        paths.append(save_sheet(tmp_path / f"{annotator}.csv", rows))
    report = agree(save_key(tmp_path, key), paths, any_label=any_label)
    counted = [
        i
        for i in key["items"]
        if any_label or all(one[i["number"], "label"] == i["gold"] for one in said)
    ]
    assert report["items_counted"] == len(counted)
    for name, system in zip(names, report["systems"], strict=True):
        agreed = [i for i in counted if len({one[i["number"], name] for one in said}) == 1]
        yes = [i for i in agreed if said[0][i["number"], name]]
        assert (system["agreed"], system["adequate"]) == (len(agreed), len(yes))
        assert system["adequacy_rate"] == (len(yes) / len(agreed) if agreed else None)
        assert system["errors"]["unsound"] == (1 / len(said) if len(yes) < len(agreed) else None)
        assert system["error_marks"] == len(said) * (len(agreed) - len(yes))

    def between(items: list[dict[str, Any]], *asked: str) -> Any:
        return kappa(
            *([one[item["number"], each] for item in items for each in asked] for one in said[:2])
        )

    pair = report["pairs"][0]
    assert pair["label_kappa"] == between(key["items"], "label")
    assert pair["adequacy_kappa"]["by_system"] == {name: between(counted, name) for name in names}
    assert pair["adequacy_kappa"]["overall"] == between(counted, *names)
    assert len(report["pairs"]) == len(said) * (len(said) - 1) / 2
    assert ("alpha" in report) == (len(said) > 2)
    if "alpha" in report:
        found = krippendorff_alpha(
            [[one[item["number"], "label"] for one in said] for item in key["items"]]
        )
        assert report["alpha"]["label"] == (None if math.isnan(found) else pytest.approx(found))
    if len(names) > 1:
        same = [i for i in counted if len({one[i["number"], "preferred"] for one in said}) == 1]
        assert report["preference"]["agreed"] == len(same)
        counts = [
            sum(said[0][i["number"], "preferred"] == name for i in same)
            for name in [*names, "none"]
        ]
        assert [
            *(each["preferred"] for each in report["systems"]),
            report["preference"]["none"],
        ] == counts
        assert pair["preference_kappa"] == between(counted, "preferred")
    json.dumps(report, allow_nan=False)
    assert ("| all, Krippendorff's alpha " in text(report)) == ("alpha" in report)


def test_missing_judgements_are_listed_and_none_is_asked_for_after_a_wrong_label(
    tmp_path: Path,
) -> None:
    key = key_of(["one", "two"], [1, 0, 1])

    def judgement(item: Item, name: str) -> tuple[str, str]:
        return ("", "") if item["number"] != 2 else ("no", "")

    rows = [
        sheet_of(key, "ann", right_label, lambda item, name: ("yes", ""), lambda item: "one"),
        sheet_of(key, "bob", lambda item: "c" if item["number"] > 1 else "e", judgement),
    ]
    files = (
        save_key(tmp_path, key),
        [save_sheet(tmp_path / f"{number}.csv", own) for number, own in enumerate(rows)],
    )
    report = agree(*files)
    places = [
        "item 1 A adequate",
        "item 1 B adequate",
        "item 2 A error",
        "item 2 B error",
        "item 1 preferred",
    ]
    assert [each["missing"] for each in report["annotators"]] == [[], [*places, "item 2 preferred"]]
    assert (report["items_counted"], report["annotators"][1]["labels_right"]) == (2, 2 / 3)
    assert [system["agreed"] for system in report["systems"]] == [0, 0]
    assert (
        "bob: 1.csv, labels right 66.67 %, 6 judgements missing: item 1 A adequate, item 1 B"
        in text(report)
    )
    assert text(report).endswith(f"not computed, {report['explanation_score']['undefined']}\n")
    assert "item 3 B adequate" in agree(*files, any_label=True)["annotators"][1]["missing"]


def of_two(folder: Path, scores: list[list[float | None]] | None = None) -> tuple[Path, list[Path]]:
    """Two items, and two annotators who find the explanations of system two adequate."""
    key = key_of(["one", "two"], [1, 0], scores)
    sheets = [
        save_sheet(
            folder / f"{annotator}.csv",
            sheet_of(
                key,
                annotator,
                right_label,
                lambda i, name: ("1", "") if name == "two" else ("0", "v"),
            ),
        )
        for annotator in ("ann", "bob")
    ]
    return save_key(folder, key), sheets


def test_scores_predict_adequacy(tmp_path: Path) -> None:
    found = agree(*of_two(tmp_path, [[0.1, 0.9], [0.2, None]]))["explanation_score"]
    assert (found["n"], found["without_score"], found["adequate"], found["scorer"]) == (
        3,
        1,
        1,
        "embedded",
    )
    assert found["average_precision"] == found["trapezoidal_area"] == 1
    assert found["best_f1"] == {"f1": 1, "precision": 1, "recall": 1, "at_least": 0.9}


def test_keys_and_sheets_that_do_not_belong_together(tmp_path: Path) -> None:
    key_path, (first, second) = of_two(tmp_path)
    other = tmp_path / "other.json"

    def refused(says: str, key: Path, *sheets: Path) -> None:
        with pytest.raises(FigLangError, match=says):
            agree(key, list(sheets))

    copy = tmp_path / "copy.csv"
    refused("ann.csv is of ann, like another sheet", key_path, first, first)
    copy.write_bytes(first.read_bytes().replace(b'"1","A"', b'"1","C"'))
    refused("copy.csv, row 2: the key has no such item and letter", key_path, copy, second)
    other.write_text(json.dumps(key_of(["one"], [1])))
    refused(r"bob.csv is a sheet of s-\w+, but the key is of s-", other, second, second)
    for content in (
        "{",
        "[]",
        '{"sheet": 1}',
        key_path.read_text().replace('"gold": 1', '"gold": 0', 1),
    ):
        other.write_text(content)
        refused("other.json is not a key as figlang judge export wrote it", other, first, second)
