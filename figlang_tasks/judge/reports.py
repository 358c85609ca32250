"""The reports of ``figlang judge agree``, as ``--json`` prints them (docs/judge.md).

Shares are between 0 and 1; a share or coefficient that is undefined is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from figlang_tasks.judge.key import DrawRecord


class Annotator(TypedDict, total=False):
    """Who filled in a sheet.

    Attributes:
        name: as the sheet has it.
        llm: whether it is a language model.
        file: the name of the sheet.
        missing: the judgements that are missing.
        labels_right: the share of right labels; only of explanations.
    """

    name: str
    llm: bool
    file: str
    missing: list[str]
    labels_right: float | None


class ReportHead(TypedDict):
    """What every report begins with.

    Attributes:
        written_by: the command.
        key: the code of the sheets, under ``sheet``.
        data: the rows that were read, or of which the prompts were made.
        annotators: in the order of their sheets.
    """

    written_by: str
    key: dict[str, str]
    data: str
    annotators: list[Annotator]


class AdequacyAgreement(TypedDict):
    """Agreement on adequacy: of each system's explanations, of all, and the mean over systems."""

    by_system: dict[str, float | None]
    overall: float | None
    average: float | None


class Agreement(TypedDict, total=False):
    """A coefficient of agreement on each question; `preference` only with several systems."""

    label: float | None
    adequacy: AdequacyAgreement
    preference: float | None


class PairAgreement(TypedDict, total=False):
    """Cohen's kappa of two annotators on each question.

    Attributes:
        annotators: their names.
        label_kappa: on the label.
        adequacy_kappa: on adequacy: several values, overall and by system.
        preference_kappa: on the preferred system; only with several systems.
    """

    annotators: list[str]
    label_kappa: float | None
    adequacy_kappa: AdequacyAgreement
    preference_kappa: float | None


class SystemJudgements(TypedDict, total=False):
    """What all annotators agree on about one system.

    Attributes:
        name: of the system.
        agreed: explanations on whose adequacy all agree.
        adequate: how many of these are adequate.
        adequacy_rate: their share.
        error_marks: errors that annotators marked in those that all find inadequate.
        errors: the share of each error among these marks.
        preferred: items for which all prefer this system; only with several systems.
        preference_rate: their share of the items on whose preference all agree.
    """

    name: str
    agreed: int
    adequate: int
    adequacy_rate: float | None
    error_marks: int
    errors: dict[str, float | None]
    preferred: int
    preference_rate: float | None


class Predictor(TypedDict, total=False):
    """ExplanationScore as a predictor of adequacy.

    Attributes:
        scorer: its signature or name; None without scores.
        n: explanations with a score on whose adequacy all agree.
        without_score: those without a score.
        adequate: how many of the `n` are adequate.
        undefined: why the figures below are missing.
        average_precision, trapezoidal_area: the area under the precision-recall curve, by two
            definitions.
        best_f1: the best F1 of any threshold.
    """

    scorer: str | None
    n: int
    without_score: int
    adequate: int
    undefined: str
    average_precision: float
    trapezoidal_area: float
    best_f1: dict[str, float]


class Preference(TypedDict):
    """Items on whose preference all agree, and how many of these prefer no explanation."""

    agreed: int
    none: int


class LabelsAlone(TypedDict):
    """The estimate from people's judgements alone."""

    value: float
    interval: list[float] | None


class PoweredEstimate(TypedDict):
    """What people would say of all rows, from their judgements of some and scores of all.

    Attributes:
        measure: what is estimated.
        system: the system; of a difference, the candidate.
        baseline: of a difference, whose value is subtracted; else None.
        value: the estimate.
        interval: both ends of its 95 % interval; None where the judgements do not vary.
        labels: the number of judgements that count.
        effective_labels: how many judgements alone would be as precise.
        tuning: how much of the scores is used, 0 to 1.
        labels_alone: the estimate without scores.
    """

    measure: str
    system: str
    baseline: str | None
    value: float
    interval: list[float] | None
    labels: int
    effective_labels: float
    tuning: float
    labels_alone: LabelsAlone


class PoweredReport(TypedDict, total=False):
    """Estimates for all rows.

    Attributes:
        draw: how the judged rows were drawn; missing if the key does not say.
        unjudged: drawn explanations without all judgements; they are taken to be missing by chance.
        estimates: of each system, then of each pair of systems.
        refused: a sentence for each system without estimates, or one for all.
    """

    draw: DrawRecord
    unjudged: int
    estimates: list[PoweredEstimate]
    refused: list[str]


class ExplanationReport(ReportHead, total=False):
    """What annotators agree on about explanations."""

    items: int
    asks_label: bool
    items_counted: int
    any_label: bool
    pairs: list[PairAgreement]
    systems: list[SystemJudgements]
    explanation_score: Predictor
    alpha: Agreement
    preference: Preference
    all_rows: PoweredReport
    published: Mapping[str, Any]


class SortedPictures(TypedDict):
    """The pictures of one system from one kind of prompt, sorted into categories.

    Attributes:
        system: the name of the system.
        input: the kind of prompt.
        asked: the number of prompts.
        pictures: the number of pictures.
        categories: the share of pictures in each category.
        no_majority: the share of pictures on which no majority agrees.
    """

    system: str
    input: str
    asked: int
    pictures: int
    categories: dict[str, float | None]
    no_majority: float | None


class PicturePair(TypedDict):
    """Cohen's kappa of two annotators on the category of pictures."""

    annotators: list[str]
    category_kappa: float | None


class PictureReport(ReportHead, total=False):
    """How annotators sort generated pictures."""

    pictures: int
    with_majority: float | None
    systems: list[SortedPictures]
    pairs: list[PicturePair]
    published: Mapping[str, Any]
    alpha: float | None
