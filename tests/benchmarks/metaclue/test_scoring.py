"""A right answer of MetaCLUE counts as wrong, or a score depends on the order of rows, if this
fails.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from judging import measures_of
from scipy.stats import binomtest

from figlang_tasks.benchmarks.metaclue import measures, tasks
from figlang_tasks.benchmarks.metaclue.benchmark import BENCHMARK
from figlang_tasks.core import notes
from figlang_tasks.core.request import Request
from figlang_tasks.metrics import captions
from figlang_tasks.scoring import Estimate, evaluate, flat, full_name, process_results

MINI = "figlang_mini_metaclue"
JAVA = ("meteor", "spice")


def documents(name: str) -> Any:
    return BENCHMARK.documents(Request.of(MINI, task=name))


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def records_of(docs: Sequence[Any], outputs: Sequence[str]) -> list[dict[str, Any]]:
    """Records as samples files give them back."""
    records = [
        process_results(doc, [output])["sample"] for doc, output in zip(docs, outputs, strict=True)
    ]
    return list(json.loads(json.dumps(records)))


def evaluated(docs: Sequence[Any], outputs: Sequence[str]) -> dict[str, dict[str, Estimate]]:
    """All measures; those of the records in another order are equal."""
    records = records_of(docs, outputs)
    estimates = evaluate(records, measures_of(records), stderr_resamples=9)
    mixed = random.Random(5).sample(records, len(records))
    assert evaluate(mixed, measures_of(mixed), stderr_resamples=9) == estimates
    return estimates


def values_of(found: dict[str, Any]) -> dict[str, float]:
    """Every measure of one document, by full name."""
    of_one = evaluate([found["sample"]], measures_of([found["sample"]]), stderr_resamples=0)
    return {full_name(*names): estimate.value for *names, estimate in flat(of_one)}


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
def test_classification(gold: bool, output: str, expected: dict[str, float]) -> None:
    doc = {"id": "0/1.jpg", "data": "MetaCLUE/classify_symbolic@local:x", "metaphor": gold}
    doc["request"] = "MetaCLUE,task=classify_symbolic"
    found = process_results(doc, [output])
    assert values_of(found) == expected
    assert found["sample"]["gold"] == gold and found.keys() == {"sample", "acc", "parse_rate"}
    assert tasks.chance_answers(doc)[1] == tasks.doc_to_target(doc) == ("Yes" if gold else "No")


# --- retrieval ---


def retrieval_doc(count: int = 4, answer: int = 2) -> dict[str, Any]:
    texts = [f"statement {number}" for number in range(count)]
    shared = {
        "id": "0/1.jpg",
        "data": f"{MINI}/retrieve_random50@package:x+y",
        "dataset": MINI,
        "image": "0/1.jpg",
    }
    shared["request"] = f"{MINI},task=retrieve_random50"
    return shared | {"candidates": texts, "answer": answer}


@pytest.mark.parametrize(
    ("scores", "rank", "chosen", "tied"),
    [
        ([0.1, 0.2, 0.9, 0.3], 1, 2, 0),
        ([0.1, 0.95, 0.9, 0.3], 2, 1, 0),
        ([0.9, 0.2, 0.9, 0.3], 2, None, 1),  # a tie is lost, and chose nothing
        ([0.9, 0.9, 0.2, 0.3], 4, None, 1),
        ([1, 2, -3, 4], 4, 3, 0),
    ],
)
def test_scores_give_rank_and_choice(
    scores: list[float], rank: int, chosen: int | None, tied: int
) -> None:
    found = process_results(retrieval_doc(), [json.dumps({"scores": scores})])
    assert values_of(found) == {
        "p@1": float(rank == 1),
        "rank": rank,
        "tie_rate": tied,
        "parse_rate": 1,
    }
    record = found["sample"]
    assert (record["rank"], record["chosen"], record["status"], record["rule"]) == (
        rank,
        chosen,
        "scores",
        "argmax",
    )
    text = None if chosen is None else f"statement {chosen}"
    assert (record["answer_text"], record["chosen_text"]) == ("statement 2", text)


@pytest.mark.parametrize(
    ("output", "right", "parsed"),
    [
        ("3. Love is as sweet as 2 spoons of honey.", 1, 1),
        ("The answer is 4.", 0, 1),
        ("no idea", 0, 0),
        ('{"scores": [2, 3]}', 0, 0),  # of four candidates
    ],
)
def test_an_answer_in_words_has_no_rank(output: str, right: float, parsed: float) -> None:
    found = process_results(retrieval_doc(), [output])
    assert (found["p@1"], found["parse_rate"]) == (right, parsed)
    assert values_of(found).keys() == {"p@1", "parse_rate"}
    assert found["sample"]["rank"] is None


# --- captions and answers ---


def test_captions_are_judged_whole_and_in_parts() -> None:
    docs = list(documents("caption"))[:12]
    outputs = [doc["references"][-1] for doc in docs[:6]]  # right
    outputs += ["this is no statement"] * 3
    outputs += [
        f"nothing is as {doc['references_relationship'][0]} as anything" for doc in docs[9:]
    ]
    notes.take_failures()
    found = evaluated(docs, outputs)
    assert notes.take_failures() == [
        f"{name} could not be computed and is missing, see the log" for name in JAVA
    ]
    assert found["parse_rate"]["all"].value == 9 / 12
    assert found.keys() == {"em", "bleu4", "rouge_l", "cider", "parse_rate"}
    for metric in ("em", "bleu4", "rouge_l", "cider"):
        assert list(found[metric]) == ["all", "primary", "secondary", "relationship"]
        for estimate in found[metric].values():
            assert estimate.low is not None and estimate.high is not None and estimate.rows == 12
            assert estimate.low <= estimate.value + 1e-9 and estimate.value <= estimate.high + 1e-9
    assert [each.value for each in found["em"].values()] == [0.5, 0.5, 0.5, 0.75]
    whole = captions.caption_scores(outputs, [doc["references"] for doc in docs])
    parts = [
        doc["references_relationship"][0] if place >= 9 else "" for place, doc in enumerate(docs)
    ]
    parts[:6] = [output.split(" is as ")[1].split(" as ")[0] for output in outputs[:6]]
    of_part = captions.caption_scores(parts, [doc["references_relationship"] for doc in docs])
    for metric in ("em", "bleu4", "rouge_l", "cider"):
        for scope, expected in (("all", whole), ("relationship", of_part)):
            assert found[metric][scope].value == pytest.approx(
                expected.metrics[metric].value, abs=1e-12
            )


METEOR = """
import sys
right = 0
for line in () if "-version" in sys.argv else sys.stdin:
    kind, *texts = line.rstrip().split(" ||| ")
    right += kind == "SCORE" and texts[-1] == texts[0] + " and more"
    print(1 if kind == "SCORE" else "0.5\\n" * len(texts) + f"0.{right}", flush=True)
