"""What annotators agree on: kappa, adequacy, preference, errors, and ExplanationScore as a
predictor of adequacy.

Source: V-FLUTE (arXiv 2405.01474), section 5. What the paper leaves open, and what we took, is in
docs/judge.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any

import pandas as pd
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.text import table
from figlang_tasks.judge import figures, key, pictures, sheet
from figlang_tasks.judge.figures import number, percent, share
from figlang_tasks.judge.sheet import ERRORS, NO_PREFERENCE
from figlang_tasks.metrics.agreement import best_f1

LABELS = ("contradiction", "entailment")


def agree(key_path: Path, sheet_paths: Sequence[Path], any_label: bool = False) -> dict[str, Any]:
    """Compare the sheets of an export; return what ``--json`` prints (docs/judge.md), shares as 0
    to 1.
    """
    found = key.read(key_path)
    if "pictures" in found:
        return pictures.agree(found, sheet_paths)
    names, explanations = found["systems"], _explanations(found)
    system, gold = explanations["system"], _by_item(explanations["gold"])
    columns = sheet.accepted(sheet.LETTERS[: len(names)])
    tables, report = figures.gathered(found, sheet_paths, explanations.index, columns)
    tables |= {
        column: _by_item(tables[column]) for column in ("label", "preferred") if column in columns
    }
    right = tables["label"].eq(gold, axis=0)
    for annotator in report["annotators"]:
        own = {column: table[annotator["name"]] for column, table in tables.items()}
        annotator["missing"] = list(_missing(own, gold, any_label))
        annotator["labels_right"] = share(right[annotator["name"]].sum(), own["label"].count())
    counted = gold.index if any_label else gold.index[right.all(axis=1)]
    if "preferred" in tables:
        tables["preferred"] = _preferred(tables["preferred"].loc[counted], system)
    explanations = explanations[explanations.index.isin(counted, level="item")]
    tables |= {column: tables[column].loc[explanations.index] for column in ("adequate", "error")}
    system, agreed = explanations["system"], figures.unanimous(tables["adequate"])
    pairs = []
    for two in combinations(right, 2):
        values = _coefficients(
            figures.kappa,
            {column: table[[*two]] for column, table in tables.items()},
            system,
            names,
        )
        pairs.append(
            {"annotators": [*two], **{f"{name}_kappa": value for name, value in values.items()}}
        )
    report |= {
        "items": len(gold),
        "items_counted": len(counted),
        "any_label": any_label,
        "pairs": pairs,
        "systems": [_system(name, system, agreed, tables["error"]) for name in names],
        "explanation_score": _as_predictor(found, explanations, agreed),
    }
    if len(right.columns) > 2:
        report["alpha"] = _coefficients(figures.alpha, tables, system, names)
    if "preferred" in tables:
        best = figures.unanimous(tables["preferred"])
        report["preference"] = {"agreed": len(best), "none": int(best.eq("").sum())}
        for each in report["systems"]:
            each["preferred"] = int(best.eq(each["name"]).sum())
            each["preference_rate"] = share(each["preferred"], len(best))
    agreement = benchmarks()[found["benchmark"]].module("agreement")
    if agreement is not None:
        report["published"] = agreement.PUBLISHED
    return report


# --- sheets ---


def _explanations(found: Mapping[str, Any]) -> pd.DataFrame:
    """The `system`, its ExplanationScore `score` and the label `gold` of each item and letter."""
    rows = [
        (str(item["number"]), letter, name, item["scores"][letter], LABELS[item["gold"]])
        for item in found["items"]
        for letter, name in item["systems"].items()
    ]
    return pd.DataFrame(rows, columns=["item", "letter", "system", "score", "gold"]).set_index(
        ["item", "letter"]
    )


def _preferred(letters: pd.DataFrame, system: pd.Series) -> pd.DataFrame:
    """The names of the preferred systems in place of their letters; "" for none of them."""
    names = system.to_dict() | {(item, NO_PREFERENCE): "" for item in letters.index}
    return letters.apply(
        lambda said: pd.Series(map(names.get, said.items()), said.index, dtype=object)
    )


def _missing(said: Mapping[str, pd.Series], gold: pd.Series, any_label: bool) -> Iterator[str]:
    """The judgements that an annotator lacks. In the paper, who chose a wrong label did not see the
    rest.
    """
    label = said["label"]
    asked = gold.index if any_label else gold.index[label.isna() | label.eq(gold)]
    own = pd.DataFrame({column: said[column] for column in ("adequate", "error")})
    own = own[own.index.isin(asked, level="item")]
    yield from (f"item {item} label" for item in gold.index[label.isna()])
    yield from (
        f"item {item} {letter} adequate" for item, letter in own.index[own["adequate"].isna()]
    )
    unnamed = own["adequate"].eq("no") & own["error"].isna()
    yield from (f"item {item} {letter} error" for item, letter in own.index[unnamed])
    if "preferred" in said:
        yield from (f"item {item} preferred" for item in asked[said["preferred"].loc[asked].isna()])


def _by_item(said: Any) -> Any:
    """What is asked once an item, from any of its rows."""
    return said.groupby(level="item", sort=False).first()


# --- figures ---


def _coefficients(
    coefficient: Callable[[pd.DataFrame], float | None],
    tables: Mapping[str, pd.DataFrame],
    system: pd.Series,
    names: Sequence[str],
) -> dict[str, Any]:
    """Agreement on the label, on adequacy and on the preferred system."""
    adequate = tables["adequate"]
    by_system = {name: coefficient(adequate[system.eq(name)]) for name in names}
    defined = [value for value in by_system.values() if value is not None]
    values: dict[str, Any] = {
        "label": coefficient(tables["label"]),
        "adequacy": {
            "by_system": by_system,
            "overall": coefficient(adequate),
            "average": fmean(defined) if defined else None,
        },
    }
    return values | (
        {"preference": coefficient(tables["preferred"])} if "preferred" in tables else {}
    )


def _system(
    name: str, system: pd.Series, agreed: pd.Series, errors: pd.DataFrame
) -> dict[str, Any]:
    own = agreed[system.loc[agreed.index].eq(name)]
    adequate = int(own.eq("yes").sum())
    marks = errors.loc[own.index[own.eq("no")]].stack().dropna()
    return {
        "name": name,
        "agreed": len(own),
        "adequate": adequate,
        "adequacy_rate": share(adequate, len(own)),
        "error_marks": len(marks),
        "errors": {error: share(marks.eq(error).sum(), len(marks)) for error in ERRORS},
    }


def _as_predictor(
    found: Mapping[str, Any], explanations: pd.DataFrame, agreed: pd.Series
) -> dict[str, Any]:
    """ExplanationScore against agreed adequacy (section 5.3), or why not."""
    scores = explanations["score"].loc[agreed.index].dropna().astype(float)
    positive = agreed.loc[scores.index].eq("yes")
    about: dict[str, Any] = {
        "scorer": found["scorer"],
        "n": len(scores),
        "without_score": len(agreed) - len(scores),
        "adequate": int(positive.sum()),
    }
    if not 0 < about["adequate"] < len(scores):
        why = (
            "all agree on one adequacy alone, or never"
            if len(scores)
            else "no scores (figlang score, then export)"
        )
        return about | {"undefined": why}
    precision, recall, _ = precision_recall_curve(positive, scores)
    return about | {
        "average_precision": float(average_precision_score(positive, scores)),
        "trapezoidal_area": float(auc(recall, precision)),
        "best_f1": best_f1(positive.tolist(), scores.tolist()),
    }


# --- text ---


def text(report: Mapping[str, Any]) -> str:
    """A report as tables for people; shares in percent."""
    if "pictures" in report:
        return pictures.text(report)
    which = "whatever their label" if report["any_label"] else "whose label all got right"
    head = (
        f"{report['items']} items of {report['data']}; adequacy, errors and preference are of the "
        f"{report['items_counted']} {which}\n{figures.annotators_text(report)}"
    )
    return "\n\n".join([head, _agreement(report), *_systems(report), _predictor(report)]) + "\n"


def _agreement(report: Mapping[str, Any]) -> str:
    found = [
        (
            " / ".join(pair["annotators"]),
            {name.removesuffix("_kappa"): value for name, value in pair.items()},
        )
        for pair in report["pairs"]
    ]
    if "alpha" in report:
        found.append(("all, Krippendorff's alpha", report["alpha"]))
    names = [system["name"] for system in report["systems"]]
    rows = [["Cohen's kappa", "label", "adequacy: average", "overall", *names, "preference"]]
    for name, values in found:
        adequacy = values["adequacy"]
        numbers = (
            values["label"],
            adequacy["average"],
            adequacy["overall"],
            *adequacy["by_system"].values(),
        )
        rows.append([name, *map(number, (*numbers, values.get("preference")))])
    return table(rows)


def _systems(report: Mapping[str, Any]) -> Iterator[str]:
    rows = [["where all agree, %", "adequate", "of", "preferred", *ERRORS, "marks"]]
    for system in report["systems"]:
        rates = [
            percent(system["adequacy_rate"]),
            str(system["agreed"]),
            percent(system.get("preference_rate")),
        ]
        rows.append(
            [
                system["name"],
                *rates,
                *map(percent, system["errors"].values()),
                str(system["error_marks"]),
            ]
        )
    published = report.get("published", {"systems": ()})
    for system in published["systems"]:
        rates = [percent(system["adequacy_rate"]), "", percent(system["preference_rate"])]
        rows.append([f"published: {system['name']}", *rates, *[""] * (len(ERRORS) + 1)])
    yield table(rows)
    if preference := report.get("preference"):
        yield (
            f"preference: all agree on {preference['agreed']} items; on {preference['none']} of"
            " these no explanation is best"
        )
    if "published" in report:
        yield (
            f"published, not measured here: {published['source']}. Average kappa"
            f" {published['average_kappa']}; area {published['area']} (the paper does not say"
            f" which), best F1 {published['best_f1']} at {published['threshold']}"
        )


def _predictor(report: Mapping[str, Any]) -> str:
    found = report["explanation_score"]
    if "undefined" in found:
        return f"ExplanationScore as a predictor of adequacy: not computed, {found['undefined']}"
    best, chance = found["best_f1"], found["adequate"] / found["n"]
    return (
        f"ExplanationScore ({found['scorer']}) as a predictor of adequacy, {found['n']}"
        f" explanations, {found['adequate']} of them adequate:\narea under the precision-recall"
        f" curve: {found['average_precision']:.2f} (average precision; {chance:.2f} by chance),"
        f" {found['trapezoidal_area']:.2f} (trapezoidal)\nbest F1: {best['f1']:.2f} (precision"
        f" {best['precision']:.2f}, recall {best['recall']:.2f}) at score >= {best['at_least']:.4f}"
    )
