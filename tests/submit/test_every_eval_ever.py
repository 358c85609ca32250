"""If these fail, files of Every Eval Ever differ from the runs, or its datastore refuses them."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
import subprocess
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import commands
import pytest
from demo_runs import strong_run
from jsonschema import Draft7Validator
from published_runs import records, results, write_run
from typer.testing import Result

from figlang_tasks.core.benchmark import benchmarks, parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.results import measures, runs
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.scoring import Estimate, Measure
from figlang_tasks.submit import (
    ReportedValue,
    SubmissionError,
    every_eval_ever,
    every_eval_ever_metrics,
    hub_source,
    reported_values,
)

SCHEMA = Path(__file__).with_name("every_eval_ever.schema.json")
ABOUT = ("My Lab", "third_party", "me/varied")
# What the datastore wants of a path (README of every_eval_ever 0.3.0).
STEM = re.compile(
    r"data/([\w-]+)/me/varied/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)


@pytest.fixture(scope="module")
def run() -> Run:
    return runs.read(str(strong_run()))


class Dataset(NamedTuple):
    """What was written for one dataset."""

    aggregate: dict[str, Any]
    samples: list[dict[str, Any]]


Written = dict[str, Dataset]
"""By the collection of the datastore."""


def write(run: Run, folder: Path) -> Written:
    """Write the files of a run, and read them."""
    written = {}
    paths = every_eval_ever.write([run], folder, *ABOUT)
    for path in paths:
        if path.suffix != ".json":
            continue
        samples_path = path.with_name(f"{path.stem}_samples.jsonl")
        samples = []
        if samples_path in paths:
            samples = [json.loads(line) for line in samples_path.read_bytes().split(b"\n")[:-1]]
        collection = path.relative_to(folder).parts[1]
        written[collection] = Dataset(json.loads(path.read_text()), samples)
    return written


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files of the run are."""
    return tmp_path_factory.mktemp("every_eval_ever")


@pytest.fixture(scope="module")
def written(run: Run, folder: Path) -> Written:
    return write(run, folder)


def test_every_dataset_has_its_files_where_the_datastore_wants_them(
    run: Run, folder: Path, written: Written
) -> None:
    files_by_stem: Counter[str] = Counter()
    for path in folder.rglob("*.json*"):
        match = STEM.match(str(path.relative_to(folder)))
        if match:
            files_by_stem[match[0]] += 1
    assert set(files_by_stem.values()) == {2}
    assert len(files_by_stem) == len(written)
    assert set(written) == {task.data.dataset for task in run.tasks.values()}


def test_aggregates_hold_what_was_reported(run: Run, written: Written) -> None:
    written_names: set[str] = set()
    for aggregate, _ in written.values():
        assert aggregate["model_info"]["developer"] == "me"
        ids = [result["evaluation_result_id"] for result in aggregate["evaluation_results"]]
        assert len(set(ids)) == len(ids)
        for result in aggregate["evaluation_results"]:
            task_name, name = result["evaluation_result_id"].split("/")
            task = run.tasks[task_name]
            if task.task == "figlang_mini":
                written_names.add(name)
            measure_and_scope = measures.find_measure(name)
            assert measure_and_scope is not None
            measure, scope = measure_and_scope
            assert result["metric_config"]["metric_name"] == measure.name
            check_result(result, task, measure, task.reported[measure.name][scope])
    reported_names = {value.name for value in mini_values(run)}
    assert {"f1@0", "f1@60_muse", "parse_rate"} <= reported_names
    assert written_names == reported_names


def mini_values(run: Run) -> list[ReportedValue]:
    return list(reported_values(run.tasks["figlang_mini"], all_scopes=True))


def check_result(
    result: dict[str, Any], task: TaskRun, measure: Measure, estimate: Estimate
) -> None:
    """Check that a result holds an estimate of a measure, and where it is from."""
    details = result["score_details"]
    assert details["score"] == estimate.value
    assert result["metric_config"]["lower_is_better"] == (not measure.higher_is_better)
    assert ("uncertainty" in details) == (estimate.low is not None)
    if "uncertainty" in details:
        uncertainty = details["uncertainty"]
        interval = uncertainty["confidence_interval"]
        assert interval["lower"] == estimate.low
        assert interval["upper"] == estimate.high
        assert interval["method"] == measure.interval.name
        assert uncertainty["num_samples"] == estimate.rows
        assert uncertainty.get("num_bootstrap_samples") == measure.interval.resamples
    source = result["source_data"]
    assert source["source_type"] == "other"  # figlang_mini is on no hub
    assert source["additional_details"]["figlang_tasks_data"] == str(task.data)
    generation = result["generation_config"]["additional_details"]
    assert generation["samples_sha256"] == task.sha256


