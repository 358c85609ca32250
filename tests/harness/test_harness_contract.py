"""Every hook into the harness that we rely on. A new harness release should fail here, by name, and not at a user's."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import datasets
import pytest
import yaml
from lmms_eval import evaluator, utils
from lmms_eval.api import task as api_task
from lmms_eval.api.registry import get_model  # noqa: F401  (import checks the module)
from lmms_eval.evaluator_utils import TaskOutput
from lmms_eval.tasks import TaskManager

from figlang_tasks import resource_dir
from figlang_tasks.core import notes

ROOT = Path(__file__).parents[2]
HOOKS: dict[str, dict[str, Any]] = yaml.safe_load((Path(__file__).parent / "hooks.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", HOOKS)
def test_what_we_use_is_there_as_we_use_it(name: str) -> None:
    hook, (module, _, qualified) = HOOKS[name], name.partition(":")
    found: Any = importlib.import_module(module)
    for part in filter(None, qualified.split(".")):
        found = inspect.getattr_static(found, part) if isinstance(found, type) else getattr(found, part)
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    found = inspect.unwrap(found) if callable(found) else found
    if "call" in hook:
        count, *keywords = hook["call"]
        inspect.signature(found).bind(*[None] * count, **dict.fromkeys(keywords))
    if "takes" in hook:
        assert set(hook["takes"]) <= set(inspect.signature(found).parameters)
    if "only" in hook:
        parameters = inspect.signature(found).parameters.values()
        optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        assert {p.name for p in parameters if p.default is p.empty and p.kind not in optional} == set(hook["only"])
    if "source" in hook:
        text, place = inspect.getsource(found), 0
        for wanted in hook["source"]:
            place = text.find(wanted, place)
            assert place >= 0, f"its source no longer holds {wanted!r} (in this order)"


def test_our_patch_for_lmms_eval_applies_to_the_installed_version(tmp_path: Path) -> None:
    """``docs/upstream``: entry points for tasks, with which one of our hooks is needless."""
    patch = ROOT / "docs" / "upstream" / "lmms_eval_task_entry_points.patch"
    for name in re.findall(r"^--- a/(\S+)", patch.read_text(encoding="utf-8"), re.MULTILINE):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(evaluator.__file__).parents[1] / name, tmp_path / name)
    subprocess.run(["git", "apply", "--check", str(patch)], cwd=tmp_path, check=True)


def imported(path: Path) -> set[str]:
    """What a file imports from the harnesses, as ``module:name`` or ``module``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in ("lmms_eval", "lm_eval"):
            found |= {f"{node.module}:{name.name}" for name in node.names}
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.split(".")[0] in ("lmms_eval", "lm_eval")}
    return found


def test_everything_that_we_import_from_a_harness_is_in_the_table() -> None:
    files = [path for folder in ("figlang_tasks", "metrics") for path in (ROOT / folder).rglob("*.py")]
    used = {name for path in files for name in imported(path)}
    text = "\n".join(HOOKS).replace(":", ".") + "\n"
    assert len(used) > 20
    assert [name for name in used if not re.search(rf"(?m)^{re.escape(name.replace(':', '.'))}(\.|$)", text)] == []


@pytest.mark.parametrize("harness", ["lmms_eval", "lm_eval"])
def test_the_keys_of_our_task_files_are_known(harness: str) -> None:
    known = importlib.import_module(f"{harness}.api.task").TaskConfig.__dataclass_fields__
    text = "\n".join(path.read_text() for path in (resource_dir("task_yamls") / harness).rglob("*.yaml"))
    of_groups = {"include", "group", "group_alias", "aggregate_metric_list"}
    assert set(re.findall(r"^(\w+):", text, flags=re.MULTILINE)) - of_groups <= set(known)


def test_model_classes_need_three_functions() -> None:
    from lmms_eval.api.model import lmms

    assert lmms.__abstractmethods__ <= {"generate_until", "loglikelihood", "generate_until_multi_round"}
    assert {"rank", "world_size", "is_simple"} <= set(dir(lmms))


