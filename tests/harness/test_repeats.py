"""``--repeats K``: each answer counts, rows are resampled, and results name the majority."""

from __future__ import annotations

import json
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from demo_runs import DEMO, FixedAnswers, estimates, evaluate
from sklearn.metrics import f1_score
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks.cli.figlang import app
from figlang_tasks.results import runs

OPTIONS = "figlang_mini_irfl_detect_idiom"
RANKING = "figlang_mini_irfl_retrieve_metaphor"
EXPLAINED = "figlang_mini"
DRAWN = "do_sample=True,temperature=1"


class Drawing(FixedAnswers):
    """Draws each answer among some words."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        draw = random.Random(0)
        return [draw.choice(self.answers) for _ in requests]


def records(results: dict[str, Any], task: str) -> list[dict[str, Any]]:
    return [sample["sample"] for sample in results["samples"][task]]


def texts(results: dict[str, Any], task: str) -> list[str]:
    return [sample["filtered_resps"][0] for sample in results["samples"][task]]


def majority_index(option_indices: list[int | None]) -> int | None:
    """The option that most answers name, of equal ones the first named; None if none is named."""
    votes = [index for index in option_indices if index is not None]
    if not votes:
        return None
    counts = Counter(votes)
    return max(counts, key=lambda index: (counts[index], -votes.index(index)))


def test_options_count_each_and_have_a_majority(tmp_path: Path) -> None:
    model = Drawing("A", "B", "C", "D", "?")
    results = evaluate(OPTIONS, model, repeats=3, gen_kwargs=DRAWN, saved=tmp_path)
    judged = records(results, OPTIONS)
    assert [record["repeat"] for record in judged] == [1, 2, 3] * (len(judged) // 3)
    hits = [record["chosen"] == record["answer"] for record in judged]
    accuracy = estimates(results, OPTIONS)["acc"]
    assert accuracy.value == pytest.approx(np.mean(hits))
    assert accuracy.rows == len(judged) / 3

    option_of_letter = {"A": 0, "B": 1, "C": 2, "D": 3}
    options = [option_of_letter.get(text) for text in texts(results, OPTIONS)]
    majority_hits: list[bool] = []
    for start in range(0, len(judged), 3):
        majority = majority_index(options[start : start + 3])
        majority_hits.append(majority == judged[start]["answer"])
    summary = results["configs"][OPTIONS]["metadata"]["repeats"]
    assert summary == {
        "answers": 3,
        "metric": "acc",
        "mean": accuracy.value,
        "maj@3": pytest.approx(np.mean(majority_hits)),
    }
    assert 0 < sum(majority_hits) < len(majority_hits) and summary["maj@3"] != accuracy.value
    assert runs.read(str(tmp_path)).tasks[OPTIONS].contradictions == ()


def test_the_same_answer_again_adds_no_evidence() -> None:
    once = evaluate(OPTIONS, "figlang_random", repeats=1, gen_kwargs=None)
    thrice = evaluate(OPTIONS, "figlang_random", repeats=3, gen_kwargs=None)
    accuracy_once = estimates(once, OPTIONS)["acc"]
    accuracy_thrice = estimates(thrice, OPTIONS)["acc"]
    assert accuracy_once.value == accuracy_thrice.value
    assert accuracy_once.rows == accuracy_thrice.rows
    widths: list[float] = []
    for accuracy in (accuracy_once, accuracy_thrice):
        assert accuracy.low is not None and accuracy.high is not None
        widths.append(accuracy.high - accuracy.low)
    assert widths[1] > 0.85 * widths[0], "if answers were rows, it would be some .6 of the width"


def test_each_ranking_of_a_row_counts_on_its_own() -> None:
    results = evaluate(RANKING, Drawing("Yes", "No"), repeats=3, gen_kwargs=DRAWN)
    means: list[float] = []
    for repeat in (1, 2, 3):
        candidates_by_row: dict[str, list[tuple[float, bool]]] = {}
        for record in records(results, RANKING):
            if record["repeat"] == repeat:
                candidates = candidates_by_row.setdefault(record["row"], [])
                candidates.append((record["value"], record["positive"]))
        precisions = map(_expected_precision, candidates_by_row.values())
        means.append(float(np.mean(list(precisions))))
    precision = estimates(results, RANKING)["expected_p@k"]
    assert precision.value == pytest.approx(np.mean(means))
    assert precision.rows == len(candidates_by_row)
    assert precision.low is not None and precision.high is not None
    assert precision.low < precision.value < precision.high


def _expected_precision(candidates: list[tuple[float, bool]]) -> float:
    """The expected share of positives among the first k, with ties drawn; k is their number.

    Args:
        candidates: of one row, each with 1 for Yes or 0 for No, and whether it is a positive.
    """
    k = sum(positive for _, positive in candidates)
    yes = [positive for value, positive in candidates if value == 1]
    no = [positive for value, positive in candidates if value == 0]
    if len(yes) >= k:
        return sum(yes) / len(yes)
    return (sum(yes) + (k - len(yes)) * sum(no) / len(no)) / k


def test_explanations_are_scored_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "embedded")
    answers = (
        "A storm is near.\nLABEL: entailment",
        "It has fins.\nLABEL: contradiction",
        "Who knows?",
    )
    results = evaluate(EXPLAINED, Drawing(*answers), repeats=3, limit=20, gen_kwargs=DRAWN)
    judged = records(results, EXPLAINED)
    assert len(judged) == 60 and all("explanation_scores" in record for record in judged)
    for name, threshold in (("f1@0", 0.0), ("f1@53", 0.53)):
        f1_of_repeats: list[float] = []
        for repeat in (1, 2, 3):
            records_of_repeat = [record for record in judged if record["repeat"] == repeat]
            f1_of_repeats.append(_thresholded_f1(records_of_repeat, threshold))
        f1 = estimates(results, EXPLAINED)[name]
        assert f1.value == pytest.approx(np.mean(f1_of_repeats))
    scores = [record["explanation_scores"]["mean"] for record in judged]
    assert estimates(results, EXPLAINED)["explanation_score"].value == pytest.approx(
        np.mean(scores)
    )
    summary = results["configs"][EXPLAINED]["metadata"]["repeats"]
    assert summary.keys() == {"answers", "metric", "mean"}, "explanations have no majority"
    assert summary["metric"] == "f1@60"


def _thresholded_f1(judged: list[dict[str, Any]], threshold: float) -> float:
    """Macro-F1, where a right label with an explanation score up to the threshold is wrong."""
    gold_labels: list[int] = []
    predicted_labels: list[int] = []
    for record in judged:
        gold = record["gold"]
        is_explained = record["explanation_scores"]["mean"] > threshold
        is_hit = record["predicted"] == gold and is_explained
        gold_labels.append(gold)
        predicted_labels.append(gold if is_hit else 1 - gold)
    return float(f1_score(gold_labels, predicted_labels, average="macro", zero_division=0))


def test_a_model_that_samples_is_asked_k_times_once(tmp_path: Path) -> None:
    """With --use_cache all answers are kept."""
    options: dict[str, Any] = {
        "repeats": 3,
        "limit": 6,
        "gen_kwargs": "do_sample=True,temperature=4.0,max_new_tokens=12",
    }
    cache = str(tmp_path / "cache")
    first = evaluate(EXPLAINED, "figlang_vlm", DEMO, use_cache=cache, **options)
    answers = texts(first, EXPLAINED)
    answers_of_rows = [set(answers[start : start + 3]) for start in range(0, 18, 3)]
    assert len(answers) == 18
    assert any(len(answers_of_row) > 1 for answers_of_row in answers_of_rows)
    cached = evaluate(EXPLAINED, "figlang_vlm", DEMO, use_cache=cache, **options)
    assert texts(cached, EXPLAINED) == answers
    assert cached["results"][EXPLAINED] == first["results"][EXPLAINED]


@pytest.mark.parametrize(
    ("gen_kwargs", "reason"),
    [
        (None, "nothing draws them at random. Add --gen_kwargs do_sample=True,temperature=1"),
        ("do_sample=True", "nothing draws them"),
        ("temperature=0.7", "nothing draws them"),
        ("do_sample=True,temperature=0.7", ""),
        ("do_sample=True,temperature=0.7,num_beams=3", "num_beams=3 .*temperature=1,num_beams=1$"),
    ],
)
def test_a_run_warns_if_all_repeats_must_be_equal(
    gen_kwargs: str | None, reason: str, warnings_of_loguru: list[str]
) -> None:
    evaluate(OPTIONS, Drawing("A"), repeats=2, limit=2, gen_kwargs=gen_kwargs)
    warnings = [warning for warning in warnings_of_loguru if "will be equal" in warning]
    assert len(warnings) == bool(reason)
    message = f"figlang_mini_irfl_detect_idiom: the 2 answers to a row will be equal.*{reason}"
    assert all(re.search(message, warning) for warning in warnings)


@pytest.fixture(scope="module")
def runs_to_compare(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Run ``a`` with three answers to a row, and run ``b`` with one, each as ``NAME=FOLDER``."""
    folder = tmp_path_factory.mktemp("compared")
    evaluate(OPTIONS, Drawing(*"ABCD"), repeats=3, gen_kwargs=DRAWN, saved=folder / "a")
    evaluate(OPTIONS, Drawing(*"AB"), repeats=1, gen_kwargs=DRAWN, saved=folder / "b")
    return [f"a={folder / 'a'}", f"b={folder / 'b'}"]


def test_compare_takes_the_mean_of_several_answers(runs_to_compare: list[str]) -> None:
    (row,) = figlang_tasks.compare(*runs_to_compare, resamples=200).to_dict("records")
    hits: list[float] = []
    for path in Path(runs_to_compare[0].removeprefix("a=")).rglob("*.jsonl"):
        hits += [json.loads(line)["acc"] for line in path.read_text().splitlines()]
    assert row["baseline_value"] == pytest.approx(np.mean(hits))
    assert row["baseline_rows"] == 12
    assert (row["baseline_repeats"], row["candidate_repeats"]) == (1, 1)
    assert 0 < row["p_randomization"] <= 1
    assert np.isnan(row["p_repeats"])


def test_the_table_of_compare_says_how_many_answers_a_row_has(runs_to_compare: list[str]) -> None:
    command = ["compare", *runs_to_compare, "--resamples", "200"]
    table = CliRunner().invoke(app, command).stdout
    assert "| a (3 answers to a row) |" in table
    assert "| b " in table
    assert "±" not in table
