"""A language model is asked twice, paid for nothing, or misread, if these tests fail."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from commands import done, figlang
from filled_sheets import Item, key_of, right_label, save_key, save_sheet, sheet_of
from openai_server import JUDGE_MODEL, JudgeServer
from PIL import Image

from figlang_tasks.core.prompting import template_hash
from figlang_tasks.judge import sheet
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.questions import read_answer

KEY = key_of(["one", "two"], [1, 0, 1])
OPTIONS = ("--model", JUDGE_MODEL, "--concurrency", "2", "--max-tokens", "64")
ONE_BY_ONE = ("--model", JUDGE_MODEL, "--concurrency", "1", "--max-tokens", "64")
VERSION = template_hash(
    "judge/vflute.jinja", "judge/label.jinja", "judge/adequacy.jinja", "judge/preference.jinja"
)
NAME = f"LLM judge {JUDGE_MODEL}, prompt {VERSION}"
REQUESTS = 3 * (1 + 2 + 2)  # items x (label, adequacy of two, preference in two orders)


def fill(blank: Path, output: Path, *options: str) -> str:
    """Let the model fill in a sheet; return what the command prints."""
    return done("judge", "llm", blank, "-o", output, *options or OPTIONS)


def kept(output: Path) -> list[dict[str, Any]]:
    """The answers that are kept beside a sheet."""
    path = output.with_name(f"{output.stem}.answers.jsonl")
    _, *lines = path.read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """An empty sheet of three items, each with a picture of its own colour."""
    return save_blank(tmp_path)


def save_blank(folder: Path) -> Path:
    """Write the empty sheet and its pictures."""

    def no_label(item: Item) -> str:
        return ""

    def no_judgement(item: Item, system: str) -> tuple[str, str]:
        return "", ""

    rows = sheet_of(KEY, "annotator 1", no_label, no_judgement)
    for row in rows:
        number = row["item"]
        row["image"] = f"images/{number}.png"
        row["claim"] = f"=claim {number}"
        row["reference"] = f"reference {number}"
    (folder / "images").mkdir()
    for item in KEY["items"]:
        picture = Image.new("RGBA", (8, 8), (80 * item["number"], 0, 0))
        picture.save(folder / "images" / f"{item['number']}.png")
    columns = [column for column in sheet.COLUMNS if column != "premise"]
    return save_sheet(folder / "annotator1.csv", rows, columns)


def good_answer(prompt: str, pictures: list[Image.Image]) -> str:
    """The right label, with the explanation of `one` adequate and preferred.

    It checks that the model sees the picture of the item, and no explanation before the label.
    """
    (picture,) = pictures
    (number,) = [item["number"] for item in KEY["items"] if f"=claim {item['number']}\n" in prompt]
    assert abs(picture.tobytes()[0] - 80 * number) < 8
    assert f"reference {number}" in prompt
    if '{"label"' in prompt:
        assert "= one?" not in prompt and "= two?" not in prompt  # before the explanations are seen
        return f'I see. {{"label": "{right_label(KEY["items"][number - 1])}"}}'
    if '{"adequate"' in prompt:
        assert ("= one?" in prompt) != ("= two?" in prompt)
        if "= one?" in prompt:
            return '{"adequate": "yes"}'
        return '```json\n{"adequate": "no", "error": "Unsound"}\n```'
    assert prompt.index("= one?") and prompt.index("= two?")
    (letter,) = [letter for letter in "AB" if f"<explanation {letter}>\n= one?\n" in prompt]
    return f'{{"preferred": "{letter}"}}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    """A server whose model gives good answers."""
    with JudgeServer(good_answer) as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


@dataclass(frozen=True)
class Filled:
    """A sheet that a model has filled in.

    Attributes:
        blank: the sheet before.
        output: the sheet that was written.
        printed: what the command printed.
        pictures: the number of pictures in each request.
        settings: of the last request.
    """

    blank: Path
    output: Path
    printed: str
    pictures: list[int]
    settings: dict[str, Any]


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A sheet that a model with good answers has filled in."""
    folder = tmp_path_factory.mktemp("filled")
    blank = save_blank(folder)
    output = folder / "filled.csv"
    with pytest.MonkeyPatch.context() as patch, JudgeServer(good_answer) as running:
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setenv("OPENAI_BASE_URL", running.url)
        printed = fill(blank, output)
        return Filled(blank, output, printed, running.pictures, running.settings)