def test_task_index_entries_have_type_and_yaml_path(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("task: a\ndataset_path: json\n")
    (tmp_path / "g.yaml").write_text("group: g\ntask: [a]\n")
    manager = TaskManager(include_defaults=False, include_path=str(tmp_path))
    assert manager.task_index["a"] == {"type": "task", "yaml_path": str(tmp_path / "a.yaml")}
    assert manager.task_index["g"]["type"] == "group"
    assert manager._get_config("g")["task"] == ["a"]


def test_answers_come_by_the_object_given_as_cache_and_async_openai_takes_an_error_for_one() -> None:
    source = inspect.getsource(inspect.unwrap(evaluator.evaluate))
    assert "resps = response_cache.execute(lm, reqtype, cloned_reqs)" in source
    assert 'response_cache.execute(lm, "generate_until", [single_req])[0]' in inspect.getsource(
        evaluator._run_generate_until_agentic
    )
    from lmms_eval.models.chat.async_openai import AsyncOpenAIChat

    assert 'all_response += f"Error: {str(e)}"' in inspect.getsource(AsyncOpenAIChat.maybe_forward_with_tool)
    with pytest.raises(TypeError) as caught:
        print("" + None)  # type: ignore[operator]
    assert notes.is_no_answer(f"Error: {caught.value}")


def test_repeated_requests_are_one_object_and_a_baseline_wants_a_score() -> None:
    assert "cloned_reqs.extend([req] * req.repeats)" in inspect.getsource(inspect.unwrap(evaluator.evaluate))
    judged = inspect.getsource(evaluator._process_document_results)
    assert "if repeats > 1 and len(requests) == repeats:" in judged  # requests are not yet cloned: there is one
    source = inspect.getsource(inspect.unwrap(evaluator.simple_evaluate))
    assert 'score_key = task_config.get("score_key", "score")' in source and 'key.endswith("_score")' in source


def test_yaml_attributes_by_absolute_name_and_data_files_beside_the_yaml(tmp_path: Path) -> None:
    (tmp_path / "_base.yaml").write_text(
        "metric_list: !function figlang_tasks.benchmarks.vflute.measures.VFLUTE\na: 1\nb: 1\n"
    )
    (tmp_path / "rows.jsonl").write_text("{}\n")
    (tmp_path / "t.yaml").write_text(
        "include: _base.yaml\ntask: t\nb: 2\ndataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\n"
    )
    config = utils.load_yaml_config(str(tmp_path / "t.yaml"))
    assert config["metric_list"][0]["metric"] == "f1@0" and callable(config["metric_list"][0]["aggregation"])
    assert (config["a"], config["b"]) == (1, 2)
    assert config["dataset_kwargs"]["data_files"]["test"] == str(tmp_path / "rows.jsonl")


def test_data_files_of_an_included_yaml_lie_beside_that_one(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "rows.jsonl").write_text("{}\n")
    (tmp_path / "_base.yaml").write_text("dataset_path: json\ndataset_kwargs: {data_files: {test: rows.jsonl}}\n")
    (tmp_path / "below" / "t.yaml").write_text("include: ../_base.yaml\ntask: t\n")
    config = utils.load_yaml_config(str(tmp_path / "below" / "t.yaml"))
    assert Path(config["dataset_kwargs"]["data_files"]["test"]).resolve() == tmp_path / "rows.jsonl"


def task_config(**changes: Any) -> dict[str, Any]:
    stub = Path(__file__).parents[1] / "fixtures" / "one_row.jsonl"
    config = {
        "task": "contract",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(stub)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": lambda doc, kwargs=None: f"text {kwargs}",
        "doc_to_target": lambda doc: "target",
        "doc_to_visual": lambda doc: ["a picture"],
        "process_results": lambda doc, results: {"listed": 1.0, "sample": {"id": 7}},
        "metric_list": [{"metric": "listed", "aggregation": "mean", "higher_is_better": True}],
        "num_fewshot": 0,
        "generation_kwargs": {"until": [], "max_new_tokens": 4},
    }
    return config | changes


@pytest.fixture(autouse=True)
def _datasets_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api_task, "_resolve_hf_datasets_cache_dir", lambda: str(tmp_path / "cache"))


def test_process_docs_may_replace_the_dataset_and_undecoded_images_are_left_out_of_scoring() -> None:
    features = datasets.Features({"id": datasets.Value("string"), "image": datasets.Image(decode=False)})
    rows = {"id": ["r0", "r1"], "image": [{"bytes": b"x", "path": None}] * 2}
    task = api_task.ConfigurableTask(
        config=task_config(process_docs=lambda stub: datasets.Dataset.from_dict(rows, features=features))
    )
    assert len(task.eval_docs) == 2
    assert task.eval_docs[0]["image"]["bytes"] == b"x"
    assert task.eval_docs_no_media.column_names == ["id"]


