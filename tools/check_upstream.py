"""Compares what figlang_tasks relies on in lmms-eval and lm-eval with the versions that are installed.

    pip install -U lmms-eval lm-eval && python tools/check_upstream.py

For a weekly job of CI, and for whoever wants to run a version that figlang_tasks does not declare. Prints a table of
hooks: `ok`, `changed` (it is there, but not as we use it) or `missing`. Exit status 1 if any is not `ok`.

Three kinds of hooks are looked at: names and signatures (`HOOKS`), what functions do inside where we depend on it
(`Hook.source`), and behaviour, by small tasks that are run for real with a model that says one word (`PROBES`).
Nothing of the hub and no model is needed. `tests/harness/test_upstream.py` holds the lists complete.
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import json
import logging
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from typing import Any, Literal, NamedTuple

Status = Literal["ok", "changed", "missing"]
HARNESSES = ("lmms-eval", "lm-eval")


@dataclass(frozen=True)
class Hook:
    """A name of a harness that we use.

    Attributes:
        name: ``module:qualified.name``; a module alone if that is all we need.
        used_in: our module, below figlang_tasks.
        call: a call as we make it: how many positional arguments, and keywords.
        takes: parameters that must be there, where we stand around the function and look at them.
        only: parameters without a default, where a class of ours overrides the function.
        source: text that its source must hold, in this order: what it does inside is what we rely on.
    """

    name: str
    used_in: str
    call: tuple[int, tuple[str, ...]] | None = None
    takes: tuple[str, ...] = ()
    only: tuple[str, ...] | None = None
    source: tuple[str, ...] = ()


class Outcome(NamedTuple):
    """What was found of a hook; `detail` says what is different."""

    name: str
    used_in: str
    status: Status
    detail: str = ""


HOOKS = (
    # --- registration ---
    Hook("lmms_eval.utils:positional_deprecated", "harness.plugin", call=(1, ())),
    Hook(
        "lmms_eval.evaluator",
        "harness.plugin",
        source=("from lmms_eval import models", "from lmms_eval.utils import (", "@positional_deprecated\ndef simple_"),
    ),
    Hook(
        "lmms_eval.evaluator:simple_evaluate",
        "harness.plugin",
        takes=("model", "model_args", "tasks", "verbosity", "task_manager", "cli_args", "use_cache", "force_simple"),
        source=("TaskManager(verbosity, model_name=model)", "get_task_dict(", "results = evaluate("),
    ),
    Hook("lmms_eval.tasks:TaskManager", "harness.plugin", call=(1, ("model_name", "include_path", "include_defaults"))),
    Hook("lmms_eval.tasks:TaskManager.__init__", "harness.plugin", source=("initialize_tasks(",)),
    Hook(
        "lmms_eval.tasks:TaskManager.initialize_tasks", "harness.task_index", takes=("include_path", "include_defaults")
    ),
    Hook("lmms_eval.tasks:TaskManager._get_task_and_group", "harness.task_index", call=(2, ())),
    Hook("lmms_eval.tasks:TaskManager._get_config", "harness.task_index", call=(2, ())),
    Hook("lmms_eval.models:MODEL_REGISTRY_V2", "cli.doctor"),
    Hook("lmms_eval.models.registry_v2:ModelRegistryV2", "harness.plugin", call=(0, ())),
    Hook("lmms_eval.models.registry_v2:ModelRegistryV2._coerce_payload_to_manifests", "harness.plugin", call=(2, ())),
    Hook(
        "lmms_eval.models.registry_v2:ModelRegistryV2.load_entrypoint_manifests",
        "harness.plugin",
        source=('group: str = "lmms_eval.models"',),
    ),
    Hook(
        "lmms_eval.models.registry_v2:ModelManifest",
        "models",
        call=(1, ("simple_class_path", "chat_class_path")),
    ),
    # --- building, aggregating, saving ---
    Hook("lmms_eval.api.task:Task", "models.offline"),
    Hook("lmms_eval.api.task:ConfigurableTask.doc_to_target", "models.baselines", call=(2, ())),
    Hook("lmms_eval.models:get_model", "harness.plugin", call=(2, ())),
    Hook(
        "lmms_eval.evaluator:evaluate",
        "harness.plugin",
        takes=("lm", "task_dict", "response_cache", "bootstrap_iters", "distributed_executor_backend"),
        source=(
            "get_task_list(task_dict)",
            ".build_all_requests(",
            "lm.clean()",
            "canonical_keys = sorted(all_keys_set",
        ),
    ),
    Hook(
        "lmms_eval.evaluator:_process_document_results", "scoring.evaluation", source=("logged_sample.update(metrics)",)
    ),
    Hook(
        "lmms_eval.loggers:EvaluationTracker.save_results_aggregated",
        "harness.saving",
        takes=("results", "samples", "datetime_str"),
    ),
    Hook("lmms_eval.loggers:EvaluationTracker.save_results_samples", "harness.saving", takes=("task_name", "samples")),
    Hook(
        "lmms_eval.caching.response_cache:ResponseCache.create",
        "harness.plugin",
        takes=("cache_root", "model", "model_args", "task_dict", "world_size", "global_rank"),
    ),
    Hook("lmms_eval.caching.response_cache:ResponseCache.execute", "harness.answers", call=(4, ())),
    Hook("lmms_eval.caching.response_cache:ResponseCache.finalize", "harness.plugin", takes=("success", "accelerator")),
    Hook("lmms_eval.caching.response_cache:is_deterministic", "harness.answers", call=(2, ())),
    Hook("lmms_eval.api.task:ConfigurableTask.process_results", "harness.judgement", call=(3, ())),
    Hook("lmms_eval.utils:simple_parse_args_string", "harness.answers", call=(1, ())),
    Hook("lmms_eval.api.instance:unwrap_generation_output", "harness.answers", call=(1, ())),
    Hook("lmms_eval.api.filter:FilterEnsemble", "harness.plugin", call=(2, ())),
    # The words that failed requests are known by.
    *(
        Hook(f"lmms_eval.models.chat.{module}", "core.notes", source=("[LMMS_EVAL_REQUEST_FAILED ",))
        for module in ("openai", "async_openai", "gemini")
    ),
    # --- the command ---
    Hook(
        "lmms_eval.__main__:cli_evaluate_single",
        "cli.lmms_eval",
        call=(1, ()),
        source=(
            "tasks=task_names",
            "task_manager=task_manager",
            "cli_args=args",
            "return results, samples\n",
            "return None, None\n",
        ),
    ),
    Hook(
        "lmms_eval.__main__:cli_evaluate",
        "cli.lmms_eval",
        source=(
            "eval_logger.add(sys.stdout, ",
            "results_list.append(results)",
            "print(get_eval_banner(branch=",
            "print(make_table(results))",
            'print(make_table(results, "groups"))',
        ),
    ),
    Hook("lmms_eval.__main__:make_table", "cli.lmms_eval", call=(2, ())),
    Hook(
        "lmms_eval.evaluator:_run_generate_until_agentic",
        "harness.answers",
        source=("for req in requests:", "response_cache.execute("),
    ),
    Hook("lmms_eval.evaluator:tqdm", "cli.lmms_eval"),
    Hook("lmms_eval.api.task:tqdm", "cli.lmms_eval"),
    Hook(
        "lmms_eval.cli.dispatch:main",
        "cli.lmms_eval",
        call=(0, ()),
        source=("from lmms_eval.__main__ import cli_evaluate",),
    ),
    # --- model classes ---
    Hook("lmms_eval.api.model:lmms", "models"),
    Hook("lmms_eval.api.model:lmms.generate_until", "models", only=("self", "requests")),
    Hook("lmms_eval.api.model:lmms.loglikelihood", "models", only=("self", "requests")),
    Hook("lmms_eval.api.model:lmms.generate_until_multi_round", "models", only=("self", "requests")),
    Hook("lmms_eval.api.model:lmms.clean", "models.vlm", only=("self",)),
    Hook("lmms_eval.api.instance:Instance.args", "models"),
    Hook("lmms_eval.api.instance:GenerationResult", "models", call=(2, ())),
    Hook("lmms_eval.api.instance:TokenCounts", "models", call=(2, ())),
    Hook("lmms_eval.protocol:ChatMessages", "models.vlm", takes=("messages",)),
    Hook("lmms_eval.protocol:ChatMessages.extract_media", "models.vlm", call=(1, ())),
    Hook("lmms_eval.protocol:ChatMessages.to_hf_messages", "models.vlm", call=(1, ())),
    Hook("lmms_eval.protocol:ChatMessages.to_openai_messages", "models.openai_scores", call=(1, ())),
    Hook(
        "lmms_eval.models.model_utils.gen_metrics:log_metrics",
        "models.vlm",
        call=(0, ("total_elapsed_time", "total_gen_tokens", "avg_speed", "additional_metrics")),
    ),
    Hook("lmms_eval.models.model_utils.usage_metrics:is_budget_exceeded", "models.openai_scores", call=(0, ())),
    Hook(
        "lmms_eval.models.model_utils.usage_metrics:log_usage",
        "models.openai_scores",
        call=(1, ("task_name", "input_tokens", "output_tokens", "source")),
    ),
    Hook(
        "lmms_eval.models.chat.openai:OpenAICompatible.generate_until",
        "models.openai_scores",
        only=("self", "requests"),
        source=("self.num_concurrent", "range(self.max_retries)", "self.client.chat.completions.create(**payload)"),
    ),
    Hook("lmms_eval.models.chat.openai:OpenAICompatible.__init__", "models.openai_scores", takes=("pass_video_url",)),
    # --- lm-eval ---
    Hook("lm_eval:simple_evaluate", "task_yamls/lm_eval", takes=("model", "tasks", "task_manager", "log_samples")),
    Hook("lm_eval.tasks:TaskManager", "task_yamls/lm_eval", takes=("include_path", "include_defaults", "metadata")),
)


# --- names and signatures --------------------------------------------------------------------------------------------


def check(hook: Hook) -> Outcome:
    """Look at one hook."""
    module, _, qualified = hook.name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in filter(None, qualified.split(".")):
            found = inspect.getattr_static(found, part) if isinstance(found, type) else getattr(found, part)
    except ImportError as error:
        return Outcome(hook.name, hook.used_in, "missing", f"{type(error).__name__}: {error}")
    except AttributeError:
        return Outcome(hook.name, hook.used_in, "missing", f"no {qualified} in {module}")
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    problems = list(_problems(hook, inspect.unwrap(found) if callable(found) else found))
    return Outcome(hook.name, hook.used_in, "changed" if problems else "ok", "; ".join(problems))


def _problems(hook: Hook, found: Any) -> Iterator[str]:
    if hook.call is not None or hook.takes or hook.only is not None:
        signature = inspect.signature(found)
        names, any_keyword = set(signature.parameters), inspect.Parameter.VAR_KEYWORD
        if lacking := [name for name in hook.takes if name not in names]:
            yield f"takes no {', '.join(lacking)}: {signature}"
        needed = {
            name
            for name, each in signature.parameters.items()
            if each.default is each.empty and each.kind not in (each.VAR_POSITIONAL, any_keyword)
        }
        if hook.only is not None and needed != set(hook.only):
            yield f"must be given {', '.join(sorted(needed))}, not {', '.join(sorted(hook.only))}"
        if hook.call is not None:
            count, keywords = hook.call
            try:
                signature.bind(*[None] * count, **dict.fromkeys(keywords))
            except TypeError as error:
                yield f"{error}: {signature}"
    if hook.source:
        text, place = inspect.getsource(found), 0
        for wanted in hook.source:
            place = text.find(wanted, place)
            if place < 0:
                yield f"its source no longer holds {wanted!r} (in this order)"
                return


# --- behaviour: what a task and a run look like ----------------------------------------------------------------------

PROBE_MODULE = """
import datasets

