"""Generated pictures are sorted into wrong shares, or a sheet tells their system, if these fail."""

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
    """A colour by which a picture is known again."""
    return int(file[:4]), 9, len(system)


@pytest.fixture
def folders(tmp_path: Path) -> list[str]:
    """Three idioms, two pictures of each prompt; "Beta" refused the first."""
    return save_folders(tmp_path)


def save_folders(parent: Path) -> list[str]:
    """Write the pictures of both systems below a folder, and return arguments of the command."""
    for system in ("Alpha", "Beta"):
        path = parent / system / "prompts.jsonl"
        options = ["--dataset", "figlang_mini_irfl", "--idioms", "3", "--pictures", "2"]
        assert generate.main([str(path), *options]) == 0
        assert generate.main([str(path), *options]) == 0
        metadata = PngInfo()
        metadata.add_text("parameters", f"a prompt of {system}")
        for line in map(json.loads, path.read_text().splitlines()):
            if (system, line["file"]) != ("Beta", "0000.png"):
                picture = Image.new("RGB", (8, 8), colour(line["file"], system))
                picture.save(path.parent / line["file"], pnginfo=metadata)
    return [f"Alpha={parent / 'Alpha'}", str(parent / "Beta")]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sheets, key and pictures of both systems; their prompts are beside it."""
    parent = tmp_path_factory.mktemp("exported")
    export(save_folders(parent), parent / "out", **OPTIONS)
    return parent / "out"


def lines_by_file(exported: Path) -> dict[str, dict[str, Any]]:
    """The lines of the prompts of the exported pictures, by the name of the picture's file."""
    lines: dict[str, dict[str, Any]] = {}
    prompts = (exported.parent / "Beta" / "prompts.jsonl").read_text()
    for line in map(json.loads, prompts.splitlines()):
        lines[line["file"]] = line
    return lines


def filled(path: Path, content: dict[str, Any], category: Category, annotator: str) -> Path:
    """Fill in a sheet.

    Args:
        path: the empty sheet.
        content: of the key.
        category: what the annotator sees in each picture.
        annotator: the annotator's name.
    """
    pictures: dict[tuple[int, str], Picture] = {}
    for picture in content["pictures"]:
        pictures[picture["number"], picture["letter"]] = picture
    rows = sheet.read(path).rows.assign(annotator=annotator).to_dict("records")
    for row in rows:
        picture = pictures[int(row["item"]), row["letter"]]
        row["category"] = f" {category(picture).upper()} "
    target = path.with_name(f"{annotator}.csv")
    target.write_bytes(sheet.csv_bytes(sheet.PICTURE_COLUMNS, rows))
    return target


def test_the_prompts_are_each_idiom_and_each_of_its_definitions() -> None:
    lines = generate.prompts("figlang_mini_irfl", 8, 4)
    prompts_of_phrase: dict[str, Counter[str]] = {}  # each with the number of its pictures
    for number, line in enumerate(lines):
        assert line["file"] == f"{number:04}.png"
        prompts_of_phrase.setdefault(line["phrase"], Counter())[line["prompt"]] += 1
    assert len(prompts_of_phrase) == 8
    for line in lines:
        prompts = prompts_of_phrase[line["phrase"]]
        assert set(prompts.values()) == {4}
        assert set(prompts) == {*line["definitions"], line["phrase"]}
        assert (line["prompt"] == line["phrase"]) == (line["input"] == "idiom")
    assert generate.main(["unused", "--dataset", "figlang_mini_irfl", "--idioms", "9"]) == 1
    for option in ("--idioms=-1", "--pictures=0"):
        with pytest.raises(SystemExit):
            generate.main(["unused", option])


def test_the_key_has_every_picture_with_its_prompt(exported: Path) -> None:
    content = key.read(exported / "key.json")
    lines = lines_by_file(exported)
    assert content["asked"] == Counter(line["input"] for line in lines.values())
    assert len(content["pictures"]) == 2 * len(lines) - 1
    for picture in content["pictures"]:
        line = lines[picture["file"]]
        assert picture["prompt"] == line["prompt"]
        assert picture["input"] == line["input"]


