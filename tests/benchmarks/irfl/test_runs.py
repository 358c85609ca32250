"""The mini tasks of IRFL through the harness: the demo model in words, a tiny CLIP by score."""

from __future__ import annotations

import shutil
import sqlite3
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import demo_runs
import pytest
import tiny_encoders
from lmms_eval import utils
from lmms_eval.api.model import lmms
from lmms_eval.models import MODEL_REGISTRY_V2
from lmms_eval.models.registry_v2 import ModelManifest

from figlang_tasks import FigLangError, mini
from figlang_tasks.benchmarks.irfl import measures as irfl_measures
from figlang_tasks.benchmarks.irfl import rows
from figlang_tasks.benchmarks.irfl import task as task_of
from figlang_tasks.core import documents as documents_of
from figlang_tasks.core import notes, score_requests
from figlang_tasks.harness import plugin
from figlang_tasks.scoring import Estimate, evaluate, flat, from_json, full_name

FILES = [path for path in sorted((plugin.tasks_dir() / "irfl").glob("irfl_*.yaml")) if "group:" not in path.read_text()]
TASKS = [
    path.stem.removeprefix("figlang_mini_")
    for path in sorted((plugin.tasks_dir() / "mini" / "irfl").glob("figlang_mini_irfl_*_*.yaml"))
]
BY_SCORE = [name for name in TASKS if name.split("_")[1] in ("match", "random4", "retrieve")]
IN_WORDS = [name for name in TASKS if name.split("_")[1] != "match"]


@lru_cache(maxsize=1)
def clip_run() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        checkpoint = tiny_encoders.write("clip", Path(folder) / "clip")
        names = [f"figlang_mini_{name}" for name in BY_SCORE]
        return demo_runs.evaluate(names, "figlang_clip", f"pretrained={checkpoint},device=cpu")


@lru_cache(maxsize=1)
def demo_run() -> dict[str, Any]:
    found: dict[str, Any] = {"configs": {}, "samples": {}}
    for limit, ranked in ((4, False), (8, True)):  # a limit has to leave a whole row
        names = [f"figlang_mini_{name}" for name in IN_WORDS if ("retrieve" in name) == ranked]
        of_names = demo_runs.evaluate(names, "llava_hf", demo_runs.DEMO, limit=limit, gen_kwargs="max_new_tokens=4")
        found = {key: found[key] | of_names[key] for key in found}
    return found


@lru_cache(maxsize=1)
def random_run() -> dict[str, Any]:
    return demo_runs.evaluate([f"figlang_mini_{name}" for name in TASKS], "figlang_random", "seed=1")


def estimates(results: dict[str, Any], task: str) -> dict[str, Estimate]:
    found = from_json(results["configs"][f"figlang_mini_{task}"]["metadata"]["measures"])
    return {full_name(measure, scope): estimate for measure, scope, estimate in flat(found)}


def values(results: dict[str, Any], task: str) -> dict[str, float]:
    return {name: estimate.value for name, estimate in estimates(results, task).items()}


def records(results: dict[str, Any], task: str) -> list[dict[str, Any]]:
    return [sample["sample"] for sample in results["samples"][f"figlang_mini_{task}"]]


def documents(task: str) -> int:
    config = random_run()["configs"][f"figlang_mini_{task}"]
    table = config["metadata"]["data"].partition("/")[2].partition("@")[0]
    return len(rows.load("figlang_mini_irfl", table, rotations=task.endswith("_circular")))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_task_finds_its_documents_and_asks(path: Path) -> None:
    """On the package's data, which hold every table."""
    loaded = utils.load_yaml_config(str(path))
    asked = documents_of.asked_for(loaded["dataset_name"])[1]
    documents = rows.load_asked({**asked, "dataset": "figlang_mini_irfl"})
    assert ("rotation" in documents[0]["id"]) == path.stem.endswith("_circular")
    assert ("positive" in documents.column_names) == ("retrieve" in path.stem)
    asked = {
        name: task_of.doc_to_text(documents[0], block) for name, block in loaded["lmms_eval_specific_kwargs"].items()
    }
    whole = rows.text(documents[0])
    assert all((whole in text) == ("phrase_only" not in path.stem) for text in asked.values())


