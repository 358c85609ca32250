"""Measure how well readers read answers that models really wrote.

    python tools/readings.py answers.jsonl more.jsonl.gz              # how many are read rightly
    python tools/readings.py answers.jsonl --by model --show 20       # by model; wrong ones
    python tools/readings.py answers.jsonl --peer rules:first_letter  # another reader beside ours
    python tools/readings.py labels.jsonl --kind entailment           # or yes_no
    python tools/readings.py runs.jsonl.gz --accuracy                 # the accuracies of models

Each line of a file is a JSON object:

- ``output``: what a model wrote.
- ``options``: how many options it had, or ``texts``: their texts; only for a choice.
- ``answer``: what a careful person reads in it. A letter or a number from 1; entailment or
  contradiction; yes or no. Or none, several or both: there is no answer.
- ``count``: how often it was written; 1 if missing.
- ``about``: what a question of yes or no is about, as a regular expression; may be missing.
- ``sure``: false where a careful person doubts `answer`; ``--sure`` leaves these lines out.
- with ``--accuracy``, these replace ``answer``: ``gold``, the right option, and, where known,
  ``by_authors``, the option that the authors read, and ``model``.

A reader is MODULE:FUNCTION. For options it is called with the output and the number of options, and
with ``texts`` if it has an argument of this name; for labels only with the output. It returns the
option, counted from 0 or as a letter, or the label (True or 1 for yes and entailment), None if it
reads nothing, or an object with ``value`` and ``rule``.
"""

from __future__ import annotations

import argparse
import gzip
import inspect
import io
import pkgutil
import string
import sys
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from figlang_tasks.core.errors import DataError
from figlang_tasks.core.files import MOST_BYTES
from figlang_tasks.core.row_files import brief, content_of, json_lines, parse_row
from figlang_tasks.core.text import markdown_table, printable_lines

OURS = {
    "option": "figlang_tasks.answers.option:option",
    "entailment": "figlang_tasks.answers.entailment:entailment",
    "yes_no": "figlang_tasks.answers.yes_no:yes_no",
}
"""Our reader of each kind of answer."""

LABELS = {"entailment": ("contradiction", "entailment"), "yes_no": ("no", "yes")}
"""The labels of the kinds that have some, by their value."""

NO_ANSWER = ("none", "several", "both")

RIGHT, WRONG, UNREAD, INVENTED, LEFT = "right", "wrong", "unread", "invented", "rightly none"
OUTCOMES = (RIGHT, WRONG, UNREAD, INVENTED, LEFT)  # the last two are for outputs without an answer
_LETTERS = string.ascii_uppercase
_LONGEST = 1200  # a longer output is shortened to this many characters


# --- files ---


class _Line(BaseModel):
    """What a line may have; other fields are for ``--by``."""

    model_config = ConfigDict(strict=True)

    output: str
    options: PositiveInt | None = None
    texts: tuple[str, ...] | None = Field(None, strict=False, min_length=1)
    answer: str | int | None = None
    gold: str | int | None = None
    by_authors: str | int | None = None
    count: PositiveInt = 1


@dataclass(frozen=True)
class Row:
    """One line of a file. A value is the place of an option, from 0, or of a label in `LABELS`;
    None is no answer.
    """

    place: str  # file and line
    kind: str
    output: str
    options: int  # their number; 0 if the answers are labels
    texts: tuple[str, ...] | None
    answer: int | None
    gold: int | None  # only with --accuracy, as `by_authors`
    by_authors: int | None
    count: int
    fields: Mapping[str, Any]  # all fields of the line

    def name(self, value: int | None) -> str:
        """Return a value as people write it: a letter, a number or a label."""
        if value is None:
            return "nothing"
        if self.kind in LABELS:
            return LABELS[self.kind][value]
        return _LETTERS[value] if value < len(_LETTERS) else str(value + 1)


