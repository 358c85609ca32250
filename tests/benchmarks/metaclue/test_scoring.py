"""Judging of answers: what counts as right, what is left out, and that aggregation does not depend on order."""

from __future__ import annotations

import itertools
import json
import random
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lmms_eval.utils import load_yaml_config
from metaclue_rows import row, write
from PIL import Image
from scipy.stats import binomtest

from figlang_tasks import FigLangError
from figlang_tasks.benchmarks.metaclue import classify, describe, generate, localize, measures, retrieve, rows
from figlang_tasks.benchmarks.metaclue.task import (
    doc_to_messages,
    doc_to_text,
    doc_to_visual,
    task_of,
)
from figlang_tasks.core import notes
from figlang_tasks.core.documents import preflight
from figlang_tasks.harness.plugin import tasks_dir
from figlang_tasks.metrics import boxes, captions, generated_images
from figlang_tasks.scoring import Estimate, evaluate, flat, full_name

MINI = "figlang_mini_metaclue"
JAVA = ("meteor", "spice")


@pytest.fixture(autouse=True)
def without_java(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


Judge = Callable[[Any, list[str]], dict[str, Any]]


def records_of(docs: Sequence[Any], outputs: Sequence[str], judge: Judge) -> list[dict[str, Any]]:
    """Records as samples files give them back."""
    found = [judge(doc, [output])["sample"] for doc, output in zip(docs, outputs, strict=True)]
    return list(json.loads(json.dumps(found)))


def of_records(records: Sequence[dict[str, Any]]) -> dict[str, dict[str, Estimate]]:
    """All measures; those of the records in another order are equal."""
    found = evaluate(records, measures.of_records(records), stderr_resamples=9)
    mixed = random.Random(5).sample(records, len(records))
    assert evaluate(mixed, measures.of_records(mixed), stderr_resamples=9) == found
    return found


def evaluated(docs: Sequence[Any], outputs: Sequence[str], judge: Judge) -> dict[str, dict[str, Estimate]]:
    return of_records(records_of(docs, outputs, judge))


def values_of(found: dict[str, Any]) -> dict[str, float]:
    """Every measure of one document, by full name."""
    of_one = evaluate([found["sample"]], measures.of_records([found["sample"]]), stderr_resamples=0)
    return {full_name(*names): estimate.value for *names, estimate in flat(of_one)}


@pytest.mark.parametrize(
    ("asked", "judge"),
    [
        ("classify_symbolic", classify.process_results),
        ("retrieve_swap", retrieve.process_results),
        ("caption", describe.caption_process_results),
        ("vqa_best", describe.vqa_process_results),
        ("localize", localize.process_results),
        ("generate", generate.process_results),
    ],
)
def test_a_record_names_its_image_as_its_unit(asked: str, judge: Judge) -> None:
    for doc in list(rows.load(MINI, asked))[:9]:
        assert judge(doc, [""])["sample"]["unit"] == doc["image"]


# --- classification --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gold", "output", "expected"),
    [
        (True, "Yes", {"acc": 1, "acc_metaphor": 1, "yes_rate": 1, "parse_rate": 1}),
        (True, "No.", {"acc": 0, "acc_metaphor": 0, "yes_rate": 0, "parse_rate": 1}),
        (False, "No, it does not.", {"acc": 1, "acc_negative": 1, "yes_rate": 0, "parse_rate": 1}),
        (False, "A dog.", {"acc": 0, "acc_negative": 0, "yes_rate": 0, "parse_rate": 0}),
        (False, "", {"acc": 0, "acc_negative": 0, "yes_rate": 0, "parse_rate": 0}),
    ],
)
def test_classification(gold: bool, output: str, expected: dict[str, float]) -> None:
    doc = {"id": "0/1.jpg", "data": "MetaCLUE/classify_symbolic@local:x", "metaphor": gold}
    found = classify.process_results(doc, [output])
    assert values_of(found) == expected
    assert found["sample"]["gold"] == gold and found.keys() == {"sample", "acc", "parse_rate"}
    assert classify.chance_answers(doc)[1] == classify.doc_to_target(doc) == ("Yes" if gold else "No")


# --- retrieval -------------------------------------------------------------------------------------------------------