@pytest.mark.parametrize("task", TASKS)
def test_every_document_is_judged_and_every_metric_has_an_interval(task: str) -> None:
    found = estimates(random_run(), task)
    assert len(records(random_run(), task)) == documents(task)
    assert {"p@k", "pooled_p@k"} <= set(found) if "retrieve" in task else "acc" in found
    for value, low, high, *_ in found.values():
        assert low is not None and high is not None
        assert 0 <= low <= value + 1e-9 <= high + 2e-9 <= 1 + 3e-9
    assert found["parse_rate"].value == 1
    of_records = irfl_measures.of_records(records(random_run(), task))
    assert list(found) == [
        full_name(name, scope) for name, scope, _ in flat(evaluate(records(random_run(), task), of_records))
    ]
    data = random_run()["configs"][f"figlang_mini_{task}"]["metadata"]["data"]
    assert data.startswith("figlang_mini_irfl/") and "@package:" in data
    assert {record["data"] for record in records(random_run(), task)} == {data}


@pytest.mark.parametrize("task", BY_SCORE)
def test_a_dual_encoder_answers_by_score(task: str) -> None:
    found = records(clip_run(), task)
    assert len(found) == documents(task)
    assert {record["status"] for record in found} == {"scores"}
    if "retrieve" not in task:
        for record in found:
            best = max(record["scores"])
            assert (record["scores"][record["answer"]] == best) == (record["chosen"] == record["answer"])
    assert values(clip_run(), task)["tie_rate"] == 0


def test_a_dual_encoder_reads_text_alone_and_other_models_a_prompt() -> None:
    (sample, *_) = clip_run()["samples"]["figlang_mini_irfl_match_idiom"]
    assert sample["arguments"][0] == rows.text(sample["doc"])
    (sample, *_) = random_run()["samples"]["figlang_mini_irfl_match_idiom"]
    prompt = sample["arguments"][0]
    assert prompt != rows.text(sample["doc"]) and rows.text(sample["doc"]) in prompt


def test_precision_is_what_the_scores_say() -> None:
    by_row: dict[str, list[tuple[float, bool]]] = {}
    for record in records(clip_run(), "irfl_retrieve_metaphor"):
        by_row.setdefault(record["row"], []).append((record["value"], record["positive"]))
    shares = []
    for images in by_row.values():
        count = sum(positive for _, positive in images)
        shares.append(sum(positive for _, positive in sorted(images, reverse=True)[:count]) / count)
    assert values(clip_run(), "irfl_retrieve_metaphor")["p@k"] == pytest.approx(sum(shares) / len(shares))


@pytest.mark.parametrize("task", IN_WORDS)
def test_the_demo_model_takes_every_prompt(task: str) -> None:
    """It was never trained on several pictures: what it says names none of them, and that is no choice."""
    found = records(demo_run(), task)
    assert len(found) == (8 if "retrieve" in task else 4)
    chosen = sum(record["status"] == "read" for record in found)
    assert values(demo_run(), task)["parse_rate"] == chosen / len(found)


class Words(lmms):
    """A class of a user's: what it can do, nobody knows; it answers in words."""

    def generate_until(self, requests: list[Any]) -> list[str]:
        return ["B"] * len(requests)

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise NotImplementedError

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise NotImplementedError


@pytest.mark.parametrize("model", ["llava_hf", "vllm", Words()])
def test_a_model_of_words_is_not_matched(model: Any) -> None:
    """It is refused before it is loaded: the checkpoint is not there, and vLLM not even installed."""
    name = model if isinstance(model, str) else "this model"
    with pytest.raises(FigLangError, match=f"task figlang_mini_irfl_match_idiom: .*{name} answers in words. Use"):
        demo_runs.evaluate("figlang_mini_irfl_match_idiom", model, "pretrained=there/is_none")


