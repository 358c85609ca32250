"""Pictures of text-to-image models that people sort into a paper's categories: blind sheets, and the paper's table."""

from __future__ import annotations

import hashlib
import io
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

from figlang_tasks.core import images, json_lines
from figlang_tasks.core.benchmark import Benchmark, Sorting, benchmarks
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.text import listing, printable, table
from figlang_tasks.judge import JudgeError, sheet
from figlang_tasks.judge.export import write
from figlang_tasks.judge.figures import (
    WRITTEN_BY,
    about,
    alpha,
    check_sheets,
    kappa,
    majority,
    number,
    of_annotators,
    percent,
    share,
)
from figlang_tasks.judge.key import Picture, PictureKey
from figlang_tasks.judge.sheet import Sheet

BATCH = 5
"""Pictures of a phrase that are shown together (IRFL, section 3.1.3)."""
PROMPTS = "prompts.jsonl"
_FIELDS = {"file": str, "prompt": str, "input": str, "phrase": str, "definitions": list, "data": str}


@dataclass(frozen=True)
class _System:
    """A folder of generated pictures: the lines of its prompts, and the content (PNG) of what is there by file."""

    name: str
    folder: Path
    lines: tuple[Mapping[str, Any], ...]
    pictures: Mapping[str, bytes]
    digests: Mapping[str, str]


def tasks() -> dict[str, tuple[Benchmark, Sorting]]:
    """What can be sorted, by name of the task."""
    return {each.sorting.task: (each, each.sorting) for each in benchmarks().values() if each.sorting is not None}


def export(
    arguments: Sequence[str],
    output: Path,
    *,
    task: str,
    seed: int,
    annotators: int,
    separator: str,
) -> list[Path]:
    """Write a sheet for each annotator, the pictures and the key. After an error nothing is written.

    A row is a picture: the phrase, its definitions, and nothing of system and prompt. The pictures of a phrase are
    shuffled, those of all systems and prompts together.

    Args:
        arguments: ``[NAME=]FOLDER`` of each system: the prompts (`PROMPTS`, of the module `Sorting.prompts`), and the
            pictures that they name. A generator may have refused some.
        output, annotators, separator: as of `figlang_tasks.judge.export.export`.
        task: a key of `tasks`.
        seed: of the order.

    Raises:
        JudgeError: there is no such task, a folder cannot be used, the folders are of other prompts, or an output is
            there already.
    """
    if task not in tasks():
        raise JudgeError(f"--task {task}: no task has pictures to sort but {', '.join(tasks())}")
    benchmark, sorting = tasks()[task]
    try:
        systems = [_system(argument, sorting) for argument in arguments]
    except DataError as error:
        raise JudgeError(str(error)) from error
    if twice := [name for name, count in Counter(each.name for each in systems).items() if count > 1]:
        raise JudgeError(f"two folders have the name {twice[0]}: give names, NAME=FOLDER")
    first = systems[0]
    for other in systems[1:]:
        if other.lines != first.lines:
            raise JudgeError(f"{first.folder} and {other.folder} differ in {PROMPTS}: generate from the same prompts")
    places, found, contents = _placed(systems, seed)
    key = PictureKey(
        benchmark=benchmark.name,
        data=first.lines[0]["data"],
        seed=seed,
        systems=tuple(each.name for each in systems),
        asked={given: sum(line["input"] == given for line in first.lines) for given in sorting.inputs},
        pictures=found,
    )
    return write(output, contents, sheet.PICTURES, places, key, annotators, separator)


def _system(argument: str, sorting: Sorting) -> _System:
    name, _, path = argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
    folder = Path(path)
    if not (folder / PROMPTS).is_file():
        raise JudgeError(
            f"{folder} has no {PROMPTS}: write it with python -m {sorting.prompts} {folder / PROMPTS}, and save the "
            "pictures beside it"
        )
    lines, faults = json_lines.read(folder / PROMPTS)
    if faults:
        raise JudgeError(faults[0])
    pictures, digests = {}, {}
    for where, values, _ in lines:
        if wrong := [field for field, kind in _FIELDS.items() if not isinstance(values.get(field), kind)]:
            raise JudgeError(f"{where}: {wrong[0]} is missing or of another type: write the prompts again")
        if values["input"] not in sorting.inputs:
            raise JudgeError(f"{where}: input is {values['input']!r}, must be one of {', '.join(sorting.inputs)}")
        path_of = images.below(folder, values["file"], where)
        if path_of.is_file():
            buffer = io.BytesIO()  # anew, since files of generators may tell model and prompt
            images.decode_file(path_of, where).save(buffer, "PNG")
            pictures[values["file"]] = buffer.getvalue()
            digests[values["file"]] = hashlib.sha256(path_of.read_bytes()).hexdigest()
    if not pictures:
        raise JudgeError(f"{folder} has none of the {len(lines)} pictures that its {PROMPTS} names")
    return _System(name or folder.resolve().name, folder, tuple(line.values for line in lines), pictures, digests)


def _placed(
    systems: Sequence[_System], seed: int
) -> tuple[list[dict[str, str]], tuple[Picture, ...], dict[str, bytes]]:
    """The rows of the sheets, what the key says of each, and the content of the pictures by their new names."""
    generator = random.Random(seed)
    rows, found, contents = [], [], {}
    item = 0
    for _, group in groupby(systems[0].lines, key=lambda line: line["phrase"]):
        shown = [(each, line) for line in group for each in systems if line["file"] in each.pictures]
        generator.shuffle(shown)
        for start in range(0, len(shown), BATCH):
            item += 1
            for letter, (each, line) in zip(sheet.LETTERS, shown[start : start + BATCH], strict=False):
                name, file = f"{item:03}{letter}.png", line["file"]
                contents[name] = each.pictures[file]
                rows.append(
                    {
                        "item": str(item),
                        "letter": letter,
                        "image": name,
                        "phrase": line["phrase"],
                        "definitions": "\n".join(map(str, line["definitions"])),
                    }
                )
                drawn = (line["input"], line["prompt"], file, each.digests[file])
                found.append(Picture(item, letter, each.name, *drawn))
    return rows, tuple(found), contents


