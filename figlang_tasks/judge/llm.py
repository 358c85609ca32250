"""A language model as an annotator, at any server of OpenAI's protocol.

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name and no score. The
label is asked first, then the adequacy of each explanation by itself, then the preference.
"""

from __future__ import annotations

import base64
import io
import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import openai
from tqdm import tqdm

from figlang_tasks.core import images, redaction
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.prompting import prompt_hash, render
from figlang_tasks.core.text import printable
from figlang_tasks.judge import JudgeError, sheet
from figlang_tasks.judge.sheet import Sheet, SheetRow

_RETRIES = 5
_FAILURES = 3
"""So many requests that fail one after the other end the work: the server is gone, or the key is wrong."""
_THINKING = ("gpt-5", "o1", "o3", "o4")
"""How names of OpenAI's models begin that take no temperature, and the limit of tokens under another name."""


@dataclass(frozen=True)
class _Question:
    """One request: the columns to fill in for a row (`label`, `preferred`: the item's first row), and its letters."""

    row: SheetRow
    asked: str
    prompt: str
    letters: tuple[str, ...]


@dataclass(frozen=True)
class _Answer:
    """The result of a request: cells by column, empty if the answer is unreadable; an error if there is no answer."""

    question: _Question
    said: str = ""
    model: str = ""
    cells: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


def fill(sheet_path: Path, output: Path, *, model: str, concurrency: int, max_tokens: int) -> dict[str, Any]:
    """Fill in a sheet. Answers that `output` has already are kept, so that an interrupted call continues.

    Args:
        sheet_path: an empty sheet; its pictures are where the rows say, below its folder.
        output: the filled sheet; beside it, ``STEM.answers.jsonl`` takes every answer as it came.
        model: its name at the server, which ``OPENAI_BASE_URL`` or ``OPENAI_API_URL`` names.
        concurrency: requests under way at a time.
        max_tokens: of an answer.

    Returns:
        Counts: ``kept`` judgements that were there, ``asked``, ``unreadable`` answers (their cells stay empty),
        ``failed`` requests; and what was ``written``.

    Raises:
        JudgeError: sheet or pictures cannot be used, `output` is another sheet or another judge's, there is no key for
            the server, or it fails again and again.
    """
    blank = sheet.read(sheet_path)
    if not blank.exact:
        raise JudgeError(f"{sheet_path} is not UTF-8, so its texts are damaged: use the sheet as it was exported")
    if "category" in blank.columns:
        raise JudgeError(f"{sheet_path} is of generated pictures: judge llm fills in sheets of explanations alone")
    if lacking := [column for column in ("claim", "reference", "explanation") if column not in blank.columns]:
        raise JudgeError(f"{sheet_path}: its first row lacks the column {lacking[0]}: use the sheet as it was exported")
    annotator = sheet.cleaned(f"{sheet.LLM}{' '.join(model.split())}, prompt {prompt_hash('judge')}")
    cells = _kept(blank, output, annotator)
    questions = list(_questions(blank, cells))
    shown = {row.cells["image"]: row for row in blank.rows if row.cells.get("image")}
    pictures = {image: _picture(blank, row) for image, row in shown.items()}
    try:
        client = openai.OpenAI(base_url=os.environ.get("OPENAI_API_URL"), max_retries=_RETRIES)
    except openai.OpenAIError as error:
        raise JudgeError(f"{error} A local server takes any OPENAI_API_KEY") from error
    settings: dict[str, Any] = {"model": model, "temperature": 0, "max_tokens": max_tokens}
    if model.startswith(_THINKING):
        settings = {"model": model, "max_completion_tokens": max_tokens}
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    counts = {"kept": sum(bool(row[column]) for row in cells.values() for column in ("label", "adequate", "preferred"))}
    counts |= {"asked": len(questions), "unreadable": 0, "failed": 0}
    sheet.write_sheet(output, _content(blank, cells, annotator))  # before anything is paid for
    in_a_row = 0
    for answer in _answers(client, settings, questions, pictures, concurrency):
        in_a_row = in_a_row + 1 if answer.error else 0
        if in_a_row == _FAILURES:
            raise JudgeError(
                f"{model}: {_FAILURES} requests failed one after the other, the last with {answer.error}. The answers "
                f"so far are in {output}: run the command again to continue"
            )
        counts["failed"] += bool(answer.error)
        counts["unreadable"] += not answer.error and not answer.cells
        cells[_place(answer.question.row)].update(answer.cells)
        _log(log, answer)
        sheet.write_sheet(output, _content(blank, cells, annotator))
    return {"annotator": annotator, **counts, "written": [str(output), *([str(log)] if log.exists() else [])]}


# --- sheets ----------------------------------------------------------------------------------------------------------


def _place(row: SheetRow) -> tuple[int, str]:
    return int(row.cells["item"]), row.cells["letter"]


def _kept(blank: Sheet, output: Path, annotator: str) -> dict[tuple[int, str], dict[str, str]]:
    """The judgements of each row: those of the output, if it is there."""
    cells = {_place(row): dict.fromkeys(sheet.JUDGED, "") for row in blank.rows}
    if not output.exists():
        return cells
    before = sheet.read(output)
    if before.annotator != annotator:
        raise JudgeError(f"{output} exists and is of {before.annotator}, not of {annotator}: choose another -o")
    if before.code != blank.code:
        raise JudgeError(f"{output} exists and belongs to another export than {blank.path}: choose another -o")
    sheet.judged(before)
    for row in before.rows:
        if _place(row) in cells:
            cells[_place(row)] = {column: row.cells.get(column, "") for column in sheet.JUDGED}
    return cells


