"""Exact match and BLEU-4 of a text with one reference, by sacrebleu, from statistics per pair.

Sentence BLEU-4 is averaged over the pairs; corpus BLEU-4 is one score of the summed statistics.
Which of the two a paper means it often does not say. On one-word answers corpus BLEU without higher
n-grams is near 0, so a reported BLEU-4 *above* the exact match (NYK-MS, arXiv 2409.01037, Table 9:
EM 29.75, BLEU-4 33.60 at 1.67 words an answer) can only be the averaged sentence score with
effective order, which is the default here.

All scores are 0 to 1 (sacrebleu's are 0 to 100).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from sacrebleu.metrics import BLEU

__all__ = ["bleu_statistics", "corpus_bleu4", "exact_match", "relaxed_match", "sentence_bleu4"]

ORDER = 4


def exact_match(prediction: str, reference: str) -> bool:
    """Whether the texts are the same but for white space around them.

    Args:
        prediction, reference: two texts.

    Returns:
        bool; False of two empty texts.

    Examples:
        >>> exact_match(" love", "love"), exact_match("Love", "love")
        (True, False)
    """
    return bool(prediction.strip()) and prediction.strip() == reference.strip()


_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")


def _relaxed(text: str) -> str:
    """The text in lower case, without punctuation around it, a leading article, or repeated white
    space.
    """
    return _bare(_ARTICLE.sub("", _bare(" ".join(text.casefold().split()))))


def _bare(text: str) -> str:
    """The text from its first letter or digit to its last; by index, since a pattern for the end
    takes square time.
    """
    start, end = 0, len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


def relaxed_match(prediction: str, reference: str) -> bool:
    """Whether the texts are the same but for case, punctuation around them, a leading article, and
    white space.

    Args:
        prediction, reference: two texts.

    Returns:
        bool; False of two texts of which nothing is left.

    Examples:
        >>> relaxed_match("The love.", "love")
        True
    """
    return bool(_relaxed(prediction)) and _relaxed(prediction) == _relaxed(reference)


@lru_cache(maxsize=2)
def _bleu(effective_order: bool) -> BLEU:
    from sacrebleu.metrics import BLEU

    bleu = BLEU(effective_order=effective_order)
    # Only then does it know the number of references, which its signature tells
    bleu.corpus_score(["a"], [["a"]])
    return bleu


def signature(corpus: bool = False) -> str:
    """The signature of `corpus_bleu4`, or else of `sentence_bleu4`, in sacrebleu's form:
    ``nrefs:1|case:mixed|...``.
    """
    level = "corpus" if corpus else "sentence|average:arithmetic"
    return f"{_bleu(not corpus).get_signature()}|order:{ORDER}|level:{level}"


def bleu_statistics(candidate: str, reference: str) -> list[int]:
    """The ten numbers that BLEU-4 of a pair is made of, tokenized as by mteval-v13a (sacrebleu's
    default), case kept.

    Args:
        candidate, reference: two texts.

    Returns:
        Tokens of the candidate and of the reference; the n-grams of the candidate that the
        reference has too, clipped, for n = 1 to 4; all n-grams of the candidate, likewise.

    Examples:
        >>> bleu_statistics("love is blind", "love is deaf")
        [3, 3, 2, 1, 0, 0, 3, 2, 1, 0]
    """
    score = _bleu(True).sentence_score(candidate, [reference])
    return [int(number) for number in (score.sys_len, score.ref_len, *score.counts, *score.totals)]


def sentence_bleu4(statistics: Sequence[int]) -> float:
    """BLEU-4 of one pair: effective order (n-grams longer than the candidate are left out),
    exponential smoothing.

    Args:
        statistics: of the pair, as of `bleu_statistics`.

    Returns:
        A float in [0, 1]; 0 where no word matches, so also for an empty candidate.

    Examples:
        >>> round(sentence_bleu4(bleu_statistics("love is blind", "love is deaf")), 3)
        0.55
    """
    from sacrebleu.metrics import BLEU

    candidate, reference, *ngrams = statistics
    found = BLEU.compute_bleu(
        ngrams[:ORDER],
        ngrams[ORDER:],
        candidate,
        reference,
        smooth_method="exp",
        effective_order=True,
    )
    return min(1.0, found.score / 100)  # a perfect score comes out as 100.00000000000004


def corpus_bleu4(sums: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """BLEU-4 of many sums of statistics at once: sacrebleu's ``corpus_bleu`` with its defaults.

    Args:
        sums: shape [..., 10]: `bleu_statistics`, summed over pairs.

    Returns:
        float64 of shape [...], each in [0, 1].

    Raises:
        ValueError: a sum that is negative or not finite.

    Examples:
        >>> round(float(corpus_bleu4([10, 10, 8, 6, 4, 2, 10, 9, 8, 7])), 3)
        0.525
    """
    given = np.asarray(sums, dtype=np.float64)
    if not ((given >= 0) & np.isfinite(given)).all():
        raise ValueError("sums of statistics must be finite and not negative")
    candidate, reference = given[..., 0], given[..., 1]
    matches, ngrams = given[..., 2 : 2 + ORDER], given[..., 2 + ORDER :]
    with np.errstate(divide="ignore", invalid="ignore"):
        # Smoothing "exp": the k-th order without a match counts as 1 / 2^k matches.
        smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1))
        logs = np.log(smoothed / ngrams).mean(axis=-1)
        brevity = np.exp(np.minimum(0.0, 1 - reference / candidate))
        scores = brevity * np.exp(logs)
    # An order without n-grams, or no match at all, scores 0.
    scored = (ngrams > 0).all(axis=-1) & (matches > 0).any(axis=-1) & (candidate > 0)
    return np.asarray(np.where(scored, np.minimum(scores, 1.0), 0.0))
