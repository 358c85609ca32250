"""``--repeats K``: each answer counts, rows are what is resampled, and the majority is told."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from demo_runs import DEMO, Says, estimates, evaluate
from sklearn.metrics import f1_score
from typer.testing import CliRunner

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.cli.figlang import app
from figlang_tasks.results import runs

OPTIONS, RANKING, EXPLAINED = (
    "figlang_mini_irfl_detect_idiom",
    "figlang_mini_irfl_retrieve_metaphor",
    "figlang_mini",
)
DRAWN = "do_sample=True,temperature=1"


class Drawing(Says):
    """Draws each answer among some words."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        draw = random.Random(0)
        return [draw.choice(self.answers) for _ in requests]


def records(results: dict[str, Any], task: str) -> list[dict[str, Any]]:
    return [sample["sample"] for sample in results["samples"][task]]


def test_options_count_each_and_have_a_majority(tmp_path: Path) -> None:
    found = evaluate(
        OPTIONS, Drawing("A", "B", "C", "D", "?"), repeats=3, gen_kwargs=DRAWN, saved=tmp_path
    )
    judged = records(found, OPTIONS)
    assert [record["repeat"] for record in judged] == [1, 2, 3] * (len(judged) // 3)
    hits = [record["chosen"] == record["answer"] for record in judged]
    own = estimates(found, OPTIONS)["acc"]
    assert own.value == pytest.approx(np.mean(hits)) and own.rows == len(judged) / 3
    read, voted = {"A": 0, "B": 1, "C": 2, "D": 3}, []
    said = [read.get(sample["filtered_resps"][0]) for sample in found["samples"][OPTIONS]]
    for start in range(0, len(judged), 3):
        votes = [each for each in said[start : start + 3] if each is not None]
        best = (
            max((count, -votes.index(each), each) for each, count in Counter(votes).items())[2]
            if votes
            else None
        )
        voted.append(best == judged[start]["answer"])
    told = found["configs"][OPTIONS]["metadata"]["repeats"]
    assert told == {
        "answers": 3,
        "metric": "acc",
        "mean": own.value,
        "maj@3": pytest.approx(np.mean(voted)),
    }
    assert 0 < sum(voted) < len(voted) and told["maj@3"] != own.value
    assert runs.read(str(tmp_path)).tasks[OPTIONS].contradictions == ()


def test_the_same_answer_again_adds_no_evidence() -> None:
    once, thrice = (
        evaluate(OPTIONS, "figlang_random", repeats=count, gen_kwargs=None) for count in (1, 3)
    )
    first, second = estimates(once, OPTIONS)["acc"], estimates(thrice, OPTIONS)["acc"]
    assert (first.value, first.rows) == (second.value, second.rows)
    widths = [each.high - each.low for each in (first, second)]  # type: ignore[operator]
    assert widths[1] > 0.85 * widths[0], "of answers that were rows it were some .6"


def test_each_ranking_of_a_row_counts_on_its_own() -> None:
    found = evaluate(RANKING, Drawing("Yes", "No"), repeats=3, gen_kwargs=DRAWN)
    shares = []
    for number in (1, 2, 3):
        rows: dict[str, list[tuple[float, bool]]] = {}
        for record in records(found, RANKING):
            if record["repeat"] == number:
                rows.setdefault(record["row"], []).append((record["value"], record["positive"]))
        shares.append(np.mean([_expected_precision(row) for row in rows.values()]))
    own = estimates(found, RANKING)["expected_p@k"]
    assert own.value == pytest.approx(np.mean(shares)) and own.rows == len(rows)
    assert own.low is not None and own.low < own.value < own.high  # type: ignore[operator]


def _expected_precision(row: list[tuple[float, bool]]) -> float:
    """Of k places, k the number of positives, the share of positives, if Yes goes before No and
    ties are drawn.
    """
    k = sum(positive for _, positive in row)
    yes = [positive for value, positive in row if value == 1]
    no = [positive for value, positive in row if value == 0]
    if len(yes) >= k:
        return sum(yes) / len(yes)
    return (sum(yes) + (k - len(yes)) * sum(no) / len(no)) / k


def test_explanations_are_scored_each(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "embedded")
    words = (
        "A storm is near.\nLABEL: entailment",
        "It has fins.\nLABEL: contradiction",
        "Who knows?",
    )
    found = evaluate(EXPLAINED, Drawing(*words), repeats=3, limit=20, gen_kwargs=DRAWN)
    judged = records(found, EXPLAINED)
    assert len(judged) == 60 and all("explanation_scores" in record for record in judged)
    by_repeat = [
        [record for record in judged if record["repeat"] == number] for number in (1, 2, 3)
    ]
    for name, at in (("f1@0", 0.0), ("f1@53", 0.53)):
        expected = []
        for own in by_repeat:
            right = [
                record["predicted"] == record["gold"] and record["explanation_scores"]["mean"] > at
                for record in own
            ]
            gold = [record["gold"] for record in own]
            said = [label if hit else 1 - label for label, hit in zip(gold, right, strict=True)]
            expected.append(f1_score(gold, said, average="macro", zero_division=0))
        assert estimates(found, EXPLAINED)[name].value == pytest.approx(np.mean(expected))
    scores = [record["explanation_scores"]["mean"] for record in judged]
    assert estimates(found, EXPLAINED)["explanation_score"].value == pytest.approx(np.mean(scores))
    told = found["configs"][EXPLAINED]["metadata"]["repeats"]
    assert told.keys() == {"answers", "metric", "mean"} and told["metric"] == "f1@60", (
        "explanations have no majority"
    )


def test_a_model_that_samples_is_asked_k_times_once(tmp_path: Path) -> None:
    """With --use_cache all answers are kept, and scored again from the samples without the
    model.
    """
    how: dict[str, Any] = {
        "repeats": 3,
        "limit": 6,
        "gen_kwargs": "do_sample=True,temperature=4.0,max_new_tokens=12",
    }
    first = evaluate(
        EXPLAINED,
        "figlang_vlm",
        DEMO,
        use_cache=str(tmp_path / "cache"),
        saved=tmp_path / "run",
        **how,
    )
    texts = [sample["filtered_resps"][0] for sample in first["samples"][EXPLAINED]]
    assert len(texts) == 18 and any(len(set(texts[at : at + 3])) > 1 for at in range(0, 18, 3))
    again = evaluate(EXPLAINED, "figlang_vlm", DEMO, use_cache=str(tmp_path / "cache"), **how)
    replayed = evaluate(EXPLAINED, "figlang_replay", f"samples={tmp_path / 'run'}", **how)
    for other in (again, replayed):
        assert [sample["filtered_resps"][0] for sample in other["samples"][EXPLAINED]] == texts
        assert other["results"][EXPLAINED] == first["results"][EXPLAINED]
    with pytest.raises(FigLangError, match="6 answers are missing .*doc_id 0, answer 4"):
        evaluate(EXPLAINED, "figlang_replay", f"samples={tmp_path / 'run'}", **how | {"repeats": 4})


@pytest.mark.parametrize(
    ("asked", "equal"),
    [
        (None, True),
        ("do_sample=True", True),
        ("temperature=0.7", True),
        ("do_sample=True,temperature=0.7", False),
    ],
)
def test_answers_that_must_be_equal_are_told(
    asked: str | None, equal: bool, warnings_of_loguru: list[str]
) -> None:
    evaluate(OPTIONS, Drawing("A"), repeats=2, limit=2, gen_kwargs=asked)
    told = [each for each in warnings_of_loguru if "drawn at random" in each]
    message = (
        "figlang_mini_irfl_detect_idiom: 2 answers to each row are asked for, but they will be"
        " equal"
    )
    assert [message in each for each in told] == [True] * equal


def test_compare_takes_their_mean(tmp_path: Path) -> None:
    for name, words, count in (("a", "ABCD", 3), ("b", "AB", 1)):
        evaluate(OPTIONS, Drawing(*words), repeats=count, gen_kwargs=DRAWN, saved=tmp_path / name)
    (row,) = figlang_tasks.compare(
        f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", resamples=200
    ).to_dict("records")
    lines = [
        json.loads(line)
        for path in (tmp_path / "a").rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert (
        row["baseline_value"] == pytest.approx(np.mean([line["acc"] for line in lines]))
        and row["baseline_rows"] == 12
    )
    assert (row["baseline_repeats"], row["candidate_repeats"]) == (1, 1)
    assert 0 < row["p_randomization"] <= 1 and np.isnan(row["p_repeats"])
    shown = CliRunner().invoke(
        app, ["compare", f"a={tmp_path / 'a'}", f"b={tmp_path / 'b'}", "--resamples", "200"]
    )
    assert (
        "| a (3 answers to a row) |" in shown.stdout
        and "| b " in shown.stdout
        and "±" not in shown.stdout
    )
