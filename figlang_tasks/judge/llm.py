"""A language model as an annotator, at any server of OpenAI's protocol.

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name and no score. The
label is asked first, then the adequacy of each explanation by itself, then the preference.
"""

from __future__ import annotations

import base64
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import openai
from tqdm import tqdm

from figlang_tasks.answers.thoughts import without_thoughts
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
_REQUIRED = ("claim", "reference", "explanation", *sheet.SPELLINGS)

_Row = dict[str, Any]
_Content = list[dict[str, Any]]


class _Question(NamedTuple):
    """One request: the column to fill in for a row (`label`, `preferred`: the item's first row), and its letters."""

    row: _Row
    asked: str
    letters: tuple[str, ...]
    content: _Content


def fill(sheet_path: Path, output: Path, *, model: str, concurrency: int, max_tokens: int) -> dict[str, Any]:
    """Fill in an empty sheet, and tell what was asked. Answers that `output` has already are kept."""
    blank = sheet.read(sheet_path, _REQUIRED)
    columns = [*map(str, blank.rows)]
    annotator = f"{sheet.LLM}{' '.join(model.split())}, prompt {prompt_hash('judge')}"
    blanked = {**dict.fromkeys(JUDGED, ""), "comment": "", "annotator": annotator}
    rows = blank.rows.assign(**blanked).to_dict("records")
    if output.exists():
        _keep(rows, sheet.read(output, _REQUIRED), annotator, blank)
    questions = list(_questions(sheet_path, rows))
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    in_a_row = unreadable = failed = 0
    client = _client()
    pool = ThreadPoolExecutor(concurrency)
    try:
        write_whole(output, sheet.content_of(columns, rows))  # before anything is paid for
        asked = {pool.submit(_answer, client, model, max_tokens, each.content): each for each in questions}
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
    counts = {"asked": len(questions), "unreadable": unreadable, "failed": failed}
    return {"annotator": annotator, **counts, "written": [output, log]}


def _keep(rows: list[_Row], before: Sheet, annotator: str, blank: Sheet) -> None:
    """Take over the judgements of the output of an earlier call."""
    if (before.annotator, before.code) != (annotator, blank.code):
        raise FigLangError(
            f"{before.path} exists, of {before.annotator} and the export {before.code}, not of {annotator} and "
            f"{blank.code}: choose another -o"
        )
    accepted = sheet.accepted([*before.rows["letter"]])
    sheet.meanings(before, {column: values for column, values in accepted.items() if column in before.rows})
    said = before.rows.set_index(["item", "letter"]).filter(JUDGED).to_dict("index")
    for row in rows:
        row.update(said.get((row["item"], row["letter"]), {}))


def _picture(sheet_path: Path, row: _Row) -> _Content:
    """The picture of a row as a JPEG, if it has one.

    A sheet may be of somebody else, and its pictures go to a server: no other file may.
    """
    if not row.get("image"):
        return []
    where, content = f"{sheet_path}, item {row['item']}", io.BytesIO()
    path = images.below(sheet_path.parent, row["image"], where)
    images.decode_file(path, where).save(content, "JPEG", quality=85)
    address = f"data:image/jpeg;base64,{base64.b64encode(content.getvalue()).decode()}"
    return [{"type": "image_url", "image_url": {"url": address}}]


def _questions(sheet_path: Path, rows: list[_Row]) -> Iterator[_Question]:
    """The questions without an answer; which explanation is preferred only where there are several."""
    items: dict[str, list[_Row]] = {}
    for row in rows:
        items.setdefault(row["item"], []).append(row)
    for own in items.values():
        first, explanations = own[0], {row["letter"]: row["explanation"] for row in own}
        picture = _picture(sheet_path, first)
        texts = {name: first.get(name) for name in ("premise", "claim", "reference")}
        prompts = []
        if not any(row["label"] for row in own):
            prompts.append((first, "label", render("judge/label.jinja", **texts)))
        for row in own:
            if not row["adequate"]:
                prompt = render("judge/adequacy.jinja", explanation=row["explanation"], **texts)
                prompts.append((row, "adequate", prompt))
        if "preferred" in first and len(own) > 1 and not any(row["preferred"] for row in own):
            prompts.append((first, "preferred", render("judge/preference.jinja", explanations=explanations, **texts)))
        for row, asked, prompt in prompts:
            yield _Question(row, asked, tuple(explanations), [*picture, {"type": "text", "text": prompt}])


def read_answer(asked: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer gives by its last JSON object with the key asked for; empty if that would be a guess.

    Thoughts are no part of an answer.
    """
    judgements = [judgement for judgement in _objects(without_thoughts(answer)) if asked in judgement]
    if not judgements:
        return {}
    texts = {column: str(value) for column, value in judgements[-1].items() if isinstance(value, str | bool | int)}
    if texts.get("error", "").strip().casefold() == "none":
        del texts["error"]
    accepted = sheet.accepted(letters)
    columns = ("adequate", "error") if asked == "adequate" else (asked,)
    try:
        cells = {column: sheet.spelled(texts.get(column, ""), accepted[column]) for column in columns}
    except ValueError:
        return {}
    if asked == "adequate" and (cells["adequate"], cells["error"] is None) not in (("yes", True), ("no", False)):
        return {}
    return {column: cell for column, cell in cells.items() if cell is not None}


def _objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects in a text that have none inside."""
    for found in re.findall(r"\{[^{}]*\}", text):
        try:
            yield json.loads(found)
        except (ValueError, RecursionError):
            continue


def _client() -> openai.OpenAI:
    try:
        return openai.OpenAI(max_retries=_RETRIES)
    except openai.OpenAIError as error:
        raise FigLangError(f"{error} A local server takes any OPENAI_API_KEY") from error


def _answer(client: openai.OpenAI, model: str, max_tokens: int, content: _Content) -> dict[str, str]:
    """What the server `said`, and by which `model`; an `error` where it said nothing."""
    settings: dict[str, Any] = {"temperature": 0, "max_tokens": max_tokens}
    if model.startswith(_THINKING):
        settings = {"max_completion_tokens": max_tokens}
    messages: Any = [{"role": "user", "content": content}]
    try:
        response = client.chat.completions.create(model=model, messages=messages, **settings)
        said = response.choices[0].message.content or ""
    except (openai.OpenAIError, ValueError, LookupError, TypeError, AttributeError) as error:  # another protocol
        told = f"{type(error).__name__}: {printable(redaction.redacted(str(error).rstrip('.')), limit=300)}"
        return {"said": "", "error": told}
    return {"said": redaction.without_secrets(said), "model": str(response.model)}  # the log may be published
