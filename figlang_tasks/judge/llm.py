"""A language model as an annotator, at any server of OpenAI's protocol.

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name and no score. The
label is asked first, then the adequacy of each explanation by itself, then the preference.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import openai
from tqdm import tqdm

from figlang_tasks.core import images, redaction
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.prompting import prompt_hash, render
from figlang_tasks.core.text import printable
from figlang_tasks.judge import sheet
from figlang_tasks.judge.sheet import JUDGED, Sheet
from figlang_tasks.metrics.files import write_whole

_RETRIES = 5
_FAILURES = 3
"""So many requests that fail one after the other end the work: the server is gone, or the key is wrong."""
_THINKING = ("gpt-5", "o1", "o3", "o4")
"""How names of OpenAI's models begin that take no temperature, and the limit of tokens under another name."""

_Row = dict[str, Any]
"""A row of the sheet: its cells, and `row`, its number."""


class _Question(NamedTuple):
    """One request: the column to fill in for a row (`label`, `preferred`: the item's first row), and its letters."""

    row: _Row
    asked: str
    prompt: str
    letters: tuple[str, ...]


def fill(sheet_path: Path, output: Path, *, model: str, concurrency: int, max_tokens: int) -> dict[str, Any]:
    """Fill in an empty sheet, and tell what was asked. Answers that `output` has already are kept."""
    blank = sheet.read(sheet_path)
    columns = [*map(str, blank.rows)]
    if lacking := [column for column in ("claim", "reference", "explanation") if column not in columns]:
        raise FigLangError(
            f"{sheet_path}: its first row lacks the column {lacking[0]}: give a sheet of explanations, as exported"
        )
    annotator = printable(f"{sheet.LLM}{' '.join(model.split())}, prompt {prompt_hash('judge')}")
    blanked = {**dict.fromkeys(JUDGED, ""), "comment": "", "annotator": annotator}
    rows = blank.rows.assign(row=blank.rows.index, **blanked).to_dict("records")
    if output.exists():
        _keep(rows, sheet.read(output), annotator, blank)
    kept = sum(bool(row[column]) for row in rows for column in ("label", "adequate", "preferred"))
    questions = list(_questions(rows, "preferred" in columns))
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    in_a_row = unreadable = failed = 0
    shown = {row["image"]: row for row in rows if row.get("image")}
    ask = _asking(model, max_tokens, {image: _picture(blank, row) for image, row in shown.items()})
    pool = ThreadPoolExecutor(concurrency)
    try:
        write_whole(output, sheet.content_of(columns, rows))  # before anything is paid for
        asked = {pool.submit(ask, question): question for question in questions}
        for done in tqdm(as_completed(asked), "figlang judge llm", len(asked), unit="request", disable=None):
            question, answer = asked[done], done.result()
            cells = read_answer(question.asked, answer["said"], question.letters)
            question.row.update(cells)
            in_a_row = in_a_row + 1 if "error" in answer else 0
            failed += "error" in answer
            unreadable += "error" not in answer and not cells
            place = {"item": question.row["item"], "letter": question.row["letter"], "asked": question.asked}
            with log.open("a", encoding="ascii") as file:
                file.write(json.dumps({**place, **answer, "read": cells}) + "\n")
            write_whole(output, sheet.content_of(columns, rows))
            if in_a_row == _FAILURES:
                raise FigLangError(
                    f"{model}: {_FAILURES} requests failed one after the other, the last with {answer['error']}. The "
                    f"answers so far are in {output}: run the command again to continue"
                )
    finally:
        pool.shutdown(cancel_futures=True)
    counts = {"kept": kept, "asked": len(questions), "unreadable": unreadable, "failed": failed}
    return {"annotator": annotator, **counts, "written": [output, log]}


def _keep(rows: list[_Row], before: Sheet, annotator: str, blank: Sheet) -> None:
    """Take over the judgements of the output of an earlier call."""
    if (before.annotator, before.code) != (annotator, blank.code):
        raise FigLangError(
            f"{before.path} exists, of {before.annotator} and the export {before.code}, not of {annotator} and "
            f"{blank.code}: choose another -o"
        )
    sheet.judged(before)
    said = before.rows.set_index(["item", "letter"]).filter(JUDGED).to_dict("index")
    for row in rows:
        row.update(said.get((row["item"], row["letter"]), {}))


def _picture(blank: Sheet, row: _Row) -> str:
    """The picture of a row as an address with the data of a JPEG.

    A sheet may be of somebody else, and its pictures go to a server: no other file may.
    """
    where, content = f"{blank.path}, row {row['row']}", io.BytesIO()
    path = images.below(blank.path.parent, row["image"], where)
    images.decode_file(path, where).save(content, "JPEG", quality=85)
    return f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"


def _questions(rows: list[_Row], compared: bool) -> Iterator[_Question]:
    """The questions without an answer; the preferred explanation only where several are `compared`."""
    items: dict[str, list[_Row]] = {}
    for row in rows:
        items.setdefault(row["item"], []).append(row)
    for own in items.values():
        first, letters = own[0], tuple(row["letter"] for row in own)
        texts = {name: first.get(name) for name in ("premise", "claim", "reference")}
        if not any(row["label"] for row in own):
            yield _Question(first, "label", render("judge/label.jinja", **texts), letters)
        for row in own:
            if not row["adequate"]:
                prompt = render("judge/adequacy.jinja", explanation=row["explanation"], **texts)
                yield _Question(row, "adequate", prompt, letters)
        if compared and not any(row["preferred"] for row in own):
            explanations = {row["letter"]: row["explanation"] for row in own}
            prompt = render("judge/preference.jinja", explanations=explanations, **texts)
            yield _Question(first, "preferred", prompt, letters)


def read_answer(asked: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer gives by its one JSON object with the key asked for; empty if that would be a guess."""
    found = [value for value in _objects(answer) if asked in value]
    if len(found) != 1:
        return {}
    (said,) = found
    error = said.get("error") if asked == "adequate" else None
    accepted = sheet.spellings(letters)
    try:
        cells = {asked: sheet.spelled(_word(said[asked]), accepted[asked])}
        if error is not None and _word(error).strip().casefold() not in ("none", ""):
            cells["error"] = sheet.spelled(_word(error), accepted["error"])
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


def _asking(model: str, max_tokens: int, pictures: Mapping[str, str]) -> Callable[[_Question], dict[str, str]]:
    """A function that asks the server: what was `said`, by which `model`; an `error` where nothing was."""
    try:
        client = openai.OpenAI(max_retries=_RETRIES)
    except openai.OpenAIError as error:
        raise FigLangError(f"{error} A local server takes any OPENAI_API_KEY") from error
    settings: dict[str, Any] = {"model": model, "temperature": 0, "max_tokens": max_tokens}
    if model.startswith(_THINKING):
        settings = {"model": model, "max_completion_tokens": max_tokens}

    def ask(question: _Question) -> dict[str, str]:
        content: list[dict[str, Any]] = [{"type": "text", "text": question.prompt}]
        if image := question.row.get("image"):
            content.insert(0, {"type": "image_url", "image_url": {"url": pictures[image]}})
        try:
            response = client.chat.completions.create(**settings, messages=[{"role": "user", "content": content}])
            said = response.choices[0].message.content or ""
        except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError) as error:  # another protocol
            told = f"{type(error).__name__}: {printable(redaction.redacted(str(error).rstrip('.')), limit=300)}"
            return {"said": "", "error": told}
        return {"said": redaction.without_secrets(said), "model": str(response.model)}  # the log may be published

    return ask