def _content(blank: Sheet, cells: Mapping[tuple[int, str], Mapping[str, str]], annotator: str) -> bytes:
    columns = [column for column in sheet.COLUMNS if column in blank.columns]
    rows = ({**row.cells, **cells[_place(row)], "comment": "", "annotator": annotator} for row in blank.rows)
    return sheet.content_of(columns, rows)


def _picture(blank: Sheet, row: SheetRow) -> str:
    """The picture of a row as an address with the data of a JPEG.

    A sheet may be of somebody else, and its pictures go to a server: no other file may.
    """
    where, content = f"{blank.path}, row {row.number}", io.BytesIO()
    try:
        path = images.below(blank.path.parent, row.cells["image"], where)
        images.decode_file(path, where).save(content, "JPEG", quality=85)
    except DataError as error:
        raise JudgeError(f"{error}. Keep the exported pictures beside the sheet") from error
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"


# --- questions and answers -------------------------------------------------------------------------------------------


def _questions(blank: Sheet, cells: Mapping[tuple[int, str], Mapping[str, str]]) -> Iterator[_Question]:
    """The questions without an answer."""
    for rows in blank.by_item().values():
        first, letters = next(iter(rows.values())), tuple(rows)
        said = [cells[_place(row)] for row in rows.values()]
        texts = {"premise": None, **{name: first.cells.get(name) for name in ("premise", "claim", "reference")}}
        if not any(each["label"] for each in said):
            yield _Question(first, "label", render("judge/label.jinja", **texts), letters)
        for row, each in zip(rows.values(), said, strict=True):
            if not each["adequate"]:
                prompt = render("judge/adequacy.jinja", explanation=row.cells["explanation"], **texts)
                yield _Question(row, "adequate", prompt, letters)
        if "preferred" in blank.columns and not any(each["preferred"] for each in said):
            explanations = {letter: row.cells["explanation"] for letter, row in rows.items()}
            prompt = render("judge/preference.jinja", explanations=explanations, **texts)
            yield _Question(first, "preferred", prompt, letters)


def read_answer(asked: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer gives; empty if it cannot be read without a guess.

    Read is the one JSON object without another inside that has the key asked for, with the spellings that people may
    use; text around it does not matter. An adequate explanation has no error, an inadequate one has one.

    Args:
        asked: ``label``, ``adequate`` or ``preferred``.
        answer: what the model said.
        letters: those of the item, for ``preferred``.
    """
    found = [value for value in _objects(answer) if asked in value]
    if len(found) != 1:
        return {}
    (said,) = found
    error = said.get("error") if asked == "adequate" else None
    try:
        cells = {asked: sheet.meaning(asked, _word(said[asked]), letters)}
        if error is not None and _word(error).strip().casefold() not in ("none", ""):
            cells["error"] = sheet.meaning("error", _word(error))
    except ValueError:
        return {}
    if asked == "adequate" and ("error" in cells) != (cells["adequate"] == "no"):
        return {}
    return {column: cell for column, cell in cells.items() if cell is not None}


def _word(value: object) -> str:
    if isinstance(value, str | bool | int):
        return str(value)
    raise ValueError(f"{value!r} is not a word")


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a text that have none inside."""
    for found in re.findall(r"\{[^{}]*\}", text):
        try:
            yield json.loads(found)
        except (ValueError, RecursionError):
            continue


def _answers(
    client: openai.OpenAI,
    settings: Mapping[str, Any],
    questions: list[_Question],
    pictures: Mapping[str, str],
    concurrency: int,
) -> Iterator[_Answer]:
    """The answers as they come."""
    pool = ThreadPoolExecutor(concurrency)
    try:
        asked = [pool.submit(_ask, client, settings, question, pictures) for question in questions]
        for done in tqdm(as_completed(asked), "figlang judge llm", len(asked), unit="request", disable=None):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _ask(
    client: openai.OpenAI, settings: Mapping[str, Any], question: _Question, pictures: Mapping[str, str]
) -> _Answer:
    content: list[dict[str, Any]] = [{"type": "text", "text": question.prompt}]
    if image := question.row.cells.get("image"):
        content.insert(0, {"type": "image_url", "image_url": {"url": pictures[image]}})
    try:
        response = client.chat.completions.create(**settings, messages=[{"role": "user", "content": content}])
        said = response.choices[0].message.content or ""
    except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError) as error:  # or of another protocol
        return _Answer(question, error=f"{type(error).__name__}: {printable(redaction.hidden(str(error)), limit=300)}")
    said = redaction.without_secrets(said)  # the log is kept, and may be published
    return _Answer(question, said, str(response.model), read_answer(question.asked, said, question.letters))


def _log(path: Path, answer: _Answer) -> None:
    item, letter = _place(answer.question.row)
    line = {"item": item, "letter": letter, "asked": answer.question.asked, "said": answer.said, "model": answer.model}
    line |= {"read": dict(answer.cells)} | ({"error": answer.error} if answer.error else {})
    try:
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise JudgeError(f"{path} cannot be written: {error.strerror}") from error
