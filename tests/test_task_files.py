"""The task definitions themselves: each loads, is pinned, and lists exactly the metrics that are computed."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
from lmms_eval import utils
from lmms_eval.models.simple.vllm import VLLM

from figlang_tasks import resource_dir
from figlang_tasks.benchmarks.vflute import rows
from figlang_tasks.core.benchmark import sources
from figlang_tasks.core.prompting import prompt_hash
from figlang_tasks.harness import plugin

FILES = sorted(path for path in plugin.tasks_dir().rglob("*.yaml") if not path.name.startswith("_"))


@cache
def config(path: Path) -> dict[str, Any]:
    return utils.load_yaml_config(str(path))


TASK_FILES = [path for path in FILES if "group" not in config(path)]


def benchmark(path: Path) -> str:
    """The package whose functions a task file names, e.g. ``vflute``."""
    return config(path)["doc_to_text"].__module__.split(".")[2]


def test_prompt_hash_in_metadata_is_current() -> None:
    for path in TASK_FILES:
        # After a change of a prompt: raise the version in the YAML files and put this hash there.
        assert config(path)["metadata"]["prompt_hash"] == prompt_hash(benchmark(path)), path


def test_data_revision_in_metadata_is_the_pinned_one() -> None:
    for path in (path for path in TASK_FILES if benchmark(path) == "vflute"):
        revision = config(path)["metadata"]["data_revision"]
        if path.parent.name == "mini":
            # Digest of the shipped texts: after a rebuild of the data, raise the version and put the new one there.
            assert rows.load("figlang_mini", "test")[0]["data"] == f"figlang_mini/test:{revision}"
        else:
            assert revision == sources()["V-FLUTE"].revision, path


def test_harness_rules() -> None:
    for path in TASK_FILES:
        loaded = config(path)
        assert Path(loaded["dataset_kwargs"]["data_files"]["test"]).resolve() == plugin.tasks_dir() / "stub.jsonl", path
        assert loaded["num_fewshot"] == 0, path
        assert loaded["output_type"] in {"generate_until", "generate_until_agentic"}, path
        settings = loaded["generation_kwargs"]
        assert set(settings) >= {"max_new_tokens", "num_beams", "do_sample", "temperature", "top_p"}, path
        assert "\n\n" not in settings["until"], path  # which the harness would add


@pytest.mark.parametrize("model", ["vllm", "vllm_generate", "sglang"])
def test_engines_get_settings_that_they_accept_and_that_say_greedy(model: str) -> None:
    for path in TASK_FILES:
        loaded = config(path)
        if "default" not in (by_model := loaded["model_specific_generation_kwargs"]):
            continue  # it takes scores alone
        settings = loaded["generation_kwargs"] | by_model[model]
        sampling = VLLM._build_sampling_params_dict(object.__new__(VLLM), settings)
        assert None not in sampling.values(), path
        assert (sampling["temperature"], settings["num_beams"]) == (0, 1), path


def test_each_task_has_settings_of_its_own() -> None:
    """The harness writes into them: those of --gen_kwargs, and of the model."""
    path = plugin.tasks_dir() / "flute" / "flute.yaml"
    first, second = (utils.load_yaml_config(str(path)) for _ in range(2))
    first["generation_kwargs"]["max_new_tokens"] = 1
    first["model_specific_generation_kwargs"]["vllm"]["top_p"] = 0.5
    assert second["generation_kwargs"]["max_new_tokens"] == 128
    assert second["model_specific_generation_kwargs"]["vllm"] == {"top_p": 1.0}


NYCC_NEXT = ["\n\nThanks! How about this one?", "\n\nOK. Here is a description of the cartoon followed by the"]


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
    paths = [folder / name for folder in (plugin.tasks_dir(), plugin.tasks_dir().parent / "lm_eval")]
    for path in filter(Path.exists, paths):
        assert utils.load_yaml_config(str(path))["generation_kwargs"]["until"] == until


def test_the_words_that_end_generation_are_those_of_a_prompt() -> None:
    for path in TASK_FILES:
        folder = resource_dir("prompts") / benchmark(path)
        prompts = [file.read_text(encoding="utf-8") for file in folder.glob("*.jinja")]
        for words in config(path)["generation_kwargs"]["until"]:
            assert any(words[1:] in prompt for prompt in prompts), path


def test_groups_name_existing_tasks() -> None:
    tasks = {path.stem for path in TASK_FILES}
    for path in FILES:
        if path not in TASK_FILES:
            assert set(config(path)["task"]) <= tasks