def retrieval_doc(count: int = 4, answer: int = 2) -> dict[str, Any]:
    texts = [f"statement {number}" for number in range(count)]
    shared = {"id": "0/1.jpg", "data": f"{MINI}/retrieve_random50@package:x+y", "dataset": MINI, "image": "0/1.jpg"}
    return shared | {"candidates": texts, "answer": answer}


@pytest.mark.parametrize(
    ("scores", "rank", "chosen", "tied"),
    [
        ([0.1, 0.2, 0.9, 0.3], 1, 2, 0),
        ([0.1, 0.95, 0.9, 0.3], 2, 1, 0),
        ([0.9, 0.2, 0.9, 0.3], 2, None, 1),  # a tie is lost, and chose nothing
        ([0.9, 0.9, 0.2, 0.3], 4, None, 1),
        ([0.5, 0.5, 0.5, 0.5], 4, None, 1),
        ([1, 2, -3, 4], 4, 3, 0),
    ],
)
def test_scores_give_rank_and_choice(scores: list[float], rank: int, chosen: int | None, tied: int) -> None:
    found = retrieve.process_results(retrieval_doc(), [json.dumps({"scores": scores})])
    assert values_of(found) == {"p@1": float(rank == 1), "rank": rank, "tie_rate": tied, "parse_rate": 1}
    record = found["sample"]
    assert (record["rank"], record["chosen"], record["status"], record["rule"]) == (rank, chosen, "scores", "argmax")
    text = None if chosen is None else f"statement {chosen}"
    assert (record["answer_text"], record["chosen_text"]) == ("statement 2", text)


@pytest.mark.parametrize(
    ("output", "right", "parsed"),
    [
        ("3", 1, 1),
        ("3. Love is as sweet as 2 spoons of honey.", 1, 1),
        ("The answer is 4.", 0, 1),
        ("9", 0, 0),
        ("no idea", 0, 0),
        ("", 0, 0),
    ],
)
def test_an_answer_in_words_has_no_rank(output: str, right: float, parsed: float) -> None:
    found = retrieve.process_results(retrieval_doc(), [output])
    assert (found["p@1"], found["parse_rate"]) == (right, parsed)
    assert values_of(found).keys() == {"p@1", "parse_rate"}
    assert found["sample"]["rank"] is None


@pytest.mark.parametrize(
    "output",
    [
        '{"scores": [2, 3]}',
        '{"scores": [3]}',
        ' { "scores": [NaN, 1, 2, 3]}',
        '{"scores": []}',
        '{"scores": [3',
        "[" * 100_000,
    ],
)
def test_broken_scores_are_no_choice(output: str, warnings_of_loguru: list[str]) -> None:
    retrieve._report_broken_scores.cache_clear()
    notes.noted()
    for _ in range(2):
        found = retrieve.process_results(retrieval_doc(), [output])
    assert "rank" not in found and found["p@1"] == found["parse_rate"] == 0
    noted = "metaclue_retrieve: answers without a score for each candidate have no rank, see the log"
    assert notes.noted() == ([] if output.startswith("[") else [noted])
    assert (found["sample"]["chosen"], found["sample"]["status"]) == (None, "unreadable")
    told = [message for message in warnings_of_loguru if "must be a list of 4 finite scores" in message]
    assert len(told) == (0 if output.startswith("[") else 1)


def test_missing_rank_is_said_once(warnings_of_loguru: list[str]) -> None:
    retrieve._report_no_scores.cache_clear()
    for _ in range(3):
        retrieve.process_results(retrieval_doc(), ["1"])
    assert len([message for message in warnings_of_loguru if "rank is not" in message]) == 1


def test_chance_answers_are_numbers() -> None:
    answers, right = retrieve.chance_answers(retrieval_doc())
    assert list(answers) == ["1", "2", "3", "4"] and right == "3"
    assert retrieve.process_results(retrieval_doc(), [answers[right]])["p@1"] == 1


# --- captions and answers --------------------------------------------------------------------------------------------


