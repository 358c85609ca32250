"""``figlang tasks``: what it says against what the harnesses find and the loaders load."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import cache, partial
from pathlib import Path
from typing import Any

import commands
import pytest
from lm_eval.tasks import TaskManager

import figlang_tasks
from figlang_tasks.core.benchmark import names
from figlang_tasks.core.documents import asked_for
from figlang_tasks.harness.plugin import tasks_dir

REPOSITORY = Path(__file__).resolve().parents[2]


figlang = partial(commands.figlang, "tasks")


@cache
def listed() -> dict[str, dict[str, Any]]:
    result = figlang("--json")
    assert result.exit_code == 0
    return {each["name"]: each for each in json.loads(result.stdout)}


@pytest.fixture(scope="module")
def manager() -> Any:
    return figlang_tasks.task_manager(include_defaults=False)


def test_the_folders_are_those_with_the_task_files() -> None:
    assert figlang("--path", "lmms_eval").stdout == f"{tasks_dir()}\n"
    folder = Path(figlang("--path", "lm_eval").stdout.removesuffix("\n"))
    assert (folder / "flute" / "flute.yaml").is_file()
    assert figlang("--path", "helm").exit_code == 2


def test_the_list_is_what_the_harnesses_find(manager: Any) -> None:
    found = listed()
    assert {name for name, each in found.items() if "lmms_eval" in each["harnesses"]} == set(manager.all_tasks)
    folder = figlang("--path", "lm_eval").stdout.removesuffix("\n")
    lm = set(TaskManager(include_path=folder, include_defaults=False).all_tasks)
    assert {name for name, each in found.items() if "lm_eval" in each["harnesses"]} == lm
    assert found["flute"]["kind"] == "task" and found["flute"]["harnesses"] == ["lmms_eval", "lm_eval"]
    assert found["vflute_all"]["kind"] == "group"


def test_each_task_is_told_as_the_harness_reads_it(manager: Any) -> None:
    """Metrics, version and data of every fifth task, members of every group: by lmms-eval's own loader."""
    ours = listed().values()
    for each in [each for each in ours if each["kind"] == "task" and "lmms_eval" in each["harnesses"]][::5]:
        config = manager._get_config(each["name"])
        assert each["headline_metrics"] == [metric["metric"] for metric in config["metric_list"]], each
        assert (REPOSITORY / each["card"]).is_file()
        assert set(each["metrics"]) >= set(each["headline_metrics"])
        assert each["version"] == config["metadata"]["version"]
        asked = dict(asked_for(config["dataset_name"])[1])
        assert each["dataset"] == asked.pop("dataset")
        assert all((key if value == "true" else value) in each["data"] for key, value in asked.items())
    for each in [each for each in ours if each["kind"] == "group" and "lmms_eval" in each["harnesses"]]:
        members = manager._get_config(each["name"])["task"]
        assert each["members"] == [each if isinstance(each, str) else each["task"] for each in members]


def test_rows_of_the_shipped_data_are_those_that_are_loaded(manager: Any) -> None:
    checked = 0
    for each in listed().values():
        if each["benchmark"] != "figlang_mini" or each["rows"] is None or each["data"].endswith("rotations"):
            continue
        config = manager._get_config(each["name"])
        benchmark, asked = asked_for(config["dataset_name"])
        documents = benchmark.load(asked, False)
        rows = set(documents["row"]) if "row" in documents.column_names else documents
        assert each["rows"] == len(rows), each["name"]
        checked += 1
    assert checked == 3, "figlang_mini, and FLUTE in both versions"


def test_rows_as_published() -> None:
    """The papers' figures."""
    rows = {name: each["rows"] for name, each in listed().items()}
    expected = {
        **{"vflute": 723, "vflute_val": 726, "flute": 1500, "flute_codalab": 1500, "flute_train": 7534},
        **{"irfl_detect_idiom": 200, "irfl_detect_metaphor": 333, "irfl_detect_simile": 277},
        **{"irfl_detect_open_simile": 277, "irfl_retrieve_metaphor": 34, "irfl_retrieve_simile": 142},
        **{"nykms_mc": 1583, "nykms_mw": 692, "nykms_sarcasm": 1578, "nykms_st_text": 687},
        **{"metaclue_classify_symbolic": 2750, "metaclue_classify_literal": 2331, "metaclue_caption": 1331},
        **{"metaclue_retrieve_swap": 1331, "metaclue_generate": 300, "metaclue_vqa": None},
        "irfl_random4_metaphor": None,
    }
    assert {name: rows[name] for name in expected} == expected


def test_the_overview_has_a_line_for_each_benchmark() -> None:
    head, *lines = figlang().stdout.partition("\n\n")[0].splitlines()
    assert head.split() == ["benchmark", "what", "it", "measures", "rows", "access", "needs"]
    assert [line.split()[0] for line in lines] == [*names(), "figlang_mini"]
    assert max(map(len, lines)) <= 100
    by_name = {line.split()[0]: line[55:].split() for line in lines}  # as in the papers and in docs/cards
    assert by_name["metaclue"] == ["300-2,750", "bring", "your", "own", "Java,", "generation"]
    assert by_name["vflute"] == ["723-726", "gated", "scorer", "vflute25"]


def test_the_list_of_a_benchmark_has_a_line_for_each_task_and_group() -> None:
    lines = figlang("irfl").stdout.partition("\n\n")[0].splitlines()[1:]
    own = {name: each for name, each in listed().items() if each["benchmark"] == "irfl"}
    assert [line.split()[0] for line in lines] == list(own) and max(map(len, lines)) <= 100
    assert any(line.startswith("irfl_detect ") for line in lines)  # .ci/run looks for it
    shown = {line.split()[0]: line.split(maxsplit=2)[1:] for line in lines}
    assert shown["irfl_detect"] == ["-", "group of 4"]
    assert shown["irfl_detect_idiom_circular"] == ["200", "idiom-detection-task, rotations"]


def test_filters() -> None:
    found = [each["name"] for each in json.loads(figlang("nykms", "--json").stdout)]
    assert found and all(name.startswith("nykms_") or name == "nykms" for name in found)
    found = [each["name"] for each in json.loads(figlang("irfl_detect_*_grid", "--json").stdout)]
    assert found == [f"irfl_detect_{kind}_grid" for kind in ("idiom", "metaphor", "open_simile", "simile")]
    done = figlang("vflutes")
    assert done.exit_code == 1 and done.stdout == ""
    assert "no task matches 'vflutes' (did you mean `vflute`" in done.stderr


@pytest.mark.slow
def test_it_is_quick() -> None:
    script = "from figlang_tasks.cli.figlang import app; import sys; app(['tasks'], standalone_mode=False)"
    heavy = {"torch", "datasets", "lm_eval", "lmms_eval", "huggingface_hub", "pandas", "scipy"}
    check = f"; assert not {heavy} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", script + check], check=True, stdout=subprocess.DEVNULL)


def test_a_full_disk_is_no_traceback() -> None:
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "figlang_tasks.cli.figlang", "tasks"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (ended.returncode, ended.stderr) == (1, "figlang: No space left on device\n")