def test_aggregates_name_their_samples(folder: Path, written: Written) -> None:
    for aggregate, samples in written.values():
        reference = aggregate["detailed_evaluation_results"]
        content = (folder / reference["file_path"]).read_bytes()
        assert b"\\u" not in content  # text as it is, not in escapes
        assert reference["checksum"] == hashlib.sha256(content).hexdigest()
        assert reference["total_rows"] == len(samples)
        ids = {result["evaluation_result_id"] for result in aggregate["evaluation_results"]}
        assert {sample["evaluation_result_id"] for sample in samples} <= ids
        assert {sample["evaluation_id"] for sample in samples} == {aggregate["evaluation_id"]}


def test_the_files_fit_our_stricter_part_of_the_schema(written: Written) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    aggregate_validator = Draft7Validator({**schema, **schema["aggregate"]})
    sample_validator = Draft7Validator({**schema, **schema["sample"]})
    for aggregate, samples in written.values():
        aggregate_validator.validate(aggregate)
        for sample in samples:
            sample_validator.validate(sample)


def test_samples_average_to_what_was_reported(written: Written) -> None:
    tasks = set()
    for aggregate, samples in written.values():
        reported = {}
        for result in aggregate["evaluation_results"]:
            reported[result["evaluation_result_id"]] = result["score_details"]["score"]
        scores_by_result: dict[str, list[float]] = {}
        for sample in samples:
            evaluation = sample["evaluation"]
            if "is_correct" not in sample["metadata"]:  # which says that it is unknown
                assert evaluation["is_correct"] == (evaluation["score"] == 1)
            scores = scores_by_result.setdefault(sample["evaluation_result_id"], [])
            scores.append(evaluation["score"])
        for result_id, scores in scores_by_result.items():
            tasks.add(result_id.partition("/")[0])
            mean = sum(scores) / len(scores)
            assert reported[result_id] == pytest.approx(mean), result_id
    assert {"figlang_mini", "mini_irfl_match_simile", "figlang_mini_nykms_metaphor"} <= tasks


def test_samples_hold_what_was_read(written: Written) -> None:
    extracted: dict[str, set[str]] = {}
    for _, samples in written.values():
        for sample in samples:
            (attribution,) = sample["answer_attribution"]
            values = extracted.setdefault(sample["evaluation_name"], set())
            values.add(attribution["extracted_value"])
    assert {"0", "1"} <= extracted["figlang_mini"] <= {"0", "1", "null"}
    assert extracted["mini_irfl_match_simile"] <= {*"0123", "null"}


def test_no_two_results_of_a_file_are_of_one_metric_and_evaluation(written: Written) -> None:
    """Who compares sources joins on these two."""
    for aggregate, _ in written.values():
        joined: Counter[tuple[str, str]] = Counter()
        for result in aggregate["evaluation_results"]:
            joined[result["evaluation_name"], result["metric_config"]["metric_id"]] += 1
        assert set(joined.values()) == {1}


def test_every_task_has_its_samples(run: Run, written: Written) -> None:
    rows_by_task: Counter[str] = Counter()
    for _, samples in written.values():
        rows_by_task.update(sample["evaluation_name"] for sample in samples)
    for name, task in run.tasks.items():
        assert rows_by_task[name] == len(task.samples), name


def test_no_answer_is_called_right_by_a_metric_that_does_not_say_so(written: Written) -> None:
    """Boxes and rankings are good or bad together: of one answer it is known that it is one."""
    scores: set[float] = set()
    for sample in written["figlang_mini_metaclue"].samples:
        if sample["evaluation_name"] == "figlang_mini_metaclue_localize":
            assert sample["evaluation_result_id"].endswith("/parse_rate")
            assert sample["evaluation"]["is_correct"] is False
            assert sample["metadata"]["is_correct"].startswith("unknown: ")
            scores.add(sample["evaluation"]["score"])
    assert scores == {0.0, 1.0}


class Registered(NamedTuple):
    """What the registry says of a metric: its bounds (None: unbounded) and its direction."""

    lowest: float | None
    highest: float | None
    lower_is_better: bool


REGISTRY = {
    "accuracy": Registered(0, 1, False),
    "macro-f1": Registered(0, 1, False),
    "exact-match": Registered(0, 1, False),
    "bleu-4": Registered(0, 1, False),
    "rouge-l": Registered(0, 1, False),
    "cider": Registered(0, None, False),
    "fid": Registered(0, None, True),
}
"""Entries of ``seed/metrics.yaml`` of the registry, at the commit that we name."""


