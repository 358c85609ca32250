"""Explanation scores inside the tasks, through the harness: choice, one pass, failures that cost no run."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hub_server import HubServer
from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from scipy.stats import binomtest
from sklearn.metrics import f1_score

import figlang_tasks
from figlang_tasks import aggregate, explanations, failures, samples
from figlang_tasks.explanations import Explained, all_metrics, choose
from figlang_tasks.metrics.explanation import get_scorer
from figlang_tasks.plugin import tasks_dir
from figlang_tasks.vflute import rows

GROUPS = ["", *(f"_{group}" for group in rows.REPORT_GROUPS)]


class Parrot(lmms):
    """Answers with what it is told, in turn."""

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [self.answers[index % len(self.answers)] for index in range(len(requests))]

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise AssertionError("no task of ours asks for it")

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")


ANSWERS = (
    "The image shows a mule, the animal we name when somebody refuses to budge.\nLABEL: entailment",
    "The image shows a snail, a sign of slowness, which is the opposite of the claim.\nLABEL: contradiction",
    "LABEL: entailment",
    "I cannot say.",
    "",
)


def evaluate(task: str = "figlang_mini", answers: tuple[str, ...] = ANSWERS, **arguments: Any) -> dict[str, Any]:
    results = simple_evaluate(
        model=Parrot(*answers),
        tasks=[task],
        task_manager=figlang_tasks.task_manager(include_defaults=False),
        **arguments,
    )
    assert results is not None
    return results


@pytest.fixture(scope="module")
def embedded() -> dict[str, Any]:
    return evaluate()


def test_every_metric_follows_from_the_logged_scores(embedded: dict[str, Any]) -> None:
    """F1@t by scikit-learn after the published rule: score <= t is the wrong label, and so is no label."""
    reported = embedded["results"]["figlang_mini"]
    samples = [sample["sample"] for sample in embedded["samples"]["figlang_mini"]]
    assert len(samples) == 76
    for group in GROUPS:
        chosen = [sample for sample in samples if group in ("", f"_{sample['report_group']}")]
        gold = np.array([sample["gold"] for sample in chosen])
        scores = np.array([sample["explanation_scores"]["mean"] for sample in chosen])
        labels = np.array([1 - s["gold"] if s["predicted"] is None else s["predicted"] for s in chosen])
        for name, threshold in {"f1@0": 0, "f1@53": 0.53, "f1@60": 0.6}.items():
            kept = np.where(scores <= threshold, 1 - gold, labels)
            assert reported[f"{name}{group},none"] == pytest.approx(f1_score(gold, kept, average="macro"))
        assert reported[f"explanation_score{group},none"] == pytest.approx(scores.mean())
        for name in explanations.METRICS:
            low, value, high = (reported[f"{name}{group}{end},none"] for end in ("_ci_low", "", "_ci_high"))
            assert low <= value <= high


BETWEEN = [0.49, 0.5, 0.51, 0.59, 0.6, 0.61]


@pytest.mark.parametrize(
    ("scheme", "scores", "expected"),
    [
        # Of 8 right rows of each label k are kept: tp = k, fn = fp = 8 - k, so F1 is k/8.
        ("f1", [0, 0.05, 0.52, 0.53, 0.54, 0.59, 0.6, 0.61], {"f1@0": 7 / 8, "f1@53": 4 / 8, "f1@60": 1 / 8}),
        (
            "all",
            BETWEEN,
            {"acc@0": 1, "acc@50": 10 / 12, "acc@60": 4 / 12, "v1_acc@50": 10 / 12, "v1_acc@60": 7 / 12},
        ),
        ("contradiction", BETWEEN, {"acc@0": 1, "acc@50": 10 / 12, "acc@60": 7 / 12}),
    ],
)
def test_thresholds_of_the_papers(scheme: str, scores: list[float], expected: dict[str, float]) -> None:
    """Every label is right, once with each score. One that equals the threshold counts in FigLang 2022 alone."""
    explained = [
        Explained(f"{gold}{score}", gold, gold, "a", "b", f"{gold}{score}", scheme)
        for gold in (0, 1)
        for score in scores
    ]
    found = all_metrics(explained, np.array(scores * 2), ["one"] * len(explained))
    thresholded = {name: value for name, value in found.items() if name in explanations.SCHEMES[scheme].thresholds}
    assert thresholded == pytest.approx(expected)
    if scheme != "f1":  # shares of rows that are independent: Wilson's interval
        for name, value in expected.items():
            wilson = binomtest(round(12 * value), 12).proportion_ci(method="wilson")
            assert (found[f"{name}_ci_low"], found[f"{name}_ci_high"]) == pytest.approx((wilson.low, wilson.high))
    asked = scores if scheme == "contradiction" else scores * 2
    assert found["explanation_score"] == pytest.approx(sum(asked) / len(asked))


def test_f1_at_0_costs_an_empty_explanation_its_row() -> None:
    """ "LABEL: entailment" alone leaves the label as explanation; the word taken away, nothing: BERTScore is 0."""
    gold, empty = 1, Explained("a", 1, 1, "The lawyer has fins.", "", "a")
    assert all_metrics([empty], np.array([0.0]), ["muse"])["f1@0"] == 0
    assert all_metrics([empty], np.array([0.01]), ["muse"])["f1@0"] == gold


def test_scores_are_those_of_the_scorer_and_the_signature_is_in_the_results(embedded: dict[str, Any]) -> None:
    samples = [sample["sample"] for sample in embedded["samples"]["figlang_mini"]]
    direct = get_scorer("embedded", cache=False).score(
        [sample["reference"] for sample in samples], [sample["explanation"] for sample in samples]
    )
    logged = [sample["explanation_scores"] for sample in samples]
    assert [scores["mean"] for scores in logged] == pytest.approx(direct.mean, abs=1e-6)
    assert all(scores.keys() == {"scorer", "bertscore", "mean"} for scores in logged)
    assert embedded["configs"]["figlang_mini"]["metadata"]["explanation_scorer"] == direct.signature


def test_the_texts_stand_once_in_a_logged_sample(embedded: dict[str, Any]) -> None:
    from lmms_eval.utils import handle_non_serializable

    sample = embedded["samples"]["figlang_mini"][0]
    written = {key: value for key, value in sample.items() if key != "doc"}  # which the harness leaves out
    line = json.dumps(written, default=handle_non_serializable)
    assert line.count(sample["sample"]["reference"]) == 2, "in the record, and in the harness's own target"
    assert sample["sample"]["explanation"] not in str(sample["f1@53"])


def test_the_record_itself_is_no_metric(embedded: dict[str, Any]) -> None:
    assert not any(key.startswith("sample,") for key in embedded["results"]["figlang_mini"])


# --- one pass --------------------------------------------------------------------------------------------------------


def test_all_thresholds_and_sources_share_one_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    from figlang_tasks.metrics.explanation import Scorer

    calls = []
    score = Scorer.score

    def counting(self: Scorer, *texts: Any) -> Any:
        calls.append(texts)
        return score(self, *texts)

    monkeypatch.setattr(Scorer, "score", counting)
    evaluate(limit=20)
    assert len(calls) == 1


def test_the_scorer_is_let_go_after_the_evaluation() -> None:
    evaluate(limit=2)
    assert explanations._scorers == {}


# --- choice ----------------------------------------------------------------------------------------------------------


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
def test_choice(variable: str | None, option: Any, expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    if variable:
        monkeypatch.setenv("FIGLANG_SCORER", variable)
    assert choose(option) == expected


def test_an_unknown_choice_of_a_task_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FIGLANG_SCORER")
    with pytest.raises(ValueError, match="task option scorer='bleu'; valid: vflute25"):
        choose("bleu")


def test_an_unknown_scorer_ends_the_run_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "bleu")
    with pytest.raises(SystemExit, match=r"\$FIGLANG_SCORER='bleu'; valid: vflute25, figlang24, flute22"):
        evaluate(limit=1)


@pytest.mark.parametrize(("variable", "value"), [("FIGLANG_SCORER_DTYPE", "fp16"), ("FIGLANG_SCORER_DEVICE", "gpu")])
def test_invalid_settings_end_the_run_before_a_model_is_loaded(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(SystemExit, match=value):
        evaluate(limit=1)


def test_off_leaves_the_thresholds_out_and_says_nothing(
    monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = evaluate(limit=10)
    assert metric_names(results) == {"f1@0", "acc", "parse_rate", "parse_disagreement"}
    assert not [message for message in warnings_of_loguru if "figlang" in message]
    assert results["configs"]["figlang_mini"]["metadata"]["explanation_scorer"] == explanations.WITHOUT_SCORER


@pytest.mark.parametrize("option", ['"off"', "off"])  # without quotation marks YAML reads false
def test_the_samples_of_a_task_that_asks_for_labels_alone_cannot_be_scored_later(option: str, tmp_path: Path) -> None:
    """Its outputs are labels, and would get an F1@53 that nobody meant."""
    (tmp_path / "figlang_mini_label.yaml").write_text(
        f"include: {tasks_dir()}/mini/figlang_mini.yaml\n"
        "task: figlang_mini_label\n"
        f"lmms_eval_specific_kwargs: {{default: {{label_only: true, scorer: {option}}}}}\n"
    )
    results = simple_evaluate(
        model=Parrot("entailment"),
        tasks=["figlang_mini_label"],
        task_manager=figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path)),
        limit=3,
    )
    assert results is not None
    assert metric_names(results, "figlang_mini_label") == {"f1@0", "acc", "parse_rate", "parse_disagreement"}
    path = tmp_path / "run_samples_figlang_mini_label.jsonl"
    lines = [json.dumps({"sample": sample["sample"]}) for sample in results["samples"]["figlang_mini_label"]]
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(samples.SamplesError, match="asks for labels alone"):
        samples.read(path)


def metric_names(results: dict[str, Any], task: str = "figlang_mini") -> set[str]:
    """Overall metrics that have a number."""
    names = {key.partition(",")[0] for key, value in results["results"][task].items() if isinstance(value, float)}
    return {name for name in names if not any(group in name for group in GROUPS[1:] + ["_ci_", "_stderr"])}


def test_fast_says_how_many_scores_are_near_a_threshold(
    monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER_DTYPE", "fast")
    results = evaluate(limit=10)
    assert "dtype:fast" in results["configs"]["figlang_mini"]["metadata"]["explanation_scorer"]
    assert any("explanations lie within .005 of a threshold" in message for message in warnings_of_loguru)


def test_how_many_scores_are_near_a_threshold(monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]) -> None:
    """Counted here once more from the scores; an empty text scores 0 in every dtype, and no rounding moves that."""
    texts = ["The shark has fins.", "A fins is a danger.", "The fins has fins.", "A storm", "The lawyer has fins.", ""]
    reference = "The lawyer has fins."
    monkeypatch.setenv("FIGLANG_SCORER_DTYPE", "fast")
    scored = get_scorer("embedded", dtype="fast", cache=False).score([reference] * 6, texts).mean.tolist()
    near = sum(any(abs(score - t) <= 0.005 for t in (0, 0.53, 0.6)) for score in scored if score != 0)
    assert scored[-1] == 0 and 0 < near < 5
    rows_ = [Explained(text, 1, 1, reference, text, text) for text in [*texts, texts[0]]]
    with explanations.session("embedded", rows_) as session:
        session.scores(rows_)
    assert warnings_of_loguru == [f"figlang_tasks: dtype fast: {near} of 6 explanations lie within .005 of a threshold"]


# --- failures --------------------------------------------------------------------------------------------------------


RUN = """
import json, sys
sys.path.insert(0, sys.argv[1])
from test_explanations import evaluate
from figlang_tasks import failures
results = evaluate(limit=10)
reported = {key: value for key, value in results["results"]["figlang_mini"].items() if isinstance(value, float)}
outputs = len(results["samples"]["figlang_mini"])
print(json.dumps({"results": reported, "outputs": outputs, "noted": failures.noted()}))
"""


@pytest.fixture(scope="module")
def unreachable(tmp_path_factory: pytest.TempPathFactory) -> Iterator[subprocess.CompletedProcess[str]]:
    """A run that wants the paper's scorer from a hub that does not answer."""
    home = tmp_path_factory.mktemp("home")
    with HubServer() as server:
        server.stop()
        environment = server.env(home=home) | {"FIGLANG_SCORER": "vflute25"}
        command = [sys.executable, "-c", RUN, str(Path(__file__).parent)]
        yield subprocess.run(command, env=environment, cwd=home, capture_output=True, text=True, timeout=300)


