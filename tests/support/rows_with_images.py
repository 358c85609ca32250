"""Drawn pictures, and rows of benchmarks with pictures as their releases have them."""

from __future__ import annotations

import csv
import io
import json
import random
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image, ImageDraw

from figlang_tasks.benchmarks.admire.counts import ROWS as ADMIRE_COUNTS


def drawing(number: int | str, size: int = 48, colour: str = "") -> Image.Image:
    """Draw a shape on a coloured ground, the same for the same number.

    Args:
        number: decides about the shape and the colours.
        size: width and height in pixels.
        colour: the colour of the shape, in place of the one that follows from the number.
    """
    generator = random.Random(number)
    red, green, blue = (generator.randrange(256) for _ in range(3))
    image = Image.new("RGB", (size, size), (blue, red, green))
    left = generator.randrange(size // 3 + 1)
    top = generator.randrange(size // 3 + 1)
    box = (left, top, size - left // 2, size - top // 2)
    ImageDraw.Draw(image).ellipse(box, fill=colour or (red, green, blue))
    return image


# --- AdMIRe ---

_ADMIRE_FOLDERS = {"train": "train", "dev": "dev", "test": "test", "extended": "xeval"}
_ADMIRE_EXAMPLE: dict[str, Any] = {  # its words are ours; the pictures are of the card
    "compound": "tip of the iceberg",
    "sentence_type": "idiomatic",
    "sentence": "The late trains are only the tip of the iceberg: the whole network is worn out.",
    # a tree with deep roots, a storm, an anchor, an iceberg, a lion
    "pictures": (9015, 9009, 9013, 9004, 9010),
}


def admire_folder_and_file(folder: Path, table: str) -> tuple[Path, str]:
    """Folder and name of the file of a table, written down apart from the loader."""
    kind, part = table.split("_")
    short_part = part
    if part == "extended":
        short_part = "xp" if kind == "pt" else "xe"
    if kind == "sequence":
        subtask_folder = "Subtask_B"
        file_name = f"subtask_b_{short_part}.tsv"
    else:
        subtask_folder = f"Subtask_A/{kind.upper()}"
        file_name = f"subtask_a_{short_part}.tsv"
    return folder / "AdMIRe" / subtask_folder / _ADMIRE_FOLDERS[part], file_name


def admire_rows(table: str, count: int | None = None) -> list[dict[str, Any]]:
    """The cells of a table.

    The first row of the English test is the card's example. Extended tables have the compounds of
    the others in the other sense.
    """
    kind, part = table.split("_")
    generator = random.Random(table)
    rows: list[dict[str, Any]] = []
    if part == "extended":
        for other_part in ("train", "dev", "test"):
            for other_row in admire_rows(f"{kind}_{other_part}"):
                is_idiomatic = other_row["sentence_type"] == "literal"
                rows.append(_admire_row(table, other_row["compound"], is_idiomatic, generator))
        return rows[:count]
    for number in range(count or ADMIRE_COUNTS[table]):
        compound = f"owl's {kind} {part} {number}"
        rows.append(_admire_row(table, compound, bool(number % 3), generator))
    if table == "en_test":
        names = [f"4071826{number}.png" for number in _ADMIRE_EXAMPLE["pictures"]]
        for column in ("compound", "sentence_type", "sentence"):
            rows[0][column] = _ADMIRE_EXAMPLE[column]
        rows[0]["expected_order"] = str(names)
        for number, name in enumerate(sorted(names), 1):
            rows[0][f"image{number}_name"] = name
    return rows


def _admire_row(
    table: str, compound: str, is_idiomatic: bool, generator: random.Random
) -> dict[str, Any]:
    is_sequence = table.startswith("sequence")
    picture_count = 4 if is_sequence else 5
    names = sorted(f"{generator.randrange(10**11):011}.png" for _ in range(picture_count))
    order = generator.sample(names, len(names))
    row: dict[str, Any] = {"compound": compound, "subset": "Test"}
    row["sentence_type"] = "idiomatic" if is_idiomatic else "literal"
    if is_sequence:
        row["expected_item"] = order[0]
        row["sequence_caption1"] = "A start."
        row["sequence_caption2"] = 'A "middle"\\nhere.'
    else:
        row["sentence"] = f"Here is the {compound}."
        row["expected_order"] = str(order)
    for number, name in enumerate(names, 1):
        row[f"image{number}_name"] = name
        row[f"image{number}_caption"] = f"Shows\\n{name}."
        if table.startswith("pt"):
            row[f"image{number}_caption_pt"] = f"Mostra {name}."
    return row


def write_admire_table(
    folder: Path, table: str, rows: Sequence[Mapping[str, Any]], pictures: bool = False
) -> Path:
    """Write the file of a table, with or without its pictures, and return its path."""
    table_folder, file_name = admire_folder_and_file(folder, table)
    table_folder.mkdir(parents=True, exist_ok=True)
    with (table_folder / file_name).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    if pictures:
        for row in rows:
            picture_folder = table_folder / row["compound"].replace("'", "_")
            picture_folder.mkdir(exist_ok=True)
            names = ["s1.png", "s2.png"] if "expected_item" in row else []
            names += [row[column] for column in row if column.endswith("_name")]
            for name in names:
                drawing(name, 8).save(picture_folder / name)
    return table_folder / file_name


def write_admire(folder: Path, *tables: str, pictures: bool = True) -> Path:
    """Write tables, by default the English test alone, and return `folder`: it is a
    FIGLANG_DATA_DIR.
    """
    for table in tables or ("en_test",):
        write_admire_table(folder, table, admire_rows(table), pictures)
    return folder


def write_valid_admire(folder: Path, pictures: bool = True) -> None:
    """Write the first two rows of each table that faults are put in."""
    for table in ("en_test", "en_dev", "pt_test", "sequence_test"):
        write_admire_table(folder, table, admire_rows(table, 2), pictures)


# --- MetaCLUE: statements of made-up words ---

MetaclueRow = dict[str, Any]
"""A line of ``annotations.jsonl``. A test may put anything into it."""

_METACLUE_TOPICS = ("cars", "food", "health", "animals", "travel")


def metaclue_row(number: int = 0, **changes: Any) -> MetaclueRow:
    """A valid row of the annotation file, with changed fields; None takes a field out."""
    metaphors = [metaclue_metaphor(number, wording, best=wording == 0) for wording in range(5)]
    valid_row: MetaclueRow = {
        "schema": 1,
        "image": f"{number % 10}/{number}.jpg",
        "split": "test",
        "set": "metaphor",
        "votes": 4,
        "topic": _METACLUE_TOPICS[number % len(_METACLUE_TOPICS)],
        "metaphors": metaphors,
        "boxes": [
            {"role": "primary", "type": "explicit", "bbox": [1, 2, 12, 20]},
            {"role": "secondary", "type": "text", "bbox": [3, 4, 30, 10.5]},
        ],
    }
    valid_row.update(changes)
    return {field: content for field, content in valid_row.items() if content is not None}


def metaclue_metaphor(
    number: int, wording: int = 0, best: object = True, **changes: object
) -> MetaclueRow:
    """One metaphor of an image: ``thing 7 0 is as odd 0 as thought 7``."""
    words = {
        "primary": f"thing {number} {wording}",
        "relationship": f"odd {wording}",
        "secondary": f"thought {number}",
        "best": best,
    }
    return {**words, **changes}


def metaclue_negative(
    number: int, literal_or_symbolic: str = "symbolic", **changes: Any
) -> MetaclueRow:
    """A valid row of an image that is no metaphor."""
    fields = {"set": f"{literal_or_symbolic}_negative", "metaphors": None, "boxes": None}
    return metaclue_row(number, **{**fields, **changes})


def write_metaclue(
    folder: Path, rows: Iterable[MetaclueRow], pictures: bool = True, same: bool = False
) -> Path:
    """Write ``folder/MetaCLUE`` and return `folder`.

    Args:
        folder: becomes the value of ``FIGLANG_DATA_DIR``.
        rows: the rows of the annotation file.
        pictures: whether to write pictures, of 32 x 32 pixels.
        same: whether all pictures have one colour.
    """
    dataset_folder = folder / "MetaCLUE"
    dataset_folder.mkdir(parents=True, exist_ok=True)
    written_rows = list(rows)
    lines = [json.dumps(written_row) + "\n" for written_row in written_rows]
    (dataset_folder / "annotations.jsonl").write_text("".join(lines), encoding="utf-8")
    if not pictures:
        return folder
    for number, written_row in enumerate(written_rows):
        path = dataset_folder / written_row["image"]
        path.parent.mkdir(exist_ok=True)
        drawing(0 if same else number, 32).save(path)
    return folder


def write_valid_metaclue(folder: Path) -> Path:
    """Write 20 metaphors, a negative of each kind and a row for training, in the lines 1 to 23."""
    rows = [metaclue_row(number) for number in range(20)]
    rows += [metaclue_negative(20), metaclue_negative(21, "literal")]
    rows.append(metaclue_row(22, split="train"))
    return write_metaclue(folder, rows)


# --- COLUMBUS ---


def columbus_rows(count: int) -> list[dict[str, Any]]:
    """Rows of benchmark.json: each phrase in both kinds, the right answers A to D in turn."""
    rows: list[dict[str, Any]] = []
    for number in range(count):
        phrase = f"phrase {number // 2}"
        kind = ("icon", "non-icon")[number % 2]
        right_letter = "ABCD"[number % 4]
        options = {letter: f"{phrase} of {letter}" for letter in "ABCD"}
        options[right_letter] = phrase
        row = {
            "image": f"phrase_{number // 2}_1_{kind}.png",
            "options": options,
            "correct": {right_letter: phrase},
            "is_icon": kind == "icon",
            "is_overlap": True,
        }
        rows.append(row)
    return rows


def write_columbus(
    folder: Path, rows: list[dict[str, Any]], archive: bool = False, runs: bool = False
) -> Path:
    """Write a release and return its folder.

    Args:
        folder: the folder of the release.
        rows: the rows of benchmark.json.
        archive: whether to write it in the layout of the authors' archive, not of the hub.
        runs: whether to write the published runs, which have the options backwards.
    """
    from figlang_tasks.benchmarks.columbus.rows import PUBLISHED_OUTPUTS

    pictures = folder / ("results/benchmark/images" if archive else "images")
    pictures.mkdir(parents=True)
    for name in {row["image"] for row in rows}:
        Image.new("RGB", (8, 8), "white").save(pictures / name, "PNG")
    if archive:
        (folder / "benchmark.json").write_text(json.dumps(rows))
    else:
        lines: list[str] = []
        for row in rows:
            line = row | {"image": None, "file_name": f"images/{row['image']}"}
            lines.append(json.dumps(line))
        (folder / "metadata.jsonl").write_text("\n".join(lines))
    if runs:
        metadata = {"nodes": "Node 1\n", "nodes_and_edges": "Node 1\nEdge 1\n"}
        results: list[dict[str, Any]] = []
        for row in rows:
            backwards = dict(zip("ABCD", reversed(row["options"].values()), strict=True))
            results.append({"metadata": metadata, **row, "options": backwards})
        (folder / PUBLISHED_OUTPUTS).parent.mkdir(parents=True)
        (folder / PUBLISHED_OUTPUTS).write_text(json.dumps({"results": results}))
    return folder


def write_valid_columbus(folder: Path, archive: bool = True) -> Path:
    """Write ``folder/COLUMBUS``, a release with as many rows as the published one."""
    return write_columbus(folder / "COLUMBUS", columbus_rows(1005), archive=archive, runs=archive)


# --- NYK-MS ---

NYKMS_CAPTION = 'The piano\'s "in tune", but the house is a little flat.'


def nykms_document(question: str = "metaphor", **changes: Any) -> dict[str, Any]:
    """A row as it is loaded, of which the annotations say Yes unless `changes` has label 0."""
    from figlang_tasks.benchmarks.nykms.counts import file_stem

    answers = {"MW": "flat", "ME": "It is dull."}
    if file_stem(question) == "nyk_s":
        answers = {"SW": "[I]", "ST": "[S] home owners", "SE": "A house has no pitch."}
    if changes.get("label") == 0:
        answers = dict.fromkeys(answers, "")
    document = {
        "dataset": "NYK-MS",
        "data": "NYK-MS/x:0123456789ab",
        "id": "NYK_722_3",
        "caption": NYKMS_CAPTION,
        "label": 1,
        "cartoon": "contest 722",
        **answers,
        "question": question,
        "modality": "image",
        **changes,
    }
    request = f"NYK-MS,question={question},modality={document['modality']}"
    return {"request": request, **document}


def write_valid_nykms(folder: Path) -> Path:
    """Write the rows that the package ships, and contest 1 of the contest dataset beside them."""

    from figlang_tasks import mini

    shutil.copytree(mini.NYKMS_DIR, folder / "NYK-MS")
    picture = io.BytesIO()
    drawing(1, 8).save(picture, "PNG")
    contests = folder / "NewYorkerCaptionContest" / "ranking"
    contests.mkdir(parents=True)
    contest = {
        "contest_number": 1,
        "image_description": "A cat.",
        "caption_choices": ["Meow."],
        "image": {"bytes": picture.getvalue()},
    }
    pq.write_table(pa.Table.from_pylist([contest]), contests / "train-0.parquet")
    return folder / "NYK-MS"


# --- NYCC, the New Yorker Caption Contest: drawn cartoons, captions of ours ---

NYCC_CAPTION_STARTS = {
    "A": "I have",
    "B": "There is",
    "C": "You need",
    "D": "Lettuce takes",
    "E": "Nobody has",
}
"""How the caption of each option begins, by its letter."""


def nycc_row(config: str, number: int, split: str = "test", **changes: Any) -> dict[str, Any]:
    """A row of a configuration, with the columns that we read.

    The labels of matching and ranking go through the letters.
    """
    from figlang_tasks.benchmarks.nycc.configurations import parse_name
    from figlang_tasks.benchmarks.nycc.rows import OPTIONS

    configuration = parse_name(config)
    letters = OPTIONS[configuration.task]
    contest = 1000 * configuration.fold + number // 2
    cartoon = io.BytesIO()
    Image.new("L", (24, 24), 8 * number % 256).save(cartoon, "JPEG")
    captions: list[str] | str = "I have no time."
    label = f"A snail says it has no time, and {number} snails have all of it."
    if letters:
        captions = [f"{NYCC_CAPTION_STARTS[letter]} no time, {number}." for letter in letters]
        label = letters[number % len(letters)]
    row: dict[str, Any] = {
        "image": {"bytes": cartoon.getvalue(), "path": f"{contest}.jpeg"},
        "contest_number": contest,
        "image_location": "a garden",
        "image_description": f"Snail {number} wears a watch.",
        "image_uncanny_description": "Snails have no wrists.",
        "entities": [
            "https://en.wikipedia.org/wiki/Snail",
            "https://en.wikipedia.org/?title=Watch_(disambiguation)#X",
        ],
        "caption_choices": captions,
        "winner_source": "official_winner" if number % 3 == 0 else "crowd_winner",
        "label": label,
        "instance_id": f"{split}{configuration.task}{contest}-{number}",
    }
    row.update(changes)
    return {name: row[name] for name in configuration.columns}


def write_nycc_split(folder: Path, config: str, split: str, rows: list[dict[str, Any]]) -> None:
    """Write ``CONFIGURATION/SPLIT-00000-of-00001.parquet``."""
    from datasets import Dataset

    (folder / config).mkdir(parents=True, exist_ok=True)
    Dataset.from_list(rows).to_parquet(str(folder / config / f"{split}-00000-of-00001.parquet"))


def write_nycc(folder: Path, *configs: str, train: int = 12, test: int | None = None) -> Path:
    """Write configurations, by default with as many test rows as the release has."""
    from figlang_tasks.benchmarks.nycc import counts
    from figlang_tasks.benchmarks.nycc.configurations import parse_name
    from figlang_tasks.core.request import Request

    for config in configs:
        fold = parse_name(config).fold
        test_count = test
        if test_count is None:
            name = config.removesuffix(f"_{fold}")
            test_count = counts.count(Request.of("NYCC", config=name, fold=str(fold)))
        test_rows = [nycc_row(config, number) for number in range(test_count)]
        train_rows = [nycc_row(config, number, "train") for number in range(train)]
        write_nycc_split(folder, config, "test", test_rows)
        write_nycc_split(folder, config, "train", train_rows)
    return folder


def write_valid_nycc(folder: Path, **configs: int) -> None:
    """Write configurations with these numbers of test rows."""
    for config, test_count in configs.items():
        write_nycc(folder / "NYCC", config, test=test_count)
