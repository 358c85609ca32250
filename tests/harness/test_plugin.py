"""If these fail, the harness does not find our tasks, or a mistake in a command goes unnoticed."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lmms_eval.__main__ as harness_main
import pytest
import warm
from demo_runs import FixedAnswers, evaluate, read_task_files_once
from lmms_eval import evaluator, utils
from lmms_eval.evaluator import simple_evaluate
from lmms_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks import FigLangError
from figlang_tasks.cli import lmms_eval as cli
from figlang_tasks.core import notes
from figlang_tasks.harness import plugin, task_index
from figlang_tasks.harness.preflight import preflight, require_matches

read_task_files_once()

PRINT_REPLACED = """
import importlib.metadata, inspect, sys

entry_points = importlib.metadata.entry_points
importlib.metadata.entry_points = lambda **selection: importlib.metadata.EntryPoints(())
import lmms_eval.__main__, lmms_eval.cli.dispatch, lmms_eval.models
importlib.metadata.entry_points = entry_points

def attributes():
    owners = {}
    for module_name, module in list(sys.modules.items()):
        if module_name.split(".")[0] != "lmms_eval":
            continue
        owners[module_name] = module
        for name, member in vars(module).items():
            if inspect.isclass(member):
                owners[f"{module_name}.{name}"] = member
    values = {}
    for owner_name, owner in owners.items():
        for name, value in list(vars(owner).items()):
            values[f"{owner_name}.{name}"] = value
    return values

