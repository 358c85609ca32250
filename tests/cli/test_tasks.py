"""``figlang tasks``: it lists what the harnesses find and the loaders load."""

from __future__ import annotations

import re
import subprocess
import sys
from functools import partial
from typing import Any

import commands
import pytest
from lm_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks.cli.tasks import Definition, definitions
from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import benchmarks, names, parse_request
from figlang_tasks.core.task_files import Harness

figlang = partial(commands.figlang, "tasks")


@pytest.fixture(scope="module")
def manager() -> Any:
    return figlang_tasks.task_manager(include_defaults=False)


def definitions_for(harness: Harness) -> dict[str, Definition]:
    """The tasks and groups that a harness has, by name."""
    definitions_by_name = {}
    for name, definition in definitions().items():
        if harness in definition.harnesses:
            definitions_by_name[name] = definition
    return definitions_by_name


def test_the_list_is_what_the_harnesses_find(manager: Any) -> None:
    assert definitions_for("lmms_eval").keys() == set(manager.all_tasks)
    folder = figlang("--path", "lm_eval").stdout.removesuffix("\n")
    lm_eval_manager = TaskManager(include_path=folder, include_defaults=False)
    assert definitions_for("lm_eval").keys() == set(lm_eval_manager.all_tasks)
    assert definitions()["flute"].harnesses == ("lmms_eval", "lm_eval")


def test_tasks_and_groups_are_as_the_harness_reads_them(manager: Any) -> None:
    """lmms-eval's own loader reads every fifth task and every group."""
    tasks = []
    groups = []
    for definition in definitions_for("lmms_eval").values():
        if definition.members:
            groups.append(definition)
        else:
            tasks.append(definition)
    for task in tasks[::5]:
        config = manager._get_config(task.name)
        assert task.request == parse_request(config["dataset_name"])[1]
    for group in groups:
        assert list(group.members) == manager._get_config(group.name)["task"]


def test_rows_as_published() -> None:
    """These are the papers' figures.

    More of them stand beside published values (tests/results/test_published.py).
    """
    expected = {
        "vflute_val": 726,
        "flute": 1500,
        "flute_codalab": 1500,
        "flute_train": 7534,
        "nykms_mc": 1583,
        "nykms_mw": 692,
        "nykms_st_text": 687,
        "metaclue_retrieve_swap": 1331,
        "metaclue_generate": 300,
        "metaclue_vqa": None,
        "irfl_random4_metaphor": None,
    }
    all_definitions = definitions()
    assert {name: all_definitions[name].rows for name in expected} == expected


def test_the_overview_has_a_line_for_each_benchmark() -> None:
    head, *lines = figlang().stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["benchmark", "what", "it", "measures", "rows", "access", "needs"]
    assert [line.split()[0] for line in lines] == [*names(), "figlang_mini"]
    assert max(len(line) for line in lines) <= 100
    # Rows, access and needs stand from column 55 on; the rows are those of docs/cards.
    last_columns = {line.split()[0]: line[55:].split() for line in lines}
    assert last_columns["metaclue"] == ["300-2,750", "bring", "your", "own", "java,", "generation"]
    assert last_columns["vflute"] == ["723-726", "gated", "scorer", "vflute25"]


def listed(pattern: str) -> dict[str, list[str]]:
    """The rows and the question of each task or group in a list, by name."""
    lines = figlang(pattern).stdout.partition("\n\n")[0].splitlines()[1:]
    assert max(len(line) for line in lines) <= 100
    columns_by_name = {}
    for line in lines:
        name, *columns = line.split(maxsplit=2)
        columns_by_name[name] = columns
    return columns_by_name


def test_the_list_of_a_benchmark_has_a_line_for_each_task_and_group() -> None:
    irfl_names = []
    for name, definition in definitions().items():
        if definition.benchmark == "irfl":
            irfl_names.append(name)
    irfl = listed("irfl")
    assert list(irfl) == irfl_names
    # .ci/run looks for the line of this group.
    assert irfl["irfl_detect"] == ["-", "group of 4: idiom, metaphor, simile, open_simile"]
    assert irfl["irfl_detect_idiom_circular"] == ["200", "Which picture? In each of four orders."]