def test_captions_are_judged_whole_and_in_parts() -> None:
    docs = list(rows.load(MINI, "caption"))[:12]
    outputs = [doc["references"][-1] for doc in docs[:6]]  # right
    outputs += ["this is no statement"] * 3
    outputs += [f"nothing is as {doc['references_relationship'][0]} as anything" for doc in docs[9:]]
    notes.noted()
    found = evaluated(docs, outputs, describe.caption_process_results)
    assert notes.noted() == [f"{name} could not be computed and is missing, see the log" for name in JAVA]
    assert found["parse_rate"]["all"].value == 9 / 12
    assert found.keys() == {"em", "bleu4", "rouge_l", "cider", "parse_rate"}
    for metric in ("em", "bleu4", "rouge_l", "cider"):
        assert list(found[metric]) == ["all", "primary", "secondary", "relationship"]
        for estimate in found[metric].values():
            assert estimate.low is not None and estimate.high is not None and estimate.rows == 12
            assert estimate.low <= estimate.value + 1e-9 and estimate.value <= estimate.high + 1e-9
    assert [each.value for each in found["em"].values()] == [0.5, 0.5, 0.5, 0.75]
    whole = captions.caption_scores(outputs, [doc["references"] for doc in docs])
    parts = [doc["references_relationship"][0] if place >= 9 else "" for place, doc in enumerate(docs)]
    parts[:6] = [output.split(" is as ")[1].split(" as ")[0] for output in outputs[:6]]
    of_part = captions.caption_scores(parts, [doc["references_relationship"] for doc in docs])
    for metric in ("em", "bleu4", "rouge_l", "cider"):
        for scope, expected in (("all", whole), ("relationship", of_part)):
            assert found[metric][scope].value == pytest.approx(expected.metrics[metric].value, abs=1e-12)


METEOR = """
import sys
right = 0
for line in () if "-version" in sys.argv else sys.stdin:
    kind, *texts = line.rstrip().split(" ||| ")
    right += kind == "SCORE" and texts[-1] == texts[0] + " and more"
    print(1 if kind == "SCORE" else "0.5\\n" * len(texts) + f"0.{right}", flush=True)
"""


