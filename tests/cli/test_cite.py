"""``figlang cite``: BibTeX against CITATION.cff and the cards, signatures against what a run's
files hold.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import partial
from pathlib import Path

import commands
import varied_runs
import yaml

import figlang_tasks
from figlang_tasks.core.benchmark import benchmarks

ROOT = Path(__file__).resolve().parents[2]
CITED = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))


cite = partial(commands.figlang, "cite")


def test_all_papers_and_the_software_are_those_of_the_citation_file() -> None:
    result = cite()
    assert result.exit_code == 0, result.output
    assert result.stdout.count("{") == result.stdout.count("}")
    *papers, software = [
        " ".join(re.sub(r"[{}\\]", "", each).split()) for each in result.stdout.split("\n@")
    ]
    assert f"title = {CITED['title']}, author = {CITED['authors'][0]['name']}, " in software
    assert (
        f"note = Version {CITED['version']}" in software
        and CITED["version"] == figlang_tasks.__version__
    )
    assert len(papers) == len(benchmarks()) == len(CITED["references"])
    for reference in CITED["references"]:
        (eprint,) = re.findall(r"\d{4}\.\d{5}", reference["notes"])
        (paper,) = [each for each in papers if f"eprint = {eprint}, " in each]
        people = " and ".join(
            f"{person['family-names']}, {person['given-names']}" for person in reference["authors"]
        )
        for field in (
            f"title = {reference['title']}",
            f"author = {people}",
            f"year = {reference['year']}",
        ):
            assert f"{field}, " in paper
        assert f"url = https://arxiv.org/abs/{eprint}" in paper


def test_the_paper_of_a_benchmark_is_that_of_its_card() -> None:
    for name in benchmarks():
        (paper,) = re.findall(r"arxiv\.org/abs/[\d.]+", cite(name).stdout)
        assert paper in (ROOT / "docs" / "cards" / f"{name}.md").read_text(encoding="utf-8")


def test_a_signature_tells_what_the_numbers_depend_on(tmp_path: Path) -> None:
    """Of a run with one prompt for models that read all pictures first, and cut short; then without
    its results.
    """
    run = tmp_path / "run"
    shutil.copytree(varied_runs.strong(), run)
    (results,) = run.glob("*_results.json")
    content = json.loads(results.read_text(encoding="utf-8"))
    content["configs"]["figlang_mini_nykms_metaphor"]["metadata"]["prompt_hash"] += (
        "+pictures_first"
    )
    content["config"] |= {"limit": 8.0, "gen_kwargs": {"temperature": 0.7, "do_sample": True}}
    content["n-samples"] = {task: {"original": 12, "effective": 8} for task in content["configs"]}
    results.write_text(json.dumps(content), encoding="utf-8")

    result = cite(run)
    assert result.exit_code == 0, result.output
    lines = [line for line in result.stdout.splitlines() if line.startswith("%")]
    assert len(lines) == len(varied_runs.TASKS)
    for task in ("figlang_mini", "figlang_mini_irfl_detect_idiom", "figlang_mini_nykms_metaphor"):
        of = content["configs"][task]["metadata"]
        scorer = f"|scorer:{of['explanation_scorer']}" if task == "figlang_mini" else ""
        assert (
            f"% {task}@{of['version']}|data:{of['data']}|prompt:{of['prompt_hash']}"
            "|generation:temperature=0.7,do_sample=True"
            f"|harness:lmms-eval {of['versions']['lmms-eval']}"
            f"|figlang-tasks:{of['versions']['figlang-tasks']}|cut:limit 8{scorer}"
        ) in lines
    for key in (
        "saakyan-etal-2025-understanding",
        "yosef-etal-2023-irfl",
        "chang-etal-2024-nykms",
        "figlang-tasks",
    ):
        assert f"{{{key},\n" in result.stdout

    results.unlink()
    line = cite(*run.glob("*_samples_figlang_mini_irfl_detect_idiom.jsonl")).stdout.splitlines()[0]
    assert line.startswith(
        "% figlang_mini_irfl_detect_idiom@unknown|data:figlang_mini_irfl/idiom-detection-task@"
    )
    assert line.endswith("|prompt:unknown|harness:unknown|figlang-tasks:unknown")


def test_neither_a_benchmark_nor_a_run() -> None:
    told = commands.refused("cite", "vflutes")
    assert (
        told.startswith("figlang: vflutes does not exist")
        and f"benchmarks: {', '.join(benchmarks())}" in told
    )
