"""METEOR, SPICE and the other scores of captions, or the tokens they compare, are not COCO's if this fails."""

from __future__ import annotations

import csv
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pycocoevalcap
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


# --- the scores, of the library itself --------------------------------------------------------------------------------

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
        ([], [], "0 candidates"),
        (["a"], [], "1 candidates and 0 lists of references"),
        (["a", "b"], [["a"], []], r"references\[1\] is \[\], must be texts with words"),
        (["a", "b"], [["a"], ["b", "!"]], r"references\[1\] is \['b', '!'\], must be texts with words"),
    ],
)
def test_refusals(candidates: list[str], references: Any, message: str) -> None:
    for function in (caption_scores, java_metrics):
        with pytest.raises(ValueError, match=message):
            function(candidates, references)


def test_signature() -> None:
    found = caption_scores(["a"], [["a"]]).signature
    assert found == "coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2"


# --- interval ---------------------------------------------------------------------------------------------------------


@given(st.integers(0, 10**9))
@relaxed
def test_bleu_from_statistics(seed: int) -> None:
    scores = caption_scores(*corpus(seed))
    # Close enough to tell pycocoevalcap's constants against division by 0.
    bleu = scores.metrics["bleu4"]
    assert bleu4(scores.bleu_statistics.sum(axis=0)) == pytest.approx(bleu.value, rel=1e-12, abs=0)
    assert bleu4(scores.bleu_statistics) == pytest.approx(bleu.per_image, rel=1e-12, abs=0)


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
    """Whether the stand-in runs no more, at least soon; it may have been ended before it wrote down who it is."""
    identity = (tmp_path / "pid").read_text() if (tmp_path / "pid").exists() else "none"
    status = Path("/proc", identity, "stat")
    for _ in range(200):
        try:
            if status.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False


SCORER = (
    "if '-stdio' in sys.argv:\n"
    "    for line in sys.stdin:\n"
    "        kind, *rest = line.rstrip('\\n').split(' ||| ')\n"
    "        if kind == 'SCORE': print(len(rest), flush=True)\n"
    "        if kind == 'EVAL': print('\\n'.join(['0.' + r for r in rest] + ['0.9']), flush=True)\n"
    "    sys.exit()\n"
    "assert os.environ['JDK_JAVA_OPTIONS'].startswith('--add-opens=java.base/')\n"
    "rows = json.load(open(sys.argv[sys.argv.index('-cache') - 1]))\n"
    "scores = [None, 0.25, None, 0.75]\n"
    "out = [{'image_id': r['image_id'], 'scores': {'All': {'f': scores[len(r['refs'])]}}} for r in rows]\n"
    "json.dump(out[::-1], open(sys.argv[sys.argv.index('-out') + 1], 'w'))\n"
)
"""Scores the number of an image's texts: as METEOR does line by line, as SPICE from file to file."""


@pytest.fixture
def with_spice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A copy of pycocoevalcap that has empty files in place of SPICE's, which it would download."""
    folder = shutil.copytree(Path(next(iter(pycocoevalcap.__path__))), tmp_path / "site" / "pycocoevalcap")
    for name in captions._SPICE_FILES:
        (folder / "spice" / "lib" / name).touch()
    monkeypatch.setattr(pycocoevalcap, "__path__", [str(folder)])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))


def test_values_of_both_programs(stand_in: Any, with_spice: None, tmp_path: Path) -> None:
    messages = stand_in(SCORER)
    found = java_metrics(["a", "", "c", "d"], [["a"], ["b"], ["c", "d", "e"], ["d", "d"]])
    # A candidate without words is 0 whatever the program says; no value of SPICE is 0 too.
    assert list(found["meteor"].per_image) == [0.2, 0.0, 0.4, 0.3]
    assert found["meteor"].value == 0.9
    assert list(found["spice"].per_image) == [0.25, 0.0, 0.75, 0.0]
    assert found["spice"].value == 0.25
    assert messages == []
    assert ended(tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('no memory', file=sys.stderr); sys.exit(3)", "ValueError: could not convert|Broken pipe"),
        ("print('no number\\n' * 3, flush=True); time.sleep(600)", "ValueError: could not convert"),
        ("time.sleep(600)", "not done after 3 seconds"),
    ],
)
def test_a_program_that_fails_is_ended_and_told(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    messages = stand_in(body)
    monkeypatch.setattr(captions, "TIMEOUT", 3.0 if body == "time.sleep(600)" else 60.0)
    assert java_metrics(["a", "b"], [["a"], ["b"]]) == {}
    (told,) = [text for text in messages if "METEOR is left out" in text]
    assert re.search(message, told)
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
    assert len(warnings_of_loguru) == 1
    assert "METEOR and SPICE are left out" in warnings_of_loguru[0]
