"""If these fail, a language model is asked twice, is paid for nothing, or its words are taken for
what they are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filled_sheets import key_of, save_key, save_sheet, sheet_of
from judge_server import MODEL, JudgeServer
from PIL import Image

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.prompting import prompt_hash
from figlang_tasks.judge import sheet
from figlang_tasks.judge.agree import agree, text
from figlang_tasks.judge.llm import fill, read_answer

KEY = key_of(["one", "two"], [1, 0, 1])
OPTIONS: dict[str, Any] = {"model": MODEL, "concurrency": 2, "max_tokens": 64}
NAME = f"LLM judge {MODEL}, prompt {prompt_hash('judge')}"
REQUESTS = 3 * (1 + 2 + 1)  # items x (label, adequacy of two, preference)


@pytest.fixture
def blank(tmp_path: Path) -> Path:
    """An empty sheet of three items, each with a picture of its own colour."""
    rows = sheet_of(KEY, "annotator 1", lambda item: "", lambda item, name: ("", ""))
    for row in rows:
        number = row["item"]
        row |= {
            "image": f"images/{number}.png",
            "claim": f"=claim {number}",
            "reference": f"reference {number}",
        }
    (tmp_path / "images").mkdir()
    for item in KEY["items"]:
        Image.new("RGBA", (8, 8), (80 * item["number"], 0, 0)).save(
            tmp_path / "images" / f"{item['number']}.png"
        )
    return save_sheet(
        tmp_path / "sheet.annotator1.csv",
        rows,
        [each for each in sheet.COLUMNS if each != "premise"],
    )


def good_answer(prompt: str, pictures: list[Image.Image]) -> str:
    """The right label, `one` adequate and preferred; only where the picture is the item's."""
    (picture,) = pictures
    (number,) = [item["number"] for item in KEY["items"] if f"=claim {item['number']}\n" in prompt]
    assert abs(picture.tobytes()[0] - 80 * number) < 8
    assert f"reference {number}" in prompt
    if '{"label"' in prompt:
        assert "= one?" not in prompt and "= two?" not in prompt  # before the explanations are seen
        return (
            'I see. {"label":'
            f' "{("contradiction", "entailment")[KEY["items"][number - 1]["gold"]]}"}}'
        )
    if '{"adequate"' in prompt:
        assert ("= one?" in prompt) + ("= two?" in prompt) == 1
        return (
            '{"adequate": "yes"}'
            if "= one?" in prompt
            else '```json\n{"adequate": "no", "error": "Unsound"}\n```'
        )
    assert prompt.index("= one?") and prompt.index("= two?")
    (letter,) = [letter for letter in "AB" if f"<explanation {letter}>\n= one?\n" in prompt]
    return f'{{"preferred": "{letter}"}}'


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[JudgeServer]:
    with JudgeServer(good_answer) as running:
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        monkeypatch.setenv("OPENAI_BASE_URL", running.url)
        yield running


def test_a_sheet_is_filled_in_and_marked(tmp_path: Path, blank: Path, server: JudgeServer) -> None:
    output = tmp_path / "filled.csv"
    report = fill(blank, output, **OPTIONS)
    assert (report["asked"], report["unreadable"], report["failed"]) == (REQUESTS, 0, 0)
    assert server.pictures == [1] * REQUESTS
    assert server.settings == {"model": MODEL, "temperature": 0, "max_tokens": 64}
    filled = sheet.read(output)
    assert filled.annotator == report["annotator"] == NAME
    said = sheet.read_judgements(filled, sheet.spellings_by_column("AB"))
    for item in KEY["items"]:
        own, by_name = (
            said.loc[str(item["number"])],
            {name: letter for letter, name in item["systems"].items()},
        )
        assert [*own["label"].dropna()] == [("contradiction", "entailment")[item["gold"]]]
        assert [*own["preferred"].dropna()] == [by_name["one"]]
        assert own["adequate"].to_dict() == {by_name["one"]: "yes", by_name["two"]: "no"}
        assert own["error"].dropna().to_dict() == {by_name["two"]: "unsound"}
    texts = ["claim", "reference", "explanation", "image"]
    assert filled.rows[texts].equals(sheet.read(blank).rows[texts])
    log = [
        json.loads(line) for line in (tmp_path / "filled.answers.jsonl").read_text().splitlines()
    ]
    assert len(log) == REQUESTS and sum(line["said"].startswith("I see. {") for line in log) == 3
    assert {line["model"] for line in log} == {f"{MODEL}-2026"}

    person = tmp_path / "person.csv"
    person.write_bytes(output.read_bytes().replace(NAME.encode(), b"annotator 1"))
    agreed = agree(save_key(tmp_path, KEY), [person, output])
    assert [each["llm"] for each in agreed["annotators"]] == [False, True]
    assert NAME in text(agreed)


