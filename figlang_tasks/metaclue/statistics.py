"""Sufficient statistics of MetaCLUE samples (``figlang_tasks.statistics``).

Images are resampled, not the questions about one. Average precision, METEOR and FID are no functions of sums.
"""

from __future__ import annotations

from collections.abc import Sequence

from figlang_tasks.metrics import captions
from figlang_tasks.metrics.significance import Statistic
from figlang_tasks.statistics import Line, columns, grouped, means, of_ratio

_MEANS = ("em", "rouge_l", "cider")


def statistics(lines: Sequence[Line]) -> dict[str, Statistic]:
    """Each metric of a samples file, by name."""
    found = means(lines)
    for name, own in columns(lines).items():
        if name == "em" or name.startswith("em_"):
            found |= _of_texts(name.removeprefix("em"), [line[name] for line in own])
    return found


def _of_texts(scope: str, texts: Sequence[Sequence]) -> dict[str, Statistic]:
    """The metrics of captions or answers: each text is its id, what was said, and the references."""
    images = [str(text[0]).partition("#")[0] for text in texts]
    scores = captions.caption_scores([text[1] for text in texts], [tuple(text[2]) for text in texts])
    found = {
        metric + scope: of_ratio(images, list(scores.metrics[metric].per_image), [1.0] * len(texts))
        for metric in _MEANS
    }
    return found | {f"bleu4{scope}": grouped(images, scores.bleu_statistics, captions.bleu4)}
