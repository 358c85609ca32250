"""METEOR, SPICE and the other scores of captions, or the tokens they compare, are not COCO's if this fails."""

from __future__ import annotations

import csv
import os
import random
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pycocoevalcap
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.metrics import captions
from figlang_tasks.metrics.captions import bleu4, caption_scores, exact_match, java_metrics, tokenize

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")

# --- tokens ---

TOKENS = yaml.safe_load(Path(__file__).with_name("ptb_tokens.yaml").read_text(encoding="utf-8"))


def test_tokens() -> None:
    assert {text: " ".join(tokenize(text)) for text, _ in TOKENS} == dict(TOKENS)


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


@pytest.mark.parametrize("piece", ["a", "a'", "a.", "1,", "www.", "a@", "<a", "\u0130"])
def test_a_long_text_takes_linear_time(piece: str) -> None:
    start = time.process_time()
    tokenize(piece * (100_000 // len(piece)))
    assert time.process_time() - start < 10


# --- the scores, of the library itself ---

WORDS = "this phone car is as fast red a rocket rose the of".split()


def corpus(seed: int) -> tuple[list[str], list[list[str]]]:
    draw = random.Random(seed)
    references = [
        [" ".join(draw.choices(WORDS, k=draw.randint(1, 9))) for _ in range(draw.randint(1, 4))]
        for _ in range(draw.randint(1, 6))
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
@settings(max_examples=40)
def test_equals_pycocoevalcap_on_the_same_tokens(seed: int) -> None:
    from pycocoevalcap.bleu.bleu import Bleu
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    candidates, references = corpus(seed)
    scores = caption_scores([f'"{text.upper()}."' for text in candidates], references)
    found = scores.metrics
    truth, given_ = dict(enumerate(references)), {index: [text] for index, text in enumerate(candidates)}
    values, per_image = Bleu(4).compute_score(truth, given_, verbose=0)
    assert found["bleu4"].value == pytest.approx(values[3], abs=1e-12)
    assert found["bleu4"].per_image == pytest.approx(per_image[3], abs=1e-12)
    for name, scorer in (("rouge_l", Rouge()), ("cider", Cider())):
        value, each = scorer.compute_score(truth, given_)
        assert found[name].value == pytest.approx(value, abs=1e-12)
        assert found[name].per_image == pytest.approx(each, abs=1e-12)
    # Close enough to tell pycocoevalcap's constants against division by 0.
    assert bleu4(scores.bleu_statistics.sum(axis=0)) == pytest.approx(values[3], rel=1e-12, abs=0)
    assert bleu4(scores.bleu_statistics) == pytest.approx(per_image[3], rel=1e-12, abs=0)


def test_literals() -> None:
    assert exact_match(' "A  Rocket"\n', ["a plane", "a rocket!"])
    assert not exact_match("a rocket a", ["a rocket"]) and not exact_match("...", ["..."])
    same = ["this phone is as fast as a rocket", "a rose", ""]
    scores = caption_scores(same, [["x y", same[0]], ["a rose"], ["a b c"]])
    assert scores.metrics["em"].per_image.tolist() == [1, 1, 0]
    assert scores.signature == "coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2"
    rows = caption_scores(["a b c d", ""], [["a b x d", "a b"], ["a b c"]]).bleu_statistics
    assert rows.tolist() == [[4, 4, 3, 1, 0, 0, 4, 3, 2, 1], [0, 3, 0, 0, 0, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize(
    ("candidates", "references", "message"),
    [
        (["a"], [], "1 candidates and 0 lists of references"),
        (["a", "b"], [["a"], ["b", "!"]], r"references\[1\] is \['b', '!'\], must be texts with words"),
    ],
)
def test_refusals(candidates: list[str], references: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        caption_scores(candidates, references)


# --- Java ---

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


def test_without_java_one_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    captions._tell.cache_clear()
    for _ in range(3):
        assert java_metrics(["a"], [["a"]]) == {}
    assert len(warnings_of_loguru) == 1
    assert "METEOR and SPICE are left out" in warnings_of_loguru[0]