class Numbers(Words):
    """A class of a user's that declares to give scores: no task file knows it."""

    answers_score_requests = ("match",)

    def generate_until(self, requests: list[Any]) -> list[str]:
        assert all(request.args[1][score_requests.KEY] == {"kind": "match"} for request in requests)
        self.read = [request.args[0] for request in requests]
        return [score_requests.answer(range(len(request.args[2](self._doc(request))))) for request in requests]

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
    names = ["figlang_mini_irfl_match_idiom", "figlang_mini_irfl_random4_metaphor"]
    model = kind()
    results = demo_runs.evaluate(names, model, as_model="my_numbers" if given == "name" else None, limit=2)
    for name in names:
        (first, second) = results["samples"][name]
        assert first["sample"]["scores"] == second["sample"]["scores"] == [0, 1, 2, 3]
        options = {"prompt": prompt}
        assert first["arguments"][0] == task_of.doc_to_text(first["doc"], options) in model.read


def test_a_class_of_scores_alone_is_not_asked_for_words() -> None:
    with pytest.raises(FigLangError, match="this model: task figlang_mini_irfl_detect_idiom asks for an answer in w"):
        demo_runs.evaluate("figlang_mini_irfl_detect_idiom", OnlyNumbers())


def asks_for_scores(folder: Path, model: str) -> str:
    """A user's task file with a line for a class of their own; returns the folder as the harness takes it."""
    (folder / "mine.yaml").write_text(
        f"include: {plugin.tasks_dir()}/mini/irfl/figlang_mini_irfl_match_idiom.yaml\ntask: mine\n"
        f"model_specific_generation_kwargs: {{{model}: {{figlang_score: {{kind: match}}}}}}\n"
    )
    return str(folder)


@pytest.mark.parametrize("model", ["llava_hf", "default"])
def test_a_class_that_is_known_to_give_no_scores_is_not_asked(model: str, tmp_path: Path) -> None:
    asked = "llava_hf" if model == "default" else model
    with pytest.raises(
        FigLangError, match=f"task mine: it asks {asked} for scores .*, and this class answers in words"
    ):
        demo_runs.evaluate("mine", asked, "pretrained=there/is_none", include_path=asks_for_scores(tmp_path, model))


def test_words_of_a_class_that_is_asked_for_scores_are_a_failure(tmp_path: Path) -> None:
    """And so are saved ones: what they are is known when they are read."""
    notes.noted()
    told = ["irfl_match: answers without matching scores have no accuracy, see the log"]
    folder = asks_for_scores(tmp_path, "my_words")
    results = demo_runs.evaluate("mine", Words(), include_path=folder, as_model="my_words", saved=tmp_path / "run")
    assert not any(name.startswith("acc") for name in demo_runs.metrics(results, "mine"))
    assert notes.noted() == told
    demo_runs.evaluate("mine", "figlang_replay", f"samples={tmp_path / 'run'}", include_path=folder)
    assert notes.noted() == told


def test_any_model_ranks_by_its_yes() -> None:
    name = "figlang_mini_irfl_retrieve_metaphor"
    results = demo_runs.evaluate(name, "figlang_vlm", demo_runs.DEMO, limit=12)  # whole rows
    found = records(results, "irfl_retrieve_metaphor")
    assert {record["status"] for record in found} == {"scores"}
    assert all(0 < record["value"] < 1 for record in found)
    assert values(results, "irfl_retrieve_metaphor")["tie_rate"] == 0


def test_other_data_is_no_cache_hit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The prompts stay the same when an answer moves, so the data has to stand in what the cache knows a task by."""
    name = "figlang_mini_irfl_detect_idiom"
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    shutil.copytree(mini.IRFL_DIR, tmp_path / "figlang_mini_irfl")
    table = tmp_path / "figlang_mini_irfl" / "idiom_detection_task.csv"

    def run() -> tuple[str, int]:
        results = demo_runs.evaluate(name, "figlang_random", "", use_cache=str(tmp_path / "cache"))
        with sqlite3.connect(tmp_path / "cache" / "figlang_0.db") as connection:
            (stored,) = connection.execute("SELECT COUNT(*) FROM answers").fetchone()
        return results["configs"][name]["metadata"]["data"], stored

    first = run()
    assert run() == first  # all from the cache
    lines = table.read_bytes().splitlines(keepends=True)
    table.write_bytes(b"".join([lines[0], *lines[2:], lines[1]]))
    data, stored = run()
    assert data != first[0]
    assert stored == 2 * first[1] > 0
