"""If these fail, files of Every Eval Ever say something else than the runs, or its datastore
refuses them.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import commands
import pytest
from jsonschema import Draft7Validator
from published_runs import records, results, write_run
from varied_runs import strong

from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.core.data_id import DataId
from figlang_tasks.results import measures, runs
from figlang_tasks.results.task_run import Run, TaskRun
from figlang_tasks.submit import SubmissionError, every_eval_ever, hub_source, reported_values

SCHEMA = Path(__file__).with_name("every_eval_ever.schema.json")
ABOUT = ("My Lab", "third_party", "me/varied")
# What the datastore wants of a path (README of every_eval_ever 0.3.0).
PLACE = re.compile(
    r"data/([\w-]+)/me/varied/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"
)


@pytest.fixture(scope="module")
def run() -> Run:
    return runs.read(str(strong()))


Written = dict[str, tuple[dict[str, Any], list[dict[str, Any]]]]


def written(run: Run, folder: Path) -> Written:
    """Aggregate and samples by collection."""
    found = {}
    paths = every_eval_ever.write([run], folder, *ABOUT)
    for path in paths:
        if path.suffix == ".json":
            aggregate = json.loads(path.read_text())
            samples = path.with_name(f"{path.stem}_samples.jsonl")
            lines = (
                [json.loads(line) for line in samples.read_bytes().split(b"\n")[:-1]]
                if samples in paths
                else []
            )
            found[path.relative_to(folder).parts[1]] = (aggregate, lines)
    return found


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the files of the run are."""
    return tmp_path_factory.mktemp("every_eval_ever")


@pytest.fixture(scope="module")
def files(run: Run, folder: Path) -> Written:
    return written(run, folder)


def test_every_dataset_has_its_files_where_the_datastore_wants_them(
    run: Run, folder: Path, files: Written
) -> None:
    places = Counter(
        match and match[0]
        for path in folder.rglob("*.json*")
        if (match := PLACE.match(str(path.relative_to(folder))))
    )
    assert set(places.values()) == {2} and len(places) == len(files)
    assert {*files} == {task.data.dataset for task in run.tasks.values()}


def test_aggregates_hold_what_was_reported(run: Run, folder: Path, files: Written) -> None:
    told: dict[str, set[str]] = {}
    for aggregate, lines in files.values():
        for result in aggregate["evaluation_results"]:
            task = run.tasks[result["evaluation_name"]]
            name = result["metric_config"]["metric_name"]
            told.setdefault(task.task, set()).add(name)
            of = measures.find_measure(name)
            assert of is not None
            estimate = task.reported[of[0].name][of[1]]
            config, details = result["metric_config"], result["score_details"]
            assert (details["score"], config["lower_is_better"]) == (
                estimate.value,
                not of[0].higher_is_better,
            )
            assert ("uncertainty" in details) == (estimate.low is not None)
            if (uncertainty := details.get("uncertainty")) is not None:
                ends = uncertainty["confidence_interval"]
                assert (ends["lower"], ends["upper"], ends["method"]) == (
                    *estimate[1:3],
                    of[0].interval.name,
                )
                assert (uncertainty["num_samples"], uncertainty.get("num_bootstrap_samples")) == (
                    estimate.rows, of[0].interval.resamples
                )  # fmt: skip
            assert result["source_data"]["source_type"] == "other"  # figlang_mini is on no hub
            assert result["source_data"]["additional_details"]["figlang_tasks_data"] == str(
                task.data
            )
            assert (
                result["generation_config"]["additional_details"]["samples_sha256"] == task.sha256
            )
        assert aggregate["model_info"]["developer"] == "me"
        ids = [result["evaluation_result_id"] for result in aggregate["evaluation_results"]]
        assert len(set(ids)) == len(ids)
        detail = aggregate["detailed_evaluation_results"]
        content = (folder / detail["file_path"]).read_bytes()
        assert b"\\u" not in content  # text as it is, not in escapes
        assert (detail["checksum"], detail["total_rows"]) == (
            hashlib.sha256(content).hexdigest(),
            len(lines),
        )
        assert {line["evaluation_result_id"] for line in lines} <= set(ids)
        assert {line["evaluation_id"] for line in lines} == {aggregate["evaluation_id"]}
    reported = {name for name, *_ in reported_values(run.tasks["figlang_mini"], all_scopes=True)}
    assert {"f1@0", "f1@60_muse", "parse_rate"} <= reported == told["figlang_mini"]


def test_the_files_fit_our_stricter_part_of_the_schema(files: Written) -> None:
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    of = {part: Draft7Validator({**schema, **schema[part]}) for part in ("aggregate", "sample")}
    for aggregate, lines in files.values():
        of["aggregate"].validate(aggregate)
        for line in lines:
            of["sample"].validate(line)


