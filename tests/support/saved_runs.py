"""Runs as the harness saves them, made without a model: of mini benchmarks, and of all of IRFL."""

from __future__ import annotations

import json
import pkgutil
import random
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
"""Gives the answer to a document and its number."""


def _answer_mini(doc: Mapping[str, Any], number: int) -> str:
    right = f"{doc['explanation']}\nLABEL: {doc['label']}"
    return (right, "A kettle.\nLABEL: contradiction", "I would not say.")[number % 3]


def _answer_flute(doc: Mapping[str, Any], number: int) -> str:
    return ("Entails. They go together.", "Contradicts. They do not.", "Who knows.")[number % 3]


def _detect_idiom(doc: Mapping[str, Any], number: int) -> str:
    return "ABCD?"[number % 5]


def _match_idiom(doc: Mapping[str, Any], number: int) -> str:
    return json.dumps({"scores": [0.1, 0.4, 0.2, (0.3, 0.8, 0.4)[number % 3]]})


def _retrieve_metaphor(doc: Mapping[str, Any], number: int) -> str:
    return json.dumps({"scores": [(7 * number % 11) / 11]})


def _answer_nykms(doc: Mapping[str, Any], number: int) -> str:
    right = "1. Yes\n2. cage\n3. The job is a cage."
    return (right, "1. No", "", "I'm sorry, but I can't.")[number % 4]


def _classify_literal(doc: Mapping[str, Any], number: int) -> str:
    return ("Yes", "No", "Hm")[number % 3]


def _retrieve_swap(doc: Mapping[str, Any], number: int) -> str:
    return json.dumps({"scores": [0.6, 0.6 if number % 3 == 2 else 0.4]})


def _caption(doc: Mapping[str, Any], number: int) -> str:
    return (doc["references"][0], "this is as bright as that", "")[number % 3]


def _answer_vqa(doc: Mapping[str, Any], number: int) -> str:
    return (doc["references"][0], "a kettle", "")[number % 3]


def _localize(doc: Mapping[str, Any], number: int) -> str:
    return ("[[100, 100, 500, 500]]", "nothing to see")[number % 2]


ANSWER_BY_TASK: dict[str, Answer] = {
    "figlang_mini": _answer_mini,
    "figlang_mini_flute": _answer_flute,
    "figlang_mini_irfl_detect_idiom": _detect_idiom,
    "figlang_mini_irfl_match_idiom": _match_idiom,
    "figlang_mini_irfl_retrieve_metaphor": _retrieve_metaphor,
    "figlang_mini_nykms_metaphor": _answer_nykms,
    "figlang_mini_metaclue_classify_literal": _classify_literal,
    "figlang_mini_metaclue_retrieve_swap": _retrieve_swap,
    "figlang_mini_metaclue_caption": _caption,
    "figlang_mini_metaclue_vqa": _answer_vqa,
    "figlang_mini_metaclue_localize": _localize,
}
"""What a model answers, for a task of each kind on the data of the package."""


def sample_lines(
    task: str, count: int | None = None, answer: Answer | None = None
) -> list[dict[str, Any]]:
    """The lines of a samples file of a task, with records that the task itself makes.

    Args:
        task: the name of the task.
        count: the number of documents; all of them if None.
        answer: gives the answers; by default that of `ANSWER_BY_TASK`.
    """
    config = task_files.read(task_files.files("lmms_eval")[task])
    process_results = pkgutil.resolve_name(config["process_results"])
    benchmark, request = parse_request(config["dataset_name"])
    answer = answer or ANSWER_BY_TASK[task]
    lines: list[dict[str, Any]] = []
    for number, doc in enumerate(benchmark.documents(request, check_images=True)):
        if number == count:
            break
        output = answer(doc, number)
        values = json.loads(json.dumps(process_results(doc, [output]), default=str))
        line = {
            "doc_id": number,
            "input": f"What of {doc['id']}?",
            "filtered_resps": output,
            "target": "",
        }
        lines.append({**line, **values})
    return lines


