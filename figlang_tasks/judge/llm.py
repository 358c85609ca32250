"""A language model as an annotator, at any server of OpenAI's protocol.

It fills in a sheet of ``figlang judge export`` and sees what an annotator sees: no system's name
and no score. The label is asked first, then the adequacy of each explanation by itself, then the
preference.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from figlang_tasks.core import images
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.prompting import prompt_hash, render
from figlang_tasks.judge import sheet
from figlang_tasks.judge.server import Content, ModelServer, Reply, ask_all, last_object
from figlang_tasks.judge.sheet import JUDGED, Sheet
from figlang_tasks.metrics.files import write_whole

_REQUIRED = ("claim", "reference", "explanation", *sheet.SPELLINGS)

_Row = dict[str, Any]


@dataclass(frozen=True)
class _Question:
    """One request for the cells of a row.

    Attributes:
        row: the row; of `label` and `preferred` the first one of the item.
        column: the column to fill in.
        letters: the letters of the item.
        content: what the model sees.
    """

    row: _Row
    column: str
    letters: tuple[str, ...]
    content: Content


def fill(
    sheet_path: Path, output: Path, *, model: str, concurrency: int, max_tokens: int
) -> dict[str, Any]:
    """Fill in an empty sheet, and tell what was asked. Answers that `output` has already are
    kept.
    """
    blank = sheet.read(sheet_path, _REQUIRED)
    columns = [*map(str, blank.rows)]
    annotator = f"{sheet.LLM}{' '.join(model.split())}, prompt {prompt_hash('judge')}"
    blanked = {**dict.fromkeys(JUDGED, ""), "comment": "", "annotator": annotator}
    rows = blank.rows.assign(**blanked).to_dict("records")
    if output.exists():
        _keep(rows, sheet.read(output, _REQUIRED), annotator, blank)

    questions = list(_questions(sheet_path, rows))
    log = output.with_name(f"{output.name.removesuffix('.csv')}.answers.jsonl")
    counts = {"asked": len(questions), "unreadable": 0, "failed": 0}
    last_error = ""

    def keep(question: _Question, reply: Reply) -> None:
        """Write an answer into the sheet and the log."""
        nonlocal last_error
        cells = read_answer(question.column, reply.text, question.letters)
        question.row.update(cells)
        if reply.error:
            counts["failed"] += 1
            last_error = f"{reply.error} (item {question.row['item']}, {question.column})"
        elif not cells:
            counts["unreadable"] += 1
        _append(log, question, reply, cells)
        write_whole(output, sheet.content_of(columns, rows))

    server = ModelServer(model, max_tokens)
    write_whole(output, sheet.content_of(columns, rows))  # before anything is paid for
    ask_all(
        server, questions, keep, concurrency=concurrency, title="figlang judge llm", kept_in=output
    )
    return {"annotator": annotator, **counts, "error": last_error, "written": [output, log]}


def _append(log: Path, question: _Question, reply: Reply, cells: dict[str, str]) -> None:
    """Append an answer, or a failure, and what was read of it to the log."""
    place = {
        "item": question.row["item"],
        "letter": question.row["letter"],
        "asked": question.column,
    }
    answer = {"said": reply.text}
    if reply.error:
        answer["error"] = reply.error
    else:
        answer["model"] = reply.served_by
    with log.open("a", encoding="ascii") as file:
        file.write(json.dumps({**place, **answer, "read": cells}) + "\n")


def _keep(rows: list[_Row], before: Sheet, annotator: str, blank: Sheet) -> None:
    """Take over the judgements of the output of an earlier call."""
    if (before.annotator, before.code) != (annotator, blank.code):
        raise FigLangError(
            f"{before.path} exists, of {before.annotator} and the export {before.code}, not of"
            f" {annotator} and {blank.code}: choose another -o"
        )
    accepted = sheet.accepted([*before.rows["letter"]])
    sheet.meanings(
        before, {column: values for column, values in accepted.items() if column in before.rows}
    )
    said = before.rows.set_index(["item", "letter"]).filter(JUDGED).to_dict("index")
    for row in rows:
        row.update(said.get((row["item"], row["letter"]), {}))


def _picture(sheet_path: Path, row: _Row) -> Content:
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
    """The questions without an answer; which explanation is preferred only where there are
    several.
    """
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
            prompts.append(
                (
                    first,
                    "preferred",
                    render("judge/preference.jinja", explanations=explanations, **texts),
                )
            )
        for row, asked, prompt in prompts:
            yield _Question(
                row, asked, tuple(explanations), [*picture, {"type": "text", "text": prompt}]
            )


def read_answer(column: str, answer: str, letters: Sequence[str] = ()) -> dict[str, str]:
    """The cells that an answer gives by its last JSON object with the column; empty if that would
    be a guess.
    """
    texts = {}
    for name, value in last_object(answer, column).items():
        if isinstance(value, str | bool | int):
            texts[name] = str(value)
    if texts.get("error", "").strip().casefold() == "none":
        del texts["error"]
    accepted = sheet.accepted(letters)
    columns = ("adequate", "error") if column == "adequate" else (column,)
    try:
        cells = {name: sheet.spelled(texts.get(name, ""), accepted[name]) for name in columns}
    except ValueError:
        return {}
    if column == "adequate" and (cells["adequate"], cells["error"] is None) not in (
        ("yes", True),
        ("no", False),
    ):
        return {}
    return {name: cell for name, cell in cells.items() if cell is not None}
