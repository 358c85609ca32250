"""A report on annotators of explanations as text: the tables of ``figlang judge agree``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from figlang_tasks.core.text import markdown_table
from figlang_tasks.judge import figures, powered_text
from figlang_tasks.judge.figures import number, percent
from figlang_tasks.judge.reports import Agreement, ExplanationReport, Predictor, Preference
from figlang_tasks.judge.sheet import ERRORS, is_language_model

_SYSTEMS_HEAD = ("where all agree, %", "adequate", "of", "preferred", *ERRORS, "marks")
"""The head of the table of systems; its first column holds their names."""


def text(report: ExplanationReport) -> str:
    """A report on explanations as tables for people, with shares in percent."""
    condition = "whose label all got right"
    if not report["asks_label"]:
        condition = "judged"
    elif report["any_label"]:
        condition = "whatever their label"
    head = (
        f"{report['items']} items of {report['data']}; adequacy, errors and preference are of the "
        f"{report['items_counted']} {condition}\n"
        f"{figures.annotators_text(report['annotators'])}"
    )
    paragraphs = [head, _agreement_table(report), _systems_table(report)]
    if "preference" in report:
        paragraphs.append(_preference_text(report["preference"]))
    if "published" in report:
        paragraphs.append(_published_text(report["published"]))
    paragraphs.append(_predictor_text(report["explanation_score"]))
    paragraphs.append(powered_text.text(report["all_rows"]))
    return "\n\n".join(paragraphs) + "\n"


def _agreement_table(report: ExplanationReport) -> str:
    """The coefficients of agreement of each pair of annotators, and of all of them."""
    systems = [system["name"] for system in report["systems"]]
    head = ["Cohen's kappa", "label", "adequacy: average", "overall", *systems, "preference"]
    rows = [head]
    for pair in report["pairs"]:
        kappas = Agreement(
            label=pair["label_kappa"],
            adequacy=pair["adequacy_kappa"],
            preference=pair.get("preference_kappa"),
        )
        rows.append(_agreement_row(" / ".join(pair["annotators"]), kappas))
    if "alpha" in report:
        rows.append(_agreement_row("all, Krippendorff's alpha", report["alpha"]))
    return markdown_table(rows)


def _agreement_row(name: str, agreement: Agreement) -> list[str]:
    """The row of one coefficient in `_agreement_table`; "-" where its value is undefined.

    Its values are those on the label, on adequacy (average, overall, by system), and on the
    preference, which is undefined with a single system.

    Args:
        name: the first cell: whose agreement it is.
        agreement: the values of the coefficient.
    """
    adequacy = agreement["adequacy"]
    values = [
        agreement["label"],
        adequacy["average"],
        adequacy["overall"],
        *adequacy["by_system"].values(),
        agreement.get("preference"),
    ]
    return [name, *map(number, values)]


def _systems_table(report: ExplanationReport) -> str:
    """Adequacy, preference and errors of each system, above the published figures."""
    rows = [list(_SYSTEMS_HEAD)]
    for system in report["systems"]:
        rows.append(
            [
                system["name"],
                percent(system["adequacy_rate"]),
                str(system["agreed"]),
                percent(system.get("preference_rate")),
                *map(percent, system["errors"].values()),  # in the order of `ERRORS`, as the head
                str(system["error_marks"]),
            ]
        )
    if "published" in report:
        rows += _published_rows(report["published"]["systems"])
    return markdown_table(rows)


def _published_rows(systems: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The rows of the paper's systems, where the counts and the errors are left blank."""
    # The head of the first column says what the whole table is of; the cells below it are names.
    name_column = _SYSTEMS_HEAD[0]
    rows: list[list[str]] = []
    for system in systems:
        cells = dict.fromkeys(_SYSTEMS_HEAD, "")
        cells[name_column] = f"published: {system['name']}"
        cells["adequate"] = percent(system["adequacy_rate"])
        cells["preferred"] = percent(system["preference_rate"])
        rows.append(list(cells.values()))
    return rows


def _preference_text(preference: Preference) -> str:
    """A sentence on how many items all prefer the same, and on how many of these none is best."""
    return (
        f"preference: all agree on {preference['agreed']} items; on {preference['none']} of these"
        " no explanation is best"
    )


def _published_text(published: Mapping[str, Any]) -> str:
    """The source of the published figures, with those that stand in no table."""
    return (
        f"published, not measured here: {published['source']}. Average kappa"
        f" {published['average_kappa']}; area {published['area']} (the paper does not say which),"
        f" best F1 {published['best_f1']} at {published['threshold']}"
    )


def _predictor_text(predictor: Predictor) -> str:
    """How well the scores predict adequacy, or why that is not known."""
    scorer = predictor["scorer"]
    name = "ExplanationScore"
    if scorer is not None:
        name = scorer if is_language_model(scorer) else f"{name} ({scorer})"
    if "undefined" in predictor:
        reason = predictor["undefined"]
        return f"{name} as a predictor of adequacy: not computed, {reason}"
    n_scores = predictor["n"]
    n_adequate = predictor["adequate"]
    # Scores at random have the share of adequate explanations as their area.
    area_by_chance = n_adequate / n_scores
    average_precision = predictor["average_precision"]
    trapezoidal_area = predictor["trapezoidal_area"]
    best = predictor["best_f1"]
    return (
        f"{name} as a predictor of adequacy,"
        f" {n_scores} explanations, {n_adequate} of them adequate:\n"
        "area under the precision-recall curve:"
        f" {average_precision:.2f} (average precision; {area_by_chance:.2f} by chance),"
        f" {trapezoidal_area:.2f} (trapezoidal)\n"
        f"best F1: {best['f1']:.2f}"
        f" (precision {best['precision']:.2f}, recall {best['recall']:.2f})"
        f" at score >= {best['at_least']:.4f}"
    )
