"""What the modules that declare MetaCLUE's measures share: the paper, and how estimates are made.

Average precision, METEOR, SPICE, FID and CLIP similarity are computed by an ``estimate_of`` of
their own (`figlang_tasks.scoring.Measure`), which makes value and interval in one go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from figlang_tasks.metrics import intervals
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.scoring import BOOTSTRAP, Estimate, IntervalMethod, ratio
from figlang_tasks.scoring.evaluation import STDERR_RESAMPLES

PAPER: Final = "MetaCLUE, arXiv 2212.09898"


def mean_over_images(images: Sequence[str], scores: Sequence[float]) -> Estimate:
    """The mean of scores, with its bootstrap interval and standard error over images.

    Args:
        images: the image that each score is about; scores of one image are resampled together.
        scores: one score per record.
    """
    mean = ratio(images, scores)
    stderr = intervals.standard_error(mean.rows, mean.value, STDERR_RESAMPLES)
    return Estimate.of(mean.total(), BOOTSTRAP.interval_of(mean), stderr)


def no_interval(statistic: Statistic) -> None:
    """None: the measure has no interval, or its ``estimate_of`` makes the interval itself."""


NO_INTERVAL: Final = IntervalMethod("none", no_interval)
