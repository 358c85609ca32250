"""What `vlm_requests.py` measures of model classes, and its tables."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from figlang_tasks.core.text import markdown_table

OURS = "figlang_vlm"
AIM = 2.0  # times as fast with batch 8 as the harness's class with batch 1
AIM_BATCH = 8


@dataclass(frozen=True)
class Variant:
    """A model class with a batch size.

    Attributes:
        class_name: as after ``--model``.
        batch: requests at a time.
        lm: the model class.
    """

    class_name: str
    batch: int
    lm: Any


@dataclass(frozen=True)
class Run:
    """One pass over the requests; all times in seconds.

    Attributes:
        wall: from the first request to the last answer.
        wall_generate: of `wall`, in the model's ``generate``.
        all_threads: the processor's time of all threads.
        model_thread: the processor's time of the thread that runs the model.
        generate: of `model_thread`, in the model's ``generate``.
        answers: in the order of the requests.
    """

    wall: float
    wall_generate: float
    all_threads: float
    model_thread: float
    generate: float
    answers: Sequence[str]


@dataclass(frozen=True)
class VariantRuns:
    """A variant, and its runs: one for each round."""

    variant: Variant
    runs: Sequence[Run]

    @property
    def name(self) -> str:
        return f"{self.variant.class_name} at batch {self.variant.batch}"

    def median(self, attribute: str) -> float:
        """The median of an attribute of the runs."""
        return statistics.median(getattr(run, attribute) for run in self.runs)

    def times_as_fast_as(self, baseline: VariantRuns) -> float:
        """How many times as fast it is as a baseline, in wall time: the median of the rounds."""
        ratios: list[float] = []
        for baseline_run, candidate_run in zip(baseline.runs, self.runs, strict=True):
            ratios.append(baseline_run.wall / candidate_run.wall)
        return statistics.median(ratios)


def table(measured: Sequence[VariantRuns], rows: int) -> str:
    """The table of all variants of a family.

    Args:
        measured: the harness's class at batch 1 first.
        rows: requests of a run.
    """
    baseline = measured[0]
    lines = [
        [
            "model class",
            "batch",
            "requests a second",
            f"{baseline.variant.class_name} at batch 1",
            "at this batch",
            "idle",
            "ms a request: model's thread",
            "in generate",
            "all threads",
        ]
    ]
    for candidate in measured:
        same_batch = same_batch_baseline(measured, candidate)
        ratio = "–"
        if same_batch is not None:
            ratio = f"{candidate.times_as_fast_as(same_batch):.2f}x"
        idle = 1 - candidate.median("wall_generate") / candidate.median("wall")
        line = [
            candidate.variant.class_name,
            str(candidate.variant.batch),
            f"{rows / candidate.median('wall'):.2f}",
            f"{candidate.times_as_fast_as(baseline):.2f}x",
            ratio,
            f"{100 * idle:.0f} %",
        ]
        for attribute in ("model_thread", "generate", "all_threads"):
            line.append(f"{1000 * candidate.median(attribute) / rows:.0f}")
        lines.append(line)
    return markdown_table(lines)


def same_batch_baseline(
    measured: Sequence[VariantRuns], candidate: VariantRuns
) -> VariantRuns | None:
    """The harness's class at the batch size of a variant; None if it does not take it."""
    for baseline in measured:
        is_harness = baseline.variant.class_name != OURS
        if is_harness and baseline.variant.batch == candidate.variant.batch:
            return baseline
    return None


def bounds(measured: Sequence[VariantRuns]) -> str:
    """How fast each batch could be at most: the processor's time of ``generate`` alone."""
    baseline = measured[0]
    parts: list[str] = []
    for candidate in measured:
        if candidate.variant.class_name == OURS:
            ratio = baseline.median("model_thread") / candidate.median("generate")
            parts.append(f"{ratio:.2f}x at batch {candidate.variant.batch}")
    return f"If pictures cost nothing: {', '.join(parts)}, against {baseline.name}."


def differing_answers(measured: Sequence[VariantRuns]) -> str:
    """How many answers of each variant differ from those of the harness's class at batch 1."""
    expected = measured[0].runs[0].answers
    parts: list[str] = []
    for candidate in measured[1:]:
        pairs = zip(expected, candidate.runs[0].answers, strict=True)
        count = sum(first != second for first, second in pairs)
        parts.append(f"{candidate.name}: {count}")
    return (
        f"Answers unlike those of {measured[0].name}: {'; '.join(parts)}. Of {len(expected)},"
        f" {len(set(expected))} are distinct."
    )


def meets_aims(measured: Sequence[VariantRuns]) -> bool:
    """Whether figlang_vlm is nowhere slower than the harness's class, and reaches `AIM`."""
    baseline = measured[0]
    for candidate in measured:
        if candidate.variant.class_name != OURS:
            continue
        same_batch = same_batch_baseline(measured, candidate) or baseline
        if candidate.times_as_fast_as(same_batch) < 1:
            return False
        if candidate.variant.batch == AIM_BATCH and candidate.times_as_fast_as(baseline) < AIM:
            return False
    return True
