"""What each benchmark promises, on the data of the package, through the harness: each promise of
every task.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import demo_runs
import lm_eval
import pytest
import tiny_models
from demo_runs import DEMO, AnswersByDocument, mini_tasks
from lm_eval.tasks import TaskManager
from lm_eval.tasks._yaml_loader import load_yaml
from lmms_eval import utils
from lmms_eval.tasks import get_task_dict
from PIL import Image

from figlang_tasks.core import blocks, score_requests
from figlang_tasks.core.benchmark import parse_request, source_of
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.models.baselines import chance_answers_of

FILES = {
    path.stem: path
    for path in sorted((tasks_dir() / "mini").rglob("*.yaml"))
    if path.name[0] != "_"
}
CONFIGS = {name: utils.load_yaml_config(str(path)) for name, path in FILES.items()}
TASKS = [name for name, config in CONFIGS.items() if "group" not in config]
BY_SCORE = [
    name for name in TASKS if blocks.SCORES in CONFIGS[name]["model_specific_generation_kwargs"]
]
# LLaVA's boxes: 0 to 1
IN_WORDS = [name for name in TASKS if not name.endswith("_localize") and "_match_" not in name]
RIGHT = {"acc", "p@1", "em", "mc_acc", "sc_acc", "mw_em", "sw_em"}
"""Measures that are 1 for a right answer."""


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """METEOR and SPICE would take minutes."""
    monkeypatch.setenv("PATH", "")


@cache
def task(name: str) -> Any:
    manager = demo_runs.task_manager(mini_tasks(), "figlang_random")
    return get_task_dict([name], manager, "simple")[name]


def docs(name: str, count: int = 6) -> list[Any]:
    return list(task(name).test_docs())[:count]


# --- without a model ---


@pytest.mark.parametrize("name", TASKS)
def test_the_reference_is_judged_right_and_every_answer_by_chance_is_read(name: str) -> None:
    judge = CONFIGS[name]["process_results"]
    for doc in docs(name):
        answers, label = chance_answers_of(task(name))(doc)
        assert label in answers
        target = answers[label] if "candidates" in doc else CONFIGS[name]["doc_to_target"](doc)
        judged = judge(doc, [target.splitlines()[0] if "references" in doc else target])
        numbers = [judged[metric] for metric in RIGHT & judged.keys() if judged[metric] is not None]
        assert "_match_" in name or all(number == 1 for number in numbers)
        if len(answers) > 1 and "_match_" not in name:
            assert {judge(doc, [answer])["sample"]["status"] for answer in answers.values()} == {
                "read"
            }


ENDLESS = "[" * 5000
OUTPUTS = ["", "none of them", "\ud800", ENDLESS, '{"a":' * 3000, "\x00 <script>", "Yes\n" * 20_000]
OUTPUTS += [
    f'{{"scores": {each}}}' for each in ("[NaN]", "[1e999, 1]", "[1, 2]", "[" + "9" * 400 + "]")
]


@pytest.mark.parametrize("name", TASKS)
def test_no_output_stops_the_judging(name: str) -> None:
    (doc,) = docs(name, 1)
    for output in OUTPUTS:
        record = CONFIGS[name]["process_results"](doc, [output])["sample"]
        assert (record["id"], record["data"]) == (doc["id"], doc["data"])
        assert output or record.get("status") != "read"


@pytest.mark.parametrize(
    "name", [*TASKS, *(name for name in demo_runs.MINI_TASKS if name != "mini_sg")]
)
def test_chat_and_simple_prompts_ask_the_same(name: str) -> None:
    """The text is one; where it marks the places of pictures they stand there, else before it."""
    asked = task(name)
    options = asked.lmms_eval_specific_kwargs
    (doc,) = docs(name, 1)
    pictures, text = (
        asked.config.doc_to_visual(doc, options),
        asked.config.doc_to_text(doc, options),
    )
    parts = [
        part for turn in asked.config.doc_to_messages(doc, options) for part in turn["content"]
    ]
    shown = [part["url"] for part in parts if part["type"] == "image"]
    assert [each.tobytes() for each in shown] == [each.tobytes() for each in pictures]
    assert all(isinstance(each, Image.Image) and each.mode == "RGB" for each in shown)
    if "<image>" in text:
        assert text.count("<image>") == len(shown)
    told = "".join(part.get("text", "") for part in parts)
    assert "".join(text.replace("<image>", "").split()) == "".join(told.split())


# --- by chance, by the demo model, by a dual encoder ---


@lru_cache(maxsize=1)
def by_chance() -> dict[str, Any]:
    return demo_runs.evaluate(TASKS, "figlang_random", "seed=1")


@pytest.mark.parametrize("name", TASKS)
def test_every_document_is_judged_and_every_value_lies_in_its_interval(name: str) -> None:
    results, loaded = by_chance(), CONFIGS[name]
    benchmark, request = parse_request(loaded["dataset_name"])
    kind = benchmark.task_for(request)
    records = [sample["sample"] for sample in results["samples"][name]]
    assert {(record["task"], record["request"]) for record in records} == {
        (kind.name, str(request))
    }
    assert [record["id"] for record in records] == benchmark.documents(request, check_images=True)[
        "id"
    ][:]
    metadata = results["configs"][name]["metadata"]
    assert {record["data"] for record in records} == {metadata["data"]}
    assert metadata["data_revision"] == "package" or metadata["data"].endswith(
        f":{metadata['data_revision']}"
    )
    assert all(
        entry["aggregation"].task.measures is kind.measures for entry in loaded["metric_list"]
    )
    assert [entry["metric"] for entry in loaded["metric_list"]] == [
        entry["metric"] for entry in kind.metric_list
    ]
    for found in demo_runs.estimates(results, name).values():
        assert (found.low is None) == (found.high is None)
        assert (
            found.low is None
            or found.high is None
            or found.low - 1e-9 <= found.value <= found.high + 1e-9
        )
    shown = [
        value for value in demo_runs.metrics(results, name).values() if isinstance(value, float)
    ]
    assert shown and not any(map(math.isnan, shown))


@lru_cache(maxsize=2)
def by_the_demo_model(force_simple: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"configs": {}, "samples": {}, "results": {}}
    for limit, ranked in ((4, False), (6, True)):  # a limit has to leave a whole row
        names = [name for name in IN_WORDS if ("irfl_retrieve" in name) == ranked]
        run = demo_runs.evaluate(
            names, "llava_hf", f"{DEMO},device=cpu,device_map=cpu", limit=limit,
            gen_kwargs="max_new_tokens=2", force_simple=force_simple,
        )  # fmt: skip
        found = {key: found[key] | run[key] for key in found}
    return found


@pytest.mark.parametrize("name", IN_WORDS)
def test_a_model_of_words_takes_every_prompt_in_a_chat_and_as_text(name: str) -> None:
    for force_simple in (False, True):
        found = by_the_demo_model(force_simple)["samples"][name]
        assert len(found) in (4, 6)
        assert all(
            sample["sample"].get("status") not in ("scores", "no_scores") for sample in found
        )


@lru_cache(maxsize=1)
def by_clip(checkpoint: Path) -> dict[str, Any]:
    return demo_runs.evaluate(BY_SCORE, "figlang_clip", f"pretrained={checkpoint},device=cpu")


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("clip"))


@pytest.mark.parametrize("name", BY_SCORE)
def test_a_dual_encoder_chooses_the_highest_score(name: str, clip: Path) -> None:
    for sample in by_clip(clip)["samples"][name]:
        record, scores = sample["sample"], score_requests.read_answer(sample["resps"][0][0])
        assert record["status"] == "scores" and scores
        if "chosen" in record:
            assert record["chosen"] == (
                None if scores.count(max(scores)) > 1 else scores.index(max(scores))
            )
        else:
            assert scores == [record["value"]]


# --- the other harness ---


TEXT_TASKS = tasks_dir().parent / "lm_eval"
TEXT_FILES = sorted(
    path
    for path in TEXT_TASKS.rglob("*.yaml")
    if path.name[0] != "_" and "group" not in load_yaml(path)
)


@pytest.mark.parametrize("path", TEXT_FILES, ids=lambda path: path.stem)
def test_a_task_of_lm_eval_asks_and_counts_as_its_namesake(path: Path) -> None:
    one, other = load_yaml(path), utils.load_yaml_config(str(next(tasks_dir().rglob(path.name))))
    for key in ("task", "output_type", "test_split", "doc_to_text", "doc_to_target"):
        assert one[key] == other[key], key
    names = [task["process_results"].__name__ for task in (one, other)]
    assert names == ["lm_eval_process_results", "process_results"]
    benchmark, request = parse_request(other["dataset_name"])
    metadata = benchmark.metadata(source_of(request.dataset))
    if "num_shots" in (options := other["lmms_eval_specific_kwargs"]["default"]):
        metadata["num_fewshot"] = options["num_shots"]
    assert one["metadata"] == metadata
    lists = [
        {row["metric"]: row["higher_is_better"] for row in each["metric_list"]}
        for each in (one, other)
    ]
    assert lists[0] == lists[1]
    for theirs, ours in (("max_gen_toks", "max_new_tokens"), ("until", "until")):
        assert one["generation_kwargs"][theirs] == other["generation_kwargs"][ours]
    parameters = {key: str(value) for key, value in one["dataset_kwargs"].items()}
    assert Request.of(parameters.pop("dataset"), **parameters) == request


@pytest.mark.parametrize(
    "name", sorted(path.stem for path in TEXT_TASKS.rglob("figlang_mini_*.yaml"))
)
def test_the_same_answers_give_the_same_numbers_in_lm_eval(name: str) -> None:
    ours = by_chance()
    results = lm_eval.simple_evaluate(
        model=AnswersByDocument(demo_runs.answers(ours, name)),
        tasks=[name],
        task_manager=TaskManager(include_path=str(TEXT_TASKS), include_defaults=False),
        bootstrap_iters=0,
    )
    assert results is not None
    expected = {
        key: value
        for key, value in demo_runs.metrics(ours, name).items()
        if isinstance(value, float)
    }
    assert {key: results["results"][name][key] for key in expected} == expected
    records = [[sample["sample"] for sample in run["samples"][name]] for run in (ours, results)]
    assert [record | {"scorer": None} for record in records[0]] == [
        record | {"scorer": None} for record in records[1]
    ]
    prompts = [sample["arguments"][0][0] for sample in results["samples"][name]]
    assert prompts == [sample["arguments"][0] for sample in ours["samples"][name]]