def test_weights_out_of_reach_cost_no_output_and_no_f1_at_0(unreachable: subprocess.CompletedProcess[str]) -> None:
    assert unreachable.returncode == 0, unreachable.stderr[-3000:]
    found = json.loads(unreachable.stdout.splitlines()[-1])
    assert found["outputs"] == 10
    missing = "explanations were not scored, so that f1@53, f1@60, explanation_score are missing"
    assert found["noted"] == [missing]
    overall = {key for key in found["results"] if "_ci_" not in key and "_stderr" not in key}
    assert "f1@0,none" in overall and "acc,none" in overall
    assert not [key for key in found["results"] if key.startswith(("f1@53", "f1@60", "explanation_score"))]


def test_weights_out_of_reach_are_told_once_with_the_way_to_add_them(
    unreachable: subprocess.CompletedProcess[str],
) -> None:
    """And once before the run, where it can still be stopped."""
    output = unreachable.stdout + unreachable.stderr  # the harness sends its log to either
    lines = [line for line in output.splitlines() if "figlang_tasks: explanations" in line]
    assert len(lines) == 2, lines
    before, after = lines
    assert "will not be scored unless this is repaired" in before
    assert "figlang score SAMPLES.jsonl --scorer vflute25" in after
    assert "f1@53, f1@60, explanation_score" in after and "FIGLANG_WEIGHTS_DIR" in after


