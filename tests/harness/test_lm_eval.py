"""If these fail, FLUTE in lm-eval has other numbers than in lmms-eval, or a mistake costs a run."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import lm_eval
import pytest
import tiny_models
import typer.testing
import warm
from commands import done
from demo_runs import AnswersByDocument
from flute_rows import invented_flute_rows, write_lines
from hub_server import HubServer
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.cli.figlang import app
from figlang_tasks.core.task_files import folder
from figlang_tasks.results import runs


@pytest.fixture(scope="module", autouse=True)
def machine_is_not_described() -> Iterator[None]:
    """Saves the second and more that lm-eval takes to describe the machine in its results."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.utils.collect_env.get_pretty_env_info", str)
        yield


TASK = "figlang_mini_flute"
ANSWERS = ("Entails. A storm is near.", "Contradicts. Fins.", "I would not say which it is.")


def in_lm_eval(
    model: type[AnswersByDocument] = AnswersByDocument, **arguments: Any
) -> dict[str, Any]:
    """The results of lm-eval for a model that gives our answers in turn."""
    manager = TaskManager(include_path=str(folder("lm_eval")), include_defaults=False)
    answers = {number: ANSWERS[number % len(ANSWERS)] for number in range(32)}
    results = lm_eval.simple_evaluate(
        model=model(answers), tasks=[TASK], task_manager=manager, bootstrap_iters=0, **arguments
    )
    assert results is not None
    return dict(results)


def metadata_of(results: dict[str, Any], task: str = TASK) -> dict[str, Any]:
    """What we have written into the results of lm-eval about a task."""
    return dict(results["configs"][task]["metric_list"][0]["figlang_tasks"])


def test_results_name_data_versions_and_readings() -> None:
    metadata = metadata_of(in_lm_eval(limit=12))
    assert metadata["data"].partition(":")[0] == "figlang_mini_flute/train"
    assert metadata["data_revision"] == "package"
    assert metadata["versions"] == {"figlang-tasks": figlang_tasks.__version__}
    assert sum(metadata["readings"]["read"].values()) == 8
    assert metadata["readings"]["left"] == {"unreadable": 4}


def test_each_run_has_the_scorer_that_was_chosen_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first by the task's own choice, the second by the variable."""
    monkeypatch.delenv("FIGLANG_SCORER")
    scored = in_lm_eval(limit=12)
    assert metadata_of(scored)["explanation_scorer"].startswith("embedded")
    assert isinstance(scored["results"][TASK]["acc@50,none"], float)
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    unscored = in_lm_eval(limit=12)
    assert unscored["results"][TASK]["acc@50,none"] is None
    assert unscored["results"][TASK]["acc,none"] == scored["results"][TASK]["acc,none"] > 0
    signature = metadata_of(unscored)["explanation_scorer"]
    assert signature == "none (acc@0 counts labels alone)"


# --- scoring in lm-eval ---


def test_without_the_weights_of_the_scorer_no_run_begins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "deberta-large-mnli").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    monkeypatch.setenv("FIGLANG_SCORER", "flute22")
    with pytest.raises(
        SystemExit, match=r"explanations cannot be scored: .*FIGLANG_SCORER=off.*figlang score"
    ):
        in_lm_eval(limit=2)


def test_examples_by_the_harness_are_refused() -> None:
    with pytest.raises(
        SystemExit, match=r"--num_fewshot is no option of our tasks.*nycc_match_description_5shot"
    ):
        in_lm_eval(limit=2, num_fewshot=2)


class InTurns(AnswersByDocument):
    """With a chat template."""

    tokenizer_name = "turns"

    def apply_chat_template(
        self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True
    ) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}</>" for turn in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        return "turns"


def saved_by_lm_eval(folder: Path, **arguments: Any) -> Path:
    tracker = EvaluationTracker(output_path=str(folder))
    results = in_lm_eval(evaluation_tracker=tracker, **arguments)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples)
    tracker.save_results_samples(TASK, samples[TASK])
    return folder


