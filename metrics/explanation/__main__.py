"""``figlang-score``: the scores of texts in files.

torch is imported only when there is something to score. With figlang-tasks alone the same command
is ``python -m figlang_tasks.metrics.explanation``.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from loguru import logger

from .. import DISTRIBUTION, __version__
from ..files import write_whole
from . import SCORERS, WeightsError, get_scorer

Cell: TypeAlias = object
"""What a column holds in a row: a text, or whatever JSON has there; the scorer checks it."""

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_EPILOG = """\
In -r and -c, line N of one file belongs to line N of the other. An empty candidate (null in JSON) is an empty text.

  figlang-score -r refs.txt -c hyps.txt --scorer figlang24
  figlang-score pairs.csv --reference gold --candidate output --output scores.csv

Exit status: 0 all pairs are scored, 1 they cannot be (nothing is written), 2 wrong usage.
"""  # noqa: E501


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 for an error, 130 for an interrupt.

    Args:
        argv: the arguments of the command; None for those of this process.

    Raises:
        SystemExit: wrong usage.
    """
    arguments = parse_arguments(argv)
    logger.remove()
    logger.add(_print_to_stderr, level="INFO", format="{message}")
    try:
        _score_files(arguments)
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


def _print_to_stderr(message: str) -> None:
    """Print a log message to the stderr of this moment, which tests may replace."""
    print(message, end="", file=sys.stderr)


def _score_files(arguments: argparse.Namespace) -> None:
    """Score the texts of files; print the means, and write the scores of each row if required."""
    references, candidates = _read_texts(arguments)
    scorer = get_scorer(
        arguments.scorer,
        device=arguments.device,
        dtype=arguments.dtype,
        cache=arguments.cache,
        bertscore_model=arguments.bertscore_model,
        bertscore_layer=arguments.bertscore_layer,
        bleurt_model=arguments.bleurt_model,
    )
    # The scorer checks that the cells are texts.
    scores = scorer.score(references, candidates)  # type: ignore[arg-type]
    columns = {"bertscore": scores.bertscore.tolist()}
    if scores.bleurt is not None:
        columns["bleurt"] = scores.bleurt.tolist()
    columns["mean"] = scores.mean.tolist()
    if arguments.output is not None:
        write_whole(arguments.output, _csv(columns).encode())
    print(_summary(scores.signature, len(references), columns, as_json=arguments.json))


# --- arguments ---


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """The arguments of the command, checked; wrong usage ends with ``SystemExit``."""
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
    _add_file_arguments(parser)
    _add_scorer_arguments(parser)
    _add_output_arguments(parser)
    arguments = parser.parse_args(argv)
    _check_usage(parser, arguments)
    return arguments


def _add_file_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that name the texts."""
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


def _add_scorer_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose scorer, device and models."""
    add = parser.add_argument
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
        help="another BERT, DeBERTa or RoBERTa: a folder, ORG/NAME or ORG/NAME@COMMIT",
    )
    add(
        "--bertscore-layer",
        type=int,
        metavar="LAYER",
        help="its layer (default: that of bert-score, if known)",
    )
    add("--bleurt-model", metavar="MODEL", help="another BLEURT checkpoint, named in the same ways")
    add(
        "--cache",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="use the scores in $FIGLANG_CACHE or the user's cache folder (default), or not",
    )


