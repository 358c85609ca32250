"""A model that reads answers is told what is right, or is misread, if these tests fail."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import rows_with_images
from saved_runs import sample_lines, write_run

from figlang_tasks.benchmarks.vflute.tasks import scene_graph_process_results
from figlang_tasks.core.benchmark import Benchmark, parse_request
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.judge.unread import UnreadAnswer, find_unread, read_option
from figlang_tasks.results.runs import read
from figlang_tasks.scoring import process_results

UNREAD = "Hm, let me look again."
Record = dict[str, Any]

TASKS: dict[str, dict[str, str]] = {
    "figlang_mini,split=test": {
        "entailment": "LABEL: entailment",
        "contradiction": "LABEL: contradiction",
    },
    "figlang_mini_flute,part=train,prompt=v2": {
        "Entails": "Entails. So it is.",
        "Contradicts": "Contradicts. So it is.",
    },
    "figlang_mini_flute,part=train,prompt=v1": {"Yes": "Yes. They do.", "No": "No."},
    "figlang_mini_irfl,table=idiom-detection-task": {
        "A: the first image, or the one at the top left": "A",
        "B: the second image, or the one at the top right": "B",
        "C: the third image, or the one at the bottom left": "C",
        "D: the fourth image, or the one at the bottom right": "D",
    },
    "figlang_mini_irfl,table=metaphor-retrieval-task": {"Yes": "Yes", "No": "No"},
    "figlang_mini_metaclue,task=classify_literal": {"Yes": "Yes", "No": "No"},
    "figlang_mini_metaclue,task=retrieve_swap": {"1: ": "1", "2: ": "2"},
    "figlang_mini_nykms,question=metaphor,modality=image": {
        "Yes": "1. Yes\n2. cage\n3. It is a cage.",
        "No": "1. No",
    },
    "COLUMBUS,order=benchmark": {
        "A: phrase 100": "A",
        "B: phrase 100 of B": "B",
        "C: phrase 100 of C": "C",
        "D: phrase 100 of D": "D",
    },
    "NYCC,config=matching,fold=1": {
        f"{letter}: {caption} no time, 2.": f"Answer: {letter}"
        for letter, caption in rows_with_images.NYCC_CAPTION_STARTS.items()
    },
    "NYCC,config=ranking,fold=2": {
        "A: I have no time, 2.": "Answer: A",
        "B: There is no time, 2.": "Answer: B",
    },
    "AdMIRe,table=sequence_test,shown=pictures": {
        letter: f"Image: {letter}\nSense: idiomatic" for letter in "ABCD"
    },
    "AdMIRe,table=sequence_test,shown=captions": {
        f"{letter}: Shows": f"Image: {letter}\nSense: literal" for letter in "ABCD"
    },
}
"""By the ``dataset_name`` of a task file: the options that a model is told.

Each option stands with the plain answer that says the same.
"""


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of datasets that do not come with the package."""
    folder = tmp_path / "data"
    folder.mkdir()
    monkeypatch.setenv("FIGLANG_DATA_DIR", str(folder))
    return folder


def documents(dataset_name: str, data: Path) -> list[dict[str, Any]]:
    """The first three documents of a task; of rankings all pictures of the first row."""
    if dataset_name.startswith("COLUMBUS"):
        rows_with_images.write_columbus(data / "COLUMBUS", rows_with_images.columbus_rows(1005))
    elif dataset_name.startswith("NYCC"):
        rows_with_images.write_valid_nycc(data, matching_1=3, ranking_2=3)
    elif dataset_name.startswith("AdMIRe"):
        rows = rows_with_images.admire_rows("sequence_test", 3)
        rows_with_images.write_admire_table(data, "sequence_test", rows, pictures=True)
    benchmark, request = parse_request(dataset_name)
    dataset = benchmark.documents(request, check_images=True)
    count = dataset[0].get("images", 3)
    return [dict(document) for document in dataset.select(range(count))]


def record_of(document: Mapping[str, Any], output: str) -> Record:
    """The record that its task makes of an answer to a document."""
    return dict(process_results(document, [output])["sample"])


def save(folder: Path, records: list[Record], output: str) -> str:
    """Write a samples file with one output to all rows into a new folder; return the folder."""
    folder.mkdir()
    lines: list[str] = []
    for number, record in enumerate(records):
        sample = {"doc_id": number, "filtered_resps": [output], "sample": record}
        lines.append(json.dumps(sample) + "\n")
    (folder / "samples_some_task.jsonl").write_text("".join(lines))
    return str(folder)


def save_unread(folder: Path, docs: list[dict[str, Any]]) -> str:
    """Write a samples file in which the answers to all documents were left; return the folder."""
    return save(folder, [record_of(doc, UNREAD) for doc in docs], UNREAD)


def unread_answers(path: str) -> tuple[UnreadAnswer, ...]:
    """The answers that were left of a run with one task."""
    (readable,) = find_unread(read(path), "judge-1").tasks.values()
    return readable.unread


