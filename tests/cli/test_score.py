"""What ``figlang score`` writes of real samples files differs from a run with that scorer if this
fails.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import varied_runs
from commands import done, refused
from flute_rows import write_lines
from report_runs import lines_of
from saved_samples import NAME, evaluated

from figlang_tasks.metrics.explanation import get_scorer
from figlang_tasks.metrics.explanation.weights import locate
from figlang_tasks.results import runs

RESULTS = NAME.replace("samples_figlang_mini.jsonl", "results.json")
EMBEDDED = ("--scorer", "embedded")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The score cache, empty."""
    monkeypatch.setenv("FIGLANG_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def samples_file(tmp_path: Path) -> Path:
    """What the harness wrote for the first 10 rows, in a run without a scorer."""
    (tmp_path / "run").mkdir()
    path = tmp_path / "run" / NAME
    path.write_bytes(b"".join(evaluated()[0].splitlines(keepends=True)[:10]))
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n")[:-1]]


def assert_equal_but_for_scores(
    lines: list[dict[str, Any]], expected: list[dict[str, Any]]
) -> None:
    """Scores of two processes may differ in the sixth digit: each chooses the kernel that is
    quickest just then.
    """
    assert len(lines) == len(expected)
    for line, expected_line in zip(lines, expected, strict=True):
        scores = line["sample"].pop("explanation_scores", {})
        expected_scores = expected_line["sample"].pop("explanation_scores", {})
        assert scores.pop("scorer", None) == expected_scores.pop("scorer", None)
        assert scores == pytest.approx(expected_scores, abs=2e-6)
        assert line == expected_line


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_the_new_run_equals_one_that_scores(samples_file: Path) -> None:
    samples_file.write_bytes(evaluated()[0])
    of_run, in_run = evaluated("embedded")
    printed = done("score", samples_file, *EMBEDDED)
    folder = samples_file.with_name(f"{samples_file.stem}_embedded")
    assert (folder / NAME).read_bytes() == of_run
    task = runs.read(str(folder)).tasks["figlang_mini"]
    metrics = [
        "f1@0",
        "f1@53",
        "f1@60",
        "explanation_score",
        "acc",
        "parse_rate",
        "parse_disagreement",
    ]
    assert list(task.reported) == metrics
    table = json.loads((folder / RESULTS).read_text())["results"]["figlang_mini"]
    for name, scopes in task.reported.items():
        assert table[f"{name},none"] == in_run[name] == scopes["all"].value
        assert table[f"{name}_stderr,none"] == scopes["all"].stderr
    assert task.signature == get_scorer("embedded", cache=False).signature
    told = ("| MuSE ", "f1@53", str(task.signature), f"written: {folder}")
    assert all(part in printed for part in told)
    assert names(samples_file.parent) == {NAME, folder.name} and names(folder) == {NAME, RESULTS}


def test_a_run_of_several_tasks_is_written_whole(tmp_path: Path) -> None:
    """What has no explanations is as it was, and so is what the results say of the run."""
    run, tasks = tmp_path / "model", ("figlang_mini", "mini_flute_v1", "mini_irfl_match_simile")
    run.mkdir()
    for task in tasks:
        (path,) = varied_runs.weak().glob(f"*_samples_{task}.jsonl")
        shutil.copy(path, run)
    (before,) = varied_runs.weak().glob("*_results.json")
    whole = json.loads(before.read_text())
    bare = json.loads(before.read_text()) | {"config": {**whole["config"], "limit": 8.0}}
    for task in tasks[:2]:
        bare["results"][task] = {}
        for name in ("measures", "explanation_scorer"):
            del bare["configs"][task]["metadata"][name]
    (run / before.name).write_text(json.dumps(bare))
    done("score", run, *EMBEDDED)
    folder = tmp_path / "model_embedded"
    assert names(folder) == names(run)
    for name in names(run) - {before.name}:
        assert_equal_but_for_scores(read_lines(folder / name), read_lines(run / name))
    after = json.loads((folder / before.name).read_text())
    of_this_machine = {
        "explanation_kernel": "chosen by its speed, by each process that has no other's cache"
    }
    for task in tasks:
        said, expected = after["configs"][task]["metadata"], whole["configs"][task]["metadata"]
        assert said["measures"]["values"].keys() == expected["measures"]["values"].keys()
        assert {**said, **of_this_machine, "measures": {}} == {
            **expected,
            **of_this_machine,
            "measures": {},
        }
        values = {
            name: value for name, value in whole["results"][task].items() if "_stderr" not in name
        }
        written = {
            name: value for name, value in after["results"][task].items() if "_stderr" not in name
        }
        assert {"alias": task, **written} == pytest.approx(values, abs=1e-5)
    assert after["results"][tasks[2]] == whole["results"][tasks[2]]
    read = runs.read(str(folder))
    assert read.partial is None and read.tasks["figlang_mini"].contradictions == ()


def test_texts_of_all_kinds(samples_file: Path) -> None:
    kinds = [None, " \n", "half a pair \ud800 of surrogates", "\x00\u2028\x85<b>", "🫖 茶"]
    lines = read_lines(samples_file)[: len(kinds)]
    for line, text in zip(lines, kinds, strict=True):
        line["sample"]["explanation"] = line["filtered_resps"] = text
    write_lines(samples_file, lines)
    done("score", samples_file, *EMBEDDED, "-o", samples_file.parent / "new")
    written_file = samples_file.parent / "new" / NAME
    scored = read_lines(written_file)
    assert [line["sample"].pop("explanation_scores")["mean"] > 0 for line in scored] == [
        False
    ] * 2 + [True] * 3
    assert scored == lines
    assert b"\\ud800" in written_file.read_bytes() and "🫖 茶".encode() in written_file.read_bytes()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scorer", "vflute26"), "unknown scorer 'vflute26'; valid: vflute25"),
        (("--scorer", "vflute25"), "deberta-xlarge-mnli holds no weights"),
        ((*EMBEDDED, "-o", f"{__file__}/new"), "test_score.py/.new.partial: Not a directory"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    options: tuple[str, ...],
    message: str,
    samples_file: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "weights" / "deberta-xlarge-mnli").mkdir(parents=True)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path / "weights"))
    locate.cache_clear()
    line = refused("score", samples_file, *options)
    assert line.startswith("figlang: ")
    assert message in line
    assert names(samples_file.parent) == {NAME}


def saved(path: Path, **changes: Any) -> Path:
    """A samples file of FLUTE, with changes in its last record."""
    lines = lines_of("figlang_mini_flute")
    lines[-1]["sample"] |= changes
    return write_lines(path, lines)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reference": None}, " has no gold, reference and explanation"),
        ({"explanation": 7}, " has an explanation that is no text"),
    ],
)
def test_a_row_that_cannot_be_scored_is_named(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    line = refused("score", saved(tmp_path / "samples_flute.jsonl", **changes), *EMBEDDED)
    assert (
        "samples_flute.jsonl has a record that is not as the task flute writes it" in line
        and message in line
    )
    assert names(tmp_path) == {"samples_flute.jsonl"}


@pytest.mark.parametrize(
    ("task", "model"), [("figlang_mini", "xlarge-mnli"), ("flute", "deberta-large-mnli")]
)
def test_without_a_name_the_papers_scorers_are_taken(
    task: str, model: str, samples_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(samples_file.parent))
    locate.cache_clear()
    saved(samples_file.with_name("2026-01-02T03-04-05_samples_flute.jsonl"))
    assert model in refused("score", next(samples_file.parent.glob(f"*_samples_{task}.jsonl")))