@pytest.mark.parametrize("benchmark", [*names(), "figlang_mini"])
def test_tasks_that_differ_in_what_they_ask_have_different_lines(benchmark: str) -> None:
    """Tasks with one text may differ in their rows alone, which their names say."""
    config_by_text: dict[str, dict[str, Any]] = {}
    assert all(len(columns) == 2 for columns in listed(benchmark).values()), "a line lacks a text"
    for name, definition in definitions().items():
        if definition.benchmark != benchmark or definition.members:
            continue
        assert definition.asks.endswith((".", "?")), name
        file = task_files.files(definition.harnesses[0])[name]
        config = dict(task_files.read(file.resolve()))
        for key in ("task", "dataset_name"):
            del config[key]
        assert config_by_text.setdefault(definition.asks, config) == config, name


def test_a_pattern_lists_the_tasks_that_match_it() -> None:
    kinds = ("idiom", "metaphor", "open_simile", "simile")
    assert list(listed("irfl_detect_*_grid")) == [f"irfl_detect_{kind}_grid" for kind in kinds]
    message = commands.refused("tasks", "vflutes")
    assert "no task matches 'vflutes' (did you mean `vflute`" in message


@pytest.mark.slow
def test_the_metrics_of_a_benchmark_say_what_they_mean_and_where_they_are_from() -> None:
    lines = figlang("irfl", "--metrics").stdout.partition("\n\n")[0].splitlines()
    titles = [line for line in lines if not line.startswith(" ")]
    kinds = [title.partition(": ")[0] for title in titles]
    assert kinds == [task.name for task in benchmarks()["irfl"].tasks]

    lines_of_last_kind = lines[lines.index(titles[-1]) + 1 :]
    rows = [re.split(r" {2,}", line.strip()) for line in lines_of_last_kind]
    source = "IRFL, arXiv 2303.15445, Table 3"
    assert rows[0] == ["acc ↑", "headline", "Share of rows with the right choice.", source]
    assert rows[1][:2] == ["literal_preference ↓", "secondary"]
    assert rows[4][:2] == ["tie_rate ↓", "diagnostic"]
    assert {len(row) for row in rows} == {4}
    for column in (1, 2, 3):
        starts = set()
        for line, row in list(zip(lines_of_last_kind, rows, strict=True))[:4]:
            starts.add(line.index(row[column], 20))
        assert len(starts) == 1, "columns are aligned"


@pytest.mark.slow
def test_each_benchmark_has_a_headline_metric() -> None:
    for benchmark in names():
        lines = figlang(benchmark, "--metrics").stdout.partition("\n\n")[0].splitlines()
        roles = {line.split()[2] for line in lines if line.startswith(" ")}
        assert roles <= {"headline", "secondary", "diagnostic"}
        assert "headline" in roles, benchmark


def test_metrics_are_those_of_a_benchmark() -> None:
    message = commands.refused("tasks", "irlf", "--metrics")
    assert "takes a benchmark, not 'irlf' (did you mean `irfl`?); give one of admire, " in message
    message = commands.refused("tasks", "--metrics")
    assert "takes a benchmark; give one of admire, " in message


QUICK_SCRIPT = """
import sys
from figlang_tasks.cli.figlang import app
app(["tasks"], standalone_mode=False)
heavy = {"torch", "datasets", "lm_eval", "lmms_eval", "huggingface_hub", "pandas", "scipy"}
assert not heavy & set(sys.modules)
"""


def test_it_is_quick() -> None:
    subprocess.run([sys.executable, "-c", QUICK_SCRIPT], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("argument", ["tasks", "--version"])
def test_a_full_disk_is_no_traceback(argument: str) -> None:
    with open("/dev/full", "wb") as full_disk:
        ended = subprocess.run(
            [sys.executable, "-m", "figlang_tasks.cli.figlang", argument],
            stdout=full_disk,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert ended.returncode == 1
    message = "figlang: No space left on device: make room there, or name another place\n"
    assert ended.stderr == message
