"""Caption metrics as COCO's evaluation code has them: BLEU-4, ROUGE-L, CIDEr, METEOR, SPICE, and
exact match.

Numbers come from pycocoevalcap, the Python 3 form of COCO's code, whose BLEU, ROUGE-L and CIDEr
need no Java once the text is tokenised; METEOR and SPICE run in a process of their own, since
pycocoevalcap waits for ever after an exception. What is ours is the tokeniser in place of
Stanford's (`tokenize`).

Everything is 0 to 1, except CIDEr, which is 0 to 10 (CIDEr-D times ten, so that MetaCLUE's 1.076 is
such a number). What the corpus value is, differs:

- exact match, ROUGE-L, CIDEr, SPICE: the mean over images. CIDEr weighs n-grams by the images of
  this corpus whose references have them. So it cannot be compared between test sets, and is 0 for a
  corpus of one image.
- BLEU-4: one score of summed counts. Of a candidate with fewer than four words the score *per
  image* is next to 0 even if it is right (3e-5 for one word), as there is no smoothing worth the
  name.
- METEOR: one score of summed statistics, which the mean over images differs from slightly.

Source: MetaCLUE (arXiv 2212.09898), section 3.2 and Table 3, which cites BLEU, ROUGE-L, METEOR,
SPICE and CIDEr, and does not name the code.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from loguru import logger

__all__ = [
    "CaptionScores",
    "Metric",
    "bleu4",
    "caption_scores",
    "exact_match",
    "java_metrics",
    "tokenize",
]

Floats: TypeAlias = npt.NDArray[np.float64]
Ints: TypeAlias = npt.NDArray[np.int64]

ORDER = 4
TOKENIZER = "ptb-1"
"""The name of `tokenize` in signatures; bump it when the tokens change."""


@dataclass(frozen=True)
class Metric:
    """One metric over a corpus.

    Attributes:
        value: of the corpus; the mean of `per_image`, except for BLEU-4 and METEOR.
        per_image: float64 array of shape [n], in the order of the input.
    """

    value: float
    per_image: Floats


@dataclass(frozen=True)
class CaptionScores:
    """All metrics of one corpus.

    Attributes:
        metrics: by name: ``em``, ``bleu4``, ``rouge_l``, ``cider``.
        bleu_statistics: int64 array of shape [n, 10] for `bleu4`: tokens of the candidate, tokens
            of the reference nearest in length, matching n-grams for n = 1 to 4, n-grams of the
            candidate likewise.
        signature: what the scores were computed with.
    """

    metrics: Mapping[str, Metric]
    bleu_statistics: Ints
    signature: str


# --- tokens ---

_SAME = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201b", "'"),
        **dict.fromkeys("\u201c\u201d", '"'),
        **dict.fromkeys("\u2013\u2014", "--"),
        "\u2026": "...",
        "\u00a0": " ",
        "\u00ad": "",
        "\u00bd": "1/2",
        "\u00bc": "1/4",
        "\u00be": "3/4",
        "\u20ac": "$",
        "\u00a3": "#",
        "\u00a2": "cents",
    }
)
_ABBREVIATIONS = (
    "mr|mrs|ms|dr|prof|st|ave|blvd|rd|jr|sr|vs|etc|inc|ltd|co|corp|bros|dept|gen|gov|sen|rep|sgt|capt|lt|col|maj|rev|hon"
    "|jan|feb|mar|apr|jun|jul|aug|sep|sept|oct|nov|dec|mon|tue|tues|wed|thu|thurs|fri|cf|ft|mt|al|est|ext"
    r"|ph\.d|e\.g|i\.e|a\.m|p\.m"
)
_TOKEN = re.compile(
    rf"""
    (?:https?://|www\.)[^\s"<>|(){{}}]{{0,500}}[^\s"<>|.!?(){{}},;:'-]  # addresses
  | [a-z0-9][\w.%+-]{{0,80}}@[\w-]{{1,80}}(?:\.[\w-]+)+
  | </?[a-z][^<>\n]{{0,80}}>                        # tags
  | [\#@][a-z]\w*                                   # hashtags and names
  | (?:{_ABBREVIATIONS})\.(?!\w)
  | no\.(?=\s\d)
  | (?<![\w.])[^\W\d_](?=\.[\s"')\]]{{0,8}}\Z)     # plan b. (but u.s.)
  | (?:[^\W\d_]\.)+(?![^\W\d_]{{2}})(?:[^\W\d_](?!\w))?   # u.s., j.k.
  | '?(?:tis|twas)\b | 'n'(?!\w)
  | (?<!\w)'(?:ll|s|d|ve|re|m|til|cause|em)\b
  | \d+(?:[,:]\d+)+(?:\.\d+)?(?:-[^\W\d_]+)*        # 20,000.50 and 20,000-seat
  | (?<!\w)\.\d+
  | [^\W_](?:\w|[.'&/@-](?=\w))*                    # words, with what holds their parts together
  | \.{{2,}} | \*{{2,}} | [!?]{{2,}} | --+ | ''?
  | \S
    """,
    re.VERBOSE,
)
_DROPPED = frozenset(("''", "'", "``", "`", '"', ".", "?", "!", ",", ":", ";"))
_RENAMED = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_SPLIT = {
    "cannot": ("can", "not"),
    "gonna": ("gon", "na"),
    "gotta": ("got", "ta"),
    "wanna": ("wan", "na"),
    "lemme": ("lem", "me"),
    "gimme": ("gim", "me"),
    "dunno": ("du", "n", "no"),
    "rock'n'roll": ("rock", "'n'", "roll"),
    "y'all": ("y'", "all"),
    "'tis": ("'t", "is"),
    "'twas": ("'t", "was"),
}
_CLITIC = re.compile(r"(?:n't|'(?:s|re|ve|ll|d|m))\Z")


def tokenize(text: str) -> tuple[str, ...]:
    """The tokens that COCO's metrics compare, without Java.

    COCO's code uses Stanford's PTBTokenizer in lower case and drops punctuation. This follows it:

    1. Curly quotes become straight, dashes and ellipses ASCII, and the text lower case.
    2. Tokens are separated at white space and around punctuation, currency, ``%`` and the like. One
       token each are words with their inner hyphens, slashes, ampersands and points
       (``life-shortening``, ``and/or``, ``at&t``), numbers (``20,000.50``, ``3/4``), addresses,
       hashtags, and abbreviations and initials with their point (``mr.``, ``u.s.``).
    3. Clitics are split off (``smoker 's``, ``do n't``, ``they 've``), as are ``can not``, ``gon
       na`` and their kind.
    4. Dropped are ``. ? ! , : ; - -- ...`` and quotes. Brackets become ``-lrb-`` and ``-rrb-``
       (square: ``-lsb-``, curly: ``-lcb-``) and stay: COCO's list of what to drop has them in
       capitals. So do ``!!`` and ``?!``.

    Of 19,235 texts of FLUTE and V-FLUTE 99.9 % get the very same tokens as from PTBTokenizer. It
    differs for smileys, ``mac&cheese``, the point of a single letter at the end of a sentence in
    the middle, and rarer things.

    Args:
        text: any text.

    Returns:
        The tokens, in order; none of a text of white space and punctuation alone.

    Examples:
        >>> tokenize("The smoker's life-shortening habit.")
        ('the', 'smoker', "'s", 'life-shortening', 'habit')
    """
    tokens: list[str] = []
    for match in _TOKEN.finditer(text.translate(_SAME).lower()):
        token = match[0]
        if token in _DROPPED or set(token) <= {".", "-"}:
            continue
        if token in _RENAMED:
            tokens.append(_RENAMED[token])
        elif token in _SPLIT:
            tokens.extend(_SPLIT[token])
        else:
            clitic = _CLITIC.search(token)
            if clitic is None or clitic.start() == 0:
                tokens.append(token)
            else:
                tokens.extend((token[: clitic.start()], clitic[0]))
    return tuple(tokens)


def exact_match(candidate: str, references: Sequence[str]) -> bool:
    """Whether the candidate has the same tokens, in the same order, as any of the references.

    So case, punctuation, white space and the shape of quotes and dashes do not matter; articles do.
    The paper says "exact match accuracy (maximum over all references)" and nothing about
    normalisation; its other metrics all compare these tokens.

    Args:
        candidate: a text; without tokens it matches nothing.
        references: texts.

    Returns:
        bool.

    Examples:
        >>> exact_match("Love.", ["hate", "love"])
        True

    Source: MetaCLUE, section 3.2.
    """
    tokens = tokenize(candidate)
    return bool(tokens) and any(tokenize(reference) == tokens for reference in references)


# --- BLEU-4, ROUGE-L, CIDEr ---


def caption_scores(candidates: Sequence[str], references: Sequence[Sequence[str]]) -> CaptionScores:
    """Exact match, BLEU-4, ROUGE-L and CIDEr of captions (or answers), each against one or more
    references.

    Args:
        candidates: n texts. One without tokens (an answer that could not be read is ``""``) scores
            0.
        references: for each candidate at least one text, each with at least one token.

    Returns:
        `CaptionScores`: each metric of the corpus and of the n candidates, 0 to 1 (CIDEr: 0 to 10).

    Raises:
        ValueError: no candidates, unequal numbers, or a candidate without references or with one
            that has no token (names its place).

    Examples:
        >>> references = [["love is blind"], ["love", "a strong dislike"]]
        >>> found = caption_scores(["love is blind", "hate"], references)
        >>> {name: round(metric.value, 3) for name, metric in found.metrics.items()}
        {'em': 0.5, 'bleu4': 0.029, 'rouge_l': 0.5, 'cider': 3.75}

    Source: MetaCLUE, section 3.2 and Table 3.
    """
    given, expected = _tokenized(candidates, references)
    truth = dict(enumerate(expected))
    found = {index: [text] for index, text in enumerate(given)}

    from pycocoevalcap.bleu.bleu_scorer import BleuScorer
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge

    bleu = BleuScorer(n=ORDER)
    for text, texts in zip(given, expected, strict=True):
        bleu += (text, texts)
    values, per_image = bleu.compute_score(option="closest", verbose=0)
    statistics = np.array([_bleu_row(comparison) for comparison in bleu.ctest], dtype=np.int64)
    rouge, rouges = Rouge().compute_score(truth, found)
    cider, ciders = Cider().compute_score(truth, found)
    hits = np.array(
        [float(text in texts and text != "") for text, texts in zip(given, expected, strict=True)]
    )
    metrics = {
        "em": Metric(float(hits.mean()), hits),
        # Its constants against division by 0 make a perfect score a little less, and never more,
        # than 1.
        "bleu4": Metric(float(values[ORDER - 1]), np.array(per_image[ORDER - 1], dtype=np.float64)),
        "rouge_l": Metric(float(rouge), np.asarray(rouges, dtype=np.float64)),
        "cider": Metric(float(cider), np.asarray(ciders, dtype=np.float64)),
    }
    return CaptionScores(metrics, statistics, signature(metrics))


def signature(metrics: Mapping[str, Metric]) -> str:
    """The signature of metrics, e.g.
    ``coco|em,bleu4,rouge_l,cider|case:lower|tok:ptb-1|pycocoevalcap:1.2``.
    """
    return (
        f"coco|{','.join(metrics)}|case:lower|tok:{TOKENIZER}"
        f"|pycocoevalcap:{version('pycocoevalcap')}"
    )


def _bleu_row(comparison: Mapping[str, object]) -> list[int]:
    length = comparison["testlen"]
    nearest = min(comparison["reflen"], key=lambda n: (abs(n - length), n))  # type: ignore[call-overload]
    return [length, nearest, *comparison["correct"], *comparison["guess"]]  # type: ignore[misc, list-item]


def _tokenized(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> tuple[list[str], list[list[str]]]:
    """Candidates and lists of references, each text as its tokens with single blanks between
    them.
    """
    if not candidates or len(candidates) != len(references):
        raise ValueError(
            f"{len(candidates)} candidates and {len(references)} lists of references: give one for"
            " each"
        )
    expected = [[" ".join(tokenize(text)) for text in texts] for texts in references]
    for place, texts in enumerate(expected):
        if not texts or "" in texts:
            raise ValueError(
                f"references[{place}] is {references[place]!r}, must be texts with words to compare"
            )
    return [" ".join(tokenize(text)) for text in candidates], expected


def bleu4(statistics: npt.ArrayLike) -> Floats:
    """COCO's corpus BLEU-4 from summed statistics.

    Args:
        statistics: shape [..., 10], sums over images of the rows of
            `CaptionScores.bleu_statistics`.

    Returns:
        float64 array of shape [...], each in [0, 1].

    Examples:
        >>> round(float(bleu4([10, 10, 8, 6, 4, 2, 10, 9, 8, 7])), 3)
        0.525
    """
    sums = np.asarray(statistics, dtype=np.float64)
    length, reference = sums[..., 0], sums[..., 1]
    correct, guessed = sums[..., 2 : 2 + ORDER], sums[..., 2 + ORDER :]
    # The constants of pycocoevalcap (bleu_scorer.py), which decide what a corpus without any 4-gram
    # gets.
    precision = np.prod((correct + 1e-15) / (guessed + 1e-9), axis=-1) ** (1 / ORDER)
    ratio = (length + 1e-15) / (reference + 1e-9)
    return np.asarray(precision * np.exp(np.minimum(0.0, 1 - 1 / ratio)), dtype=np.float64)


# --- METEOR and SPICE ---

TIMEOUT = 3600.0
"""Seconds after which a Java program is ended; METEOR takes some 10 for 1,331 captions, SPICE some
15 minutes.
"""

SPICE_COMMAND = (
    "python -c 'from pycocoevalcap.spice.get_stanford_models import *; get_stanford_models()'"
)
"""Downloads the files of `_SPICE_FILES`, which pycocoevalcap does not carry."""

_SPICE_FILES = ("stanford-corenlp-3.6.0.jar", "stanford-corenlp-3.6.0-models.jar")
_JAVA = {
    "JAVA_TOOL_OPTIONS": "-Dfile.encoding=UTF-8",
    # SPICE keeps its results by a library that looks into java.lang, which Java 9 and newer forbid
    # unless told otherwise. Java 8 knows neither the variable nor the option.
    "JDK_JAVA_OPTIONS": " ".join(
        f"--add-opens=java.base/java.{name}=ALL-UNNAMED" for name in ("lang", "math", "util")
    ),
}
_PROGRAM = """
import json, os, sys, traceback
from importlib import import_module
name, given, expected = json.load(sys.stdin)
scorer = getattr(import_module(f"pycocoevalcap.{name}.{name}"), name.capitalize())()
texts = {place: [text] for place, text in enumerate(given)}
try:
    value, of_images = scorer.compute_score(dict(enumerate(expected)), texts)
except Exception:
    traceback.print_exc()
    sys.stderr.flush()
    os._exit(1)  # the scorer waits for its own lock for ever when it is deleted after an error
print(json.dumps([float(value), [each["All"]["f"] if name == "spice" else each for each in of_images]]))
"""  # noqa: E501


def java_metrics(
    candidates: Sequence[str], references: Sequence[Sequence[str]]
) -> dict[str, Metric]:
    """METEOR 1.5 and SPICE, by the programs that pycocoevalcap carries.

    Args and errors as in `caption_scores`. Nothing is downloaded.

    Returns:
        `Metric` by ``meteor`` and ``spice``, 0 to 1. One that fails, or whose Java or files are not
        there, is left out; one logged message in each process says why. SPICE without any value for
        an image (no facts in its texts) is 0.

    Examples:
        Skipped by doctest, as it takes a Java runtime:

        >>> java_metrics(["a cat"], [["a cat", "a dog"]])["meteor"].value  # doctest: +SKIP
        1.0

    Source: METEOR 1.5 (Denkowski and Lavie, 2014), SPICE (Anderson et al., 2016), with the options
    of COCO's code.
    """
    given, expected = _tokenized(candidates, references)
    found: dict[str, Metric] = {}
    for name in available_java_metrics():
        try:
            value, of_images = _by_java(name, given, expected)
        except (OSError, ValueError) as error:
            _tell(f"{name.upper()} is left out: {error}")
            continue
        per_image = np.nan_to_num(
            [each if text else 0.0 for text, each in zip(given, of_images, strict=True)]
        )
        found[name] = Metric(float(per_image.mean()) if name == "spice" else value, per_image)
    return found


def available_java_metrics() -> tuple[str, ...]:
    """Those of ``meteor`` and ``spice`` that can be computed; what the others lack is logged, once
    a process.
    """
    if find_java() is None:
        _tell("METEOR and SPICE are left out: there is no Java that runs (java -version)")
        return ()
    if not has_spice():
        _tell(
            "SPICE is left out: pycocoevalcap lacks two files of Stanford CoreNLP 3.6.0 (400 MB),"
            f" which it downloads with: {SPICE_COMMAND}"
        )
        return ("meteor",)
    return ("meteor", "spice")


@lru_cache(maxsize=64)
def _tell(message: str) -> None:
    logger.warning(f"figlang: {message}")


def find_java() -> str | None:
    """The path of a Java that starts; None if there is none."""
    path = shutil.which("java")  # on some systems the command only says how to install it
    try:
        starts = (
            path
            and subprocess.run([path, "-version"], capture_output=True, timeout=60).returncode == 0
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return path if starts else None


def has_spice() -> bool:
    """Whether pycocoevalcap has the files of Stanford CoreNLP, without which it would download
    them.
    """
    import pycocoevalcap

    # It has no __init__.py, and so no __file__
    folder = Path(next(iter(pycocoevalcap.__path__))) / "spice" / "lib"
    return all((folder / name).is_file() for name in _SPICE_FILES)


def _by_java(name: str, given: list[str], expected: list[list[str]]) -> tuple[float, list[float]]:
    """Value and values of images by a class of pycocoevalcap, in a process that ends, with its
    Java, in any case.
    """
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **_JAVA},
        start_new_session=True,
    )
    try:
        output, errors = process.communicate(json.dumps([name, given, expected]).encode(), TIMEOUT)
    except subprocess.TimeoutExpired as error:
        raise OSError(f"not done after {TIMEOUT:g} seconds") from error
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.returncode != 0:
        lines = errors.decode("utf-8", "replace").strip().splitlines()
        raise OSError(" / ".join(lines[-3:]) or f"ended with {process.returncode}")
    value, of_images = json.loads(output.splitlines()[-1])
    return value, of_images