def rows_of(path: Path, kind: str, is_accuracy: bool) -> list[Row]:
    """Read the rows of a file; a `DataError` names the first invalid line."""
    content = content_of(path)
    if path.suffix == ".gz":
        try:
            with gzip.open(io.BytesIO(content)) as unpacked:
                content = unpacked.read(MOST_BYTES + 1)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"{path} is no whole gzip file ({error}): get it again") from error
        if len(content) > MOST_BYTES:
            raise DataError(
                f"{path} has more than {MOST_BYTES:,} bytes unpacked: give a part of it"
            )
    rows = []
    for number, fields in json_lines(io.BytesIO(content)):
        place = f"{path}, line {number}"
        if isinstance(fields, str):
            raise DataError(f"{place} {fields}")
        rows.append(_row(fields, place, kind, is_accuracy))
    if not rows:
        raise DataError(f"{path} is empty: it must have an answer a line")
    return rows


def _row(fields: Mapping[str, Any], place: str, kind: str, is_accuracy: bool) -> Row:
    line = parse_row(_Line, fields, place)
    options = 0
    if kind == "option":
        options = line.options or len(line.texts or ())
        if not options or len(line.texts or range(options)) != options:
            raise DataError(
                f"{place} must have options, their number, or texts; or as many texts as options"
            )

    answer = gold = by_authors = None
    if is_accuracy:
        gold = _value(line.gold, f"{place}: gold", kind, options)
        if gold is None:
            raise DataError(f"{place}: gold is {line.gold}, must be what is right")
        if line.by_authors is not None:
            by_authors = _value(line.by_authors, f"{place}: by_authors", kind, len(_LETTERS))
    else:
        answer = _value(line.answer, f"{place}: answer", kind, options)
    return Row(
        place, kind, line.output, options, line.texts, answer, gold, by_authors, line.count, fields
    )


def _value(given: str | int | None, what: str, kind: str, options: int) -> int | None:
    """Return the value of a field; `what` is its place and name, for messages."""
    if given in NO_ANSWER:
        return None
    if kind in LABELS:
        wanted = " or ".join(LABELS[kind])
        value = LABELS[kind].index(str(given)) if given in LABELS[kind] else None
    else:
        wanted = f"a letter, or a number from 1, of {options} options"
        value = _option(given)
    if value is None or not (kind in LABELS or 0 <= value < options):
        raise DataError(f"{what} is {brief(given)}, must be {wanted}, or {', '.join(NO_ANSWER)}")
    return value


def _option(given: object) -> int | None:
    """The place of an option, from 0, that a letter or a number from 1 names; None if it is
    neither.
    """
    word = str(given).strip().upper()
    if len(word) == 1 and word in _LETTERS:
        return _LETTERS.index(word)
    is_number = isinstance(given, str | int) and word.isascii() and word.isdigit() and len(word) < 6
    return int(word) - 1 if is_number else None


# --- readers ---


@dataclass(frozen=True)
class Reading:
    """What a reader found in the output of a row."""

    row: Row
    value: int | None
    rule: str  # "" if the reader does not name one

    @property
    def outcome(self) -> str:
        """How well the output was read."""
        if self.row.answer is None:
            return LEFT if self.value is None else INVENTED
        if self.value is None:
            return UNREAD
        return RIGHT if self.value == self.row.answer else WRONG


@dataclass(frozen=True)
class Reader:
    """A function that reads outputs."""

    name: str
    function: Callable[..., Any]
    arguments: frozenset[str]  # their names

    def read(self, row: Row) -> Reading:
        """What the function finds in the output of a row; a `DataError` if it fails or finds what
        is no value.
        """
        positional: list[Any] = [row.output]
        named: dict[str, Any] = {}
        if row.kind == "option":
            positional.append(row.options)
            if row.texts and "texts" in self.arguments:
                named["texts"] = row.texts
        if "about" in self.arguments and "about" in row.fields:
            named["about"] = row.fields["about"]
        try:
            found = self.function(*positional, **named)
        except Exception as error:
            raise DataError(
                f"{row.place}: {self.name} failed: {type(error).__name__}: {error}"
            ) from error
        return Reading(row, self._value(found, row), str(getattr(found, "rule", "")))

    def _value(self, found: object, row: Row) -> int | None:
        """Convert what the function returned to a value."""
        value = getattr(found, "value", found)
        if value is None:
            return None
        if row.kind in LABELS:
            labels = LABELS[row.kind]
            if isinstance(value, int) and value in (0, 1):
                return int(value)
            if isinstance(value, str) and value.lower() in labels:
                return labels.index(value.lower())
        elif isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        elif isinstance(value, str) and (option := _option(value)) is not None:
            return option
        raise DataError(
            f"{row.place}: {self.name} returned {brief(found)}, which is no reading of kind"
            f" {row.kind}"
        )