# --- what was said ---------------------------------------------------------------------------------------------------


def agree(found: PictureKey, key_file: str, sheets: Sequence[Sheet], partial: bool) -> dict[str, Any]:
    """Sort the pictures of an export by filled sheets: the category of a picture is that of more than half of them.

    Args:
        found: the key.
        key_file: its name.
        sheets: at least two filled ones, of different annotators.
        partial: accept missing cells; they are counted.

    Returns:
        What ``--json`` prints (docs/judge.md). Shares are 0 to 1, of all pictures of a row; None where undefined.

    Raises:
        JudgeError: as `figlang_tasks.judge.agree.agree`.
    """
    sorting = next(own for benchmark, own in tasks().values() if benchmark.name == found.benchmark)
    check_sheets(sheets, found.code)
    said = [_categories(filled, found, sorting) for filled in sheets]
    gaps = [[place for place, cell in each.items() if cell is None] for each in said]
    if any(gaps) and not partial:
        lacking = [
            f"{filled.path} lacks {len(gap)} categories ({listing([f'{item} {letter}' for item, letter in gap], 20)})"
            for filled, gap in zip(sheets, gaps, strict=True)
            if gap
        ]
        raise JudgeError("; ".join(lacking) + ". Fill them in, or accept the gaps with --partial")
    votes = {place: [each[place] for each in said] for place in said[0]}
    sorted_as = {place: majority(cells) for place, cells in votes.items()}
    report: dict[str, Any] = {
        "written_by": WRITTEN_BY,
        "key": {"file": key_file, "sheet": found.code},
        "data": found.data,
        "annotators": [about(filled, len(gap)) for filled, gap in zip(sheets, gaps, strict=True)],
        "pictures": len(votes),
        "with_majority": share(sum(each is not None for each in sorted_as.values()), len(votes)),
        "systems": [
            _row(found, sorting, system, given, sorted_as) for system in found.systems for given in sorting.inputs
        ],
        "pairs": [
            {
                "annotators": [sheets[one].annotator, sheets[other].annotator],
                "category_kappa": kappa([cells[one], cells[other]] for cells in votes.values()),
            }
            for one, other in combinations(range(len(sheets)), 2)
        ],
        "published": sorting.published,
    }
    if len(sheets) > 2:
        report["alpha"] = alpha(votes.values())
    return report


def _categories(filled: Sheet, found: PictureKey, sorting: Sorting) -> dict[tuple[int, str], str | None]:
    """The category of each picture of the key by one annotator; None without one."""
    categories: dict[tuple[int, str], str | None] = {(each.number, each.letter): None for each in found.pictures}
    for row in filled.rows:
        place = (int(row.cells["item"]), row.cells["letter"])
        if place not in categories:
            raise JudgeError(
                f"{filled.path}, row {row.number}: the key has no item {place[0]} {place[1]}: restore the row as it "
                "was exported"
            )
        try:
            categories[place] = sheet.spelled(row.cells["category"], sorting.categories)
        except ValueError as error:
            raise JudgeError(f"{filled.path}, row {row.number}, column category: {error}") from error
    return categories


def _row(
    found: PictureKey,
    sorting: Sorting,
    system: str,
    given: str,
    sorted_as: Mapping[tuple[int, str], str | None],
) -> dict[str, Any]:
    own = [
        sorted_as[each.number, each.letter] for each in found.pictures if (each.system, each.input) == (system, given)
    ]
    return {
        "system": system,
        "input": given,
        "asked": found.asked[given],
        "pictures": len(own),
        "categories": {category: share(own.count(category), len(own)) for category in sorting.categories},
        "no_majority": share(own.count(None), len(own)),
    }


# --- text ------------------------------------------------------------------------------------------------------------


def text(report: Mapping[str, Any]) -> str:
    """A report as tables for people; shares in percent."""
    head = f"{report['pictures']} pictures, from prompts of {printable(report['data'])}"
    lines = [head, *of_annotators(report["annotators"])]
    published = report["published"]
    rows = [["%", "input", "pictures", *report["systems"][0]["categories"], "no majority"]]
    for prefix, systems in (("", report["systems"]), ("published: ", published["rows"])):
        for each in systems:
            count = str(each["pictures"]) + (f" of {each['asked']}" if each.get("asked") else "")
            shares = [percent(value) for value in each["categories"].values()]
            left = percent(each["no_majority"]) if "no_majority" in each else ""
            rows.append([f"{prefix}{printable(each['system'])}", each["input"], count, *shares, left])
    kappas = [["Cohen's kappa", "category"]]
    kappas += [[" / ".join(pair["annotators"]), number(pair["category_kappa"])] for pair in report["pairs"]]
    if "alpha" in report:
        kappas.append(["all, Krippendorff's alpha", number(report["alpha"])])
    closing = f"published, not measured here: {published['source']}"
    agreed = f"more than half of the annotators agree on {percent(report['with_majority'])} % of the pictures"
    return "\n\n".join(["\n".join(lines), table(rows), closing, f"{table(kappas)}\n{agreed}"]) + "\n"
