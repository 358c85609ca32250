"""Every name of a harness that we rely on: a new release should fail here, not at a user's."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from lmms_eval.tasks import get_task_dict

import figlang_tasks
from figlang_tasks import resource_dir
from figlang_tasks.core import task_files
from figlang_tasks.harness import installed, lm_eval_task
from figlang_tasks.harness.answers import OWN_EVENT_LOOP
from figlang_tasks.harness.command_checks import split_pairs
from figlang_tasks.harness.task_selection import selected_tasks
from figlang_tasks.models import OUR_CLASSES
from figlang_tasks.models.signatures import read_signature

HOOKS: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "hooks.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", HOOKS)
def test_a_name_of_the_harness_is_there_as_we_use_it(name: str) -> None:
    hook = HOOKS[name]
    target = imported(name)
    if "call" in hook:
        positional_count, *keywords = hook["call"]
        positional = [None] * positional_count
        inspect.signature(target).bind(*positional, **dict.fromkeys(keywords))
    if "takes" in hook:
        assert set(hook["takes"]) <= set(inspect.signature(target).parameters)
    if "only" in hook:
        assert required_parameters(target) == set(hook["only"])
    if "source" in hook:
        assert hook["source"] in inspect.getsource(target)


def imported(name: str) -> Any:
    """What a name such as ``package.module:Class.method`` stands for, without decorators."""
    module, _, path = name.partition(":")
    target: Any = importlib.import_module(module)
    for attribute in path.split(".") if path else ():
        if isinstance(target, type):
            target = inspect.getattr_static(target, attribute)
        else:
            target = getattr(target, attribute)
    if isinstance(target, staticmethod | classmethod):
        target = target.__func__
    return inspect.unwrap(target) if callable(target) else target


def required_parameters(function: Any) -> set[str]:
    """The names of the parameters that every call must give."""
    variable = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    names: set[str] = set()
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is parameter.empty and parameter.kind not in variable:
            names.add(parameter.name)
    return names


@pytest.mark.parametrize("harness", ["lmms_eval", "lm_eval"])
def test_the_keys_of_our_task_files_are_known(harness: str) -> None:
    known_keys = task_config(harness).__dataclass_fields__
    keys: set[str] = set()
    for path in (resource_dir("task_yamls") / harness).rglob("*.yaml"):
        keys.update(re.findall(r"^(\w+):", path.read_text(), flags=re.MULTILINE))
    # lm-eval reads these before it makes the configuration of a task.
    other_keys = {"include", "group", "group_alias", "aggregate_metric_list", "class"}
    assert keys - other_keys <= set(known_keys)


def task_config(harness: str) -> Any:
    """The class of a task's configuration, which lm-eval 0.5 has moved."""
    try:
        return importlib.import_module(f"{harness}.config.task").TaskConfig
    except ModuleNotFoundError:
        return importlib.import_module(f"{harness}.api.task").TaskConfig


@pytest.mark.skipif(not lm_eval_task.has_scorers(), reason="an lm-eval before 0.5")
@pytest.mark.parametrize("name", ["reduce", "aggregate", "_resolve_metrics"])
def test_lm_eval_calls_our_scorer_as_it_calls_its_own(name: str) -> None:
    scorer = importlib.import_module("figlang_tasks.harness.lm_eval_scorer").FigLangScorer
    original = imported(f"lm_eval.scorers:GenScorer.{name}")
    assert parameters(getattr(scorer, name)) == parameters(original)


def parameters(function: Any) -> set[str]:
    """The names of the parameters of a method, without the object or class."""
    return set(inspect.signature(function).parameters) - {"self", "cls"}


def test_the_harness_adds_nothing_to_our_settings() -> None:
    """It would let answers end at the first blank line where a task file names no end."""
    manager = figlang_tasks.task_manager(include_defaults=False)
    settings = get_task_dict(["figlang_mini"], manager)["figlang_mini"].config.generation_kwargs
    assert settings == {"max_new_tokens": 256, "num_beams": 3, "until": []}


