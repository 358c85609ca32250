"""Runs of the harness: of the classes of this package, and of models whose answers tests choose."""

from __future__ import annotations

import copy
import json
import os
import random
import sys
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any
from unittest.mock import patch

import lmms_eval.evaluator
import lmms_eval.models
import lmms_eval.tasks
from filelock import FileLock
from lm_eval.api.model import LM
from lmms_eval.api.instance import Instance
from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.loggers import EvaluationTracker
from lmms_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks.core import score_requests
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.mini import DEMO_MODEL_DIR
from figlang_tasks.models import manifests
from figlang_tasks.models.base import Offline
from figlang_tasks.models.baselines import Random
from figlang_tasks.scoring import Estimate, flat, from_json, full_name

DEMO = f"pretrained={DEMO_MODEL_DIR}"
FOLDERS_OF_TASK_FILES = (f"{Path(lmms_eval.tasks.__file__).parent}/", str(tasks_dir()))
"""The harness's task files and ours, as a `TaskManager` names them."""


@cache  # so that calling it again wraps the method once
def read_task_files_once() -> None:
    """Have each process read the harness's 2,000 task files, and ours, once: it takes seconds, and
    each `TaskManager` does it.
    """
    find_in_folder = TaskManager._get_task_and_group
    index_by_folder: dict[str, Any] = {}

    def find_once(manager: TaskManager, folder: str) -> Any:
        if folder not in FOLDERS_OF_TASK_FILES:
            return find_in_folder(manager, folder)
        if folder not in index_by_folder:
            index_by_folder[folder] = find_in_folder(manager, folder)
        return copy.deepcopy(index_by_folder[folder])

    TaskManager._get_task_and_group = find_once


def ask_git_once() -> None:
    """Have each process ask git once for the commit of the harness: each run does it five times."""
    for name in ("get_git_commit_hash", "get_lmms_eval_version_string"):
        ask = cache(getattr(lmms_eval.evaluator, name))
        ask()  # so that forks of this process need not ask
        setattr(lmms_eval.evaluator, name, ask)


read_task_files_once()
ask_git_once()


# --- a run of any model ---


class FixedAnswers(lmms):
    """A model that gives its answers in turn."""

    loglikelihood: Any = None
    generate_until_multi_round: Any = None

    def __init__(self, *answers: str) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [self.answers[number % len(self.answers)] for number in range(len(requests))]


class AnswersByDocument(LM):
    """A model for lm-eval that gives the answer of each document.

    Args:
        answers: the answers by the number of the document.
    """

    loglikelihood: Any = None
    loglikelihood_rolling: Any = None

    def __init__(self, answers: Mapping[int, str]) -> None:
        super().__init__()
        self.answers = answers

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        return [self.answers[request.doc_id] for request in requests]


def register_models() -> None:
    """Register the model classes again: another test may have put its own under their names."""
    for manifest in manifests():
        lmms_eval.models.MODEL_REGISTRY_V2.register_manifest(manifest, overwrite=True)


@lru_cache(maxsize=8)  # reading all task files takes two seconds
def task_manager(include_path: str | None = None, model: str | None = None) -> TaskManager:
    """The manager of our tasks.

    Args:
        include_path: a folder with further tasks.
        model: the name by which tasks find the settings that are meant for one model.
    """
    return figlang_tasks.task_manager(
        include_defaults=False, include_path=include_path, model_name=model
    )


def evaluate(
    task: str | Sequence[str],
    model: str | lmms,
    model_args: str | None = None,
    saved: Path | None = None,
    include_path: str | None = None,
    as_model: str | None = None,
    **arguments: Any,
) -> dict[str, Any]:
    """Evaluate a task or several, and return the results of the harness.

    Args:
        task: the name of a task, or several.
        model: the name of a model class, or a model.
        model_args: the arguments of the class.
        saved: a folder for the files of results and samples, which the command writes.
        include_path: a folder with further tasks.
        as_model: the name by which a `model` that is an object finds settings meant for one.
        arguments: further arguments of the harness.
    """
    register_models()
    tracker = EvaluationTracker(output_path=str(saved)) if saved else None
    results = simple_evaluate(
        model=model,
        model_args=model_args,
        tasks=[task] if isinstance(task, str) else list(task),
        batch_size=1,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
        task_manager=task_manager(include_path, model if isinstance(model, str) else as_model),
        **arguments,
    )
    assert results is not None
    if tracker:
        samples_by_task: dict[str, list[dict[str, Any]]] = {}
        for name, samples in results["samples"].items():
            samples_by_task[name] = [dict(sample) for sample in samples]
        aggregated = {key: value for key, value in results.items() if key != "samples"}
        tracker.save_results_aggregated(aggregated, samples_by_task, "2026-01-02T03-04-05")
        for name, samples in samples_by_task.items():
            tracker.save_results_samples(name, samples)
    return results


