"""The scores of captions, or the tokens that they compare, are not COCO's if this fails."""

from __future__ import annotations

import csv
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics.captions import bleu4, caption_scores, exact_match, tokenize

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")

# --- tokens ---

TOKENS = yaml.safe_load(Path(__file__).with_name("ptb_tokens.yaml").read_text(encoding="utf-8"))


def test_tokens_of_the_table() -> None:
    assert {text: " ".join(tokenize(text)) for text, _ in TOKENS} == dict(TOKENS)


def java_tokens(texts: list[str]) -> list[str]:
    """The tokens of each text as PTBTokenizer gives them, with blanks between them."""
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    rows = PTBTokenizer().tokenize({index: [{"caption": text}] for index, text in enumerate(texts)})
    return [rows[index][0] for index in range(len(texts))]


@needs_java
def test_the_table_is_what_java_gives() -> None:
    cases = [(text, tokens) for text, tokens in TOKENS if text.strip()]
    texts, expected = zip(*cases, strict=True)
    assert java_tokens(list(texts)) == list(expected)


@needs_java
@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_agreement_with_java_on_sentences(shared_file: Path) -> None:
    with shared_file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    distinct_texts: set[str] = set()
    for row in rows:
        distinct_texts.add(" ".join(row["claim"].split()))
        distinct_texts.add(" ".join(row["explanation"].split()))
    texts = sorted(distinct_texts - {""})
    assert len(texts) > 1000
    pairs = zip(texts, java_tokens(texts), strict=True)
    agreeing = sum(" ".join(tokenize(text)) == expected for text, expected in pairs)
    assert agreeing / len(texts) > 0.99


@pytest.mark.parametrize("piece", ["a", "a'", "a.", "1,", "www.", "a@", "<a", "\u0130"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    tokenize(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 10


# --- the scores, of the library itself ---

WORDS = "this phone car is as fast red a rocket rose the of".split()


def corpus(seed: int) -> tuple[list[str], list[list[str]]]:
    """Candidates and their references, of few words, so that some n-grams match."""
    draw = random.Random(seed)
    references: list[list[str]] = []
    for _ in range(draw.randint(1, 6)):
        texts: list[str] = []
        for _ in range(draw.randint(1, 4)):
            texts.append(" ".join(draw.choices(WORDS, k=draw.randint(1, 9))))
        references.append(texts)
    candidates: list[str] = []
    for texts in references:
        words = draw.choice(texts).split()
        if draw.random() < 0.6:
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        if draw.random() < 0.3:
            words = words[: draw.randint(0, len(words))]
        candidates.append(" ".join(words))
    return candidates, references


@given(st.integers(0, 10**9))
@settings(max_examples=40)
def test_equals_pycocoevalcap_on_the_same_tokens(seed: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = corpus(seed)
    scores = caption_scores([f'"{text.upper()}."' for text in candidates], references)
    references_by_id = dict(enumerate(references))
    candidates_by_id = {index: [text] for index, text in enumerate(candidates)}
    bleu_values, bleu_per_image = Bleu(4).compute_score(
        references_by_id, candidates_by_id, verbose=0
    )
    expected = {
        "bleu4": (bleu_values[3], bleu_per_image[3]),
        "rouge_l": Rouge().compute_score(references_by_id, candidates_by_id),
        "cider": Cider().compute_score(references_by_id, candidates_by_id),
    }
    for name, (value, per_image) in expected.items():
        assert scores.metrics[name].value == pytest.approx(value, abs=1e-12)
        assert scores.metrics[name].per_image == pytest.approx(per_image, abs=1e-12)
    # Close enough to tell pycocoevalcap's constants against division by 0.
    statistics = scores.bleu_statistics
    assert bleu4(statistics.sum(axis=0)) == pytest.approx(bleu_values[3], rel=1e-12, abs=0)
    assert bleu4(statistics) == pytest.approx(bleu_per_image[3], rel=1e-12, abs=0)


def test_exact_match_compares_tokens() -> None:
    assert exact_match(' "A  Rocket"\n', ["a plane", "a rocket!"])
    assert not exact_match("a rocket a", ["a rocket"])
    assert not exact_match("...", ["..."])


def test_scores_of_literals() -> None:
    candidates = ["this phone is as fast as a rocket", "a rose", ""]
    scores = caption_scores(candidates, [["x y", candidates[0]], ["a rose"], ["a b c"]])
    assert scores.metrics["em"].per_image.tolist() == [1, 1, 0]
    assert scores.signature == "coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2"
    rows = caption_scores(["a b c d", ""], [["a b x d", "a b"], ["a b c"]]).bleu_statistics
    assert rows.tolist() == [[4, 4, 3, 1, 0, 0, 4, 3, 2, 1], [0, 3, 0, 0, 0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a"], [], "1 candidates and 0 lists of references"),
        (
            ["a", "b"],
            [["a"], ["b", "!"]],
            r"references\[1\] is \['b', '!'\], must be texts with words",
        ),
    ],
)
def test_captions_without_words_to_compare_are_refused(
    candidates: list[str], references: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        caption_scores(candidates, references)
