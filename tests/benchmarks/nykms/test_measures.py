"""A value of NYK-MS's measures is wrong, or counts rows that it must not count, if this fails."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from rows_with_images import nykms_document
from tasks_without_harness import measures_of

from figlang_tasks.benchmarks.nykms import tasks
from figlang_tasks.benchmarks.nykms.benchmark import BENCHMARK
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import evaluate, process_results

LABELS = {"mc_acc", "mc_macro_precision", "mc_macro_recall", "mc_macro_f1", "parse_disagreement"}
ALWAYS = {"parse_rate", "refusal_rate"}
WORD = {"mw_em", "mw_relaxed_em", "mw_bleu4", "mw_corpus_bleu4"}
EXPLANATION = {"me_bleu4", "me_corpus_bleu4"}
# The paper's tables have none of them
NOT_IN_THE_TABLE = ("_relaxed_em", "_corpus_bleu4", "parse_disagreement")


def record_of(doc: dict[str, Any], output: str) -> dict[str, Any]:
    """The record of an answer, as a samples file has it."""
    record: dict[str, Any] = json.loads(json.dumps(process_results(doc, [output])["sample"]))
    return record


def values(records: list[dict[str, Any]]) -> dict[str, float]:
    """The value of each measure of all records."""
    estimates = evaluate(records, measures_of(records), stderr_resamples=0)
    return {measure: scopes["all"].value for measure, scopes in estimates.items()}


@pytest.mark.parametrize("output", ["Yes\nflat\nIt is dull.", ""])
def test_what_is_scored_depends_on_the_annotation_alone(output: str) -> None:
    for doc, measured in (
        (nykms_document(), LABELS | ALWAYS | WORD | EXPLANATION),
        (nykms_document(label=0), LABELS | ALWAYS),
        (nykms_document("me"), ALWAYS | EXPLANATION),
    ):
        record = record_of(doc, output)
        assert set(values([record])) == measured
        in_table = [measure for measure in measures_of([record]).in_table if not measure.omit_zero]
        counting = {measure.name for measure in in_table if measure.counted([record])}
        assert counting == {name for name in measured if not name.endswith(NOT_IN_THE_TABLE)}
        judged = process_results(doc, [output])
        assert judged.keys() == {"sample"} | {measure.name for measure in in_table}
        for measure in in_table:
            if measure.name not in counting:
                assert judged[measure.name] is None


@pytest.mark.parametrize(
    ("gold", "answer", "em", "relaxed"),
    [
        ("flat", "Flat.", 0, 1),
        ("flat", "[I] flat", 1, 1),
        ("[I] horse", "the horse", 0, 1),
        ("[S] power", "power", 1, 1),
        ("[I]", "the cartoon", 1, 1),
        ("[I]", "[I]", 1, 1),
        ("[I]", "", 0, 0),
        ("[I]", "[S]", 0, 0),
        ("horse", "[X] horse", 0, 0),  # no mark
        ("flat", "the cartoon", 0, 0),
    ],
)
def test_words_are_compared_without_marks(gold: str, answer: str, em: int, relaxed: int) -> None:
    for record in (
        record_of(nykms_document(MW=gold), f"Yes\n{answer}"),
        record_of(nykms_document("mw", MW=gold), answer),
    ):
        scores = values([record])
        assert (scores["mw_em"], scores["mw_relaxed_em"]) == (em, relaxed)


def test_a_small_yes_is_no_for_the_published_rules_alone() -> None:
    """Refusals, and answers that both read, are in the run that is worked out by hand."""
    record = record_of(nykms_document("mc"), "yes")
    assert (record["predicted"], record["predicted_strict"]) == ({"MC": 0}, 1)
    scores = values([record])
    assert scores["mc_acc"] == 0
    assert scores["parse_rate"] == 0
    assert scores["parse_disagreement"] == 1


def test_bleu4_is_the_mean_over_answers_or_that_of_all_together() -> None:
    texts = [
        ("the cat sat on the mat", "the cat sat on a mat"),
        ("a flat house", "the flat house"),
        ("", "x y"),
    ]
    counts = [overlap.bleu_statistics(*pair) for pair in texts]
    records = [record_of(nykms_document("me", ME=reference), answer) for answer, reference in texts]
    scores = values(records)
    assert scores["me_bleu4"] == pytest.approx(sum(map(overlap.sentence_bleu4, counts)) / 3)
    corpus_bleu4 = float(overlap.corpus_bleu4(np.sum(counts, axis=0)))
    assert scores["me_corpus_bleu4"] == pytest.approx(corpus_bleu4, abs=1e-12)


def test_exact_match_by_what_the_annotation_names() -> None:
    golds = {"flat": "word", "[I] horse": "object", "[I]": "image", "[S] power": "free"}
    records = [record_of(nykms_document(MW=gold, id=gold), "Yes\nhorse") for gold in golds]
    em = evaluate(records, measures_of(records), stderr_resamples=0)["mw_em"]
    assert [*em] == ["all", "word", "object", "image", "free"]
    assert (em["all"].value, em["all"].rows) == (0.25, 4)
    for referent in golds.values():
        assert (em[referent].value, em[referent].rows) == (float(referent == "object"), 1)


# Exact match in Table 9, and how many of all positives of the run give it: of 689 for metaphor (see
# tests/metrics/test_classification.py), of 687 for sarcasm. No share of the positives that a model
# recognized gives these numbers.
EXACT_MATCH = [
    ("MW LLaVA", 29.75, 205, 689),
    ("MW GPT-3.5", 31.20, 215, 689),
    ("SW LLaVA", 8.15, 56, 687),
    ("SW GPT-3.5", 18.34, 126, 687),
]


@pytest.mark.parametrize(("name", "published", "right", "positives"), EXACT_MATCH)
def test_exact_match_is_over_all_positives(
    name: str, published: float, right: int, positives: int
) -> None:
    field = name.split()[0]
    question = "sarcasm" if field == "SW" else "metaphor"
    positive = nykms_document(question, **{field: "flat"})
    hit = record_of(positive, "Yes\nflat")
    miss = record_of(positive, "No")
    negative = record_of(nykms_document(question, label=0), "No")
    records = [hit] * right + [miss] * (positives - right) + [negative] * 891
    assert round(100 * values(records)[f"{field.lower()}_em"], 2) == published


# --- by hand ---

# Answers by words of the prompt; to all other rows the answer is No.
ANSWERS = {
    "lovely view": '1. Yes\n2. "cage"\n3. The job.\n4. The bird cannot leave.',
    "project warm": "1. Yes\n2. Warm.\n3. It is in ruins.\n4. The project is on fire.",
    "refund": "1. Yes\n2. refund\n3. It will be late.\n4. A snail is slow.",
    "small delay": "1. Yes\n2. the cartoon\n3. Trouble that is hidden.",
    "new director": "1. No",
    "Too heavy": "I'm sorry, but I can't provide assistance with that content.",
    "the sofa": "1. Yes\n2. sofa\n3. A lion is in the way.\n4. It was there before.",
}


def test_numbers_of_a_run_worked_out_by_hand() -> None:
    request = Request.of("figlang_mini_nykms", question="metaphor", modality="text")
    records: list[Any] = []
    for doc in BENCHMARK.documents(request):
        answer = answer_to(tasks.doc_to_text(doc))
        records.append(record_of(doc, answer))
    # Gold: 7 Yes, 5 No. The answer is Yes to 4 of the 7 and to 1 of the 5. Words, over the 7
    # positives: cage and the cartoon are right, "Warm." only if case and full stop do not count.
    expected = {
        "mc_acc": 8 / 12,
        "mc_macro_precision": (4 / 5 + 4 / 7) / 2,
        "mc_macro_recall": (4 / 7 + 4 / 5) / 2,
        "mc_macro_f1": 8 / 12,
        "mw_em": 2 / 7,
        "mw_relaxed_em": 3 / 7,
        "mw_bleu4": 2 / 7,
        "parse_rate": 11 / 12,
        "refusal_rate": 1 / 12,
        "parse_disagreement": 1 / 12,  # the refusal: No, or no answer
    }
    scores = values(records)
    assert {name: scores[name] for name in expected} == pytest.approx(expected)


def answer_to(prompt: str) -> str:
    """The answer of the run to a prompt."""
    for words, answer in ANSWERS.items():
        if words in prompt:
            return answer
    return "1. No"
