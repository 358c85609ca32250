"""A short run of the fuzzer (``benchmarks/fuzz_parsers.py``), and what is nested without end or very long."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from irfl_hub import metaphor_row, write_table

FILE = Path(__file__).resolve().parents[2] / "benchmarks" / "fuzz_parsers.py"


@pytest.fixture(scope="module")
def fuzzer() -> ModuleType:
    spec = importlib.util.spec_from_file_location("fuzz_parsers", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_no_parser_breaks_its_promises(fuzzer: ModuleType, tmp_path: Path) -> None:
    found = fuzzer.fuzz(16_000, 0, fuzzer.targets() | fuzzer.file_targets(tmp_path))
    assert not found.faults
    reached = {
        "answers.yes no": {"read", "refused", "unreadable", "empty"},
        "answers.option": {"read", "refused", "ambiguous", "unreadable", "out_of_range", "empty"},
        "answers.option, numbers": {"read", "ambiguous", "unreadable", "out_of_range"},
        "answers.entailment": {"read", "refused", "unreadable", "empty"},
        "vflute.official": {"read", "refused", "unreadable", "empty"},
        "flute.official, v2": {"read", "unreadable", "empty"},
        "nykms.official, metaphor": {"read", "unreadable", "refused", "empty"},
        "metaclue.caption": {"read", "unreadable", "refused"},
        "metaclue.boxes, pixel": {"read", "out_of_range", "unreadable"},
        "samples": {"NoneType", "str"},
    }
    for name, outcomes in reached.items():
        assert outcomes <= set(found.outcomes[name]), name


# --- what is nested without end --------------------------------------------------------------------------------------


def test_the_answer_of_a_cut_off_scene_graph_run() -> None:
    from figlang_tasks.benchmarks.vflute import rows, task

    doc = rows.load("figlang_mini", "test")[0]
    for output in ("[" * 200_000, '{"scene_graph":' * 200_000, "1" * 5_000, "\ud800"):
        judged = task.scene_graph_process_results(doc, [output])
        assert judged["sample"]["status"] == "empty" and judged["acc"] == 0.0


@pytest.mark.parametrize("content", ["[" * 200_000, '{"config":' * 200_000])
def test_a_results_file(fuzzer: ModuleType, content: str, tmp_path: Path) -> None:
    samples = tmp_path / "2026-01-02T03-04-05_samples_vflute.jsonl"
    samples.write_text(json.dumps(fuzzer.RECORD) + "\n")
    (tmp_path / "2026-01-02T03-04-05_results.json").write_text(content)
    with pytest.raises(fuzzer.runs.RunError, match="results.json cannot be read"):
        fuzzer.runs.read(str(samples))


def test_a_key_of_a_judge(tmp_path: Path) -> None:
    from figlang_tasks.judge import JudgeError, key

    path = tmp_path / "x.key.json"
    path.write_text("[" * 200_000)
    with pytest.raises(JudgeError, match="is not a key"):
        key.read(path)


def test_a_cell_of_a_table_of_irfl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from figlang_tasks.benchmarks.irfl import tables

    write_table(tmp_path / "IRFL", "metaphor-detection-task", [metaphor_row(distractors="[" * 100_000)])
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    assert "row 0: distractors is not JSON" in tables.detection("IRFL", "metaphor-detection-task").faults[1]


# --- long strings ----------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_long_strings_are_read_before_the_clock_stops() -> None:
    """64,000 characters of each piece by each parser: a minute on a busy machine; by squares it would be days."""
    script = (
        f"import sys; sys.path.insert(0, {str(FILE.parent)!r}); import fuzz_parsers as f\n"
        "for unit in f.UNITS[::12]:\n"
        "    text = f.repeated(unit, f.SHORT[1])\n"
        "    for target in f.targets().values(): target.read(text)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, timeout=600)