"""


def test_meteor_is_that_of_its_program_and_has_no_interval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a stand-in, which says how many it was asked about; METEOR itself runs in
    test_captions.py.
    """
    (tmp_path / "java").write_text(f"#!{sys.executable}\n{METEOR}")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    docs = list(documents("vqa_best"))[:9]
    answers = [f"{doc['references'][0]} and more" for doc in docs]
    records = records_of(docs, answers)
    assert measures.VQA.by_name["meteor"].estimate(records) == (0.9, None, None, None, None)


def test_an_unreadable_caption_scores_0_on_its_parts() -> None:
    doc = documents("caption")[0]
    found = process_results(doc, ["fast"])
    record = found["sample"]
    assert record["primary"] is None and found["parse_rate"] == 0 and record["caption"] == "fast"
    values = values_of(found)
    assert values["em_relationship"] == values["rouge_l_relationship"] == 0


def test_words_around_a_statement_count_unless_read_with_care() -> None:
    doc = documents("caption")[0]
    output = f"Metaphor: {doc['references'][0]}"
    strict, careful = (
        judge(doc, [output]) for judge in (process_results, tasks.careful_caption_process_results)
    )
    assert not strict["sample"]["em"] and careful["sample"]["em"]
    assert strict["em"] == 0 and careful["em"] == 1


def test_answers_are_judged_by_role() -> None:
    docs = [doc for doc in documents("vqa_best")][:30]
    outputs = [
        doc["references"][0] if doc["role"] == "primary" else "something else" for doc in docs
    ]
    found = evaluated(docs, outputs)["em"]
    assert {scope: estimate.value for scope, estimate in found.items() if scope != "all"} == {
        "primary": 1,
        "secondary": 0,
        "relationship": 0,
    }
    whole = found["all"]
    assert whole.value == pytest.approx(1 / 3) and whole.rows == len({doc["image"] for doc in docs})
    # Images are what counts, and in each a third is right: they vary less than rows, whose Wilson
    # interval is left. What ten images can tell of their variance is less: a little wider.
    of_rows = binomtest(10, 30).proportion_ci(method="wilson")
    assert whole.low is not None and whole.high is not None
    assert (
        of_rows.low - 0.05
        < whole.low
        < of_rows.low
        < of_rows.high
        < whole.high
        < of_rows.high + 0.07
    )


def test_thoughts_are_no_answers() -> None:
    doc = documents("vqa_best")[0]
    thought, right = "<think>Maybe the sea.", doc["references"][0]
    assert process_results(doc, [f"{thought}</think>{right}"])["em"] == 1
    assert process_results(doc, [thought])["sample"]["answer"] == ""
