"""Exact match and BLEU-4, against an implementation written here and against sacrebleu's own entry points."""

from __future__ import annotations

import math
import re
from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.metrics import overlap

WORDS = st.lists(st.sampled_from("the cat sat on a mat flat Flat house 7".split()), max_size=9).map(" ".join)
PAIRS = st.lists(st.tuples(WORDS, WORDS), min_size=1, max_size=8)


def ngrams(tokens: list[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def bleu_by_hand(pairs: list[tuple[str, str]], effective: bool) -> float:
    """BLEU-4 of words between blanks (Papineni et al. 2002), zero counts halved in turn (Chen and Cherry 2014, 3)."""
    matched, possible, lengths = [0] * 4, [0] * 4, [0, 0]
    for candidate, reference in ((c.split(), r.split()) for c, r in pairs):
        lengths[0] += len(candidate)
        lengths[1] += len(reference)
        for n in range(4):
            have, want = ngrams(candidate, n + 1), ngrams(reference, n + 1)
            matched[n] += sum((have & want).values())
            possible[n] += sum(have.values())
    if not any(matched):
        return 0.0
    orders = sum(count > 0 for count in possible)
    if orders < 4 and not effective:
        return 0.0
    logs, penalty = 0.0, 1.0
    for n in range(orders):
        if matched[n]:
            logs += math.log(matched[n] / possible[n])
        else:
            penalty *= 2
            logs += math.log(1 / (penalty * possible[n]))
    brevity = min(0.0, 1 - lengths[1] / lengths[0])
    return math.exp(brevity + logs / orders)


@given(WORDS, WORDS)
def test_sentence_bleu_equals_one_by_hand_and_sacrebleu(candidate: str, reference: str) -> None:
    score = overlap.sentence_bleu4(overlap.bleu_statistics(candidate, reference))
    assert score == pytest.approx(bleu_by_hand([(candidate, reference)], effective=True), abs=1e-12)
    assert score == pytest.approx(sacrebleu.sentence_bleu(candidate, [reference]).score / 100, abs=1e-12)
    assert 0 <= score <= 1


@given(st.lists(PAIRS, min_size=1, max_size=3))
def test_corpus_bleu_of_several_corpora_equals_one_by_hand_and_sacrebleu(corpora: list[list[tuple[str, str]]]) -> None:
    sums = [np.sum([overlap.bleu_statistics(*pair) for pair in pairs], axis=0) for pairs in corpora]
    found = overlap.corpus_bleu4(sums).tolist()
    assert found == pytest.approx([bleu_by_hand(pairs, effective=False) for pairs in corpora], abs=1e-12)
    official = [sacrebleu.corpus_bleu([c for c, _ in pairs], [[r for _, r in pairs]]) for pairs in corpora]
    assert found == pytest.approx([each.score / 100 for each in official], abs=1e-12)


@pytest.mark.parametrize(
    ("prediction", "reference", "exact", "loose"),
    [
        (" flat\n", "flat", True, True),
        ("Flat.", "flat", False, True),
        ("the house", "a  house", False, True),
        ("house boat", "house", False, False),
        ("", "", False, False),
        ("...", "!", False, False),
        ("the", "a", False, False),
        ("A", "a", False, True),
    ],
)
def test_matches(prediction: str, reference: str, exact: bool, loose: bool) -> None:
    assert overlap.exact_match(prediction, reference) is exact
    assert overlap.relaxed_match(prediction, reference) is loose


@given(st.text())
def test_what_is_trimmed(text: str) -> None:
    outer = re.compile(r"\A[\W_]+|[\W_]+\Z")
    once = outer.sub("", outer.sub("", " ".join(text.casefold().split())))
    bare = re.sub(r"\A(?:the|an?)\s+(?=\S)", "", once)
    assert overlap.relaxed(text) == outer.sub("", outer.sub("", bare))


def test_signatures_name_what_makes_the_score() -> None:
    version = f"version:{sacrebleu.__version__}"
    sentence, corpus = overlap.signature(), overlap.signature(corpus=True)
    assert (
        sentence == f"nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|{version}|order:4|level:sentence|average:arithmetic"
    )
    assert corpus == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version}|order:4|level:corpus"
