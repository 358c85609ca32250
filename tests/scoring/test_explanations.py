"""A task takes another scorer, or loses a run to a failure, if these tests fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from demo_runs import FixedAnswers, evaluate
from sklearn.metrics import f1_score

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.benchmarks.vflute.measures import VFLUTE
from figlang_tasks.core import notes
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics.explanation import Scorer, get_scorer
from figlang_tasks.metrics.explanation.cache import ScoreCache
from figlang_tasks.metrics.explanation.compute import PairModel
from figlang_tasks.metrics.explanation.kernels import kernels
from figlang_tasks.results import runs
from figlang_tasks.scoring import OVERALL, from_json
from figlang_tasks.scoring.explained import text_pair
from figlang_tasks.scoring.explanations import choose_scorer, preflight, score_pairs

WITHOUT_SCORER = "none (f1@0 counts labels alone)"
OF_LABELS = {"f1@0", "acc", "parse_rate", "parse_disagreement"}

ANSWERS = (
    "The image shows a mule, the animal we name when somebody refuses to budge.\nLABEL: entailment",
    (
        "The image shows a snail, a sign of slowness, which is the opposite of the claim.\nLABEL:"
        " contradiction"
    ),
    "LABEL: entailment",
    "I cannot say.",
    "",
)


@lru_cache(maxsize=1)
def scored_results() -> dict[str, Any]:
    """The results of a run of figlang_mini whose explanations are scored."""
    results: dict[str, Any] = evaluate("figlang_mini", FixedAnswers(*ANSWERS))
    return results


def scored_records() -> list[dict[str, Any]]:
    return [sample["sample"] for sample in scored_results()["samples"]["figlang_mini"]]


def test_every_metric_follows_from_the_logged_scores() -> None:
    """F1@t by scikit-learn, after the published rule.

    A score <= t counts as the wrong label, and so does no label. That explanations are scored once:
    tests/cli/test_lmms_eval.py.
    """
    results = scored_results()
    table = results["results"]["figlang_mini"]
    estimates = from_json(results["configs"]["figlang_mini"]["metadata"]["measures"])
    records = scored_records()
    assert len(records) == 76
    for scope in (OVERALL, *rows.REPORT_GROUPS):
        in_scope = [record for record in records if scope in (OVERALL, record["report_group"])]
        for name, value in values_by_scikit_learn(in_scope).items():
            estimate = estimates[name][scope]
            assert estimate.value == pytest.approx(value)
            assert estimate.rows == len(in_scope)
            assert estimate.low is not None and estimate.high is not None
            assert estimate.low <= value <= estimate.high
            if scope == OVERALL:
                assert table[f"{name},none"] == estimate.value
                assert table[f"{name}_stderr,none"] == estimate.stderr
    in_table = {key.partition(",")[0] for key in table if "," in key and "_stderr" not in key}
    assert in_table == set(estimates), "scopes and interval ends stand in the metadata alone"


def test_the_logged_scores_are_those_of_the_scorer() -> None:
    records = scored_records()
    references = [record["reference"] for record in records]
    explanations = [record["explanation"] for record in records]
    direct = get_scorer("embedded", cache=False).score(references, explanations)
    recorded_scores = [record["explanation_scores"] for record in records]
    assert [scores["mean"] for scores in recorded_scores] == pytest.approx(direct.mean, abs=1e-6)
    assert all(scores.keys() == {"scorer", "bertscore", "mean"} for scores in recorded_scores)
    metadata = scored_results()["configs"]["figlang_mini"]["metadata"]
    assert metadata["explanation_scorer"] == direct.signature


def values_by_scikit_learn(records: Sequence[dict[str, Any]]) -> dict[str, float]:
    """The mean explanation score of records and their F1 at each threshold."""
    gold = np.array([record["gold"] for record in records])
    scores = np.array([record["explanation_scores"]["mean"] for record in records])
    labels = gold.copy()
    for index, record in enumerate(records):
        predicted = record["predicted"]
        labels[index] = 1 - record["gold"] if predicted is None else predicted
    values = {"explanation_score": float(scores.mean())}
    for name, threshold in {"f1@0": 0, "f1@53": 0.53, "f1@60": 0.6}.items():
        counted_labels = np.where(scores <= threshold, 1 - gold, labels)
        values[name] = f1_score(gold, counted_labels, average="macro")
    return values


class FixedScore(PairModel):
    """A model that gives every pair one score, which may differ from another's in one digit."""

    bounds = (0.0, 1.0)

    def __init__(self, score_of_pair: float) -> None:
        super().__init__("fixed", "cpu", "fp32", ScoreCache(None))
        self._score_of_pair = score_of_pair

    def _load(self, dtype: torch.dtype) -> torch.nn.Module:
        return torch.nn.Identity()

    def _compute(self, pairs: set[tuple[str, str]]) -> Iterator[dict[tuple[str, str], float]]:
        yield dict.fromkeys(pairs, self._score_of_pair)


