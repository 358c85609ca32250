"""FLUTE in lm-eval: the command line, the same numbers as in lmms-eval, one scoring, failures that
cost no run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import tiny_vlms
import typer.testing
import warm
from demo_runs import evaluate
from flute_rows import released_shape, write_lines
from hub_server import HubServer
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from lm_eval_models import Again

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.cli.figlang import app
from figlang_tasks.core.task_files import folder
from figlang_tasks.results import runs


@pytest.fixture(scope="module", autouse=True)
def machine_is_not_described() -> Iterator[None]:
    """lm-eval describes it in its results, after it has asked pip and others for more than a
    second.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.utils.collect_env.get_pretty_env_info", str)
        yield


TASK = "figlang_mini_flute"
SAID = ("Entails. A storm is near.", "Contradicts. Fins.", "I would not say which it is.")


def in_lm_eval(model: type[Again] = Again, **arguments: Any) -> dict[str, Any]:
    manager = TaskManager(include_path=str(folder("lm_eval")), include_defaults=False)
    said = {number: SAID[number % len(SAID)] for number in range(32)}
    results = lm_eval.simple_evaluate(
        model=model(said), tasks=[TASK], task_manager=manager, bootstrap_iters=0, **arguments
    )
    assert results is not None
    return dict(results)


def told(results: dict[str, Any], task: str = TASK) -> dict[str, Any]:
    return dict(results["configs"][task]["metric_list"][0]["figlang_tasks"])


def test_results_say_what_was_read_and_what_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the task's own choice of a scorer; and each run by the choice of its time."""
    monkeypatch.delenv("FIGLANG_SCORER")
    first = in_lm_eval(limit=12)
    found = told(first)
    assert found["explanation_scorer"].startswith("embedded")
    assert (found["data"].partition(":")[0], found["data_revision"]) == (
        "figlang_mini_flute/train",
        "package",
    )
    assert found["versions"] == {"figlang-tasks": figlang_tasks.__version__}
    assert sum(found["readings"]["read"].values()) == 8 and found["readings"]["left"] == {
        "unreadable": 4
    }
    assert isinstance(first["results"][TASK]["acc@50,none"], float)
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    second = in_lm_eval(limit=12)
    assert second["results"][TASK]["acc@50,none"] is None
    assert second["results"][TASK]["acc,none"] == first["results"][TASK]["acc,none"] > 0
    assert told(second)["explanation_scorer"] == "none (acc@0 counts labels alone)"


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
        SystemExit, match="--num_fewshot is no option of our tasks.*nycc_match_description_5shot"
    ):
        in_lm_eval(limit=2, num_fewshot=2)


class InTurns(Again):
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


def test_runs_with_and_without_a_chat_template_are_told_apart_and_replayed(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    plain = saved_by_lm_eval(tmp_path / "plain", limit=6)
    turns = saved_by_lm_eval(tmp_path / "turns", limit=6, model=InTurns, apply_chat_template=True)
    told = [
        typer.testing.CliRunner().invoke(app, ["cite", str(path)]).stdout for path in (plain, turns)
    ]
    one, other = (text.partition("\n")[0].split("|") for text in told)
    sha = hashlib.sha256(b"turns").hexdigest()
    assert set(one) ^ set(other) == {"template:none", f"template:{sha}"}
    assert f"figlang-tasks:{figlang_tasks.__version__}" in one
    for path in (plain, turns):
        again = evaluate(TASK, "figlang_replay", f"samples={path}", limit=6)
        reported, ours = (
            {
                name: value
                for name, value in found.items()
                if isinstance(value, float) and "_stderr" not in name
            }
            for found in (runs.read(str(path)).results["results"][TASK], again["results"][TASK])
        )
        assert reported == ours and 0 < ours["v1_acc@60,none"] < ours["acc,none"] < 1, (
            "in both harnesses"
        )
    assert not [message for message in warnings_of_loguru if "another prompt" in message]


# --- the command line ---


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_vlms.write_language_model(tmp_path_factory.mktemp("tiny"))


@pytest.mark.long
def test_lm_eval_by_the_documented_command(tiny_model: Path, tmp_path: Path) -> None:
    """One process: FLUTE from the hub stand-in, as JSON lines, with the prompts of both
    versions.
    """
    repository = tmp_path / "repository"
    write_lines(repository / "train.jsonl", released_shape())
    (repository / "README.md").write_text("# stand-in\n")
    with HubServer() as server:
        commit = server.add_repo("ColumbiaNLP/FLUTE", repository)
        environment = server.env(home=tmp_path) | {"CUDA_VISIBLE_DEVICES": ""}
        tasks = warm.run(
            ["figlang", "tasks", "--path", "lm_eval"], cwd=tmp_path, env=environment
        ).stdout.strip()
        command = (
            f"lm_eval --include_path {tasks} --tasks flute,flute_v1 --model hf --model_args"
            f" pretrained={tiny_model},dtype=float32 --device cpu --batch_size 8 --limit 8"
            " --gen_kwargs max_gen_toks=24 --log_samples --output_path out"
        )
        done = warm.run(command.split(), cwd=tmp_path, env=environment)
        asked = [request.path for request in server.requests]
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-3000:]
    assert any(f"{commit}/train.jsonl" in path for path in asked)
    (file,) = tmp_path.glob("out/*/results_*.json")
    results = json.loads(file.read_text())
    reported = results["results"]["flute"]
    assert told(results, "flute")["data"].startswith("FLUTE/heldout:")
    assert told(results, "flute")["data_revision"] == commit
    signature = told(results, "flute")["explanation_scorer"]
    assert results["n-samples"]["flute"] == {"original": 1500, "effective": 8}
    assert runs.read(str(file)).tasks["flute"].signature == signature
    # `figlang score` reads lm-eval's samples files, too.
    (samples,) = tmp_path.glob("out/*/samples_flute_2*.jsonl")
    command_line = ["score", str(samples), "--scorer", "embedded", "-o", str(tmp_path / "again")]
    result = typer.testing.CliRunner().invoke(app, command_line)
    assert result.exit_code == 0, result.output
    again = runs.read(str(tmp_path / "again")).tasks["flute"]
    assert again.signature == signature and again.partial == "limit 8"
    assert "acc_official" in again.reported  # not in lm-eval's table
    for name, scopes in again.reported.items():
        if name == "acc_official":
            continue
        assert scopes["all"].value == pytest.approx(reported[f"{name},none"], abs=1e-6), name
    assert (
        json.loads((tmp_path / "again" / file.name).read_text())["results"]["flute"].keys()
        == reported.keys()
    )


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
