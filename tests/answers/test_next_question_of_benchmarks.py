"""A benchmark reads an invented question as its answer, or a label decides, if this fails."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import pytest
from demo_runs import mini_tasks, task_manager
from lmms_eval.tasks import get_task_dict

from figlang_tasks.answers.next_question import without_next_questions
from figlang_tasks.benchmarks.admire import tasks as admire
from figlang_tasks.benchmarks.ciibench import tasks as ciibench
from figlang_tasks.benchmarks.columbus import tasks as columbus
from figlang_tasks.benchmarks.flute import tasks as flute
from figlang_tasks.benchmarks.nycc import tasks as nycc
from figlang_tasks.benchmarks.vflute import tasks as vflute
from figlang_tasks.harness.judgement import JudgedTask
from figlang_tasks.scoring import process_results

# --- papers' own rules and careful readers ---

NEXT_FLUTE_QUESTION = (
    'Does the sentence "She sings." entail or contradict the sentence "She hums."? Please answer'
    ' between "Entails" or "Contradicts" and explain your decision in a sentence.'
)
NEXT_VFLUTE_QUESTION = (
    'Does this image confirm or deny the claim "A cat sleeps on the roof."? Discuss your reasoning'
    " and determine a label: entailment or contradiction."
)
Row = dict[str, Any]


@cache
def mini(name: str) -> Any:
    """The task of this name on two rows, as lmms-eval loads it."""
    return get_task_dict([name], task_manager(mini_tasks(), "figlang_random"), "simple")[name]


def first_row(name: str) -> Row:
    return dict(next(iter(mini(name).test_docs())))


def test_the_released_rule_reads_on_and_the_careful_reader_does_not() -> None:
    doc = first_row("figlang_mini_flute") | {"premise": "He is up.", "hypothesis": "He is down."}
    output = f"Contradicts. Up is not down.\n\n{NEXT_FLUTE_QUESTION}\nEntails. Both are music."
    record = flute.lm_eval_process_results(doc, [output])["sample"]
    assert (record["predicted_official"], record["predicted_strict"]) == (1, 0)


def test_the_answer_of_two_calls_is_cut_in_each_wording() -> None:
    doc = first_row("figlang_mini") | {"claim": "The boss is a shark."}
    answer = f"He bites.\nLABEL: entailment\n\n{NEXT_VFLUTE_QUESTION}\nLABEL: contradiction"
    output = json.dumps({"scene_graph": "{}", "answer": answer})
    record = vflute.scene_graph_process_results(doc, [output])["sample"]
    assert (record["predicted"], record["predicted_strict"]) == (0, 1)


# --- every benchmark ---


class Benchmark(NamedTuple):
    """How the rows of a benchmark are asked and judged, two answers to them, and its rows."""

    prompt: Callable[[Any], str]
    judge: Callable[[Any, str], Row]
    answers: tuple[str, str]
    docs: list[Row]


MINI = {
    "figlang_mini": ("It bites.\nLABEL: contradiction", "It does.\nLABEL: entailment"),
    "mini_2shot": ("It bites.\nLABEL: contradiction", "It does.\nLABEL: entailment"),
    "figlang_mini_flute": ("Contradicts. Both cannot hold.", "Entails. They say the same."),
    "mini_flute_v1": ("Yes. Both cannot hold.", "No."),
    "figlang_mini_nykms_metaphor": ("1. Yes\n2. flat\n3. It is dull.\n4. A pun.", "1. No"),
    "figlang_mini_nykms_metaphor_text": ("1. Yes\n2. flat\n3. It is dull.\n4. A pun.", "1. No"),
    "mini_nykms_mw": ("The lamp", "The bear"),
    "figlang_mini_irfl_detect_idiom": ("The answer is B.", "The answer is C."),
    "figlang_mini_irfl_retrieve_metaphor": ("Yes, it does.", "No, it does not."),
    "figlang_mini_metaclue_classify_literal": ("Yes.", "No."),
    "figlang_mini_metaclue_caption": (
        "the car is as fast as a cheetah",
        "the phone is as thin as paper",
    ),
    "figlang_mini_metaclue_vqa": ("a cheetah", "paper"),
    "figlang_mini_metaclue_retrieve_swap": ("2", "1"),
    "figlang_mini_metaclue_localize": (
        '[{"bbox_2d": [1, 2, 300, 400]}]',
        '[{"bbox_2d": [500, 600, 700, 800]}]',
    ),
}
DATA = {"dataset": "x", "unit": "u", "family": "u", "fold": "0", "sense": "literal"}
SNAIL = {
    **DATA, "request": "NYCC,config=ranking,fold=0", "id": "nycc-ranking-17",
    "data": "NYCC/ranking:0", "config": "ranking", "label": "A", "winner_source": "crowd_winner",
    "location": "a garden", "description": "A snail wears a watch.",
    "uncanny_description": "It has no wrist.", "entities": ["Snail", "Watch"],
    "captions": ["I have no time.", "It is late."],
}  # fmt: skip
BEAR = {
    "location": "a bar",
    "description": "A bear drinks.",
    "captions": ["Bear with me.", "Too cold?"],
    "label": "B",
}
JETS = {
    **DATA, "request": "COLUMBUS,order=benchmark", "id": "jet_set", "data": "COLUMBUS/benchmark:0",
    "kind": "text", "overlap": True, "answer": "B",
    "candidates": ["jet lag", "jet set", "jet stream", "jet ski"],
}  # fmt: skip
MOONS = {"candidates": ["half moon", "over the moon", "moon over", "moonlight"], "answer": "A"}
LOVE = {
    **DATA, "request": "CII-Bench,split=all", "id": "test-2", "data": "CII-Bench/all:0",
    "question": "这张图片有什么隐喻？", "answer": "B", "scopes": ["life"],
    "options": ["爱需投入。", "爱使盲目。", "爱使聪明。", "爱使孤独。", "爱使专注。", "爱会消失。"],
}  # fmt: skip
CANDLE = {
    "options": ["蜡烛可靠。", "透支健康。", "节约用电。", "科技进步。", "烛光浪漫。", "团队合作。"],
    "answer": "B",
}
NAMES = [f"{number}.png" for number in range(5)]
GREASE = {
    **DATA, "request": "AdMIRe,table=en_test,shown=pictures", "id": "elbow grease",
    "data": "AdMIRe/en_test:0", "compound": "elbow grease", "shown": "pictures",
    "sentence": "It took elbow grease to win.", "captions": [], "paths": NAMES, "names": NAMES,
    "order": NAMES,
}  # fmt: skip
COLD = {"compound": "cold feet", "sentence": "She got cold feet.", "id": "cold feet"}
OTHER_BENCHMARKS: dict[str, tuple[Any, Row, tuple[str, str], list[Row]]] = {
    "nycc": (
        nycc,
        {},
        ("Snails are slow. Answer: B", "It is a pun. Answer: A"),
        [SNAIL, SNAIL | BEAR],
    ),
    "ciibench": (ciibench, {"prompt": "none"}, ("答案：B", "答案：C"), [LOVE, LOVE | CANDLE]),
    "columbus": (columbus, {"prompt": "rebus"}, ("(B)", "(C)"), [JETS, JETS | MOONS]),
    "admire": (
        admire,
        {"prompt": "rank"},
        ("B, A, C, E, D", "C, D, E, A, B"),
        [GREASE, GREASE | COLD],
    ),
}
BENCHMARKS = [*MINI, *OTHER_BENCHMARKS]


def record_in_a_run(task: Any, doc: Any, output: str) -> Row:
    """The record of an answer as a run makes it."""
    record: Row = JudgedTask(copy.copy(task)).process_results(doc, [output])["sample"].record
    return record


def benchmark_of(name: str) -> Benchmark:
    if name in MINI:
        task = mini(name)
        docs = [dict(doc) for doc in task.test_docs()]
        return Benchmark(task.doc_to_text, partial(record_in_a_run, task), MINI[name], docs)
    module, options, answers, docs = OTHER_BENCHMARKS[name]
    doc_to_text = partial(module.doc_to_text, lmms_eval_specific_kwargs=options)

    def judge(doc: Any, output: str) -> Row:
        outputs = without_next_questions(doc, [output], doc_to_text, module.shown_texts)
        record: Row = process_results(doc, outputs)["sample"]
        return record

    return Benchmark(doc_to_text, judge, answers, docs)


def row_and_other(benchmark: Benchmark) -> tuple[Row, Row]:
    """A row, and one whose prompt is another, if there is one."""
    row = benchmark.docs[0]
    other_rows = [doc for doc in benchmark.docs if benchmark.prompt(doc) != benchmark.prompt(row)]
    return row, [*other_rows, benchmark.docs[1]][0]


@pytest.mark.parametrize("name", BENCHMARKS)
def test_the_answer_to_the_prompt_of_another_row_is_not_read(name: str) -> None:
    benchmark = benchmark_of(name)
    row, other = row_and_other(benchmark)
    answer, next_answer = benchmark.answers
    for next_question in (benchmark.prompt(other), f"Question: {benchmark.prompt(other)}\nAnswer:"):
        assert outputs_of_benchmark(
            benchmark, name, row, f"{answer}\n\n{next_question}\n{next_answer}"
        ) == [answer]


def outputs_of_benchmark(benchmark: Benchmark, name: str, row: Row, output: str) -> list[str]:
    """What a benchmark gets of an output when it judges a row."""
    if name in OTHER_BENCHMARKS:
        return without_next_questions(
            row, [output], benchmark.prompt, OTHER_BENCHMARKS[name][0].shown_texts
        )
    outputs: list[str] = []

    def keep(_: object, results: list[str]) -> Row:
        outputs.extend(results)
        return {}

    task = copy.copy(mini(name))
    task.process_results = keep
    JudgedTask(task).process_results(row, [output])
    return outputs


def constructed_outputs(benchmark: Benchmark, row: Row, other: Row) -> Iterator[str]:
    """Yield outputs that repeat the question, go on with another one, or do neither."""
    prompt, next_prompt = benchmark.prompt(row), benchmark.prompt(other)
    last_line = prompt.strip().splitlines()[-1]
    for answer, next_answer in (benchmark.answers, benchmark.answers[::-1]):
        for lead in (
            "",
            "Sure.\n\n",
            "It shows a snail.\n\n",
            "The question is:\n\n",
            "Again.\n\nQuestion: ",
        ):
            yield f"{lead}{prompt}\n\n{answer}"
            yield f"{lead}{last_line} A plays on time.\n\n{answer}"
        for lead in (
            "",
            "Question: ",
            "Question 2: ",
            "Q: ",
            "<image>\n",
            "USER: ",
            "2. ",
            "Claim: ",
        ):
            yield f"{answer}\n\n{lead}{next_prompt}\n{next_answer}"
            yield f"It shows a snail.\n{answer}\n{lead}{last_line}\n{next_answer}"
        for words in (
            "Which of the 2 options is funnier? A plays on time.",
            "Does the image help? It does.",
        ):
            yield f"It shows a snail.\n\n{words}\n\nAnswer: {answer}"


NOT_SHOWN: Mapping[str, tuple[Any, ...]] = {
    "id": ("A", "the", "image"),
    "explanation": ("the", "It is.", "contradict"),
    "references": (["the"], ["a cheetah"], ["is"]),
    "config": ("ranking", "ranking_1", "ranking_2"),
    "positive": (True, False),
    "metaphor": (True, False),
    "order": (NAMES, NAMES[::-1]),
    "winner_source": ("A", "the"),
}
LABELS = (
    ("A", "B"),
    (0, 1),
    (1, 2, 3),
    ("Entailment", "Contradiction"),
    ("entailment", "contradiction"),
)


def changed_rows(row: Row) -> Iterator[Row]:
    """Yield a row with other values in all columns that its prompt does not show."""
    columns = {column: values for column, values in NOT_SHOWN.items() if column in row}
    for column in {"label", "answer"} & row.keys():
        columns[column] = next(labels for labels in LABELS if row[column] in labels)
    for number in range(3):
        yield row | {column: values[number % len(values)] for column, values in columns.items()}


READINGS = (
    "predicted", "predicted_official", "predicted_strict", "status", "rule", "chosen", "caption",
    "answer", "predicted_sense",
)  # fmt: skip


@pytest.mark.parametrize("name", BENCHMARKS)
def test_what_the_prompt_does_not_show_decides_no_reading(name: str) -> None:
    benchmark = benchmark_of(name)
    row, other = row_and_other(benchmark)
    outputs = list(constructed_outputs(benchmark, row, other))
    assert len(outputs) >= 50
    for output in outputs:
        readings = [
            reading(benchmark.judge(changed, output)) for changed in (row, *changed_rows(row))
        ]
        assert all(changed == readings[0] for changed in readings), output


def reading(record: Mapping[str, Any]) -> Row:
    """What a record says of the reading of an output, without the index of the right answer."""
    is_choice = "answer" in record and "candidates" in record
    return {
        name: record[name]
        for name in READINGS
        if name in record and not (name == "answer" and is_choice)
    }