@pytest.mark.parametrize(
    ("computed", "recorded"),
    [(0.60000004, 0.6), (0.59999996, 0.6), (0.6000006, 0.600001), (0.123456789, 0.123457)],
)
def test_scores_are_rounded_before_a_threshold_is_applied(computed: float, recorded: float) -> None:
    """A score of the threshold itself does not count, whatever its seventh digit is."""
    record: dict[str, Any] = {
        "id": "1",
        "data": "figlang_mini/test:0123",
        "gold": 1,
        "predicted": 1,
        "predicted_strict": 1,
        "reference": "A mule.",
        "explanation": "It is stubborn.",
        "report_group": "muse",
        "status": "read",
    }
    pair = text_pair(record)
    models = [FixedScore(computed), FixedScore(computed)]
    scores = score_pairs([pair], Scorer("vflute25", "", "fp32", models))
    rounded_scores = {"bertscore": recorded, "bleurt": recorded, "mean": recorded}
    assert scores.details == {pair: rounded_scores}
    record["explanation_scores"] = {"scorer": "vflute25", **rounded_scores}
    estimate = VFLUTE.by_name["f1@60"].estimate([record])
    assert estimate is not None
    assert estimate.value == float(recorded > 0.6)


def test_the_kernel_is_named_beside_the_signature() -> None:
    """The kernel is no part of the signature: runs of two kernels are compared."""
    results = evaluate("figlang_mini", FixedAnswers(*ANSWERS), limit=4)
    metadata = results["configs"]["figlang_mini"]["metadata"]
    kernel = metadata["explanation_kernel"]
    assert kernel in kernels(torch.float32)
    assert kernel not in metadata["explanation_scorer"]


# --- choice ---


@pytest.mark.parametrize(
    ("variable", "option", "expected"),
    [
        (None, None, "vflute25"),
        (None, "embedded", "embedded"),
        ("figlang24", "embedded", "figlang24"),
        ("figlang24", None, "figlang24"),
        ("off", "vflute25", "off"),
        ("figlang24", "off", "off"),
        ("figlang24", False, "off"),
    ],
)
def test_choice(
    variable: str | None, option: Any, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    if variable:
        monkeypatch.setenv("FIGLANG_SCORER", variable)
    assert choose_scorer(option, "vflute25") == expected


@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [
        ("FIGLANG_SCORER", "bleu", r"\$FIGLANG_SCORER='bleu'; valid: vflute25, figlang24, flute22"),
        ("FIGLANG_SCORER_DTYPE", "fp16", "fp16"),
        ("FIGLANG_SCORER_DEVICE", "gpu", "gpu"),
    ],
)
def test_invalid_settings_end_the_run_before_a_model_is_loaded(
    variable: str, value: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(FigLangError, match=message):
        evaluate("figlang_mini", FixedAnswers(*ANSWERS), limit=1)


def test_the_first_process_alone_looks_for_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "vflute25")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    (tmp_path / "deberta-xlarge-mnli").mkdir()
    monkeypatch.setenv("RANK", "1")
    preflight("V-FLUTE", None, required=True)
    preflight("V-FLUTE", None)
    assert not warnings_of_loguru
    monkeypatch.setenv("RANK", "0")
    with pytest.raises(ValueError, match="explanations cannot be scored: "):
        preflight("V-FLUTE", None, required=True)
    preflight("V-FLUTE", None)
    assert len(warnings_of_loguru) == 1