def test_each_judgement_is_asked_for_once_with_the_picture(filled: Filled) -> None:
    assert f"{NAME}: unreadable answers: 0, failed requests: 0" in filled.printed
    assert f"\n{REQUESTS} requests: {REQUESTS} tokens read, " in filled.printed
    assert filled.pictures == [1] * REQUESTS
    assert filled.settings == {"model": JUDGE_MODEL, "temperature": 0, "max_tokens": 64}


def test_the_answers_are_the_judgements_of_the_sheet(filled: Filled) -> None:
    judgements = sheet.read_judgements(sheet.read(filled.output), sheet.spellings_by_column("AB"))
    for item in KEY["items"]:
        item_judgements = judgements.loc[str(item["number"])]
        letter_of_system = {system: letter for letter, system in item["systems"].items()}
        letter_of_one = letter_of_system["one"]
        letter_of_two = letter_of_system["two"]
        adequacy = {letter_of_one: "yes", letter_of_two: "no"}
        assert [*item_judgements["label"].dropna()] == [right_label(item)]
        assert [*item_judgements["preferred"].dropna()] == [letter_of_one]
        assert item_judgements["adequate"].to_dict() == adequacy
        assert item_judgements["error"].dropna().to_dict() == {letter_of_two: "unsound"}


def test_the_texts_of_the_sheet_stay(filled: Filled) -> None:
    texts = ["claim", "reference", "explanation", "image"]
    texts_before = sheet.read(filled.blank).rows[texts]
    assert sheet.read(filled.output).rows[texts].equals(texts_before)


def test_every_answer_is_kept_with_the_model_that_gave_it(filled: Filled) -> None:
    answers = kept(filled.output)
    assert len(answers) == REQUESTS
    assert sum(answer["text"].startswith("I see. {") for answer in answers) == 3
    assert {answer["served_by"] for answer in answers} == {f"{JUDGE_MODEL}-2026"}


def test_a_sheet_of_a_model_is_marked_as_such_beside_that_of_a_person(
    filled: Filled, tmp_path: Path
) -> None:
    assert sheet.read(filled.output).annotator == NAME
    person = tmp_path / "person.csv"
    person.write_bytes(filled.output.read_bytes().replace(NAME.encode(), b"annotator 1"))
    agreement = agree(save_key(tmp_path, KEY), [person, filled.output])
    assert [annotator["llm"] for annotator in agreement["annotators"]] == [False, True]
    assert NAME in text(agreement)


