"""``figlang reproduce``: published numbers, computed again from what was released."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import typer

from figlang_tasks.cli import cause, fail, say
from figlang_tasks.core.errors import DataError
from figlang_tasks.core.text import table


class Cell(NamedTuple):
    """A published number as it was printed, and ours."""

    what: str
    published: str
    ours: float


def _rows(path: Path, separator: str = ",") -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=separator))


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _admire(folder: Path) -> Iterator[Cell]:
    """The official scorer's results on its own sample submissions."""
    from figlang_tasks.benchmarks.admire import measures
    from figlang_tasks.scoring import OVERALL, evaluate

    rankings = {"acc": "acc", "dcg": "dcg", "corr": "file_name_correlation"}
    boards = [("a", board, "test", measures.RANK, rankings) for board in ("en", "xe", "pt", "xp")]
    boards.append(("b", "en", "train", measures.SEQUENCE, {"item": "item_acc", "sent": "sense_acc"}))
    for part, board, split, declared, names in boards:
        submission = f"{part}_submission_{board}{'_train' if part == 'b' else ''}.tsv"
        handed_in = {row["compound"]: row for row in _rows(folder / "official_sample" / submission, "\t")}
        records = []
        for row in _rows(folder / "targets" / f"{part}_{board}_{split}_targets.tsv", "\t"):
            both = (row, handed_in[row["compound"]])
            gold, predicted = (
                each["expected_item"] if part == "b" else re.findall(r"\w+\.png", each["expected_order"])
                for each in both
            )
            record = {"id": row["compound"], "gold": gold, "predicted": predicted, "status": "read", "scores": None}
            records.append(record | {"sense": row["sentence_type"], "predicted_sense": both[1]["sentence_type"]})
        found = evaluate(records, declared, 0)
        official = _json(folder / "official_sample" / f"{part}_scores_{split}_phase.json")
        for theirs, name in names.items():
            for suffix, scope in (("all", OVERALL), ("id", "idiomatic"), ("lit", "literal")):
                cell = f"{theirs}_{suffix}_{board}"
                yield Cell(f"{part.upper()} {cell}", f"{round(official[cell], 9) + 0.0:.9f}", found[name][scope].value)


def _columbus(folder: Path) -> Iterator[Cell]:
    """Tables of the paper's first version, from released outputs of three models."""
    from figlang_tasks.benchmarks.columbus import measures, rows, task
    from figlang_tasks.core.hub import Snapshot
    from figlang_tasks.results.published import for_task
    from figlang_tasks.scoring import evaluate

    files = {"CLIP ViT-B/32": "clip", "BLIP-2 Flan-T5-XXL": "blip-2_flan-t5-xxl", "Qwen-VL-Chat": "qwenvl"}
    released = rows.documents(Snapshot(folder, "local"), rows.NAME, "published").remove_columns("image")
    documents = {doc["id"]: doc for doc in released}
    for name, prompt in {"columbus_match": "2", "columbus": "2", "columbus_plain": "1", "columbus_nodes": "3"}.items():
        for figure in for_task(name):
            model = files.get(figure.model)
            if model is None or not figure.setting.endswith("; v1"):  # of "v1; not comparable" the card says why
                continue
            where = "clip.json" if model == "clip" else f"prompt_{prompt}/{model}_prompt_{prompt}.json"
            whole, extract = folder / "results" / "analysis" / "results" / where, folder / "rows" / f"rows_{model}.json"
            if whole.is_file():
                outputs = [(Path(row["image"]).stem, row["output"]) for row in _json(whole)["results"]]
            else:
                outputs = [(row[0], row[1]) for row in _json(extract)["runs"][prompt]["rows"]]
            records = [task.process_results(documents[row_id], [output])["sample"] for row_id, output in outputs]
            value = evaluate(records, measures.COLUMBUS, 0)["acc_official"][figure.metric.split("_")[-1]].value
            yield Cell(f"{figure.table} {figure.model}, prompt {prompt}, {figure.metric}", figure.text(), 100 * value)


def _irfl(folder: Path) -> Iterator[Cell]:
    """Rows of the released tables, and of their types, beside those that the paper names."""
    from figlang_tasks.benchmarks.irfl.tables import ROWS, TYPES, file_name

    for name in (name for name in ROWS if (folder / file_name(name)).is_file()):
        rows = _rows(folder / file_name(name))
        yield Cell(name, str(ROWS[name]), len(rows))
        for kind, published in TYPES.get(name, {}).items():
            yield Cell(f"{name}, {kind}", str(published), sum(row["type"] == kind for row in rows))


def _vflute(folder: Path) -> Iterator[Cell]:
    """The prompts of the released test rows, and their number by source (Table 3)."""
    from figlang_tasks.benchmarks.vflute import rows
    from figlang_tasks.core.hub import source
    from figlang_tasks.core.prompting import render

    released = _rows(folder / "vflute_test.csv")
    numbers = rows.instruction_numbers(source("V-FLUTE").splits, "test")
    prompts = (
        render("vflute/question.jinja", instruction=numbers[int(row["id"].rpartition("-")[2])], claim=row["claim"])
        == row["prompt"].replace("REPLACE_CLAIM", f'"{row["claim"]}"')
        for row in released
    )
    yield Cell("prompts that are equal", "723", sum(prompts))
    groups = [rows.report_group(row["source_dataset"], row["phenomenon"]) for row in released]
    for group, published in zip(rows.REPORT_GROUPS, (101, 120, 100, 106, 196, 100), strict=True):
        yield Cell(f"rows of {group}", str(published), groups.count(group))


BY_NAME = {"admire": _admire, "columbus": _columbus, "irfl": _irfl, "vflute": _vflute}


def reproduce(
    name: Annotated[Literal["admire", "columbus", "irfl", "vflute"], typer.Argument(help="The benchmark.")],
    data: Annotated[
        Path, typer.Option(help="Folder of what was released: docs/reproduced.md.", exists=True, file_okay=False)
    ] = Path("."),
) -> None:
    """Compute published numbers again, and compare them: published, ours, difference.

    The exit status is 0 if all are equal in the digits that were printed.

    \b
    figlang reproduce columbus --data my_data/COLUMBUS
    """
    where = "--data names the folder of what was released: docs/reproduced.md"
    try:
        cells = list(BY_NAME[name](data))
    except (DataError, OSError) as error:
        fail("reproduce", f"{cause(error)}. {where}")
    except (LookupError, TypeError, ValueError) as error:
        fail("reproduce", f"{data} has a file that is not as {name} released it ({error!r}). {where}")
    if not cells:
        fail("reproduce", f"{data} has nothing of {name}. {where}")
    lines, differences = [["cell", "published", "ours", "difference"]], []
    for cell in cells:
        ours = Decimal(repr(cell.ours)).quantize(Decimal(cell.published), ROUND_HALF_UP) + 0  # -0 is 0
        differences.append(ours - Decimal(cell.published))
        lines.append([cell.what, cell.published, f"{ours:f}", f"{differences[-1]:f}"])
    say(table(lines))
    say(f"{len(cells)} cells, {differences.count(Decimal(0))} equal, largest difference {max(map(abs, differences)):f}")
    raise typer.Exit(int(any(differences)))
