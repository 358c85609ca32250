"""Pictures of text-to-image models that people sort into a paper's categories: blind sheets, and
the paper's table.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, groupby
from pathlib import Path
from typing import Any

import pandas as pd

from figlang_tasks.core import images, row_files
from figlang_tasks.core.benchmark import benchmarks, names_with
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.optional_modules import Sorting
from figlang_tasks.core.text import table
from figlang_tasks.judge import figures, sheet
from figlang_tasks.judge.export import png, write
from figlang_tasks.judge.figures import number, percent, share

BATCH = 5
"""Pictures of a phrase that are shown together (IRFL, section 3.1.3)."""
PROMPTS = "prompts.jsonl"
_FIELDS = ("file", "prompt", "input", "phrase", "definitions", "data")
_Line = Mapping[str, Any]


def export(
    arguments: Sequence[str], output: Path, *, task: str, seed: int, annotators: int
) -> list[str]:
    """Names of what was written into `output`, an empty folder: sheets, pictures and the key."""
    sortings = {name: _sorting(name) for name in names_with("sorting")}
    benchmark_of_task = {sorting.task: name for name, sorting in sortings.items()}
    if task not in benchmark_of_task:
        raise FigLangError(
            f"--task {task}: no task has pictures to sort but {', '.join(benchmark_of_task)}"
        )
    benchmark = benchmark_of_task[task]
    sorting = sortings[benchmark]
    folders: dict[str, Path] = {}
    for argument in arguments:
        name, _, path = (
            argument.rpartition("=") if not Path(argument).exists() else ("", "", argument)
        )
        folders[name or Path(path).resolve().name] = Path(path)
    if len(folders) < len(arguments):
        raise FigLangError(
            f"two folders have one name, of {', '.join(folders)}: give names, NAME=FOLDER"
        )
    (first, lines), *others = [(folder, _lines(folder, sorting)) for folder in folders.values()]
    for folder, other in others:
        if other != lines:
            raise FigLangError(f"{first} and {folder} differ in {PROMPTS}: generate from one")
    rows, drawn, contents = [], [], {}
    for item, batch in enumerate(_batches(folders, lines, random.Random(seed)), start=1):
        for letter, (system, file, line) in zip(sheet.LETTERS, batch, strict=False):
            image = f"images/{item:03}{letter}.png"
            contents[image] = png(images.decode_file(file, str(file)))
            told = {
                "phrase": line["phrase"],
                "definitions": "\n".join(map(str, line["definitions"])),
            }
            rows.append({"item": item, "letter": letter, "image": image, **told})
            hidden = {
                "system": system,
                **{name: line[name] for name in ("input", "prompt", "file")},
            }
            drawn.append({"number": item, "letter": letter, **hidden})
    return write(
        output,
        contents,
        sheet.PICTURES,
        rows,
        annotators,
        benchmark=benchmark,
        data=lines[0]["data"],
        seed=seed,
        systems=list(folders),
        asked={given: sum(line["input"] == given for line in lines) for given in sorting.inputs},
        pictures=drawn,
    )


def _sorting(benchmark: str) -> Sorting:
    """The categories of a benchmark that has pictures to sort."""
    module = benchmarks()[benchmark].module("sorting")
    assert module is not None, benchmark
    sorting: Sorting = module.SORTING
    return sorting


def _lines(folder: Path, sorting: Sorting) -> list[_Line]:
    """The prompts of a folder, some of whose pictures are there."""
    path = folder / PROMPTS
    lines: list[_Line] = []
    for where, values in row_files.lines(path, _FIELDS) if path.exists() else ():
        if isinstance(values, str):
            raise FigLangError(f"{where} {values}")
        if values["input"] not in sorting.inputs:
            raise FigLangError(
                f"{where}: input is {values['input']!r}, must be one of {', '.join(sorting.inputs)}"
            )
        images.below(folder, values["file"], where)
        lines.append(values)
    if not any((folder / line["file"]).exists() for line in lines):
        raise FigLangError(
            f"{folder} has no {PROMPTS}, or none of the pictures that it names: write it with"
            f" python -m {sorting.prompts} {path}, and save the pictures beside it"
        )
    return lines


def _batches(
    folders: Mapping[str, Path], lines: Sequence[_Line], generator: random.Random
) -> Iterator[list[tuple[str, Path, _Line]]]:
    """The pictures that are shown together: the system, the file and the line of each."""
    for _, group in groupby(lines, key=lambda line: line["phrase"]):
        shown = [
            (name, folder / line["file"], line)
            for line in group
            for name, folder in folders.items()
        ]
        shown = [each for each in shown if each[1].exists()]
        generator.shuffle(shown)
        yield from (shown[start : start + BATCH] for start in range(0, len(shown), BATCH))


# --- what was said ---


def agree(found: Mapping[str, Any], sheet_paths: Sequence[Path]) -> dict[str, Any]:
    """Sort the pictures of an export by filled sheets: the category of a picture is that of more
    than half of them.
    """
    sorting = _sorting(found["benchmark"])
    drawn = pd.DataFrame(found["pictures"]).rename(columns={"number": "item"}).astype({"item": str})
    drawn = drawn.set_index(["item", "letter"])
    tables, report = figures.gathered(
        found, sheet_paths, drawn.index, {"category": sorting.categories}
    )
    votes = tables["category"]
    for each in report["annotators"]:
        each["missing"] = [
            f"{item} {letter}" for item, letter in votes.index[votes[each["name"]].isna()]
        ]
    category = votes.apply(figures.majority, axis=1)
    systems = []
    for system in found["systems"]:
        for given in sorting.inputs:
            own = category[drawn["system"].eq(system) & drawn["input"].eq(given)]
            row = {
                "system": system,
                "input": given,
                "asked": found["asked"][given],
                "pictures": len(own),
            }
            shares = {name: share(own.eq(name).sum(), len(own)) for name in sorting.categories}
            systems.append(
                {**row, "categories": shares, "no_majority": share(own.isna().sum(), len(own))}
            )
    report |= {
        "pictures": len(votes),
        "with_majority": share(category.count(), len(votes)),
        "systems": systems,
        "pairs": [
            {"annotators": [*two], "category_kappa": figures.kappa(votes[[*two]])}
            for two in combinations(votes, 2)
        ],
        "published": sorting.published,
    }
    return report | ({"alpha": figures.alpha(votes)} if len(votes.columns) > 2 else {})


# --- text ---


def text(report: Mapping[str, Any]) -> str:
    """A report as tables for people; shares in percent."""
    head = (
        f"{report['pictures']} pictures, from prompts of"
        f" {report['data']}\n{figures.annotators_text(report)}"
    )
    published = report["published"]
    rows = [["%", "input", "pictures", *report["systems"][0]["categories"], "no majority"]]
    for prefix, systems in (("", report["systems"]), ("published: ", published["rows"])):
        for each in systems:
            count = str(each["pictures"]) + (f" of {each['asked']}" if each.get("asked") else "")
            shares = [percent(value) for value in each["categories"].values()]
            left = percent(each["no_majority"]) if "no_majority" in each else ""
            rows.append([f"{prefix}{each['system']}", each["input"], count, *shares, left])
    kappas = [["Cohen's kappa", "category"]]
    kappas += [
        [" / ".join(pair["annotators"]), number(pair["category_kappa"])] for pair in report["pairs"]
    ]
    if "alpha" in report:
        kappas.append(["all, Krippendorff's alpha", number(report["alpha"])])
    closing = f"published, not measured here: {published['source']}"
    agreed = (
        f"more than half of the annotators agree on {percent(report['with_majority'])} % of the"
        " pictures"
    )
    return "\n\n".join([head, table(rows), closing, f"{table(kappas)}\n{agreed}"]) + "\n"
