"""Exact match and BLEU-4, against an implementation written here and against sacrebleu's own entry points."""

from __future__ import annotations

import itertools
import math
import re
import time
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


@given(PAIRS)
def test_corpus_and_mean(pairs: list[tuple[str, str]]) -> None:
    found = [overlap.bleu_statistics(candidate, reference) for candidate, reference in pairs]
    corpus = overlap.corpus_bleu4(found)
    assert corpus == pytest.approx(bleu_by_hand(pairs, effective=False), abs=1e-12)
    official = sacrebleu.corpus_bleu([c for c, _ in pairs], [[r for _, r in pairs]])
    assert corpus == pytest.approx(official.score / 100, abs=1e-12)
    mean = sum(bleu_by_hand([pair], effective=True) for pair in pairs) / len(pairs)
    assert overlap.sentence_bleu4_mean(found) == pytest.approx(mean, abs=1e-12)


@given(PAIRS, st.randoms())
def test_nothing_depends_on_the_order(pairs: list[tuple[str, str]], random: object) -> None:
    found = [overlap.bleu_statistics(*pair) for pair in pairs]
    mixed = list(found)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert overlap.corpus_bleu4(mixed) == overlap.corpus_bleu4(found)
    assert overlap.sentence_bleu4_mean(mixed) == overlap.sentence_bleu4_mean(found)
    assert overlap.corpus_bleu4_of_sums(overlap.matrix(mixed).sum(axis=0)) == pytest.approx(overlap.corpus_bleu4(found))


@given(st.text(), st.text())
def test_any_text_is_scored(candidate: str, reference: str) -> None:
    statistics = overlap.bleu_statistics(candidate, reference)
    assert 0 <= overlap.sentence_bleu4(statistics) <= 1
    assert 0 <= overlap.corpus_bleu4([statistics]) <= 1
    assert isinstance(overlap.exact_match(candidate, reference), bool)
    assert isinstance(overlap.relaxed_match(candidate, reference), bool)


@pytest.mark.parametrize(
    ("candidate", "reference", "score"),
    [
        ("flat", "flat", 1.0),
        ("Flat", "flat", 0.0),  # case counts
        ("flat.", "flat", (1 / 2 * 1 / 2) ** 0.5),  # the full stop is a token: 1 of 2 words, no bigram (halved)
        ("a house", "house", (1 / 2 * 1 / 2) ** 0.5),
        ("", "flat", 0.0),
        ("flat", "house", 0.0),
        ("the cat", "the cat sat", math.exp(1 - 3 / 2)),
    ],
)
def test_short_answers(candidate: str, reference: str, score: float) -> None:
    assert overlap.sentence_bleu4(overlap.bleu_statistics(candidate, reference)) == pytest.approx(score)


def test_why_sentences_are_averaged() -> None:
    """One-word answers: three of ten right is 0.3 on average, as exact match; of the corpus BLEU-4 it is 0.

    The paper's BLEU-4 of words lies above its exact match (Table 9), which a corpus score cannot do here.
    """
    found = [overlap.bleu_statistics("flat" if i < 3 else "round", "flat") for i in range(10)]
    assert overlap.sentence_bleu4_mean(found) == pytest.approx(0.3)
    assert overlap.corpus_bleu4(found) == 0


@pytest.mark.parametrize(
    ("prediction", "reference", "exact", "loose"),
    [
        ("flat", "flat", True, True),
        (" flat\n", "flat", True, True),
        ("Flat", "flat", False, True),
        ("flat.", "flat", False, True),
        ('The "horse"', "horse", False, True),
        ("the house", "a  house", False, True),
        ("house boat", "house", False, False),
        ("", "", False, False),
        ("...", "!", False, False),
        ("the", "a", False, False),
        ("theatre", "atre", False, False),
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


def test_a_megabyte_of_punctuation_is_trimmed_in_no_time() -> None:
    started = time.process_time()
    text = "a" + "!" * 1_000_000 + "a"
    assert overlap.relaxed(text) == overlap.relaxed(f"...{text}...") == text
    assert time.process_time() - started < 10


@given(st.text(), st.text())
def test_an_exact_match_of_words_is_a_relaxed_one(prediction: str, reference: str) -> None:
    if overlap.exact_match(prediction, reference) and overlap.relaxed(prediction):
        assert overlap.relaxed_match(prediction, reference)
    assert overlap.relaxed_match(prediction, reference) == overlap.relaxed_match(reference, prediction)


def test_signatures_name_what_makes_the_score() -> None:
    version = f"version:{sacrebleu.__version__}"
    sentence, corpus = overlap.signature(), overlap.signature(corpus=True)
    assert (
        sentence == f"nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp|{version}|order:4|level:sentence|average:arithmetic"
    )
    assert corpus == f"nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|{version}|order:4|level:corpus"


@given(PAIRS)
def test_statistics_as_numbers_and_back(pairs: list[tuple[str, str]]) -> None:
    found = [overlap.bleu_statistics(*pair) for pair in pairs]
    assert [overlap._statistics(row) for row in overlap.matrix(found)] == found


def test_sums_round_once() -> None:
    """1/2, exp(-1/2) and exp(-1), added one by one, give another last bit in another order."""
    texts = [("the cat", "the cat sat"), ("a house", "house"), ("the cat sat", "the cat sat on a mat")]
    found = [overlap.bleu_statistics(*pair) for pair in texts]
    assert len({overlap.sentence_bleu4_mean(list(order)) for order in itertools.permutations(found)}) == 1


@given(st.lists(PAIRS, min_size=1, max_size=3))
def test_many_corpora_at_once(corpora: list[list[tuple[str, str]]]) -> None:
    sums = []
    for pairs in corpora:
        rows = [overlap.bleu_statistics(*pair) for pair in pairs]
        sums.append(np.sum([[r.candidate, r.reference, *r.matches, *r.ngrams] for r in rows], axis=0))
    expected = [bleu_by_hand(pairs, effective=False) for pairs in corpora]
    assert overlap.corpus_bleu4_of_sums(sums).tolist() == pytest.approx(expected, abs=1e-12)


def test_errors() -> None:
    for function in (overlap.corpus_bleu4, overlap.sentence_bleu4_mean):
        with pytest.raises(ValueError, match="no pairs"):
            function([])
