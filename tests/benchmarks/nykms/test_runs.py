"""Real runs: the demo model and the baselines in lmms-eval, a tiny language model in lm-eval, and both side by side."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import lm_eval
import pytest
from demo_runs import DEMO, answers, evaluate, metrics
from lm_eval.api.model import LM
from lm_eval.tasks import TaskManager as TextTaskManager
from lmms_eval.api.model import lmms

from figlang_tasks import resource_dir
from figlang_tasks.benchmarks.nykms import rows
from figlang_tasks.cli.summary import summary_table
from figlang_tasks.metrics import overlap
from figlang_tasks.scoring import Estimate, from_json

TEXT_TASKS = resource_dir("task_yamls") / "lm_eval"
ON_CPU = f"{DEMO},device=cpu,device_map=cpu"
SHORT = "max_new_tokens=8"
MINI = ("metaphor", "sarcasm", "mc", "mw")  # of figlang_mini_nykms


# --- lmms-eval -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("force_simple", [False, True], ids=["chat", "simple"])
def test_all_tasks_with_the_demo_model(force_simple: bool) -> None:
    results = evaluate("figlang_mini_nykms", "llava_hf", ON_CPU, gen_kwargs=SHORT, limit=2, force_simple=force_simple)
    assert set(results["samples"]) == {f"figlang_mini_nykms_{question}" for question in MINI}
    for question in MINI:
        name = f"figlang_mini_nykms_{question}"
        samples = [sample["sample"] for sample in results["samples"][name]]
        assert [sample["id"] for sample in samples] == rows.load("figlang_mini_nykms", question, "image")["id"][:2]  # type: ignore[arg-type]
        assert all(answers(results, name).values()), "the demo model says something to each"
        reported = metrics(results, name)
        assert not any(isinstance(value, float) and math.isnan(value) for value in reported.values())


def estimates(results: dict[str, Any], task: str) -> dict[str, dict[str, Estimate]]:
    """What the results say of a task by measure and scope."""
    return from_json(results["configs"][task]["metadata"]["measures"])


@lru_cache(maxsize=8)
def run_of(model: str, task: str) -> dict[str, Any]:
    return evaluate(task, Vision() if model == "said" else model)


def test_results_name_the_data_and_the_table_their_headline_metrics() -> None:
    results = run_of("figlang_majority", "figlang_mini_nykms_metaphor")
    metadata = results["configs"]["figlang_mini_nykms_metaphor"]["metadata"]
    assert metadata["data"] == f"figlang_mini_nykms/nyk_m:{metadata['data_revision']}"
    assert results["samples"]["figlang_mini_nykms_metaphor"][0]["sample"]["bleu"] == overlap.signature()
    head = summary_table(results).splitlines()[0]
    columns = [cell.strip() for cell in head.strip("|").split("|")]
    assert columns[0] == "figlang_mini_nykms_metaphor"
    of_labels = ["mc_acc ↑", "mc_macro_precision ↑", "mc_macro_recall ↑", "mc_macro_f1 ↑"]
    assert columns[1:] == ["n", *of_labels, "mw_em ↑", "mw_bleu4 ↑", "me_bleu4 ↑"]


# --- both ------------------------------------------------------------------------------------------------------------

SAID = {  # by a part of the prompt: a right answer, a wrong word, a No, a refusal, words without Yes, nothing
    "lovely view": '1. Yes\n2. "cage"\n3. The job.\n4. The bird cannot leave.',
    "project warm": "1. Yes\n2. Warm.\n3. It is in ruins.\n4. The project is on fire.",
    "refund": "1. Yes\n2. refund\n3. It will be late.\n4. A snail is slow.",
    "small delay": "1. Yes\n2. the cartoon\n3. Trouble that is hidden.",
    "new director": "1. No",
    "Too heavy": "I'm sorry, but I can't provide assistance with that content.",
    "the sofa": "1. Yes\n2. sofa\n3. A lion is in the way.\n4. It was there before.",
    "cozy neighborhood": "1. Yes\n2. cozy\n3. the neighborhood\n4. Nothing about the fire is pleasant.",
    "Express": "yes\nExpress\ndelivery\nA snail is slow.",
    "captain": '1. Yes\n2. "[I]"\n3. the captain\n4. The ship is about to hit the iceberg.',
    "picnic": "It contains sarcasm.",
    "Breakfast": "",
}


def said(prompt: str) -> str:
    return next((answer for part, answer in SAID.items() if part in prompt), "1. No")


class Vision(lmms):
    """A model of lmms-eval that answers as :func:`said`."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [said(request.args[0]) for request in requests]

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise AssertionError("no task of ours asks for it")


class Words(LM):
    """A model of lm-eval that answers as :func:`said`."""

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [said(request.args[0]) for request in requests]

    def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")

    def loglikelihood_rolling(self, requests: list[Any], disable_tqdm: bool = False) -> list[float]:
        raise AssertionError("no task of ours asks for it")


def test_the_same_answers_give_the_same_numbers_in_both_harnesses() -> None:
    names = ["figlang_mini_nykms_metaphor_text", "figlang_mini_nykms_sarcasm_text"]
    manager = TextTaskManager(include_path=str(TEXT_TASKS), include_defaults=False)
    theirs = lm_eval.simple_evaluate(model=Words(), tasks=names, task_manager=manager, bootstrap_iters=0)
    assert theirs is not None
    for name in names:
        ours = run_of("said", name)
        expected = {key: value for key, value in metrics(ours, name).items() if isinstance(value, float)}
        found = {key: theirs["results"][name][key] for key in expected}
        assert found == expected
        shown = [(s["doc"]["id"], s["filtered_resps"][0]) for s in theirs["samples"][name]]
        assert shown == [(s["sample"]["id"], s["filtered_resps"][0]) for s in ours["samples"][name]]


def test_numbers_of_a_run_worked_out_by_hand() -> None:
    name = "figlang_mini_nykms_metaphor_text"
    reported = metrics(run_of("said", name), name)
    # Gold: 7 Yes, 5 No. Said Yes to 4 of the 7 and to 1 of the 5.
    assert reported["mc_acc,none"] == pytest.approx(8 / 12)
    assert reported["mc_macro_precision,none"] == pytest.approx((4 / 5 + 4 / 7) / 2)
    assert reported["mc_macro_recall,none"] == pytest.approx((4 / 7 + 4 / 5) / 2)
    assert reported["mc_macro_f1,none"] == pytest.approx((8 / 12 + 8 / 12) / 2)
    # Words, over the 7 positives: cage and the cartoon right; "Warm." only when case and full stop do not count.
    assert reported["mw_em,none"] == pytest.approx(2 / 7)
    of_all = estimates(run_of("said", name), name)
    assert of_all["mw_relaxed_em"]["all"].value == pytest.approx(3 / 7)
    of_kinds = {scope: (estimate.value, estimate.rows) for scope, estimate in of_all["mw_em"].items()}
    assert of_kinds == {
        "all": (pytest.approx(2 / 7), 7),
        "word": (0, 2),
        "object": (pytest.approx(1 / 3), 3),
        "image": (1, 1),
        "free": (0, 1),
    }
    assert reported["mw_bleu4,none"] == pytest.approx(2 / 7)
    assert reported["parse_rate,none"] == pytest.approx(11 / 12)
    assert reported["refusal_rate,none"] == pytest.approx(1 / 12)
    assert of_all["parse_disagreement"]["all"].value == pytest.approx(1 / 12)  # the refusal: No, or no answer
