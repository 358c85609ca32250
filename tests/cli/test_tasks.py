"""``figlang tasks``: what it says against what the harnesses find and the loaders load."""

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
from figlang_tasks.cli.tasks import definitions
from figlang_tasks.core.benchmark import benchmarks, names, parse_request

figlang = partial(commands.figlang, "tasks")


@pytest.fixture(scope="module")
def manager() -> Any:
    return figlang_tasks.task_manager(include_defaults=False)


def test_the_list_is_what_the_harnesses_find(manager: Any) -> None:
    found = definitions()
    assert {name for name, each in found.items() if "lmms_eval" in each.harnesses} == set(
        manager.all_tasks
    )
    folder = figlang("--path", "lm_eval").stdout.removesuffix("\n")
    lm = set(TaskManager(include_path=folder, include_defaults=False).all_tasks)
    assert {name for name, each in found.items() if "lm_eval" in each.harnesses} == lm
    assert found["flute"].harnesses == ("lmms_eval", "lm_eval")


def test_each_task_is_told_as_the_harness_reads_it(manager: Any) -> None:
    """Data of every fifth task, members of every group: by lmms-eval's own loader."""
    ours = [each for each in definitions().values() if "lmms_eval" in each.harnesses]
    for each in [each for each in ours if not each.members][::5]:
        assert each.request == parse_request(manager._get_config(each.name)["dataset_name"])[1]
    for each in [each for each in ours if each.members]:
        assert list(each.members) == manager._get_config(each.name)["task"]


def test_rows_as_published() -> None:
    """The papers' figures; more of them stand beside published values
    (tests/results/test_published.py).
    """
    rows = {name: each.rows for name, each in definitions().items()}
    expected = {
        **{"vflute_val": 726, "flute": 1500, "flute_codalab": 1500, "flute_train": 7534},
        **{"nykms_mc": 1583, "nykms_mw": 692, "nykms_st_text": 687},
        **{"metaclue_retrieve_swap": 1331, "metaclue_generate": 300, "metaclue_vqa": None},
        "irfl_random4_metaphor": None,
    }
    assert {name: rows[name] for name in expected} == expected


def test_the_overview_has_a_line_for_each_benchmark() -> None:
    head, *lines = figlang().stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["benchmark", "what", "it", "measures", "rows", "access", "needs"]
    assert [line.split()[0] for line in lines] == [*names(), "figlang_mini"]
    assert max(map(len, lines)) <= 100
    # As in the papers and in docs/cards
    by_name = {line.split()[0]: line[55:].split() for line in lines}
    assert by_name["metaclue"] == ["300-2,750", "bring", "your", "own", "java,", "generation"]
    assert by_name["vflute"] == ["723-726", "gated", "scorer", "vflute25"]


def shown(pattern: str) -> dict[str, list[str]]:
    """What is said of each task or group."""
    lines = figlang(pattern).stdout.partition("\n\n")[0].splitlines()[1:]
    assert max(map(len, lines)) <= 100
    return {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}


def test_the_list_of_a_benchmark_has_a_line_for_each_task_and_group() -> None:
    found = shown("irfl")
    assert list(found) == [name for name, each in definitions().items() if each.benchmark == "irfl"]
    assert found["irfl_detect"] == ["-", "group of 4"]  # .ci/run looks for its line
    assert found["irfl_detect_idiom_circular"] == ["200", "idiom-detection-task, rotations"]
    grids = [f"irfl_detect_{kind}_grid" for kind in ("idiom", "metaphor", "open_simile", "simile")]
    assert list(shown("irfl_detect_*_grid")) == grids
    told = commands.refused("tasks", "vflutes")
    assert "no task matches 'vflutes' (did you mean `vflute`" in told


@pytest.mark.slow
def test_the_metrics_of_a_benchmark_say_what_they_mean_and_where_they_are_from() -> None:
    everything = figlang("irfl", "--metrics").stdout.partition("\n\n")[0].splitlines()
    heads = [line for line in everything if not line.startswith(" ")]
    assert [head.partition(": ")[0] for head in heads] == [
        task.name for task in benchmarks()["irfl"].tasks
    ]
    lines = everything[everything.index(heads[-1]) + 1 :]
    rows = [re.split(r" {2,}", line.strip()) for line in lines]
    assert rows[0] == [
        "acc ↑",
        "headline",
        "Share of rows with the right choice.",
        "IRFL, arXiv 2303.15445, Table 3",
    ]
    assert rows[1][:2] == ["literal_preference ↓", "secondary"] and rows[4][:2] == [
        "tie_rate ↓",
        "diagnostic",
    ]
    assert {len(row) for row in rows} == {4}
    for place in (1, 2, 3):  # columns are aligned
        assert (
            len({line.index(row[place], 20) for line, row in zip(lines[:4], rows, strict=False)})
            == 1
        )
    for benchmark in names():
        text = figlang(benchmark, "--metrics").stdout
        roles = [
            line.split()[2]
            for line in text.partition("\n\n")[0].splitlines()
            if line.startswith(" ")
        ]
        assert set(roles) <= {"headline", "secondary", "diagnostic"}
        assert "headline" in roles, benchmark


def test_metrics_are_those_of_a_benchmark() -> None:
    said = commands.refused("tasks", "irlf", "--metrics")
    assert "takes a benchmark, not 'irlf' (did you mean `irfl`?); give one of admire, " in said
    assert "takes a benchmark; give one of admire, " in commands.refused("tasks", "--metrics")


def test_it_is_quick() -> None:
    script = (
        "from figlang_tasks.cli.figlang import app; import sys; app(['tasks'],"
        " standalone_mode=False)"
    )
    heavy = {"torch", "datasets", "lm_eval", "lmms_eval", "huggingface_hub", "pandas", "scipy"}
    check = f"; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script + check], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize("given", ["tasks", "--version"])
def test_a_full_disk_is_no_traceback(given: str) -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "figlang_tasks.cli.figlang", given],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (ended.returncode, ended.stderr) == (
        1,
        "figlang: No space left on device: make room there, or name another place\n",
    )
