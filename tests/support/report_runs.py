"""Finished runs on the mini benchmarks, judged by the tasks themselves, without a harness."""

from __future__ import annotations

import json
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from figlang_tasks.core import task_files
from figlang_tasks.core.benchmark import parse_request
from figlang_tasks.results.runs import read
from figlang_tasks.results.task_run import Run

DATE = "20260102_030405"
METADATA = {
    "version": "2-0",
    "prompt_hash": "abc123",
    "explanation_scorer": "embedded|" + "key:value," * 20,
}
Answer = Callable[[Mapping[str, Any], int], str]

# task -> what a model says of a document, by its number
TASKS: dict[str, Answer] = {
    "figlang_mini": lambda doc, n: (
        f"{doc['explanation']}\nLABEL: {doc['label']}",
        "A kettle.\nLABEL: contradiction",
        "I would not say.",
    )[n % 3],
    "figlang_mini_flute": lambda doc, n: (
        "Entails. They go together.",
        "Contradicts. They do not.",
        "Who knows.",
    )[n % 3],
    "figlang_mini_irfl_detect_idiom": lambda doc, n: "ABCD?"[n % 5],
    "figlang_mini_irfl_match_idiom": lambda doc, n: json.dumps(
        {"scores": [0.1, 0.4, 0.2, (0.3, 0.8, 0.4)[n % 3]]}
    ),
    "figlang_mini_irfl_retrieve_metaphor": lambda doc, n: json.dumps(
        {"scores": [(7 * n % 11) / 11]}
    ),
    "figlang_mini_nykms_metaphor": lambda doc, n: (
        "1. Yes\n2. cage\n3. The job is a cage.",
        "1. No",
        "",
        "I'm sorry, but I can't.",
    )[n % 4],
    "figlang_mini_metaclue_classify_literal": lambda doc, n: ("Yes", "No", "Hm")[n % 3],
    "figlang_mini_metaclue_retrieve_swap": lambda doc, n: json.dumps(
        {"scores": [0.6, (0.4, 0.6)[n % 3 == 2]]}
    ),
    "figlang_mini_metaclue_caption": lambda doc, n: (
        doc["references"][0],
        "this is as bright as that",
        "",
    )[n % 3],
    "figlang_mini_metaclue_vqa": lambda doc, n: (doc["references"][0], "a kettle", "")[n % 3],
    "figlang_mini_metaclue_localize": lambda doc, n: ("[[100, 100, 500, 500]]", "nothing to see")[
        n % 2
    ],
}


def lines_of(
    task: str, count: int | None = None, answer: Answer | None = None
) -> list[dict[str, Any]]:
    """The lines of a samples file of a task."""
    config = task_files.read(task_files.files("lmms_eval")[task])
    judge = pkgutil.resolve_name(config["process_results"])
    benchmark, request = parse_request(config["dataset_name"])
    found = []
    for number, doc in enumerate(benchmark.documents(request, check_images=True)):
        if number == count:
            break
        output = (answer or TASKS[task])(doc, number)
        judged = json.loads(json.dumps(judge(doc, [output]), default=str))
        found.append(
            {
                "doc_id": number,
                "input": f"What of {doc['id']}?",
                "filtered_resps": output,
                "target": "",
                **judged,
            }
        )
    return found


def write_run(
    folder: Path,
    lines: Mapping[str, Sequence[Mapping[str, Any]]],
    config: Mapping[str, Any] | None = None,
    **results: Any,
) -> Path:
    """Write the files that the harness would."""
    folder.mkdir(parents=True, exist_ok=True)
    for task, found in lines.items():
        content = "".join(json.dumps(line) + "\n" for line in found)
        (folder / f"{DATE}_samples_{task}.jsonl").write_text(content, encoding="utf-8")
    count = {
        task: {"original": len(found), "effective": len(found)} for task, found in lines.items()
    }
    whole = {
        "results": {task: {} for task in lines},
        "configs": {task: {"task": task, "metadata": METADATA} for task in lines},
        "n-samples": count,
        "config": {"model": "figlang_random", "model_args": "", **(config or {})},
        "model_name": folder.name,
        **results,
    }
    (folder / f"{DATE}_results.json").write_text(json.dumps(whole), encoding="utf-8")
    return folder


def run_of(folder: Path, *tasks: str, count: int | None = None, name: str | None = None) -> Run:
    """A run of some tasks, written and read."""
    path = write_run(folder, {task: lines_of(task, count) for task in tasks})
    return read(f"{name}={path}" if name else str(path))
