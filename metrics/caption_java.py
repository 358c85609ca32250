"""METEOR and SPICE, by the Java programs that pycocoevalcap carries.

They run in a process of their own, since pycocoevalcap waits for ever after an exception.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from loguru import logger

from .caption_tokens import tokenize_pairs
from .corpus_metric import Metric

TIMEOUT = 3600.0
"""Seconds after which a Java program is ended; METEOR takes some 10 for 1,331 captions, SPICE some
15 minutes.
"""

SPICE_COMMAND = (
    "python -c 'from pycocoevalcap.spice.get_stanford_models import *; get_stanford_models()'"
)
"""The command that downloads the files of `_SPICE_FILES`, which pycocoevalcap does not carry."""

_SPICE_FILES = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_JAVA_ENVIRONMENT = {
    "JAVA_TOOL_OPTIONS": "-Dfile.encoding=UTF-8",
    # SPICE keeps its results by a library that looks into java.lang, which Java 9 and newer forbid
    # unless told otherwise. Java 8 knows neither the variable nor the option.
    "JDK_JAVA_OPTIONS": " ".join(
        f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "math", "util")
    ),
}
# What the process runs: one scorer of pycocoevalcap. It reads [name, candidates, references] from
# its input, and prints [value of the corpus, [value of each image]].
_PROGRAM = """
import json, os, sys, traceback
from importlib import import_module
name, candidates, references = json.load(sys.stdin)
scorer = getattr(import_module(f"pycocoevalcap.{name}.{name}"), name.capitalize())()
texts = {index: [text] for index, text in enumerate(candidates)}
try:
    value, per_image = scorer.compute_score(dict(enumerate(references)), texts)
except Exception:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)  # the scorer waits for its own lock for ever when it is deleted after an error
if name == "spice":
    per_image = [scores["All"]["f"] for scores in per_image]
print(json.dumps([float(value), list(per_image)]))
"""


def java_metrics(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, Metric]:
    """METEOR 1.5 and SPICE of captions, by the programs that pycocoevalcap carries.

    The corpus value of SPICE is the mean over images, that of METEOR one score of summed
    statistics. Nothing is downloaded.

    Args:
        candidates: n texts, at least one. One without tokens scores 0.
        references: for each candidate at least one text, each with at least one token.

    Returns:
        `Metric` by ``meteor`` and ``spice``, 0 to 1. A program that fails, or whose Java or files
        are not there, is left out; one logged message in each process says why. SPICE without any
        value for an image (no facts in its texts) is 0.

    Raises:
        ValueError: no candidates, unequal numbers, or a candidate without references or with one
            that has no token (names its index).

    Examples:
        Skipped by doctest, as it takes a Java runtime:

        >>> java_metrics(["a cat"], [["a cat", "a dog"]])["meteor"].value  # doctest: +SKIP
        1.0

    Source: METEOR 1.5 (Denkowski and Lavie, 2014), SPICE (Anderson et al., 2016), with the options
    of COCO's code.
    """
    tokenized_candidates, tokenized_references = tokenize_pairs(candidates, references)
    metrics: dict[str, Metric] = {}
    for name in available_java_metrics():
        try:
            value, scores = _run_scorer(name, tokenized_candidates, tokenized_references)
        except (OSError, ValueError) as error:
            _warn_once(f"{name.upper()} is left out: {error}")
            continue
        # A candidate without tokens scores 0, whatever the program says.
        pairs = zip(tokenized_candidates, scores, strict=True)
        per_image = np.nan_to_num([score if text else 0.0 for text, score in pairs])
        # The program's value for SPICE is NaN if one image has none.
        metrics[name] = Metric(float(per_image.mean()) if name == "spice" else value, per_image)
    return metrics


def available_java_metrics() -> tuple[str, ...]:
    """The names of the metrics that can be computed here, of ``meteor`` and ``spice``.

    A warning says what the others lack, once a process.
    """
    if find_java() is None:
        _warn_once("METEOR and SPICE are left out: there is no Java that runs (java -version)")
        return ()
    if not has_spice():
        _warn_once(
            "SPICE is left out: pycocoevalcap lacks two files of Stanford CoreNLP 3.6.0 (400 MB),"
            f" which it downloads with: {SPICE_COMMAND}"
        )
        return ("meteor",)
    return ("meteor", "spice")


# The cache makes it once a message.
@lru_cache(maxsize=64)
def _warn_once(message: str) -> None:
    logger.warning(f"figlang: {message}")


def find_java() -> str | None:
    """The path of a Java that starts; None if there is none."""
    path = shutil.which("java")
    if not path:
        return None
    try:
        # On some systems the command only says how to install Java, and fails.
        process = subprocess.run([path, "-version"], capture_output=True, timeout=60)
    except (OSError, subprocess.SubprocessError):
        return None
    return path if process.returncode == 0 else None


def has_spice() -> bool:
    """Whether pycocoevalcap has the files of Stanford CoreNLP, which SPICE needs.

    Without them it would download them.
    """
    import pycocoevalcap

    # It has no __init__.py, and so no __file__.
    folder = Path(next(iter(pycocoevalcap.__path__))) / "spice" / "lib"
    return all((folder / name).is_file() for name in _SPICE_FILES)


def _run_scorer(
    name: str, candidates: list[str], references: list[list[str]]
) -> tuple[float, list[float]]:
    """Run a scorer of pycocoevalcap; return the values of the corpus and of each image.

    The process ends, with its Java, in any case.

    Args:
        name: ``meteor`` or ``spice``.
        candidates, references: tokenized texts.

    Raises:
        OSError: the process fails, or takes longer than `TIMEOUT`.
        ValueError: what it prints is not JSON.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **_JAVA_ENVIRONMENT},
        start_new_session=True,
    )
    request = json.dumps([name, candidates, references]).encode()
    try:
        output, errors = process.communicate(request, TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"not done after {TIMEOUT:g} seconds") from error
    finally:
        # The session of the process is a process group of the same number, with its Java in it.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode != 0:
        error_lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise OSError(" / ".join(error_lines[-3:]) or f"ended with {process.returncode}")
    # pycocoevalcap prints lines of its own before.
    value, per_image = json.loads(output.splitlines()[-1])
    return value, per_image
