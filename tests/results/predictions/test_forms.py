"""Predictions in the form of each tool have the values of the same answers in a harness's run."""

from __future__ import annotations

import csv
import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from figlang_tasks.core.errors import RunError
from figlang_tasks.results.explanation_scores import ScorerChoice
from figlang_tasks.results.predictions.forms import read_predictions
from figlang_tasks.results.predictions.prediction import ColumnNames, PredictionFile
from figlang_tasks.results.predictions.scored_run import ScoringOptions, score_predictions
from figlang_tasks.results.task_run import Run
from figlang_tasks.scoring.task_file import TaskFile
from figlang_tasks.submit import every_eval_ever

FIXTURES = Path(__file__).parent / "fixtures"
TASK = "figlang_mini_flute"
HELM = "helm/flute:model=acme_parrot-1b"


class Form(NamedTuple):
    """A fixture.

    Attributes:
        file: its name.
        form: as the command tells it.
        rows: how many of the 32 rows it answers, from the first one.
        repeats: how many answers it has for each of them.
        key: what rows are found by.
        model: that it names.
    """

    file: str
    form: str
    rows: int = 32
    repeats: int = 1
    key: str = "id"
    model: str | None = None


INSPECT_MODEL = "hf/acme/parrot-1b"
FORMS = [
    Form("answers.csv", "CSV"),
    Form("inspect.eval", "inspect_ai", model=INSPECT_MODEL),
    Form("inspect_epochs.eval", "inspect_ai", 16, 2, model=INSPECT_MODEL),
    Form("inspect_limit.json", "inspect_ai", 8, model=INSPECT_MODEL),
    Form("inspect_without_ids.eval", "inspect_ai", key="row number", model=INSPECT_MODEL),
    # The converter leaves the organization out.
    Form("every_eval_ever_samples.jsonl", "Every Eval Ever", 16, 2, model="hf/parrot-1b"),
    Form(HELM, "HELM", key="row number", model="acme/parrot-1b"),
    Form("vlmevalkit_FLUTE.xlsx", "Excel", key="row number"),
    Form("vlmevalkit_FLUTE.tsv", "TSV", key="row number"),
    Form("lm_eval_samples_figlang_mini_flute.jsonl", "samples of lm-eval", 16),
    Form("lm_eval_predict_only_samples_figlang_mini_flute.jsonl", "samples of lm-eval", 16),
    Form("lm_eval_own_filters_samples_own_nli.jsonl", "samples of lm-eval", 12),
    Form("lm_eval_own_repeats_samples_own_nli.jsonl", "samples of lm-eval", 16, 2),
    Form("lmms_eval_samples_figlang_mini_flute.jsonl", "samples of lmms-eval"),
    Form("lmms_eval_repeats_samples_figlang_mini_flute.jsonl", "samples of lmms-eval", 14, 2),
    Form(
        "lmms_eval_predict_only_samples_figlang_mini_flute.jsonl",
        "samples of lmms-eval",
        key="row number",
    ),
    Form("lmms_eval_own_samples_own_nli.jsonl", "samples of lmms-eval", key="row number"),
    Form(
        "lmms_eval_own_repeats_samples_own_nli.jsonl",
        "samples of lmms-eval",
        repeats=2,
        key="row number",
    ),
]


@lru_cache(maxsize=1)
def flute() -> TaskFile:
    return TaskFile.read(TASK)


def read(path: Path) -> PredictionFile:
    return read_predictions(path, ColumnNames(), TASK)


def scored(file: PredictionFile, scorer: str = "off") -> Run:
    """The run of a file, of the rows that it answers."""
    options = ScoringOptions(missing_rows="partial", scorer=ScorerChoice(name=scorer))
    return score_predictions(file, flute(), options).run


def csv_of_answers(path: Path, rows: int, repeats: int) -> Path:
    """Write a CSV file with the answers that the fixtures have."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "output"])
        lines = (FIXTURES / "answers.jsonl").read_text(encoding="utf-8").splitlines()
        for line in lines[:rows]:
            answers = json.loads(line)
            writer.writerows([answers["id"], output] for output in answers["outputs"][:repeats])
    return path


def saved_values(name: str) -> dict[str, Any]:
    """The values that the harness's own run of the fixture had."""
    values: dict[str, Any] = json.loads((FIXTURES / f"{name}_values.json").read_text())
    return values


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.file)
def test_a_form_has_the_records_and_values_of_the_same_answers_in_csv(
    form: Form, tmp_path: Path
) -> None:
    file = read(FIXTURES / form.file)
    assert (file.form, file.model) == (form.form, form.model)
    assert len(file.predictions) == form.rows * form.repeats
    run = scored(file)
    rows_found_by = run.tasks[TASK].config["metadata"]["predictions"]["rows_found_by"]
    assert rows_found_by == form.key
    expected = scored(read(csv_of_answers(tmp_path / "a.csv", form.rows, form.repeats)))
    if form.form != "Excel":  # which has no empty texts: an answer "" is missing there
        assert run.tasks[TASK].records == expected.tasks[TASK].records
    assert run.tasks[TASK].reported == expected.tasks[TASK].reported