def test_runs_with_and_without_a_chat_template_are_told_apart_and_scored_again(
    tmp_path: Path,
) -> None:
    plain = saved_by_lm_eval(tmp_path / "plain", limit=6)
    turns = saved_by_lm_eval(tmp_path / "turns", limit=6, model=InTurns, apply_chat_template=True)
    plain_signature = signature_fields(plain)
    turns_signature = signature_fields(turns)
    sha = hashlib.sha256(b"turns").hexdigest()
    assert plain_signature ^ turns_signature == {"template:none", f"template:{sha}"}
    assert f"figlang-tasks:{figlang_tasks.__version__}" in plain_signature
    for path in (plain, turns):
        scored = tmp_path / f"{path.name}_scored"
        printed = done("score", path, "--task", TASK, "--partial", "-o", scored)
        assert "another prompt" not in printed
        values_in_lm_eval = metric_values(runs.read(str(path)).results)
        values = metric_values(runs.read(str(scored)).results)
        assert values_in_lm_eval.items() <= values.items()
        assert 0 < values["v1_acc@60,none"] < values["acc,none"] < 1


def signature_fields(run: Path) -> set[str]:
    """The fields of the signature that ``figlang cite`` prints first."""
    printed = typer.testing.CliRunner().invoke(app, ["cite", str(run)]).stdout
    signature, _, _ = printed.partition("\n")
    return set(signature.split("|"))


def metric_values(results: Mapping[str, Any]) -> dict[str, float]:
    """The values of the metrics in the results of a harness, without standard errors."""
    values: dict[str, float] = {}
    for name, value in results["results"][TASK].items():
        if isinstance(value, float) and "_stderr" not in name:
            values[name] = value
    return values


# --- the command line ---


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_models.write_language_model(tmp_path_factory.mktemp("tiny"))


class DocumentedRun(NamedTuple):
    """What the documented command has left.

    Attributes:
        process: the command.
        folder: where it ran; its files are below ``out``.
        commit: the commit of the data on the hub stand-in.
        requested_paths: what the hub stand-in was asked for.
    """

    process: subprocess.CompletedProcess[str]
    folder: Path
    commit: str
    requested_paths: list[str]

    @property
    def results_file(self) -> Path:
        (file,) = self.folder.glob("out/*/results_*.json")
        return file

    @property
    def results(self) -> dict[str, Any]:
        """The results as lm-eval saved them."""
        return dict(json.loads(self.results_file.read_text()))


@pytest.fixture(scope="module")
def documented_run(tiny_model: Path, tmp_path_factory: pytest.TempPathFactory) -> DocumentedRun:
    """One process: FLUTE from the hub stand-in, as JSON lines, with prompts of both versions."""
    folder = tmp_path_factory.mktemp("documented")
    repository = folder / "repository"
    write_lines(repository / "train.jsonl", invented_flute_rows())
    (repository / "README.md").write_text("# stand-in\n")
    with HubServer() as server:
        commit = server.add_repo("ColumbiaNLP/FLUTE", repository)
        environment = server.env(home=folder) | {"CUDA_VISIBLE_DEVICES": ""}
        path_command = ["figlang", "tasks", "--path", "lm_eval"]
        tasks = warm.run(path_command, cwd=folder, env=environment).stdout.strip()
        command = (
            f"lm_eval --include_path {tasks} --tasks flute,flute_v1 --model hf --model_args"
            f" pretrained={tiny_model},dtype=float32 --device cpu --batch_size 8 --limit 8"
            " --gen_kwargs max_gen_toks=24 --log_samples --output_path out"
        )
        process = warm.run(command.split(), cwd=folder, env=environment)
        requested_paths = [request.path for request in server.requests]
    return DocumentedRun(process, folder, commit, requested_paths)


@pytest.mark.long
def test_the_documented_command_downloads_the_data_and_succeeds(
    documented_run: DocumentedRun,
) -> None:
    process = documented_run.process
    assert process.returncode == 0, process.stdout[-2000:] + process.stderr[-3000:]
    data_path = f"{documented_run.commit}/train.jsonl"
    assert any(data_path in path for path in documented_run.requested_paths)


