"""Pictures of text-to-image models that people sort into a paper's categories.

`export` writes blind sheets, `agree` counts what annotators filled in, `text` prints it.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from figlang_tasks.core import images, row_files
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.optional_modules import Sorting
from figlang_tasks.core.text import markdown_table
from figlang_tasks.judge import figures, sheet
from figlang_tasks.judge import key as keys
from figlang_tasks.judge.export_folder import png_bytes, write_export
from figlang_tasks.judge.figures import number, percent, share
from figlang_tasks.judge.key import DrawnPicture, PictureKey
from figlang_tasks.judge.reports import PicturePair, PictureReport, SortedPictures

BATCH = 5
"""Pictures of a phrase that are shown together (IRFL, section 3.1.3)."""

PROMPTS = "prompts.jsonl"
"""The file with the prompts of a folder of pictures."""

_FIELDS = ("file", "prompt", "input", "phrase", "definitions", "data")

_PromptLine: TypeAlias = Mapping[str, Any]
"""A line of `PROMPTS`: the `_FIELDS` of one picture."""


class _Picture(NamedTuple):
    """A generated picture: the system that made it, its file, and the line of its prompt."""

    system: str
    path: Path
    line: _PromptLine

    def sheet_row(self, item: int, letter: str, image: str) -> dict[str, object]:
        """The row of the picture in the sheets; `image` is its path in the export."""
        return {
            "item": item,
            "letter": letter,
            "image": image,
            "phrase": self.line["phrase"],
            "definitions": "\n".join(map(str, self.line["definitions"])),
        }

    def drawn(self, item: int, letter: str) -> DrawnPicture:
        """The picture in the key, which holds what annotators must not see."""
        return {
            "number": item,
            "letter": letter,
            "system": self.system,
            "input": self.line["input"],
            "prompt": self.line["prompt"],
            "file": self.line["file"],
        }


# --- export ---


def export(
    arguments: Sequence[str], output: Path, *, task: str, seed: int, annotators: int
) -> list[str]:
    """Write blind sheets of the pictures that several systems made from the same prompts.

    Args:
        arguments: folders of pictures, ``FOLDER`` or ``NAME=FOLDER``.
        output: an empty folder.
        task: the task that the pictures are for.
        seed: of the order of the pictures.
        annotators: the number of sheets.

    Returns:
        The names of what was written into `output`: sheets, pictures and the key.

    Raises:
        FigLangError: the task has no pictures to sort, or the folders cannot be judged together.
    """
    benchmark = _benchmark_of_task(task)
    sorting = _sorting(benchmark)
    folders = _folders_by_name(arguments)
    lines = _shared_prompts(folders, sorting)

    rows: list[dict[str, object]] = []
    drawn_pictures: list[DrawnPicture] = []
    files: dict[str, bytes] = {}
    batches = _batches(folders, lines, random.Random(seed))
    for item, batch in enumerate(batches, start=1):
        # A batch has fewer pictures than there are letters.
        for letter, picture in zip(sheet.LETTERS, batch, strict=False):
            image = f"images/{item:03}{letter}.png"
            files[image] = png_bytes(images.decode_file(picture.path, str(picture.path)))
            rows.append(picture.sheet_row(item, letter, image))
            drawn_pictures.append(picture.drawn(item, letter))
    key = keys.sign(
        benchmark=benchmark,
        data=lines[0]["data"],
        seed=seed,
        systems=list(folders),
        asked=_count_prompts(lines, sorting),
        pictures=drawn_pictures,
    )
    return write_export(output, files, sheet.PICTURE_COLUMNS, rows, annotators, key)


def benchmarks_of_tasks() -> dict[str, str]:
    """The name of the benchmark of each task whose pictures people sort."""
    return {_sorting(name).task: name for name in names_with("sorting")}


def _benchmark_of_task(task: str) -> str:
    """The name of the benchmark whose pictures of this task people sort.

    Raises:
        FigLangError: no benchmark has pictures of this task to sort.
    """
    benchmark_of_task = benchmarks_of_tasks()
    if task not in benchmark_of_task:
        tasks = ", ".join(benchmark_of_task)
        raise FigLangError(f"--task {task}: no task has pictures to sort but {tasks}")
    return benchmark_of_task[task]


def _sorting(benchmark: str) -> Sorting:
    """How the pictures of a benchmark are sorted: its categories and kinds of prompts.

    Args:
        benchmark: the name of one that has a module ``sorting``.
    """
    module = benchmarks()[benchmark].module("sorting")
    assert module is not None, benchmark
    sorting: Sorting = module.SORTING
    return sorting


def _folders_by_name(arguments: Sequence[str]) -> dict[str, Path]:
    """The folder of each system by its name: the user's (``NAME=FOLDER``), or the folder's own.

    Raises:
        FigLangError: two folders have one name.
    """
    folders: dict[str, Path] = {}
    for argument in arguments:
        given_name = ""
        path = argument
        # An existing folder may have "=" in its own name.
        if not Path(argument).exists():
            given_name, _, path = argument.rpartition("=")  # without "=" the name is ""
        folders[given_name or Path(path).resolve().name] = Path(path)
    if len(folders) < len(arguments):
        raise FigLangError(
            f"two folders have one name, of {', '.join(folders)}: give names, NAME=FOLDER"
        )
    return folders


def _shared_prompts(folders: Mapping[str, Path], sorting: Sorting) -> list[_PromptLine]:
    """The lines of `PROMPTS`, which must be the same in the folders of all systems.

    Args:
        folders: the folder with the pictures of each system, by its name.
        sorting: the kinds of prompts that the benchmark has.

    Raises:
        FigLangError: the lines differ, one is damaged, or a folder has no pictures.
    """
    lines_by_folder = {folder: _read_prompts(folder, sorting) for folder in folders.values()}
    first_folder, first_lines = next(iter(lines_by_folder.items()))
    for folder, lines in lines_by_folder.items():
        if lines != first_lines:
            raise FigLangError(
                f"{first_folder} and {folder} differ in {PROMPTS}: generate from one"
            )
    return first_lines


def _read_prompts(folder: Path, sorting: Sorting) -> list[_PromptLine]:
    """The lines of `PROMPTS` in a folder, which must hold at least one of their pictures.

    Raises:
        FigLangError: there is no such file, a line of it is damaged, or no picture is there.
    """
    path = folder / PROMPTS
    lines: list[_PromptLine] = []
    if path.exists():
        # `origin` names file and line, for messages.
        for origin, line in row_files.read_rows(path, _FIELDS):
            if isinstance(line, str):  # what is wrong with the line, in place of its fields
                raise FigLangError(f"{origin} {line}")
            if line["input"] not in sorting.inputs:
                inputs = ", ".join(sorting.inputs)
                raise FigLangError(f"{origin}: input is {line['input']!r}, must be one of {inputs}")
            images.below(folder, line["file"], origin)  # raises if the file is elsewhere
            lines.append(line)
    if not any((folder / line["file"]).exists() for line in lines):
        raise FigLangError(
            f"{folder} has no {PROMPTS}, or none of the pictures that it names: write it with"
            f" python -m {sorting.prompts} {path}, and save the pictures beside it"
        )
    return lines


def _batches(
    folders: Mapping[str, Path], lines: Sequence[_PromptLine], generator: random.Random
) -> Iterator[list[_Picture]]:
    """Yield the pictures that are shown together: up to `BATCH` of one phrase, in a drawn order.

    Args:
        folders: the folder with the pictures of each system, by its name.
        lines: the prompts, those of one phrase one after the other.
        generator: of the order.
    """
    for _, lines_of_phrase in groupby(lines, key=lambda line: line["phrase"]):
        pictures: list[_Picture] = []
        for line in lines_of_phrase:
            for system, folder in folders.items():
                path = folder / line["file"]
                if path.exists():
                    pictures.append(_Picture(system, path, line))
        generator.shuffle(pictures)
        for start in range(0, len(pictures), BATCH):
            yield pictures[start : start + BATCH]


def _count_prompts(lines: Sequence[_PromptLine], sorting: Sorting) -> dict[str, int]:
    """The number of prompts of each kind."""
    kinds = [line["input"] for line in lines]
    return {kind: kinds.count(kind) for kind in sorting.inputs}


# --- what annotators filled in ---


def agree(key: PictureKey, sheet_paths: Sequence[Path]) -> PictureReport:
    """The report on the categories into which annotators sorted the pictures of an export.

    A picture has the category that more than half of the annotators chose, or none.
    """
    sorting = _sorting(key["benchmark"])
    pictures = pd.DataFrame(key["pictures"]).rename(columns={"number": "item"})
    # Cells of sheets are texts, so the numbers of items are texts too.
    pictures = pictures.astype({"item": str}).set_index(["item", "letter"])
    spellings = {"category": sorting.categories}
    tables, annotators = figures.gather_judgements(key, sheet_paths, pictures.index, spellings)
    votes = tables["category"]  # a row for each picture, a column for each annotator
    for annotator in annotators:
        missing = votes.index[votes[annotator["name"]].isna()]
        annotator["missing"] = [f"{item} {letter}" for item, letter in missing]

    majority_category = votes.apply(figures.majority, axis=1)  # None without a majority
    systems: list[SortedPictures] = []
    for system in key["systems"]:
        is_of_system = pictures["system"].eq(system)
        for kind in sorting.inputs:  # of prompts
            is_of_kind = pictures["input"].eq(kind)
            sorted_pictures = _sorted_pictures(
                system,
                kind,
                n_prompts=key["asked"][kind],
                category_of_picture=majority_category[is_of_system & is_of_kind],
                categories=list(sorting.categories),
            )
            systems.append(sorted_pictures)
    pairs: list[PicturePair] = []
    names = [annotator["name"] for annotator in annotators]
    for pair in combinations(names, 2):
        kappa = figures.kappa(votes[list(pair)])
        pairs.append({"annotators": list(pair), "category_kappa": kappa})

    report: PictureReport = {
        **figures.report_head(key, annotators),
        "pictures": len(votes),
        "with_majority": share(majority_category.count(), len(votes)),
        "systems": systems,
        "pairs": pairs,
        "published": sorting.published,
    }
    if len(annotators) > 2:  # kappa is of two annotators alone
        report["alpha"] = figures.alpha(votes)
    return report


def _sorted_pictures(
    system: str,
    kind: str,
    n_prompts: int,
    category_of_picture: pd.Series,
    categories: Sequence[str],
) -> SortedPictures:
    """The shares of categories among the pictures of one system from one kind of prompt.

    Args:
        system: the name of the system.
        kind: the kind of prompt.
        n_prompts: the number of prompts of this kind, for the report alone: a system may have
            refused some, and the shares are of the pictures.
        category_of_picture: the category of each picture by majority; None without a majority.
        categories: those of the benchmark; each gets a share, even if no picture has it.
    """
    n_pictures = len(category_of_picture)
    shares: dict[str, float | None] = {}
    for category in categories:
        shares[category] = share(category_of_picture.eq(category).sum(), n_pictures)
    return {
        "system": system,
        "input": kind,
        "asked": n_prompts,
        "pictures": n_pictures,
        "categories": shares,
        "no_majority": share(category_of_picture.isna().sum(), n_pictures),
    }


# --- text ---


def text(report: PictureReport) -> str:
    """A report as tables for people, with shares in percent."""
    head = (
        f"{report['pictures']} pictures, from prompts of {report['data']}\n"
        f"{figures.annotators_text(report['annotators'])}"
    )
    source = f"published, not measured here: {report['published']['source']}"
    with_majority = percent(report["with_majority"])
    majority = f"more than half of the annotators agree on {with_majority} % of the pictures"
    agreement = f"{_agreement_table(report)}\n{majority}"
    paragraphs = [head, _categories_table(report), source, agreement]
    return "\n\n".join(paragraphs) + "\n"


def _categories_table(report: PictureReport) -> str:
    """The shares of categories for each system and kind of prompt, above the published ones."""
    # Every row has the categories in the order of the first one.
    category_names = list(report["systems"][0]["categories"])
    rows = [["%", "input", "pictures", *category_names, "no majority"]]
    rows += [_categories_row(system["system"], system) for system in report["systems"]]
    for system in report["published"]["rows"]:
        rows.append(_categories_row(f"published: {system['system']}", system))
    return markdown_table(rows)


def _categories_row(name: str, system: Mapping[str, Any]) -> list[str]:
    """The row of one system and kind of prompt, e.g. ``["A", "idiom", "18 of 20", ...]``.

    Args:
        name: the name of the system as the row shows it.
        system: its `SortedPictures`: `input` is the kind of prompt, `asked` the number of prompts,
            each for one picture. Published ones may lack `asked` and `no_majority`.
    """
    pictures = str(system["pictures"])
    if system.get("asked"):
        pictures += f" of {system['asked']}"
    shares = [percent(category_share) for category_share in system["categories"].values()]
    no_majority = percent(system["no_majority"]) if "no_majority" in system else ""
    return [name, system["input"], pictures, *shares, no_majority]


def _agreement_table(report: PictureReport) -> str:
    """The coefficients of agreement of each pair of annotators, and of all of them."""
    rows = [["Cohen's kappa", "category"]]
    for pair in report["pairs"]:
        rows.append([" / ".join(pair["annotators"]), number(pair["category_kappa"])])
    if "alpha" in report:
        rows.append(["all, Krippendorff's alpha", number(report["alpha"])])
    return markdown_table(rows)