def option_lines(prompt: str) -> list[str]:
    """The lines of the options in a prompt."""
    _, _, options = prompt.partition("Options:\n")
    options, _, _ = options.partition("\n\n")
    return options.splitlines()


@pytest.mark.parametrize("dataset_name", TASKS)
def test_the_options_are_those_of_the_prompt_and_each_becomes_what_a_plain_answer_says(
    dataset_name: str, tmp_path: Path, data: Path
) -> None:
    options = TASKS[dataset_name]
    docs = documents(dataset_name, data)
    path = save_unread(tmp_path / "run", docs)
    (readable,) = find_unread(read(path), "judge-1").tasks.values()
    assert [answer.index for answer in readable.unread] == [*range(len(docs))]

    answer = readable.unread[2]
    assert f"<answer>\n{UNREAD}\n</answer>" in answer.prompt
    for line, expected in zip(option_lines(answer.prompt), options, strict=True):
        assert line.startswith(expected)
    record = readable.task.records[2]
    for label, plain_answer in zip(answer.labels, options.values(), strict=True):
        fields = readable.choice.fields(record, label)
        plain_record = record_of(docs[2], plain_answer)
        if "words" in plain_record:  # of NYK-MS a model reads the label alone
            predicted = fields["predicted"]
            assert isinstance(predicted, dict)
            assert predicted["MC"] == plain_record["predicted"]["MC"]
        else:
            assert fields
            assert fields.items() <= plain_record.items()
            assert not fields.items() <= record.items()


@pytest.mark.parametrize("dataset_name", TASKS)
def test_nothing_else_of_the_row_is_told(dataset_name: str, tmp_path: Path, data: Path) -> None:
    docs = documents(dataset_name, data)
    path = save_unread(tmp_path / "run", docs)
    for answer, doc in zip(unread_answers(path), docs, strict=True):
        without_options = answer.prompt.replace("\n".join(option_lines(answer.prompt)), "")
        assert doc["id"] not in without_options
        long_texts = 0
        for text in doc.values():
            if isinstance(text, str) and len(text) > len("contradiction"):
                assert text not in without_options
                long_texts += 1
        assert long_texts > 0


def test_a_gold_label_changes_no_prompt(tmp_path: Path) -> None:
    samples = sample_lines("figlang_mini", 4, lambda doc, number: UNREAD)
    path = write_run(tmp_path / "as_it_is", {"figlang_mini": samples})
    for sample in samples:
        sample["sample"]["gold"] = 1 - sample["sample"]["gold"]
        sample["sample"]["id"] = f"x{sample['doc_id']}"
        sample["sample"]["reference"] = "Because."
        sample["target"] = "entailment"
    changed_path = write_run(tmp_path / "changed", {"figlang_mini": samples})
    answers = unread_answers(str(path))
    changed_answers = unread_answers(str(changed_path))
    for answer, changed_answer in zip(answers, changed_answers, strict=True):
        assert answer.prompt == changed_answer.prompt


@pytest.mark.parametrize(
    ("output", "is_left"),
    [
        ("LABEL: entailment", False),  # read
        ("", False),
        (" \n", False),
        ("<think>The label may be", False),  # a thought that never ended
        ("<think>The label may be</think>", False),
        ("[LMMS_EVAL_REQUEST_FAILED] no server", False),
        ("I cannot tell.", True),
        ("LABEL: neither", True),
        ("entailment or contradiction", True),  # ambiguous
        ("<think>It is so.</think>Hm.", True),
    ],
)
def test_which_answers_are_left(output: str, is_left: bool, tmp_path: Path) -> None:
    def judged_output(doc: Mapping[str, Any], number: int) -> str:
        """The output as the harness judges it: its own message is no answer."""
        return "" if output.startswith("[LMMS") else output

    samples = sample_lines("figlang_mini", 1, judged_output)
    samples[0]["filtered_resps"] = [output]
    unread = unread_answers(str(write_run(tmp_path / "run", {"figlang_mini": samples})))
    assert len(unread) == is_left
    for answer in unread:
        assert "<think>" not in answer.prompt
        assert "It is so" not in answer.prompt


def test_a_long_answer_is_shown_from_both_ends(tmp_path: Path) -> None:
    output = "It begins. " + "So it goes on. " * 5_000 + "It ends."
    samples = sample_lines("figlang_mini", 1, lambda doc, number: output)
    (answer,) = unread_answers(str(write_run(tmp_path / "run", {"figlang_mini": samples})))
    assert "<answer>\nIt begins." in answer.prompt
    assert "\n[...]\n" in answer.prompt
    assert "It ends.\n</answer>" in answer.prompt
    assert len(answer.prompt) < 14_000
    assert answer.estimated_tokens == len(answer.prompt) // 4


def test_the_answer_of_two_stages_is_the_last_one(tmp_path: Path, data: Path) -> None:
    doc, *_ = documents("figlang_mini,split=test", data)
    output = json.dumps({"scene_graph": "a cat LABEL: entailment", "answer": "I would not say."})
    record = dict(scene_graph_process_results(doc, [output])["sample"])
    (answer,) = unread_answers(save(tmp_path / "run", [record], output))
    assert "<answer>\nI would not say.\n</answer>" in answer.prompt


