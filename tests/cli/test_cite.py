"""``figlang cite``: BibTeX against CITATION.cff and the cards, signatures against what a run's files hold."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path

import commands
import pytest
import varied_runs
import yaml

import figlang_tasks
from figlang_tasks.core.benchmark import benchmarks

ROOT = Path(__file__).resolve().parents[2]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


cite = partial(commands.figlang, "cite")


def entries(text: str) -> dict[str, dict[str, str]]:
    """The entries of BibTeX by key, their fields without the braces inside."""
    found = {}
    for key, body in re.findall(r"^@\w+\{([\w-]+),\n(.*?)^\}$", text, re.MULTILINE | re.DOTALL):
        fields = re.findall(r"^  (\w+) = \{(.*?)\},?$(?=\n  \w+ =|\n*\Z)", body, re.MULTILINE | re.DOTALL)
        found[key] = {name: re.sub(r"[{}]", "", " ".join(value.split())) for name, value in fields}
    return found


def test_all_papers_and_the_software_are_those_of_the_citation_file() -> None:
    result = cite()
    assert result.exit_code == 0, result.output
    assert result.stdout.count("{") == result.stdout.count("}")
    *papers, software = entries(result.stdout).values()
    assert software["title"].replace("\\", "") == CITED["title"]
    assert [software["author"].replace("\\", "")] == [each["name"] for each in CITED["authors"]]
    assert software["note"] == f"Version {CITED['version']}" == f"Version {figlang_tasks.__version__}"
    assert software["year"] == "2026" and all(
        paper["url"] == f"https://arxiv.org/abs/{paper['eprint']}" for paper in papers
    )
    assert len(papers) == len(benchmarks()) == len(CITED["references"])
    for reference in CITED["references"]:
        (paper,) = [each for each in papers if each["eprint"] in reference["notes"]]
        people = [f"{person['family-names']}, {person['given-names']}" for person in reference["authors"]]
        assert paper["author"].split(" and ") == people
        assert (paper["title"], paper["year"]) == (reference["title"], str(reference["year"]))
        assert ("booktitle" in paper) == (reference["type"] == "conference-paper")


def test_the_paper_of_a_benchmark_is_that_of_its_card() -> None:
    for name in benchmarks():
        (paper, _) = entries(cite(name).stdout).values()
        card = (ROOT / "docs" / "cards" / f"{name}.md").read_text(encoding="utf-8")
        assert f"arxiv.org/abs/{paper['eprint']}" in card


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three tasks, with one prompt for models that read all pictures first, and cut short."""
    folder = tmp_path / "run"
    folder.mkdir()
    tasks = ("figlang_mini", "figlang_mini_irfl_detect_idiom", "figlang_mini_nykms_mc")
    for path in varied_runs.strong().iterdir():
        if path.name.endswith("_results.json") or any(path.name.endswith(f"_samples_{task}.jsonl") for task in tasks):
            shutil.copy(path, folder)
    return folder


def test_a_signature_tells_what_the_numbers_depend_on(run: Path) -> None:
    (results,) = run.glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    content["configs"]["figlang_mini_nykms_mc"]["metadata"]["prompt_hash"] += "+pictures_first"
    content["config"] |= {"limit": 8.0, "gen_kwargs": {"temperature": 0.7, "do_sample": True}}
    content["n-samples"] = {task: {"original": 12, "effective": 8} for task in content["configs"]}
    results.write_text(json.dumps(content), encoding="utf-8")
    of = {task: config["metadata"] for task, config in content["configs"].items()}
    ours, harness = (of["figlang_mini"]["versions"][name] for name in ("figlang-tasks", "lmms-eval"))

    result = cite(run)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("%")]
    assert lines == [
        f"% {task}@{of[task]['version']}|data:{of[task]['data']}|prompt:{of[task]['prompt_hash']}"
        "|generation:temperature=0.7,do_sample=True"
        f"|harness:lmms-eval {harness}|figlang-tasks:{ours}|cut:limit 8{scorer}"
        for task, scorer in [
            ("figlang_mini", f"|scorer:{of['figlang_mini']['explanation_scorer']}"),
            ("figlang_mini_irfl_detect_idiom", ""),
            ("figlang_mini_nykms_mc", ""),
        ]
    ]
    assert list(entries(result.stdout)) == [
        "saakyan-etal-2025-understanding",
        "yosef-etal-2023-irfl",
        "chang-etal-2024-nykms",
        "figlang-tasks",
    ]


def test_what_the_files_do_not_tell_is_unknown(run: Path) -> None:
    (samples,) = run.glob("*_samples_figlang_mini_irfl_detect_idiom.jsonl")
    (results,) = run.glob("*_results.json")
    results.unlink()
    line = cite(samples).stdout.splitlines()[0]
    assert line.startswith("% figlang_mini_irfl_detect_idiom@unknown|data:figlang_mini_irfl/idiom-detection-task@")
    assert line.endswith("|prompt:unknown|harness:unknown|figlang-tasks:unknown")


def test_neither_a_benchmark_nor_a_run() -> None:
    told = commands.refused("cite", "vflutes")
    assert told.startswith("figlang cite: vflutes does not exist") and f"benchmarks: {', '.join(benchmarks())}" in told
