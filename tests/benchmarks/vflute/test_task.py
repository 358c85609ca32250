"""V-FLUTE asks something else than its options say, or an output is judged wrongly, if this
fails.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from demo_runs import evaluate
from PIL import Image
from run_and_check import preflight
from sklearn.metrics import f1_score

from figlang_tasks import FigLangError, scoring
from figlang_tasks.benchmarks.vflute import rows, tasks
from figlang_tasks.benchmarks.vflute.benchmark import BENCHMARK
from figlang_tasks.core.request import Request
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.report import sections
from figlang_tasks.results import runs
from figlang_tasks.scoring import process_results

CLAIM = "My lawyer is a shark"


def png(colour: str) -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (4, 4), colour).save(stream, "PNG")
    return stream.getvalue()


def document(**changes: Any) -> dict[str, Any]:
    doc = {
        "dataset": "V-FLUTE",
        "request": "V-FLUTE,split=test",
        "data": "V-FLUTE/test:0123456789ab",
        "id": "vismet-test-3",
        "claim": CLAIM,
        "family": "vismet-test-3",
        "label": "entailment",
        "explanation": "The lawyer has fins.",
        "phenomenon": "metaphor",
        "source_dataset": "vismet",
        "report_group": "vismet",
        "instruction": 19,
        "image": {"bytes": png("red"), "path": None},
    }
    return doc | changes


QUESTION = (
    'Does the image entail or contradict the claim "My lawyer is a shark"? '
    "Explain your reasoning and provide a label between entailment or contradiction."
)


@pytest.fixture
def two_shots(monkeypatch: pytest.MonkeyPatch) -> None:
    shots = (
        document(id="a", claim="One", image=Image.new("RGB", (2, 2), "blue")),
        document(
            id="b",
            claim="Two",
            label="contradiction",
            image=Image.new("RGB", (2, 2), "green"),
            instruction=13,
        ),
    )
    monkeypatch.setattr(rows, "exemplars", lambda name, count, seed: shots[:count])


def test_few_shot_turns(two_shots: None) -> None:
    messages = tasks.doc_to_messages(document(), {"num_shots": 2})
    assert [turn["role"] for turn in messages] == ["user", "assistant", "user", "assistant", "user"]
    assert messages[1]["content"] == [
        {"type": "text", "text": "The lawyer has fins.\nLABEL: entailment"}
    ]
    assert 'the statement "Two"?' in messages[2]["content"][1]["text"], (
        "an exemplar keeps its own instruction"
    )
    assert messages[2]["content"][0]["url"].getpixel((0, 0)) == (0, 128, 0)
    assert tasks.doc_to_text(document(), {"num_shots": 2}).endswith(f"\n{QUESTION}")


def test_label_only_exemplars_are_answered_with_the_label_alone(two_shots: None) -> None:
    messages = tasks.doc_to_messages(document(), {"num_shots": 2, "label_only": True})
    assert [turn["content"][0]["text"] for turn in messages[1::2]] == [
        "entailment",
        "contradiction",
    ]


def test_blind_shows_a_white_square() -> None:
    (picture,) = tasks.doc_to_visual(document(image=None), {"blind": True})
    assert picture.getextrema() == ((255, 255),) * 3


def test_label_only_and_fixed_instruction() -> None:
    text = tasks.doc_to_text(document(claim='Who said "why?"'), {"label_only": True})
    assert (
        text == 'Does the image entail or contradict the claim "Who said "why?""? '
        "Answer with one word: entailment or contradiction."
    )
    assert tasks.doc_to_text(document(), {"instruction": 2}).startswith(
        "Does this image confirm or deny the claim"
    )


def test_a_claim_is_never_read_as_a_template_or_an_instruction() -> None:
    claim = "{{ 7 * 7 }} REPLACE_CLAIM {% if %} <image>"
    assert f'"{claim}"' in tasks.doc_to_text(document(claim=claim), {})


def test_scene_graph_rounds() -> None:
    doc = document(claim="Is it a shark? Yes")
    first = tasks.scene_graph_doc_to_text(doc, {})
    assert isinstance(first, str)
    assert first.startswith(
        'Question: Does the image entail or contradict the claim "Is it a shark Yes"\nFor the'
    )
    second = tasks.scene_graph_doc_to_text(doc, {}, previous_output=[' {"a": 1}\n'], round_idx=1)
    assert isinstance(second, tuple)
    visuals, prompt, terminal, outputs, info = second
    assert visuals is not None and visuals[0].size == (4, 4)
    assert prompt is not None and prompt.startswith(
        'Scene Graph:\n{"a": 1}\nUse the image and scene graph as context'
    )
    assert prompt.endswith(f"Question:\n{tasks.doc_to_text(doc, {})}")
    assert (terminal, outputs, info) == (False, [' {"a": 1}\n'], None)
    last = tasks.scene_graph_doc_to_text(
        doc, {}, previous_output=["graph", "It is.\nLABEL: entailment"], round_idx=2
    )
    assert isinstance(last, tuple) and last[2] is True
    judged = tasks.scene_graph_process_results(doc, last[3])
    assert judged["acc"] == 1.0
    assert json.loads(last[3][0])["scene_graph"] == "graph"


def test_a_task_in_two_calls_takes_no_exemplars() -> None:
    config = {
        "task": "mine",
        "dataset_name": "figlang_mini,split=test",
        "output_type": "generate_until_agentic",
    }
    with pytest.raises(FigLangError, match="take neither num_shots nor label_only"):
        preflight(config | {"lmms_eval_specific_kwargs": {"default": {"num_shots": 5}}})


@pytest.mark.parametrize(
    ("label", "output", "f1", "acc", "parsed", "disagree"),
    [
        ("entailment", "Fins.\nLABEL: entailment", (1, 1), 1.0, 1.0, 0.0),
        ("contradiction", "Fins.\nLABEL: entailment", (0, 1), 0.0, 1.0, 0.0),
        ("contradiction", "I cannot see the image.", (0, None), 0.0, 0.0, 0.0),
        (
            "contradiction",
            "It does not entail the claim; it contradicts it.",
            (0, 1),
            0.0,
            1.0,
            1.0,
        ),
    ],
)
def test_judging(
    label: str, output: str, f1: tuple, acc: float, parsed: float, disagree: float
) -> None:
    judged = process_results(document(label=label), [output])
    record = judged.pop("sample")
    assert (record["task"], record["request"]) == ("vflute", "V-FLUTE,split=test")
    assert (record["gold"], record["predicted"]) == f1
    assert (record["id"], record["report_group"], record["reference"]) == (
        "vismet-test-3",
        "vismet",
        "The lawyer has fins.",
    )
    assert judged == dict.fromkeys(("f1@0", "f1@53", "f1@60", "explanation_score")) | {
        "acc": acc,
        "parse_rate": parsed,
        "parse_disagreement": disagree,
    }


@pytest.mark.parametrize("output", ["", "a graph", "[1]", '{"answer": "x"}'])
def test_a_two_stage_run_without_its_second_stage_is_no_answer(output: str) -> None:
    judged = tasks.scene_graph_process_results(document(), [output])
    assert judged["sample"]["predicted"] is None
    assert judged["sample"]["explanation"] == ""


def test_the_explanation_of_a_two_stage_run_speaks_of_the_image() -> None:
    stages = {"scene_graph": "g", "answer": "The scene graph has a red_dog.\nLABEL: entailment"}
    judged = tasks.scene_graph_process_results(document(), [json.dumps(stages)])
    assert judged["sample"]["explanation"] == "The image has a red dog."
    assert (judged["sample"]["task"], judged["sample"]["request"]) == (
        "vflute",
        "V-FLUTE,split=test",
    )


# --- all instructions ---


def test_values_over_all_instructions_are_their_mean_and_spread(tmp_path: Path) -> None:
    """Each of the 21 tasks that were `vflute_instruction_01` to `_21` is a scope, with its own
    value and interval.
    """
    (tmp_path / "every.yaml").write_text(
        f"include: {tasks_dir()}/vflute/vflute_instructions.yaml\ntask: every\n"
        "dataset_name: figlang_mini,split=test,instructions=all\n"
        "lmms_eval_specific_kwargs: {default: {scorer: 'off'}}\n"
    )
    rows = 20  # of 76, each asked with all instructions: enough for values that differ
    results = evaluate(
        "every",
        "figlang_random",
        include_path=str(tmp_path),
        saved=tmp_path / "run",
        limit=21 * rows,
    )
    records = [sample["sample"] for sample in results["samples"]["every"]]
    values = results["configs"]["every"]["metadata"]["measures"]["values"]
    assert len(records) == 21 * rows and values["f1@0"]["all"]["rows"] == rows
    f1s = []
    for number in range(1, 22):
        own = [record for record in records if record["instruction"] == number]
        gold = [record["gold"] for record in own]
        predicted = [
            1 - record["gold"] if record["predicted"] is None else record["predicted"]
            for record in own
        ]
        f1s.append(f1_score(gold, predicted, average="macro"))
        scope = values["f1@0"][f"instruction_{number:02}"]
        assert scope["value"] == pytest.approx(f1s[-1], abs=1e-12)
        alone = scoring.evaluate(own, tasks.VFLUTE.measures, 0)["f1@0"]["all"]
        assert (scope["low"], scope["high"], scope["rows"]) == (alone.low, alone.high, rows)
    assert values["f1@0"]["all"]["value"] == pytest.approx(np.mean(f1s), abs=1e-12)
    assert values["f1@0_sd"]["all"]["value"] == pytest.approx(np.std(f1s, ddof=1), abs=1e-12)
    # The rows are the same for all instructions, so that their mean is no surer than 21 times as
    # many rows would say.
    whole = values["f1@0"]["all"]
    independent = (
        np.mean([scope["high"] - scope["low"] for scope in values["f1@0"].values()]) / 21**0.5
    )
    assert (
        whole["low"] < whole["value"] < whole["high"] and whole["high"] - whole["low"] > independent
    )

    shown = [
        each
        for group in sections.build([runs.read(str(tmp_path / "run"))])
        for each in group.sections
    ]
    (chart,) = next(each for each in shown if each.id.endswith("-instructions")).charts
    drawn = [float(row["value"]) for row in csv.DictReader(io.StringIO(chart.csv))]
    assert drawn == pytest.approx([100 * value for value in f1s], abs=1e-9)


def test_each_row_is_asked_with_each_instruction() -> None:
    request = Request.of("figlang_mini", split="test", instructions="all")
    documents, plain = (
        BENCHMARK.documents(request, check_images=True),
        rows.load("figlang_mini", "test"),
    )
    assert documents["id"][20:22] == [
        f"{plain[0]['id']}-instruction21",
        f"{plain[1]['id']}-instruction1",
    ]
    assert documents["data"][0] == plain["data"][0]
    assert documents["row"][:22] == [plain[0]["id"]] * 21 + [plain[1]["id"]]
    for doc in list(documents)[:21]:
        assert tasks.doc_to_text(doc) == tasks.doc_to_text(
            plain[0], {"instruction": doc["instruction"]}
        )
    record = process_results(documents[5], ["LABEL: entailment"])["sample"]
    assert (record["task"], Request.parse(record["request"])) == ("vflute_instructions", request)