def test_a_sheet_tells_neither_system_nor_prompt(exported: Path) -> None:
    text = (exported / "annotator1.csv").read_text("utf-8-sig")
    for word in ("Alpha", "Beta", "0001.png"):
        assert word not in text


def test_a_row_of_a_sheet_has_phrase_definitions_and_the_picture_without_metadata(
    exported: Path,
) -> None:
    cells_of_picture: dict[tuple[int, str], Any] = {}
    for _, row in sheet.read(exported / "annotator1.csv").rows.iterrows():
        cells_of_picture[int(row["item"]), row["letter"]] = row
    lines = lines_by_file(exported)
    for picture in key.read(exported / "key.json")["pictures"]:
        cells = cells_of_picture[picture["number"], picture["letter"]]
        line = lines[picture["file"]]
        assert cells["phrase"] == line["phrase"]
        assert cells["definitions"] == "\n".join(line["definitions"])
        assert cells["category"] == ""
        with Image.open(exported / cells["image"]) as image:
            assert image.getpixel((0, 0)) == colour(picture["file"], picture["system"])
            assert not image.info


def test_an_item_has_pictures_of_both_systems_in_no_order(exported: Path) -> None:
    pictures_of_item: dict[int, list[tuple[str, str]]] = {}
    systems_of_item: dict[int, set[str]] = {}
    for picture in key.read(exported / "key.json")["pictures"]:
        file_and_system = (picture["file"], picture["system"])
        pictures_of_item.setdefault(picture["number"], []).append(file_and_system)
        systems_of_item.setdefault(picture["number"], set()).add(picture["system"])

    assert max(map(len, pictures_of_item.values())) == 5
    assert {"Alpha", "Beta"} in systems_of_item.values()
    for pictures in pictures_of_item.values():
        if len(pictures) == 5:
            assert pictures != sorted(pictures)


CATEGORIES = list(sorting.CATEGORIES)


def by_input(picture: Picture) -> str:
    """The second category for pictures of idioms, else the first."""
    return CATEGORIES[1] if picture["input"] == "idiom" else CATEGORIES[0]


def by_input_and_file(picture: Picture) -> str:
    """The second category for pictures of idioms, else one by the number of the file."""
    if picture["input"] == "idiom":
        return CATEGORIES[1]
    return CATEGORIES[int(picture["file"][:4]) % 5]


def by_file(picture: Picture) -> str:
    """One of three categories by the number of the file."""
    return CATEGORIES[int(picture["file"][:4]) % 3]


JUDGES: list[Category] = [by_input, by_input_and_file, by_file]


@pytest.fixture(scope="module")
def sheets(exported: Path) -> list[Path]:
    """The sheets of three judges."""
    content = key.read(exported / "key.json")
    paths: list[Path] = []
    for number, judge in enumerate(JUDGES):
        paths.append(filled(exported / "annotator1.csv", content, judge, f"person {number}"))
    return paths


def test_the_shares_of_categories_are_those_of_counting(exported: Path, sheets: list[Path]) -> None:
    content = key.read(exported / "key.json")
    report = agree(exported / "key.json", sheets)
    for row in report["systems"]:
        votes: list[Counter[str]] = []
        for picture in content["pictures"]:
            if picture["system"] == row["system"] and picture["input"] == row["input"]:
                votes.append(Counter(judge(picture) for judge in JUDGES))
        assert row["pictures"] == len(votes)
        assert row["asked"] == content["asked"][row["input"]]
        majorities: Counter[str] = Counter()
        for counts in votes:
            ((category, most_votes),) = counts.most_common(1)
            majorities[category if most_votes >= 2 else "no majority"] += 1
        for category in CATEGORIES:
            assert row["categories"][category] == majorities[category] / len(votes)
        assert row["no_majority"] == majorities["no majority"] / len(votes)

    assert " 5 of 6 |" in text(report)  # the idioms of Beta


