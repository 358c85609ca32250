from __future__ import annotations

import csv
import itertools
import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
import time
from collections import Counter
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics import captions
from figlang_tasks.metrics.captions import (
    bleu4,
    caption_scores,
    exact_match,
    java_metrics,
    tokenize,
)
from figlang_tasks.metrics.intervals import bootstrap

relaxed = settings(max_examples=60)
needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")

# --- tokens -----------------------------------------------------------------------------------------------------------

# Right: what edu.stanford.nlp.process.PTBTokenizer (CoreNLP 3.4.1, as pycocoevalcap calls it) gives without the
# punctuation that pycocoevalcap drops; written down from a run with Java 17.
TOKENS = [
    ("This phone is as fast as a rocket.", "this phone is as fast as a rocket"),
    (
        "Smoking's effect isn't good; it's \"as deadly\" as a (loaded) gun!",
        "smoking 's effect is n't good it 's as deadly as a -lrb- loaded -rrb- gun",
    ),
    (
        "The smoker's life can't be life-shortening, don't you think?",
        "the smoker 's life ca n't be life-shortening do n't you think",
    ),
    ("I cannot go; we gonna wanna gotta lemme", "i can not go we gon na wan na got ta lem me"),
    (
        "A U.S. car costs $20,000.50 or 50% more -- or 3/4 and/or e.g. Mr. Smith vs. Dr. No etc.",
        "a u.s. car costs $ 20,000.50 or 50 % more or 3/4 and/or e.g. mr. smith vs. dr. no etc.",
    ),
    (
        "rock & roll AT&T at 5:30pm #hashtag @user http://www.example.com/a?b=c me@x.org",
        "rock & roll at&t at 5:30 pm #hashtag @user http://www.example.com/a?b=c me@x.org",
    ),
    (
        "It\u2019s \u201ccurly\u201d quotes \u2018here\u2019 \u2013 dash \u2014 em\u2026 ellipsis",
        "it 's curly quotes here dash em ellipsis",
    ),
    ("Coca-Cola is as tasty as life.", "coca-cola is as tasty as life"),
    ("y'all o'clock rock 'n' roll 'tis the 90's 1990s", "y' all o'clock rock 'n' roll 't is the 90 's 1990s"),
    ("We're they've I'd you'll I'm he's let's", "we 're they 've i 'd you 'll i 'm he 's let 's"),
    ("a/b [brackets] {braces} <tag> a*b", "a/b -lsb- brackets -rsb- -lcb- braces -rcb- <tag> a * b"),
    ("No. 1 in the world. Number one.", "no. 1 in the world number one"),
    ("end of sentence.next sentence", "end of sentence.next sentence"),
    ("J.K. Rowling and J. K. Simmons at Ph.D. level", "j.k. rowling and j. k. simmons at ph.d. level"),
    (
        "it is 1.5 times .5 and 1,000 and 10-20 and 555-1234 and 1st 2nd",
        "it is 1.5 times .5 and 1,000 and 10-20 and 555-1234 and 1st 2nd",
    ),
    (
        "na\u00efve caf\u00e9 Zo\u00eb \u00fcber \u65e5\u672c\u8a9e",
        "na\u00efve caf\u00e9 zo\u00eb \u00fcber \u65e5\u672c\u8a9e",
    ),
    ("\"quoted.\" 'single' `back` ``double''", "quoted single back double"),
    ("McDonald's dogs' smokers' lives", "mcdonald 's dogs smokers lives"),
    ("\u00bd cup", "1/2 cup"),
    ("wait... what?! no!! --- ----", "wait what ?! no !!"),
    ("a.m. p.m. Inc. Ltd. Corp. St. Jan. Mon. Sr.", "a.m. p.m. inc. ltd. corp. st. jan. mon. sr."),
    ("\u20ac5 \u00a310 5$ 100%", "$ 5 # 10 5 $ 100 %"),
    ("a \u2014 b a\u2013b a-b a--b", "a b a b a-b a b"),
    ("D'Angelo O'Brien d'accord l'amour", "d'angelo o'brien d'accord l'amour"),
    ("could've ain't shan't won't", "could 've ai n't sha n't wo n't"),
    ("100-year-old 3am 8-hour 20,000-seat 7-11 9/11", "100-year-old 3am 8-hour 20,000-seat 7-11 9/11"),
    ("X-ray T-shirt e-mail mother-in-law well-known- -end", "x-ray t-shirt e-mail mother-in-law well-known end"),
    ("This is vitamin C.", "this is vitamin c"),
    ("This is from the U.S.", "this is from the u.s."),
    ("rock'n'roll", "rock 'n' roll"),
    ("", ""),
    ("  \n ", ""),
    ("...", ""),
    ("?", ""),
]


