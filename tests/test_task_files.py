"""The task definitions themselves: each loads, is pinned, and lists exactly the metrics that are
computed.
"""

from __future__ import annotations

import re
from functools import cache
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml
from lmms_eval import utils
from lmms_eval.models.simple.vllm import VLLM

from figlang_tasks import resource_dir
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.core.prompting import prompt_hash
from figlang_tasks.core.task_files import Harness
from figlang_tasks.harness import plugin
from figlang_tasks.harness.backend_settings import for_backend

FILES = sorted(path for path in plugin.tasks_dir().rglob("*.yaml") if not path.name.startswith("_"))


@cache
def config(path: Path) -> dict[str, Any]:
    return utils.load_yaml_config(str(path))


TASK_FILES = [path for path in FILES if "group" not in config(path)]


def benchmark(path: Path) -> str:
    """The package whose functions a task file names, e.g. ``vflute``."""
    return config(path)["doc_to_text"].__module__.split(".")[2]


@pytest.mark.parametrize("name", benchmarks())
def test_the_declared_prompt_hash_is_that_of_the_prompts(name: str) -> None:
    # After a change of a prompt: raise `version` in benchmark.py, and put this hash there.
    assert benchmarks()[name].prompt_hash == prompt_hash(name)


def test_the_shipped_texts_of_vflute_are_those_of_its_version() -> None:
    # After a rebuild of the data: raise `version` in benchmark.py, and put the new digest here.
    assert rows.load("figlang_mini", "test")[0]["data"] == "figlang_mini/test:fefe9a3e2816"


def test_what_results_say_of_a_task_stands_in_no_task_file() -> None:
    for path in TASK_FILES:
        assert "metadata" not in config(path), path


def test_harness_rules() -> None:
    for path in TASK_FILES:
        loaded = config(path)
        assert (
            Path(loaded["dataset_kwargs"]["data_files"]["test"]).resolve()
            == plugin.tasks_dir() / "stub.jsonl"
        ), path
        assert loaded["num_fewshot"] == 0, path
        assert loaded["output_type"] in {"generate_until", "generate_until_agentic"}, path
        settings = loaded["generation_kwargs"]
        # Which the harness would add
        assert "max_new_tokens" in settings and "\n\n" not in settings["until"], path


@pytest.mark.parametrize("model", ["vllm", "vllm_generate", "sglang"])
def test_engines_get_settings_that_they_accept_and_that_say_greedy(model: str) -> None:
    for path in TASK_FILES:
        settings = for_backend(model, config(path)["generation_kwargs"])
        sampling = VLLM._build_sampling_params_dict(object.__new__(VLLM), settings)
        assert None not in sampling.values(), path
        assert (sampling["temperature"], settings["num_beams"]) == (0, 1), path


def test_each_task_has_settings_of_its_own() -> None:
    """The harness writes into them: those of --gen_kwargs, and of the model."""
    path = plugin.tasks_dir() / "flute" / "flute.yaml"
    first, second = (utils.load_yaml_config(str(path)) for _ in range(2))
    first["generation_kwargs"]["max_new_tokens"] = 1
    assert second["generation_kwargs"]["max_new_tokens"] == 128


NYCC_NEXT = [
    "\n\nThanks! How about this one?",
    "\n\nOK. Here is a description of the cartoon followed by the",
]


@pytest.mark.parametrize(
    ("name", "until"),
    [
        ("flute/flute.yaml", ['\n\nDoes the sentence "']),
        ("flute/flute_v1.yaml", ['\n\nDo the sentences "']),
        ("vflute/vflute.yaml", []),
        ("vflute/vflute_10shot.yaml", ["\n\n<image>"]),
        ("nykms/nykms_sarcasm.yaml", []),
        ("nykms/nykms_sarcasm_text.yaml", ["\n\nHere is the description of the cartoon:"]),
        ("nycc/nycc_match_description.yaml", NYCC_NEXT),
        ("nycc/nycc_rank_description_5shot.yaml", NYCC_NEXT),
    ],
)
def test_generation_ends_where_the_next_question_begins(name: str, until: list[str]) -> None:
    paths = [
        folder / name for folder in (plugin.tasks_dir(), plugin.tasks_dir().parent / "lm_eval")
    ]
    for path in filter(Path.exists, paths):
        assert utils.load_yaml_config(str(path))["generation_kwargs"]["until"] == until


def test_the_words_that_end_generation_are_those_of_a_prompt() -> None:
    for path in TASK_FILES:
        folder = resource_dir("prompts") / benchmark(path)
        prompts = [file.read_text(encoding="utf-8") for file in folder.glob("*.jinja")]
        for words in config(path)["generation_kwargs"]["until"]:
            assert any(words[1:] in prompt for prompt in prompts), path


@pytest.mark.parametrize("harness", ["lmms_eval", "lm_eval"])
def test_the_entry_point_of_tasks_gives_their_folders(harness: Harness) -> None:
    """A harness that reads it would find no tasks of ours, or end."""
    project = (Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    group = rf'\[project.entry-points."{harness}.tasks"\]\nfiglang_tasks = "(.*)"'
    (value,) = re.findall(group, project)
    point = EntryPoint(name="figlang_tasks", value=value, group=f"{harness}.tasks")
    folders = [Path(folder) for folder in point.load()()]
    assert task_files.folder(harness) in folders
    for path in task_files.files(harness).values():
        assert any(path.is_relative_to(folder) for folder in folders)


@pytest.mark.parametrize("harness", ["lmms_eval", "lm_eval"])
def test_a_file_has_the_name_of_its_task_or_group(harness: Harness) -> None:
    for name, path in task_files.files(harness).items():
        content = task_files.read(path)
        assert name == content.get("group", content["task"])


def test_the_parser_in_python_reads_each_file_as_the_one_in_c() -> None:
    """The harness has the one in Python; the package has the one in C, and so have the tests."""

    class InPython(yaml.loader.SafeLoader):
        """The loader in Python; the name of a function stands for the function."""

    InPython.add_constructor("!function", lambda loader, node: node.value)
    for path in sorted(plugin.tasks_dir().parent.rglob("*.yaml")):
        text = path.read_text(encoding="utf-8")
        assert yaml.load(text, InPython) == yaml.load(text, task_files.Loader), path


def test_groups_name_existing_tasks() -> None:
    tasks = {path.stem for path in TASK_FILES}
    for path in FILES:
        if path not in TASK_FILES:
            assert set(config(path)["task"]) <= tasks
