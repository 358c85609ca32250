"""FLUTE's chance levels or exemplars differ between the harnesses if this fails."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import lm_eval
import pytest
from demo_runs import DEMO, AnswersByDocument, answers, evaluate, metrics, mini_tasks
from flute_rows import invented_flute_rows, write_lines
from lm_eval.tasks import TaskManager as TextTasks

from figlang_tasks.core.task_files import folder


@pytest.mark.parametrize(
    ("task", "acc_at_60"), [("figlang_mini_flute", "v1_acc@60"), ("mini_flute_v1", "acc@60")]
)
def test_chance_levels_by_the_first_version(task: str, acc_at_60: str) -> None:
    majority = metrics(evaluate(task, "figlang_majority", include_path=mini_tasks()), task)
    assert majority["acc@0,none"] == majority["acc,none"] == 17 / 32
    assert majority[f"{acc_at_60},none"] == 0, (
        "it answers contradiction alone, without an explanation that is good enough"
    )

    random_run = evaluate(task, "figlang_random", include_path=mini_tasks())
    random = metrics(random_run, task)
    assert random["parse_rate,none"] == 1
    assert 0.2 < random["acc,none"] < 0.8
    right_entailments = 0  # they need no explanation
    for sample in random_run["samples"][task]:
        record = sample["sample"]
        right_entailments += record["gold"] == record["predicted"] == 1
    assert random[f"{acc_at_60},none"] == right_entailments / 32


@pytest.mark.slow
def test_four_exemplars_in_both_harnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "FLUTE" / "train.jsonl", invented_flute_rows())
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    by_chat = evaluate("flute_4shot", "figlang_vlm", DEMO, limit=2, gen_kwargs="max_new_tokens=16")
    assert all(answers(by_chat, "flute_4shot").values())
    by_lmms_eval = evaluate("flute_4shot", "figlang_random", limit=8)
    by_lm_eval = lm_eval.simple_evaluate(
        model=AnswersByDocument(answers(by_lmms_eval, "flute_4shot")),
        tasks=["flute_4shot"],
        task_manager=TextTasks(include_path=str(folder("lm_eval")), include_defaults=False),
        limit=8,
        bootstrap_iters=0,
    )
    assert by_lm_eval is not None
    for sample in by_lm_eval["samples"]["flute_4shot"]:
        prompt, settings = sample["arguments"][0]
        assert prompt.count("\n\n") == 4
        assert len(prompt.split(*settings["until"])) == 5
    values = floats(by_lm_eval["results"]["flute_4shot"])
    assert values == floats(metrics(by_lmms_eval, "flute_4shot"))
    assert 0 < values["acc,none"] < 1
    assert by_lmms_eval["n-shot"]["flute_4shot"] == 4


def floats(results: Mapping[str, object]) -> dict[str, float]:
    """The numbers among the results of a task."""
    return {name: value for name, value in results.items() if isinstance(value, float)}
