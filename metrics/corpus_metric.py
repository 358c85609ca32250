"""The value of a metric for a corpus and for each of its images."""

from __future__ import annotations

from dataclasses import dataclass

from .array_types import Floats


@dataclass(frozen=True)
class Metric:
    """One metric over a corpus.

    Attributes:
        value: of the corpus; the mean of `per_image`, except for BLEU-4 and METEOR.
        per_image: float64 array of shape [n], in the order of the input.
    """

    value: float
    per_image: Floats
