"""Exact match or BLEU-4 of one reference is not sacrebleu's if this fails."""

from __future__ import annotations

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.metrics import overlap

WORDS = st.lists(st.sampled_from("the cat sat on a mat flat Flat house 7".split()), max_size=9).map(
    " ".join
)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8)


@given(WORDS, WORDS)
def test_sentence_bleu_equals_sacrebleu(candidate: str, reference: str) -> None:
    score = overlap.sentence_bleu4(overlap.bleu_statistics(candidate, reference))
    expected = sacrebleu.sentence_bleu(candidate, [reference]).score / 100
    assert score == pytest.approx(expected, abs=1e-12)
    assert 0 <= score <= 1


@given(st.lists(PAIRS, min_size=1, max_size=3))
def test_corpus_bleu_of_several_corpora_equals_sacrebleu(
    corpora: list[list[tuple[str, str]]],
) -> None:
    sums: list[list[int]] = []
    expected: list[float] = []
    for pairs in corpora:
        sums.append(np.sum([overlap.bleu_statistics(*pair) for pair in pairs], axis=0))
        candidates, references = zip(*pairs, strict=True)
        expected.append(sacrebleu.corpus_bleu(candidates, [references]).score / 100)
    assert overlap.corpus_bleu4(sums).tolist() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "reference", "is_exact", "is_relaxed"),
    [
        (" flat\n", "flat", True, True),
        ("Flat.", "flat", False, True),
        ("the house", "a  house", False, True),
        ("house boat", "house", False, False),
        ("...", "!", False, False),
        ("the", "a", False, False),
        ("A", "a", False, True),
        ("(An  'Ape'!)_", "ape", False, True),
    ],
)
def test_exact_and_relaxed_matches(
    prediction: str, reference: str, is_exact: bool, is_relaxed: bool
) -> None:
    assert overlap.exact_match(prediction, reference) is is_exact
    assert overlap.relaxed_match(prediction, reference) is is_relaxed


def test_signatures_name_what_makes_the_score() -> None:
    options = f"tok:13a|smooth:exp|version:{sacrebleu.__version__}|order:4"
    assert (
        overlap.signature()
        == f"nrefs:1|case:mixed|eff:yes|{options}|level:sentence|average:arithmetic"
    )
    assert overlap.signature(corpus=True) == f"nrefs:1|case:mixed|eff:no|{options}|level:corpus"


@pytest.mark.parametrize("number", [np.nan, np.inf, -1.0])
def test_sums_that_are_no_counts_are_refused(number: float) -> None:
    with pytest.raises(ValueError, match="finite and not negative"):
        overlap.corpus_bleu4([10, 10, 8, 6, 4, number, 10, 9, 8, 7])