def test_process_docs_is_told_the_name_of_the_data() -> None:
    """On the same stub, each task with a name of its own; also from the cache, which the second reading uses."""
    told: list[str] = []

    def note(stub: datasets.Dataset) -> datasets.Dataset:
        told.append(stub.config_name)
        return stub

    names = ["IRFL,table=a-b,rotations=true", None, "V-FLUTE,split=test", "IRFL,table=a-b,rotations=true"]
    for name in names:
        api_task.ConfigurableTask(config=task_config(process_docs=note, dataset_name=name))
    assert told == [name or "default" for name in names]


def test_an_empty_until_stays_empty() -> None:
    assert api_task.ConfigurableTask(config=task_config()).config.generation_kwargs["until"] == []


def test_generation_settings_by_model_name() -> None:
    settings = {"default": {}, "vllm": {"num_beams": 1}}
    for model, beams in (("vllm", 1), ("llava_hf", 3), (None, 3)):
        config = task_config(generation_kwargs={"num_beams": 3}, model_specific_generation_kwargs=settings)
        task = api_task.ConfigurableTask(config=config, model_name=model)
        assert task.config.generation_kwargs["num_beams"] == beams


def test_options_reach_the_prompt_functions_with_other_models_blocks_beside_them() -> None:
    seen = []

    def doc_to_text(doc: dict, kwargs: Any = None) -> str:
        seen.append(dict(kwargs))
        return ""

    options = {"default": {"num_shots": 2}, "another_model": {"num_shots": 3}}
    config = task_config(doc_to_text=doc_to_text, lmms_eval_specific_kwargs=options)
    api_task.ConfigurableTask(config=config, model_name="some_model")
    assert seen[0] == {"default": {"num_shots": 2}, "another_model": {"num_shots": 3}, "num_shots": 2}


def test_chat_tasks_pass_the_options_to_doc_to_messages() -> None:
    config = task_config(
        doc_to_messages=lambda doc, lmms_eval_specific_kwargs=None: [lmms_eval_specific_kwargs["x"]],
        lmms_eval_specific_kwargs={"default": {"x": 5}},
    )
    task = api_task.ConfigurableMessagesTask(config=config)
    assert task.doc_to_messages(task.eval_docs[0]) == [5]


def test_a_key_of_process_results_outside_the_metric_list_is_logged_and_not_aggregated() -> None:
    task = api_task.ConfigurableTask(config=task_config())
    output = TaskOutput.from_taskdict("contract", task)
    for name, value in task.process_results({}, ["an answer"]).items():
        output.sample_metrics[(name, "none")].append(value)
    output.calculate_aggregate_metric(bootstrap_iters=0)
    output.calculate_clt_aggregate_metric()
    assert output.agg_metrics["listed,none"] == 1.0
    assert not any(key.startswith("sample") for key in output.agg_metrics)
    assert "logged_sample.update(metrics)" in inspect.getsource(evaluator._process_document_results)


def test_while_the_first_process_aggregates_the_others_wait_at_a_barrier() -> None:
    from accelerate.state import PartialState
    from lmms_eval import evaluator

    aggregation = inspect.getsource(inspect.unwrap(evaluator.evaluate)).partition("calculate_aggregate_metric")[2]
    assert "Accelerator().wait_for_everyone()" in aggregation and "dist.barrier()" in aggregation
    assert "gather" not in aggregation and "broadcast" not in aggregation
    assert "torch.distributed.barrier(" in inspect.getsource(PartialState.wait_for_everyone)


def test_protocol_of_agentic_tasks() -> None:
    class Model:
        is_simple = True
        task_dict = {"t": {"test": [{"id": "r0"}]}}
        prompts: list[str] = []

        def generate_until(self, requests: list[Any]) -> list[str]:
            context, kwargs, visual, doc_id, task, split = requests[0].args
            self.prompts.append(context)
            assert visual(self.task_dict[task][split][doc_id])
            return [f"answer {len(self.prompts)}"]

    def doc_to_text(
        doc: dict, previous_output: Any = None, round_idx: Any = None, previous_round_info: Any = None
    ) -> Any:
        if len(previous_output) == 1:
            return ["picture"], f"second, after {previous_output[0]}", False, previous_output, None
        return None, None, True, ["final"], None

    class Request:
        args = ("first", {"max_agentic_steps": 2}, lambda doc: ["picture"], doc_to_text, 0, "t", "test")
        metadata = {"task": "t", "doc_id": 0, "repeats": 1}

    model = Model()
    assert evaluator._run_generate_until_agentic(model, [Request()]) == ["final"]
    assert model.prompts == ["first", "second, after answer 1"]
