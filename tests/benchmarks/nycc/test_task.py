"""NYCC is asked in other words, or judged in another way than by the released evaluator, if this
fails.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import nycc_release as release
import pytest
import sacrebleu
from judging import measures_of
from rouge_score import rouge_scorer, scoring

from figlang_tasks.benchmarks.nycc import configurations, counts, tasks
from figlang_tasks.benchmarks.nycc.benchmark import BENCHMARK
from figlang_tasks.core import score_requests
from figlang_tasks.core.request import Request
from figlang_tasks.scoring import OVERALL, evaluate, process_results


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    return tmp_path / "NYCC"


def document(folder: Path, kind: str) -> dict[str, Any]:
    """Of a fold whose number of rows was inferred, where there is one: of it two rows will do."""
    config = next(
        (kind + fold for fold in ("", "_1", "_2", "_3", "_4") if kind + fold not in counts.SEEN),
        kind,
    )
    release.release(folder, config, test=None if config in counts.SEEN else 2)
    return dict(documents(kind, configurations.parse_name(config).fold)[1])


def documents(kind: str, fold: int) -> datasets.Dataset:
    """The documents of a fold."""
    return BENCHMARK.documents(Request.of("NYCC", config=kind, fold=str(fold)))


# --- prompts ---

DESCRIPTION = (
    "scene location: a garden\ndescription: Snail 1 wears a watch.\nuncanny description: Snails"
    " have no wrists.\nentities: Snail, Watch\n"
)
FIVE, TWO = (
    "".join(f"{letter}: {release.SAID[letter]} no time, 1.\n" for letter in letters)
    for letters in ("ABCDE", "AB")
)
# The last turn, as the formats of the released scripts make it.
LAST = {
    ("matching", 0): (
        "OK. Here is a description of the cartoon followed by the five"
        f" choices.\n\n{DESCRIPTION}\nChoices:\n{FIVE}\nWhich of the 5 options (A, B, C, D, or E)"
        ' is the best fit? Think step-by-step and finish your response with "Answer: X" where X is'
        " either A, B, C, D, or E."
    ),
    ("ranking", 0): (
        "OK. Here is a description of the cartoon followed by the two"
        f" choices.\n\n{DESCRIPTION}\nChoices:\n{TWO}\nWhich of the 2 options (A or B) is funnier?"
        ' Think step-by-step and finish your response with "Answer: X" where X is either A or B.'
    ),
    ("explanation", 0): (
        "OK. Here is a description of the cartoon followed by the winning"
        f" caption.\n\n{DESCRIPTION}\nWinning caption: I have no time.\n\nThink step-by-step to"
        " figure out why the caption is funny for the cartoon. Then, finish your response with a"
        ' summary "Explanation: X" where X is a 2-3 sentence explanation of the joke.'
    ),
    ("matching", 5): (
        f"Thanks! How about this one?\n\n{DESCRIPTION}Choices:\n{FIVE}\nWhich of the 5 options (A,"
        " B, C, D, or E) is the caption that truly corresponds to the cartoon?"
    ),
    ("ranking", 5): (
        f"Thanks! How about this one?\n\n{DESCRIPTION}Choices:\n{TWO}\nWhich of the 2 options (A or"
        " B) is funnier for the given cartoon?"
    ),
    ("explanation", 5): (
        f"Thanks! How about this one?\n\n{DESCRIPTION}Caption: I have no time.\n\nExplain the"
        " joke/how the caption relates to the cartoon in 2-3 sentences."
    ),
    ("matching_from_pixels", 0): (
        "Which one of these 5 captions is the correct match for the New Yorker"
        f' cartoon?\n{FIVE}\nRemember to provide your final answer in the format "Final Answer: X"'
        " where X is the letter of your choice."
    ),
    ("ranking_from_pixels", 0): (
        f"Which of these 2 captions is funnier for the New Yorker cartoon?\n{TWO}\nRemember to"
        ' provide your final answer in the format "Final Answer: X" where X is the letter of your'
        " choice (A or B)."
    ),
}


@pytest.mark.parametrize(("config", "shots"), LAST, ids=str)
def test_the_question_is_the_released_one(folder: Path, config: str, shots: int) -> None:
    doc, options = document(folder, config), {"num_shots": shots}
    turns = tasks.doc_to_messages(doc, options)
    roles = [turn["role"] for turn in turns]
    assert roles == ["system", *["user", "assistant"] * (shots or 1), "user"]
    assert turns[-1]["content"][0]["text"] == LAST[config, shots]
    pictures = [part for turn in turns for part in turn["content"] if part["type"] == "image"]
    assert len(pictures) == len(tasks.doc_to_visual(doc, options)) == (config.endswith("pixels"))
    text = tasks.doc_to_text(doc, options)
    assert text.endswith(LAST[config, shots]) and "<image>" not in text
    if shots:
        # Before all but the first of the six
        assert text.count("Thanks! How about this one?") == shots
        assert turns[1]["content"][0]["text"].startswith(
            "I will describe a New Yorker cartoon to you. "
        )
        answer = turns[2]["content"][0]["text"]
        assert (
            re.fullmatch(r"Answer: [A-E]|Here's my best explanation: A snail .*", answer)
            and answer in text
        )


def test_exemplars_from_pixels_are_pictures_in_turns_of_their_own(folder: Path) -> None:
    doc, options = document(folder, "ranking_from_pixels"), {"num_shots": 5}
    turns = tasks.doc_to_messages(doc, options)
    assert [
        [part["type"] for part in turn["content"]] for turn in turns if turn["role"] == "user"
    ] == [["text", "image"]] * 6
    assert (
        len(tasks.doc_to_visual(doc, options))
        == tasks.doc_to_text(doc, options).count("<image>")
        == 6
    )


def test_turns_before_the_question_are_those_of_the_release(folder: Path) -> None:
    """By a digest, taken when the facts that were collected from the release (facts/neighbours.md)
    had these turns.
    """
    told = []
    for config in (
        "matching",
        "ranking",
        "explanation",
        "matching_from_pixels",
        "ranking_from_pixels",
    ):
        told += [
            turn["content"][0]["text"]
            for turn in tasks.doc_to_messages(document(folder, config), {})[:2]
        ]
    assert hashlib.sha256("\0".join(told).encode()).hexdigest()[:16] == "f88ec97a916fb4c2", told


# --- answers ---


@pytest.mark.parametrize(
    ("output", "ours", "official"),
    [("Final Answer: A", "A", "A"), ("a", "A", "B"), ("?", None, "B")],
)
def test_without_a_letter_the_released_script_guesses_and_we_do_not(
    folder: Path, output: str, ours: str | None, official: str
) -> None:
    record = process_results(document(folder, "ranking_from_pixels"), [output])["sample"]
    assert (record["predicted"], record["predicted_official"]) == (ours, official)
    assert (record["status"] == "read") == (ours is not None)


@pytest.mark.parametrize(
    ("scores", "chosen"), [([0.1, 0.3], "B"), ([0.3, 0.3], None), ([0.1, 0.2, 0.3], None)]
)
def test_scores_choose_the_highest_alone(
    folder: Path, scores: list[float], chosen: str | None
) -> None:
    record = process_results(
        document(folder, "ranking_from_pixels"), [score_requests.answer(scores)]
    )["sample"]
    assert (record["predicted"], record["status"]) == (
        chosen,
        "scores" if len(scores) == 2 else "unreadable",
    )


# --- parity with the released evaluator, eval_crossval.py ---


def values(records: list[dict[str, Any]]) -> dict[str, float]:
    return {
        name: scopes[OVERALL].value
        for name, scopes in evaluate(records, measures_of(records), 0).items()
    }


def test_accuracies_are_those_of_the_released_evaluator(folder: Path) -> None:
    release.release(folder, "ranking")
    generator, docs = np.random.default_rng(1), documents("ranking", 0)
    said = [str(generator.choice(["A", "B"])) for _ in docs]
    found = values(
        [
            process_results(doc, [f"Answer: {it}"])["sample"]
            for doc, it in zip(docs, said, strict=True)
        ]
    )
    ny: list[float] = []
    crowd: list[float] = []
    for doc, it in zip(docs, said, strict=True):
        (crowd if doc["winner_source"] == "crowd_winner" else ny).append(float(doc["label"] == it))
    expected = {
        "acc": np.mean(ny + crowd),
        "acc_ny": np.mean(ny),
        "acc_crowd": np.mean(crowd),
        "parse_rate": 1,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert found["acc_official"] == found["acc"] and found["parse_disagreement"] == 0


def test_explanation_scores_are_those_of_the_packages(folder: Path) -> None:
    """BLEU of sacrebleu itself, ROUGE-L of rouge_score itself; the evaluator takes the middle of
    its bootstrap.
    """
    release.release(folder, "explanation_from_pixels")
    docs = documents("explanation_from_pixels", 0)
    texts = [" ".join(doc["label"].split()[:: 1 + number % 3]) for number, doc in enumerate(docs)]
    said = [f"Step by step. Explanation: {text}" for text in texts]
    records = [process_results(doc, [it])["sample"] for doc, it in zip(docs, said, strict=True)]
    assert "|eff:no|" in records[0]["bleu"] and records[0]["bleu"].endswith("|level:corpus")
    found = values(records)
    references = [doc["label"] for doc in docs]
    assert 100 * found["bleu4"] == pytest.approx(
        sacrebleu.corpus_bleu(texts, [references]).score, abs=1e-9
    )
    scorer, middle = (
        rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False),
        scoring.BootstrapAggregator(),
    )
    each = [scorer.score(*pair) for pair in zip(references, texts, strict=True)]
    for score in each:
        middle.add_scores(score)
    assert found["rouge_l"] == pytest.approx(
        np.mean([score["rougeL"].fmeasure for score in each]), abs=1e-12
    )
    assert found["rouge_l"] == pytest.approx(middle.aggregate()["rougeL"].mid.fmeasure, abs=0.005)


# --- the card's example ---
