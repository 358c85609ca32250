"""A short run of the fuzzer (``benchmarks/fuzz_parsers.py``), and what shows that it would see a fault."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

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


@pytest.mark.slow
def test_equal_seeds_give_equal_results_in_every_process() -> None:
    digests = set()
    for seed in ("1", "2"):
        command = [sys.executable, str(FILE), "--inputs", "600", "--seed", "3"]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONHASHSEED": seed}
        )
        assert done.returncode == 0, done.stdout + done.stderr
        digests.add(done.stdout.rpartition("results ")[2].strip())
    assert len(digests) == 1


def _raises(text: str) -> Any:
    if "}" in text:
        raise KeyError(text)
    return ""


def _remembers() -> Any:
    calls = iter(range(10**9))
    return lambda text: f"{next(calls)}"


def test_faults_are_seen(fuzzer: ModuleType) -> None:
    from dataclasses import replace

    from figlang_tasks.answers.verdict import Read
    from figlang_tasks.benchmarks.vflute.parse import parse_official

    of_options = fuzzer.targets()["answers.option"].fault
    fault = fuzzer.targets()["vflute.official"].fault

    def beyond(text: str) -> Any:
        return replace(parse_official(text), span=(0, len(text) + 1))

    def guessed(text: str) -> Any:
        found = parse_official(text)
        return replace(found, value=1) if found.value is None else found

    def invented(text: str) -> Any:
        return replace(parse_official(text), rule="invented")

    broken = {
        "raises": fuzzer.Target(_raises, fuzzer._text),
        "other every time": fuzzer.Target(_remembers(), fuzzer._text),
        "no text": fuzzer.Target(lambda text: 3, fuzzer._text),
        "span": fuzzer.Target(beyond, fault),
        "guess": fuzzer.Target(guessed, fault),
        "rule": fuzzer.Target(invented, fault),
        "no value": fuzzer.Target(lambda text: Read(None, "read", "alone"), of_options),
        "no option": fuzzer.Target(lambda text: Read(4, "read", "alone"), of_options),
    }
    found = fuzzer.fuzz(1_200, 0, broken)
    assert {name for name, _, _ in found.faults} == set(broken)


def test_texts_are_hostile(fuzzer: ModuleType) -> None:
    texts = [fuzzer.hostile(random.Random(seed)) for seed in range(3_000)]
    assert len(set(texts)) > 2_000
    signs = set("".join(texts))
    assert {"\x00", "\x1b", "\ud800", "\u2028", "\u202e", "\U0001f600", "{", "\\"} <= signs


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


def test_a_cell_of_a_table_of_irfl() -> None:
    from figlang_tasks.benchmarks.irfl import tables
    from figlang_tasks.core.hub import DataError

    with pytest.raises(DataError, match="row 1: distractors is not JSON"):
        tables._uuids(tables.Line("row 1", {"distractors": "[" * 200_000}), "distractors")


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