@pytest.mark.long
def test_the_saved_results_name_data_commit_and_scorer(documented_run: DocumentedRun) -> None:
    metadata = metadata_of(documented_run.results, "flute")
    assert metadata["data"].startswith("FLUTE/heldout:")
    assert metadata["data_revision"] == documented_run.commit
    n_samples = documented_run.results["n-samples"]["flute"]
    assert n_samples == {"original": 1500, "effective": 8}
    signature = runs.read(str(documented_run.results_file)).tasks["flute"].signature
    assert signature == metadata["explanation_scorer"]


@pytest.mark.long
def test_figlang_score_gives_the_numbers_of_lm_eval_for_its_samples(
    documented_run: DocumentedRun, tmp_path: Path
) -> None:
    (samples,) = documented_run.folder.glob("out/*/samples_flute_2*.jsonl")
    command_line = ["score", str(samples), "--scorer", "embedded", "-o", str(tmp_path)]
    result = typer.testing.CliRunner().invoke(app, command_line)
    assert result.exit_code == 0, result.output

    rescored = runs.read(str(tmp_path)).tasks["flute"]
    assert rescored.signature == metadata_of(documented_run.results, "flute")["explanation_scorer"]
    assert rescored.partial == "limit 8"

    values_in_lm_eval = documented_run.results["results"]["flute"]
    rescored_results = json.loads((tmp_path / documented_run.results_file.name).read_text())
    assert rescored_results["results"]["flute"].keys() == values_in_lm_eval.keys()
    scopes_by_metric = dict(rescored.reported)
    assert "acc_official" in scopes_by_metric
    del scopes_by_metric["acc_official"]  # it is not in lm-eval's table
    for metric, scopes in scopes_by_metric.items():
        expected = pytest.approx(values_in_lm_eval[f"{metric},none"], abs=1e-6)
        assert scopes["all"].value == expected, metric


@pytest.mark.parametrize(
    ("base", "options", "message"),
    [
        (
            "flute/flute.yaml",
            "dataset: figlang_mini_flute, part: train, promt: v1",
            "promt .*valid: dataset, part",
        ),
        ("flute/flute.yaml", "dataset: figlang_mini_flute", "lacks part"),
        (
            "flute/flute.yaml",
            "dataset: figlang_mini_flute, part: train, prompt: v3",
            "prompt='v3' of a FLUTE task",
        ),
        (
            "flute/flute.yaml",
            "dataset: figlang_mini_flute, part: train, num_fewshot: 4",
            "rows of the part rest",
        ),
        (
            "nykms/nykms_mc_text.yaml",
            "dataset: figlang_mini_nykms, question: mc, modality: image",
            "show pictures",
        ),
        (
            "nykms/nykms_mc_text.yaml",
            "dataset: figlang_mini_nykms, modality: text",
            "lacks question",
        ),
        ("nykms/nykms_mc_text.yaml", "dataset: figlang, question: mc", "unknown dataset"),
    ],
)
def test_options_of_a_task_are_checked(
    base: str, options: str, message: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(
        f"include: {folder('lm_eval')}/{base}\ntask: mine\ndataset_kwargs: {{{options}}}\n"
    )
    # Arguments of the model come in the same bag, and are no slips.
    manager = TaskManager(
        include_path=str(tmp_path),
        include_defaults=False,
        metadata={"pretrained": "x", "dtype": "y"},
    )
    with pytest.raises(FigLangError, match=f"figlang_tasks: .*{message}"):
        manager.load(["mine"])


def test_arguments_of_the_model_and_a_bare_off_are_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {folder('lm_eval')}/mini/figlang_mini_flute.yaml\ntask: mine\n"
        "dataset_kwargs: {dataset: figlang_mini_flute, part: train, scorer: off}\n"
    )
    metadata = {
        "pretrained": "x",
        "dtype": "y",
        "trust_remote_code": True,
        "parallelize": True,
        "path": "z",
    }
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False, metadata=metadata)
    task = manager.load(["mine"])["tasks"]["mine"]
    assert set(task.dataset["test"]["scorer"]) == {"off"}
