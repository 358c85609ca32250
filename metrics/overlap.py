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
    """Whether two texts are the same but for white space around them.

    Args:
        prediction, reference: two texts.

    Returns:
        bool; False for two empty texts.

    Examples:
        >>> exact_match(" love", "love"), exact_match("Love", "love")
        (True, False)

    Source: NYK-MS, Table 9 (EM).
    """
    return bool(prediction.strip()) and prediction.strip() == reference.strip()


def relaxed_match(prediction: str, reference: str) -> bool:
    """Whether two texts are the same but for case, outer punctuation, an article and white space.

    Only a leading article is left out, and only punctuation around the text.

    Args:
        prediction, reference: two texts.

    Returns:
        bool; False for two texts of which nothing is left.

    Examples:
        >>> relaxed_match("The love.", "love")
        True
    """
    relaxed_prediction = _relaxed(prediction)
    return bool(relaxed_prediction) and relaxed_prediction == _relaxed(reference)


_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=\S)")


def _relaxed(text: str) -> str:
    """The text as `relaxed_match` compares it."""
    with_single_blanks = " ".join(text.casefold().split())
    without_article = _ARTICLE.sub("", _without_outer_punctuation(with_single_blanks))
    return _without_outer_punctuation(without_article)


def _without_outer_punctuation(text: str) -> str:
    """The text from its first letter or digit to its last."""
    # By index, since a pattern for the end of the text takes quadratic time.
    start = 0
    end = len(text)
    while start < end and not text[start].isalnum():
        start += 1
    while start < end and not text[end - 1].isalnum():
        end -= 1
    return text[start:end]


@lru_cache(maxsize=2)
def _bleu(effective_order: bool) -> BLEU:
    """sacrebleu's BLEU; with effective order, n-grams longer than a candidate do not count."""
    from sacrebleu.metrics import BLEU

    bleu = BLEU(effective_order=effective_order)
    # Only after a score does it know the number of references, which its signature names.
    bleu.corpus_score(["a"], [["a"]])
    return bleu


def signature(corpus: bool = False) -> str:
    """The signature of `sentence_bleu4`, or of `corpus_bleu4`, in sacrebleu's form.

    E.g. ``nrefs:1|case:mixed|...``.

    Args:
        corpus: whether it is that of `corpus_bleu4`.
    """
    level = "corpus" if corpus else "sentence|average:arithmetic"
    bleu = _bleu(effective_order=not corpus)
    return f"{bleu.get_signature()}|order:{ORDER}|level:{level}"


def bleu_statistics(candidate: str, reference: str) -> list[int]:
    """The ten counts of a pair of texts that BLEU-4 is computed from.

    Texts are tokenized as by mteval-v13a (sacrebleu's default), and keep their case.

    Args:
        candidate, reference: two texts.

    Returns:
        Tokens of the candidate; tokens of the reference; for n = 1 to 4 the n-grams of the
        candidate that the reference has too, clipped; for n = 1 to 4 all n-grams of the candidate.

    Examples:
        >>> bleu_statistics("love is blind", "love is deaf")
        [3, 3, 2, 1, 0, 0, 3, 2, 1, 0]

    Source: Papineni et al. 2002; sacrebleu (Post 2018).
    """
    score = _bleu(effective_order=True).sentence_score(candidate, [reference])
    counts = (score.sys_len, score.ref_len, *score.counts, *score.totals)
    return [int(count) for count in counts]


def sentence_bleu4(statistics: Sequence[int], smooth: bool = True) -> float:
    """BLEU-4 of one pair of texts, by default with effective order and exponential smoothing.

    With c tokens of the candidate and r of the reference, and N the longest n-grams that the
    candidate has, at most 4::

        min(1, exp(1 - r / c)) * (product over n = 1 to N of matches_n / ngrams_n) ** (1 / N)

    where the k-th order without a match counts as ``1 / 2**k`` matches.

    Args:
        statistics: the ten numbers of the pair, from `bleu_statistics`.
        smooth: False for N = 4 and no smoothing: 0 unless four tokens in a row match.

    Returns:
        A float in [0, 1]; 0 where no word matches, so also for an empty candidate.

    Examples:
        >>> round(sentence_bleu4(bleu_statistics("love is blind", "love is deaf")), 3)
        0.55

    Source: Papineni et al. 2002; sacrebleu's ``sentence_bleu``.
    """
    from sacrebleu.metrics import BLEU

    candidate_length, reference_length, *counts = statistics
    bleu = BLEU.compute_bleu(
        correct=counts[:ORDER],
        total=counts[ORDER:],
        sys_len=candidate_length,
        ref_len=reference_length,
        smooth_method="exp" if smooth else "none",
        effective_order=smooth,
    )
    return min(1.0, bleu.score / 100)  # a perfect score comes out as 100.00000000000004


def corpus_bleu4(sums: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """BLEU-4 of many corpora at once, from summed statistics: sacrebleu's ``corpus_bleu``.

    With c tokens of the candidates and r of the references::

        min(1, exp(1 - r / c)) * (product over n = 1 to 4 of matches_n / ngrams_n) ** (1 / 4)

    where the k-th order without a match counts as ``1 / 2**k`` matches.

    Args:
        sums: shape [..., 10]: `bleu_statistics`, summed over pairs.

    Returns:
        float64 of shape [...], each in [0, 1]; 0 where an order has no n-grams, or none matches.

    Raises:
        ValueError: a sum that is negative or not finite.

    Examples:
        >>> round(float(corpus_bleu4([10, 10, 8, 6, 4, 2, 10, 9, 8, 7])), 3)
        0.525

    Source: Papineni et al. 2002; sacrebleu (Post 2018), with its defaults.
    """
    statistics = np.asarray(sums, dtype=np.float64)
    if not ((statistics >= 0) & np.isfinite(statistics)).all():
        raise ValueError("sums of statistics must be finite and not negative")
    candidate = statistics[..., 0]
    reference = statistics[..., 1]
    matches = statistics[..., 2 : 2 + ORDER]
    ngrams = statistics[..., 2 + ORDER :]
    with np.errstate(divide="ignore", invalid="ignore"):
        smoothed = np.where(matches > 0, matches, 0.5 ** np.cumsum(matches == 0, axis=-1))
        log_precision = np.log(smoothed / ngrams).mean(axis=-1)
        brevity = np.exp(np.minimum(0.0, 1 - reference / candidate))
        scores = brevity * np.exp(log_precision)
    has_score = (ngrams > 0).all(axis=-1) & (matches > 0).any(axis=-1) & (candidate > 0)
    return np.asarray(np.where(has_score, np.minimum(scores, 1.0), 0.0))
