"""Recomputes what YesBut's tables say of each other and of the release, for ``figlang reproduce``.

No outputs of models were released but those of the human evaluation (docs/reproduced.md).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from loguru import logger

from figlang_tasks.benchmarks.yesbut import archive, measures, tasks
from figlang_tasks.core.row_files import raise_first_fault, released_table
from figlang_tasks.scoring import evaluate

LISTING: Final = "files.csv"
"""A list of all pictures with the names of their folders, which may stand in their place."""

JUDGEMENTS: Final = "Human_Eval_Results.csv"
"""The human evaluation: a row for each of 30 pictures, which has six descriptions, 1 to 6.

``order_of_overall_img_descriptions`` names who wrote each, and ``correctness_1`` and so on hold a
word for yes, or nothing for no: what most of three people said.
"""

_JUDGED_PICTURES = 30
_HUMAN = "humanannotation"
# Section 5.4: how far the best model is below people, in points. The paper cuts 36.67 off.
_GAPS = {
    "correctness": "40.00",
    "appropriate_length": "43.33",
    "visual_completeness": "33.33",
    "faithfulness": "36.66",
}
# Table 3: Kosmos-2, zero-shot, has the figures of a model that always says Y.
_CONSTANT_ROWS = {"Y": ("42.56", "59.71"), "N": ("57.44", "0.00")}
_METRICS = ("sentence_bleu", "rouge_l", "sentence_meteor", "bertscore")


def cells(folder: Path) -> Iterator[tuple[str, str, float]]:
    """Yield name, published number and our number of each cell.

    Args:
        folder: an archive of the authors', or a folder with its annotations and `LISTING`. Without
            `JUDGEMENTS` the cells of the human evaluation are left out, as a warning says.
    """
    pictures = _pictures(folder)
    for label, (accuracy, f1) in _CONSTANT_ROWS.items():
        ours = _scores_of_constant(pictures, label)
        yield f"always {label}: accuracy", accuracy, ours["acc"]
        yield f"always {label}: F1 of satirical", f1, ours["f1"]
    yield from _stage_2_from_table_8(folder)
    yield from gaps_to_people(folder)


# --- detection: Table 3 ---


def _pictures(folder: Path) -> list[archive.Picture]:
    """All pictures of the release, from an archive or from its `LISTING`."""
    if archive.is_archive(folder) and not (folder / LISTING).exists():
        pictures, faults = archive.read_pictures(folder)
        raise_first_fault(faults, "yesbut")
        return pictures
    rows = released_table(folder / LISTING)
    return [archive.picture_of(row["folder"], row["name"]) for row in rows]


def _scores_of_constant(pictures: Sequence[archive.Picture], label: str) -> dict[str, float]:
    """The percentages of a model that always answers with one label, by metric."""
    records = []
    for picture in pictures:
        document = {
            "id": picture.path,
            "data": "",
            "unit": picture.comic,
            "stage": picture.stage,
            "style": picture.style,
            "gold": "Y" if picture.is_satirical else "N",
        }
        records.append(tasks.DETECTION.answer_record(document, label))
    estimates = evaluate(records, measures.DETECTION, stderr_resamples=0)
    return {metric: 100 * estimates[metric]["all"].value for metric in ("acc", "f1")}


# --- understanding: Table 6, stage 2, from Table 8 ---


def _stage_2_from_table_8(folder: Path) -> Iterator[tuple[str, str, float]]:
    """The cells of stage 2 in Table 6: means of Table 8's, weighted by comics with or without text.

    They are equal if a value is the mean over rows. Two cells of the paper do not fit.
    """
    annotations, faults = archive.read_annotations(folder / archive.ANNOTATIONS)
    raise_first_fault(faults, "yesbut")
    comics_with_text = sum(annotation.has_text for annotation in annotations)
    share_with_text = comics_with_text / len(annotations)

    published = json.loads(Path(__file__).with_name("published.json").read_bytes())
    figures: dict[tuple[str, str], float] = {}  # by model and metric
    for record in published["records"]:
        figures[record["model"], record["metric"]] = record["value"]
    models = [model for model, metric in figures if metric == "average_stage_2"]
    for model in models:
        for metric in _METRICS:
            with_text = figures[model, f"{metric}_text"]
            without_text = figures[model, f"{metric}_no_text"]
            mean = share_with_text * with_text + (1 - share_with_text) * without_text
            table_6 = f"{figures[model, f'{metric}_stage_2']:.4f}"
            yield f"Table 6, stage 2, from Table 8: {model}, {metric}", table_6, mean


# --- the human evaluation: section 5.4 ---


def gaps_to_people(folder: Path) -> Iterator[tuple[str, str, float]]:
    """How far the best model is below the human description, by what is judged, in points."""
    file = folder / JUDGEMENTS
    if not file.exists():
        logger.warning(
            f"figlang_tasks: {file} is not there: the four cells of the human evaluation are left"
            " out"
        )
        return
    rows = released_table(file)
    if len(rows) != _JUDGED_PICTURES:
        logger.warning(
            f"figlang_tasks: {file} has {len(rows)} pictures, the release has {_JUDGED_PICTURES}:"
            " the four cells of the human evaluation are left out"
        )
        return
    for criterion, published in _GAPS.items():
        shares = shares_of_yes(rows, criterion)
        best_of_models = max(share for author, share in shares.items() if author != _HUMAN)
        yield (
            f"people above the best model: {criterion}",
            published,
            shares[_HUMAN] - best_of_models,
        )


def shares_of_yes(rows: Sequence[Mapping[str, str]], criterion: str) -> dict[str, float]:
    """The percentage of descriptions that meet a criterion, by their author.

    Args:
        rows: those of `JUDGEMENTS`.
        criterion: a key of `_GAPS`.
    """
    yes_count: dict[str, int] = {}
    for row in rows:
        # "['minigpt', 'gpt4vision', ...]" is read as words, never evaluated.
        authors = re.findall(r"\w+", row["order_of_overall_img_descriptions"])
        for number, author in enumerate(authors, start=1):
            is_yes = bool(row[f"{criterion}_{number}"].strip())
            yes_count[author] = yes_count.get(author, 0) + is_yes
    return {author: 100 * count / len(rows) for author, count in yes_count.items()}
