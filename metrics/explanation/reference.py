"""BERTScore by the ``bert-score`` package itself, with its two faults on transformers 5 avoided from outside.

Selectable (``provider="bert-score"``) for whoever wants the original code, and the oracle of the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any

import torch

from .bertscore import MAX_TOKENS, clean
from .weights import Located, WeightsError

Pair = tuple[str, str]


class ReferenceBertScore:
    """BERTScore F1 of the ``bert-score`` package, float32, nothing cached.

    Args:
        located: the weights.
        layer: as in `BertScore`.
        device: ``auto`` (a GPU if there is one) or a torch device.
        batch_size: texts of a batch, as the package counts them.
    """

    def __init__(self, located: Located, layer: int, device: str = "auto", batch_size: int = 64) -> None:
        if "t5" in str(located.folder):
            raise WeightsError(f"bert-score takes {located.folder} for a T5 model, because of the t5 in it: rename it")
        self._located = located
        self._layer = layer
        self._device = device
        self._batch_size = batch_size
        self.identity = f"bert-score:{located.identity},layer:{layer},idf:no,rescale:no,max:{MAX_TOKENS}"

    def score(self, pairs: Sequence[Pair], advance: Callable[[int], object] = lambda done: None) -> dict[Pair, float]:
        """F1 of every distinct (reference, candidate) pair; see `BertScore.score`."""
        distinct = sorted(set(pairs))
        full = [pair for pair in distinct if all(clean(text) for text in pair)]
        scores = dict.fromkeys(distinct, 0.0)  # what the package gives empty texts where it does not fail on them
        advance(len(distinct) - len(full))
        if full:
            references, candidates = ([clean(pair[side]) for pair in full] for side in (0, 1))
            with torch.inference_mode():
                f1 = self._scorer.score(candidates, references, batch_size=self._batch_size)[2]
            scores |= zip(full, f1.tolist(), strict=True)
            advance(len(full))
        return scores

    def cached(self, pairs: Iterable[Pair]) -> dict[Pair, float]:
        """Nothing."""
        return {}

    def plan(self, pairs: Iterable[Pair]) -> list[list[Pair]]:
        """All in one part: with that package a score depends on the other pairs of its batch."""
        return [list(pairs)]

    def load(self) -> str:
        """Load nothing: one process scores all, on whatever device."""
        return self._device

    def release(self) -> None:
        """Free the model's memory."""
        self.__dict__.pop("_scorer", None)

    @cached_property
    def _scorer(self) -> Any:
        from bert_score import BERTScorer

        scorer = BERTScorer(
            model_type=str(self._located.folder),
            num_layers=self._layer,
            batch_size=self._batch_size,
            device=None if self._device == "auto" else self._device,
        )
        # Without a declared maximum the package asks for a cut at 1e30 tokens, which overflows.
        scorer._tokenizer.model_max_length = MAX_TOKENS
        return scorer