@pytest.mark.parametrize(("text", "expected"), TOKENS)
def test_tokens(text: str, expected: str) -> None:
    assert " ".join(tokenize(text)) == expected


def ptb(texts: list[str]) -> list[str]:
    from pycocoevalcap.tokenizer.ptbtokenizer import PTBTokenizer

    rows = PTBTokenizer().tokenize({index: [{"caption": text}] for index, text in enumerate(texts)})
    return [rows[index][0] for index in range(len(texts))]


@needs_java
def test_the_table_is_what_java_gives() -> None:
    texts, expected = zip(*((text, right) for text, right in TOKENS if text.strip()), strict=True)
    assert ptb(list(texts)) == list(expected)


@needs_java
@pytest.mark.parametrize("shared_file", ["data/vflute_test.csv"], indirect=True)
def test_agreement_with_java_on_sentences(shared_file: Path) -> None:
    with shared_file.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    texts = sorted({" ".join(row[key].split()) for row in rows for key in ("claim", "explanation")} - {""})
    assert len(texts) > 1000
    same = sum(" ".join(tokenize(text)) == right for text, right in zip(texts, ptb(texts), strict=True))
    assert same / len(texts) > 0.99


@given(st.text())
@relaxed
def test_tokens_of_any_text(text: str) -> None:
    tokens = tokenize(text)
    assert all(token and not any(map(str.isspace, token)) for token in tokens)
    assert all(token == token.lower() for token in tokens)
    assert tokenize(f"  {text}\n") == tokens


@pytest.mark.parametrize(
    "piece", ["a", "'", "a'", "a.", "-", "1,", "www.", "a@", "<a", "no.", "(", "n't ", "\u0130", "#", "!"]
)
def test_a_long_text_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    tokenize(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 10


# --- exact match ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("candidate", "references", "expected"),
    [
        ("a rocket", ["a rocket"], True),
        ("A Rocket.", ["a rocket"], True),
        (' "a  rocket"\n', ["a rocket!"], True),
        ("a rocket", ["a plane", "a rocket"], True),
        ("a rocket", ["a plane", "the rocket"], False),
        ("rocket", ["a rocket"], False),
        ("a rocket a", ["a rocket"], False),
        ("smoker\u2019s life", ["smoker's life"], True),
        ("life - shortening", ["life-shortening"], False),
        ("", ["a"], False),
        ("...", ["..."], False),
        ("", [], False),
    ],
)
def test_exact_match(candidate: str, references: list[str], expected: bool) -> None:
    assert exact_match(candidate, references) is expected


# --- the scores, computed once more -----------------------------------------------------------------------------------

WORDS = "this phone car is as fast red a rocket rose the of".split()


def corpus(seed: int, size: int | None = None) -> tuple[list[str], list[list[str]]]:
    draw = random.Random(seed)
    count = size or draw.randint(1, 6)
    references = [
        [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(draw.randint(1, 4))] for _ in range(count)
    ]
    candidates = []
    for texts in references:
        words = draw.choice(texts).split()
        if draw.random() < 0.6:
            words[draw.randrange(len(words))] = draw.choice(WORDS)
        if draw.random() < 0.3:
            words = words[: draw.randint(0, len(words))]
        candidates.append(" ".join(words))
    return candidates, references


@lru_cache(maxsize=4096)
def ngrams(text: str, n: int) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(tuple(words[i : i + n]) for i in range(len(words) - n + 1))


def corpus_bleu(candidates: list[str], references: list[list[str]]) -> float:
    """BLEU-4 from its definition; where a count is 0, with COCO's constants."""
    product, length, nearest = 1.0, 0, 0
    for n in (1, 2, 3, 4):
        hits = total = 0
        for text, texts in zip(candidates, references, strict=True):
            own = ngrams(text, n)
            hits += sum(min(count, max(ngrams(r, n)[gram] for r in texts)) for gram, count in own.items())
            total += own.total()
        product *= (hits + 1e-15) / (total + 1e-9)
    for text, texts in zip(candidates, references, strict=True):
        size = len(text.split())
        length += size
        nearest += min((abs(len(r.split()) - size), len(r.split())) for r in texts)[1]
    brevity = 1.0 if length >= nearest else math.exp(1 - nearest / length) if length else 0.0
    return product**0.25 * brevity


