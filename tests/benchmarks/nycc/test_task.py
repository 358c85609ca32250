"""NYCC's prompts or values are not those of the released scripts if this fails."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

import datasets
import numpy as np
import pytest
import rows_with_images
import sacrebleu
from rouge_score import rouge_scorer, scoring
from tasks_without_harness import measures_of

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
    """A row of a configuration.

    It is of a fold whose number of rows is inferred, if there is one: two rows of it will do.
    """
    inferred = [name for name in fold_names(kind) if name not in counts.SEEN]
    config = inferred[0] if inferred else kind
    rows_with_images.write_nycc(folder, config, test=2 if inferred else None)
    return dict(documents(kind, configurations.parse_name(config).fold)[1])


def fold_names(kind: str) -> list[str]:
    """The names of the five folds of a configuration."""
    return configurations.fold_names({"config": kind, "fold": "all"})


def documents(kind: str, fold: int) -> datasets.Dataset:
    """The documents of a fold."""
    return BENCHMARK.documents(Request.of("NYCC", config=kind, fold=str(fold)))


# --- prompts ---

DESCRIPTION = (
    "scene location: a garden\ndescription: Snail 1 wears a watch.\nuncanny description: Snails"
    " have no wrists.\nentities: Snail, Watch\n"
)


def lettered_captions(letters: str) -> str:
    """The captions with their letters, as a prompt has them."""
    lines: list[str] = []
    for letter in letters:
        start = rows_with_images.NYCC_CAPTION_STARTS[letter]
        lines.append(f"{letter}: {start} no time, 1.\n")
    return "".join(lines)


FIVE = lettered_captions("ABCDE")
TWO = lettered_captions("AB")
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
    doc = document(folder, config)
    options = {"num_shots": shots}
    turns = tasks.doc_to_messages(doc, options)
    roles = [turn["role"] for turn in turns]
    assert roles == ["system", *["user", "assistant"] * (shots or 1), "user"]
    assert turns[-1]["content"][0]["text"] == LAST[config, shots]
    text = tasks.doc_to_text(doc, options)
    assert text.endswith(LAST[config, shots])
    assert "<image>" not in text


@pytest.mark.parametrize(("config", "shots"), LAST, ids=str)
def test_only_tasks_from_pixels_show_the_cartoon(folder: Path, config: str, shots: int) -> None:
    doc = document(folder, config)
    options = {"num_shots": shots}
    pictures: list[Any] = []
    for turn in tasks.doc_to_messages(doc, options):
        pictures += [part for part in turn["content"] if part["type"] == "image"]
    picture_count = 1 if config.endswith("pixels") else 0
    assert len(pictures) == picture_count
    assert len(tasks.doc_to_visual(doc, options)) == picture_count


@pytest.mark.parametrize("config", [config for config, shots in LAST if shots])
def test_five_exemplars_stand_before_the_question(folder: Path, config: str) -> None:
    doc = document(folder, config)
    options = {"num_shots": 5}
    turns = tasks.doc_to_messages(doc, options)
    text = tasks.doc_to_text(doc, options)
    # It stands before all of the six questions but the first.
    assert text.count("Thanks! How about this one?") == 5
    first_question = turns[1]["content"][0]["text"]
    assert first_question.startswith("I will describe a New Yorker cartoon to you. ")
    first_answer = turns[2]["content"][0]["text"]
    assert re.fullmatch(r"Answer: [A-E]|Here's my best explanation: A snail .*", first_answer)
    assert first_answer in text


def test_exemplars_from_pixels_are_pictures_in_turns_of_their_own(folder: Path) -> None:
    doc = document(folder, "ranking_from_pixels")
    options = {"num_shots": 5}
    questions = [turn for turn in tasks.doc_to_messages(doc, options) if turn["role"] == "user"]
    assert len(questions) == 6
    for question in questions:
        assert [part["type"] for part in question["content"]] == ["text", "image"]
    assert len(tasks.doc_to_visual(doc, options)) == 6
    assert tasks.doc_to_text(doc, options).count("<image>") == 6


def test_turns_before_the_question_are_those_of_the_release(folder: Path) -> None:
    """Their digest was taken when they were compared with the released scripts."""
    texts: list[str] = []
    for config in (
        "matching",
        "ranking",
        "explanation",
        "matching_from_pixels",
        "ranking_from_pixels",
    ):
        first_turns = tasks.doc_to_messages(document(folder, config), {})[:2]
        texts += [turn["content"][0]["text"] for turn in first_turns]
    digest = hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]
    assert digest == "f88ec97a916fb4c2", texts


# --- answers ---


@pytest.mark.parametrize(
    ("output", "predicted", "official"),
    [("Final Answer: A", "A", "A"), ("a", "A", "B"), ("?", None, "B")],
)
def test_without_a_letter_the_released_script_guesses_and_we_do_not(
    folder: Path, output: str, predicted: str | None, official: str
) -> None:
    record = process_results(document(folder, "ranking_from_pixels"), [output])["sample"]
    assert (record["predicted"], record["predicted_official"]) == (predicted, official)
    assert (record["status"] == "read") == (predicted is not None)


@pytest.mark.parametrize(
    ("scores", "letter"), [([0.1, 0.3], "B"), ([0.3, 0.3], None), ([0.1, 0.2, 0.3], None)]
)
def test_scores_choose_the_highest_alone(
    folder: Path, scores: list[float], letter: str | None
) -> None:
    doc = document(folder, "ranking_from_pixels")
    record = process_results(doc, [score_requests.answer(scores)])["sample"]
    status = "scores" if len(scores) == 2 else "unreadable"
    assert (record["predicted"], record["status"]) == (letter, status)


# --- parity with the released evaluator, eval_crossval.py ---


def values(records: list[dict[str, Any]]) -> dict[str, float]:
    """The value of each measure of all records."""
    estimates = evaluate(records, measures_of(records), 0)
    return {name: scopes[OVERALL].value for name, scopes in estimates.items()}


def test_accuracies_are_those_of_the_released_evaluator(folder: Path) -> None:
    rows_with_images.write_nycc(folder, "ranking")
    generator = np.random.default_rng(1)
    records: list[dict[str, Any]] = []
    ny: list[float] = []
    crowd: list[float] = []
    for doc in documents("ranking", 0):
        letter = str(generator.choice(["A", "B"]))
        records.append(process_results(doc, [f"Answer: {letter}"])["sample"])
        hits = crowd if doc["winner_source"] == "crowd_winner" else ny
        hits.append(float(doc["label"] == letter))
    scores = values(records)
    expected = {
        "acc": np.mean(ny + crowd),
        "acc_ny": np.mean(ny),
        "acc_crowd": np.mean(crowd),
        "parse_rate": 1,
    }
    assert {name: scores[name] for name in expected} == pytest.approx(expected, abs=1e-12)
    assert scores["acc_official"] == scores["acc"]
    assert scores["parse_disagreement"] == 0


def test_explanation_scores_are_those_of_the_packages(folder: Path) -> None:
    """BLEU is sacrebleu's, ROUGE-L rouge_score's, whose bootstrap's middle the evaluator takes."""
    rows_with_images.write_nycc(folder, "explanation_from_pixels")
    docs = documents("explanation_from_pixels", 0)
    references = [doc["label"] for doc in docs]
    explanations: list[str] = []
    records: list[dict[str, Any]] = []
    for index, doc in enumerate(docs):
        explanation = " ".join(doc["label"].split()[:: 1 + index % 3])
        explanations.append(explanation)
        output = f"Step by step. Explanation: {explanation}"
        records.append(process_results(doc, [output])["sample"])
    assert "|eff:no|" in records[0]["bleu"]
    assert records[0]["bleu"].endswith("|level:corpus")

    scores = values(records)
    bleu = sacrebleu.corpus_bleu(explanations, [references]).score
    assert 100 * scores["bleu4"] == pytest.approx(bleu, abs=1e-9)
    scorer = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=False)
    bootstrap = scoring.BootstrapAggregator()
    rouge_l: list[float] = []
    for reference, explanation in zip(references, explanations, strict=True):
        rouge = scorer.score(reference, explanation)
        rouge_l.append(rouge["rougeL"].fmeasure)
        bootstrap.add_scores(rouge)
    assert scores["rouge_l"] == pytest.approx(np.mean(rouge_l), abs=1e-12)
    middle = bootstrap.aggregate()["rougeL"].mid.fmeasure
    assert scores["rouge_l"] == pytest.approx(middle, abs=0.005)


# --- the card's example ---
