"""If this fails, a right answer counts as wrong, or a score depends on the order of rows."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.metaclue import measures, tasks
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.core import notes
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import captions
from figlang_tasks.scoring import Estimate, evaluate, flat, full_name, process_results
from figlang_tasks.scoring.task import Document, MetricValues

MINI = "figlang_mini_metaclue"
METRICS_WITHOUT_JAVA = ("em", "bleu4", "rouge_l", "cider")
METRICS_BY_JAVA = ("meteor", "spice")

Records = list[dict[str, Any]]
Estimates = dict[str, dict[str, Estimate]]
"""Estimates by metric and scope."""


def documents(task: str, count: int | None = None) -> list[Document]:
    """The first documents of a task of the mini benchmark; all by default."""
    rows = BENCHMARK.documents(Request.of(MINI, task=task))
    return list(rows)[:count]


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def records_of(docs: Sequence[Document], outputs: Sequence[str]) -> Records:
    """The records of outputs, as samples files give them back."""
    records: Records = []
    for doc, output in zip(docs, outputs, strict=True):
        records.append(process_results(doc, [output])["sample"])
    saved_records: Records = json.loads(json.dumps(records))
    return saved_records


def estimates_in_any_order(docs: Sequence[Document], outputs: Sequence[str]) -> Estimates:
    """All estimates of outputs; those of the records in another order are equal."""
    records = records_of(docs, outputs)
    estimates = evaluate(records, measures_of(records), stderr_resamples=9)
    shuffled_records = random.Random(5).sample(records, len(records))
    shuffled_estimates = evaluate(
        shuffled_records, measures_of(shuffled_records), stderr_resamples=9
    )
    assert shuffled_estimates == estimates
    return estimates


def values_of(judged: MetricValues) -> dict[str, float]:
    """The values of one document by every measure, by full name."""
    records = [judged["sample"]]
    values: dict[str, float] = {}
    for metric, scope, estimate in flat(
        evaluate(records, measures_of(records), stderr_resamples=0)
    ):
        values[full_name(metric, scope)] = estimate.value
    return values


# --- classification ---


@pytest.mark.parametrize(
    ("gold", "output", "expected"),
    [
        (True, "Yes", {"acc": 1, "acc_metaphor": 1, "yes_rate": 1, "parse_rate": 1}),
        (True, "No.", {"acc": 0, "acc_metaphor": 0, "yes_rate": 0, "parse_rate": 1}),
        (False, "No, it does not.", {"acc": 1, "acc_negative": 1, "yes_rate": 0, "parse_rate": 1}),
        (False, "A dog.", {"acc": 0, "acc_negative": 0, "yes_rate": 0, "parse_rate": 0}),
    ],
)
def test_yes_and_no_count_by_the_class_of_the_image(
    gold: bool, output: str, expected: dict[str, float]
) -> None:
    doc = {
        "id": "0/1.jpg",
        "data": "MetaCLUE/classify_symbolic@local:x",
        "request": "MetaCLUE,task=classify_symbolic",
        "metaphor": gold,
    }
    judged = process_results(doc, [output])
    assert values_of(judged) == expected
    assert judged["sample"]["gold"] == gold
    assert judged.keys() == {"sample", "acc", "parse_rate"}
    _, right_label = tasks.chance_answers(doc)
    assert right_label == tasks.doc_to_target(doc) == ("Yes" if gold else "No")


# --- retrieval ---

RETRIEVAL_DOCUMENT = {
    "id": "0/1.jpg",
    "data": f"{MINI}/retrieve_random50@package:x+y",
    "dataset": MINI,
    "image": "0/1.jpg",
    "request": f"{MINI},task=retrieve_random50",
    "candidates": ["statement 0", "statement 1", "statement 2", "statement 3"],
    "answer": 2,
}


@pytest.mark.parametrize(
    ("scores", "rank", "chosen_index", "tie_rate"),
    [
        ([0.1, 0.2, 0.9, 0.3], 1, 2, 0),
        ([0.1, 0.95, 0.9, 0.3], 2, 1, 0),
        ([0.9, 0.2, 0.9, 0.3], 2, None, 1),  # A tie is lost, and chooses nothing.
        ([0.9, 0.9, 0.2, 0.3], 4, None, 1),
        ([1, 2, -3, 4], 4, 3, 0),
    ],
)
def test_scores_give_rank_and_choice(
    scores: list[float], rank: int, chosen_index: int | None, tie_rate: int
) -> None:
    judged = process_results(RETRIEVAL_DOCUMENT, [json.dumps({"scores": scores})])
    assert values_of(judged) == {
        "p@1": float(rank == 1),
        "rank": rank,
        "tie_rate": tie_rate,
        "parse_rate": 1,
    }
    record = judged["sample"]
    chosen_text = None if chosen_index is None else f"statement {chosen_index}"
    expected_fields = {
        "rank": rank,
        "chosen": chosen_index,
        "status": "scores",
        "rule": "argmax",
        "answer_text": "statement 2",
        "chosen_text": chosen_text,
    }
    assert {field: record[field] for field in expected_fields} == expected_fields


@pytest.mark.parametrize(
    ("output", "precision_at_1", "parse_rate"),
    [
        ("3. Love is as sweet as 2 spoons of honey.", 1, 1),
        ("The answer is 4.", 0, 1),
        ("no idea", 0, 0),
        ('{"scores": [2, 3]}', 0, 0),  # There are four candidates.
    ],
)
def test_an_answer_in_words_has_no_rank(
    output: str, precision_at_1: float, parse_rate: float
) -> None:
    judged = process_results(RETRIEVAL_DOCUMENT, [output])
    assert (judged["p@1"], judged["parse_rate"]) == (precision_at_1, parse_rate)
    assert values_of(judged).keys() == {"p@1", "parse_rate"}
    assert judged["sample"]["rank"] is None


# --- captions ---


@pytest.fixture
def caption_documents() -> list[Document]:
    """The documents of twelve captions."""
    return documents("caption", 12)


@pytest.fixture
def caption_outputs(caption_documents: list[Document]) -> list[str]:
    """Six right captions, three that are no statement, three with the right relationship alone."""
    outputs = [doc["references"][-1] for doc in caption_documents[:6]]
    outputs += ["this is no statement"] * 3
    for doc in caption_documents[9:]:
        outputs.append(f"nothing is as {doc['references_relationship'][0]} as anything")
    return outputs


def test_captions_are_judged_whole_and_in_parts(
    caption_documents: list[Document], caption_outputs: list[str]
) -> None:
    estimates = estimates_in_any_order(caption_documents, caption_outputs)
    assert estimates["parse_rate"]["all"].value == 9 / 12
    assert estimates.keys() == {*METRICS_WITHOUT_JAVA, "parse_rate"}
    for metric in METRICS_WITHOUT_JAVA:
        assert list(estimates[metric]) == ["all", "primary", "secondary", "relationship"]
        for estimate in estimates[metric].values():
            assert estimate.low is not None
            assert estimate.high is not None
            assert estimate.rows == 12
            assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9
    exact_matches = [estimate.value for estimate in estimates["em"].values()]
    assert exact_matches == [0.5, 0.5, 0.5, 0.75]


def test_a_metric_without_java_is_missing_with_a_note(
    caption_documents: list[Document], caption_outputs: list[str]
) -> None:
    records = records_of(caption_documents, caption_outputs)
    notes.take_failures()  # Those of earlier tests.
    evaluate(records, measures_of(records), stderr_resamples=9)
    expected = [
        f"{name} could not be computed and is missing, see the log" for name in METRICS_BY_JAVA
    ]
    assert notes.take_failures() == expected


@pytest.mark.parametrize("metric", METRICS_WITHOUT_JAVA)
def test_values_of_captions_and_relationships_are_those_of_the_metrics(
    metric: str, caption_documents: list[Document], caption_outputs: list[str]
) -> None:
    estimates = estimates_in_any_order(caption_documents, caption_outputs)[metric]
    references = [doc["references"] for doc in caption_documents]
    caption_score = captions.caption_scores(caption_outputs, references).metrics[metric]
    assert estimates["all"].value == pytest.approx(caption_score.value, abs=1e-12)

    relationships: list[str] = []
    for output in caption_outputs:
        _, _, behind_verb = output.partition(" is as ")
        relationships.append(behind_verb.partition(" as ")[0])
    references = [doc["references_relationship"] for doc in caption_documents]
    relationship_score = captions.caption_scores(relationships, references).metrics[metric]
    assert estimates["relationship"].value == pytest.approx(relationship_score.value, abs=1e-12)


def test_an_unreadable_caption_scores_0_on_its_parts() -> None:
    judged = process_results(documents("caption")[0], ["fast"])
    assert judged["sample"]["primary"] is None
    assert judged["sample"]["caption"] == "fast"
    assert judged["parse_rate"] == 0
    values = values_of(judged)
    assert values["em_relationship"] == values["rouge_l_relationship"] == 0


def test_words_around_a_statement_count_unless_read_with_care() -> None:
    doc = documents("caption")[0]
    output = f"Metaphor: {doc['references'][0]}"
    by_the_paper = process_results(doc, [output])
    with_care = tasks.careful_caption_process_results(doc, [output])
    assert not by_the_paper["sample"]["em"]
    assert by_the_paper["em"] == 0
    assert with_care["sample"]["em"]
    assert with_care["em"] == 1


# --- answers to questions ---

METEOR_STAND_IN = """
import sys
right = 0
for line in () if "-version" in sys.argv else sys.stdin:
    kind, *texts = line.rstrip().split(" ||| ")
    right += kind == "SCORE" and texts[-1] == texts[0] + " and more"
    print(1 if kind == "SCORE" else "0.5\\n" * len(texts) + f"0.{right}", flush=True)