def rouge(text: str, texts: list[str]) -> float:
    def common(a: list[str], b: list[str]) -> int:
        return max(
            (
                k
                for k in range(min(len(a), len(b)), -1, -1)
                if {p for p in itertools.combinations(a, k)} & {p for p in itertools.combinations(b, k)}
            ),
            default=0,
        )

    words = text.split()
    if not words:
        return 0.0
    precision = max(common(words, r.split()) / len(words) for r in texts)
    recall = max(common(words, r.split()) / len(r.split()) for r in texts)
    return 0.0 if not precision or not recall else (1 + 1.44) * precision * recall / (recall + 1.44 * precision)


def cider(candidates: list[str], references: list[list[str]]) -> list[float]:
    """CIDEr-D after equations 2 to 5 of Vedantam et al., as vectors over all n-grams of the corpus."""
    scores = np.zeros(len(candidates))
    for n in (1, 2, 3, 4):
        grams = sorted({g for t in (*candidates, *itertools.chain(*references)) for g in ngrams(t, n)})
        documents = np.array([sum(any(ngrams(r, n)[g] for r in texts) for texts in references) for g in grams])
        idf = math.log(len(candidates)) - np.log(np.maximum(1, documents))

        def vector(text: str, n: int = n, grams: Any = grams, idf: Any = idf) -> np.ndarray:
            counts = ngrams(text, n)
            return np.array([counts[g] for g in grams]) * idf

        for i, (text, texts) in enumerate(zip(candidates, references, strict=True)):
            for reference in texts:
                a, b = vector(text), vector(reference)
                norm = np.linalg.norm(a) * np.linalg.norm(b)
                # Lengths are those of the bigrams, in COCO's code.
                delta = ngrams(text, 2).total() - ngrams(reference, 2).total()
                dot = float(np.minimum(a, b) @ b)
                scores[i] += math.exp(-(delta**2) / 72) * (dot / norm if norm else dot) / len(texts) / 4 * 10
    return list(scores)


@given(st.integers(0, 10**9))
@relaxed
def test_equals_the_definitions(seed: int) -> None:
    candidates, references = corpus(seed)
    found = caption_scores(candidates, references).metrics
    assert found["bleu4"].value == pytest.approx(corpus_bleu(candidates, references), abs=1e-7)
    assert found["bleu4"].per_image == pytest.approx(
        [corpus_bleu([text], [texts]) for text, texts in zip(candidates, references, strict=True)], abs=1e-7
    )
    assert found["rouge_l"].per_image == pytest.approx(
        [rouge(text, texts) for text, texts in zip(candidates, references, strict=True)], abs=1e-9
    )
    assert found["cider"].per_image == pytest.approx(cider(candidates, references), abs=1e-7)
    for name in ("em", "rouge_l", "cider"):
        assert found[name].value == pytest.approx(found[name].per_image.mean(), abs=1e-12)


