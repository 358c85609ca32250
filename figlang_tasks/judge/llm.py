"""A language model as an annotator, through the harness's own judge interface (``lmms_eval.llm_judge``).

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name and no score. The
label is asked first, then the adequacy of each explanation by itself, then the preference.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Literal

from figlang_tasks.core import images, redaction
from figlang_tasks.core.hub import DataError
from figlang_tasks.core.prompting import prompt_hash, render
from figlang_tasks.core.text import printable
from figlang_tasks.harness import judge_client
from figlang_tasks.judge import JudgeError, sheet
from figlang_tasks.judge.sheet import Sheet, SheetRow

if TYPE_CHECKING:
    from lmms_eval.llm_judge import ServerInterface

Provider = Literal["openai", "azure", "bedrock", "local"]
"""Those of the harness that answer one request at a time."""

SETTINGS: Mapping[Provider, str] = {
    "openai": "OPENAI_API_KEY (and OPENAI_API_URL, for another server than OpenAI's)",
    "azure": "AZURE_API_KEY and AZURE_ENDPOINT",
    "bedrock": "AWS credentials and region, and pip install boto3",
    "local": "LLM_JUDGE_URL (http://HOST:PORT/v1/chat/completions of a server that is up)",
}
"""What each needs in the environment."""

_FAILURES = 3
"""So many requests that fail one after the other end the work: the server is gone, or the key is wrong."""


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


def fill(
    sheet_path: Path,
    output: Path,
    *,
    model: str,
    provider: Provider,
    concurrency: int,
    max_tokens: int,
    retries: int,
    retry_delay: float,
    images_dir: Path | None = None,
) -> dict[str, Any]:
    """Fill in a sheet. Answers that `output` has already are kept, so that an interrupted call continues.

    Args:
        sheet_path: an empty sheet.
        output: the filled sheet; beside it, ``STEM.answers.jsonl`` takes every answer as it came.
        model: its name at the server.
        provider: of the harness; what it needs is in :data:`SETTINGS`.
        concurrency: requests under way at a time.
        max_tokens: of an answer.
        retries: attempts for a request; `retry_delay` seconds between them.
        images_dir: folder of the exported pictures; None: they are below that of the sheet, where its rows say.

    Returns:
        Counts: ``kept`` judgements that were there, ``asked``, ``unreadable`` answers (their cells stay empty),
        ``failed`` requests; and what was ``written``.

    Raises:
        JudgeError: sheet or pictures cannot be used, `output` is another sheet or another judge's, the provider is
            not set up, or the server fails again and again.
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
    pictures = {image: _picture(blank, row, images_dir) for image, row in shown.items()}
    server = _server(model, provider, max_tokens, retries, retry_delay)
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    counts = {"kept": sum(bool(row[column]) for row in cells.values() for column in ("label", "adequate", "preferred"))}
    counts |= {"asked": len(questions), "unreadable": 0, "failed": 0}
    sheet.write_sheet(output, _content(blank, cells, annotator))  # before anything is paid for
    in_a_row = 0
    for answer in _answers(server, questions, pictures, concurrency):
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


def _picture(blank: Sheet, row: SheetRow, images_dir: Path | None) -> str:
    """The picture of a row as base64, encoded as the harness does it.

    A sheet may be of somebody else, and its pictures go to a server: no other file may.
    """
    where, image = f"{blank.path}, row {row.number}", row.cells["image"]
    try:
        if images_dir is None:
            path = images.below(blank.path.parent, image, where)
        else:
            path = images.below(images_dir, PurePosixPath(image).name, where)
    except DataError as error:
        hint = "" if images_dir else ". If the export used --images DIR, give the same option here"
        raise JudgeError(f"{error}{hint}") from error
    try:
        return judge_client.picture(path)
    except OSError as error:  # Pillow's for what is no picture, too
        raise JudgeError(
            f"{where}: the picture {path} cannot be read ({error.strerror or error}): keep the exported pictures next "
            "to the sheet"
        ) from error


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


_MOST_BRACES = 100  # each of them is tried, and what follows it may be long
_LONGEST = 1 << 16
"""Characters of the longest answer that is read: some words were asked for."""


def read_answer(asked: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer gives; empty if it cannot be read without a guess.

    Read is the one JSON object in it that has the key asked for, with the spellings that people may use; text around
    it does not matter. An adequate explanation has no error, an inadequate one has one.

    Args:
        asked: ``label``, ``adequate`` or ``preferred``.
        answer: what the model said.
        letters: those of the item, for ``preferred``.
    """
    if len(answer) > _LONGEST:
        return {}
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


def _objects(text: str) -> list[Mapping[str, Any]]:
    """The JSON objects in a text, none inside another; none of a text with too many braces that begin no object."""
    decoder, start = json.JSONDecoder(), text.find("{")
    found, failed = [], 0
    while start >= 0 and failed <= _MOST_BRACES:
        try:
            value, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            end, failed = start + 1, failed + 1
        else:
            found.append(value)
        start = text.find("{", end)
    return found if failed <= _MOST_BRACES else []


def _server(model: str, provider: Provider, max_tokens: int, retries: int, retry_delay: float) -> ServerInterface:
    needs = f"--provider {provider} needs {SETTINGS[provider]}"
    try:
        server = judge_client.server(
            provider,
            model_name=model,
            temperature=0.0,
            max_tokens=max_tokens,
            num_retries=retries,
            retry_delay=retry_delay,
        )
        available = server.is_available()
    except Exception as error:  # whatever the provider's client raises
        raise JudgeError(f"{needs}: {type(error).__name__}: {redaction.hidden(str(error))}") from error
    if not available:
        raise JudgeError(f"{needs}: not set, or no server answers there")
    return server


def _answers(
    server: ServerInterface, questions: list[_Question], pictures: Mapping[str, str], concurrency: int
) -> Iterator[_Answer]:
    """The answers as they come."""
    from tqdm import tqdm

    pool = ThreadPoolExecutor(concurrency)
    try:
        asked = [pool.submit(_ask, server, question, pictures) for question in questions]
        for done in tqdm(as_completed(asked), "figlang judge llm", len(asked), unit="request", disable=None):
            yield done.result()
    finally:
        pool.shutdown(cancel_futures=True)


def _ask(server: ServerInterface, question: _Question, pictures: Mapping[str, str]) -> _Answer:
    content: list[dict[str, Any]] = [{"type": "text", "text": question.prompt}]
    if image := question.row.cells.get("image"):
        # In the message, not in Request.images: the harness's provider `local` leaves those out.
        url = f"data:image/jpeg;base64,{pictures[image]}"
        content.insert(0, {"type": "image_url", "image_url": {"url": url}})
    try:
        response = judge_client.ask(server, content)
    except Exception as error:  # whatever the provider's client raises, after its last attempt
        return _Answer(question, error=f"{type(error).__name__}: {printable(redaction.hidden(str(error)), limit=300)}")
    said = redaction.without_secrets(response.content)  # the log is kept, and may be published
    cells = read_answer(question.asked, said, question.letters)
    return _Answer(question, said, str(response.model_used), cells)


def _log(path: Path, answer: _Answer) -> None:
    item, letter = _place(answer.question.row)
    line = {"item": item, "letter": letter, "asked": answer.question.asked, "said": answer.said, "model": answer.model}
    line |= {"read": dict(answer.cells)} | ({"error": answer.error} if answer.error else {})
    try:
        with path.open("a", encoding="ascii") as file:
            file.write(json.dumps(line) + "\n")
    except OSError as error:
        raise JudgeError(f"{path} cannot be written: {error.strerror}") from error
