"""What annotators agree on: kappa, adequacy, preference, errors, and ExplanationScore as a predictor of adequacy.

Source: V-FLUTE (arXiv 2405.01474), section 5. What the paper leaves open, and what we took, is in docs/judge.md.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.text import listing, printable, table
from figlang_tasks.judge import JudgeError, key, pictures, sheet
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
from figlang_tasks.judge.key import Item, Key, PictureKey
from figlang_tasks.judge.sheet import ERRORS, NO_PREFERENCE, Judged, Sheet
from figlang_tasks.metrics.agreement import (
    average_precision,
    best_f1,
    trapezoidal_area,
)

LABELS = ("contradiction", "entailment")


@dataclass(frozen=True)
class _Annotator:
    """A sheet with the judgements of each item."""

    sheet: Sheet
    items: Mapping[int, Judged]
    missing: tuple[str, ...]


def agree(
    key_path: Path, sheet_paths: Sequence[Path], partial: bool = False, any_label: bool = False
) -> dict[str, Any]:
    """Compare the sheets of an export.

    Args:
        key_path: its key.
        sheet_paths: at least two filled sheets, of different annotators.
        partial: accept missing cells; they are counted.
        any_label: count explanations of items whose label an annotator got wrong, too. The paper showed explanations
            to annotators who had chosen the right label only.

    Returns:
        What ``--json`` prints (docs/judge.md). Rates are shares, 0 to 1; None where a figure is undefined.

    Raises:
        JudgeError: key or sheet cannot be used; a sheet is of another export; two are of one annotator; cells are
            missing, and not `partial`. Names file, row and column.
    """
    found, sheets = key.read(key_path), [sheet.read(path) for path in sheet_paths]
    if isinstance(found, PictureKey):
        if any_label:
            raise JudgeError("--any-label is of explanations: a sheet of pictures asks for no label")
        return pictures.agree(found, key_path.name, sheets, partial)
    check_sheets(sheets, found.code)
    annotators = [_annotator(filled, found, any_label) for filled in sheets]
    incomplete = [
        f"{each.sheet.path} lacks {len(each.missing)} judgements ({listing(each.missing, 20)})"
        for each in annotators
        if each.missing
    ]
    if incomplete and not partial:
        raise JudgeError("; ".join(incomplete) + ". Fill them in, or accept the gaps with --partial")
    counted = [item for item in found.items if any_label or all(_right(item, each) for each in annotators)]
    report: dict[str, Any] = {
        "written_by": WRITTEN_BY,
        "key": {"file": key_path.name, "sheet": found.code},
        "data": found.data,
        "annotators": [_about(annotator, found) for annotator in annotators],
        "items": len(found.items),
        "items_counted": len(counted),
        "any_label": any_label,
        "pairs": [_pair(found, counted, two) for two in combinations(annotators, 2)],
        "systems": [_system(name, counted, annotators) for name in _names(found)],
        "explanation_score": _as_predictor(found, counted, annotators),
    }
    if len(annotators) > 2:
        report["alpha"] = _coefficients(found, counted, annotators, alpha)
    if len(found.systems) > 1:
        said = [[_preferred(item, each) for each in annotators] for item in counted]
        agreed = [name for name in map(_unanimous, said) if name is not None]
        report["preference"] = {"agreed": len(agreed), "none": agreed.count("")}
        for system in report["systems"]:
            system["preferred"] = agreed.count(system["name"])
            system["preference_rate"] = share(system["preferred"], len(agreed))
        if len(annotators) > 2:
            most = [name for name in map(majority, said) if name is not None]
            report["preference"]["majority"] = len(most)
            for system in report["systems"]:
                system["majority_rate"] = share(most.count(system["name"]), len(most))
    if (published := benchmarks()[found.benchmark].agreement) is not None:
        report["published"] = published
    return report


# --- sheets ----------------------------------------------------------------------------------------------------------


def _annotator(filled: Sheet, found: Key, any_label: bool) -> _Annotator:
    if len(found.systems) > 1 and "preferred" not in filled.columns:
        raise JudgeError(f"{filled.path}: the first row lacks the column preferred: save the sheet with this column")
    places = {(item.number, letter) for item in found.items for letter in item.systems}
    for row in filled.rows:
        if (int(row.cells["item"]), row.cells["letter"]) not in places:
            raise JudgeError(
                f"{filled.path}, row {row.number}: the key has no item {row.cells['item']} {row.cells['letter']}: "
                f"restore the row as it was exported"
            )
    items = sheet.judged(filled)
    return _Annotator(filled, items, tuple(_missing(filled, found, items, any_label)))


def _missing(filled: Sheet, found: Key, items: Mapping[int, Judged], any_label: bool) -> Iterable[str]:
    """The missing judgements, each with its place."""
    rows = filled.by_item()
    for item in found.items:
        if item.number not in items:
            yield f"item {item.number}: no row"
            continue
        said, first = items[item.number], next(iter(rows[item.number].values())).number
        if said.label is None:
            yield f"row {first} label"
        elif not any_label and said.label != LABELS[item.gold]:
            continue  # in the paper such an annotator did not see the rest
        for letter in item.systems:
            row = rows[item.number].get(letter)
            if row is None:
                yield f"item {item.number} {letter}: no row"
            elif said.adequate[letter] is None:
                yield f"row {row.number} adequate"
            elif said.adequate[letter] == "no" and said.error[letter] is None:
                yield f"row {row.number} error"
        if len(item.systems) > 1 and said.preferred is None:
            yield f"row {first} preferred"


# --- what was said ---------------------------------------------------------------------------------------------------


def _label(item: Item, annotator: _Annotator) -> str | None:
    said = annotator.items.get(item.number)
    return said.label if said else None


def _right(item: Item, annotator: _Annotator) -> bool:
    return _label(item, annotator) == LABELS[item.gold]


def _preferred(item: Item, annotator: _Annotator) -> str | None:
    """Name of the preferred system, "" for none of them; None without a judgement."""
    said = annotator.items.get(item.number)
    letter = said.preferred if said else None
    return "" if letter == NO_PREFERENCE else item.systems[letter] if letter else None


def _adequate(item: Item, letter: str, annotator: _Annotator) -> str | None:
    said = annotator.items.get(item.number)
    return said.adequate.get(letter) if said else None


def _explanations(items: Iterable[Item], system: str | None = None) -> list[tuple[Item, str]]:
    """Item and letter of every explanation, of one system or of all."""
    return [(item, letter) for item in items for letter, name in item.systems.items() if system in (None, name)]


def _unanimous(said: Iterable[str | None]) -> str | None:
    """The judgement of all annotators; None if they differ, or one is missing."""
    values = set(said)
    return values.pop() if len(values) == 1 else None


# --- figures ---------------------------------------------------------------------------------------------------------


def _names(found: Key) -> list[str]:
    return [system.name for system in found.systems]


def _about(annotator: _Annotator, found: Key) -> dict[str, Any]:
    labels = [item for item in found.items if _label(item, annotator)]
    right = share(sum(_right(item, annotator) for item in labels), len(labels))
    return about(annotator.sheet, len(annotator.missing)) | {"labels_right": right}


def _coefficients(
    found: Key,
    counted: Sequence[Item],
    annotators: Sequence[_Annotator],
    coefficient: Callable[[Iterable[Sequence[str | None]]], float | None],
) -> dict[str, Any]:
    """Agreement on the label, on adequacy and on the preferred system."""

    def adequacy(system: str | None) -> float | None:
        return coefficient(
            [_adequate(item, letter, each) for each in annotators] for item, letter in _explanations(counted, system)
        )

    by_system = {name: adequacy(name) for name in _names(found)}
    defined = [value for value in by_system.values() if value is not None]
    values: dict[str, Any] = {
        "label": coefficient([_label(item, each) for each in annotators] for item in found.items),
        "adequacy": {
            "by_system": by_system,
            "overall": adequacy(None),
            "average": math.fsum(defined) / len(defined) if defined else None,
            "averaged": len(defined),
        },
    }
    if len(found.systems) > 1:
        values["preference"] = coefficient([_preferred(item, each) for each in annotators] for item in counted)
    return values


def _pair(found: Key, counted: Sequence[Item], pair: Sequence[_Annotator]) -> dict[str, Any]:
    kappas = _coefficients(found, counted, pair, kappa)
    names = [each.sheet.annotator for each in pair]
    return {"annotators": names, **{f"{judgement}_kappa": value for judgement, value in kappas.items()}}


def _agreed(
    items: Sequence[Item], annotators: Sequence[_Annotator], system: str | None
) -> list[tuple[Item, str, bool]]:
    """Item, letter and adequacy of the explanations on whose adequacy all agree."""
    said = [
        (item, letter, _unanimous(_adequate(item, letter, each) for each in annotators))
        for item, letter in _explanations(items, system)
    ]
    return [(item, letter, value == "yes") for item, letter, value in said if value]


def _system(name: str, counted: Sequence[Item], annotators: Sequence[_Annotator]) -> dict[str, Any]:
    agreed = _agreed(counted, annotators, name)
    adequate = sum(value for _, _, value in agreed)
    marks = Counter(
        error
        for item, letter, value in agreed
        for each in annotators
        if not value and (error := each.items[item.number].error[letter])
    )
    return {
        "name": name,
        "explanations": len(_explanations(counted, name)),
        "agreed": len(agreed),
        "adequate": adequate,
        "adequacy_rate": share(adequate, len(agreed)),
        "error_marks": marks.total(),
        "errors": {error: share(marks[error], marks.total()) for error in ERRORS},
    }


def _as_predictor(found: Key, counted: Sequence[Item], annotators: Sequence[_Annotator]) -> dict[str, Any]:
    """ExplanationScore against agreed adequacy (section 5.3), or why not."""
    scorers = {system.scorer for system in found.systems}
    signatures = sorted({system.signature for system in found.systems if system.signature})
    if scorers == {None}:
        return {"undefined": "the samples had no explanation scores (figlang score, then export)"}
    if len(scorers) > 1 or len(signatures) > 1:
        made = ", ".join(f"{system.name}: {system.signature or system.scorer}" for system in found.systems)
        return {"undefined": printable(f"the systems' scores are of different scorers ({made})")}
    agreed = _agreed(counted, annotators, None)
    scored = [(value, score) for item, letter, value in agreed if (score := item.scores[letter]) is not None]
    about: dict[str, Any] = {
        "scorer": scorers.pop(),
        "signature": signatures[0] if signatures else None,
        "n": len(scored),
        "without_score": len(agreed) - len(scored),
        "adequate": sum(value for value, _ in scored),
    }
    if not 0 < about["adequate"] < len(scored):
        return about | {"undefined": "the annotators agree on only one adequacy, or never: there is nothing to predict"}
    positive, scores = zip(*scored, strict=True)
    best = best_f1(positive, scores)
    return about | {
        "average_precision": average_precision(positive, scores),
        "trapezoidal_area": trapezoidal_area(positive, scores),
        "best_f1": {
            "f1": best.f1,
            "precision": best.precision,
            "recall": best.recall,
            "above": best.above if math.isfinite(best.above) else None,
            "at_least": best.at_least,
        },
    }


# --- text ------------------------------------------------------------------------------------------------------------


def text(report: Mapping[str, Any]) -> str:
    """A report as tables for people; shares in percent."""
    if "pictures" in report:
        return pictures.text(report)
    return "\n\n".join(part for make in (_head, _agreement, _systems, _predictor) if (part := make(report))) + "\n"


def _head(report: Mapping[str, Any]) -> str:
    lines = [
        f"{report['items']} items of {printable(report['data'])}; adequacy, errors and preference: the "
        f"{report['items_counted']} "
        + ("items, whatever their label" if report["any_label"] else "whose label all annotators got right")
    ]
    return "\n".join([*lines, *of_annotators(report["annotators"])])


def _agreement(report: Mapping[str, Any]) -> str:
    rows = [["Cohen's kappa", "label", "adequacy: average", "overall", *_plain(report), "preference"]]
    for pair in report["pairs"]:
        kappas = {name.removesuffix("_kappa"): value for name, value in pair.items()}
        rows.append([" / ".join(pair["annotators"]), *_cells(kappas)])
    if "alpha" in report:
        rows.append(["all, Krippendorff's alpha", *_cells(report["alpha"])])
    if "published" in report:
        average = number(report["published"]["average_kappa"])
        rows.append(["published", "", average, *[""] * (len(rows[0]) - 3)])
    return table(rows)


def _cells(values: Mapping[str, Any]) -> list[str]:
    adequacy = values["adequacy"]
    numbers = (adequacy["average"], adequacy["overall"], *adequacy["by_system"].values())
    return [number(value) for value in (values["label"], *numbers, values.get("preference"))]


def _plain(report: Mapping[str, Any]) -> list[str]:
    """Names of the systems for a table."""
    return [" ".join(printable(system["name"]).replace("|", "/").split()) for system in report["systems"]]


def _systems(report: Mapping[str, Any]) -> str:
    rows = [["where all agree, %", "adequate", "of", "preferred", *ERRORS, "marks"]]
    for name, system in zip(_plain(report), report["systems"], strict=True):
        rates = [percent(system["adequacy_rate"]), str(system["agreed"]), percent(system.get("preference_rate"))]
        errors = [percent(part) for part in system["errors"].values()]
        rows.append([name, *rates, *errors, str(system["error_marks"])])
    for system in report.get("published", {}).get("systems", ()):
        rates = [percent(system["adequacy_rate"]), "", percent(system["preference_rate"])]
        rows.append([f"published: {system['name']}", *rates, *[""] * (len(ERRORS) + 1)])
    lines = [table(rows)]
    if preference := report.get("preference"):
        lines.append(
            f"preference: all agree on {preference['agreed']} items; on {preference['none']} of these no explanation "
            "is best"
        )
        if "majority" in preference:
            rates = [
                f"{name} {percent(each['majority_rate'])} %"
                for name, each in zip(_plain(report), report["systems"], strict=True)
            ]
            lines.append(f"more than half agree on {preference['majority']} items: {', '.join(rates)}")
    if "published" in report:
        lines.append(f"published, not measured here: {report['published']['source']}")
    return "\n\n".join(lines)


def _predictor(report: Mapping[str, Any]) -> str:
    found = report["explanation_score"]
    if "undefined" in found:
        return f"ExplanationScore as a predictor of adequacy: not computed, {found['undefined']}"
    best = found["best_f1"]
    cuts = [f"score >= {best['at_least']:.4f}"]
    if best["above"] is not None:
        cuts.append(f"score > t for t from {best['above']:.4f}")
    lines = [
        f"ExplanationScore ({found['signature'] or found['scorer']}) as a predictor of adequacy, {found['n']} "
        f"explanations, {found['adequate']} of them adequate:",
        f"area under the precision-recall curve: {found['average_precision']:.2f} (average precision; "
        f"{found['adequate'] / found['n']:.2f} by chance), {found['trapezoidal_area']:.2f} (trapezoidal)",
        f"best F1: {best['f1']:.2f} (precision {best['precision']:.2f}, recall {best['recall']:.2f}) at "
        + ", that is ".join(cuts),
    ]
    if found["without_score"]:
        lines.append(f"explanations without a score, left out: {found['without_score']}")
    if published := report.get("published"):
        lines.append(
            f"published: area {published['area']}, best F1 {published['best_f1']} at {published['threshold']} (the "
            "paper does not say which area)"
        )
    return "\n".join(lines)