def test_metrics_with_an_id_of_the_registry_are_what_it_says() -> None:
    ids = set()
    for measure in measures.all_measures():
        metric_id = every_eval_ever_metrics.metric_id(measure.name)
        if metric_id == f"figlang_tasks.{measure.name}":
            continue
        ids.add(metric_id)
        lowest, highest, lower_is_better = REGISTRY[metric_id]
        bounds = (lowest, math.inf if highest is None else highest)
        assert measure.bounds == bounds, measure.name
        assert measure.higher_is_better != lower_is_better, measure.name
    assert ids == set(REGISTRY)


def test_no_two_metrics_of_a_task_have_one_id() -> None:
    for benchmark in benchmarks().values():
        for task in benchmark.tasks:
            names = {measure.name for measure in task.measures.all}
            ids = {every_eval_ever_metrics.metric_id(name) for name in names}
            assert len(ids) == len(names), task.name


needs_validator = pytest.mark.skipif(
    shutil.which("every_eval_ever") is None,
    reason="the command every_eval_ever (0.3.0, Python 3.12, an environment of its own) is not on"
    " PATH: the files were checked by every_eval_ever.schema.json alone",
)


@needs_validator
def test_the_official_validator_has_no_complaint(folder: Path, written: Written) -> None:
    """Its package needs other versions than ours, so that it runs as a command."""
    paths = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.json*"))
    assert len(paths) == 2 * len(written)
    command = ["every_eval_ever", "validate", "--format", "json", *paths]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [report["warnings"] for report in json.loads(done.stdout)] == [[]] * len(paths)


_PRINT_METRICS = """
import json
from importlib.resources import files
name = "adapters/paperswithcode/registry_snapshot.json"
snapshot = json.loads(files("every_eval_ever").joinpath(name).read_text())
print(snapshot["_meta"]["registry_revision"])
for metric in snapshot["metrics"]:
    fields = [metric["min_score"], metric["max_score"], metric["lower_is_better"]]
    print(json.dumps([metric["id"], *fields]))
"""


@needs_validator
def test_the_registry_says_what_we_believe() -> None:
    command = shutil.which("every_eval_ever")
    assert command is not None
    interpreter = Path(command).resolve().with_name("python")
    done = subprocess.run([interpreter, "-c", _PRINT_METRICS], capture_output=True, text=True)
    revision, *lines = done.stdout.splitlines()
    registry = {}
    for metric_id, *fields in map(json.loads, lines):
        if metric_id in REGISTRY:
            registry[metric_id] = Registered(*fields)
    assert revision == every_eval_ever_metrics.REGISTRY_REVISION
    assert registry == REGISTRY


class WrittenByCommand(NamedTuple):
    """What the command wrote for a run on V-FLUTE.

    Attributes:
        run: the folder of the run.
        output: the folder with the files.
        result: the result of the command.
    """

    run: Path
    output: Path
    result: Result

    def aggregate_file(self) -> Path:
        """The one file of values."""
        (path,) = self.output.rglob("*.json")
        return path

    def aggregate(self) -> dict[str, Any]:
        """The content of the one file of values."""
        content: dict[str, Any] = json.loads(self.aggregate_file().read_text())
        return content


def call_command(run: Path, output: Path, *options: str) -> Result:
    """Call ``figlang submit every-eval-ever`` for a run."""
    organization = ("--organization", "My Lab", "--relationship", "other")
    return commands.figlang("submit", "every-eval-ever", run, "-o", output, *organization, *options)


@pytest.fixture(scope="module")
def on_vflute(tmp_path_factory: pytest.TempPathFactory) -> WrittenByCommand:
    """The files of a run whose data is on the hub."""
    folder = tmp_path_factory.mktemp("on_vflute")
    run = write_run(folder / "run", records(), results())
    return WrittenByCommand(run, folder / "out", call_command(run, folder / "out"))


def test_the_command_names_its_file_and_warns_of_gated_texts(on_vflute: WrittenByCommand) -> None:
    assert f"written: {on_vflute.aggregate_file()}\nto submit: " in on_vflute.result.stdout
    assert "texts of V-FLUTE, which are gated on the hub" in on_vflute.result.stderr
    (samples,) = on_vflute.output.rglob("*_samples.jsonl")
    assert samples.read_bytes().count(b"\n") == 723


def test_an_aggregate_names_model_harness_and_time_and_no_secret(
    on_vflute: WrittenByCommand,
) -> None:
    aggregate = on_vflute.aggregate()
    assert aggregate["evaluation_id"].startswith("v-flute/org/model/")
    model = aggregate["model_info"]
    assert model["id"] == "org/model"  # as --model_args name it
    assert model["additional_details"]["model_class"] == "llava_hf"
    assert model["additional_details"]["model_args"] == "pretrained=org/model,api_key=[REDACTED]"
    assert "hf_secret" not in json.dumps(aggregate)
    assert aggregate["eval_library"]["version"] == "0.7.3"
    assert aggregate["evaluation_timestamp"] == "1795289956"  # 2026-11-21T19:39:16Z


