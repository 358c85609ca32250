"""FLUTE in lm-eval: the command line, the same numbers as in lmms-eval, one scoring, failures that cost no run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

import lm_eval
import pytest
import torch
import typer.testing
import warm
from demo_runs import evaluate
from flute_rows import released_shape, write_lines
from hub_server import HubServer
from lm_eval.api.instance import Instance
from lm_eval.api.model import LM
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager
from lmms_eval.api.model import lmms
from lmms_eval.evaluator import simple_evaluate
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

import figlang_tasks
from figlang_tasks import FigLangError, mini
from figlang_tasks.cli.figlang import app
from figlang_tasks.cli.tasks import folder
from figlang_tasks.results import runs
from figlang_tasks.scoring import evaluation, explanations

TASKS = ("figlang_mini_flute", "figlang_mini_flute_v1")


@pytest.fixture(autouse=True)
def nothing_kept() -> Iterator[None]:
    yield
    explanations.release()
    evaluation.forget()


@pytest.fixture(scope="module", autouse=True)
def machine_is_not_described() -> Iterator[None]:
    """lm-eval describes it in its results, after it has asked pip and others for more than a second."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("torch.utils.collect_env.get_pretty_env_info", str)
        yield


# --- the same answers in both harnesses ------------------------------------------------------------------------------


def answer(prompt: str, number: int) -> str:
    """What is right, what is partly so, what is wrong, what has no explanation, what no label, and nothing."""
    (row,) = [row for row in raw_rows() if f'"{row["premise"]}"' in prompt and f'"{row["hypothesis"]}"' in prompt]
    explanation, part = row["explanation"], row["explanation"][: 10 + 2 * number]
    if "contradict each other" in prompt:
        return (f"Yes. {explanation}", "No.", "Yes.", f"Yes. {part}", f"{explanation} Who knows.", "")[number % 6]
    right = "Entails." if row["label"] == "Entailment" else "Contradicts."
    return (
        f"{right} {explanation}",
        f"{right} {part}",
        f"Contradicts. A kettle \u2028🫖 number {number} of no meaning.",
        "Entails.",
        f"{explanation} I would not say which it is.",
        "",
    )[number % 6]


@lru_cache(maxsize=1)
def raw_rows() -> tuple[dict[str, Any], ...]:
    lines = (mini.FLUTE_DIR / "train.jsonl").read_text(encoding="utf-8").split("\n")[:-1]
    return tuple(json.loads(line) for line in lines)


class InLmEval(LM):
    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        for request in requests:  # of prompt v2 or v1
            assert request.args[1]["until"] in (['\n\nDoes the sentence "'], ['\n\nDo the sentences "'])
        return [answer(request.args[0], request.doc_id or 0) for request in requests]

    def loglikelihood(self, requests: list[Instance], disable_tqdm: bool = False) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")

    def loglikelihood_rolling(self, requests: list[Instance], disable_tqdm: bool = False) -> list[float]:
        raise AssertionError("no task of ours asks for it")


class InLmmsEval(lmms):
    def generate_until(self, requests: list[Any]) -> list[str]:
        return [answer(request.args[0], request.args[3]) for request in requests]

    def generate_until_multi_round(self, requests: list[Any]) -> list[str]:
        raise AssertionError("no task of ours asks for it")

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        raise AssertionError("no task of ours asks for it")


def in_lm_eval(model: Any = None, tasks: tuple[str, ...] = TASKS, **arguments: Any) -> dict[str, Any]:
    manager = TaskManager(include_path=str(folder("lm_eval")), include_defaults=False)
    results = lm_eval.simple_evaluate(
        model=model or InLmEval(), tasks=list(tasks), task_manager=manager, bootstrap_iters=0, **arguments
    )
    assert results is not None
    return dict(results)


def told(results: dict[str, Any], task: str) -> dict[str, Any]:
    return dict(results["configs"][task]["metric_list"][0]["figlang_tasks"])


