"""If these fail, generated pictures are sorted into wrong shares, or a sheet tells what drew
them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import kappa
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from figlang_tasks.benchmarks.irfl import generate, sorting
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge import key, sheet
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.pictures import export

OPTIONS: dict[str, Any] = {"task": "irfl_generate", "seed": 3, "annotators": 2}
Picture = dict[str, Any]
Category = Callable[[Picture], str]


def colour(file: str, system: str) -> tuple[int, int, int]:
    return int(file[:4]), 9, len(system)


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Three idioms, two pictures of each prompt; "Beta" refused the first."""
    for system in ("Alpha", "Beta"):
        path = tmp_path / system / "prompts.jsonl"
        arguments = [
            str(path),
            "--dataset",
            "figlang_mini_irfl",
            "--idioms",
            "3",
            "--pictures",
            "2",
        ]
        assert generate.main(arguments) == 0 and generate.main(arguments) == 0
        metadata = PngInfo()
        metadata.add_text("parameters", f"a prompt of {system}")
        for line in map(json.loads, path.read_text().splitlines()):
            if (system, line["file"]) != ("Beta", "0000.png"):
                picture = Image.new("RGB", (8, 8), colour(line["file"], system))
                picture.save(path.parent / line["file"], pnginfo=metadata)
    return [f"Alpha={tmp_path / 'Alpha'}", str(tmp_path / "Beta")]


def filled(path: Path, found: dict[str, Any], category: Category, annotator: str) -> Path:
    by_place = {(each["number"], each["letter"]): each for each in found["pictures"]}
    rows = sheet.read(path).rows.assign(annotator=annotator).to_dict("records")
    for row in rows:
        row["category"] = f" {category(by_place[int(row['item']), row['letter']]).upper()} "
    target = path.with_name(f"{annotator}.csv")
    target.write_bytes(sheet.csv_bytes(sheet.PICTURE_COLUMNS, rows))
    return target


def test_the_prompts_are_each_idiom_and_each_of_its_definitions() -> None:
    lines = generate.prompts("figlang_mini_irfl", 8, 4)
    assert [line["file"] for line in lines] == [f"{number:04}.png" for number in range(len(lines))]
    assert len({line["phrase"] for line in lines}) == 8
    counts = Counter((line["phrase"], line["prompt"]) for line in lines)
    assert set(counts.values()) == {4}
    for line in lines:
        assert set(line["definitions"]) | {line["phrase"]} == {
            p for phrase, p in counts if phrase == line["phrase"]
        }
        assert (line["prompt"] == line["phrase"]) == (line["input"] == "idiom")
    assert generate.main(["unused", "--dataset", "figlang_mini_irfl", "--idioms", "9"]) == 1
    for option in ("--idioms=-1", "--pictures=0"):
        with pytest.raises(SystemExit):
            generate.main(["unused", option])


def test_a_sheet_tells_neither_system_nor_prompt(tmp_path: Path, folders: list[str]) -> None:
    written = [tmp_path / "out" / name for name in export(folders, tmp_path / "out", **OPTIONS)]
    found, first = key.read(written[-1]), sheet.read(written[1])
    lines = [
        json.loads(line) for line in (tmp_path / "Beta" / "prompts.jsonl").read_text().splitlines()
    ]
    asked = Counter(line["input"] for line in lines)
    assert found["asked"] == asked and len(found["pictures"]) == 2 * len(lines) - 1
    by_file = {line["file"]: line for line in lines}
    by_place = {(int(row["item"]), row["letter"]): row for _, row in first.rows.iterrows()}
    content = written[1].read_text("utf-8-sig")
    assert not any(word in content for word in ("Alpha", "Beta", "0001.png"))
    for each in found["pictures"]:
        cells, line = by_place[each["number"], each["letter"]], by_file[each["file"]]
        assert (cells["phrase"], cells["definitions"]) == (
            line["phrase"],
            "\n".join(line["definitions"]),
        )
        assert (each["prompt"], each["input"], cells["category"]) == (
            line["prompt"],
            line["input"],
            "",
        )
        with Image.open(tmp_path / "out" / cells["image"]) as shown:
            assert shown.getpixel((0, 0)) == colour(each["file"], each["system"]) and not shown.info
    sizes = Counter(each["number"] for each in found["pictures"])
    assert max(sizes.values()) == 5
    items = [
        [(each["file"], each["system"]) for each in found["pictures"] if each["number"] == item]
        for item in sizes
    ]
    assert any({system for _, system in item} == {"Alpha", "Beta"} for item in items)
    assert all(item != sorted(item) for item in items if len(item) == 5)