def _add_output_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that say where the scores go."""
    add = parser.add_argument
    add("--output", type=Path, metavar="FILE", help="a .csv file for the scores of each row")
    add("--json", action="store_true", help="print the means as one JSON object")
    add("--version", action="version", version=f"{DISTRIBUTION} {__version__}")


def _check_usage(parser: argparse.ArgumentParser, arguments: argparse.Namespace) -> None:
    """End with the usage if the files of the arguments do not fit together."""
    pairs: Path | None = arguments.pairs
    output: Path | None = arguments.output
    has_refs = arguments.refs is not None
    has_cands = arguments.cands is not None
    has_text_files = has_refs and has_cands and pairs is None
    has_one_file = pairs is not None and not has_refs and not has_cands
    if not has_text_files and not has_one_file:
        parser.error("give either -r FILE and -c FILE, or one file PAIRS")
    if pairs and pairs.suffix.lower() not in (*_DELIMITERS, ".jsonl"):
        parser.error(f"{pairs} must end in .csv, .tsv or .jsonl; for a text a line use -r and -c")
    if output and output.suffix.lower() != ".csv":
        parser.error(f"--output {output} must end in .csv")
    if output and (output == pairs or not output.parent.is_dir()):
        parser.error(f"--output {output}: name another file than PAIRS, in a folder that is there")


# --- files ---


def _read_texts(arguments: argparse.Namespace) -> tuple[list[Cell], list[Cell]]:
    """References and candidates, at least one of both.

    Whether they are texts, and as many, the scorer checks.
    """
    pairs: Path | None = arguments.pairs
    references: list[Cell]
    candidates: list[Cell]
    if pairs is None:
        references = list(_read_lines(arguments.refs))
        candidates = list(_read_lines(arguments.cands))
    else:
        is_jsonl = pairs.suffix.lower() == ".jsonl"
        rows = _read_json_rows(pairs) if is_jsonl else _read_table_rows(pairs)
        references = _column(pairs, rows, arguments.reference, option="--reference")
        candidates = _column(pairs, rows, arguments.candidate, option="--candidate")
    if not references:
        raise ValueError(f"{pairs or arguments.refs} has no pairs: a row (or line) is one")
    return references, candidates


def _read_text(path: Path) -> str:
    """The content of a file in UTF-8, with its line ends as they are."""
    try:
        return path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8 ({error}): save the file as UTF-8") from error


def _read_lines(path: Path) -> list[str]:
    """The lines of a file."""
    # Not splitlines: texts may hold other line separators.
    lines = [line.removesuffix("\r") for line in _read_text(path).split("\n")]
    ends_with_newline = not lines[-1]
    return lines[:-1] if ends_with_newline else lines


def _read_json_rows(path: Path) -> list[object]:
    """What JSON has in each line of a file; blank lines are left out."""
    rows: list[object] = []
    for number, line in enumerate(_read_lines(path), 1):
        if not line.strip():
            continue
        try:
            rows.append(json.loads(line))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number} is not JSON ({error}): write one object a line"
            ) from error
    return rows


def _read_table_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a .csv or .tsv file, by column."""
    reader = csv.DictReader(
        io.StringIO(_read_text(path), newline=""),
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
        # None is the key of cells beyond the header, and the value of cells that are missing.
        if None in row or None in row.values():
            raise ValueError(
                f"{path}: row {number} has not as many cells as the header: correct it"
            )
    return rows


def _column(path: Path, rows: Sequence[object], name: str, option: str) -> list[Cell]:
    """The cells of a column; ValueError if a row lacks it.

    Args:
        path: the file, for the message.
        rows: what the file holds; a row without columns is no dict.
        name: the column.
        option: the option that names another column, for the message.
    """
    cells: list[Cell] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or name not in row:
            raise ValueError(
                f"{path}: row {number} has no column {name!r}; {option} names another one"
            )
        cells.append(row[name])
    return cells


# --- scores ---


def _csv(columns: Mapping[str, list[float]]) -> str:
    """The columns as a table with a header, in CSV."""
    rows = [",".join(columns)]
    for scores in zip(*columns.values(), strict=True):
        rows.append(",".join(map(str, scores)))
    return "".join(f"{row}\n" for row in rows)


def _summary(
    signature: str, pairs: int, columns: Mapping[str, list[float]], *, as_json: bool
) -> str:
    """What is printed: the number of pairs, the mean of each column, and the signature.

    Args:
        signature: of the scores.
        pairs: the number of pairs.
        columns: the scores by name.
        as_json: one JSON object, instead of a line for each.
    """
    means = {name: math.fsum(scores) / len(scores) for name, scores in columns.items()}
    if as_json:
        return json.dumps({"pairs": pairs, **means, "signature": signature})
    lines = [f"{'pairs':<10} {pairs}"]
    lines += [f"{name:<10} {mean:.6f}" for name, mean in means.items()]
    lines.append(f"{'signature':<10} {signature}")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