def test_a_run_in_memory_has_the_digest_of_the_file_that_it_is_saved_as(tmp_path: Path) -> None:
    run = scored(read(csv_of_answers(tmp_path / "a.csv", rows=3, repeats=1)))
    run.save(tmp_path / "run")
    (samples,) = (tmp_path / "run").glob("*.jsonl")
    assert run.tasks[TASK].sha256 == hashlib.sha256(samples.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("name", "rows", "repeats"), [("lmms_eval", 32, 1), ("lmms_eval_repeats", 14, 2)]
)
def test_answers_in_csv_have_the_values_of_a_run_of_lmms_eval(
    name: str, rows: int, repeats: int, tmp_path: Path
) -> None:
    run = scored(read(csv_of_answers(tmp_path / "a.csv", rows, repeats)), "embedded")
    values = run.tasks[TASK].config["metadata"]["measures"]["values"]
    expected = saved_values(name)["values"]
    assert list(values) and set(values) == set(expected)
    # Scores of two processes may differ in the sixth digit, those of labels do not.
    explanation_scores = values.pop("explanation_score")
    expected_scores = expected.pop("explanation_score")
    assert values.keys() == expected.keys()
    for metric, estimate_by_scope in expected.items():
        assert values[metric].keys() == estimate_by_scope.keys()
        for scope, estimate in estimate_by_scope.items():
            # The last digit of a limit is that of a version of SciPy.
            assert values[metric][scope] == pytest.approx(estimate, rel=1e-9), (metric, scope)
    assert explanation_scores["all"] == pytest.approx(expected_scores["all"], abs=2e-6)


def test_answers_in_csv_have_the_values_of_a_run_of_lm_eval(tmp_path: Path) -> None:
    run = scored(read(csv_of_answers(tmp_path / "a.csv", rows=16, repeats=1)), "embedded")
    reported = run.tasks[TASK].reported
    expected = saved_values("lm_eval")
    values = {metric: reported[metric]["all"].value for metric in expected}
    assert values == pytest.approx(expected, abs=2e-6)


def test_what_we_write_for_every_eval_ever_is_read_again(tmp_path: Path) -> None:
    run = scored(read(FIXTURES / "answers.csv"))
    paths = every_eval_ever.write([run], tmp_path, "Acme", "third_party", "acme/parrot-1b")
    (path,) = [path for path in paths if path.suffix == ".jsonl"]
    file = read(path)
    assert (file.form, file.model, file.task) == ("Every Eval Ever", "acme/parrot-1b", TASK)
    assert scored(file).tasks[TASK].records == run.tasks[TASK].records


def test_failures_in_a_sheet_of_vlmevalkit_are_no_answers(tmp_path: Path) -> None:
    sheet = tmp_path / "FLUTE.tsv"
    lines = (FIXTURES / "vlmevalkit_FLUTE.tsv").read_text(encoding="utf-8").splitlines()
    row_before_output = lines[1].split("\t")[:3]
    lines[1] = "\t".join([*row_before_output, "Failed to obtain answer via API."])
    # The fixture has no quotes that span lines in its first rows.
    sheet.write_text("\n".join(lines[:3]) + "\n", encoding="utf-8")
    records = scored(read(sheet)).tasks[TASK].records
    assert [record["status"] for record in records] == ["empty", "read"]


def test_fixtures_are_small() -> None:
    for path in FIXTURES.rglob("*"):
        assert path.is_dir() or path.stat().st_size < 50_000, path


def test_settings_of_generation_are_those_in_the_file() -> None:
    assert read(FIXTURES / "inspect.eval").settings == {"max_tokens": 64, "temperature": 0.5}
    assert read(FIXTURES / HELM).settings["max_tokens"] == 64
    settings = read(FIXTURES / "lm_eval_own_repeats_samples_own_nli.jsonl").settings
    assert settings == {"until": ["</s>"], "max_new_tokens": 64}


def test_the_right_answer_in_a_sheet_of_vlmevalkit_is_never_the_output(tmp_path: Path) -> None:
    for suffix in ("tsv", "xlsx"):
        file = read(FIXTURES / f"vlmevalkit_FLUTE.{suffix}")
        assert file.columns == {"row number": "index", "output": "prediction"}
        outputs = {prediction.output for prediction in file.predictions}
        assert not outputs & {"Entailment", "Contradiction"}
    sheet = tmp_path / "FLUTE.tsv"
    sheet.write_text("index\tquestion\tanswer\n0\tDoes it?\tEntailment\n")
    with pytest.raises(RunError, match=r"answer may be the right answer.*--output 'answer'"):
        read(sheet)


def test_numbers_of_other_rows_are_told_by_the_prompts(tmp_path: Path) -> None:
    """HELM numbers training instances too, and a harness may have another split."""
    content = json.loads((FIXTURES / HELM / "scenario_state.json").read_text(encoding="utf-8"))
    for state in content["request_states"]:
        number = int(state["instance"]["id"].removeprefix("id"))
        state["instance"]["id"] = f"id{(number + 4) % 32}"
    path = tmp_path / "scenario_state.json"
    path.write_text(json.dumps(content))
    with pytest.raises(RunError, match=r"the prompt of row 4 .* has the texts of row [01] "):
        scored(read(path))


def test_the_form_is_told_by_the_content_and_not_by_the_name(tmp_path: Path) -> None:
    state = tmp_path / "my_answers.json"
    state.write_bytes((FIXTURES / HELM / "scenario_state.json").read_bytes())
    assert read(state).form == "HELM"
    log = tmp_path / "log.zip"
    log.write_bytes((FIXTURES / "inspect.eval").read_bytes())
    assert read(log).form == "inspect_ai"
    table = tmp_path / "scenario_state.json"
    table.write_text('[{"id": "sarcasm-0-1d819c73", "output": "Entails"}]')
    assert read(table).form == "JSON"
    instances = tmp_path / "answers.jsonl"
    instances.write_bytes((FIXTURES / "every_eval_ever_samples.jsonl").read_bytes())
    assert read(instances).form == "Every Eval Ever"
