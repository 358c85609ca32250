"""``figlang cite``: its BibTeX agrees with CITATION.cff, its signatures with a run's files."""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path
from typing import Any

import commands
import demo_runs
import yaml

import figlang_tasks
from figlang_tasks.core.benchmark import benchmarks

ROOT = Path(__file__).resolve().parents[2]
CITATION_FILE = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))

cite = partial(commands.figlang, "cite")


def bibtex_entries(output: str) -> list[str]:
    """The entries of BibTeX in one line each, without braces and backslashes."""
    entries = []
    for entry in output.split("\n@"):
        entries.append(" ".join(re.sub(r"[{}\\]", "", entry).split()))
    return entries


def test_all_papers_and_the_software_are_those_of_the_citation_file() -> None:
    result = cite()
    assert result.exit_code == 0, result.output
    assert result.stdout.count("{") == result.stdout.count("}")
    *papers, software = bibtex_entries(result.stdout)
    title = CITATION_FILE["title"]
    author = CITATION_FILE["authors"][0]["name"]
    assert f"title = {title}, author = {author}, " in software
    assert f"note = Version {CITATION_FILE['version']}" in software
    assert CITATION_FILE["version"] == figlang_tasks.__version__
    assert len(papers) == len(benchmarks_with_paper())
    assert len(papers) == len(CITATION_FILE["references"])
    for reference in CITATION_FILE["references"]:
        check_reference(reference, papers)


def benchmarks_with_paper() -> list[str]:
    return [name for name, benchmark in benchmarks().items() if benchmark.citation]


def check_reference(reference: dict[str, Any], papers: list[str]) -> None:
    """Check that one of the papers has the fields of a reference in the citation file."""
    (eprint,) = re.findall(r"\d{4}\.\d{5}", reference["notes"])
    (paper,) = [entry for entry in papers if f"eprint = {eprint}, " in entry]
    people = []
    for person in reference["authors"]:
        people.append(f"{person['family-names']}, {person['given-names']}")
    assert f"title = {reference['title']}, " in paper
    assert f"author = {' and '.join(people)}, " in paper
    assert f"year = {reference['year']}, " in paper
    assert f"url = https://arxiv.org/abs/{eprint}" in paper


def test_the_paper_of_a_benchmark_is_that_of_its_card() -> None:
    for name in benchmarks_with_paper():
        (paper,) = re.findall(r"arxiv\.org/abs/[\d.]+", cite(name).stdout)
        assert paper in (ROOT / "docs" / "cards" / f"{name}.md").read_text(encoding="utf-8")


def save_partial_run(run: Path) -> dict[str, Any]:
    """Save a partial run with sampled answers; return the content of its results file.

    One of its prompts is for models that read all pictures first.
    """
    shutil.copytree(demo_runs.strong_run(), run)
    (results_file,) = run.glob("*_results.json")
    content: dict[str, Any] = json.loads(results_file.read_text(encoding="utf-8"))
    metadata = content["configs"]["figlang_mini_nykms_metaphor"]["metadata"]
    metadata["prompt_hash"] += "+pictures_first"
    content["config"]["limit"] = 8.0
    content["config"]["gen_kwargs"] = {"temperature": 0.7, "do_sample": True}
    content["n-samples"] = {task: {"original": 12, "effective": 8} for task in content["configs"]}
    results_file.write_text(json.dumps(content), encoding="utf-8")
    return content


def test_a_signature_says_what_the_numbers_depend_on(tmp_path: Path) -> None:
    content = save_partial_run(tmp_path / "run")
    result = cite(tmp_path / "run")
    assert result.exit_code == 0, result.output
    signatures = [line for line in result.stdout.splitlines() if line.startswith("%")]
    assert len(signatures) == len(demo_runs.VARIED_TASKS)
    for task in ("figlang_mini", "figlang_mini_irfl_detect_idiom", "figlang_mini_nykms_metaphor"):
        metadata = content["configs"][task]["metadata"]
        signature = (
            f"% {task}@{metadata['version']}|data:{metadata['data']}"
            f"|prompt:{metadata['prompt_hash']}|generation:temperature=0.7,do_sample=True"
            f"|harness:lmms-eval {metadata['versions']['lmms-eval']}"
            f"|figlang-tasks:{metadata['versions']['figlang-tasks']}|partial:limit 8"
        )
        if task == "figlang_mini":
            signature += f"|scorer:{metadata['explanation_scorer']}"
        assert signature in signatures
    for key in (
        "saakyan-etal-2025-understanding",
        "yosef-etal-2023-irfl",
        "chang-etal-2024-nykms",
        "figlang-tasks",
    ):
        assert f"{{{key},\n" in result.stdout


def test_without_a_results_file_most_is_unknown(tmp_path: Path) -> None:
    (samples_file,) = demo_runs.strong_run().glob("*_samples_figlang_mini_irfl_detect_idiom.jsonl")
    shutil.copy(samples_file, tmp_path)
    signature = cite(tmp_path / samples_file.name).stdout.splitlines()[0]
    data = "figlang_mini_irfl/idiom-detection-task@"
    assert signature.startswith(f"% figlang_mini_irfl_detect_idiom@unknown|data:{data}")
    assert signature.endswith("|prompt:unknown|harness:unknown|figlang-tasks:unknown")


def test_neither_a_benchmark_nor_a_run() -> None:
    message = commands.refused("cite", "vflut")
    assert message.startswith("figlang: no benchmark and no run 'vflut' (did you mean `vflute`")
    message = commands.refused("cite", "xyz")
    assert message.startswith("figlang: xyz does not exist")
    assert f"benchmarks: {', '.join(benchmarks())}" in message
