"""If this fails, results name another version, prompt or data than was evaluated."""

from __future__ import annotations

from pathlib import Path

from demo_runs import FixedAnswers, evaluate

from figlang_tasks.core.benchmark import benchmarks
from figlang_tasks.harness.plugin import tasks_dir


def test_results_say_version_prompts_revision_and_number_of_examples(tmp_path: Path) -> None:
    include = f"include: {tasks_dir()}/mini/figlang_mini.yaml\n"
    (tmp_path / "shots.yaml").write_text(
        f"{include}task: shots\nlmms_eval_specific_kwargs: {{default: {{scorer: 'off', num_shots:"
        " 2}}\n"
    )
    (tmp_path / "mine.yaml").write_text(
        f"{include}task: mine\nmetadata: {{version: 0-7, num_fewshot: 3, note: by hand}}\n"
        "lmms_eval_specific_kwargs: {default: {scorer: 'off'}}\n"
    )
    (tmp_path / "listed.yaml").write_text(
        f"{include}task: listed\nmetadata: [{{version: 0-8}}]\n"
        "lmms_eval_specific_kwargs: {default: {scorer: 'off'}}\n"
    )
    results = evaluate(
        ["shots", "mine", "listed"], FixedAnswers("Yes"), limit=1, include_path=str(tmp_path)
    )

    vflute = benchmarks()["vflute"]
    digest = "fefe9a3e2816"  # of the texts that the package ships
    shots = results["configs"]["shots"]["metadata"]
    mine = results["configs"]["mine"]["metadata"]
    for metadata in (shots, mine):
        assert metadata["prompt_hash"] == vflute.prompt_hash
        assert metadata["data_revision"] == digest
        assert metadata["data"] == f"figlang_mini/test:{digest}"
    assert shots["version"] == results["versions"]["shots"] == vflute.version
    assert mine["version"] == results["versions"]["mine"] == "0-7"
    assert mine["note"] == "by hand"
    assert (results["n-shot"]["shots"], results["n-shot"]["mine"]) == (2, 3)
    assert results["configs"]["listed"]["metadata"][0] == {"version": "0-8"}