def test_the_parser_that_is_read_from_the_file_is_that_of_the_harness(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lmms_eval.__main__ import parse_eval_args

    monkeypatch.setattr(sys, "argv", ["lmms_eval"])
    parser, defaults = parse_eval_args()
    ours = installed.evaluation_parser()
    # The seeds are a text that a function of the harness reads.
    assert vars(ours.parse_args([])) | {"model": "hf", "seed": defaults.seed} == vars(defaults)
    assert installed.option_names(ours) == installed.option_names(parser)
    action_by_name = {action.dest: action for action in ours._actions}
    for action in parser._actions:
        if action.dest == "help":
            continue
        our_action = action_by_name[action.dest]
        assert our_action.option_strings == action.option_strings
        assert (our_action.nargs, our_action.choices) == (action.nargs, action.choices)
        if action.type in (int, float, str):
            assert our_action.type == action.type


def test_the_model_classes_that_are_read_from_the_file_are_those_of_the_harness() -> None:
    models = importlib.import_module("lmms_eval.models")
    names = {*models.AVAILABLE_SIMPLE_MODELS, *models.AVAILABLE_CHAT_TEMPLATE_MODELS}
    for aliases in models.MODEL_ALIASES.values():
        names.update(aliases)
    assert installed.model_names() == names
    # Other tests in this process may have registered classes of their own.
    available_names = models.list_available_models(True)
    assert names | {entry.name for entry in OUR_CLASSES} <= set(available_names)
    assert not installed.has_other_plugins()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a=1,b=x=y, c = two ,",
        "a=[1,2],b={'x': 1, 'y': [3,4]},c='1,2',d=\"3,4\",e=it\\'s,f=1",
        "a=]1,2[,b=3",
        "a",
        "a=1,b",
    ],
)
def test_arguments_are_split_as_the_harness_splits_them(text: str) -> None:
    from lmms_eval.utils import simple_parse_args_string

    try:
        expected = {name: str(value) for name, value in simple_parse_args_string(text).items()}
    except ValueError:
        with pytest.raises(ValueError):
            split_pairs(text)
        return
    assert split_pairs(text) == expected


@pytest.mark.parametrize("path", dict.fromkeys(entry.path for entry in OUR_CLASSES))
def test_arguments_of_a_class_that_are_read_from_its_file_are_those_it_takes(path: str) -> None:
    """They are those of its constructor, and of those to which that hands the rest."""
    module, _, name = path.rpartition(".")
    model_class = getattr(importlib.import_module(module), name)
    defaults: dict[str, object] = {}
    for base in reversed(model_class.__mro__):
        if "__init__" in vars(base):
            for parameter in inspect.signature(base).parameters.values():
                if parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
                    defaults[parameter.name] = parameter.default
    assert read_signature(path).defaults == defaults


def test_no_task_of_the_harness_has_a_name_of_ours() -> None:
    """It would run in place of ours, and a run would say so."""
    names = installed.task_names()
    assert {"mme", "mmmu_val"} <= names
    assert not names & task_files.files("lmms_eval").keys()


def test_a_task_of_the_harness_is_not_checked_as_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    harness_folder = tmp_path / "tasks" / "vflute"
    harness_folder.mkdir(parents=True)
    (harness_folder / "vflute.yaml").write_text("task: vflute\n")
    monkeypatch.setattr(installed, "folder", lambda: tmp_path)
    selected = selected_tasks(["vflute", "vflute_sg"], [])
    assert [config["task"] for config in selected] == ["vflute_sg"]


def test_the_classes_that_begin_event_loops_are_known() -> None:
    """Those whose method ``generate_until`` calls ``asyncio.run``."""
    folder = Path(inspect.getfile(importlib.import_module("lmms_eval.models"))).parent
    modules: set[str] = set()
    for file in folder.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "asyncio.run(" not in source:  # Parsing all files would take long.
            continue
        module_below = ".".join(file.relative_to(folder).with_suffix("").parts)
        for node in ast.walk(ast.parse(source)):
            is_method = isinstance(node, ast.FunctionDef) and node.name == "generate_until"
            if is_method and "asyncio.run(" in ast.unparse(node):
                modules.add(f"lmms_eval.models.{module_below}")
    assert modules == set(OWN_EVENT_LOOP)