def test_the_agreement_of_judges_is_that_of_counting(exported: Path, sheets: list[Path]) -> None:
    key_path = exported / "key.json"
    report = agree(key_path, sheets)
    pictures = key.read(key_path)["pictures"]
    first = list(map(by_input, pictures))
    second = list(map(by_input_and_file, pictures))
    assert report["pairs"][0]["category_kappa"] == kappa(first, second)
    assert len(report["pairs"]) == 3
    assert -1 <= report["alpha"] <= 1
    share_agreed = sum(a == b for a, b in zip(first, second, strict=True)) / len(first)
    assert share_agreed < 1
    assert agree(key_path, sheets[:2])["with_majority"] == share_agreed, "one of two is no majority"


COUNTS = [
    (48, 0, 0, 15, 23, 9),
    (120, 51, 12, 0, 2, 53),
    (59, 0, 3, 10, 25, 16),
    (118, 13, 1, 0, 3, 100),
    (69, 3, 14, 24, 16, 3),
    (126, 58, 8, 0, 2, 54),
]
"""Counts that give the printed shares of Table 9: all pictures, then those of each category."""


def test_the_published_shares_are_those_of_table_9() -> None:
    for row, (pictures, *counts) in zip(sorting.TABLE_9["rows"], COUNTS, strict=True):
        assert row["pictures"] == pictures
        shares = [count / pictures for count in counts]
        assert [*row["categories"].values()] == pytest.approx(shares, abs=0.006)


def test_folders_that_cannot_be_exported(tmp_path: Path, folders: list[str]) -> None:
    def check_refusal(message: str, arguments: list[str] = folders, **options: Any) -> None:
        """Check that folders are refused with this message, and nothing is written."""
        with pytest.raises(FigLangError, match=message):
            export(arguments, tmp_path / "out", **{**OPTIONS, **options})
        assert not (tmp_path / "out").exists()

    no_such_task = "--task irfl: no task has pictures to sort but irfl_generate"
    check_refusal(no_such_task, task="irfl")
    same_names = [folders[1], f"Beta={tmp_path / 'Alpha'}"]
    check_refusal("two folders have one name, of Beta", same_names)
    no_prompts = (
        r"has no prompts.jsonl, or none of .*: write it with python -m figlang_tasks\S+generate "
    )
    check_refusal(no_prompts, [str(tmp_path)])

    path = tmp_path / "Beta" / "prompts.jsonl"
    prompts = path.read_text()
    path.write_text(prompts.replace('"0000.png"', '"../Alpha/0000.png"'))
    check_refusal("points outside", [folders[1]])
    path.write_text(prompts.replace('"definition"', '"gloss"'))
    check_refusal("input is 'gloss', must be one of idiom, definition", [folders[1]])
    path.write_text(prompts.replace("0000.png", "9999.png"))
    check_refusal("Alpha and .*Beta differ in prompts.jsonl")
    assert generate.main([str(path), "--dataset", "figlang_mini_irfl"]) == 1


def only_the_first_picture(picture: Picture) -> str:
    """A category for the first picture, and an empty cell for all others."""
    is_first = picture["number"] == 1 and picture["letter"] == "A"
    return "figurative" if is_first else ""


def test_gaps_are_listed(tmp_path: Path, folders: list[str]) -> None:
    folder = tmp_path / "out"
    export(folders, folder, **OPTIONS)
    content = key.read(folder / "key.json")
    sheets: list[Path] = []
    for name in ("one", "two"):
        blank = folder / "annotator1.csv"
        sheets.append(filled(blank, content, only_the_first_picture, name))
    report = agree(folder / "key.json", sheets)
    assert len(report["annotators"][0]["missing"]) == 30
    assert "30 judgements missing: 1 B, 1 C, " in text(report)
    assert report["with_majority"] == 1 / 31
    assert report["pairs"][0]["category_kappa"] is None