def test_a_picture_that_was_read_is_not_asked_for_its_sense(tmp_path: Path, data: Path) -> None:
    doc, *_ = documents("AdMIRe,table=sequence_test,shown=pictures", data)
    record = record_of(doc, "Image: B")
    assert record["status"] != "read"
    assert unread_answers(save(tmp_path / "run", [record], "Image: B")) == ()


# --- the model's replies ---


@pytest.mark.parametrize(
    ("reply", "status", "label"),
    [
        ('{"option": "B"}', "read", "B"),
        ('The answer says so.\n```json\n{"option": "b"}\n```', "read", "B"),
        ('{"option": "(B)."}', "read", "B"),
        ('Not {"option": "A"}, but {"option": "B"}', "read", "B"),
        ('<think>{"option": "A"}</think>{"option": "B"}', "read", "B"),
        ('{"option": "none"}', "none", None),
        ('{"option": "None."}', "none", None),
        ('{"option": null}', "none", None),
        ('{"option": "E"}', "unreadable", None),
        ('{"option": ["B"]}', "unreadable", None),
        ('{"option": "A or B"}', "unreadable", None),
        ('{"option": true}', "unreadable", None),
        ('{"option": 2.0}', "unreadable", None),
        ('{"answer": "B"}', "unreadable", None),
        ('<think>{"option": "B"}', "unreadable", None),
        ("B", "unreadable", None),
        ("", "unreadable", None),
        ("{" * 100_000 + '{"option": "B"}', "read", "B"),
    ],
)
def test_a_reply_is_read_by_its_last_object(reply: str, status: str, label: str | None) -> None:
    assert read_option(reply, "ABCD") == (status, label)


@pytest.mark.parametrize(
    ("reply", "labels", "label"),
    [
        ('{"option": true}', ("Yes", "No"), "Yes"),
        ('{"option": false}', ("Yes", "No"), "No"),
        ('{"option": "YES"}', ("Yes", "No"), "Yes"),
        ('{"option": 10}', ("1", "10"), "10"),
        ('{"option": "contradicts"}', ("Entails", "Contradicts"), "Contradicts"),
    ],
)
def test_labels_of_all_kinds(reply: str, labels: tuple[str, ...], label: str) -> None:
    assert read_option(reply, labels) == ("read", label)


# --- what cannot be read ---


@pytest.mark.parametrize(
    ("task", "reason"),
    [
        ("figlang_mini_metaclue_caption", "its answers choose nothing"),
        ("figlang_mini_metaclue_localize", "its answers choose nothing"),
        ("figlang_mini_irfl_match_idiom", "answered by scores"),
        ("figlang_mini_irfl_retrieve_metaphor", "answered by scores"),
        ("figlang_mini_metaclue_retrieve_swap", "answered by scores"),
    ],
)
def test_tasks_without_a_choice_in_words(task: str, reason: str, tmp_path: Path) -> None:
    run = read(str(write_run(tmp_path / "run", {task: sample_lines(task, 6)})))
    no_choice = rf"run has no task whose answers choose .*\({task}: {reason}\)"
    with pytest.raises(FigLangError, match=no_choice):
        find_unread(run, "judge-1")
    two_tasks = {task: sample_lines(task, 6), "figlang_mini": sample_lines("figlang_mini", 6)}
    unread = find_unread(read(str(write_run(tmp_path / "both", two_tasks))), "judge-1")
    assert [*unread.tasks] == ["figlang_mini"]
    assert unread.left_out == {task: reason}


def test_a_benchmark_without_a_module_choice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = read(str(write_run(tmp_path / "run", {"figlang_mini": sample_lines("figlang_mini", 3)})))
    monkeypatch.setattr(Benchmark, "module", lambda benchmark, name: None)
    with pytest.raises(FigLangError, match=r"\(figlang_mini: vflute has no module choice\.py, "):
        find_unread(run, "judge-1")


def test_damage_is_named_with_its_place(tmp_path: Path) -> None:
    samples = sample_lines("figlang_mini", 3, lambda doc, number: UNREAD)
    del samples[1]["filtered_resps"]
    path = write_run(tmp_path / "run", {"figlang_mini": samples})
    with pytest.raises(FigLangError, match=r"samples_figlang_mini.jsonl: row \S+ has no output"):
        find_unread(read(str(path)), "judge-1")


def test_other_data_than_that_of_the_run_is_refused(tmp_path: Path, data: Path) -> None:
    docs = documents("COLUMBUS,order=benchmark", data)
    records = [record_of(doc, UNREAD) for doc in docs]
    for record in records:
        record["data"] = f"{record['data'].partition(':')[0]}:0123456789ab"
    path = save(tmp_path / "run", records, UNREAD)
    other_data = r"samples are of COLUMBUS\S+:0123456789ab, but the data here is COLUMBUS"
    with pytest.raises(FigLangError, match=other_data):
        unread_answers(path)
