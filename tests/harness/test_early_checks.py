"""Mistakes on the command line of ``lmms_eval`` that are told before anything large is imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from figlang_tasks.core.errors import FigLangError
from figlang_tasks.harness.command_checks import check_output_path
from figlang_tasks.harness.early_checks import check_command_line
from figlang_tasks.mini import DEMO_MODEL_DIR

MINI = "--tasks figlang_mini"
RANDOM = f"{MINI} --model figlang_random"
VLM = f"{MINI} --model figlang_vlm --model_args"

FILES = {
    "file": "",
    "broken.yaml": "model: [figlang_random\n",
    "empty.yaml": "",
    "misspelt.yaml": "- {tasks: figlang_mini, modle: figlang_random}\n- {limit: many}\n",
    "wrong.yaml": "{model: figlang_vml, tasks: figlang_mini, limit: -2}\n",
    "own/own.yaml": "task: own\ninclude: [_nosuch.yaml]\n",
    "own/torn.yaml": "task: [torn\n",
    "own/data.yaml": "- not\n- a task\n",
}

MISTAKES = {
    "--modle=x --taks y": ["no option --modle (did you mean", "no option --taks (did you mean"],
    "--tasks=mme,vflut,irfl_mtch --model dummy": [
        "no task 'vflut' (did you mean `vflute`",
        "no task 'irfl_mtch' (did you mean `irfl_match`",
    ],
    "--model figlang_random": ["name a task with --tasks NAME"],
    "--tasks irfl,nycc --model figlang_random": [
        "irfl is a benchmark, no task: `figlang tasks irfl` lists its tasks",
        "nycc is a benchmark, no task: `figlang tasks nycc` lists its tasks",
    ],
    MINI: ["name a model class with --model NAME"],
    f"{MINI} --model figlang_vml": ["no model class 'figlang_vml' (did you mean `figlang_vlm`"],
    f"{MINI} --model openai_compatble": ["no model class 'openai_compatble' (did you mean `openai"],
    f"{MINI} --model hf": ["no model class 'hf': it is a class of the command lm_eval"],
    f"{VLM} pretraned=gpt2": ["figlang_vlm: unknown argument pretraned (did you mean `pretrained`"],
    f"{VLM} pretrained=gpt2,devise=cpu": [
        "figlang_vlm: unknown argument devise (did you mean `device`"
    ],
    f"{VLM} pretrained": ["--model_args pretrained: must be NAME=VALUE,NAME=VALUE"],
    f"{VLM} pretrained=./nosuch": ["figlang_vlm: there is no folder ./nosuch (pretrained=)"],
    f"{VLM} device=cpu": ["figlang_vlm: the model is missing: --model_args pretrained="],
    f"{MINI} --model qwen2_5_vl --model_args pretrained=/no/such": [
        "qwen2_5_vl: there is no folder /no/such"
    ],
    f"{MINI} --model figlang_clip --model_args pretrained=x,sead=1": [
        "figlang_clip: unknown argument sead; valid: pretrained, revision"
    ],
    f"{MINI} --model figlang_probe": ["figlang_probe: the probe is missing"],
    f"{MINI} --model figlang_probe --model_args probe=x": ["figlang_probe: there is no folder x"],
    f"{MINI} --model figlang_openai --model_args model=m": ["figlang_openai: no key for the"],
    f"{MINI} --model figlang_openai --model_args api_key=k,base_ulr=u": [
        "figlang_openai: unknown argument base_ulr (did you mean `base_url`"
    ],
    f"{RANDOM} --log_samples": ["--log_samples and --predict_only need --output_path FOLDER"],
    f"{RANDOM} --predict_only": ["--log_samples and --predict_only need --output_path FOLDER"],
    f"{RANDOM} --output_path file/out/put": ["--output_path file/out/put: Not a directory"],
    f"{RANDOM} --output_path a,b": ["--output_path a,b: lmms-eval cannot read a path with a comma"],
    # The harness would read the hub's token as a part of the name.
    f"{RANDOM} --output_path o'brien": ["--output_path o'brien: lmms-eval cannot read a path"],
    f"{RANDOM} --output_path 2024": [
        "--output_path 2024: lmms-eval takes it for no text. Write ./"
    ],
    f"{RANDOM} --limit 0 --offset -1": ["--limit 0: must be a number", "--offset -1: must be"],
    f"{RANDOM} --limit abc": ["argument --limit: invalid float value: 'abc'"],
    f"{RANDOM} --limit": ["argument --limit: expected one argument"],
    f"{RANDOM} --num_fewshot 2": ["--num_fewshot is no option of task figlang_mini"],
    "--config nosuch.yaml": ["--config nosuch.yaml: No such file or directory"],
    "--config broken.yaml": ["--config broken.yaml is not valid YAML: while parsing"],
    "--config empty.yaml": ["--config empty.yaml: must have options with values"],
    "--config misspelt.yaml": [
        "--config misspelt.yaml: no option modle (did you mean `model`",
        "--config misspelt.yaml: limit: 'many' must be a number",
    ],
    "--config wrong.yaml": ["no model class 'figlang_vml'", "--limit -2: must be a number"],
    "--config wrong.yaml --model figlang_random": ["--limit -2: must be a number"],
    "--tasks own/own.yaml --model figlang_random": ["{folder}/own/own.yaml includes _nosuch.yaml"],
    f"{RANDOM} --include_path own": [
        "{folder}/own/own.yaml includes _nosuch.yaml, and there is no such file",
        "{folder}/own/torn.yaml is not valid YAML",
    ],
    f"{RANDOM} --include_path nosuch": ["--include_path nosuch: there is no such folder"],
    "--tasks vflute,figlang_mini --model figlang_random --limit -1.5": [
        "--limit -1.5: must be a number",
        "task vflute: ColumbiaNLP/V-FLUTE@",
    ],
    "--tasks nykms_mc --model figlang_random": ["task nykms_mc: NYK-MS is not on the hub"],
}
"""The beginnings of the messages, by the options of a command."""

SCRIPT = """
import io, json, sys
from contextlib import redirect_stderr
from figlang_tasks.cli import lmms_eval
outcomes = {}
for options in json.load(sys.stdin):
    sys.argv = ["lmms_eval", *options.split()]
    with redirect_stderr(io.StringIO()) as errors:
        try:
            lmms_eval.main()
            code = 0
        except SystemExit as ended:
            code = ended.code
    large = {"torch", "lmms_eval", "transformers", "datasets", "numpy"} & set(sys.modules)
    outcomes[options] = [code, errors.getvalue(), sorted(large)]
