"""figlang_random and figlang_majority: chance levels, the same on every rank and in every order."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from demo_runs import answers, evaluate, mini_tasks
from rows_with_images import drawing

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.core import score_requests

TASK = "figlang_mini"


@pytest.fixture(scope="module", autouse=True)
def no_explanation_scorer() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FIGLANG_SCORER", "off")
        yield


def test_majority_answers_the_most_frequent_label_of_all_documents() -> None:
    labels = rows.load(TASK, "test")["label"]
    results = evaluate(TASK, "figlang_majority", limit=20)
    for answer in answers(results, TASK).values():
        assert answer.endswith("LABEL: entailment")
    assert labels.count("entailment") == 41 and len(labels) == 76
    assert results["results"][TASK]["acc,none"] == labels[:20].count("entailment") / 20


def test_majority_takes_the_first_in_the_alphabet_of_equally_frequent_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "V-FLUTE"
    folder.mkdir()
    drawing(0, 8).save(folder / "0.png")
    json_lines: list[str] = []
    for number, label in enumerate(("entailment", "contradiction")):
        row = {
            "id": f"{number}",
            "image": "0.png",
            "claim": f"Claim {number}",
            "label": label,
            "explanation": "So.",
        }
        json_lines.append(json.dumps(row) + "\n")
    (folder / "test.jsonl").write_text("".join(json_lines), encoding="utf-8")
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(tmp_path))
    vflute_answers = answers(evaluate("vflute", "figlang_majority"), "vflute")
    assert len(vflute_answers) == 2
    for answer in vflute_answers.values():
        assert answer.endswith("LABEL: contradiction")


def test_random_answers_depend_on_seed_task_and_document_alone() -> None:
    all_answers = answers(evaluate(TASK, "figlang_random"), TASK)
    some_results = evaluate(TASK, "figlang_random", "seed=0", limit=9, offset=30)
    assert answers(some_results, TASK) == {number: all_answers[number] for number in range(30, 39)}
    answers_of_other_seed = answers(evaluate(TASK, "figlang_random", "seed=1"), TASK)
    assert answers_of_other_seed.keys() == all_answers.keys()
    assert answers_of_other_seed != all_answers
    entailments = [answer.endswith("LABEL: entailment") for answer in all_answers.values()]
    assert 0.3 < sum(entailments) / 76 < 0.7


def test_random_answers_of_the_scene_graph_task_end_with_a_label() -> None:
    results = evaluate("mini_sg", "figlang_random", include_path=mini_tasks(), limit=3)
    assert results["results"]["mini_sg"]["parse_rate,none"] == 1.0


@pytest.mark.parametrize(
    ("task_name", "counts"),
    [("figlang_mini_irfl_match_idiom", [4] * 3), ("figlang_mini_metaclue_retrieve_swap", [2] * 3)],
    ids=["match", "candidates"],
)
def test_random_gives_a_score_for_each_picture_or_candidate(
    task_name: str, counts: list[int]
) -> None:
    random_answers = answers(evaluate(task_name, "figlang_random", "seed=3", limit=3), task_name)
    for number, count in enumerate(counts):
        generator = random.Random(f"3/{task_name}/{number}")
        expected = [generator.random() for _ in range(count)]
        assert score_requests.read_answer(random_answers[number]) == expected


def test_a_task_that_declares_no_possible_answers_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(tasks, "chance_answers")
    message = "task figlang_mini does not declare its possible answers: .*chance_answers"
    with pytest.raises(FigLangError, match=message):
        evaluate(TASK, "figlang_majority")
