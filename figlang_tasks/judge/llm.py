"""A language model as an annotator, at any server of OpenAI's protocol.

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name
and no score. First it is asked the label, then the adequacy of each explanation by itself, then the
preference.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.prompting import prompt_hash, render
from figlang_tasks.judge import sheet
from figlang_tasks.judge.server import Content, ModelServer, Reply, ask_all, last_object
from figlang_tasks.judge.sheet import JUDGED_COLUMNS, Sheet
from figlang_tasks.metrics.files import write_whole

_REQUIRED_COLUMNS = ("claim", "reference", "explanation", "label", "adequate", "error")

_Row: TypeAlias = dict[str, Any]
"""A row of the sheet, by column."""


class FilledSheet(TypedDict):
    """The outcome of filling in a sheet: its requests and the files that were written.

    Attributes:
        annotator: the name of the annotator in the sheet.
        asked: the number of requests.
        unreadable: answers from which no cell was read.
        failed: requests without an answer.
        error: the last failure, with its item and column; "" without one.
        written: the sheet and the log of the answers.
    """

    annotator: str
    asked: int
    unreadable: int
    failed: int
    error: str
    written: list[Path]


@dataclass(frozen=True)
class _Question:
    """One request for the cells of a row.

    Attributes:
        row: the row; the first one of the item for `label` and `preferred`.
        column: the column to fill in.
        letters: the letters of the item.
        content: what the model sees.
    """

    row: _Row
    column: str
    letters: tuple[str, ...]
    content: Content

    @property
    def place(self) -> str:
        """The item and the column, for messages."""
        return f"item {self.row['item']}, {self.column}"


def fill(
    sheet_path: Path, output: Path, *, model: str, concurrency: int, max_tokens: int
) -> FilledSheet:
    """Let a language model fill in an empty sheet; return a summary of its answers.

    Each answer is written as it arrives. Cells that `output` holds from an earlier call are kept,
    and only the questions about the others are asked.

    Args:
        sheet_path: the empty sheet, with its pictures beside it.
        output: the filled sheet; a log of the answers stands beside it.
        model: the name of the model at the server.
        concurrency: requests at the same time.
        max_tokens: the longest answer, with its thinking.

    Raises:
        FigLangError: a sheet cannot be used, there is no key of the server, or several requests
            failed one after the other.
    """
    blank = sheet.read(sheet_path, _REQUIRED_COLUMNS)
    columns = list(blank.rows.columns)
    model_name = " ".join(model.split())
    annotator = f"{sheet.LLM_PREFIX}{model_name}, prompt {prompt_hash('judge')}"
    filled_rows = _rows_to_fill(blank, annotator, output)

    # About the cells still empty. `question.row` is one of `filled_rows`, so keep() fills these in.
    questions = list(_questions(sheet_path, filled_rows))
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    summary = FilledSheet(
        annotator=annotator,
        asked=len(questions),
        unreadable=0,
        failed=0,
        error="",
        written=[output, log],
    )

    def keep(question: _Question, reply: Reply) -> None:
        """Write an answer into the sheet and the log; a failure is only counted and logged."""
        # After a failure the text is empty, and gives no cells.
        cells = read_answer(question.column, reply.text, question.letters)
        question.row.update(cells)
        if reply.error:
            summary["failed"] += 1
            summary["error"] = f"{reply.error} ({question.place})"
        elif not cells:
            summary["unreadable"] += 1
        _append_to_log(log, question, reply, cells)
        write_whole(output, sheet.csv_bytes(columns, filled_rows))

    server = ModelServer(model, max_tokens)
    # The file is written before anything is paid for, so that a folder that cannot be written to is
    # noticed.
    write_whole(output, sheet.csv_bytes(columns, filled_rows))
    title = "figlang judge llm"
    ask_all(server, questions, keep, concurrency=concurrency, title=title, kept_in=output)
    return summary


def _rows_to_fill(blank: Sheet, annotator: str, output: Path) -> list[_Row]:
    """The rows of a sheet for this annotator, with the cells that an earlier call has filled in.

    Args:
        blank: the empty sheet.
        annotator: the name of the annotator.
        output: the sheet of an earlier call, if there is one.

    Raises:
        FigLangError: the sheet of the earlier call cannot be continued.
    """
    rows = _empty_rows(blank, annotator)
    if output.exists():
        earlier = sheet.read(output, _REQUIRED_COLUMNS)
        _check_earlier_sheet(earlier, annotator, blank.code)
        _copy_judgements(earlier, rows)  # writes the cells into the rows
    return rows


def _empty_rows(blank: Sheet, annotator: str) -> list[_Row]:
    """The rows of a sheet for this annotator, with nothing filled in."""
    empty_cells = dict.fromkeys([*JUDGED_COLUMNS, "comment"], "")
    rows: list[_Row] = blank.rows.assign(**empty_cells, annotator=annotator).to_dict("records")
    return rows


def _check_earlier_sheet(earlier: Sheet, annotator: str, code: str) -> None:
    """Raise a `FigLangError` unless the output of an earlier call can be continued.

    It must be of the same annotator and export, and its judgements must be valid.

    Args:
        earlier: the output of the earlier call.
        annotator: the name of the annotator of this call.
        code: the code of the export of this call.
    """
    if earlier.annotator != annotator or earlier.code != code:
        raise FigLangError(
            f"{earlier.path} exists, of {earlier.annotator} and the export {earlier.code}, not of"
            f" {annotator} and {code}: choose another -o"
        )
    letters = sorted(set(earlier.rows["letter"]))
    spellings_of_present: dict[str, sheet.Spellings] = {}  # by column; some may not be there
    for column, spellings in sheet.spellings_by_column(letters).items():
        if column in earlier.rows.columns:
            spellings_of_present[column] = spellings
    sheet.read_judgements(earlier, spellings_of_present)  # raises an error if a cell is not valid


def _copy_judgements(earlier: Sheet, rows: Sequence[_Row]) -> None:
    """Copy the judgements of an earlier call into the rows to fill in, which are changed."""
    judged_cells = earlier.rows.set_index(["item", "letter"]).filter(JUDGED_COLUMNS)
    cells_by_item_and_letter = judged_cells.to_dict("index")
    for row in rows:
        row.update(cells_by_item_and_letter.get((row["item"], row["letter"]), {}))


def _append_to_log(log: Path, question: _Question, reply: Reply, cells: Mapping[str, str]) -> None:
    """Append an answer, or a failure, and what was read from it to the log."""
    entry: dict[str, object] = {
        "item": question.row["item"],
        "letter": question.row["letter"],
        "asked": question.column,
        "said": reply.text,
    }
    if reply.error:
        entry["error"] = reply.error
    else:
        entry["model"] = reply.served_by
    entry["read"] = cells
    with log.open("a", encoding="ascii") as file:
        file.write(json.dumps(entry) + "\n")


# --- questions ---


def _questions(sheet_path: Path, rows: Sequence[_Row]) -> Iterator[_Question]:
    """Yield the questions that are still to be asked, whose cells are empty, item by item."""
    rows_by_item: dict[str, list[_Row]] = {}
    for row in rows:
        rows_by_item.setdefault(row["item"], []).append(row)
    for item_rows in rows_by_item.values():
        picture = _picture(sheet_path, item_rows[0])
        letters = tuple(row["letter"] for row in item_rows)
        for row, column, prompt in _prompts(item_rows):
            content = [*picture, {"type": "text", "text": prompt}]
            yield _Question(row, column, letters, content)


def _prompts(item_rows: Sequence[_Row]) -> Iterator[tuple[_Row, str, str]]:
    """Yield row, column and prompt of each question about an item whose cells are empty.

    The questions are those about the label, the adequacy of each explanation (with its error) and,
    if there are several explanations, the preferred one. The label and the preference of an item
    may stand in any of its rows; those that are asked for go into the first.
    """
    first = item_rows[0]
    texts = {column: first.get(column) for column in ("premise", "claim", "reference")}
    if not any(row["label"] for row in item_rows):
        yield first, "label", render("judge/label.jinja", **texts)
    for row in item_rows:
        if not row["adequate"]:
            explanation = row["explanation"]
            prompt = render("judge/adequacy.jinja", explanation=explanation, **texts)
            yield row, "adequate", prompt
    has_preference = "preferred" in first and len(item_rows) > 1
    if has_preference and not any(row["preferred"] for row in item_rows):
        explanations = {row["letter"]: row["explanation"] for row in item_rows}
        prompt = render("judge/preference.jinja", explanations=explanations, **texts)
        yield first, "preferred", prompt


def _picture(sheet_path: Path, row: _Row) -> Content:
    """The part of a user's turn with the picture of a row, as a JPEG; [] if the row has none.

    Somebody else may have written the sheet, and its pictures go to a server. So only a file below
    the sheet's folder may be read.
    """
    if not row.get("image"):
        return []
    origin = f"{sheet_path}, item {row['item']}"
    path = images.below(sheet_path.parent, row["image"], origin)
    buffer = io.BytesIO()
    images.decode_file(path, origin).save(buffer, "JPEG", quality=85)
    encoded = base64.b64encode(buffer.getvalue()).decode()
    url = f"data:image/jpeg;base64,{encoded}"
    return [{"type": "image_url", "image_url": {"url": url}}]


# --- answers ---


def read_answer(column: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer to the question about a column fills in; empty if it has none.

    They are taken from the last JSON object of the answer that has the column as a key. There are
    none if there is no such object, a value is not valid, or adequacy and error contradict each
    other.

    Args:
        column: what the model was asked: `label`, `adequate` or `preferred`.
        answer: what the model said.
        letters: all letters of the item, at least two, from which `preferred` chooses; not used
            for other columns.

    Returns:
        The cells by column: ``{"label": "entailment"}``; ``{"adequate": "no", "error": "unsound"}``
        (one question asks for both); ``{"preferred": "B"}``.
    """
    texts: dict[str, str] = {}
    for name, value in last_object(answer, column).items():
        # A sheet takes the texts "True" and "1" for yes.
        if isinstance(value, str | bool | int):
            texts[name] = str(value)
    if texts.get("error", "").strip().casefold() == "none":
        # So models say that there is no error, for which a sheet has no word.
        del texts["error"]

    columns = ["adequate", "error"] if column == "adequate" else [column]
    spellings = sheet.spellings_by_column(letters)  # without several letters none of `preferred`
    cells: dict[str, str] = {}
    for name in columns:
        try:
            cell = sheet.read_cell(texts.get(name, ""), spellings[name])
        except ValueError:  # the value is not valid
            return {}
        if cell is not None:
            cells[name] = cell
    if column == "adequate" and not _is_consistent(cells):
        return {}
    return cells


def _is_consistent(cells: Mapping[str, str]) -> bool:
    """Whether cells say that an explanation is adequate, or that it is not and name its error."""
    has_error = "error" in cells
    if cells.get("adequate") == "yes":
        return not has_error
    return cells.get("adequate") == "no" and has_error