def test_a_result_names_repository_and_commit_of_data_on_the_hub(
    on_vflute: WrittenByCommand,
) -> None:
    first = on_vflute.aggregate()["evaluation_results"][0]
    source = first["source_data"]
    assert source["hf_repo"] == "ColumbiaNLP/V-FLUTE"
    commit = "d920d848e21b6aba96e03704b134c546f89b74f4"
    assert source["additional_details"]["revision"] == commit


def test_a_result_has_the_settings_of_generation(on_vflute: WrittenByCommand) -> None:
    first = on_vflute.aggregate()["evaluation_results"][0]
    arguments = first["generation_config"]["generation_args"]
    assert arguments["max_tokens"] == 256
    assert arguments["temperature"] == 0
    assert "top_p" not in arguments
    expected_details = {
        "model": "llava_hf",
        "model_args": "pretrained=org/model,api_key=[REDACTED]",
        "batch_size": "1",
        "num_beams": "3",
    }
    details = first["generation_config"]["additional_details"]
    assert details.items() >= expected_details.items()


def test_without_samples_the_same_file_of_values_is_written(
    on_vflute: WrittenByCommand, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    shutil.copytree(on_vflute.output, output)
    (samples,) = output.rglob("*_samples.jsonl")
    samples.unlink()
    result = call_command(on_vflute.run, output, "--no-samples")
    assert result.stderr == ""
    assert not samples.exists()
    # The same samples give the same file names.
    path = on_vflute.aggregate_file().relative_to(on_vflute.output)
    assert list(output.rglob("*.json")) == [output / path]


def test_models_that_are_no_folders(run: Run, tmp_path: Path) -> None:
    for model in ("x", "a/b/c", "../b", "data/b", "a/b.", "a b/c", "a/"):
        with pytest.raises(SubmissionError, match="must have the form DEVELOPER/MODEL"):
            every_eval_ever.write([run], tmp_path / "out", "me", "other", model)
    message = "does not name a model as DEVELOPER/MODEL: give it with --model"
    with pytest.raises(SubmissionError, match=message):
        every_eval_ever.write([run], tmp_path / "out", "me", "other")
    assert not (tmp_path / "out").exists()


def test_each_run_may_have_a_model_of_its_own(run: Run, tmp_path: Path) -> None:
    named_run = replace(run, given_name="me/vlm")
    *_, aggregate = every_eval_ever.write([named_run], tmp_path, "me", "other", "you/lm")
    assert "me/vlm" in aggregate.as_posix()
    assert json.loads(aggregate.read_bytes())["model_info"]["id"] == "me/vlm"


@pytest.mark.parametrize(
    ("arguments", "model"),
    [
        ("pretrained=org/model-1.5,dtype=x", "org/model-1.5"),
        ("dtype=x,model_version=org/m", "org/m"),
        ("pretrained=/home/me/model", None),
        ("peft=org/model", None),
    ],
)
def test_the_id_of_a_model(arguments: str, model: str | None) -> None:
    run = Run("run", Path(), {}, {"config": {"model_args": arguments}})
    assert every_eval_ever.model_id(run) == model


@pytest.mark.parametrize(
    ("dataset_name", "data", "revision", "expected"),
    [
        ("FLUTE,part=heldout", "FLUTE/heldout:0123", "local", ("ColumbiaNLP/FLUTE", None)),
        (
            "IRFL,table=idiom-detection-task",
            f"IRFL/x-task@{'b' * 40}:0123",
            None,
            ("lampent/IRFL", "b" * 40),
        ),
        (
            "NYK-MS,question=mc,modality=image",
            "NYK-MS/nyk_m:0123+NewYorkerCaptionContest:4567",
            None,
            (None, None),
        ),
    ],
)
def test_what_a_task_was_evaluated_on(
    dataset_name: str, data: str, revision: str | None, expected: tuple[str | None, str | None]
) -> None:
    record = {"id": "1", "data": data}
    if revision:
        record["revision"] = revision
    benchmark, request = parse_request(dataset_name)
    task = TaskRun(
        task="x",
        path=Path(),
        saved_sha256="",
        kind=benchmark.task_for(request),
        request=request,
        data=DataId.parse(data),
        samples=({"sample": record},),
        reported={},
        config={},
        scorer=None,
        signature=None,
    )
    assert hub_source(task) == expected