def metrics(results: dict[str, Any], task: str) -> dict[str, Any]:
    """Return the metrics of a task, without the harness's own standard errors."""
    return {
        name: value for name, value in results["results"][task].items() if "_stderr" not in name
    }


def estimates(results: dict[str, Any], task: str) -> dict[str, Estimate]:
    """Return the estimates of a task, of the whole and of every scope, by full name
    (``f1@60_muse``).
    """
    saved_estimates = from_json(results["configs"][task]["metadata"]["measures"])
    estimate_by_name: dict[str, Estimate] = {}
    for measure, scope, estimate in flat(saved_estimates):
        estimate_by_name[full_name(measure, scope)] = estimate
    return estimate_by_name


def answers(results: dict[str, Any], task: str) -> dict[int, str]:
    """Return the answers, by document id."""
    return {sample["doc_id"]: sample["resps"][0][0] for sample in results["samples"][task]}


# --- tasks on the data of the package ---

MINI_TASKS = {
    "mini_sg": ("vflute/vflute_sg", "figlang_mini,split=test", {"scorer": "off"}),
    "mini_2shot": ("vflute/vflute", "figlang_mini,split=test", {"scorer": "off", "num_shots": 2}),
    "mini_flute_v1": (
        "flute/flute_v1",
        "figlang_mini_flute,part=train,prompt=v1,scorer=embedded",
        {},
    ),
    "mini_irfl_detect_idiom_circular": (
        "irfl/irfl_detect_idiom_circular",
        "figlang_mini_irfl,table=idiom-detection-task,rotations=true",
        {},
    ),
    "mini_irfl_match_simile": (
        "irfl/irfl_match_simile",
        "figlang_mini_irfl,table=simile-detection-task",
        {},
    ),
    "mini_irfl_random4_metaphor": (
        "irfl/irfl_random4_metaphor",
        "figlang_mini_irfl,table=random4-metaphor",
        {},
    ),
    "mini_nykms_mw": ("nykms/nykms_mw", "figlang_mini_nykms,question=mw,modality=image", {}),
    # With the questions of the best metaphor alone, because the questions of all metaphors would be
    # three quarters of the rows of a run.
    "mini_metaclue_vqa_best": (
        "metaclue/metaclue_vqa_best",
        "figlang_mini_metaclue,task=vqa_best",
        {},
    ),
}
"""Tasks of the benchmarks on data of the package, by name: file, data, options."""


@lru_cache(maxsize=1)
def mini_tasks() -> str:
    """Return a folder, for `include_path`, with the files of MINI_TASKS."""
    folder = mkdtemp(prefix="tasks-", dir=os.environ["FIGLANG_TEST_RUNS"])
    for name, (file, data, options) in MINI_TASKS.items():
        content: dict[str, Any] = {
            "include": f"{tasks_dir()}/{file}.yaml",
            "task": name,
            "dataset_name": data,
        }
        if options:
            content["lmms_eval_specific_kwargs"] = {"default": options}
        (Path(folder) / f"{name}.yaml").write_text(json.dumps(content))
    return folder


# --- a run on figlang_mini with every kind of answer ---

SAMPLES_NAME = "2026-01-02T03-04-05_samples_figlang_mini.jsonl"
"""The name of the samples file of `run_figlang_mini`."""


