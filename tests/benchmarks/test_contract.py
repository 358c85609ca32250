"""What each benchmark promises, on the data of the package, through the harness: if this fails, a
task breaks a promise that all tasks keep.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

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


def mini_configs() -> dict[str, dict[str, Any]]:
    """The task files on the data of the package, without the groups, by the name of the task."""
    config_by_name: dict[str, dict[str, Any]] = {}
    for path in sorted((tasks_dir() / "mini").rglob("*.yaml")):
        if path.name.startswith("_"):
            continue
        config = utils.load_yaml_config(str(path))
        if "group" not in config:
            config_by_name[path.stem] = config
    return config_by_name


CONFIGS = mini_configs()
TASKS = list(CONFIGS)


def is_by_score(name: str) -> bool:
    """Whether some models answer a task with scores."""
    return blocks.SCORES in CONFIGS[name]["model_specific_generation_kwargs"]


def is_in_words(name: str) -> bool:
    """Whether the model class LLaVA answers a task in words; its boxes go from 0 to 1."""
    return not name.endswith("_localize") and "_match_" not in name


BY_SCORE = [name for name in TASKS if is_by_score(name)]
IN_WORDS = [name for name in TASKS if is_in_words(name)]
TASKS_WITH_REFERENCE = [name for name in TASKS if "_match_" not in name]
METRICS_OF_RIGHT_ANSWERS = {"acc", "p@1", "em", "mc_acc", "sc_acc", "mw_em", "sw_em"}
"""Measures that are 1 for a right answer."""


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    """METEOR and SPICE would take minutes."""
    monkeypatch.setenv("PATH", "")


@cache
def task(name: str) -> Any:
    """A task on the data of the package, as the harness loads it."""
    manager = demo_runs.task_manager(mini_tasks(), "figlang_random")
    return get_task_dict([name], manager, "simple")[name]


def docs(name: str, count: int = 6) -> list[Any]:
    """The first documents of a task."""
    return list(task(name).test_docs())[:count]


# --- without a model ---


@pytest.mark.parametrize("name", TASKS)
def test_the_right_answer_is_one_of_the_answers_by_chance(name: str) -> None:
    chance_answers = chance_answers_of(task(name))
    for doc in docs(name):
        answers, right_label = chance_answers(doc)
        assert right_label in answers


def reference_answer(name: str, doc: dict[str, Any]) -> str:
    """The right answer of a document, as a model would write it."""
    if "candidates" in doc:
        answers, right_label = chance_answers_of(task(name))(doc)
        return str(answers[right_label])
    target: str = CONFIGS[name]["doc_to_target"](doc)
    if "references" in doc:  # one caption a line
        return target.splitlines()[0]
    return target


@pytest.mark.parametrize("name", TASKS_WITH_REFERENCE)
def test_the_reference_is_judged_right(name: str) -> None:
    for doc in docs(name):
        judged = CONFIGS[name]["process_results"](doc, [reference_answer(name, doc)])
        for metric in METRICS_OF_RIGHT_ANSWERS & judged.keys():
            assert judged[metric] in (1, None), metric


@pytest.mark.parametrize("name", TASKS_WITH_REFERENCE)
def test_every_answer_by_chance_is_read(name: str) -> None:
    for doc in docs(name):
        answers, _ = chance_answers_of(task(name))(doc)
        if len(answers) == 1:
            continue
        for answer in answers.values():
            record = CONFIGS[name]["process_results"](doc, [answer])["sample"]
            assert record["status"] == "read", answer


ENDLESS = "[" * 5000
ODD_OUTPUTS = [
    "",
    "none of them",
    "\ud800",
    ENDLESS,
    '{"a":' * 3000,
    "\x00 <script>",
    "Yes\n" * 20_000,
]
for _scores in ("[NaN]", "[1e999, 1]", "[1, 2]", "[" + "9" * 400 + "]"):
    ODD_OUTPUTS.append(f'{{"scores": {_scores}}}')


@pytest.mark.parametrize("name", TASKS)
def test_no_output_stops_the_judging(name: str) -> None:
    (doc,) = docs(name, 1)
    for output in (*ODD_OUTPUTS, reference_answer(name, doc)):
        record = CONFIGS[name]["process_results"](doc, [output])["sample"]
        assert (record["id"], record["data"]) == (doc["id"], doc["data"])
        assert output or record.get("status") != "read"


TASKS_WITH_PROMPTS = [*TASKS, *(name for name in demo_runs.MINI_TASKS if name != "mini_sg")]


@pytest.mark.parametrize("name", TASKS_WITH_PROMPTS)
def test_chat_and_simple_prompts_ask_the_same(name: str) -> None:
    """The texts are the same, and the pictures too, in the same order."""
    (doc,) = docs(name, 1)
    options = task(name).lmms_eval_specific_kwargs
    config = task(name).config
    pictures = config.doc_to_visual(doc, options)
    text = config.doc_to_text(doc, options)

    chat_pictures: list[Image.Image] = []
    chat_text = ""
    for turn in config.doc_to_messages(doc, options):
        for part in turn["content"]:
            chat_text += part.get("text", "")
            if part["type"] == "image":
                chat_pictures.append(part["url"])

    picture_bytes = [picture.tobytes() for picture in pictures]
    assert [picture.tobytes() for picture in chat_pictures] == picture_bytes
    for picture in chat_pictures:
        assert isinstance(picture, Image.Image)
        assert picture.mode == "RGB"
    if "<image>" in text:  # else all pictures stand before the text
        assert text.count("<image>") == len(chat_pictures)
    text_without_marks = text.replace("<image>", "")
    assert "".join(text_without_marks.split()) == "".join(chat_text.split())


# --- by chance, by the demo model, by a dual encoder ---


MOST_ROWS = 100
"""Enough for all rows of each task but one, whose 1,680 would be three quarters of a run."""


@lru_cache(maxsize=1)
def by_chance() -> dict[str, Any]:
    """The results of a model that answers `MOST_ROWS` of each task at random."""
    return demo_runs.evaluate(TASKS, "figlang_random", "seed=1", limit=MOST_ROWS)


def records_by_chance(name: str) -> list[dict[str, Any]]:
    """The records of a task in the run by chance."""
    return [sample["sample"] for sample in by_chance()["samples"][name]]


@pytest.mark.parametrize("name", TASKS)
def test_every_document_is_judged_and_names_task_request_and_data(name: str) -> None:
    benchmark, request = parse_request(CONFIGS[name]["dataset_name"])
    kind = benchmark.task_for(request)
    metadata = by_chance()["configs"][name]["metadata"]
    records = records_by_chance(name)
    documents = benchmark.documents(request, check_images=True)
    assert records
    assert [record["id"] for record in records] == documents["id"][:MOST_ROWS]
    for record in records:
        assert (record["task"], record["request"]) == (kind.name, str(request))
        assert record["data"] == metadata["data"]


@pytest.mark.parametrize("name", TASKS)
def test_the_data_of_a_run_has_its_revision(name: str) -> None:
    metadata = by_chance()["configs"][name]["metadata"]
    revision = metadata["data_revision"]
    assert revision == "package" or metadata["data"].endswith(f":{revision}")


@pytest.mark.parametrize("name", TASKS)
def test_a_task_file_lists_the_metrics_of_its_kind_of_task(name: str) -> None:
    benchmark, request = parse_request(CONFIGS[name]["dataset_name"])
    kind = benchmark.task_for(request)
    entries = CONFIGS[name]["metric_list"]
    metrics = [entry["metric"] for entry in entries]
    assert metrics == [entry["metric"] for entry in kind.metric_list]
    for entry in entries:
        assert entry["aggregation"].task.measures is kind.measures


@pytest.mark.parametrize("name", TASKS)
def test_every_value_lies_in_its_interval(name: str) -> None:
    for estimate in demo_runs.estimates(by_chance(), name).values():
        assert (estimate.low is None) == (estimate.high is None)
        if estimate.low is not None and estimate.high is not None:
            assert estimate.low - 1e-9 <= estimate.value <= estimate.high + 1e-9


@pytest.mark.parametrize("name", TASKS)
def test_the_harness_prints_a_number_for_each_metric_with_a_value(name: str) -> None:
    values: list[float] = []
    for value in demo_runs.metrics(by_chance(), name).values():
        if isinstance(value, float):
            values.append(value)
    assert values
    assert not any(map(math.isnan, values))


@lru_cache(maxsize=2)
def samples_of_the_demo_model(force_simple: bool) -> dict[str, list[dict[str, Any]]]:
    """The samples of each task in words.

    Args:
        force_simple: whether prompts go to the model as text, not as a chat.
    """
    rankings = [name for name in IN_WORDS if "irfl_retrieve" in name]
    other_tasks = [name for name in IN_WORDS if "irfl_retrieve" not in name]
    samples_by_task: dict[str, list[dict[str, Any]]] = {}
    for limit, names in ((2, other_tasks), (6, rankings)):  # 6: a limit has to leave a whole row
        run = demo_runs.evaluate(
            names,
            "llava_hf",
            f"{DEMO},device=cpu,device_map=cpu",
            limit=limit,
            gen_kwargs="max_new_tokens=2",
            force_simple=force_simple,
        )
        samples_by_task.update(run["samples"])
    return samples_by_task


@pytest.mark.parametrize("name", IN_WORDS)
def test_a_model_of_words_takes_every_prompt_in_a_chat_and_as_text(name: str) -> None:
    for force_simple in (False, True):
        samples = samples_of_the_demo_model(force_simple)[name]
        assert len(samples) in (2, 6)
        for sample in samples:
            assert sample["sample"].get("status") not in ("scores", "no_scores")


@lru_cache(maxsize=1)
def by_clip(checkpoint: Path) -> dict[str, Any]:
    """The results of a tiny CLIP on the tasks by score."""
    return demo_runs.evaluate(BY_SCORE, "figlang_clip", f"pretrained={checkpoint},device=cpu")


@pytest.fixture(scope="session")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.write_encoder("clip", tmp_path_factory.mktemp("clip"))


@pytest.mark.parametrize("name", BY_SCORE)
def test_a_dual_encoder_chooses_the_highest_score(name: str, clip: Path) -> None:
    for sample in by_clip(clip)["samples"][name]:
        record = sample["sample"]
        scores = score_requests.read_answer(sample["resps"][0][0])
        assert record["status"] == "scores"
        assert scores
        if "chosen" not in record:
            assert scores == [record["value"]]
        elif scores.count(max(scores)) > 1:
            assert record["chosen"] is None
        else:
            assert record["chosen"] == scores.index(max(scores))


# --- the other harness ---


TEXT_TASKS = tasks_dir().parent / "lm_eval"


def text_files() -> list[Path]:
    """The task files of lm-eval, without the groups."""
    paths: list[Path] = []
    for path in sorted(TEXT_TASKS.rglob("*.yaml")):
        if not path.name.startswith("_") and "group" not in load_yaml(path):
            paths.append(path)
    return paths


class Namesakes(NamedTuple):
    """The task files of a task in both harnesses."""

    lm_eval: dict[str, Any]
    lmms_eval: dict[str, Any]


@pytest.fixture(scope="module", params=text_files(), ids=lambda path: path.stem)
def namesakes(request: pytest.FixtureRequest) -> Namesakes:
    path: Path = request.param
    (lmms_eval_path,) = tasks_dir().rglob(path.name)
    return Namesakes(load_yaml(path), utils.load_yaml_config(str(lmms_eval_path)))


def test_a_task_of_lm_eval_asks_as_its_namesake(namesakes: Namesakes) -> None:
    for key in ("task", "output_type", "test_split", "doc_to_text", "doc_to_target"):
        assert namesakes.lm_eval[key] == namesakes.lmms_eval[key], key
    settings = namesakes.lm_eval["generation_kwargs"]
    settings_of_namesake = namesakes.lmms_eval["generation_kwargs"]
    assert settings["max_gen_toks"] == settings_of_namesake["max_new_tokens"]
    assert settings["until"] == settings_of_namesake["until"]


def test_a_task_of_lm_eval_counts_as_its_namesake(namesakes: Namesakes) -> None:
    functions = [config["process_results"].__name__ for config in namesakes]
    assert functions == ["lm_eval_process_results", "process_results"]
    assert directions(namesakes.lm_eval) == directions(namesakes.lmms_eval)


def directions(config: dict[str, Any]) -> dict[str, bool]:
    """Whether higher is better, by metric."""
    return {entry["metric"]: entry["higher_is_better"] for entry in config["metric_list"]}


def test_a_task_of_lm_eval_has_the_data_and_the_examples_of_its_namesake(
    namesakes: Namesakes,
) -> None:
    benchmark, request = parse_request(namesakes.lmms_eval["dataset_name"])
    parameters: dict[str, str] = {}
    for key, value in namesakes.lm_eval["dataset_kwargs"].items():
        parameters[key] = str(value)
    assert Request.of(parameters.pop("dataset"), **parameters) == request

    metadata = benchmark.metadata(source_of(request.dataset))
    options = namesakes.lmms_eval["lmms_eval_specific_kwargs"]["default"]
    if "num_shots" in options:
        metadata["num_fewshot"] = options["num_shots"]
    assert namesakes.lm_eval["metadata"] == metadata


MINI_TEXT_TASKS = sorted(path.stem for path in TEXT_TASKS.rglob("figlang_mini_*.yaml"))


@cache
def in_lm_eval(name: str) -> dict[str, Any]:
    """The results of lm-eval for the answers that the model by chance gave in lmms-eval."""
    results = lm_eval.simple_evaluate(
        model=AnswersByDocument(demo_runs.answers(by_chance(), name)),
        tasks=[name],
        task_manager=TaskManager(include_path=str(TEXT_TASKS), include_defaults=False),
        bootstrap_iters=0,
    )
    assert results is not None
    return dict(results)


@pytest.mark.parametrize("name", MINI_TEXT_TASKS)
def test_the_same_answers_give_the_same_numbers_in_lm_eval(name: str) -> None:
    values = in_lm_eval(name)["results"][name]
    for metric, value in demo_runs.metrics(by_chance(), name).items():
        if isinstance(value, float):
            assert values[metric] == value, metric

    # The records of both name their own setting of the scorer.
    records = [sample["sample"] for sample in in_lm_eval(name)["samples"][name]]
    for record, record_by_chance in zip(records, records_by_chance(name), strict=True):
        assert {**record, "scorer": None} == {**record_by_chance, "scorer": None}


@pytest.mark.parametrize("name", MINI_TEXT_TASKS)
def test_both_harnesses_ask_with_the_same_prompts(name: str) -> None:
    prompts = [sample["arguments"][0][0] for sample in in_lm_eval(name)["samples"][name]]
    assert prompts == [sample["arguments"][0] for sample in by_chance()["samples"][name]]
