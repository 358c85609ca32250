"""The answers to questions that a model asks itself are read as its answer if this fails."""

from __future__ import annotations

import pytest
from demo_runs import mini_tasks
from lmms_eval.tasks import get_task_dict

import figlang_tasks
from figlang_tasks.answers.next_question import before_echo
from figlang_tasks.benchmarks.flute import task as flute
from figlang_tasks.harness import judgement

FLUTE = 'Does the sentence "He is up." entail or contradict the sentence "He is down."? Answer between "Entails" ...'
OWN = ("He is up.", "He is down.")
ANSWER = " Contradicts. Up is not down."
OTHER = 'Does the sentence "She sings." entail or contradict the sentence "She hums."?\nEntails. Both are music.'


@pytest.mark.parametrize("lead", ["\n", "\n\n", "\n  ", "\n\nQuestion: ", "\n\n2. ", "\n**Q2:** ", "\n\n<image>\n"])
def test_what_a_model_invents_is_cut_off(lead: str) -> None:
    for question in (OTHER, OTHER.replace('"', "\u201c", 1), FLUTE):
        assert before_echo(f"{ANSWER}{lead}{question}", FLUTE, OWN) == ANSWER


@pytest.mark.parametrize(
    "output",
    [
        f"{FLUTE}\n{ANSWER}",
        f"\n{OTHER}",
        f"The question is:\n\n{FLUTE}\n\n{ANSWER}",
        f"<think>Let me see.\n{FLUTE}\nThey differ.</think>{ANSWER}",
        f"{ANSWER}\nDoes the sentence make sense? It does.",
        f"{ANSWER} {OTHER}",
    ],
)
def test_what_is_no_next_question_stays(output: str) -> None:
    assert before_echo(output, FLUTE, OWN) == output


def test_the_label_of_an_invented_pair_is_not_the_answer() -> None:
    ids = {"id": "1", "data": "d", "codalab_id": 1, "source_id": 1}
    doc = {**ids, "premise": OWN[0], "hypothesis": OWN[1], "prompt": "v2"}
    found = flute.lm_eval_process_results(doc, [f"{ANSWER}\n\n{OTHER}"])["sample"]
    assert (found["predicted"], found["explanation"]) == (0, "Up is not down.")


ASKED_IN_WORDS = [
    "figlang_mini", "mini_2shot", "figlang_mini_flute", "mini_flute_v1", "figlang_mini_nykms_metaphor",
    "figlang_mini_nykms_metaphor_text", "mini_nykms_mw", "figlang_mini_irfl_detect_idiom",
    "figlang_mini_irfl_retrieve_metaphor", "figlang_mini_metaclue_classify_literal", "figlang_mini_metaclue_caption",
    "figlang_mini_metaclue_vqa", "figlang_mini_metaclue_retrieve_swap", "figlang_mini_metaclue_localize",
]  # fmt: skip


@pytest.mark.parametrize("name", ASKED_IN_WORDS)
def test_of_every_benchmark(name: str) -> None:
    manager = figlang_tasks.task_manager(include_defaults=False, include_path=mini_tasks(), model_name="figlang_random")
    task = get_task_dict([name], manager, "simple")[name]
    docs = list(task.test_docs())[:6]
    judged: list[str] = []

    def judge(doc: object, results: list[str]) -> dict[str, str]:
        judged.extend(results)
        return {}

    for doc, other in zip(docs, docs[1:], strict=False):
        if "instruction" in doc:  # of 21, a model says the one that it has read
            other = other | {"instruction": doc["instruction"]}
        judgement.process_results(task, judge, doc, [f"Yes.\n\n{task.doc_to_text(other)}\nNo."])
    assert judged and all(each.startswith("Yes.") and "No." not in each for each in judged)