class _EveryKindOfAnswer(Offline):
    """A model that answers in turn what is nearly right, what is wrong, what has no explanation,
    what has no label, and nothing.
    """

    def generate_until(self, requests: list[Any]) -> list[str]:
        answers: list[str] = []
        for number, request in enumerate(requests):
            *_, doc_id, task, split = request.args
            answers.append(self._answer(self.task_dict[task][split][doc_id], number))
        return answers

    def _answer(self, doc: Mapping[str, Any], number: int) -> str:
        nearly_right = f"{doc['explanation'][:-20]} picture.\n\nLABEL: {doc['label']}"
        wrong = (
            f"“{doc['claim']}” and a kettle\u2028🫖 number {number} of no meaning."
            "\n\nLABEL: contradiction"
        )
        without_label = f"{doc['explanation']} I would not say which it is."
        answers = (nearly_right, wrong, "LABEL: entailment", without_label, "")
        return answers[number % len(answers)]


@lru_cache(maxsize=2)
def run_figlang_mini(scorer: str = "off") -> tuple[bytes, dict[str, Any]]:
    """The samples file of a run with an explanation scorer, and the run's metrics without their
    filter.
    """
    with TemporaryDirectory() as folder, patch.dict(os.environ, {"FIGLANG_SCORER": scorer}):
        results = evaluate("figlang_mini", _EveryKindOfAnswer(), saved=Path(folder))
        (file,) = Path(folder).rglob(SAMPLES_NAME)
        values: dict[str, Any] = {}
        for name, value in metrics(results, "figlang_mini").items():
            values[name.partition(",")[0]] = value
        return file.read_bytes(), values


# --- runs of a weak and of a strong model on every kind of task ---

VARIED_TASKS = (
    "figlang_mini",
    "figlang_mini_flute",
    "mini_flute_v1",
    "figlang_mini_irfl_detect_idiom",
    "mini_irfl_detect_idiom_circular",
    "mini_irfl_match_simile",
    "mini_irfl_random4_metaphor",
    "figlang_mini_irfl_retrieve_metaphor",
    "figlang_mini_metaclue_caption",
    "figlang_mini_metaclue_classify_literal",
    "figlang_mini_metaclue_localize",
    "figlang_mini_metaclue_retrieve_swap",
    "mini_metaclue_vqa_best",
    "figlang_mini_nykms_metaphor",
    "mini_nykms_mw",
)
"""One task of each kind."""


class PartlyRight(Random):
    """A model that gives the target of a document or of another one, whole, cut off or not at all.

    Args:
        seed: decides about the answers.
        skill: the share of documents for which it takes the right target.
    """

    def __init__(self, seed: int, skill: float) -> None:
        super().__init__(seed)
        self._skill = skill

    def _answer(self, request: Instance) -> str:
        *_, doc_id, name, split = request.args
        if score_requests.KEY in request.args[1]:
            scores = score_requests.read_answer(super()._answer(request)) or []
            return score_requests.answer([round(score, 1) for score in scores])
        generator = random.Random(f"{self._seed}/{name}/{doc_id}")
        task = self.task(request)
        docs = task.dataset_no_image[split]
        if generator.random() >= self._skill:
            doc_id = generator.randrange(len(docs))
        lines = str(task.doc_to_target(docs[doc_id])).split("\n")
        # The target of a caption task has one caption a line.
        text = lines[0] if "caption" in name else "\n".join(lines)
        truncated = text[: len(text) * 2 // 3]
        return generator.choice([*[text] * 9, truncated, f"{text} <b>&", ""])


def varied_run(seed: int, skill: float) -> Path:
    """The folder of a run of `PartlyRight` on all `VARIED_TASKS`, as the command leaves it.

    Explanations are scored by `embedded`. The run is made once for all processes of the tests, and
    is not to be changed.
    """
    folder = Path(os.environ["FIGLANG_TEST_RUNS"]) / f"varied_{seed}_{skill}"
    with FileLock(f"{folder}.lock"):
        if list(folder.rglob("*_results.json")):
            return folder
        # METEOR starts Java for each part of the captions: most of the time that this would take.
        with patch.dict(os.environ, {"PATH": str(Path(sys.executable).parent)}):
            evaluate(
                VARIED_TASKS,
                PartlyRight(seed, skill),
                saved=folder,
                include_path=mini_tasks(),
                as_model="figlang_random",
            )
    return folder


def weak_run() -> Path:
    """The folder of the run of a model that is mostly wrong; see `varied_run`."""
    return varied_run(1, 0.3)


def strong_run() -> Path:
    """The folder of the run of a model that is mostly right; see `varied_run`."""
    return varied_run(2, 0.75)