@given(st.integers(0, 10**9))
@relaxed
def test_equals_pycocoevalcap_on_the_same_tokens(seed: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = corpus(seed)
    found = caption_scores([f'"{text.upper()}."' for text in candidates], references).metrics
    truth, given_ = dict(enumerate(references)), {index: [text] for index, text in enumerate(candidates)}
    values, per_image = Bleu(4).compute_score(truth, given_, verbose=0)
    assert found["bleu4"].value == pytest.approx(values[3], abs=1e-12)
    assert found["bleu4"].per_image == pytest.approx(per_image[3], abs=1e-12)
    for name, scorer in (("rouge_l", Rouge()), ("cider", Cider())):
        value, scores = scorer.compute_score(truth, given_)
        assert found[name].value == pytest.approx(value, abs=1e-12)
        assert found[name].per_image == pytest.approx(scores, abs=1e-12)


@given(st.integers(0, 10**9))
@relaxed
def test_ranges_and_order(seed: int) -> None:
    candidates, references = corpus(seed)
    scores = caption_scores(candidates, references)
    order = random.Random(seed).sample(range(len(candidates)), len(candidates))
    other = caption_scores([candidates[i] for i in order], [references[i] for i in order])
    for name, metric in scores.metrics.items():
        top = 10 if name == "cider" else 1
        assert 0 <= metric.value <= top
        assert ((metric.per_image >= 0) & (metric.per_image <= top + 1e-9)).all()
        assert other.metrics[name].value == pytest.approx(metric.value, abs=1e-9)
        assert other.metrics[name].per_image == pytest.approx(metric.per_image[order], abs=1e-9)


# --- literals ---------------------------------------------------------------------------------------------------------


def values(candidates: list[str], references: list[list[str]]) -> dict[str, float]:
    return {name: round(m.value, 6) for name, m in caption_scores(candidates, references).metrics.items()}


def test_literals() -> None:
    same = ["this phone is as fast as a rocket", "a rose"]
    assert values(same, [[text] for text in same]) == {"em": 1.0, "bleu4": 1.0, "rouge_l": 1.0, "cider": 7.5}
    assert values(["", ""], [["a b"], ["c"]]) == {"em": 0.0, "bleu4": 0.0, "rouge_l": 0.0, "cider": 0.0}
    assert values(["x", "y"], [["a b"], ["c"]])["rouge_l"] == 0.0
    # One image has no document frequencies to tell apart.
    assert values(["a b c d"], [["a b c d"]]) == {"em": 1.0, "bleu4": 1.0, "rouge_l": 1.0, "cider": 0.0}
    # A word that is right scores next to nothing in BLEU-4 (3.2e-5), as there are no longer n-grams.
    assert values(["Deadly."], [["deadly"]])["bleu4"] == pytest.approx(3.2e-5, abs=1e-6)
    # 3 of 4 words in order, both ways: F is 3/4 whatever beta is.
    assert values(["a b c d"], [["a b x d"]])["rouge_l"] == 0.75


def test_a_perfect_four_gram_corpus_reaches_ten() -> None:
    texts = ["a b c d e", "f g h i j", "k l m n o"]
    assert values(texts, [[text] for text in texts])["cider"] == 10.0


def test_the_best_reference_counts_for_exact_match_and_rouge() -> None:
    scores = caption_scores(["a b c d", "e f"], [["x y", "a b c d"], ["e", "e f g"]])
    assert list(scores.metrics["em"].per_image) == [1.0, 0.0]
    assert scores.metrics["rouge_l"].per_image[0] == pytest.approx(1.0)


def test_statistics() -> None:
    rows = caption_scores(["a b c d", ""], [["a b x d", "a b"], ["a b c"]]).bleu_statistics
    assert rows.tolist() == [[4, 4, 3, 1, 0, 0, 4, 3, 2, 1], [0, 3, 0, 0, 0, 0, 0, 0, 0, 0]]
    assert rows.dtype == np.int64


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        ([], [], "no candidates"),
        (["a"], [], "1 candidates and 0 lists of references"),
        (["a", "b"], [["a"], []], r"references\[1\] is empty"),
        (["a", "b"], [["a"], ["b", "!"]], r"references\[1\]\[1\] is '!'"),
        (["a"], ["a"], r"references\[0\] is a text"),
    ],
)
def test_refusals(candidates: list[str], references: Any, message: str) -> None:
    for function in (caption_scores, java_metrics):
        with pytest.raises(ValueError, match=message):
            function(candidates, references)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    caption_scores(["a b"], [["a b"]])
    assert capfd.readouterr() == ("", "")


def test_signature() -> None:
    found = caption_scores(["a"], [["a"]]).signature
    assert found == "coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2"


@pytest.mark.slow
def test_a_whole_test_set_is_quick() -> None:
    candidates, references = corpus(1, size=1331)
    start = time.process_time()
    caption_scores(candidates, references)
    assert time.process_time() - start < 20


# --- interval ---------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**9))
@relaxed
def test_bleu_from_statistics(seed: int) -> None:
    scores = caption_scores(*corpus(seed))
    # Close enough to tell pycocoevalcap's constants against division by 0.
    bleu = scores.metrics["bleu4"]
    assert bleu4(scores.bleu_statistics.sum(axis=0)) == pytest.approx(bleu.value, rel=1e-12, abs=0)
    assert bleu4(scores.bleu_statistics) == pytest.approx(bleu.per_image, rel=1e-12, abs=0)


def test_the_interval_equals_resampling_captions() -> None:
    candidates, references = corpus(3, size=60)
    statistics = caption_scores(candidates, references).bleu_statistics
    rng = np.random.default_rng(4)
    drawn = [rng.integers(0, 60, size=60) for _ in range(300)]
    expected = np.quantile(
        [corpus_bleu([candidates[i] for i in rows], [references[i] for i in rows]) for rows in drawn], [0.025, 0.975]
    )
    assert bootstrap(statistics, bleu4, 3000) == pytest.approx(tuple(expected), abs=0.04)


# --- Java -------------------------------------------------------------------------------------------------------------