def test_figures_by_counting(tmp_path: Path, folders: list[str]) -> None:
    *_, blank, _, path = [
        tmp_path / "out" / name for name in export(folders, tmp_path / "out", **OPTIONS)
    ]
    found = key.read(path)
    names = list(sorting.CATEGORIES)
    says: list[Category] = [
        lambda each: names[1] if each["input"] == "idiom" else names[0],
        lambda each: names[1] if each["input"] == "idiom" else names[int(each["file"][:4]) % 5],
        lambda each: names[int(each["file"][:4]) % 3],
    ]
    sheets = [filled(blank, found, say, f"person {number}") for number, say in enumerate(says)]
    report = agree(path, sheets)
    for row in report["systems"]:
        own = [
            each
            for each in found["pictures"]
            if (each["system"], each["input"]) == (row["system"], row["input"])
        ]
        votes = [Counter(say(each) for say in says).most_common(1)[0] for each in own]
        assert (row["pictures"], row["asked"]) == (len(own), found["asked"][row["input"]])
        for name in names:
            assert row["categories"][name] == sum(
                said == name and n >= 2 for said, n in votes
            ) / len(own)
        assert row["no_majority"] == sum(count < 2 for _, count in votes) / len(own)
    first, second = ([say(each) for each in found["pictures"]] for say in says[:2])
    assert report["pairs"][0]["category_kappa"] == kappa(first, second)
    both = [one == other for one, other in zip(first, second, strict=True)]
    # One of two is no majority
    assert agree(path, sheets[:2])["with_majority"] == sum(both) / len(both) < 1
    assert len(report["pairs"]) == 3 and -1 <= report["alpha"] <= 1
    assert " 5 of 6 |" in text(report)  # the idioms of Beta


# Counts that give the printed shares of Table 9.
COUNTS = [
    (48, 0, 0, 15, 23, 9),
    (120, 51, 12, 0, 2, 53),
    (59, 0, 3, 10, 25, 16),
    (118, 13, 1, 0, 3, 100),
    (69, 3, 14, 24, 16, 3),
    (126, 58, 8, 0, 2, 54),
]


def test_the_published_shares_are_those_of_table_9() -> None:
    for row, (total, *counts) in zip(sorting.TABLE_9["rows"], COUNTS, strict=True):
        assert row["pictures"] == total
        assert [*row["categories"].values()] == pytest.approx(
            [count / total for count in counts], abs=0.006
        )


def test_what_cannot_be_used(tmp_path: Path, folders: list[str]) -> None:
    def refused(says: str, arguments: list[str] = folders, **options: Any) -> None:
        with pytest.raises(FigLangError, match=says):
            export(arguments, tmp_path / "out", **{**OPTIONS, **options})
        assert not (tmp_path / "out").exists()

    refused("--task irfl: no task has pictures to sort but irfl_generate", task="irfl")
    refused("two folders have one name, of Beta", [folders[1], f"Beta={tmp_path / 'Alpha'}"])
    refused(
        r"has no prompts.jsonl, or none of .*: write it with python -m figlang_tasks\S+generate ",
        [str(tmp_path)],
    )
    path = tmp_path / "Beta" / "prompts.jsonl"
    prompts = path.read_text()
    for changed, says in (
        (prompts.replace('"0000.png"', '"../Alpha/0000.png"'), "points outside"),
        (
            prompts.replace('"definition"', '"gloss"'),
            "input is 'gloss', must be one of idiom, definition",
        ),
    ):
        path.write_text(changed)
        refused(says, [folders[1]])
    path.write_text(prompts.replace("0000.png", "9999.png"))
    refused("Alpha and .*Beta differ in prompts.jsonl")
    assert generate.main([str(path), "--dataset", "figlang_mini_irfl"]) == 1


def test_gaps_are_listed(tmp_path: Path, folders: list[str]) -> None:
    *_, first, _, path = [
        tmp_path / "out" / name for name in export(folders, tmp_path / "out", **OPTIONS)
    ]
    found = key.read(path)
    one = [
        filled(
            first,
            found,
            lambda each: "figurative" * (each["number"] == 1 and each["letter"] == "A"),
            name,
        )
        for name in ("one", "two")
    ]
    report = agree(path, one)
    assert len(
        report["annotators"][0]["missing"]
    ) == 30 and "30 judgements missing: 1 B, 1 C, " in text(report)
    assert report["with_majority"] == 1 / 31 and report["pairs"][0]["category_kappa"] is None