def load_reader(name: str) -> Reader:
    """The reader that MODULE:FUNCTION names; a `DataError` if there is none."""
    try:
        function = pkgutil.resolve_name(name)
        arguments = frozenset(inspect.signature(function).parameters)
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise DataError(
            f"no reader {name} ({error}): name a function of Python, MODULE:FUNCTION"
        ) from error
    return Reader(name, function, arguments)


# --- how well a reader reads ---


def count_outcomes(readings: Iterable[Reading]) -> Counter[str]:
    """How many answers have each outcome."""
    counts: Counter[str] = Counter()
    for reading in readings:
        counts[reading.outcome] += reading.row.count
    return counts


HEAD = ("answers", "right %", "wrong %", "unread %", "without answer", "invented %")


def outcome_cells(counts: Mapping[str, int]) -> list[str]:
    """The cells of a line under `HEAD`."""
    answers = counts[RIGHT] + counts[WRONG] + counts[UNREAD]
    without = counts[INVENTED] + counts[LEFT]
    shares = [percent(counts[outcome], answers) for outcome in (RIGHT, WRONG, UNREAD)]
    return [str(answers), *shares, str(without), percent(counts[INVENTED], without)]


def percent(part: int, whole: int) -> str:
    """A share in percent; "" of nothing."""
    return f"{100 * part / whole:.2f}" if whole else ""


def outcome_tables(
    rows: Sequence[Row], readers: Sequence[Reader], field: str | None, show: int
) -> list[str]:
    """Return what is printed: tables by reader, field and rule, and badly read rows."""
    by_reader = {reader.name: [reader.read(row) for row in rows] for reader in readers}
    lines = [
        [name, *outcome_cells(count_outcomes(readings))] for name, readings in by_reader.items()
    ]
    parts = [markdown_table([["reader", *HEAD], *lines])]
    if field is not None:
        parts.append(_table_by_field(by_reader, field))
    for name, readings in by_reader.items():
        if any(reading.rule for reading in readings):
            parts.append(_table_by_rule(name, readings))
    if show:
        parts.append(_badly_read(by_reader[readers[0].name], show))
    return parts


def _table_by_field(by_reader: Mapping[str, Sequence[Reading]], field: str) -> str:
    """A line for each value of a field and each reader."""
    groups: dict[tuple[str, str], list[Reading]] = {}
    for name, readings in by_reader.items():
        for reading in readings:
            value = str(reading.row.fields.get(field, ""))
            groups.setdefault((value, name), []).append(reading)
    order = sorted(groups, key=lambda group: group[0])
    lines = [[*group, *outcome_cells(count_outcomes(groups[group]))] for group in order]
    return markdown_table([[field, "reader", *HEAD], *lines])


def _table_by_rule(name: str, readings: Sequence[Reading]) -> str:
    """A line for each rule of a reader with the outcomes of what it decided, the most frequent
    first.
    """
    counts_by_rule: dict[str, Counter[str]] = {}
    for reading in readings:
        counts_by_rule.setdefault(reading.rule, Counter()).update(count_outcomes([reading]))
    lines = []
    for rule, counts in sorted(
        counts_by_rule.items(), key=lambda line: (-line[1].total(), line[0])
    ):
        lines.append(
            [rule, str(counts.total()), *(str(counts[outcome] or "") for outcome in OUTCOMES)]
        )
    return markdown_table([[f"rule of {name}", "outputs", *OUTCOMES], *lines])


