"""Which models a task of matching scores takes, and what they are asked; every task file finds its
documents.
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

FILES = [
    path
    for path in sorted((plugin.tasks_dir() / "irfl").glob("irfl_*.yaml"))
    if "group:" not in path.read_text()
]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_task_finds_its_documents_and_asks(path: Path) -> None:
    """On the package's data, which hold every table."""
    loaded = utils.load_yaml_config(str(path))
    benchmark, request = parse_request(loaded["dataset_name"])
    measures = benchmark.task_for(request).measures
    assert all(entry["aggregation"].task.measures is measures for entry in loaded["metric_list"])
    request = Request.of("figlang_mini_irfl", **request)
    documents = rows.documents(request, check_images=True)
    assert ("rotation" in documents[0]["id"]) == path.stem.endswith("_circular")
    assert ("positive" in documents.column_names) == ("retrieve" in path.stem)
    whole = rows.phrase_text(documents[0])
    for block in loaded["lmms_eval_specific_kwargs"].values():
        assert (whole in tasks.doc_to_text(documents[0], block)) == ("phrase_only" not in path.stem)


@pytest.mark.parametrize("file", ["irfl/irfl_match_idiom", "columbus/columbus_match"])
@pytest.mark.parametrize("model", ["llava_hf", "vllm", "figlang_majority", demo_runs.Says("B")])
def test_a_model_of_words_is_not_matched(model: Any, file: str, tmp_path: Path) -> None:
    """Nor in a variant of the task. It is refused before it is loaded: vLLM is not even
    installed.
    """
    (tmp_path / "mine.yaml").write_text(f"include: {plugin.tasks_dir()}/{file}.yaml\ntask: mine\n")
    name = model if isinstance(model, str) else "this model"
    with pytest.raises(
        FigLangError, match=f"task mine: it compares scores, but {name} answers in words. Use"
    ):
        demo_runs.evaluate("mine", model, "pretrained=there/is_none", include_path=str(tmp_path))


class Numbers(demo_runs.Says):
    """A class of a user's that declares to give scores: no task file knows it."""

    answers_score_requests = ("match",)

    def generate_until(self, requests: list[Any]) -> list[str]:
        assert all(request.args[1][score_requests.KEY] == {"kind": "match"} for request in requests)
        self.read = [request.args[0] for request in requests]
        return [
            score_requests.answer(range(len(request.args[2](self._doc(request)))))
            for request in requests
        ]

    def _doc(self, request: Any) -> Any:
        _, _, _, doc_id, task, split = request.args
        return self.task_dict[task][split][doc_id]


class OnlyNumbers(Numbers):
    answers_words = False


@pytest.mark.parametrize(("kind", "prompt"), [(Numbers, "match"), (OnlyNumbers, "text")])
@pytest.mark.parametrize("given", ["object", "name"])
def test_a_class_that_declares_it_is_asked_for_scores(
    kind: type[Numbers], prompt: str, given: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest = ModelManifest("my_numbers", simple_class_path=f"{__name__}.{kind.__qualname__}")
    monkeypatch.setitem(MODEL_REGISTRY_V2._manifests, "my_numbers", manifest)
    monkeypatch.setitem(MODEL_REGISTRY_V2._alias_to_model_id, "my_numbers", "my_numbers")
    names = ["figlang_mini_irfl_match_idiom", "mini_irfl_random4_metaphor"]
    model = kind()
    as_model = "my_numbers" if given == "name" else None
    results = demo_runs.evaluate(
        names, model, include_path=demo_runs.mini_tasks(), as_model=as_model, limit=2
    )
    for name in names:
        first, second = results["samples"][name]
        assert first["sample"]["scores"] == second["sample"]["scores"] == [0, 1, 2, 3]
        options = {"prompt": prompt}
        assert first["arguments"][0] == tasks.doc_to_text(first["doc"], options) in model.read


def test_a_class_of_scores_alone_is_not_asked_for_words() -> None:
    with pytest.raises(
        FigLangError,
        match="this model: task figlang_mini_irfl_detect_idiom asks for an answer in w",
    ):
        demo_runs.evaluate("figlang_mini_irfl_detect_idiom", OnlyNumbers())


@pytest.mark.parametrize("model", ["llava_hf", "default"])
def test_a_class_that_is_known_to_give_no_scores_is_not_asked(model: str, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {plugin.tasks_dir()}/mini/irfl/figlang_mini_irfl_match_idiom.yaml\ntask: mine\n"
        f"model_specific_generation_kwargs: {{{model}: {{figlang_score: {{kind: match}}}}}}\n"
    )
    with pytest.raises(
        FigLangError,
        match="task mine: it asks llava_hf for scores .*, and this class answers in wor",
    ):
        demo_runs.evaluate(
            "mine", "llava_hf", "pretrained=there/is_none", include_path=str(tmp_path)
        )