def write_run(
    folder: Path,
    lines_by_task: Mapping[str, Sequence[Mapping[str, Any]]],
    config: Mapping[str, Any] | None = None,
    **results: Any,
) -> Path:
    """Write a results file and the samples files of tasks, and return their folder.

    Args:
        folder: the folder of the run.
        lines_by_task: the lines of each samples file.
        config: further entries of the section ``config``, such as the model.
        results: sections of the results file with other content.
    """
    folder.mkdir(parents=True, exist_ok=True)
    sizes: dict[str, dict[str, int]] = {}
    for task, lines in lines_by_task.items():
        content = "".join(json.dumps(line) + "\n" for line in lines)
        (folder / f"{DATE}_samples_{task}.jsonl").write_text(content, encoding="utf-8")
        sizes[task] = {"original": len(lines), "effective": len(lines)}
    sections = {
        "results": {task: {} for task in lines_by_task},
        "configs": {task: {"task": task, "metadata": METADATA} for task in lines_by_task},
        "n-samples": sizes,
        "config": {"model": "figlang_random", "model_args": "", **(config or {})},
        "model_name": folder.name,
        **results,
    }
    (folder / f"{DATE}_results.json").write_text(json.dumps(sections), encoding="utf-8")
    return folder


def saved_run(folder: Path, *tasks: str, count: int | None = None, name: str | None = None) -> Run:
    """A run of some tasks, written into a folder and read."""
    path = write_run(folder, {task: sample_lines(task, count) for task in tasks})
    return read(f"{name}={path}" if name else str(path))


# --- IRFL, with as many rows as the release has ---

IRFL_REVISION = "0123456789abcdef0123456789abcdef01234567"
DETECTION_ROWS = {"idiom": 200, "metaphor": 333, "open_simile": 277, "simile": 277}
RETRIEVAL_ROWS = {"idiom": 243, "metaphor": 34, "open_simile": 142, "simile": 142}
Records = list[dict[str, Any]]


def _idiom_type(phrase: str, is_figurative: bool) -> str:
    """The type of a row of idioms; other tables have none."""
    if phrase != "idiom":
        return ""
    return "figurative" if is_figurative else "figurative_literal"


def detection_records(phrase: str, is_right: Callable[[int], bool]) -> Records:
    """Records of a detection task.

    Args:
        phrase: the kind of phrase, a key of `DETECTION_ROWS`.
        is_right: whether the row of this number is answered right.
    """
    table = f"{phrase.replace('_', '-')}-detection-task"
    records: Records = []
    for number in range(DETECTION_ROWS[phrase]):
        wrong_choice = None if number % 2 else 2
        record = {
            "task": "irfl_detect",
            "request": f"IRFL,table={table}",
            "id": f"{table}-{number}",
            "data": f"IRFL/{table}@{IRFL_REVISION}:0123456789ab",
            "row": f"{table}-{number}",
            "unit": f"phrase {number}",
            "type": _idiom_type(phrase, number < 131),
            "candidates": ["1", "2", "3", "4"],
            "roles": ["answer", "literal", "random", "random"],
            "answer": 0,
            "chosen": 0 if is_right(number) else wrong_choice,
            "status": "scores",
            "rule": "argmax",
            "scores": [0.5, 0.1, 0.2, 0.3],
        }
        records.append(record)
    return records


def retrieval_records(phrase: str, count_hits: Callable[[int], int]) -> Records:
    """Records of a retrieval task: five images a row, two of them positive.

    Args:
        phrase: the kind of phrase, a key of `RETRIEVAL_ROWS`.
        count_hits: how many positive images of the row of this number are ranked at the top.
    """
    table = f"{phrase.replace('_', '-')}-retrieval-task"
    records: Records = []
    for number in range(RETRIEVAL_ROWS[phrase]):
        hits = count_hits(number)
        positive_scores = [0.9] * hits + [0.1] * (2 - hits)
        negative_scores = [0.8] * (2 - hits) + [0.2] * (1 + hits)
        for index, score in enumerate(positive_scores + negative_scores):
            record = {
                "task": "irfl_retrieve",
                "request": f"IRFL,table={table}",
                "id": f"{table}-{number}-{index}",
                "data": f"IRFL/{table}@{IRFL_REVISION}:ba9876543210",
                "row": f"{table}-{number}",
                "unit": f"phrase {number}",
                "type": _idiom_type(phrase, number % 2 == 1),
                "uuid": str(index),
                "positive": index < 2,
                "images": 5,
                "status": "scores",
                "value": score,
            }
            records.append(record)
    return records


def write_irfl_samples(folder: Path, task: str, records: Records) -> None:
    """Write the samples file of a task, with its records shuffled."""
    folder.mkdir(exist_ok=True)
    random.Random(1).shuffle(records)
    lines: list[str] = []
    for number, record in enumerate(records):
        lines.append(json.dumps({"doc_id": number, "sample": record}) + "\n")
    (folder / f"2026-01-02T03-04-05_samples_{task}.jsonl").write_text("".join(lines))