def test_a_preference_that_changes_with_the_order_is_none(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    def first_one(prompt: str, pictures: list[Image.Image]) -> str:
        is_preference = '{"preferred"' in prompt
        return '{"preferred": "A"}' if is_preference else good_answer(prompt, pictures)

    server.answer = first_one
    printed = fill(blank, tmp_path / "filled.csv")
    expected = "for 3 items: 3 (100.0 %) change with the order; the first is preferred in 100.0 %"
    assert expected in printed
    filled = sheet.read(tmp_path / "filled.csv")
    counts = sheet.read_judgements(filled, sheet.spellings_by_column("AB")).count()
    assert (counts["preferred"], counts["adequate"]) == (0, 6)


def test_unreadable_answers_and_failures_are_counted(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    def poor_answer(prompt: str, pictures: list[Image.Image]) -> str | None:
        if '{"label"' in prompt:
            return None
        return "Both are fine." if '{"adequate"' in prompt else good_answer(prompt, pictures)

    server.answer = poor_answer
    result = figlang("judge", "llm", blank, "-o", tmp_path / "filled.csv", *ONE_BY_ONE)
    assert "unreadable answers: 6, failed requests: 3" in result.stdout
    assert result.exit_code == 1
    assert "3 requests failed, the last with BadRequestError" in result.stderr
    assert "(item 3, label): run the command again" in result.stderr
    filled = sheet.read(tmp_path / "filled.csv")
    counts = sheet.read_judgements(filled, sheet.spellings_by_column("AB")).count()
    assert (counts["label"], counts["adequate"], counts["preferred"]) == (0, 0, 3)


def test_a_server_that_goes_away_loses_nothing(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:

    def five_answers(prompt: str, pictures: list[Image.Image]) -> str | None:
        if len(server.prompts) > 5:
            return None
        return good_answer(prompt, pictures)

    server.answer = five_answers
    output = tmp_path / "filled.csv"
    result = figlang("judge", "llm", blank, "-o", output, *ONE_BY_ONE)
    assert "3 requests failed one after the other" in result.stderr
    assert not output.exists() and len(kept(output)) == 5
    server.answer = good_answer
    server.prompts = []
    printed = fill(blank, output)
    assert f"{REQUESTS - 5} requests to {JUDGE_MODEL} (5 answers are kept" in printed
    assert len(server.prompts) == REQUESTS - 5
    first_content = output.read_bytes()
    assert "\n0 requests to" in fill(blank, output)
    assert output.read_bytes() == first_content


def test_models_that_think_take_no_temperature(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    result = figlang(
        "judge", "llm", blank, "-o", tmp_path / "o.csv", "--model", "o3-mini", "--max-tokens", "64"
    )
    assert "3 requests failed" in result.stderr
    assert server.settings == {"model": "o3-mini", "max_completion_tokens": 64}


def test_mistakes_are_found_before_a_request(
    tmp_path: Path, blank: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_refusal(message: str, output: Path = tmp_path / "out.csv") -> None:
        """Check that filling in a sheet is refused with this message."""
        result = figlang("judge", "llm", blank, "-o", output, *OPTIONS)
        assert result.exit_code == 1
        assert message in result.stderr
        assert server.prompts == []

    check_refusal("exists, and annotator1.answers.jsonl is not beside it: choose", output=blank)
    kept_answers = tmp_path / "other.answers.jsonl"
    kept_answers.write_text('{"model": "judge-2", "samples": {}}\n')
    other = tmp_path / "other.csv"
    check_refusal("holds answers of judge-2, not of judge-1: choose another", output=other)
    kept_answers.write_text('{"model": "judge-1", "samples": {"sheet": "s-1"}}\n')
    check_refusal("holds answers about another run or sheet", output=other)
    monkeypatch.delenv("OPENAI_API_KEY")
    check_refusal("OPENAI_API_KEY")
    (tmp_path / "images" / "2.png").write_bytes(b"no picture")
    check_refusal("item 2: ")
    assert not list(tmp_path.glob("out*"))


@pytest.mark.parametrize(
    ("column", "answer", "cells"),
    [
        (
            "label",
            '{so} {"thought": {"of": "it"}} {"label": "entailment"}',
            {"label": "entailment"},
        ),
        (
            "label",
            'Not {"label": "entailment"} but {"label": "contradiction"}',
            {"label": "contradiction"},
        ),
        ("label", '<think>{"label": "entailment"}</think> It depends.', {}),
        (
            "label",
            '<think>{"label": "entailment"}</think>{"label": "contradiction"}',
            {"label": "contradiction"},
        ),
        ("label", '{"label": "entailment"} {"label": "neutral"}', {}),
        (
            "label",
            '{"label": "entailment"} No, wait: {"label": "contradiction"}',
            {"label": "contradiction"},
        ),
        ("label", '{"label": "entailment"} {"adequate": "yes"}', {"label": "entailment"}),
        (
            "label",
            '<think>{"label": "contradiction"}</think>{"label": "entailment"}',
            {"label": "entailment"},
        ),
        (
            "label",
            '{"label": "contradiction"}</think>\n{"label": "entailment"}',
            {"label": "entailment"},
        ),
        (
            "label",
            '{"label": "entailment"}<reasoning>Not {"label": "neutral"}.</reasoning>',
            {"label": "entailment"},
        ),
        ("label", '<think>So {"label": "entailment"}, or', {}),
        ("label", '{"label": "neutral"}', {}),
        ("label", '{"label": ["entailment"]}', {}),
        ("label", "{" * 500_000 + '{"label": "entailment"}', {"label": "entailment"}),
        ("label", '{"label":' + "[" * 100_000 + "}", {}),
        ("adequate", '{"adequate": true, "error": null}', {"adequate": "yes"}),
        ("adequate", '{"adequate": "Yes", "error": "None"}', {"adequate": "yes"}),
        ("adequate", '{"adequate": "no", "error": "V"}', {"adequate": "no", "error": "verbose"}),
        ("adequate", '{"adequate": "no"}', {}),
        ("adequate", '{"adequate": null, "error": "unsound"}', {}),
        ("adequate", '{"adequate": "yes", "error": "unsound"}', {}),
        ("preferred", '{"preferred": "b"}', {"preferred": "B"}),
        ("preferred", '{"preferred": ""}', {}),
    ],
)
def test_answers_are_read_or_left(column: str, answer: str, cells: dict[str, str]) -> None:
    assert read_answer(column, answer, "AB") == cells
