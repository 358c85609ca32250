"""Every hook into the harness that we rely on. A new harness release should fail here, by name, and
not at a user's.
"""

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
from figlang_tasks.harness import installed
from figlang_tasks.harness.answers import OWN_EVENT_LOOP

HOOKS: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "hooks.yaml").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", HOOKS)
def test_what_we_use_is_there_as_we_use_it(name: str) -> None:
    hook, (module, _, qualified) = HOOKS[name], name.partition(":")
    found: Any = importlib.import_module(module)
    for part in filter(None, qualified.split(".")):
        found = (
            inspect.getattr_static(found, part) if isinstance(found, type) else getattr(found, part)
        )
    if isinstance(found, staticmethod | classmethod):
        found = found.__func__
    found = inspect.unwrap(found) if callable(found) else found
    if "call" in hook:
        count, *keywords = hook["call"]
        inspect.signature(found).bind(*[None] * count, **dict.fromkeys(keywords))
    if "takes" in hook:
        assert set(hook["takes"]) <= set(inspect.signature(found).parameters)
    if "only" in hook:
        parameters = inspect.signature(found).parameters.values()
        optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        assert {
            p.name for p in parameters if p.default is p.empty and p.kind not in optional
        } == set(hook["only"])
    if "source" in hook:
        assert hook["source"] in inspect.getsource(found)


@pytest.mark.parametrize("harness", ["lmms_eval", "lm_eval"])
def test_the_keys_of_our_task_files_are_known(harness: str) -> None:
    known = importlib.import_module(f"{harness}.api.task").TaskConfig.__dataclass_fields__
    text = "\n".join(
        path.read_text() for path in (resource_dir("task_yamls") / harness).rglob("*.yaml")
    )
    of_groups = {"include", "group", "group_alias", "aggregate_metric_list"}
    assert set(re.findall(r"^(\w+):", text, flags=re.MULTILINE)) - of_groups <= set(known)


def test_the_harness_adds_nothing_to_our_settings() -> None:
    """It would let answers end at the first blank line where a task file names no end."""
    manager = figlang_tasks.task_manager(include_defaults=False)
    settings = get_task_dict(["figlang_mini"], manager)["figlang_mini"].config.generation_kwargs
    assert settings == {"max_new_tokens": 256, "num_beams": 3, "until": []}


def test_the_options_that_are_read_from_the_file_are_those_of_the_parser(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from lmms_eval.__main__ import parse_eval_args

    monkeypatch.setattr(sys, "argv", ["lmms_eval"])
    parser, _ = parse_eval_args()
    options = {
        option
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    }
    assert installed.evaluation_options() == options


def test_the_classes_that_begin_event_loops_are_known() -> None:
    """Those whose method ``generate_until`` calls ``asyncio.run``."""
    folder = Path(inspect.getfile(importlib.import_module("lmms_eval.models"))).parent
    modules = set()
    for file in folder.rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        if "asyncio.run(" not in source:  # a quicker look
            continue
        for node in ast.walk(ast.parse(source)):
            is_method = isinstance(node, ast.FunctionDef) and node.name == "generate_until"
            if is_method and "asyncio.run(" in ast.unparse(node):
                modules.add(
                    ".".join(["lmms_eval.models", *file.relative_to(folder).with_suffix("").parts])
                )
    assert modules == set(OWN_EVENT_LOOP)
