"""Caption metrics of COCO's evaluation code: BLEU-4, ROUGE-L, CIDEr, METEOR, SPICE; exact match.

Numbers come from pycocoevalcap, the Python 3 form of COCO's code, whose BLEU, ROUGE-L and CIDEr
need no Java once the text is tokenised; METEOR and SPICE run in a process of their own, since
pycocoevalcap waits for ever after an exception. What is ours is the tokeniser in place of
Stanford's (`tokenize`).

Everything is 0 to 1, except CIDEr, which is 0 to 10 (CIDEr-D times ten, so that MetaCLUE's 1.076 is
such a number). What the corpus value is, differs:

- exact match, ROUGE-L, CIDEr, SPICE: the mean over images. CIDEr weighs n-grams by the images of
  this corpus whose references have them. So it cannot be compared between test sets, and is 0 for a
  corpus of one image.
- BLEU-4: one score of summed counts. Of a candidate with fewer than four words the score *per
  image* is next to 0 even if it is right (3e-5 for one word), as there is no smoothing worth the
  name.
- METEOR: one score of summed statistics, which the mean over images differs from slightly.

Source: MetaCLUE (arXiv 2212.09898), section 3.2 and Table 3, which cites BLEU, ROUGE-L, METEOR,
SPICE and CIDEr, and does not name the code.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .array_types import Floats
from .caption_java import java_metrics
from .caption_tokens import TOKENIZER, tokenize, tokenize_pairs
from .corpus_metric import Metric

__all__ = [
    "CaptionScores",
    "Metric",
    "bleu4",
    "caption_scores",
    "exact_match",
    "java_metrics",
    "tokenize",
]

Ints: TypeAlias = npt.NDArray[np.int64]

ORDER = 4
"""The longest n-grams of BLEU-4."""


@dataclass(frozen=True)
class CaptionScores:
    """All metrics of one corpus.

    Attributes:
        metrics: by name: ``em``, ``bleu4``, ``rouge_l``, ``cider``.
        bleu_statistics: int64 array of shape [n, 10] for `bleu4`: tokens of the candidate, tokens
            of the reference nearest in length, matching n-grams for n = 1 to 4, all n-grams of the
            candidate for n = 1 to 4.
        signature: what the scores were computed with.
    """

    metrics: Mapping[str, Metric]
    bleu_statistics: Ints
    signature: str


def exact_match(candidate: str, references: Sequence[str]) -> bool:
    """Whether the candidate has the same tokens, in the same order, as any of the references.

    So case, punctuation, white space and the shape of quotes and dashes do not matter; articles do.
    The paper says "exact match accuracy (maximum over all references)" and nothing about
    normalisation; its other metrics all compare these tokens.

    Args:
        candidate: a text; without tokens it matches nothing.
        references: texts, any number.

    Returns:
        bool.

    Examples:
        >>> exact_match("Love.", ["hate", "love"])
        True

    Source: MetaCLUE, section 3.2.
    """
    tokens = tokenize(candidate)
    return bool(tokens) and any(tokenize(reference) == tokens for reference in references)


def caption_scores(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> CaptionScores:
    """Exact match, BLEU-4, ROUGE-L and CIDEr of captions (or answers).

    Each candidate is compared with one or more references.

    Args:
        candidates: n texts, at least one. One without tokens (an answer that could not be read is
            ``""``) scores 0.
        references: for each candidate at least one text, each with at least one token.

    Returns:
        `CaptionScores`: each metric of the corpus and of the n candidates, 0 to 1 (CIDEr: 0 to 10).

    Raises:
        ValueError: no candidates, unequal numbers, or a candidate without references or with one
            that has no token (names its index).

    Examples:
        >>> references = [["love is blind"], ["love", "a strong dislike"]]
        >>> scores = caption_scores(["love is blind", "hate"], references)
        >>> {name: round(metric.value, 3) for name, metric in scores.metrics.items()}
        {'em': 0.5, 'bleu4': 0.029, 'rouge_l': 0.5, 'cider': 3.75}

    Source: MetaCLUE, section 3.2 and Table 3; the formulas are those of pycocoevalcap.
    """
    from pycocoevalcap.bleu.bleu_scorer import BleuScorer
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    tokenized_candidates, tokenized_references = tokenize_pairs(candidates, references)
    bleu = BleuScorer(n=ORDER)
    hits: list[float] = []
    for text, texts in zip(tokenized_candidates, tokenized_references, strict=True):
        bleu += (text, texts)  # adds a candidate and its references
        hits.append(float(text in texts and text != ""))
    # Both by order of n-grams, 1 to 4: values of the corpus, and values of its images.
    bleu_values, bleu_per_image = bleu.compute_score(option="closest", verbose=0)
    bleu_statistics = [_bleu_row(comparison) for comparison in bleu.ctest]
    # ROUGE-L and CIDEr take lists of texts by the id of the image, one candidate in each.
    references_by_id = dict(enumerate(tokenized_references))
    candidates_by_id = {index: [text] for index, text in enumerate(tokenized_candidates)}
    rouge_value, rouge_per_image = Rouge().compute_score(references_by_id, candidates_by_id)
    cider_value, cider_per_image = Cider().compute_score(references_by_id, candidates_by_id)

    metrics = {
        "em": _metric(np.array(hits).mean(), hits),
        # Its constants against division by 0 make a perfect score a little less, and never more,
        # than 1.
        "bleu4": _metric(bleu_values[ORDER - 1], bleu_per_image[ORDER - 1]),
        "rouge_l": _metric(rouge_value, rouge_per_image),
        "cider": _metric(cider_value, cider_per_image),
    }
    return CaptionScores(metrics, np.array(bleu_statistics, dtype=np.int64), signature(metrics))


def _metric(value: float, per_image: npt.ArrayLike) -> Metric:
    return Metric(float(value), np.asarray(per_image, dtype=np.float64))


def _bleu_row(comparison: Mapping[str, Any]) -> list[int]:
    """A row of `CaptionScores.bleu_statistics`, from pycocoevalcap's comparison of an image.

    Args:
        comparison: ``testlen``, tokens of the candidate; ``reflen``, tokens of each reference;
            ``correct`` and ``guess``, the matching and all n-grams for n = 1 to 4.
    """
    length = comparison["testlen"]
    # The shorter of two that are equally near
    _, nearest_length = min((abs(n - length), n) for n in comparison["reflen"])
    return [length, nearest_length, *comparison["correct"], *comparison["guess"]]


def signature(metrics: Mapping[str, Metric]) -> str:
    """The signature of metrics: their names, the tokenizer and the version of pycocoevalcap.

    E.g. ``coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2``.
    """
    return (
        f"coco|{','.join(metrics)}|case:lower|tok:{TOKENIZER}"
        f"|pycocoevalcap:{version('pycocoevalcap')}"
    )


def bleu4(statistics: npt.ArrayLike) -> Floats:
    """COCO's corpus BLEU-4 from summed statistics.

    With c tokens of the candidates and r of the nearest references::

        BLEU-4 = min(1, exp(1 - r / c)) * (product over n = 1 to 4 of matches_n / ngrams_n) ** (1/4)

    up to the constants that pycocoevalcap adds against division by 0.

    Args:
        statistics: shape [..., 10], sums over images of the rows of
            `CaptionScores.bleu_statistics`.

    Returns:
        float64 array of shape [...], each in [0, 1].

    Examples:
        >>> round(float(bleu4([10, 10, 8, 6, 4, 2, 10, 9, 8, 7])), 3)
        0.525

    Source: Papineni et al. 2002; pycocoevalcap, ``bleu/bleu_scorer.py``.
    """
    sums = np.asarray(statistics, dtype=np.float64)
    candidate_length = sums[..., 0]
    reference_length = sums[..., 1]
    matches = sums[..., 2 : 2 + ORDER]
    ngrams = sums[..., 2 + ORDER :]
    # The constants are pycocoevalcap's; they decide what a corpus without any 4-gram gets.
    precision = np.prod((matches + 1e-15) / (ngrams + 1e-9), axis=-1) ** (1 / ORDER)
    length_ratio = (candidate_length + 1e-15) / (reference_length + 1e-9)
    brevity_penalty = np.exp(np.minimum(0.0, 1 - 1 / length_ratio))
    return np.asarray(precision * brevity_penalty, dtype=np.float64)
