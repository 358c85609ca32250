"""How far annotators of explanations agree, and whether ExplanationScore predicts their judgement.

Source: V-FLUTE (arXiv 2405.01474), section 5. What the paper leaves open, and what we took, is in
docs/judge.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias, cast

import pandas as pd
from sklearn.metrics import auc, average_precision_score, precision_recall_curve

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.judge import agreement_text, figures, pictures, powered, sheet
from figlang_tasks.judge import key as keys
from figlang_tasks.judge.figures import share
from figlang_tasks.judge.judgements import (
    Judgements,
    explanations_table,
    missing_judgements,
    one_cell_per_item,
)
from figlang_tasks.judge.key import ExplanationKey, PictureKey
from figlang_tasks.judge.reports import (
    Agreement,
    Annotator,
    ExplanationReport,
    PairAgreement,
    PictureReport,
    Predictor,
    SystemJudgements,
)
from figlang_tasks.judge.sheet import ERRORS
from figlang_tasks.metrics.agreement import best_f1

Coefficient: TypeAlias = Callable[[pd.DataFrame], float | None]
"""A coefficient of agreement over a table of judgements; None where it is undefined."""


_NOT_OF_PEOPLE = (
    "one of the annotators is a language model, and what people would say is estimated from their"
    " judgements alone: leave out its sheet, and give judge export its verdicts as --scores"
)
"""Why there are no estimates from sheets of which a language model filled in one."""


def agree(
    key_path: Path, sheet_paths: Sequence[Path], any_label: bool = False
) -> Mapping[str, Any]:
    """Measure how far annotators agree on explanations or pictures, from their filled sheets.

    Args:
        key_path: the key of the export, which says what was judged.
        sheet_paths: a sheet of each annotator.
        any_label: counts items with a wrong label too: without it, the explanations of an item
            count only if all annotators chose its right label. Of no effect on pictures, which
            have no labels.

    Returns:
        What ``--json`` prints (docs/judge.md): an `ExplanationReport` or a `PictureReport`.
    """
    key = keys.read(key_path)
    if "pictures" in key:
        return pictures.agree(cast(PictureKey, key), sheet_paths)
    return _agree_on_explanations(cast(ExplanationKey, key), sheet_paths, any_label)


def text(report: Mapping[str, Any]) -> str:
    """A report as tables for people, with shares in percent."""
    if "pictures" in report:
        return pictures.text(cast(PictureReport, report))
    return agreement_text.text(cast(ExplanationReport, report))


def _agree_on_explanations(
    key: ExplanationKey, sheet_paths: Sequence[Path], any_label: bool
) -> ExplanationReport:
    """The report on the filled sheets of an export of explanations.

    Adequacy, errors and preference are taken of the items that count: those whose label all
    annotators got right, or all items with `any_label`.
    """
    systems: list[str] = key["systems"]
    explanations = explanations_table(key)
    gold = one_cell_per_item(explanations["gold"])
    judgements, annotators = _read_sheets(key, sheet_paths, explanations.index, gold)
    is_right = judgements.label.eq(gold, axis=0)  # False too where the label is missing
    for annotator in annotators:
        name = annotator["name"]
        annotator["missing"] = missing_judgements(
            judgements, name, gold, includes_wrong_labels=any_label
        )
        if _asks_label(key):
            n_labels = judgements.label[name].count()  # without those that are missing
            annotator["labels_right"] = share(is_right[name].sum(), n_labels)

    counted_items = gold.index
    if not any_label:
        counted_items = gold.index[is_right.all(axis=1)]
    counted = judgements.of_counted(counted_items, explanations)
    agreed_adequacy = figures.unanimous(counted.adequate)
    counted_explanations = explanations.loc[counted.adequate.index]
    system_of = counted_explanations["system"]
    report: ExplanationReport = {
        **figures.report_head(key, annotators),
        "items": len(gold),
        "asks_label": _asks_label(key),
        "items_counted": len(counted_items),
        "any_label": any_label,
        "pairs": _pairs(counted, system_of, systems),
        "systems": _judgements_of_systems(systems, system_of, agreed_adequacy, counted.error),
        "explanation_score": _score_as_predictor(
            key["scorer"], counted_explanations["score"], agreed_adequacy
        ),
    }
    if len(annotators) > 2:  # kappa is of two annotators alone
        report["alpha"] = _agreement(figures.alpha, counted, system_of, systems)
    if counted.preferred is not None:
        _add_preferences(report, counted.preferred)
    if any(annotator["llm"] for annotator in annotators):
        report["all_rows"] = {"estimates": [], "refused": [_NOT_OF_PEOPLE]}
    else:
        report["all_rows"] = powered.estimate(
            key, judgements, _label_counts(judgements.label, is_right, any_label)
        )
    published = benchmarks()[key["benchmark"]].module("agreement")
    if published is not None:
        report["published"] = published.PUBLISHED
    return report


def _asks_label(key: ExplanationKey) -> bool:
    """Whether annotators choose a label, on which it depends whether an item counts."""
    return key.get("asks_label", True)


def _label_counts(
    labels: pd.DataFrame, is_right: pd.DataFrame, any_label: bool
) -> dict[str, bool | None]:
    """Whether each item counts by its label; None while it is open, as a label is missing.

    Args:
        labels: the label of each item, with a column per annotator.
        is_right: whether each of them is right.
        any_label: counts all items.
    """
    label_counts: dict[str, bool | None] = {}
    for item in labels.index:
        given_labels = labels.loc[item].notna()
        if any_label or is_right.loc[item].all():
            label_counts[item] = True
        elif (given_labels & ~is_right.loc[item]).any():
            label_counts[item] = False
        else:
            label_counts[item] = None
    return label_counts


def _read_sheets(
    key: ExplanationKey, sheet_paths: Sequence[Path], judged: pd.Index, gold: pd.Series
) -> tuple[Judgements, list[Annotator]]:
    """Read the judgements in filled sheets of explanations, and list the annotators.

    Each table has a column per annotator. Labels and preferences have a row per item; adequacy and
    errors have a row per explanation, in the order of `judged`.

    Args:
        key: the key of the sheets.
        sheet_paths: a sheet of each annotator.
        judged: item and letter of each explanation.
        gold: the right label of each item, which counts as chosen if no label is asked for.

    Returns:
        The judgements; and the annotators, without `missing` and `labels_right`.
    """
    letters = sheet.LETTERS[: len(key["systems"])]
    spellings = sheet.spellings_by_column(letters, asks_label=_asks_label(key))
    tables, annotators = figures.gather_judgements(key, sheet_paths, judged, spellings)
    preferred = None
    if "preferred" in tables:  # there are several systems
        preferred = one_cell_per_item(tables["preferred"])
    if "label" in tables:
        label = one_cell_per_item(tables["label"])
    else:
        label = pd.DataFrame({annotator["name"]: gold for annotator in annotators})
    judgements = Judgements(
        label=label,
        adequate=tables["adequate"],
        error=tables["error"],
        preferred=preferred,
    )
    return judgements, annotators


def _pairs(
    judgements: Judgements, system_of: pd.Series, systems: Sequence[str]
) -> list[PairAgreement]:
    """Cohen's kappa of every two annotators, on the label, on adequacy and on the preference.

    That on adequacy is several values (`AdequacyAgreement`). There is none on the preference if
    there is a single system.

    Args:
        judgements: those that count, of all annotators.
        system_of: the system of each explanation.
        systems: the names of all systems.
    """
    pairs: list[PairAgreement] = []
    annotator_names = list(judgements.label.columns)  # the table has a column per annotator
    for annotators in combinations(annotator_names, 2):
        pair_judgements = judgements.of_annotators(annotators)
        agreement = _agreement(figures.kappa, pair_judgements, system_of, systems)
        pair = PairAgreement(
            annotators=list(annotators),
            label_kappa=agreement["label"],
            adequacy_kappa=agreement["adequacy"],
        )
        if "preference" in agreement:
            pair["preference_kappa"] = agreement["preference"]
        pairs.append(pair)
    return pairs


def _agreement(
    coefficient: Coefficient,
    judgements: Judgements,
    system_of: pd.Series,
    systems: Sequence[str],
) -> Agreement:
    """A coefficient of agreement on the label, on adequacy and on the preferred system.

    That on adequacy is given overall, for the explanations of each system, and as the average of
    the systems.

    Args:
        coefficient: `figures.kappa` or `figures.alpha`.
        judgements: those of the annotators in question.
        system_of: the system of each explanation, to tell the systems' rows of adequacy apart.
        systems: the names of all systems, as one may have no explanation that counts.
    """
    adequate = judgements.adequate
    by_system: dict[str, float | None] = {}
    for system in systems:
        by_system[system] = coefficient(adequate[system_of.eq(system)])
    defined_values = [value for value in by_system.values() if value is not None]
    agreement = Agreement(
        label=coefficient(judgements.label),
        adequacy={
            "by_system": by_system,
            "overall": coefficient(adequate),
            "average": fmean(defined_values) if defined_values else None,
        },
    )
    if judgements.preferred is not None:
        agreement["preference"] = coefficient(judgements.preferred)
    return agreement


def _judgements_of_systems(
    systems: Sequence[str], system_of: pd.Series, agreed_adequacy: pd.Series, errors: pd.DataFrame
) -> list[SystemJudgements]:
    """What all annotators agree on about each system.

    Args:
        systems: the names of all systems.
        system_of: the system of each explanation.
        agreed_adequacy: the adequacy of the explanations on which all agree.
        errors: the errors that each annotator marked.
    """
    judgements: list[SystemJudgements] = []
    for system in systems:
        is_of_system = system_of.loc[agreed_adequacy.index].eq(system)
        adequacy = agreed_adequacy[is_of_system]
        adequate = int(adequacy.eq("yes").sum())
        inadequate = adequacy.index[adequacy.eq("no")]
        marks = errors.loc[inadequate].stack().dropna()  # one per explanation and annotator
        judgements.append(
            {
                "name": system,
                "agreed": len(adequacy),
                "adequate": adequate,
                "adequacy_rate": share(adequate, len(adequacy)),
                "error_marks": len(marks),
                "errors": {error: share(marks.eq(error).sum(), len(marks)) for error in ERRORS},
            }
        )
    return judgements


def _add_preferences(report: ExplanationReport, preferred: pd.DataFrame) -> None:
    """Add to a report how often all annotators prefer each system, or none of them.

    Args:
        report: its `systems` are there already.
        preferred: the name of the preferred system of each item, "" for none (`of_counted`).
    """
    agreed_preferences = figures.unanimous(preferred)  # of the items on which all agree
    n_agreed = len(agreed_preferences)
    n_none = int(agreed_preferences.eq("").sum())
    report["preference"] = {"agreed": n_agreed, "none": n_none}
    for system in report["systems"]:
        system["preferred"] = int(agreed_preferences.eq(system["name"]).sum())
        system["preference_rate"] = share(system["preferred"], n_agreed)


def _score_as_predictor(
    scorer: str | None, scores: pd.Series, agreed_adequacy: pd.Series
) -> Predictor:
    """ExplanationScore as a predictor of adequacy: area under its curve, and best F1 (section 5.3).

    The area is that under the precision-recall curve, by two definitions. Without scores, or with
    one adequacy alone, there are neither, and `undefined` says why.

    Args:
        scorer: the signature or name of the scorer; None without scores.
        scores: the score of each explanation that counts; empty where there is none.
        agreed_adequacy: the adequacy of the explanations on which all agree; those on which they
            disagree are left out.
    """
    scores_of_agreed = scores.loc[agreed_adequacy.index]
    agreed_scores = scores_of_agreed.dropna().astype(float)
    is_adequate = agreed_adequacy.loc[agreed_scores.index].eq("yes")
    n_scores = len(agreed_scores)
    n_adequate = int(is_adequate.sum())
    predictor = Predictor(
        scorer=scorer,
        n=n_scores,
        without_score=len(agreed_adequacy) - n_scores,
        adequate=n_adequate,
    )
    if agreed_adequacy.empty:
        predictor["undefined"] = "all agree on the adequacy of no explanation"
    elif n_scores == 0:
        predictor["undefined"] = "no scores (figlang score, then export)"
    elif n_adequate in (0, n_scores):
        predictor["undefined"] = "all agree on one adequacy alone"
    else:
        average_precision = average_precision_score(is_adequate, agreed_scores)
        precision, recall, _ = precision_recall_curve(is_adequate, agreed_scores)
        predictor["average_precision"] = float(average_precision)
        predictor["trapezoidal_area"] = float(auc(recall, precision))
        predictor["best_f1"] = best_f1(is_adequate.tolist(), agreed_scores.tolist())
    return predictor
