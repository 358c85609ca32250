"""Runs of IRFL's task files: if this fails, one of them does not find its documents, or a model is
asked for matching scores that it does not give.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import demo_runs
import pytest
from lmms_eval import utils
from lmms_eval.models import MODEL_REGISTRY_V2
from lmms_eval.models.registry_v2 import ModelManifest

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.irfl import rows, tasks
from figlang_tasks.core import score_requests
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.request import Request
from figlang_tasks.harness import plugin


def task_files() -> list[Path]:
    """The task files of the benchmark, without the groups."""
    paths: list[Path] = []
    for path in sorted((plugin.tasks_dir() / "irfl").glob("irfl_*.yaml")):
        if "group:" not in path.read_text():
            paths.append(path)
    return paths


TASK_FILES = task_files()
each_task_file = pytest.mark.parametrize("path", TASK_FILES, ids=lambda path: path.stem)


@each_task_file
def test_the_metrics_of_a_task_file_are_those_of_its_task(path: Path) -> None:
    config = utils.load_yaml_config(str(path))
    benchmark, request = parse_request(config["dataset_name"])
    measures = benchmark.task_for(request).measures
    for metric in config["metric_list"]:
        assert metric["aggregation"].task.measures is measures


@each_task_file
def test_a_task_file_finds_its_documents_and_asks_for_the_phrase(path: Path) -> None:
    """The package's small data hold every table."""
    config = utils.load_yaml_config(str(path))
    _, request = parse_request(config["dataset_name"])
    mini_request = Request.of("figlang_mini_irfl", **request)
    documents = rows.documents(mini_request, check_images=True)
    assert ("rotation" in documents[0]["id"]) == path.stem.endswith("_circular")
    assert ("positive" in documents.column_names) == ("retrieve" in path.stem)

    phrase_with_definitions = rows.phrase_text(documents[0])
    has_definitions = "phrase_only" not in path.stem
    for options in config["lmms_eval_specific_kwargs"].values():
        prompt = tasks.doc_to_text(documents[0], options)
        assert (phrase_with_definitions in prompt) == has_definitions


# --- models that answer in words ---


@pytest.mark.parametrize("file", ["irfl/irfl_match_idiom", "columbus/columbus_match"])
@pytest.mark.parametrize(
    "model", ["llava_hf", "vllm", "figlang_majority", demo_runs.FixedAnswers("B")]
)
def test_matching_refuses_a_model_of_words_before_it_is_loaded(
    model: Any, file: str, tmp_path: Path
) -> None:
    """A variant of the task refuses it too. vLLM is not even installed."""
    (tmp_path / "mine.yaml").write_text(f"include: {plugin.tasks_dir()}/{file}.yaml\ntask: mine\n")
    name = model if isinstance(model, str) else "this model"
    message = f"task mine: it compares scores, but {name} answers in words. Use"
    with pytest.raises(FigLangError, match=message):
        demo_runs.evaluate("mine", model, "pretrained=there/is_none", include_path=str(tmp_path))


@pytest.mark.parametrize("block", ["llava_hf", "default"])
def test_a_task_file_that_asks_a_model_of_words_for_scores_is_refused(
    block: str, tmp_path: Path
) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {plugin.tasks_dir()}/mini/irfl/figlang_mini_irfl_match_idiom.yaml\ntask: mine\n"
        f"model_specific_generation_kwargs: {{{block}: {{figlang_score: {{kind: match}}}}}}\n"
    )
    message = "task mine: it asks llava_hf for scores .*, and this class answers in wor"
    with pytest.raises(FigLangError, match=message):
        demo_runs.evaluate(
            "mine", "llava_hf", "pretrained=there/is_none", include_path=str(tmp_path)
        )


# --- models that give scores ---


class GivesScores(demo_runs.FixedAnswers):
    """A class of a user that declares to give scores; no task file names it.

    The score of an image is its number. The prompts are kept.
    """

    answers_score_requests = ("match",)

    def generate_until(self, requests: list[Any]) -> list[str]:
        self.prompts: list[str] = []
        answers: list[str] = []
        for request in requests:
            prompt, settings, doc_to_visual, doc_id, task, split = request.args
            assert settings[score_requests.KEY] == {"kind": "match"}
            self.prompts.append(prompt)
            images = doc_to_visual(self.task_dict[task][split][doc_id])
            answers.append(score_requests.answer(range(len(images))))
        return answers


class GivesOnlyScores(GivesScores):
    """A dual encoder: it does not answer in words."""

    answers_words = False


@pytest.mark.parametrize(
    ("model_class", "prompt"), [(GivesScores, "match"), (GivesOnlyScores, "text")]
)
@pytest.mark.parametrize("model_name", [None, "my_scores"], ids=["object", "name"])
def test_a_class_that_declares_to_give_scores_is_asked_for_them(
    model_class: type[GivesScores],
    prompt: str,
    model_name: str | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class_path = f"{__name__}.{model_class.__qualname__}"
    manifest = ModelManifest("my_scores", simple_class_path=class_path)
    monkeypatch.setitem(MODEL_REGISTRY_V2._manifests, "my_scores", manifest)
    monkeypatch.setitem(MODEL_REGISTRY_V2._alias_to_model_id, "my_scores", "my_scores")
    task_names = ["figlang_mini_irfl_match_idiom", "mini_irfl_random4_metaphor"]
    model = model_class()
    results = demo_runs.evaluate(
        task_names, model, include_path=demo_runs.mini_tasks(), as_model=model_name, limit=2
    )
    for task_name in task_names:
        first, second = results["samples"][task_name]
        assert first["sample"]["scores"] == second["sample"]["scores"] == [0, 1, 2, 3]
        expected_prompt = tasks.doc_to_text(first["doc"], {"prompt": prompt})
        assert first["arguments"][0] == expected_prompt
        assert expected_prompt in model.prompts


def test_a_class_that_gives_only_scores_is_not_asked_for_words() -> None:
    message = "this model: task figlang_mini_irfl_detect_idiom asks for an answer in w"
    with pytest.raises(FigLangError, match=message):
        demo_runs.evaluate("figlang_mini_irfl_detect_idiom", GivesOnlyScores())