def numbers(results: dict[str, Any], task: str) -> dict[str, float]:
    found = {name.partition(",")[0]: value for name, value in results["results"][task].items()}
    return {name: value for name, value in found.items() if isinstance(value, float) and "_stderr" not in name}


@pytest.fixture(scope="module")
def both() -> dict[str, dict[str, Any]]:
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FIGLANG_SCORER", raising=False)  # so that the tasks' own choice decides
        by_lmms = simple_evaluate(
            model=InLmmsEval(),
            tasks=[*TASKS],
            task_manager=figlang_tasks.task_manager(include_defaults=False),
            bootstrap_iters=0,
        )
        assert by_lmms is not None
        return {"lm_eval": in_lm_eval(), "lmms_eval": by_lmms}


@pytest.mark.parametrize("task", TASKS)
def test_the_same_answers_give_the_same_numbers(task: str, both: dict[str, dict[str, Any]]) -> None:
    one, other = numbers(both["lm_eval"], task), numbers(both["lmms_eval"], task)
    assert one == other
    assert {"acc@0", "acc@50", "explanation_score", "parse_disagreement"} <= set(one)
    assert 0 < one["acc@60"] < one["acc@50"] < one["acc@0"] == one["acc"] < 1


@pytest.mark.parametrize("task", TASKS)
def test_the_same_records_and_prompts(task: str, both: dict[str, dict[str, Any]]) -> None:
    def task_prompt(sample: dict[str, Any]) -> str:
        first = sample["arguments"][0]  # lm-eval: the arguments of each request; lmms-eval: of the one request
        return first if isinstance(first, str) else first[0]

    def records(harness: str) -> dict[str, Any]:
        found = {}
        for sample in both[harness]["samples"][task]:
            record = dict(sample["sample"])
            record.pop("explanation_scores", None)
            found[record["id"]] = (record, task_prompt(sample), sample["target"])
        return found

    assert records("lm_eval") == records("lmms_eval")
    assert len(records("lm_eval")) == 32


def test_lm_evals_results_say_what_was_read_and_what_scored(both: dict[str, dict[str, Any]]) -> None:
    for task in TASKS:
        found = told(both["lm_eval"], task)
        metadata = both["lmms_eval"]["configs"][task]["metadata"]
        assert {name: metadata[name] for name in found if name != "versions"} | {"versions": found["versions"]} == found
        assert found["versions"] == {"figlang-tasks": figlang_tasks.__version__}
        assert found["explanation_scorer"].startswith("embedded")
        assert (found["data"].partition(":")[0], found["data_revision"]) == ("figlang_mini_flute/train", "package")


# --- scoring in lm-eval ----------------------------------------------------------------------------------------------


def test_without_a_scorer_the_other_numbers_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FIGLANG_SCORER", "off")
    results = in_lm_eval(tasks=TASKS[:1], limit=12)
    assert results["results"][TASKS[0]]["acc@50,none"] is None
    assert set(numbers(results, TASKS[0])) == {"acc@0", "acc", "parse_rate", "parse_disagreement"}
    assert told(results, TASKS[0])["explanation_scorer"] == "none (acc@0 counts labels alone)"


def test_without_the_weights_of_the_scorer_no_run_begins(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "deberta-large-mnli").mkdir()
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    monkeypatch.setenv("FIGLANG_SCORER", "flute22")
    with pytest.raises(SystemExit, match=r"explanations cannot be scored: .*FIGLANG_SCORER=off.*figlang score"):
        in_lm_eval(tasks=TASKS[:1], limit=2)


def test_examples_by_the_harness_are_refused() -> None:
    with pytest.raises(SystemExit, match="--num_fewshot is no option of our tasks.*nycc_match_description_5shot"):
        in_lm_eval(tasks=TASKS[:1], limit=2, num_fewshot=2)