def test_unreadable_answers_and_failures_are_counted(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    def poor_answer(prompt: str, pictures: list[Image.Image]) -> str | None:
        if '{"label"' in prompt:
            return None
        return "Both are fine." if '{"adequate"' in prompt else good_answer(prompt, pictures)

    server.answer = poor_answer
    report = fill(blank, tmp_path / "filled.csv", **{**OPTIONS, "concurrency": 1})
    assert (report["asked"], report["unreadable"], report["failed"]) == (REQUESTS, 6, 3)
    assert "BadRequestError" in report["error"] and report["error"].endswith("(item 3, label)")
    said = sheet.read_judgements(
        sheet.read(tmp_path / "filled.csv"), sheet.spellings_by_column("AB")
    )
    assert said.count()[["label", "adequate", "preferred"]].to_dict() == {
        "label": 0,
        "adequate": 0,
        "preferred": 3,
    }
    assert (tmp_path / "filled.answers.jsonl").read_text().count('"error"') == 3


def test_a_server_that_goes_away_loses_nothing(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    server.answer = lambda prompt, pictures: (
        good_answer(prompt, pictures) if len(server.prompts) <= 5 else None
    )
    with pytest.raises(
        FigLangError,
        match=r"3 requests failed one after the other, .*refused\ufffd?\[?.*run the comm",
    ):
        fill(blank, tmp_path / "filled.csv", **{**OPTIONS, "concurrency": 1})
    kept = sheet.read(tmp_path / "filled.csv").rows
    server.answer, server.prompts = good_answer, []
    report = fill(blank, tmp_path / "filled.csv", **OPTIONS)
    assert report["asked"] == len(server.prompts) == REQUESTS - 5
    after = sheet.read(tmp_path / "filled.csv").rows
    assert kept.mask(kept == "", after).equals(after)
    assert fill(blank, tmp_path / "filled.csv", **OPTIONS)["asked"] == 0


def test_models_that_think_take_no_temperature(
    tmp_path: Path, blank: Path, server: JudgeServer
) -> None:
    with pytest.raises(FigLangError, match="3 requests failed"):
        fill(blank, tmp_path / "filled.csv", **{**OPTIONS, "model": "o3-mini"})
    assert server.settings == {"model": "o3-mini", "max_completion_tokens": 64}


def test_what_ends_the_work_before_a_request(
    tmp_path: Path, blank: Path, server: JudgeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(
        says: str, path: Path = blank, output: Path = tmp_path / "out.csv", **options: Any
    ) -> None:
        with pytest.raises(FigLangError, match=says):
            fill(path, output, **{**OPTIONS, **options})
        assert server.prompts == []

    refused(
        r"annotator1.csv exists, of annotator 1 and the export s-\w+, not of LLM judge judge-1",
        output=blank,
    )
    other = tmp_path / "other.csv"
    other.write_bytes(
        blank.read_bytes()
        .replace(KEY["sheet"].encode(), b"s-1")
        .replace(b"annotator 1", NAME.encode())
    )
    refused("of LLM judge judge-1, .* and the export s-1, not of", output=other)
    monkeypatch.delenv("OPENAI_API_KEY")
    refused("OPENAI_API_KEY")
    (tmp_path / "images" / "2.png").write_bytes(b"no picture")
    refused(r"item 2: .*2.png")
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    ("asked", "answer", "cells"),
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
def test_answers_are_read_or_left(asked: str, answer: str, cells: dict[str, str]) -> None:
    assert read_answer(asked, answer, "AB") == cells