"""
"""A program in place of Java: its METEOR is a tenth of the number of texts that it gets."""


def test_meteor_is_that_of_its_program_and_has_no_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """METEOR itself runs in the tests of the metrics."""
    java = tmp_path / "java"
    java.write_text(f"#!{sys.executable}\n{METEOR_STAND_IN}")
    java.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    docs = documents("vqa_best", 9)
    records = records_of(docs, [f"{doc['references'][0]} and more" for doc in docs])
    assert measures.VQA.by_name["meteor"].estimate(records) == (0.9, None, None, None, None)


@pytest.fixture
def exact_match_of_answers() -> dict[str, Estimate]:
    """Exact match by scope, of answers that are right for the primary concept alone."""
    docs = documents("vqa_best", 30)
    outputs: list[str] = []
    for doc in docs:
        is_right = doc["role"] == "primary"
        outputs.append(doc["references"][0] if is_right else "something else")
    return estimates_in_any_order(docs, outputs)["em"]


def test_answers_are_judged_by_role(exact_match_of_answers: dict[str, Estimate]) -> None:
    values = {scope: estimate.value for scope, estimate in exact_match_of_answers.items()}
    assert values == {
        "all": pytest.approx(1 / 3),
        "primary": 1,
        "secondary": 0,
        "relationship": 0,
    }


def test_intervals_of_answers_resample_images(exact_match_of_answers: dict[str, Estimate]) -> None:
    estimate = exact_match_of_answers["all"]
    images = {doc["image"] for doc in documents("vqa_best", 30)}
    assert estimate.rows == len(images)
    # A third is right in each image: images vary less than rows do, so that Wilson's interval of
    # rows is all that is left. Ten images can tell less of their variance: a little wider.
    by_rows = binomtest(10, 30).proportion_ci(method="wilson")
    assert estimate.low is not None
    assert estimate.high is not None
    assert by_rows.low - 0.05 < estimate.low < by_rows.low
    assert by_rows.high < estimate.high < by_rows.high + 0.07


def test_thoughts_are_no_answers() -> None:
    doc = documents("vqa_best")[0]
    thought = "<think>Maybe the sea."
    answered = process_results(doc, [f"{thought}</think>{doc['references'][0]}"])
    unfinished = process_results(doc, [thought])
    assert answered["em"] == 1
    assert unfinished["sample"]["answer"] == ""
