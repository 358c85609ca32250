"""FLUTE's chance levels or exemplars differ between the harnesses if this fails."""

from __future__ import annotations

from pathlib import Path

import lm_eval
import pytest
from demo_runs import DEMO, answers, evaluate, metrics, mini_tasks
from flute_rows import released_shape, write_lines
from lm_eval.tasks import TaskManager as TextTasks
from lm_eval_models import Again

from figlang_tasks.core.task_files import folder

TASKS = ("figlang_mini_flute", "mini_flute_v1")


@pytest.mark.parametrize(
    ("task", "zero", "sixty"), [(TASKS[0], "acc@0", "v1_acc@60"), (TASKS[1], "acc@0", "acc@60")]
)
def test_chance(task: str, zero: str, sixty: str) -> None:
    most_frequent = metrics(evaluate(task, "figlang_majority", include_path=mini_tasks()), task)
    assert most_frequent[f"{zero},none"] == most_frequent["acc,none"] == 17 / 32
    assert most_frequent[f"{sixty},none"] == 0, (
        "its contradictions are not explained, and it says nothing else"
    )
    drawn = evaluate(task, "figlang_random", include_path=mini_tasks())
    found = metrics(drawn, task)
    assert found["parse_rate,none"] == 1 and 0.2 < found["acc,none"] < 0.8
    entailments = [
        s["sample"]
        for s in drawn["samples"][task]
        if s["sample"]["gold"] == s["sample"]["predicted"] == 1
    ]
    assert found[f"{sixty},none"] == len(entailments) / 32


@pytest.mark.slow
def test_four_exemplars_in_both_harnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_lines(tmp_path / "FLUTE" / "train.jsonl", released_shape())
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    by_chat = evaluate("flute_4shot", "figlang_vlm", DEMO, limit=2, gen_kwargs="max_new_tokens=16")
    assert all(answers(by_chat, "flute_4shot").values())
    ours = evaluate("flute_4shot", "figlang_random", limit=8)
    theirs = lm_eval.simple_evaluate(
        model=Again(answers(ours, "flute_4shot")),
        tasks=["flute_4shot"],
        task_manager=TextTasks(include_path=str(folder("lm_eval")), include_defaults=False),
        limit=8,
        bootstrap_iters=0,
    )
    assert theirs is not None
    for sample in theirs["samples"]["flute_4shot"]:
        prompt, settings = sample["arguments"][0]
        assert prompt.count("\n\n") == 4 and len(prompt.split(*settings["until"])) == 5
    found = {
        name: value
        for name, value in theirs["results"]["flute_4shot"].items()
        if isinstance(value, float)
    }
    assert found == {
        name: value
        for name, value in metrics(ours, "flute_4shot").items()
        if isinstance(value, float)
    }
    assert ours["n-shot"]["flute_4shot"] == 4 and 0 < found["acc,none"] < 1
