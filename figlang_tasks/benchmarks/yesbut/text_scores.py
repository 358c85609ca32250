"""BLEU and METEOR of one explanation and its reference, 0 to 1 (section 5.2).

The paper names the package ``evaluate`` for BLEU and METEOR, and no settings. Each table has the
mean over rows.
"""

from __future__ import annotations

import threading
from functools import cache
from typing import Final

from loguru import logger

from figlang_tasks.core import notes
from figlang_tasks.metrics import overlap

GET_WORDNET: Final = "python -m nltk.downloader wordnet punkt_tab"
"""The command that downloads what METEOR needs. A run downloads nothing."""

_LOCK = threading.Lock()  # two threads must not load WordNet at once


def sentence_bleu(candidate: str, reference: str) -> float:
    """BLEU-4 of one pair of texts without smoothing: 0 unless four words in a row are equal.

    ``evaluate`` computes it so from tokens of mteval-v13a, which keep their case.
    """
    return overlap.sentence_bleu4(overlap.bleu_statistics(candidate, reference), smooth=False)


def sentence_meteor(candidate: str, reference: str) -> float | None:
    """METEOR of one pair of texts as ``evaluate`` computes it; None where WordNet is missing."""
    with _LOCK:
        if not has_wordnet():
            return None
    return _meteor(candidate, reference)


@cache
def has_wordnet() -> bool:
    """Whether METEOR can be computed here; if not, the log says once what to install."""
    try:
        _meteor("one word", "another word")  # loads WordNet and the tokenizer
    except (LookupError, OSError) as error:
        first_line = str(error).strip().strip("*\n ").partition("\n")[0].strip()
        logger.error(
            "figlang_tasks: sentence_meteor and average are missing: NLTK has no whole WordNet and"
            f" punkt_tab here ({first_line}). Run `{GET_WORDNET}`, then `figlang score"
            " SAMPLES.jsonl` adds them to saved samples (--log_samples)"
        )
        notes.note_failure("sentence_meteor and average are missing: there is no WordNet here")
        return False
    return True


def _meteor(candidate: str, reference: str) -> float:
    """METEOR by NLTK, with the arguments and the tokenizer of ``evaluate``.

    Raises:
        LookupError: WordNet or the tokenizer is not there.
        OSError: some of its files are not there.
    """
    from nltk import word_tokenize
    from nltk.translate.meteor_score import single_meteor_score

    # evaluate 0.4, metrics/meteor, whose defaults are those of NLTK
    score = single_meteor_score(
        word_tokenize(reference), word_tokenize(candidate), alpha=0.9, beta=3, gamma=0.5
    )
    return float(score)