def test_off_leaves_the_thresholds_out_says_nothing_and_samples_cannot_be_scored_later(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    """The outputs are labels, and would get an F1@53 that nobody meant."""
    (tmp_path / "figlang_mini_label.yaml").write_text(
        f"include: {tasks_dir()}/mini/figlang_mini.yaml\n"
        "task: figlang_mini_label\n"
        # YAML reads false
        "lmms_eval_specific_kwargs: {default: {label_only: true, scorer: off}}\n"
    )
    results = evaluate(
        "figlang_mini_label",
        FixedAnswers("entailment"),
        None,
        tmp_path / "run",
        str(tmp_path),
        limit=3,
    )
    assert metric_names(results, "figlang_mini_label") == OF_LABELS
    assert not [message for message in warnings_of_loguru if "scor" in message]
    metadata = results["configs"]["figlang_mini_label"]["metadata"]
    assert metadata["explanation_scorer"] == WITHOUT_SCORER
    assert not runs.read(str(tmp_path / "run")).tasks["figlang_mini_label"].has_explanations


def metric_names(results: dict[str, Any], task: str = "figlang_mini") -> set[str]:
    """The metrics of a task in the harness's table that have a number."""
    names: set[str] = set()
    for key, value in results["results"][task].items():
        name, _, _ = key.partition(",")
        if isinstance(value, float) and "_stderr" not in name:
            names.add(name)
    return names


# --- failures ---


MISSING = "explanations were not scored, so f1@53, f1@60, explanation_score are missing"


def test_weights_out_of_reach_cost_no_output_and_are_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    """The warning before the run comes while it can still be stopped.

    The one at the end says how to add the scores later.
    """
    monkeypatch.setenv("FIGLANG_SCORER", "vflute25")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    (tmp_path / "deberta-xlarge-mnli").mkdir()
    notes.take_failures()
    results = evaluate("figlang_mini", FixedAnswers(*ANSWERS), limit=10)
    assert notes.take_failures() == [MISSING]
    assert len(results["samples"]["figlang_mini"]) == 10
    assert metric_names(results) == OF_LABELS
    about_scores = "figlang_tasks: explanations"
    before, after = [message for message in warnings_of_loguru if about_scores in message]
    assert "explanations will not be scored: " in before
    assert "Answers are kept; `figlang score` can add scores later" in before
    assert "figlang score SAMPLES.jsonl --scorer vflute25" in after
    assert "f1@53, f1@60, explanation_score" in after
    assert str(tmp_path) in after


@pytest.mark.parametrize(
    ("error", "times"), [(MemoryError("no room"), 2), (KeyboardInterrupt(), 1)]
)
def test_a_scoring_that_breaks_off_costs_no_run_and_one_interrupt_ends_that_of_all_tasks(
    error: BaseException, times: int, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    scored_texts: list[Sequence[str]] = []

    def fail(scorer: Scorer, *texts: Sequence[str]) -> None:
        """Fail to score texts."""
        scored_texts.extend(texts[:1])
        raise error

    monkeypatch.setattr(Scorer, "score", fail)
    notes.take_failures()
    results = evaluate(["figlang_mini", "figlang_mini_flute"], "figlang_random", limit=10)
    assert len(scored_texts) == times
    assert MISSING in notes.take_failures()
    assert "acc@0,none" in results["results"]["figlang_mini_flute"]
    not_scored = "explanations were not scored"
    messages = [message for message in warnings_of_loguru if not_scored in message]
    assert len(messages) == 2
    assert f"{type(error).__name__}: {error}" in messages[0]


ODD_TASK = """\
from figlang_tasks.scoring import process_results


def odd(doc, results):
    return {"acc": process_results(doc, results)["acc"], "mine": 2.0}
"""


USER_METRICS = """\
metric_list:
  - {metric: acc, aggregation: mean, higher_is_better: true}
  - {metric: mine, aggregation: mean, higher_is_better: true}
"""


@pytest.mark.parametrize("metrics", [USER_METRICS, ""], ids=["user's metrics", "our metrics"])
def test_a_task_of_another_shape_costs_no_run(
    metrics: str, tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    """A user's task on our data has metadata as a list, and no ``sample`` record.

    Our metrics are computed from records alone.
    """
    (tmp_path / "mine.py").write_text(ODD_TASK)
    (tmp_path / "odd.yaml").write_text(
        f"include: {tasks_dir()}/mini/figlang_mini.yaml\ntask: odd\nprocess_results: !function"
        f" mine.odd\nmetadata: [{{version: 1.0}}]\n{metrics}"
    )
    notes.take_failures()
    results = evaluate("odd", FixedAnswers(*ANSWERS), include_path=str(tmp_path), limit=5)
    assert len(results["samples"]["odd"]) == 5
    assert "versions" in results["configs"]["odd"]["metadata"][1]
    if metrics:
        assert notes.take_failures() == []
        table = results["results"]["odd"]
        assert table["mine,none"] == 2
        assert 0 < table["acc,none"] < 1
    else:
        assert notes.take_failures() == [
            "odd: no records, so that its metrics are missing, see the log"
        ]
        no_record = "returns no record under `sample`, of which f1@0, "
        assert any(no_record in warning for warning in warnings_of_loguru)
