"""METEOR and SPICE are not COCO's, or their programs stay behind, if this fails."""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import pycocoevalcap
import pytest

from figlang_tasks.metrics import caption_java
from figlang_tasks.metrics.captions import java_metrics

needs_java = pytest.mark.skipif(shutil.which("java") is None, reason="there is no Java here")

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
    metrics = java_metrics(CANDIDATES, REFERENCES)
    # pycocoevalcap.meteor.meteor.Meteor on the tokens of both, with Java 17 and UTF-8.
    assert list(metrics["meteor"].per_image) == pytest.approx(METEOR[:-1], abs=1e-9)
    assert metrics["meteor"].value == pytest.approx(METEOR[-1], abs=1e-9)
    if "spice" not in metrics:
        assert [message for message in warnings_of_loguru if "SPICE is left out" in message]


METEOR = [0.9571428571428572, 0.42750933026297866, 0.0, 1.0, 0.200836820083682, 0.3597412671434319]


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]) -> Any:
    """Puts a program called java on the path that runs `body` (Python); returns what is logged."""

    def install(body: str) -> list[str]:
        (tmp_path / "bin").mkdir(exist_ok=True)
        program = tmp_path / "bin" / "java"
        program.write_text(
            f"#!{sys.executable}\nimport json, os, sys, time\nif '-version' in sys.argv:"
            f" sys.exit(0)\nopen({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n{body}\n"
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
        return warnings_of_loguru

    return install


def has_ended(tmp_path: Path) -> bool:
    """Whether the stand-in runs no more, at least soon.

    It may have been ended before it wrote down its process id.
    """
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
    "if '-stdio' in sys.argv:\n    for line in sys.stdin:\n        kind, *rest ="
    " line.rstrip('\\n').split(' ||| ')\n        if kind == 'SCORE': print(len(rest), flush=True)\n"
    "        if kind == 'EVAL': print('\\n'.join(['0.' + r for r in rest] + ['0.9']), flush=True)\n"
    "    sys.exit()\nassert"
    " os.environ['JDK_JAVA_OPTIONS'].startswith('--add-opens=java.base/')\nrows ="
    " json.load(open(sys.argv[sys.argv.index('-cache') - 1]))\nscores = [None, 0.25, None,"
    " 0.75]\nout = [{'image_id': r['image_id'], 'scores': {'All': {'f': scores[len(r['refs'])]}}}"
    " for r in rows]\njson.dump(out[::-1], open(sys.argv[sys.argv.index('-out') + 1], 'w'))\n"
)
"""Scores the number of an image's texts: as METEOR line by line, as SPICE from file to file."""


SPICE_FILES = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")


@pytest.fixture
def with_spice(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A copy of pycocoevalcap that has empty files in place of SPICE's, which it would download."""
    folder = shutil.copytree(
        Path(next(iter(pycocoevalcap.__path__))), tmp_path / "site" / "pycocoevalcap"
    )
    for name in SPICE_FILES:
        (folder / "spice" / "lib" / name).touch()
    monkeypatch.setattr(pycocoevalcap, "__path__", [str(folder)])
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site"))


def test_values_of_both_programs(stand_in: Any, with_spice: None, tmp_path: Path) -> None:
    messages = stand_in(SCORER)
    metrics = java_metrics(["a", "", "c", "d"], [["a"], ["b"], ["c", "d", "e"], ["d", "d"]])
    # A candidate without words is 0 whatever the program says; no value of SPICE is 0 too.
    assert list(metrics["meteor"].per_image) == [0.2, 0.0, 0.4, 0.3]
    assert metrics["meteor"].value == 0.9
    assert list(metrics["spice"].per_image) == [0.25, 0.0, 0.75, 0.0]
    assert metrics["spice"].value == 0.25
    assert messages == []
    assert has_ended(tmp_path)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("print('no number\\n' * 3, flush=True); time.sleep(600)", "ValueError: could not convert"),
        ("time.sleep(600)", "not done after 0.5 seconds"),
    ],
)
def test_a_program_that_fails_is_ended_with_a_warning(
    stand_in: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, message: str
) -> None:
    messages = stand_in(body)
    monkeypatch.setattr(caption_java, "TIMEOUT", 0.5 if body == "time.sleep(600)" else 60.0)
    assert java_metrics(["a", "b"], [["a"], ["b"]]) == {}
    (warning,) = [text for text in messages if "METEOR is left out" in text]
    assert re.search(message, warning)
    assert has_ended(tmp_path)


def test_without_java_one_message(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for _ in range(3):
        assert java_metrics(["a"], [["a"]]) == {}
    assert len(warnings_of_loguru) == 1
    assert "METEOR and SPICE are left out" in warnings_of_loguru[0]