def _badly_read(readings: Sequence[Reading], most: int) -> str:
    """The first rows that were not read rightly: wrong ones, then invented, then unread ones."""
    order = (WRONG, INVENTED, UNREAD)
    badly_read = [reading for reading in readings if reading.outcome in order]
    badly_read.sort(key=lambda reading: order.index(reading.outcome))
    parts = []
    for reading in badly_read[:most]:
        row = reading.row
        head = (
            f"{row.place}: {reading.outcome}: read {row.name(reading.value)} (rule"
            f" {reading.rule or 'unknown'})"
        )
        parts.append(f"--- {head}, answer {row.fields['answer']}\n{_shortened(row.output)}")
    return "\n".join(parts) or "every row was read rightly"


def _shortened(output: str) -> str:
    """An output for the screen; of a long one a third from its beginning and two thirds from its
    end.
    """
    if len(output) > _LONGEST:
        output = f"{output[: _LONGEST // 3]}\n[...]\n{output[-2 * _LONGEST // 3 :]}"
    return printable_lines(output)


# --- the accuracies that result ---


def accuracy_tables(rows: Sequence[Row], readers: Sequence[Reader]) -> list[str]:
    """The accuracy of each model by each reader, and how far accuracies and their order are from
    the authors'.
    """
    import pandas as pd

    columns = {
        "model": [str(row.fields.get("model", "all")) for row in rows],
        "answers": [row.count for row in rows],
    }
    if any("by_authors" in row.fields for row in rows):
        columns["authors"] = [row.count * (row.by_authors == row.gold) for row in rows]
    for reader in readers:
        columns[reader.name] = [row.count * (reader.read(row).value == row.gold) for row in rows]
    sums = pd.DataFrame(columns).groupby("model").sum()

    accuracies = sums.div(sums["answers"], axis="index").mul(100)
    shown = sums[["answers"]].astype(str)
    conclusions = []
    for name in sums.columns[1:]:
        shown[f"{name} %"] = accuracies[name].map("{:.1f}".format)
        if "authors" in sums and name != "authors":
            differences = accuracies[name] - accuracies["authors"]
            shown[f"{name} %"] += differences.map(" ({:+.1f})".format)
            tau = _tau(accuracies[name], accuracies["authors"])
            conclusions.append(
                f"{name}: {differences.abs().mean():.1f} points from the authors on average; {tau}"
            )
    lines = shown.reset_index().to_numpy().tolist()
    return [markdown_table([["model", *shown.columns], *lines]), *conclusions]


def _tau(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """How far two accuracies order the models in the same way, in words."""
    from scipy.stats import kendalltau

    if min(len(set(ours)), len(set(theirs))) < 2:
        return "no order of models to compare"
    return f"Kendall's tau over {len(ours)} models {kendalltau(ours, theirs).statistic:.2f}"


# --- the command ---


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help="answers, .jsonl or .jsonl.gz"
    )
    parser.add_argument(
        "--kind", choices=sorted(OURS), default="option", help="what is read (default: option)"
    )
    parser.add_argument(
        "--reader", metavar="MODULE:FUNCTION", help="what is measured (default: our reader)"
    )
    parser.add_argument(
        "--peer", metavar="MODULE:FUNCTION", action="append", default=[], help="a reader beside it"
    )
    parser.add_argument(
        "--by", metavar="FIELD", help="also a line for each value of a field, such as model"
    )
    parser.add_argument(
        "--show", metavar="N", type=int, default=0, help="also N rows that were not read rightly"
    )
    parser.add_argument("--sure", action="store_true", help="leave out lines whose `sure` is false")
    parser.add_argument(
        "--accuracy", action="store_true", help="the accuracy of each model, against `gold`"
    )
    given = parser.parse_args(arguments)
    sys.path.insert(0, str(Path.cwd()))  # readers of the user's own
    try:
        readers = [
            load_reader(name)
            for name in dict.fromkeys([given.reader or OURS[given.kind], *given.peer])
        ]
        for path in given.files:
            rows = rows_of(path, given.kind, given.accuracy)
            if given.sure:
                rows = [row for row in rows if row.fields.get("sure", True)]
            if given.accuracy:
                parts = accuracy_tables(rows, readers)
            else:
                parts = outcome_tables(rows, readers, given.by, given.show)
            print("\n\n".join([f"## {path.name}", *parts]), end="\n\n", flush=True)
    except DataError as error:
        sys.exit(f"readings: {error}")


if __name__ == "__main__":
    main()