def process_docs(stub):
    return datasets.Dataset.from_dict({"id": ["r0", "r1"], "data": ["d", "d"]})

def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    return [{"role": "user", "content": [{"type": "text", "text": str(lmms_eval_specific_kwargs["option"])}]}]

def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    return "text"

def doc_to_visual(doc):
    return []

def leave(stub):
    from figlang_tasks import DataError

    raise DataError("no data")

def process_results(doc, results):
    return {"acc": len(results), "sample": {"id": doc["id"], "answer": results[0]}}

def mean(records):
    return float(sum(records)) / len(records)

def names(records):
    return ", ".join(record["id"] for record in records)

def custom_dataset(**settings):
    SEEN.append(settings)
    return {"test": datasets.Dataset.from_dict({"text": ["a", "b", "c"], "id": ["r0", "r1", "r2"]})}

SEEN = []
"""
BASE = """
dataset_path: json
dataset_kwargs: {data_files: {test: stub.jsonl}}
test_split: test
output_type: generate_until
process_docs: !function figlang_upstream_probe.process_docs
doc_to_text: !function figlang_upstream_probe.doc_to_text
doc_to_visual: !function figlang_upstream_probe.doc_to_visual
doc_to_messages: !function figlang_upstream_probe.doc_to_messages
doc_to_target: data
process_results: !function figlang_upstream_probe.process_results
metric_list:
  - {metric: acc, aggregation: !function figlang_upstream_probe.mean, higher_is_better: true}