@pytest.mark.parametrize("error", [MemoryError("no room"), KeyboardInterrupt(), ArithmeticError("not finite")])
def test_a_scoring_that_breaks_off_costs_no_run(
    error: BaseException, monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    from figlang_tasks.metrics.explanation import Scorer

    def fail(self: Scorer, *texts: Any) -> None:
        raise error

    monkeypatch.setattr(Scorer, "score", fail)
    failures.noted()
    results = evaluate(limit=10)
    missing = "explanations were not scored, so that f1@53, f1@60, explanation_score are missing"
    assert failures.noted() == [missing]
    assert metric_names(results) == {"f1@0", "acc", "parse_rate", "parse_disagreement"}
    messages = [message for message in warnings_of_loguru if "explanations were not scored" in message]
    assert len(messages) == 1 and type(error).__name__ in messages[0]
    assert results["configs"]["figlang_mini"]["metadata"]["explanation_scorer"] == explanations.WITHOUT_SCORER


def test_one_interrupt_ends_the_scoring_of_all_tasks(
    monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    import demo_runs

    from figlang_tasks.metrics.explanation import Scorer

    asked = []

    def interrupt(self: Scorer, *texts: Any) -> None:
        asked.append(texts)
        raise KeyboardInterrupt

    monkeypatch.setattr(Scorer, "score", interrupt)
    results = demo_runs.evaluate(["figlang_mini", "figlang_mini_flute"], "figlang_random", limit=10)
    assert len(asked) == 1
    assert {"f1@0,none"} <= set(results["results"]["figlang_mini"])
    assert {"acc@0,none"} <= set(results["results"]["figlang_mini_flute"])
    assert len([each for each in warnings_of_loguru if "explanations were not scored" in each]) == 2


class Odd:
    """A task of the user's own: metadata as a list, no ``sample`` record."""

    def __init__(self) -> None:
        from lmms_eval.evaluator_utils import TaskOutput

        self.task = SimpleNamespace(
            lmms_eval_specific_kwargs=None, aggregation=lambda: {"f1@53": aggregate.f1_at_53}, args=None
        )
        self.task_config: dict[str, Any] = {"metadata": [{"version": 1.0}]}
        self.sample_metrics: dict[tuple[str, str], list[Any]] = {
            ("f1@53", "none"): [Explained("a", 1, 1, "The lawyer has fins.", "The lawyer has fins.", "a")]
        }
        self.agg_metrics: dict[str, Any] = {}
        self.logged_samples: list[dict[str, Any]] = [{"doc_id": 0}]
        explanations.aggregate_task(inspect.unwrap(TaskOutput.calculate_aggregate_metric), self, bootstrap_iters=0)


def test_a_task_of_another_shape_costs_no_run(warnings_of_loguru: list[str]) -> None:
    failures.noted()
    task = Odd()
    assert failures.noted() == ["explanation scores could not be added to the samples, see the log"]
    assert task.agg_metrics["f1@53,none"] == 1
    assert any("could not be added to the samples" in message for message in warnings_of_loguru)
    assert "explanation_scorer" in task.task_config["metadata"][1]


def test_revisions_of_several_files_are_told_in_order() -> None:
    task = SimpleNamespace(task_config={}, logged_samples=[])
    for revision in ("c0ffee", "beef", "ace", "beef", "dad", "ebb"):
        record = {"revision": revision, "reference": "a", "explanation": None}
        task.logged_samples.append({"sample": record})
    explanations._add_provenance(task, explanations.Session("off", []), asked=True)
    assert task.task_config["metadata"]["data_revision"] == "ace, beef, c0ffee, dad, ebb"


def test_a_choice_that_no_preflight_has_checked_costs_no_run(
    monkeypatch: pytest.MonkeyPatch, warnings_of_loguru: list[str]
) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "bleu")
    failures.noted()
    assert Odd().sample_metrics == {}
    assert "explanations were not scored, see the log" in failures.noted()
    assert "valid: vflute25" in warnings_of_loguru[0]


def test_without_the_plugin_in_place_aggregators_still_have_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A YAML file that includes ours, run by code that never loaded the entry point."""
    monkeypatch.setenv("FIGLANG_SCORER", "embedded")
    explained = [Explained("a", 1, 1, "The lawyer has fins.", "The lawyer has fins.", "a")]
    assert explanations._current is None
    assert aggregate.f1_at_53(explained) == 1
    assert aggregate.explanation_score(explained) == pytest.approx(1, abs=1e-5)
    kept = [scorer._bertscore._runner for scorer in explanations._scorers.values()]
    assert [runner._model for runner in kept] == [None], "the plugin, which would let go of it, is not there"


def test_repeats_are_scored_each_with_its_own_text() -> None:
    session = explanations.Session(
        "embedded",
        [Explained("a", 1, 1, "The lawyer has fins.", text, "a") for text in ("The lawyer has fins.", "A storm")],
    )
    same, other = session._pairs[1], session._pairs[0]
    session.scores([])
    assert session.details(same)["mean"] > 0.99 > session.details(other)["mean"]  # type: ignore[index]


def test_the_environment_of_this_suite_reaches_no_hub() -> None:
    assert os.environ["FIGLANG_SCORER"] == "embedded"


# --- FLUTE's accuracies ----------------------------------------------------------------------------------------------


def flute(scheme: str) -> list[Explained]:
    def row(name: str, gold: int, predicted: int | None, explanation: str | None) -> Explained:
        return Explained(name, gold, predicted, "The lawyer has fins.", explanation, name, scheme)

    return [
        row("right", 1, 1, "The lawyer has fins."),
        row("unexplained", 1, 1, None),
        row("also right", 0, 0, "The lawyer has fins."),
        row("badly explained", 0, 0, "A storm"),
        row("wrong", 0, 1, "The lawyer has fins."),
        row("no label", 1, None, "The lawyer has fins."),
    ]


@pytest.mark.parametrize(
    ("scheme", "expected"),
    [
        ("all", {"acc@0": 4 / 6, "acc@50": 2 / 6, "acc@60": 2 / 6, "v1_acc@50": 3 / 6, "v1_acc@60": 3 / 6}),
        ("contradiction", {"acc@0": 4 / 6, "acc@50": 3 / 6, "acc@60": 3 / 6}),
    ],
)
def test_accuracies_of_flute(scheme: str, expected: dict[str, float]) -> None:
    explained = flute(scheme)
    with explanations.session("embedded", explained) as session:
        scores = session.scores(explained)
        assert scores is not None
        found = all_metrics(explained, scores, [("simile", "pooled")] * 3 + [("idiom",)] * 3)
        for name, value in expected.items():
            function = name.replace("@", "_at_")
            assert found[name] == getattr(aggregate, function)(explained) == pytest.approx(value)
            for end in ("_ci_low", "_ci_high"):
                assert found[name + end] == getattr(aggregate, function + end)(explained)
            assert found[f"{name}_ci_low"] <= value <= found[f"{name}_ci_high"]
        assert found["acc@0_simile"] == found["acc@0_pooled"] == 1
        assert found["acc@0_idiom"] == 1 / 3
        needed = scores[~np.isnan(scores)]
        assert len(needed) == (6 if scheme == "all" else 3)
        assert found["explanation_score"] == aggregate.explanation_score(explained) == pytest.approx(needed.mean())
    every = {
        f"{name}{scope}{end}"
        for name in (*expected, "explanation_score")
        for scope in ("", "_simile", "_pooled", "_idiom")
        for end in ("", "_ci_low", "_ci_high")
    }
    # A score without an interval: of a single row, or of rows that score alike.
    assert set(found) <= every and all("explanation_score" in name for name in every - set(found))


def test_acc_at_0_is_the_labels_accuracy_whatever_the_explanations_score() -> None:
    """ "A threshold of 0% ... is equivalent to simply reporting label accuracy": an empty explanation scores 0."""
    explained = [Explained("a", 0, 0, "The lawyer has fins.", "", "a", "all")]
    assert explanations.all_metrics(explained, np.array([0.0]), ["idiom"])["acc@0"] == 1
    assert explanations.all_metrics(explained, np.array([0.0]), ["idiom"])["acc@50"] == 0


@pytest.mark.parametrize("scheme", ["all", "contradiction"])
def test_without_scores_flute_keeps_the_labels(scheme: str) -> None:
    explained = flute(scheme)
    with explanations.session("off", explained):
        assert aggregate.acc_at_0(explained) == 4 / 6
        assert aggregate.acc_at_50(explained) is None and aggregate.explanation_score_ci_low(explained) is None


def test_entailments_alone_have_no_mean_score_where_none_is_asked_for() -> None:
    entailments = flute("contradiction")[:2]
    with explanations.session("embedded", entailments):
        assert aggregate.explanation_score(entailments) is None
        assert aggregate.acc_at_60(entailments) == 1


def test_rows_of_several_schemes_have_no_metric() -> None:
    mixed = [row for scheme in ("f1", "contradiction", "all") for row in flute(scheme)]
    with pytest.raises(ValueError, match="rows of several schemes: all, contradiction, f1"):
        explanations.metric("acc@0", mixed, None)


def test_a_metric_of_another_benchmark_is_nan() -> None:
    with explanations.session("off", flute("all")):
        value = aggregate.f1_at_53(flute("all"))
        assert value is not None and np.isnan(value)
        mixed = aggregate.acc_at_0([*flute("all"), *flute("contradiction")])
        assert mixed is not None and np.isnan(mixed)


@pytest.mark.parametrize(
    ("variable", "row_choice", "expected"),
    [(None, None, "flute22"), (None, "embedded", "embedded"), ("figlang24", "embedded", "figlang24")],
)
def test_outside_of_a_session_the_rows_bring_their_scorer_along(
    variable: str | None, row_choice: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FIGLANG_SCORER", raising=False)
    if variable:
        monkeypatch.setenv("FIGLANG_SCORER", variable)
    explanations.release()
    explained = [Explained("a", 0, 0, "The lawyer has fins.", "A storm", "a", "all", row_choice)]
    assert explanations.current(explained).name == expected
    explanations.release()


def test_outside_of_a_session_parts_of_the_rows_are_served_by_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    explanations.release()
    explained = flute("all")
    whole = explanations.current(explained)
    assert explanations.current(explained[2:4]) is whole
    other = [Explained("b", 0, 0, "The lawyer has fins.", "Another storm", "b", "all")]
    assert explanations.current(other) is not whole
    assert explanations.current(explained[:1]) is whole
    assert explanations.current(explained) is whole
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    assert explanations.current(explained).name == "off"
    explanations.release()