CANDIDATES = [
    "This phone is as fast as a rocket",
    "Smoking is as deadly as drugs.",
    "",
    "a cat",
    "caf\u00e9 \u2014 life",
]
REFERENCES = [
    ["This phone is as quick as a rocket!", "The phone is as fast as a rocket"],
    ["Smoking is as deadly as injecting drugs."],
    ["Love is as sweet as honey"],
    ["a cat", "a dog"],
    ["the caf\u00e9 is as full as life"],
]


@pytest.mark.slow
@needs_java
def test_meteor_equals_pycocoevalcap(warnings_of_loguru: list[str]) -> None:
    captions._tell.cache_clear()
    found = java_metrics(CANDIDATES, REFERENCES)
    # pycocoevalcap.meteor.meteor.Meteor on the tokens of both, with Java 17 and UTF-8.
    assert list(found["meteor"].per_image) == pytest.approx(METEOR[:-1], abs=1e-9)
    assert found["meteor"].value == pytest.approx(METEOR[-1], abs=1e-9)
    if "spice" not in found:
        assert [message for message in warnings_of_loguru if "SPICE is left out" in message]


METEOR = [0.9571428571428572, 0.42750933026297866, 0.0, 1.0, 0.200836820083682, 0.3597412671434319]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]) -> Any:
    """Puts a program called java on the path that runs `body` (Python); returns what is logged."""

    def install(body: str) -> list[str]:
        (tmp_path / "bin").mkdir(exist_ok=True)
        program = tmp_path / "bin" / "java"
        program.write_text(
            f"#!{sys.executable}\nimport json, os, sys, time\nif '-version' in sys.argv: sys.exit(0)\n"
            f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{body}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        captions._tell.cache_clear()
        return warnings_of_loguru

    return install


def ended(tmp_path: Path) -> bool:
    """Whether the stand-in is no longer there; it may have been ended before it could write down who it is."""
    identity = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else ""
    try:
        if identity:
            os.kill(int(identity), 0)
    except ProcessLookupError:
        return True
    return not identity


SCORES_LINES = (
    "lines = 0\n"
    "for line in sys.stdin:\n"
    "    kind, *rest = line.rstrip('\\n').split(' ||| ')\n"
    "    if kind == 'SCORE': print(len(rest), flush=True); lines += 1\n"
    "    if kind == 'EVAL': print('\\n'.join(['0.' + r for r in rest] + ['0.9']), flush=True)\n"
)


def test_the_program_is_asked_line_by_line_and_ended(stand_in: Any, tmp_path: Path) -> None:
    stand_in(SCORES_LINES)
    found = java_metrics(["a", "", "c"], [["a"], ["b"], ["c", "d", "e"]])
    # The stand-in scores the number of its texts; a candidate without words is 0 whatever the program says.
    assert list(found["meteor"].per_image) == [0.2, 0.0, 0.4]
    assert found["meteor"].value == 0.9
    assert ended(tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('no memory', file=sys.stderr); sys.exit(3)", "METEOR ended early|Broken pipe"),
        ("print('no number\\n' * 3, flush=True); time.sleep(600)", "could not convert"),
        ("sys.stdin.readline(); print('1', flush=True); sys.exit(0)", "METEOR ended early|Broken pipe"),
        ("time.sleep(600)", "METEOR ended early|Broken pipe"),
    ],
)
def test_a_program_that_fails_is_ended_and_told(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    messages = stand_in(body)
    if body == "time.sleep(600)":
        monkeypatch.setattr(captions, "TIMEOUT", 1.0)
    found = caption_scores(["a", "b"], [["a"], ["b"]], java=True)
    assert set(found.metrics) == {"em", "bleu4", "rouge_l", "cider"}
    told = [text for text in messages if "METEOR is left out" in text]
    assert len(told) == 1
    assert re.search(message, told[0])
    assert ended(tmp_path)


def test_an_interrupt_ends_the_program(stand_in: Any, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    stand_in(f"sys.stdin.readline(); open({str(asked)!r}, 'w'); time.sleep(600)")
    program = (
        "import os, signal, threading, time\n"
        "from figlang_tasks.metrics.captions import java_metrics\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # a shell ignores it for what runs behind it
        "def interrupt():\n"
        f"    while not os.path.exists({str(asked)!r}): time.sleep(.05)\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "try: java_metrics(['a'], [['a']])\n"
        "except KeyboardInterrupt: print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.stdout == "interrupted\n"
    assert ended(tmp_path)


def test_without_java_one_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    captions._tell.cache_clear()
    for _ in range(3):
        assert java_metrics(["a"], [["a"]]) == {}
    assert "meteor" not in caption_scores(["a"], [["a"]], java=True).metrics
    assert len(warnings_of_loguru) == 1
    assert "METEOR and SPICE are left out" in warnings_of_loguru[0]


def test_a_java_that_only_says_how_to_install_it(stand_in: Any, tmp_path: Path) -> None:
    messages = stand_in("")
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\nexit 1\n")
    assert java_metrics(["a"], [["a"]]) == {}
    assert "there is no Java that runs" in messages[0]


def spice_files(folder: Path) -> None:
    (folder / "spice" / "lib").mkdir(parents=True)
    for name in captions._SPICE_FILES:
        (folder / "spice" / name).touch()


SPICE = (
    "if '-stdio' in sys.argv:\n    " + SCORES_LINES.replace("\n", "\n    ") + "\n    sys.exit()\n"
    "rows = json.load(open(sys.argv[sys.argv.index('-out') - 1]))\n"
    "assert os.environ['JDK_JAVA_OPTIONS'].startswith('--add-opens=java.base/')\n"
    "scores = [None, 0.25, 0.75]\n"
    "out = [{'image_id': r['image_id'], 'scores': {'All': {'f': scores[len(r['refs'])]}}} for r in rows]\n"
    "json.dump(out[::-1], open(sys.argv[sys.argv.index('-out') + 1], 'w'))\n"
)


def test_spice(stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    messages = stand_in(SPICE)
    spice_files(tmp_path)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    found = java_metrics(["a b", "c", ""], [["a"], ["b", "c"], ["d"]])
    assert list(found["spice"].per_image) == [0.25, 0.75, 0.0]
    assert found["spice"].value == pytest.approx(1 / 3)
    assert set(found) == {"meteor", "spice"}
    assert messages == []


def test_a_folder_without_all_files_of_spice_is_not_taken(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages = stand_in(SPICE)
    spice_files(tmp_path)
    (tmp_path / "spice" / "lib" / "stanford-corenlp-3.6.0-models.jar").unlink()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    if captions._spice_folder() is not None:
        pytest.skip("pycocoevalcap has the files here")
    assert set(java_metrics(["a b"], [["a"]])) == {"meteor"}
    assert "SPICE is left out" in messages[0]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print(*'abcd', sep='\\n', file=sys.stderr); sys.exit(3)", "SPICE ended with 3: b / c / d"),
        ("sys.exit(0)", "SPICE ended with 0: nothing"),
        ("open(sys.argv[sys.argv.index('-out') + 1], 'w').write('no json')", "JSONDecodeError"),
        ("open(sys.argv[sys.argv.index('-out') + 1], 'w').write('[]')", "KeyError"),
        ("time.sleep(600)", "TimeoutExpired"),
    ],
)
def test_spice_that_fails(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    messages = stand_in(SPICE.split("rows = ")[0] + body)
    spice_files(tmp_path)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    if body == "time.sleep(600)":
        monkeypatch.setattr(captions, "TIMEOUT", 3.0)
    found = java_metrics(["a"], [["a"]])
    # The stand-in of METEOR has those 3 seconds too.
    assert set(found) == {"meteor"} or captions.TIMEOUT == 3.0 and not found
    assert message in messages[-1]
    assert ended(tmp_path)


def test_spice_null_scores_are_zero(stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(SPICE.replace("scores = [None, 0.25, 0.75]", "scores = [None, None, float('nan'), 0.5]"))
    spice_files(tmp_path)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    found = java_metrics(["a", "b", "c"], [["a"], ["b", "b"], ["c", "c", "c"]])
    assert list(found["spice"].per_image) == [0.0, 0.0, 0.5]


# --- published results ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shared_file", ["facts/published_results.json"], indirect=True)
def test_published_captions_are_on_our_scales(shared_file: Path) -> None:
    """Table 3 cannot be computed again without the captions; its CIDEr is not times 100, and above 1."""
    facts = [
        fact
        for fact in json.loads(shared_file.read_text(encoding="utf-8"))
        if fact["benchmark"] == "MetaCLUE" and fact["task"] in ("captioning", "vqa")
    ]
    assert len(facts) == 48
    for fact in facts:
        top = {"CIDEr": 10, "Acc %": 100}.get(fact["metric"], 1)
        assert 0 <= fact["value"] <= top
    assert max(fact["value"] for fact in facts if fact["metric"] == "CIDEr") > 1