class InTurns(InLmEval):
    """With a chat template."""

    tokenizer_name = "turns"

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        return "".join(f"<{turn['role']}>{turn['content']}</>" for turn in chat_history)

    def chat_template(self, chat_template: bool | str = False) -> str:
        return "turns"


def saved_by_lm_eval(folder: Path, **arguments: Any) -> Path:
    tracker = EvaluationTracker(output_path=str(folder))
    results = in_lm_eval(tasks=TASKS[:1], evaluation_tracker=tracker, **arguments)
    samples = results.pop("samples")
    tracker.save_results_aggregated(results, samples)
    tracker.save_results_samples(TASKS[0], samples[TASKS[0]])
    return folder


def test_runs_with_and_without_a_chat_template_are_told_apart_and_replayed(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    plain = saved_by_lm_eval(tmp_path / "plain", limit=6)
    turns = saved_by_lm_eval(tmp_path / "turns", limit=6, model=InTurns(), apply_chat_template=True)
    told = [typer.testing.CliRunner().invoke(app, ["cite", str(path)]).stdout for path in (plain, turns)]
    one, other = (text.partition("\n")[0].split("|") for text in told)
    sha = hashlib.sha256(b"turns").hexdigest()
    assert set(one) ^ set(other) == {"template:none", f"template:{sha}"}
    assert f"figlang-tasks:{figlang_tasks.__version__}" in one
    for path in (plain, turns):
        reported = runs.read(str(path)).results["results"][TASKS[0]]
        again = evaluate(TASKS[0], "figlang_replay", f"samples={path}", limit=6)["results"][TASKS[0]]
        assert (again["acc,none"], again["parse_rate,none"]) == (reported["acc,none"], reported["parse_rate,none"])
        assert 0 < again["acc,none"] < 1
    assert not [message for message in warnings_of_loguru if "another prompt" in message]


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A causal language model of one layer with random weights, and a tokenizer trained here on the mini data."""
    target = tmp_path_factory.mktemp("tiny")
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<s>", "</s>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator([" ".join(map(str, row.values())) for row in raw_rows()], trainer)
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", pad_token="</s>")
    fast.save_pretrained(target)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=400, hidden_size=32, intermediate_size=64, num_hidden_layers=1, num_attention_heads=2,
        max_position_embeddings=1024, bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    LlamaForCausalLM(config).save_pretrained(target)
    return target


@pytest.mark.slow
def test_lm_eval_by_the_documented_command(tiny_model: Path, tmp_path: Path) -> None:
    """One process: FLUTE from the hub stand-in, as JSON lines, and the mini set."""
    repository = tmp_path / "repository"
    write_lines(repository / "train.jsonl", released_shape())
    (repository / "README.md").write_text("# stand-in\n")
    with HubServer() as server:
        commit = server.add_repo("ColumbiaNLP/FLUTE", repository)
        environment = server.env(home=tmp_path) | {
            "FIGLANG_SCORER": "embedded",
            "CUDA_VISIBLE_DEVICES": "",
        }
        environment.pop("FIGLANG_DATA_DIR", None)
        tasks = warm.run(["figlang", "tasks", "--path", "lm_eval"], cwd=tmp_path, env=environment).stdout.strip()
        command = (
            f"lm_eval --include_path {tasks} --tasks flute,figlang_mini_flute_v1 --model hf "
            f"--model_args pretrained={tiny_model},dtype=float32 --device cpu --batch_size 8 --limit 8 "
            "--gen_kwargs max_gen_toks=24 --log_samples --output_path out"
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
    assert reported["acc@0,none"] == reported["acc,none"]
    assert results["n-samples"]["flute"] == {"original": 1500, "effective": 8}
    assert runs.read(str(file)).tasks["flute"].signature == signature
    # `figlang score` reads lm-eval's samples files, too.
    (samples,) = tmp_path.glob("out/*/samples_flute_*.jsonl")
    command_line = ["score", str(samples), "--scorer", "embedded", "-o", str(tmp_path / "again")]
    result = typer.testing.CliRunner().invoke(app, command_line)
    assert result.exit_code == 0, result.output
    again = runs.read(str(tmp_path / "again")).tasks["flute"]
    assert again.signature == signature and again.cut == "limit 8"
    assert "acc_official" in again.reported  # not in lm-eval's table
    for name, scopes in again.reported.items():
        if name == "acc_official":
            continue
        assert scopes["all"].value == pytest.approx(reported[f"{name},none"], abs=1e-6), name
    assert json.loads((tmp_path / "again" / file.name).read_text())["results"]["flute"].keys() == reported.keys()


@pytest.mark.parametrize(
    ("base", "options", "message"),
    [
        ("flute/_base.yaml", "dataset: figlang_mini_flute, part: train, promt: v1", "promt .*valid: dataset, part"),
        ("flute/_base.yaml", "dataset: figlang_mini_flute", "lacks part"),
        ("flute/_base.yaml", "dataset: figlang_mini_flute, part: train, prompt: v3", "prompt='v3' of a FLUTE task"),
        ("flute/_base.yaml", "dataset: figlang_mini_flute, part: train, num_fewshot: 4", "rows of the part rest"),
        ("nykms/nykms_mc_text.yaml", "dataset: figlang_mini_nykms, question: mc, modality: image", "show pictures"),
        ("nykms/nykms_mc_text.yaml", "dataset: figlang_mini_nykms, modality: text", "lacks question"),
        ("nykms/nykms_mc_text.yaml", "dataset: figlang, question: mc", "unknown dataset"),
    ],
)
def test_options_of_a_task_are_checked(base: str, options: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"include: {folder('lm_eval')}/{base}\ntask: mine\ndataset_kwargs: {{{options}}}\n")
    # Arguments of the model come in the same bag, and are no slips.
    manager = TaskManager(
        include_path=str(tmp_path), include_defaults=False, metadata={"pretrained": "x", "dtype": "y"}
    )
    with pytest.raises(FigLangError, match=f"figlang_tasks: .*{message}"):
        manager.load(["mine"])


def test_arguments_of_the_model_and_a_bare_off_are_taken(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(
        f"include: {folder('lm_eval')}/mini/figlang_mini_flute.yaml\ntask: mine\n"
        "dataset_kwargs: {dataset: figlang_mini_flute, part: train, scorer: off}\n"
    )
    metadata = {"pretrained": "x", "dtype": "y", "trust_remote_code": True, "parallelize": True, "path": "z"}
    manager = TaskManager(include_path=str(tmp_path), include_defaults=False, metadata=metadata)
    task = manager.load(["mine"])["tasks"]["mine"]
    assert set(task.dataset["test"]["scorer"]) == {"off"}


def test_every_kind_of_backend_gets_settings_that_it_takes() -> None:
    """vLLM makes its sampling parameters, and servers get as their request, all that lm-eval does not know."""
    from lm_eval.models.openai_completions import LocalCompletionsAPI
    from lm_eval.models.utils import normalize_gen_kwargs

    manager = TaskManager(include_path=str(folder("lm_eval")), include_defaults=False)
    task = manager.load(["figlang_mini_flute"])["tasks"]["figlang_mini_flute"]
    settings = dict(task.config.generation_kwargs)
    known = {"max_gen_toks": 128, "do_sample": False, "temperature": 0.0, "until": ['\n\nDoes the sentence "']}
    assert normalize_gen_kwargs(settings) == settings == known
    server = LocalCompletionsAPI(base_url="http://localhost", model="m", tokenizer_backend=None)
    request = server._create_payload(["x"], generate=True, gen_kwargs=settings, eos="</s>")
    assert set(request) == {"prompt", "model", "max_tokens", "temperature", "stop", "seed"}
    assert (request["max_tokens"], request["temperature"], request["stop"]) == (
        128,
        0,
        ['\n\nDoes the sentence "', "</s>"],
    )
