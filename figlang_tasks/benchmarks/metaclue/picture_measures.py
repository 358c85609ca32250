"""The measures of generated pictures: FID and CLIP similarity (section 3.4, Table 5).

Both are computed from the pictures of a run (`figlang_tasks.metrics.generated_images`), and left
out, with a note, if one of these is missing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np
from loguru import logger
from PIL import Image

from figlang_tasks.benchmarks.metaclue.annotations import DATASET
from figlang_tasks.benchmarks.metaclue.estimates import NO_INTERVAL, PAPER, mean_over_images
from figlang_tasks.benchmarks.metaclue.generated import OpenedPictures
from figlang_tasks.benchmarks.metaclue.records import PictureRecord, image_of
from figlang_tasks.core import images, notes
from figlang_tasks.core.data_id import DataId
from figlang_tasks.core.errors import DataError
from figlang_tasks.metrics import generated_images
from figlang_tasks.scoring import BOOTSTRAP, Estimate, Measure


def _of_all_pictures(
    records: Sequence[PictureRecord],
    scope: str,
    metric_name: str,
    compute: Callable[[Sequence[PictureRecord]], Estimate],
) -> Estimate | None:
    """What `compute` makes of all pictures; None, with a note, if it fails or a picture is missing.

    A mean over the pictures that exist would not be the mean over all prompts.

    Args:
        records: the records of a run.
        scope: always ``all``: the measures of pictures have no other.
        metric_name: the name of the metric in messages.
        compute: computes the metric of records, which have a picture each, in the order of images.
    """
    try:
        _require_pictures(records)
        return compute(sorted(records, key=image_of))
    except (generated_images.ImageMetricError, DataError) as error:
        message = f"{metric_name} is left out: {error}"
        logger.error(f"figlang_tasks: {message}")
        notes.note_failure(message)
        return None


def _require_pictures(records: Sequence[PictureRecord]) -> None:
    """Raise a `DataError` if a record has no picture."""
    missing_ids = [record["id"] for record in records if not record["file"]]
    if missing_ids:
        raise DataError(
            f"{len(missing_ids)} of {len(records)} pictures are missing or damaged, e.g. that"
            f" for {min(missing_ids)} (image_rate)"
        )


def _clip_similarity(records: Sequence[PictureRecord]) -> Estimate:
    """The mean CLIP similarity of pictures and their prompts, 0 to 100 as in Table 5."""
    prompts = [record["prompt"] for record in records]
    similarity = generated_images.clip_similarity(OpenedPictures(records), prompts)
    logger.info(f"figlang_tasks: CLIP similarity: {similarity.signature}")
    image_names = [image_of(record) for record in records]
    return mean_over_images(image_names, similarity.per_image.tolist())


def _fid(records: Sequence[PictureRecord]) -> Estimate:
    """The Frechet inception distance between generated pictures and the advertisements themselves.

    Raises:
        ImageMetricError: there are fewer pictures than the paper's 300.
    """
    if len(records) < generated_images.PAPER_IMAGES:
        # `fid` refuses so few. It is called at once, before weights and pictures are loaded.
        placeholders = np.zeros((len(records), 2))
        generated_images.fid(placeholders, placeholders)
    real_features = generated_images.inception_features(_real_pictures(records))
    generated_features = generated_images.inception_features(iter(OpenedPictures(records)))
    distance = generated_images.fid(real_features, generated_features)
    logger.info(f"figlang_tasks: FID: {generated_images.fid_signature(len(records))}")
    return Estimate(distance)


def _real_pictures(records: Sequence[PictureRecord]) -> Iterator[Image.Image]:
    """Yield the advertisement that each generated picture stands for."""
    for record in records:
        image = record["id"]  # which is the path alone: an image has one document of this task
        yield images.decode({"path": image}, image, _dataset(record))


def _dataset(record: PictureRecord) -> str:
    """The dataset of a record: ``MetaCLUE``, or the mini benchmark."""
    return DataId.parse(record["data"]).dataset


def _has_enough_pictures(record: PictureRecord) -> bool:
    """Whether FID applies to a record: not in the mini benchmark, which has too few pictures."""
    return _dataset(record) == DATASET


def _has_picture(record: PictureRecord) -> float:
    """1 if there is a picture that can be opened, else 0."""
    return float(record["file"] is not None)


GENERATE_MEASURES = (
    Measure(
        "clip_similarity",
        description="Mean CLIP similarity of the pictures and their prompts, 0 to 100.",
        source=f"{PAPER}, section 3.4 and Table 5",
        estimate_of=partial(
            _of_all_pictures, metric_name="CLIP similarity", compute=_clip_similarity
        ),
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
        source=f"{PAPER}, section 3.4 and Table 5",
        estimate_of=partial(_of_all_pictures, metric_name="FID", compute=_fid),
        interval=NO_INTERVAL,
        applies=_has_enough_pictures,
        higher_is_better=False,
        percent=False,
        bounds=(0.0, math.inf),
    ),
)