def test_meteor_is_that_of_its_program_and_has_no_interval(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a stand-in, which says how many it was asked about; METEOR itself runs in tests/metrics/test_captions.py."""
    (tmp_path / "java").write_text(f"#!{sys.executable}\n{METEOR}")
    (tmp_path / "java").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    docs = list(rows.load(MINI, "vqa_best"))[:9]
    answers = [f"{doc['references'][0]} and more" for doc in docs]
    records = records_of(docs, answers, describe.vqa_process_results)
    assert measures.VQA.by_name["meteor"].estimate(records) == (0.9, None, None, None, None)


def test_an_unreadable_caption_scores_0_on_its_parts() -> None:
    doc = rows.load(MINI, "caption")[0]
    found = describe.caption_process_results(doc, ["fast"])
    record = found["sample"]
    assert record["primary"] is None and found["parse_rate"] == 0 and record["caption"] == "fast"
    values = values_of(found)
    assert values["em_relationship"] == values["rouge_l_relationship"] == 0


def test_words_around_a_statement_count_unless_read_with_care() -> None:
    doc = rows.load(MINI, "caption")[0]
    output = f"Metaphor: {doc['references'][0]}"
    strict, careful = (
        judge(doc, [output]) for judge in (describe.caption_process_results, describe.careful_caption_process_results)
    )
    assert not strict["sample"]["em"] and careful["sample"]["em"]
    assert strict["em"] == 0 and careful["em"] == 1


def test_answers_are_judged_by_role() -> None:
    docs = [doc for doc in rows.load(MINI, "vqa_best")][:30]
    outputs = [doc["references"][0] if doc["role"] == "primary" else "something else" for doc in docs]
    found = evaluated(docs, outputs, describe.vqa_process_results)["em"]
    assert {scope: estimate.value for scope, estimate in found.items() if scope != "all"} == {
        "primary": 1,
        "secondary": 0,
        "relationship": 0,
    }
    whole = found["all"]
    assert whole.value == pytest.approx(1 / 3) and whole.rows == len({doc["image"] for doc in docs})
    # Images are what counts, and in each a third is right: they vary less than rows, whose Wilson interval is left.
    # What ten images can tell of their variance is less: a little wider.
    of_rows = binomtest(10, 30).proportion_ci(method="wilson")
    assert whole.low is not None and whole.high is not None
    assert of_rows.low - 0.05 < whole.low < of_rows.low < of_rows.high < whole.high < of_rows.high + 0.07


def test_thoughts_are_no_answers() -> None:
    doc = rows.load(MINI, "vqa_best")[0]
    thought, right = "<think>Maybe the sea.", doc["references"][0]
    assert describe.vqa_process_results(doc, [f"{thought}</think>{right}"])["em"] == 1
    assert describe.vqa_process_results(doc, [thought])["sample"]["answer"] == ""
    doc = rows.load(MINI, "caption")[0]
    for judge in (describe.caption_process_results, describe.careful_caption_process_results):
        assert judge(doc, [f"{thought}</think>{doc['references'][0]}"])["em"] == 1
        sample = judge(doc, [thought])["sample"]
        assert (sample["caption"], sample["status"], sample["rule"]) == ("", "empty", "thought")


@given(st.text(max_size=200))
@settings(max_examples=60)
def test_no_output_raises(output: str) -> None:
    for task, judge in (
        ("caption", describe.caption_process_results),
        ("caption", describe.careful_caption_process_results),
        ("vqa_best", describe.vqa_process_results),
        ("localize", localize.process_results),
        ("localize_pixel28", localize.process_results),
        ("generate", generate.process_results),
        ("classify_literal", classify.process_results),
        ("retrieve_swap", retrieve.process_results),
    ):
        doc = rows.load(MINI, task)[0]
        assert judge(doc, [output])["sample"]["id"] == doc["id"]


# --- localization ----------------------------------------------------------------------------------------------------


def written(doc: Any, found: Sequence[Sequence[float]]) -> str:
    """Boxes in pixels as an output in the convention of the document."""
    width, height = doc["width"], doc["height"]
    unit = [[x0 / width, y0 / height, x1 / width, y1 / height] for x0, y0, x1, y1 in found]
    convention = doc["convention"]
    if convention == "loc1024":
        places = [[box[1], box[0], box[3], box[2]] for box in unit]
        return " ; ".join("".join(f"<loc{round(edge * 1024):04d}>" for edge in box) + " it" for box in places)
    scale = {
        "unit": (1.0, 1.0),
        "thousand": (1000.0, 1000.0),
        "thousand_yx": (1000.0, 1000.0),
        "pixel": (width, height),
        "pixel28": localize.resized(width, height),
    }[convention]
    boxes_of = [[edge * scale[place % 2] for place, edge in enumerate(box)] for box in unit]
    if convention == "thousand_yx":
        return json.dumps([{"box_2d": [y0, x0, y1, x1], "label": doc["role"]} for x0, y0, x1, y1 in boxes_of])
    return json.dumps([{"bbox_2d": box, "label": doc["role"]} for box in boxes_of])


def right_boxes(task: str) -> list[dict[str, Any]]:
    docs = list(rows.load(MINI, task))
    return records_of(docs, [written(doc, doc["boxes"]) for doc in docs], localize.process_results)


@pytest.mark.parametrize("task", rows.LOCALIZE)
def test_right_boxes_are_found_in_each_convention(task: str) -> None:
    for record in right_boxes(task):
        assert record["status"] == "read" and np.allclose(record["predicted"], record["truth"], atol=0.2)


def test_average_precision_is_that_of_the_evaluator_by_role_and_type() -> None:
    docs = list(rows.load(MINI, "localize"))
    generator = random.Random(3)
    outputs = []
    for doc in docs:
        shown = [[edge + generator.uniform(-9, 9) for edge in box] for box in doc["boxes"]]
        shown = [[max(0.0, x0), max(0.0, y0), min(x1, 159.0), min(y1, 127.0)] for x0, y0, x1, y1 in shown]
        outputs.append(written(doc, [*shown[: generator.randint(0, 2)], [1, 1, 30, 30]]))
    records = records_of(docs, outputs, localize.process_results)
    found = {full_name(*names): estimate for *names, estimate in flat(of_records(records))}
    seen = set()
    for metric, role, *kind in itertools.product(("mAP50", "mAP70"), boxes.ROLES, ("", *boxes.BOX_TYPES)):
        name = "_".join((metric, role, *filter(None, kind)))
        role_of: Any = role
        shown = [
            boxes.BoxImage(
                record["id"],
                tuple(
                    boxes.TrueBox(tuple(box), role_of, type_of)
                    for box, type_of in zip(record["truth"], record["types"], strict=True)
                ),
                tuple(
                    boxes.PredictedBox(tuple(box), role_of, 1 / (1 + place))
                    for place, box in enumerate(record["predicted"])
                ),
            )
            for record in records
            if record["role"] == role
        ]
        type_of: Any = kind[0] or None
        both = boxes.average_precision(shown, role_of, type_of)
        expected = None if both is None else both[metric == "mAP70"].value
        assert (name in found) == (expected is not None)
        if expected is not None:
            value, low, high, stderr, _ = found[name]
            seen.add(expected)
            assert value == expected
            assert low is high is None if expected in (0, 1) else low <= expected <= high
            assert (stderr is None) == (kind != [""])
    assert len(seen) > 4  # not all 0 or 1


def test_size_that_qwen_sees_is_that_of_transformers() -> None:
    module = pytest.importorskip("transformers.models.qwen2_vl.image_processing_qwen2_vl")
    generator = random.Random(1)
    for _ in range(300):
        width, height = generator.randint(60, 3000), generator.randint(60, 3000)
        expected = module.smart_resize(height, width, factor=28, min_pixels=256 * 28 * 28, max_pixels=1605632)
        assert localize.resized(width, height) == expected[::-1]


def test_a_model_of_another_convention_is_sent_to_the_right_task() -> None:
    doc = rows.load(MINI, "localize")[0]
    assert "from 0 to 1000" in doc_to_text(doc, {"prompt": "locate", "convention": "thousand"})
    config = load_yaml_config(str(tasks_dir() / "mini" / "metaclue" / "figlang_mini_metaclue_localize.yaml"))
    preflight(config | {"model": "qwen3_vl"})
    preflight(config | {"model": None})
    for model, convention, right in (("qwen2_5_vl", "pixel28", "_pixel28"), ("llava_hf", "unit", "_unit")):
        message = f"convention {convention}, but metaclue_localize reads thousand: .*MetaCLUE,task=localize{right}`"
        with pytest.raises(FigLangError, match=message):
            preflight(config | {"model": model})


def test_boxes_of_the_other_concept_are_counted() -> None:
    doc = rows.load(MINI, "localize")[0]
    other = {"primary": "secondary", "secondary": "primary"}[doc["role"]]
    box = {"bbox_2d": [10, 20, 300, 400]}
    found = [box | {"label": doc["role"]}, box | {"label": other}, box | {"label": other}]
    sample = localize.process_results(doc, [json.dumps(found)])["sample"]
    assert (len(sample["predicted"]), sample["dropped"]) == (1, 2)


# --- generation ------------------------------------------------------------------------------------------------------


def test_generated_pictures_are_found_wherever_classes_of_the_harness_say(tmp_path: Path) -> None:
    docs = list(rows.load(MINI, "generate"))[:3]
    for name in ("0000.png", "0001_s0.png", "other.png"):
        Image.new("RGB", (8, 8)).save(tmp_path / name)
    single = str(tmp_path / "other.png")
    for doc, output, expected in (
        (docs[0], str(tmp_path), "0000.png"),
        (docs[1], str(tmp_path), "0001_s0.png"),
        (docs[2], str(tmp_path), None),
        (docs[2], single, "other.png"),
        (docs[2], json.dumps({"text": "", "images": [single]}), "other.png"),
        (docs[2], json.dumps({"text": "", "images": []}), None),
        (docs[2], "An advertisement.", None),
        (docs[2], "", None),
    ):
        found = generate.process_results(doc, [output])
        file = found["sample"]["file"]
        assert (None if file is None else Path(file).name) == expected
        assert found["image_rate"] == float(expected is not None)


def test_a_damaged_picture_is_none_and_a_mean_of_the_others_is_not_given(
    tmp_path: Path, warnings_of_loguru: list[str]
) -> None:
    docs = list(rows.load(MINI, "generate"))[:3]
    for place in range(3):
        Image.effect_noise((64, 64), 90).save(tmp_path / f"{place:04d}.png")
    whole = (tmp_path / "0001.png").read_bytes()
    (tmp_path / "0001.png").write_bytes(whole[: len(whole) // 2])
    records = records_of(docs, [str(tmp_path)] * 3, generate.process_results)
    assert [record["file"] is not None for record in records] == [True, False, True]
    notes.noted()
    found = of_records([record | {"data": "MetaCLUE/generate@local:x"} for record in records])
    assert found.keys() == {"image_rate"} and found["image_rate"]["all"].value == pytest.approx(2 / 3)
    assert [note.partition(" is left out")[0] for note in notes.noted()] == ["CLIP similarity", "FID"]
    text = "\n".join(warnings_of_loguru)
    assert f"{docs[1]['id']}: counts as no picture: generated picture" in text
    assert "CLIP similarity is left out: 1 of 3 pictures are missing or damaged" in text
    assert "FID is left out: 1 of 3 pictures" in text


def test_the_order_of_annotations_gives_no_picture_to_another_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = [row(number) for number in range(8)]
    numbers = []
    for place, found in enumerate((given, given[::-1])):
        monkeypatch.setenv("FIGLANG_DATA_DIR", str(write(tmp_path / str(place), found, same=True)))
        numbers.append([(doc["number"], doc["image"], doc["primary"]) for doc in rows.load("MetaCLUE", "generate")])
    assert numbers[0] == numbers[1] and [number for number, _, _ in numbers[0]] == [*range(8)]


def test_prompts_score_and_preference(tmp_path: Path, capsys: pytest.CaptureFixture[str], tiny_clip: Path) -> None:
    found = tmp_path / "prompts.jsonl"
    assert generate.main(["--dataset", MINI, "prompts", str(found)]) == 0
    lines = [json.loads(line) for line in found.read_text().splitlines()]
    assert len(lines) == 40 and lines[1]["file"] == "0001.png"
    best = rows.load(MINI, "generate")[1]
    expected = f"An advertisement where {best['primary']} is as {best['relationship']} as {best['secondary']}."
    assert lines[1]["prompt"] == expected
    folder = tmp_path / "made"
    folder.mkdir()
    assert generate.main(["--dataset", MINI, "score", str(folder)]) == 1
    assert "lacks 40 of 40 pictures, e.g. 0000.png" in capsys.readouterr().err
    for place, line in enumerate(lines):
        Image.new("RGB", (16, 16), (place, 0, 200)).save(folder / line["file"])
    assert generate.main(["--dataset", MINI, "score", str(folder), "--model", str(tiny_clip)]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert -100 <= scored["clip_similarity"] <= 100 and scored["fid"] is None and scored["images"] == 40
    assert generate.main(["--dataset", MINI, "score", str(folder), "--model", str(tmp_path / "none")]) == 1
    assert json.loads(capsys.readouterr().out)["clip_similarity"] is None
    made = tmp_path / "made" / "0003.png"
    content = made.read_bytes()
    made.write_bytes(content[:40])
    assert generate.main(["--dataset", MINI, "score", str(folder), "--model", str(tiny_clip)]) == 1
    assert f"generated picture {made}: the image cannot be decoded" in capsys.readouterr().err
    made.write_bytes(content)
    ratings = tmp_path / "ratings.jsonl"
    ratings.write_text("\n".join(json.dumps(["left"] * left + ["right"] * (7 - left)) for left in (7, 5, 4, 0)))
    assert generate.main(["preference", str(ratings)]) == 0
    assert "left, tied, right of 4 pairs: 50% 25% 25%" in capsys.readouterr().out
    ratings.write_text("\n" + "[" * 100_000)
    assert generate.main(["preference", str(ratings)]) == 1
    assert "line 2 is not valid JSON (maximum recursion depth" in capsys.readouterr().err
    ratings.write_text('["left"]\n')
    assert generate.main(["preference", str(ratings)]) == 1
    assert "ratings[0] is ['left'], must be 7 of left and right" in capsys.readouterr().err


def test_pictures_made_for_other_prompts_are_not_scored(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], warnings_of_loguru: list[str]
) -> None:
    written = tmp_path / "prompts.jsonl"
    score = ["--dataset", MINI, "score", str(tmp_path)]
    assert generate.main(score) == 1 and "lacks 40" in capsys.readouterr().err
    assert any("it cannot be checked that the pictures belong to the prompts" in each for each in warnings_of_loguru)
    assert generate.main(["--dataset", MINI, "prompts", str(written)]) == 0
    assert generate.main(score) == 1 and "lacks 40 of 40 pictures" in capsys.readouterr().err
    lines = written.read_text().splitlines()
    other = tmp_path / "other.jsonl"
    for changed, place in (
        ([*lines[:6], lines[7], lines[6], *lines[8:]], ", line 7"),
        (lines[:-1], ": 39 prompts instead"),
    ):
        other.write_text("\n".join(changed) + "\n")
        assert generate.main([*score, "--prompts", str(other)]) == 1
        assert f"other.jsonl{place}" in capsys.readouterr().err
    assert generate.main([*score, "--prompts", str(tmp_path / "none")]) == 1
    assert "none cannot be read" in capsys.readouterr().err
    assert generate.main(["--dataset", MINI, "prompts", str(written / "below")]) == 1


def test_similarity_of_generated_pictures_is_that_of_the_metric(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tiny_clip: Path
) -> None:
    weights = tmp_path / generated_images.CLIP_MODEL.rpartition("/")[2]
    weights.symlink_to(tiny_clip)
    monkeypatch.setenv("FIGLANG_WEIGHTS_DIR", str(tmp_path))
    docs = list(rows.load(MINI, "generate"))[:5]
    shown = [Image.new("RGB", (16, 16), (50 * place, 0, 200)) for place in range(5)]
    for place, picture in enumerate(shown):
        picture.save(tmp_path / f"{place:04d}.png")
    found = evaluated(docs, [str(tmp_path)] * 5, generate.process_results)
    assert found.keys() == {"clip_similarity", "image_rate"}  # of so few pictures there is no FID
    expected = generated_images.clip_similarity(shown, [generate.prompt_of(doc) for doc in docs], str(tiny_clip))
    value, low, high, stderr, count = found["clip_similarity"]["all"]
    assert value == pytest.approx(expected.value) and count == 5
    assert low is not None and high is not None and low <= expected.value <= high
    assert stderr == pytest.approx(np.std(expected.per_image, ddof=1) / np.sqrt(5), rel=0.1)


@pytest.fixture(scope="session")
def tiny_clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import tiny_encoders

    return tiny_encoders.write("clip", tmp_path_factory.mktemp("clip"))


# --- prompts and options ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", rows.TASKS)
def test_every_task_has_documents_and_a_prompt(task: str) -> None:
    docs = rows.load(MINI, task)
    start = next(start for start in ("retrieve_", "localize", task) if task.startswith(start))
    prompt = {"retrieve_": "choose", "localize": "locate", "generate": "draw"}.get(start)
    prompt = prompt or {"vqa": "ask", "cap": "caption", "cla": "classify"}[task[:3]]
    doc = docs[0]
    assert task_of(doc) == task
    text = doc_to_text(doc, {"prompt": prompt, "default": {"prompt": "x"}})
    assert text == text.strip() and "{{" not in text
    content = doc_to_messages(doc, {"prompt": prompt})[0]["content"]
    kinds = [part["type"] for part in content]
    assert kinds == (["text"] if task == "generate" else ["image", "text"])
    assert content[-1]["text"] == text
    assert all(image.mode == "RGB" for image in doc_to_visual(doc))
    if prompt == "choose":
        assert f"{doc['answer'] + 1}. {doc['candidates'][doc['answer']]}\n" in text
        assert text.endswith(f"1 to {len(doc['candidates'])}.")
        assert "candidates" not in doc_to_text(doc, {"prompt": "state"})


def test_questions_are_the_papers_where_it_shows_any() -> None:
    asked = {}
    for doc in rows.load(MINI, "vqa_best"):
        if doc["image"] == rows.load(MINI, "vqa_best")[0]["image"]:
            asked[doc["id"].partition("#")[2]] = (doc["question"], doc["references"])
    assert len(asked) == 6
    words = next(row for row in rows.load(MINI, "generate"))
    p, r, s = words["primary"], words["relationship"], words["secondary"]
    assert asked["primary-1-1"] == (f"What is as {r} as {s}?", [p])
    assert asked["primary-2-1"] == (f"What is used as a visual metaphor for {s}?", [p])
    assert asked["relationship-1-1"] == (f"What is {p} compared to {s}?", [r])
    assert asked["relationship-2-1"] == (f"What is {p} as compared to {s}?", [r])
    assert asked["secondary-1-1"] == (f"What is {p} as {r} as?", [s])
    assert asked["secondary-2-1"] == (f"What is {p} compared to?", [s])


def test_equal_questions_share_their_answers() -> None:
    docs = list(rows.load(MINI, "vqa"))
    assert (
        len({(doc["image"], doc["role"], doc["question"]) for doc in docs}) == len(docs) == len({d["id"] for d in docs})
    )
    first = [doc for doc in docs if doc["image"] == docs[0]["image"]]
    by_template = {key: [doc for doc in first if doc["id"].partition("#")[2].startswith(key)] for key in ("primary-2",)}
    # three wordings of the secondary concept; each may be said of three wordings of the primary one
    assert [len(doc["references"]) for doc in by_template["primary-2"]] == [3, 3, 3]