print(json.dumps(outcomes))
"""


class Outcome(NamedTuple):
    """How a command ended.

    Attributes:
        code: of ``sys.exit``: a status, or a message, which the interpreter prints, with status 1.
        errors: what it has written to standard error.
        large_modules: names of large modules that are imported.
    """

    code: int | str
    errors: str
    large_modules: list[str]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the mistakes need."""
    folder = tmp_path_factory.mktemp("mistakes").resolve()
    for name, content in FILES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(content, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def outcomes(folder: Path) -> dict[str, Outcome]:
    """The outcome of each mistake, one after the other in a Python that has imported nothing."""
    environment = {"HF_HOME": f"{folder}/hub", "HF_HUB_OFFLINE": "1"}
    for name, setting in os.environ.items():
        if not name.startswith(("HF_", "FIGLANG_", "OPENAI_")):
            environment[name] = setting
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        input=json.dumps(list(MISTAKES)),
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    outcome_by_options: dict[str, list[Any]] = json.loads(done.stdout)
    return {options: Outcome(*outcome) for options, outcome in outcome_by_options.items()}


@pytest.mark.parametrize("options", MISTAKES)
def test_a_mistake_is_told_before_anything_large_is_imported(
    options: str, folder: Path, outcomes: dict[str, Outcome]
) -> None:
    code, errors, large_modules = outcomes[options]
    messages = code if isinstance(code, str) else errors
    lines = [line.removeprefix("figlang_tasks: ") for line in messages.splitlines()]
    beginnings = [text.replace("{folder}", str(folder)) for text in MISTAKES[options]]
    assert [line[: len(text)] for line, text in zip(lines, beginnings, strict=True)] == beginnings
    # A value of a wrong type is wrong usage, as for the harness's own parser.
    assert isinstance(code, str) or code == 2
    assert large_modules == []


def test_a_refused_command_has_written_nothing(folder: Path, outcomes: dict[str, Outcome]) -> None:
    assert outcomes
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert {str(path.relative_to(folder)) for path in files} == set(FILES)
    assert {path.name for path in folder.iterdir() if path.is_dir()} == {"own"}


@pytest.mark.parametrize(
    "options",
    [
        "eval",
        "--tui",
        "--power-analysis --effect-size 0.1",
        "--tasks list",
        f"eval {RANDOM} --limit .5 --offset 2",
        f"{RANDOM} --limit -1 --gen_kwargs temperature=0,until=['a','b']",
        "--tasks mme,vflute,no_task_like_this --model dummy",
        "--tasks vflut --include_path . --model dummy",
        f"{VLM} pretrained={DEMO_MODEL_DIR},max_pixels=100,size={{'height':1,'width':2}}",
        f"{MINI} --model llava_hf --max_batch_size 8",
        f"{MINI} --model figlang_random --model_args seed=3,max_batch_size=2",
        f"{MINI} --model figlang_openai --model_args model_version=m,base_url=u,api_key=k",
        f"{MINI} --model qwen2_5_vl --model_args pretrained=Qwen/Qwen2.5-VL-7B,any_argument=1",
        f"{MINI} --model llama_vision --model_args pretrained={DEMO_MODEL_DIR}/config.json",
        f"{MINI} --model vllm --model_args pretrained=s3://bucket/models/qwen",
        f"{MINI} --model vita --model_args pretrained=~",
    ],
)
def test_what_may_be_right_is_left_to_the_harness(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    check_command_line(options.split())


def test_a_folder_of_data_without_some_files_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such a run once imported everything for half a minute, and then named one file."""
    folder = tmp_path / "IRFL"
    folder.mkdir()
    (folder / "idiom_detection_task.csv").touch()
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    options = "--model figlang_random --tasks irfl_detect_idiom,irfl_detect_simile,flute".split()
    with pytest.raises(FigLangError) as refusal:
        check_command_line(options)
    message = (
        f"{folder} has no IRFL_images.zip, simile_detection_task.csv: `figlang data check irfl`"
    )
    assert f"tasks irfl_detect_idiom, irfl_detect_simile: {message}" in str(refusal.value)
    for name in ("IRFL_images.zip", "simile_detection_task.csv"):
        (folder / name).touch()
    check_command_line([*options[:3], "irfl_detect_idiom,irfl_detect_simile"])


def test_the_model_classes_of_another_package_are_unknown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their names stand in its code, which is not imported: the harness decides."""
    options = f"{MINI} --model figlang_vml".split()
    with pytest.raises(FigLangError, match="no model class 'figlang_vml'"):
        check_command_line(options)
    package = tmp_path / "other-1.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1.0\n")
    (package / "entry_points.txt").write_text("[lmms_eval.models]\nother = no_module:manifests\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    check_command_line(options)


def test_a_configuration_sets_options_and_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Options of the line come first, and variables of the file may hold a key and a folder."""
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path / "nosuch"))
    config = tmp_path / "config.yaml"
    content = "model: figlang_openai\ntasks: vflute\nlimit: -3\nmodel_args: {model_version: m}\n"
    config.write_text(content)
    arguments = ["--config", str(config)]
    with pytest.raises(FigLangError) as raised:
        check_command_line(arguments)
    messages = str(raised.value)
    assert "--limit -3" in messages
    assert "no key for the server" in messages
    assert "FIGLANG_DATA_DIR" in messages
    config.write_text(f"{content}env: {{OPENAI_API_KEY: k, FIGLANG_DATA_DIR: /data}}\n")
    check_command_line([*arguments, "--limit", "3"])


def test_a_tracker_in_python_may_have_a_folder_that_no_command_can_name(tmp_path: Path) -> None:
    check_output_path(str(tmp_path / "a, b's"))
    assert list(tmp_path.iterdir()) == []