num_fewshot: 0
generation_kwargs: {until: [], max_new_tokens: 4, private: {kind: match}}
lmms_eval_specific_kwargs: {default: {option: 5}, another_model: {option: 6}}
model_specific_generation_kwargs: {default: {}, probe: {max_new_tokens: 8}}
metadata: {version: 1-0}
"""
LM_EVAL_TASK = """
task: probe_text
custom_dataset: !function figlang_upstream_probe.custom_dataset
dataset_kwargs: {dataset: mine}
test_split: test
output_type: generate_until
doc_to_text: "{{text}}"
doc_to_target: "{{id}}"
process_results: !function figlang_upstream_probe.process_results
metric_list:
  - {metric: acc, aggregation: !function figlang_upstream_probe.mean, higher_is_better: true}
  - {metric: sample, aggregation: !function figlang_upstream_probe.names, higher_is_better: true}
num_fewshot: 0
generation_kwargs: {until: [], max_gen_toks: 4, do_sample: false, temperature: 0.0}
metadata: {version: 1-0}
"""
RESULTS_KEYS = {"results", "configs", "versions", "n-samples", "n-shot", "higher_is_better", "config"}
CUT_KEYS = {"limit", "offset"}
SAMPLE_KEYS = {"doc_id", "target", "filtered_resps", "sample", "acc", "input"}


def _expect(holds: bool, what: str) -> None:
    if not holds:
        raise AssertionError(what)


def _folder(home: Path) -> Path:
    """Write the task files of the probes."""
    folder = home / "tasks"
    (folder / "below").mkdir(parents=True)
    (home / "figlang_upstream_probe.py").write_text(PROBE_MODULE)
    (folder / "_base.yaml").write_text(BASE)
    (folder / "stub.jsonl").write_text('{"stub": 1}\n')
    (folder / "below" / "first.yaml").write_text("num_fewshot: 0\nmetadata: {version: 2-0}\n")
    (folder / "below" / "probe.yaml").write_text("include: [first.yaml, ../_base.yaml]\ntask: probe\n")
    (folder / "below" / "probe_leaves.yaml").write_text(
        "include: ../_base.yaml\ntask: probe_leaves\nprocess_docs: !function figlang_upstream_probe.leave\n"
    )
    (folder / "group.yaml").write_text("group: probe_group\ntask: [probe]\n")
    (home / "lm_eval").mkdir()
    (home / "lm_eval" / "probe_text.yaml").write_text(LM_EVAL_TASK)
    return folder


def entry_points_may_return_no_manifest(home: Path) -> None:
    from lmms_eval.models.registry_v2 import ModelRegistryV2

    _expect(ModelRegistryV2()._coerce_payload_to_manifests(lambda: []) == [], "an empty list is not taken")


def model_classes_need_three_functions(home: Path) -> None:
    from lmms_eval.api.model import lmms

    ours = {"generate_until", "loglikelihood", "generate_until_multi_round"}
    _expect(set(lmms.__abstractmethods__) <= ours, f"also wanted: {set(lmms.__abstractmethods__) - ours}")
    _expect({"rank", "world_size", "is_simple"} <= set(dir(lmms)), "no rank, world_size or is_simple")


def keys_of_our_task_files_are_known(home: Path) -> None:
    from lmms_eval.api.task import TaskConfig

    from figlang_tasks import resource_dir

    text = "\n".join(path.read_text() for path in (resource_dir("task_yamls") / "lmms_eval").rglob("*.yaml"))
    used = set(re.findall(r"^(\w+):", text, flags=re.MULTILINE)) - {"include", "aggregate_metric_list"}
    unknown = used - set(TaskConfig.__dataclass_fields__)
    _expect(not unknown, f"TaskConfig has no {', '.join(sorted(unknown))}")


def keys_of_our_text_task_files_are_known(home: Path) -> None:
    from lm_eval.api.task import TaskConfig

    from figlang_tasks import resource_dir

    text = "\n".join(path.read_text() for path in (resource_dir("task_yamls") / "lm_eval").rglob("*.yaml"))
    of_groups = {"group", "group_alias", "aggregate_metric_list"}
    used = set(re.findall(r"^(\w+):", text, flags=re.MULTILINE)) - {"include"} - of_groups
    unknown = used - set(TaskConfig.__dataclass_fields__)
    _expect(not unknown, f"TaskConfig has no {', '.join(sorted(unknown))}")


def task_index_entries(home: Path) -> None:
    manager = _manager(home)
    entry, group = manager.task_index["probe"], manager.task_index["probe_group"]
    _expect(entry["type"] == "task" and Path(entry["yaml_path"]).name == "probe.yaml", f"a task is {entry}")
    _expect(group["type"] == "group", f"a group is {group}")
    _expect(manager._get_config("probe_group")["task"] == ["probe"], "a group's config does not name its tasks")
    _expect({"model_name", "all_tasks"} <= set(dir(manager)), "no model_name or all_tasks")


def included_files_functions_and_data_files(home: Path) -> None:
    config = _manager(home)._get_config("probe")
    _expect(config["metadata"] == {"version": "2-0"}, "of several included files the first does not win")
    _expect(callable(config["process_docs"]), "!function with an absolute name is not resolved")
    file = Path(config["dataset_kwargs"]["data_files"]["test"])
    _expect(file.resolve() == home / "tasks" / "stub.jsonl", f"data_files beside the included file became {file}")


def tasks_of_chat_and_simple_models(home: Path) -> None:
    """Their attributes, and the shapes of the requests that they make."""
    for kind, chat in (("simple", False), ("chat", True)):
        task = _task(home, "probe", kind)
        wanted = {"dataset_no_image", "eval_docs", "config", "doc_to_target", "lmms_eval_specific_kwargs"}
        _expect(wanted <= set(dir(task)), f"a task has no {wanted - set(dir(task))}")
        _expect(task.dataset_no_image["test"]["data"] == ["d", "d"], "process_docs did not replace the data")
        settings = task.config.generation_kwargs
        _expect(settings["until"] == [], f"an empty until became {settings['until']!r}")
        _expect(settings["max_new_tokens"] == 8, "generation settings of a model by its name are not taken")
        task.build_all_requests(limit=1, rank=0, world_size=1)
        args = task.instances[0].args
        settings, doc_to = (args[2], args[1]) if chat else (args[1], args[2])
        _expect(len(args) == 6 and args[3:] == (0, "probe", "test"), f"arguments of a {kind} request: {args[3:]}")
        _expect(callable(doc_to) and settings["private"] == {"kind": "match"}, f"arguments of a {kind} request: {args}")
        if chat:
            (message,) = doc_to(task.eval_docs[0])
            _expect(message["content"][0]["text"] == "5", "options do not reach doc_to_messages")


def a_run_and_its_files(home: Path) -> None:
    """Results, samples, and the names of the files."""
    from lmms_eval.evaluator import simple_evaluate
    from lmms_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(home / "output"))
    results = simple_evaluate(
        model=_one_word(),
        tasks=["probe"],
        task_manager=_manager(home),
        limit=1,
        log_samples=True,
        bootstrap_iters=0,
        evaluation_tracker=tracker,
    )
    _expect(RESULTS_KEYS <= set(results), f"results have no {', '.join(sorted(RESULTS_KEYS - set(results)))}")
    _expect(results["results"]["probe"].get("acc,none") == 1.0, f"metrics are {results['results']['probe']}")
    _expect(not results["results"]["probe"].get("sample,none"), "keys outside the metric list are aggregated")
    _expect(CUT_KEYS <= set(results["config"]), "config does not tell limit and offset")
    _expect(set(results["n-samples"]["probe"]) >= {"original", "effective"}, "n-samples does not tell both numbers")
    _expect(results["configs"]["probe"]["metadata"]["version"] == "2-0", "configs do not hold the metadata")
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples, "2026-01-02T03-04-05")
    tracker.save_results_samples("probe", samples["probe"])
    folder = Path(tracker.output_path) / tracker.general_config_tracker.model_name_sanitized
    names = [folder / f"{tracker.date_id}_results.json", folder / f"{tracker.date_id}_samples_probe.jsonl"]
    _expect(all(path.is_file() for path in names), f"files are {sorted(p.name for p in folder.rglob('*'))}")
    _expect("model_name" in json.loads(names[0].read_text()), "the results file does not name the model")
    (line,) = [json.loads(line) for line in names[1].read_text().splitlines()]
    _expect(SAMPLE_KEYS <= set(line), f"samples have no {', '.join(sorted(SAMPLE_KEYS - set(line)))}")
    _expect(line["sample"] == {"id": "r0", "answer": "word"}, f"our record became {line['sample']}")


def agentic_tasks_of_two_stages(home: Path) -> None:
    from lmms_eval import evaluator

    def doc_to_text(doc: Any, previous_output: Any = None, **others: Any) -> Any:
        _expect(set(others) == {"round_idx", "previous_round_info"}, f"rounds are told by {sorted(others)}")
        more = len(previous_output) == 1
        return ([], "second", False, previous_output, None) if more else (None, None, True, ["final"], None)

    class Request:
        args: Any = ("first", {"max_agentic_steps": 2}, lambda doc: [], doc_to_text, 0, "t", "test")
        metadata = {"task": "t", "doc_id": 0, "repeats": 1}

    model = _one_word()
    model.task_dict = {"t": {"test": [{}]}}
    found = evaluator._run_generate_until_agentic(model, [Request()])
    _expect(found == ["final"], f"two stages end with {found}")


def a_run_in_lm_eval(home: Path) -> None:
    """The options of a task, results and samples; aggregators run once, on all records, and may return a text."""
    from lm_eval import simple_evaluate
    from lm_eval.tasks import TaskManager

    manager = TaskManager(include_path=str(home / "lm_eval"), include_defaults=False, metadata={"of_model": 1})
    results = simple_evaluate(
        model="dummy", tasks=["probe_text"], task_manager=manager, limit=2, log_samples=True, bootstrap_iters=10
    )
    (settings,) = importlib.import_module("figlang_upstream_probe").SEEN
    wanted = {"dataset": "mine", "of_model": 1, "version": "1-0"}
    _expect(wanted.items() <= settings.items(), f"custom_dataset is called with {settings}")
    _expect(Path(settings["config_source"]).name == "probe_text.yaml", "custom_dataset is not told the task file")
    _expect({"results", "configs", "versions", "n-samples"} <= set(results), f"results have {sorted(results)}")
    found = results["results"]["probe_text"]
    _expect((found.get("acc,none"), found.get("sample,none")) == (1.0, "r0, r1"), f"metrics are {found}")
    for name in ("acc", "sample"):
        error = found.get(f"{name}_stderr,none")
        _expect(error == "N/A", f"a standard error of a metric of ours is {error}")
    _expect(results["n-samples"]["probe_text"] == {"original": 3, "effective": 2}, "n-samples")
    (line, _) = results["samples"]["probe_text"]
    _expect({"doc_id", "target", "filtered_resps", "sample", "acc"} <= set(line), f"samples have {sorted(line)}")


PROBES: tuple[Callable[[Path], None], ...] = (
    entry_points_may_return_no_manifest,
    model_classes_need_three_functions,
    keys_of_our_task_files_are_known,
    task_index_entries,
    included_files_functions_and_data_files,
    tasks_of_chat_and_simple_models,
    agentic_tasks_of_two_stages,
    a_run_and_its_files,
    keys_of_our_text_task_files_are_known,
    a_run_in_lm_eval,
)


def _manager(home: Path) -> Any:
    from lmms_eval.tasks import TaskManager

    return TaskManager("ERROR", model_name="probe", include_path=str(home / "tasks"), include_defaults=False)


def _task(home: Path, name: str, kind: str) -> Any:
    from lmms_eval.tasks import get_task_dict

    return get_task_dict([name], _manager(home), kind)[name]


def _one_word() -> Any:
    from lmms_eval.api.model import lmms

    class OneWord(lmms):
        is_simple = True

        def generate_until(self, requests: list[Any]) -> list[str]:
            return ["word" for _ in requests]

        def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
            raise NotImplementedError

        def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
            raise NotImplementedError

    return OneWord()


def _probe(probe: Callable[[Path], None], home: Path) -> Outcome:
    name = probe.__name__.replace("_", " ")
    said = io.StringIO()
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            probe(home)
    except (Exception, SystemExit) as error:  # of a version that nobody has seen anything may come
        status: Status = "missing" if isinstance(error, ImportError | AttributeError) else "changed"
        attempt = getattr(error, "last_attempt", None)  # the harness tries some things again
        cause = attempt.exception() if attempt else error
        what = str(cause) if isinstance(cause, AssertionError) else f"{type(cause).__name__}: {cause}"
        return Outcome(name, "behaviour", status, what)
    return Outcome(name, "behaviour", "ok")


# --- the table -------------------------------------------------------------------------------------------------------


def outcomes() -> Iterator[Outcome]:
    """Look at everything."""
    yield from map(check, HOOKS)
    with tempfile.TemporaryDirectory(prefix="figlang-upstream-", ignore_cleanup_errors=True) as name:
        home = Path(name).resolve()
        _folder(home)
        os.environ["LMMS_EVAL_DATASETS_CACHE"] = os.environ["HF_DATASETS_CACHE"] = str(home / "cache")
        sys.path.insert(0, str(home))
        for probe in PROBES:
            yield _probe(probe, home)


def _declared() -> Mapping[str, str]:
    """What figlang_tasks declares of the harnesses, as ``>=0.7.3,<0.8``."""
    found = {}
    for line in requires("figlang-tasks") or []:
        if (match := re.match(r"([\w-]+)(?:\[[^]]*\])?\s*([^;]*)$", line)) and match[1] in HARNESSES:
            found[match[1]] = match[2].strip()
    return found


def versions() -> Iterator[str]:
    """A line for each harness: installed, declared, and whether they agree."""
    from packaging.specifiers import SpecifierSet

    for name, declared in _declared().items():
        try:
            installed = version(name)
        except PackageNotFoundError:
            yield f"{name}: not installed; figlang_tasks declares {declared}"
            continue
        inside = SpecifierSet(declared).contains(installed, prereleases=True)
        yield f"{name} {installed}; figlang_tasks declares {declared}" + ("" if inside else ": NOT of these versions")


def main() -> int:
    """Print the table; return the exit status."""
    logging.disable(logging.CRITICAL)
    os.environ["HF_HUB_OFFLINE"] = "1"
    from loguru import logger

    logger.remove()
    for line in versions():
        print(line)
    found = list(outcomes())
    width = max(len(each.name) for each in found)
    for each in found:
        detail = f"\n{'':9}{' '.join(each.detail.split())[:400]}" if each.detail else ""
        print(f"{each.status:8} {each.name:{width}}  {each.used_in}{detail}")
    counts = {status: sum(each.status == status for each in found) for status in ("ok", "changed", "missing")}
    print(", ".join(f"{count} {status}" for status, count in counts.items()))
    return 0 if counts["ok"] == len(found) else 1


if __name__ == "__main__":
    sys.exit(main())
