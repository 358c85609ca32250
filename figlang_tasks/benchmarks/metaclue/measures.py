"""The measures of MetaCLUE (arXiv 2212.09898, sections 3.1 to 3.4, Tables 1 to 5).

Images are resampled, not the questions about one. Average precision, METEOR, FID and the like are
no functions of sums: each has value and interval of its own. METEOR and SPICE need Java. What
cannot be computed is left out, and the log says why.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np
from loguru import logger

from figlang_tasks.benchmarks.metaclue.annotations import BOX_TYPES, DATASET, ROLES
from figlang_tasks.benchmarks.metaclue.generated import OpenedPictures
from figlang_tasks.benchmarks.metaclue.records import (
    BoxesRecord,
    ClassificationRecord,
    PictureRecord,
    RetrievalRecord,
)
from figlang_tasks.core import images, notes
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.metrics import boxes, captions, generated_images, intervals
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import (
    BOOTSTRAP,
    OVERALL,
    Estimate,
    IntervalMethod,
    Measure,
    Measures,
    Record,
    Scopes,
    by_field,
    grouped,
    parse_rate,
    ratio,
    tie_rate,
)
from figlang_tasks.scoring.evaluation import STDERR_RESAMPLES

_PAPER = "MetaCLUE, arXiv 2212.09898"


def image_of(record: Record) -> str:
    """The image that a record is of: what is resampled, and a row of the benchmark."""
    return str(record["id"]).partition("#")[0]


def _measures(*measures: Measure) -> Measures:
    return Measures.of(*measures, row_of=image_of)


def _mean(units: Sequence[str], values: Sequence[float]) -> Estimate:
    """The mean of values, with its interval and standard error, for measures with `estimate_of`."""
    statistic = ratio(units, values)
    stderr = intervals.standard_error(statistic.rows, statistic.value, STDERR_RESAMPLES)
    return Estimate.of(statistic.total(), BOOTSTRAP.interval_of(statistic), stderr)


def _no_interval(statistic: Statistic) -> None:
    """None: the measure has no interval, or computes one of its own."""


_NO_INTERVAL = IntervalMethod("none", _no_interval)

# --- is this a metaphor? ---


def _is_right(record: ClassificationRecord) -> float:
    """Whether the answer is right."""
    return float(record["predicted"] == record["gold"])


def _is_yes(record: ClassificationRecord) -> float:
    """Whether the answer is Yes."""
    return float(record["predicted"] == 1)


def _class(record: ClassificationRecord) -> tuple[str]:
    """The scope of a record: what the image is."""
    return ("metaphor" if record["gold"] else "negative",)


CLASSIFY = _measures(
    Measure(
        "acc",
        description="Share of images that are rightly called a metaphor or none.",
        source=f"{_PAPER}, section 3.1 and Table 1",
        value_of_record=_is_right,
        scopes=Scopes(("metaphor", "negative"), _class),
        answer=lambda record: record["predicted"],
    ),
    Measure(
        "yes_rate",
        description="Share of outputs that call the image a metaphor.",
        source="figlang_tasks",
        value_of_record=_is_yes,
        role="diagnostic",
        in_table=False,
    ),
    parse_rate(),
)

# --- which statement? ---


def _is_chosen(record: RetrievalRecord) -> float:
    """Whether the right statement is chosen."""
    return float(record["chosen"] == record["answer"])


def _rank(record: RetrievalRecord) -> float | None:
    """The rank of the right statement; None for an answer in words."""
    return None if record["rank"] is None else float(record["rank"])


def _is_tied(record: RetrievalRecord) -> float | None:
    """Whether several statements have the best score, so that none is chosen; None for an answer in
    words.
    """
    return float(record["chosen"] is None) if record["status"] == "scores" else None


RETRIEVE = _measures(
    Measure(
        "p@1",
        description="Share of images whose own statement is chosen; a tie goes against the model.",
        source=f"{_PAPER}, section 3.2 and Table 2",
        value_of_record=_is_chosen,
        answer=lambda record: record["chosen"],
    ),
    Measure(
        "rank",
        description="Mean rank of the right statement by scores; 1 is the best.",
        source=f"{_PAPER}, section 3.2 and Table 2",
        value_of_record=_rank,
        interval=BOOTSTRAP,
        higher_is_better=False,
        percent=False,
        bounds=(1.0, math.inf),
    ),
    tie_rate(
        "Share of images by scores for which several statements have the best score.",
        _is_tied,
        in_table=False,
    ),
    parse_rate(),
)

# --- what is compared with what? ---

Texts = tuple[tuple[str, str, tuple[str, ...]], ...]
"""Of each record its id, what was said ("" if nothing could be read), and the references."""


def _texts(records: Sequence[Record], said: str) -> Texts:
    """The texts of records, which stand in the field `said`, in the order of ids."""
    return tuple(
        sorted((record["id"], record[said], tuple(record["references"])) for record in records)
    )


def _images(texts: Texts) -> list[str]:
    return [name.partition("#")[0] for name, *_ in texts]


# A task asks for a handful of metrics of the texts of four scopes.
@lru_cache(maxsize=4)
def _scores(texts: Texts) -> captions.CaptionScores:
    _, said, references = zip(*texts, strict=True)
    found = captions.caption_scores(said, references)
    logger.info(f"figlang_tasks: {len(texts)} texts: {found.signature}")
    return found


@lru_cache(maxsize=4)
def _java_scores(texts: Texts) -> dict[str, captions.Metric]:
    _, said, references = zip(*texts, strict=True)
    found = captions.java_metrics(said, references)
    if found:
        logger.info(f"figlang_tasks: {len(texts)} texts: {captions.signature(found)}")
    return found


def _mean_over_images(records: Sequence[Record], metric: str, said: str) -> Statistic:
    texts = _texts(records, said)
    return ratio(_images(texts), _scores(texts).metrics[metric].per_image.tolist())


def _bleu4(records: Sequence[Record], said: str) -> Statistic:
    texts = _texts(records, said)
    return grouped(_images(texts), _scores(texts).bleu_statistics, captions.bleu4)


def _by_java(records: Sequence[Record], scope: str, metric: str, said: str) -> Estimate | None:
    texts = _texts(records, said)
    found = _java_scores(texts).get(metric)
    if found is None:  # the reason is logged
        notes.note_failure(f"{metric} could not be computed and is missing, see the log")
        return None
    # METEOR is of all texts together.
    return (
        _mean(_images(texts), found.per_image.tolist())
        if metric == "spice"
        else Estimate(found.value)
    )


def _of_texts(said: str, scopes: Scopes) -> tuple[Measure, ...]:
    """The measures of Table 3, of the texts in the field `said`.

    SPICE has an `estimate_of`, so that `figlang compare` does not run Java for hours.
    """
    declare = partial(Measure, source=f"{_PAPER}, section 3.2 and Table 3", scopes=scopes)
    return (
        declare(
            "em",
            description=(
                "Share of texts that equal a reference, without regard to case and punctuation."
            ),
            value_of_record=lambda record: float(record["em"]),
        ),
        declare(
            "bleu4",
            description="COCO's BLEU-4 of all texts.",
            statistic=partial(_bleu4, said=said),
            interval=BOOTSTRAP,
        ),
        declare(
            "rouge_l",
            description="Mean of COCO's ROUGE-L.",
            statistic=partial(_mean_over_images, metric="rouge_l", said=said),
            interval=BOOTSTRAP,
        ),
        declare(
            "meteor",
            description="COCO's METEOR of all texts; needs Java.",
            estimate_of=partial(_by_java, metric="meteor", said=said),
            interval=_NO_INTERVAL,
        ),
        declare(
            "spice",
            description="Mean of COCO's SPICE; needs Java.",
            estimate_of=partial(_by_java, metric="spice", said=said),
            interval=BOOTSTRAP,
        ),
        declare(
            "cider",
            description="Mean of COCO's CIDEr, from 0 to 10.",
            statistic=partial(_mean_over_images, metric="cider", said=said),
            interval=BOOTSTRAP,
            percent=False,
            bounds=(0.0, math.inf),
        ),
    )


def _part(record: Record, part: str) -> Record:
    """A caption as if one part of it were all; a part that could not be read is empty."""
    own = {name: record[f"{name}_{part}"] for name in ("references", "em")}
    return {**record, **own, "caption": record[part] or ""}


_PARTS = ("primary", "secondary", "relationship")  # in the order of tables

CAPTION = _measures(
    *_of_texts("caption", Scopes(_PARTS, lambda record: _PARTS, _part)), parse_rate()
)
VQA = _measures(*_of_texts("answer", by_field("role", _PARTS)))

# --- where are the concepts? ---


_BOXES_RESAMPLES = 1_000  # each costs a whole computation
_OF_BOXES = IntervalMethod(
    "bootstrap over images, percentiles with tails of t", _no_interval, _BOXES_RESAMPLES
)


def _boxes_of(record: BoxesRecord) -> boxes.BoxImage:
    """The boxes of a record. The prompt asks for the most certain first: first boxes rank before
    the second ones.
    """
    role, truth = record["role"], zip(record["truth"], record["types"], strict=True)
    return boxes.BoxImage(
        image_of(record),
        tuple(boxes.TrueBox(tuple(box), role, of_type) for box, of_type in truth),
        tuple(
            boxes.PredictedBox(tuple(box), role, 1 / (1 + place))
            for place, box in enumerate(record["predicted"])
        ),
    )


@lru_cache(maxsize=2 * (1 + len(BOX_TYPES)))  # of both thresholds, in each scope of both roles
def _precision(
    found: tuple[boxes.BoxImage, ...], role: Any, of_type: Any
) -> tuple[Estimate, Estimate] | None:
    """Average precision of one role at both thresholds, of all boxes or of those of one type."""
    both = boxes.average_precision(found, role, of_type, _BOXES_RESAMPLES)
    return None if both is None else (Estimate.of(*both[0]), Estimate.of(*both[1]))


def _average_precision(threshold: int, role: str) -> Measure:
    def estimate_of(records: Sequence[BoxesRecord], scope: str) -> Estimate | None:
        both = _precision(tuple(map(_boxes_of, records)), role, None if scope == OVERALL else scope)
        return None if both is None else both[(50, 70).index(threshold)]

    return Measure(
        f"mAP{threshold}_{role}",
        description=(
            f"Average precision of the boxes of the {role} concept; a hit overlaps by at least"
            f" {threshold} %."
        ),
        source=f"{_PAPER}, section 3.3 and Table 4",
        estimate_of=estimate_of,
        interval=_OF_BOXES,
        applies=lambda record: bool(record["role"] == role),
        # Boxes of other types are ignored, those that find nothing are wrong for each: every image
        # counts.
        scopes=Scopes(BOX_TYPES, lambda record: BOX_TYPES),
    )


LOCALIZE = _measures(
    *(_average_precision(threshold, role) for threshold in (50, 70) for role in ROLES),
    parse_rate(),
)

# --- draw it ---


def _of_pictures(
    metric: str, compute: Callable[[Sequence[PictureRecord]], Estimate]
) -> Callable[[Sequence[PictureRecord], str], Estimate | None]:
    """An estimate of all pictures, which is left out, with a note, where one is missing.

    A mean over the pictures that exist is not the mean over all prompts.
    """

    def estimate_of(records: Sequence[PictureRecord], scope: str) -> Estimate | None:
        try:
            if missing := [record["id"] for record in records if not record["file"]]:
                raise DataError(
                    f"{len(missing)} of {len(records)} pictures are missing or damaged, e.g. that"
                    f" for {min(missing)} (image_rate)"
                )
            return compute(sorted(records, key=image_of))
        except (generated_images.ImageMetricError, DataError) as error:
            message = f"{metric} is left out: {error}"
            logger.error(f"figlang_tasks: {message}")
            notes.note_failure(message)
            return None

    return estimate_of


def _clip_similarity(records: Sequence[PictureRecord]) -> Estimate:
    """The similarity of pictures and their prompts, 0 to 100 as the paper prints it."""
    found = generated_images.clip_similarity(
        OpenedPictures(records), [record["prompt"] for record in records]
    )
    logger.info(f"figlang_tasks: CLIP similarity: {found.signature}")
    return _mean(list(map(image_of, records)), found.per_image.tolist())


def _fid(records: Sequence[PictureRecord]) -> Estimate:
    """FID of generated pictures and their real counterparts; of fewer than the paper's 300 it is
    refused.
    """
    if len(records) < generated_images.PAPER_IMAGES:  # before the weights are loaded
        generated_images.fid(*(np.zeros((len(records), 2)),) * 2)
    real = generated_images.inception_features(
        images.decode({"path": record["id"]}, record["id"], _dataset(record)) for record in records
    )
    found = generated_images.fid(
        real, generated_images.inception_features(iter(OpenedPictures(records)))
    )
    logger.info(f"figlang_tasks: FID: {generated_images.fid_signature(len(records))}")
    return Estimate(found)


def _dataset(record: Record) -> str:
    return DataId.parse(record["data"]).dataset


def _has_picture(record: PictureRecord) -> float:
    """Whether there is a picture that can be opened."""
    return float(record["file"] is not None)


GENERATE = _measures(
    Measure(
        "clip_similarity",
        description="Mean CLIP similarity of the pictures and their prompts, 0 to 100.",
        source=f"{_PAPER}, section 3.4 and Table 5",
        estimate_of=_of_pictures("CLIP similarity", _clip_similarity),
        interval=BOOTSTRAP,
        percent=False,
        bounds=(-math.inf, math.inf),
    ),
    Measure(
        "image_rate",
        description="Share of prompts with a picture that can be opened.",
        source="figlang_tasks",
        value_of_record=_has_picture,
        role="diagnostic",
    ),
    Measure(
        "fid",
        description="Frechet inception distance of the pictures to the images of the benchmark.",
        source=f"{_PAPER}, section 3.4 and Table 5",
        estimate_of=_of_pictures("FID", _fid),
        interval=_NO_INTERVAL,
        # The mini benchmark has too few pictures
        applies=lambda record: _dataset(record) == DATASET,
        higher_is_better=False,
        percent=False,
        bounds=(0.0, math.inf),
    ),
)
