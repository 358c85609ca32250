"""``figlang-score``: the scores of texts in files. torch is imported when there is something to
score.

With figlang-tasks alone the same command is ``python -m figlang_tasks.metrics.explanation``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from loguru import logger

from .. import DISTRIBUTION, __version__
from ..files import write_whole
from . import SCORERS, WeightsError, get_scorer

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_EPILOG = """\
In -r and -c, line N of one file belongs to line N of the other. An empty candidate (null in JSON) is an empty text.

  figlang-score -r refs.txt -c hyps.txt --scorer figlang24
  figlang-score pairs.csv --reference gold --candidate output --output scores.csv

Exit status: 0 all pairs are scored, 1 they cannot be (nothing is written), 2 wrong usage.
"""  # noqa: E501


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns its exit status. Wrong usage ends with ``SystemExit``, as argparse
    does it.
    """
    given = parsed(arguments)
    logger.remove()
    logger.add(
        lambda message: print(message, end="", file=sys.stderr), level="INFO", format="{message}"
    )
    try:
        references, candidates = _read(given)
        scorer = get_scorer(
            given.scorer,
            device=given.device,
            dtype=given.dtype,
            cache=given.cache,
            bertscore_model=given.bertscore_model,
            bertscore_layer=given.bertscore_layer,
            bleurt_model=given.bleurt_model,
        )
        scores = scorer.score(references, candidates)
        named = {"bertscore": scores.bertscore, "bleurt": scores.bleurt, "mean": scores.mean}
        columns = {name: values.tolist() for name, values in named.items() if values is not None}
        if given.output is not None:
            rows = [columns, *zip(*columns.values(), strict=True)]
            write_whole(
                given.output, "".join(f"{','.join(map(str, row))}\n" for row in rows).encode()
            )
        print(_told(scores.signature, len(references), columns, given.json))
    except (WeightsError, ValueError, ArithmeticError, MemoryError, OSError) as error:
        print(f"figlang-score: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print(
            "figlang-score: interrupted; what is in the cache is not computed again",
            file=sys.stderr,
        )
        return 130
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="figlang-score",
        description=(
            "Score texts against references: BERTScore, BLEURT, and their mean, the"
            " ExplanationScore."
        ),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add(
        "pairs",
        nargs="?",
        type=Path,
        metavar="PAIRS",
        help="a .csv, .tsv or .jsonl file, a pair in each row",
    )
    add("-r", "--refs", type=Path, metavar="FILE", help="references, a text a line")
    add("-c", "--cands", type=Path, metavar="FILE", help="candidates, a text a line")
    add(
        "--reference",
        metavar="COLUMN",
        default="reference",
        help="column with the references (default: reference)",
    )
    add(
        "--candidate",
        metavar="COLUMN",
        default="candidate",
        help="column with the candidates (default: candidate)",
    )
    add(
        "--scorer",
        choices=SCORERS,
        default="vflute25",
        help="default: vflute25, the mean of BERTScore and BLEURT",
    )
    add(
        "--dtype",
        choices=("fp32", "fast"),
        default="fp32",
        help="fp32 (default) for results; fast: bfloat16, on some CPUs no faster",
    )
    add(
        "--device",
        default="auto",
        help="auto (default: the GPU, if the models fit), cpu, cuda:1 ...",
    )
    add(
        "--bertscore-model",
        metavar="MODEL",
        help="another BERT or DeBERTa: a folder, ORG/NAME or ORG/NAME@COMMIT",
    )
    add(
        "--bertscore-layer",
        type=int,
        metavar="LAYER",
        help="its layer (default: that of bert-score, if known)",
    )
    add("--bleurt-model", metavar="MODEL", help="another BLEURT checkpoint, named in the same ways")
    kept = "use the scores in $FIGLANG_CACHE or the user's cache folder (default), or not"
    add("--cache", action=argparse.BooleanOptionalAction, default=True, help=kept)
    add("--output", type=Path, metavar="FILE", help="a .csv file for the scores of each row")
    add("--json", action="store_true", help="print the means as one JSON object")
    add("--version", action="version", version=f"{DISTRIBUTION} {__version__}")
    given = parser.parse_args(arguments)
    lines = [each for each in (given.refs, given.cands) if each is not None]
    if len(lines) != 2 * (given.pairs is None):
        parser.error("give either -r FILE and -c FILE, or one file PAIRS")
    if given.pairs and given.pairs.suffix.lower() not in (*_DELIMITERS, ".jsonl"):
        parser.error(
            f"{given.pairs} must end in .csv, .tsv or .jsonl; for a text a line use -r and -c"
        )
    if given.output and given.output.suffix.lower() != ".csv":
        parser.error(f"--output {given.output} must end in .csv")
    if given.output and (given.output == given.pairs or not given.output.parent.is_dir()):
        parser.error(
            f"--output {given.output}: name another file than PAIRS, in a folder that is there"
        )
    return given


def _read(given: argparse.Namespace) -> tuple[list[str], list[str | None]]:
    """References and candidates, at least one pair; whether they are texts, and as many, the scorer
    checks.
    """
    if given.pairs is None:
        references, candidates = _lines(given.refs), _lines(given.cands)
    else:
        rows = (_json_rows if given.pairs.suffix.lower() == ".jsonl" else _table_rows)(given.pairs)
        references = _column(given.pairs, rows, given.reference, "--reference")
        candidates = _column(given.pairs, rows, given.candidate, "--candidate")
    if not references:
        raise ValueError(f"{given.pairs or given.refs} has no pairs: a row (or line) is one")
    return references, candidates


def _content(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")  # line ends as they are
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 ({error}): save the file as UTF-8") from error


def _lines(path: Path) -> list[Any]:
    # Not splitlines: texts may hold other line separators.
    lines = [line.removesuffix("\r") for line in _content(path).split("\n")]
    return lines if lines[-1] else lines[:-1]


def _json_rows(path: Path) -> list[Any]:
    rows = []
    for number, line in enumerate(_lines(path), 1):
        try:
            rows += [json.loads(line)] if line.strip() else []
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number} is not JSON ({error}): write one object a line"
            ) from error
    return rows


def _table_rows(path: Path) -> list[Any]:
    reader = csv.DictReader(
        io.StringIO(_content(path), newline=""),
        delimiter=_DELIMITERS[path.suffix.lower()],
        strict=True,
    )
    try:
        rows = list(reader)
    except csv.Error as error:
        raise ValueError(
            f"{path}, line {reader.line_num} is not CSV ({error}): save it again"
        ) from error
    for number, row in enumerate(rows, 1):
        if None in row or None in row.values():
            raise ValueError(
                f"{path}: row {number} has not as many cells as the header: correct it"
            )
    return rows


def _column(path: Path, rows: Sequence[Any], name: str, option: str) -> list[Any]:
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or name not in row:
            raise ValueError(
                f"{path}: row {number} has no column {name!r}; {option} names another one"
            )
    return [row[name] for row in rows]


def _told(signature: str, pairs: int, columns: dict[str, list[float]], as_json: bool) -> str:
    means = {name: math.fsum(values) / len(values) for name, values in columns.items()}
    if as_json:
        return json.dumps({"pairs": pairs, **means, "signature": signature})
    told = (
        {"pairs": pairs}
        | {name: f"{mean:.6f}" for name, mean in means.items()}
        | {"signature": signature}
    )
    return "\n".join(f"{name:<10} {value}" for name, value in told.items())


if __name__ == "__main__":
    sys.exit(main())