def test_samples_average_to_what_was_reported(files: Written) -> None:
    seen = set()
    extracted: dict[str, set[str]] = {}
    for aggregate, lines in files.values():
        scores = {each["evaluation_result_id"]: each for each in aggregate["evaluation_results"]}
        by_result: dict[str, list[float]] = {}
        for line in lines:
            by_result.setdefault(line["evaluation_result_id"], []).append(
                line["evaluation"]["score"]
            )
            assert line["evaluation"]["is_correct"] == (line["evaluation"]["score"] == 1)
            (read,) = line["answer_attribution"]
            extracted.setdefault(line["evaluation_name"], set()).add(read["extracted_value"])
        for result, own in by_result.items():
            seen.add(result.partition("/")[0])
            assert scores[result]["score_details"]["score"] == pytest.approx(sum(own) / len(own)), (
                result
            )
    assert {"figlang_mini", "mini_irfl_match_simile", "figlang_mini_nykms_metaphor"} <= seen
    assert {"0", "1"} <= extracted["figlang_mini"] <= {"0", "1", "null"}
    assert extracted["mini_irfl_match_simile"] <= {*"0123", "null"}


def test_the_official_validator_has_no_complaint(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its package needs Python 3.12 and other versions than ours: where somebody has put it on the
    path.
    """
    validate = pytest.importorskip("every_eval_ever.validator.validate")
    paths = every_eval_ever.write([run], tmp_path, *ABOUT)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(
        "sys.argv", ["validate", *(path.relative_to(tmp_path).as_posix() for path in paths)]
    )
    assert validate.main() in (None, 0)


def test_hub_data_generation_and_command(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", records(), results())
    given = ("-o", tmp_path / "out", "--organization", "My Lab", "--relationship", "other")
    result = commands.figlang("submit", "every-eval-ever", run, *given)
    (path,) = (tmp_path / "out").rglob("*.json")
    assert f"written: {path}\nto submit: " in result.stdout
    assert "texts of V-FLUTE, which are gated on the hub" in result.stderr
    aggregate = json.loads(path.read_text())
    (samples,) = (tmp_path / "out").rglob("*_samples.jsonl")
    assert samples.read_bytes().count(b"\n") == 723
    assert aggregate["evaluation_id"].startswith("v-flute/org/model/")
    assert aggregate["model_info"]["id"] == "org/model"  # as --model_args name it
    assert aggregate["model_info"]["additional_details"]["model_class"] == "llava_hf"
    assert "hf_secret" not in json.dumps(aggregate)
    assert aggregate["eval_library"]["version"] == "0.7.3"
    assert aggregate["evaluation_timestamp"] == "1795289956"  # 2026-11-21T19:39:16Z
    assert (
        aggregate["model_info"]["additional_details"]["model_args"]
        == "pretrained=org/model,api_key=[REDACTED]"
    )
    first = aggregate["evaluation_results"][0]
    assert first["source_data"]["hf_repo"] == "ColumbiaNLP/V-FLUTE"
    assert (
        first["source_data"]["additional_details"]["revision"]
        == "d920d848e21b6aba96e03704b134c546f89b74f4"
    )
    arguments = first["generation_config"]["generation_args"]
    assert (arguments["max_tokens"], arguments["temperature"], "top_p" in arguments) == (
        256,
        0,
        False,
    )
    options = {
        "model": "llava_hf",
        "model_args": "pretrained=org/model,api_key=[REDACTED]",
        "batch_size": "1",
    }
    assert (
        first["generation_config"]["additional_details"].items()
        >= (options | {"num_beams": "3"}).items()
    )
    samples.unlink()
    assert commands.figlang("submit", "every-eval-ever", run, *given, "--no-samples").stderr == ""
    # The same samples: the same files
    assert not samples.exists() and [*(tmp_path / "out").rglob("*.json")] == [path]


def test_models_that_are_no_folders(run: Run, tmp_path: Path) -> None:
    for model in ("x", "a/b/c", "../b", "data/b", "a/b.", "a b/c", "a/"):
        with pytest.raises(SubmissionError, match="must have the form DEVELOPER/MODEL"):
            every_eval_ever.write([run], tmp_path / "out", "me", "other", model)
    with pytest.raises(
        SubmissionError, match="does not name a model as DEVELOPER/MODEL: give it with --model"
    ):
        every_eval_ever.write([run], tmp_path / "out", "me", "other")
    assert not (tmp_path / "out").exists()


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
    assert (
        every_eval_ever.model_id(Run("run", Path(), {}, {"config": {"model_args": arguments}}))
        == model
    )


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
    line = {"sample": {"id": "1", "data": data} | ({"revision": revision} if revision else {})}
    benchmark, request = parse_request(dataset_name)
    task = TaskRun(
        task="x",
        path=Path(),
        sha256="",
        kind=benchmark.task_for(request),
        request=request,
        data=DataId.parse(data),
        samples=(line,),
        reported={},
        config={},
        scorer=None,
        signature=None,
    )
    assert hub_source(task) == expected