before = attributes()
from figlang_tasks.harness import plugin
plugin.register()
after = attributes()
print(sorted(name for name in before if before[name] is not after[name]))
"""


@pytest.mark.slow
def test_three_functions_of_the_imported_harness_are_replaced_and_nothing_else() -> None:
    """In a process that has imported all of it without plugins."""
    done = subprocess.run(
        [sys.executable, "-c", PRINT_REPLACED], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[-3000:]
    replaced = ast.literal_eval(done.stdout.splitlines()[-1])
    names = {full_name.rpartition(".")[2] for full_name in replaced}
    assert names == {"initialize_tasks", "simple_evaluate", "evaluate"}, done.stdout


def test_three_functions_are_replaced_while_the_harness_loads_its_plugins() -> None:
    """As in every command; so it was in this process."""
    replaced: set[tuple[str, str]] = set()
    for owner in (evaluator, utils, TaskManager):
        for name, value in vars(owner).items():
            if hasattr(value, plugin.MARK):
                replaced.add((owner.__name__, name))
    assert replaced == {
        ("lmms_eval.evaluator", "simple_evaluate"),
        ("lmms_eval.evaluator", "evaluate"),
        ("TaskManager", "initialize_tasks"),
    }


@pytest.mark.parametrize("include_defaults", [True, False])
def test_the_users_own_task_of_the_same_name_wins(include_defaults: bool, tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("task: vflute\ndataset_path: json\n")
    manager = figlang_tasks.task_manager(
        include_path=str(tmp_path), include_defaults=include_defaults
    )
    assert "vflute_sg" in manager.all_tasks and ("mme" in manager.all_tasks) is include_defaults
    assert manager.task_index["vflute"]["yaml_path"] == str(tmp_path / "mine.yaml")


def test_a_run_says_which_task_of_two_with_one_name_runs(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    ours = task_index.tasks_dir() / "mini" / "flute" / "figlang_mini_flute.yaml"
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text(f"include: {ours}\ntask: figlang_mini_flute\n")
    evaluate("figlang_mini_flute", FixedAnswers("Entails."), limit=1, include_path=str(tmp_path))
    (warning,) = [line for line in warnings_of_loguru if "in place of our tasks" in line]
    assert f"figlang_mini_flute ({theirs})" in warning
    assert f"include: {ours}" in warning
    warnings_of_loguru.clear()
    evaluate("figlang_mini_flute", FixedAnswers("Entails."), limit=1)
    assert not [line for line in warnings_of_loguru if "in place of our tasks" in line]


def test_members_of_our_groups_that_others_replace_are_named(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs.yaml"
    theirs.write_text("task: nykms_mc_text\ndataset_path: json\n")
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path))
    assert task_index.namesakes(manager, ["nykms_text", "vflute"]) == {"nykms_mc_text": theirs}


def test_our_own_folder_under_another_name_is_no_other(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(task_index.tasks_dir() / "vflute")
    manager = figlang_tasks.task_manager(
        include_defaults=False, include_path=str(tmp_path / "link")
    )
    assert "link" in manager.task_index["vflute"]["yaml_path"]
    assert not task_index.namesakes(manager, ["vflute"])


def test_in_place_of_a_group_its_members_can_run() -> None:
    """A file that includes a group, with another name, would be a task without prompts."""
    text = task_index.namesakes_text({"nykms_text": Path("theirs.yaml")})
    assert "nykms_text (theirs.yaml)" in text
    assert "of our group nykms_text: --tasks nykms_metaphor_text,nykms_sarcasm_text," in text


def test_groups_of_other_people_are_left_in_peace(tmp_path: Path) -> None:
    (tmp_path / "leaf.yaml").write_text("task: leaf\ntag: tagged\ndataset_path: json\n")
    (tmp_path / "python.yaml").write_text("task: python\nclass: !function collections.Counter\n")
    (tmp_path / "outer.yaml").write_text(
        "group: outer\ntask: [{group: inner, task: [leaf, {task: leaf, task_alias: again}]}, outer,"
        " tagged, python]\n"
    )
    names = ["outer", "tagged", "python", "leaf"]
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path))
    preflight(manager, names)
    assert [config["task"] for config in task_index.leaf_configs(manager, names)] == ["leaf"]


def test_a_users_task_that_includes_ours_is_checked(tmp_path: Path) -> None:
    base = task_index.tasks_dir() / "vflute" / "vflute.yaml"
    (tmp_path / "mine.yaml").write_text(
        f"include: {base}\ntask: mine\nlmms_eval_specific_kwargs:\n  default: {{shots: 3}}\n"
    )
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path))
    with pytest.raises(
        FigLangError, match=r"task mine: unknown V-FLUTE task option.*shots; valid: blind"
    ):
        preflight(manager, ["mine"])


def test_a_member_of_a_group_that_does_not_exist_is_named(tmp_path: Path) -> None:
    (tmp_path / "outer.yaml").write_text("group: outer\ntask: [figlang_mini, figlang_mni]\n")
    (tmp_path / "around.yaml").write_text("group: around\ntask: [outer]\n")
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path))
    for name in ("outer", "around"):
        with pytest.raises(
            FigLangError, match=r"group outer: no task 'figlang_mni' \(did you mean `figlang_mini`"
        ):
            preflight(manager, [name])


@pytest.mark.parametrize(
    ("selection", "unmatched"),
    [
        ("figlang_mini,nosuch*", ["nosuch*"]),
        ("nosuch*,*_nothing,figlang_mini*", ["nosuch*", "*_nothing"]),
        ("nosuch*", ["nosuch*"]),
        ("figlang_mini_irfl*, irfl_*", [" irfl_*"]),
        ("nosuch?", ["nosuch?"]),
        ("[xyz]_*", ["[xyz]_*"]),
        ("figlang_mini,*irfl*,a_group*,a_tag*", []),
        ("figlang_mini_irfl", []),
        ("figlang_mini_irfl,", []),
        ("FOLDER", []),
        ("FOLDER/a.yaml,figlang_mini", []),
        ("FOLDER/b.yaml,figlang_mini", ["FOLDER/b.yaml"]),
    ],
)
def test_each_pattern_without_a_task_is_named(
    selection: str, unmatched: list[str], tmp_path: Path
) -> None:
    """The harness leaves it out in silence."""
    (tmp_path / "a.yaml").write_text("task: a_leaf\ntag: a_tag\ndataset_path: json\n")
    (tmp_path / "group.yaml").write_text("group: a_group\ntask: [a_leaf]\n")
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=str(tmp_path))
    selection = selection.replace("FOLDER", str(tmp_path))
    if not unmatched:
        require_matches(selection, manager)
        return
    with pytest.raises(FigLangError) as raised:
        require_matches(selection, manager)
    patterns_in_message = re.findall("no task matches '(.*?)'", str(raised.value))
    assert patterns_in_message == [
        pattern.replace("FOLDER", str(tmp_path)) for pattern in unmatched
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"tasks": ["figlang_mini", "figlang_mni"]},
            r"no task 'figlang_mni' \(did you mean `figlang_mini`",
        ),
        (
            {"model": "figlang_vml"},
            r"no model class 'figlang_vml' \(did you mean `figlang_vlm`.*figlang_clip",
        ),
        ({"model": "hf"}, "no model class 'hf': it is a class of the command lm_eval"),
        (
            {"num_fewshot": 2},
            (
                "--num_fewshot is no option of task figlang_mini.*num_shots, which"
                " .*vflute_5shot.* set"
            ),
        ),
        (
            {"num_fewshot": 2, "tasks": ["irfl_match"]},
            "irfl_match_metaphor.* no task of the benchmark has examples",
        ),
        (
            {"limit": -3, "model": "dumy"},
            r"(?s)no model class 'dumy'.*\nfiglang_tasks: --limit -3: must be",
        ),
    ],
)
def test_the_python_api_checks_its_arguments_before_it_builds_the_model(
    arguments: dict[str, Any], message: str
) -> None:
    manager = figlang_tasks.task_manager(include_defaults=False)
    usual_arguments = {
        "model": "llava_hf",
        "model_args": "pretrained=there_is_no_such_model",
        "tasks": ["figlang_mini"],
    }
    with pytest.raises(FigLangError, match=message):
        simple_evaluate(**{**usual_arguments, **arguments}, task_manager=manager)


def test_each_benchmark_has_a_remedy_of_its_own_for_a_model_of_words() -> None:
    manager = figlang_tasks.task_manager(include_defaults=False)
    tasks = ["irfl_match_idiom", "columbus_match"]
    with pytest.raises(FigLangError) as raised:
        preflight(manager, tasks, model="idefics2", model_args="pretrained=there_is_none")
    columbus, irfl = sorted(str(raised.value).splitlines())
    assert columbus.startswith("figlang_tasks: task columbus_match: it compares scores, but ide")
    assert "asks for words (columbus, columbus_plain)" in columbus
    assert irfl.startswith("figlang_tasks: task irfl_match_idiom: it compares scores, but ide")
    assert "asks for words (irfl_detect_idiom" in irfl
    assert "columbus" not in irfl.replace("task columbus", "")


def test_one_message_names_all_missing_data_of_all_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "V-FLUTE").mkdir()
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    manager = figlang_tasks.task_manager(include_defaults=False)
    tasks = ["vflute", "vflute_5shot", "figlang_mini", "nykms_mc", "metaclue_vqa"]
    with pytest.raises(FigLangError) as raised:
        preflight(manager, tasks)
    lines = str(raised.value).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["figlang_tasks"] * 4
    assert lines[0].startswith(
        "figlang_tasks: tasks vflute, vflute_5shot: V-FLUTE: no file test-*.parquet"
    )
    assert lines[1].startswith("figlang_tasks: task vflute_5shot: V-FLUTE: no file train-*.parquet")
    assert lines[2].startswith("figlang_tasks: task nykms_mc: NYK-MS is not on the hub")
    assert lines[3].startswith("figlang_tasks: task metaclue_vqa: MetaCLUE is not on the hub")


def lmms_eval(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    """Run our command in this process; return its exit status."""
    monkeypatch.setattr(harness_main, "cli_evaluate_single", harness_main.cli_evaluate_single)
    monkeypatch.setattr(sys, "argv", ["lmms_eval", *arguments])
    try:
        cli.main()
    except SystemExit as exit:
        if isinstance(exit.code, str):  # the interpreter prints a message, and ends with status 1
            print(exit.code, file=sys.stderr)
            return 1
        return int(exit.code or 0)
    return 0


def test_lmms_eval_exits_non_zero_when_the_evaluation_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--model", "figlang_random", "--tasks", "figlang_mini", "--limit", "1"]
    assert lmms_eval(monkeypatch, *options, "--apply_chat_template") == 1
    printed = capsys.readouterr()
    assert "'Random' object has no attribute 'chat_template'" in printed.out + printed.err
    assert "an evaluation failed" in printed.err


@pytest.mark.slow
def test_missing_data_is_one_message_and_status_1(tmp_path: Path) -> None:
    (tmp_path / "V-FLUTE").mkdir()
    command = "lmms_eval --tasks vflute --model llava_hf --model_args pretrained=none".split()
    done = warm.run(command, cwd=tmp_path, env=os.environ | {"FIGLANG_DATA_DIR": str(tmp_path)})
    assert done.returncode == 1, done.stderr[-3000:]
    assert "Traceback" not in done.stdout + done.stderr
    message = f"figlang_tasks: task vflute: {tmp_path / 'V-FLUTE'} has no test.csv or test.jsonl or"
    assert sum(line.startswith(message) for line in done.stderr.splitlines()) == 1


def test_lmms_eval_without_tasks_or_with_a_wrong_limit_is_a_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lmms_eval(monkeypatch, "--model", "dummy") == 1
    options = ["--tasks", "figlang_mini", "--model", "dummy", "--limit", "-3"]
    assert lmms_eval(monkeypatch, *options) == 1
    errors = capsys.readouterr().err
    assert errors.endswith("or -1 for all rows\n")
    assert "Traceback" not in errors


def test_lmms_eval_lists_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    assert lmms_eval(monkeypatch, "--tasks", "list") == 0


@pytest.mark.parametrize(
    ("tasks", "message"),
    [
        ("figlang_mini,nosuch*", "no task matches 'nosuch*'"),
        ("nosuch,mme", "Tasks not found: nosuch"),
    ],
)
def test_lmms_eval_with_an_unknown_task_is_a_failure_with_one_message(
    tasks: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert lmms_eval(monkeypatch, "--tasks", tasks, "--model", "figlang_random") == 1
    errors = capsys.readouterr().err
    assert errors.startswith(f"figlang_tasks: {message}. `figlang tasks")
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("answer", "is_failed"),
    [
        (None, True),
        ([{"type": "text", "text": "Yes."}], True),
        # lmms-eval's async_openai
        ('Error: can only concatenate str (not "NoneType") to str', True),
        ('Error: can only concatenate str (not "list") to str', True),
        ("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Connection error.", True),
        ("[LMMS_EVAL_BUDGET_EXCEEDED]", True),
        ("", False),
        ("Error: the picture does not show a mule.", False),
        ('The caption says "Error: can only concatenate str (not "int") to str".', False),
        ('Error: can only concatenate str (not "NoneType") to str. Yes.', False),
    ],
)
def test_which_answers_are_failed_requests(answer: object, is_failed: bool) -> None:
    text = notes.text_of(answer)
    assert notes.is_no_answer(text) is is_failed
    assert is_failed or text == answer
    if isinstance(answer, str):  # in the files of a finished run
        assert notes.is_no_answer(answer) is is_failed


@pytest.mark.parametrize(
    ("program", "run"),
    [
        pytest.param("lmms_eval", warm.run, marks=pytest.mark.slow),
        pytest.param("lmms-eval", warm.run, marks=pytest.mark.slow),
        pytest.param("lmms-eval", warm.run_from_the_start, marks=pytest.mark.long),
        pytest.param("python -m lmms_eval", warm.run_from_the_start, marks=pytest.mark.long),
    ],
)
def test_every_way_to_the_harness_gives_the_same_results(
    program: str, run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    command = f"{program} --tasks figlang_mini --model figlang_random --limit 8 --output_path out"
    done = run(command.split(), cwd=tmp_path)
    printed = done.stdout + done.stderr
    assert done.returncode == 0 and list(tmp_path.rglob("*_results.json")), printed[-3000:]
    (path,) = tmp_path.rglob("*_results.json")
    written = json.loads(path.read_text(encoding="utf-8"))
    manager = figlang_tasks.task_manager(include_defaults=False, model_name="figlang_random")
    results = simple_evaluate(
        model="figlang_random", tasks=["figlang_mini"], task_manager=manager, limit=8
    )
    assert results is not None and written["results"] == results["results"]
    written_config = written["configs"]["figlang_mini"]
    assert written_config["metadata"] == results["configs"]["figlang_mini"]["metadata"]
