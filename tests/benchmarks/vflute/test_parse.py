from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.benchmarks.vflute.parse import parse_official, rewrite_scene_graph_talk

OFFICIAL: list[tuple[str | None, int | None, str | None, str]] = [
    # missing and blank
    (None, None, None, "missing"),
    ("", None, "", "none"),
    (" \n\t ", None, "", "none"),
    # rule 2: the marker has three spellings, and the first of them counts
    ("It shows joy.\nLABEL: entailment", 1, "It shows joy.", "marker-entail"),
    ("It shows joy.\nLabel: Entailment", 1, "It shows joy.", "marker-entail"),
    ("It shows joy.\nlabel: ENTAILMENT", 1, "It shows joy.", "marker-entail"),
    ("It shows joy.\nLaBeL: entailment", 1, "It shows joy.\nLaBeL: entailment", "phrase-entail"),
    ("A. label: entailment LABEL: contradiction", 0, "A.", "marker-contradict"),
    ("A.\nLABEL: neither entailment nor contradiction", None, "A.", "marker-neither"),
    ("A.\nLABEL: Neither", None, "A.", "marker-neither"),
    ("A.\nLABEL: entailment, as it does not contradict", 0, "A.", "marker-contradict"),
    ("A.\nLABEL: unsure", None, "A.", "marker-none"),
    ("A.\nLABEL:", None, "A.", "marker-none"),
    ("Entailment is plain.\nLABEL: contradiction", 0, "Entailment is plain.", "marker-contradict"),
    # rule 2: nothing before the marker
    ("Label: entails since the cat smiles", 1, "since the cat smiles", "marker-entail"),
    ("Label: Contradicts. The cat frowns.", 0, ". The cat frowns.", "marker-contradict"),
    ("LABEL: entailment", 1, "LABEL: entailment", "marker-entail"),
    ("LABEL: ENTAILMENT\nThe cat smiles.", 1, "LABEL: ENTAILMENT\nThe cat smiles.", "marker-entail"),
    ("LABEL: unsure, the cat smiles", None, "LABEL: unsure, the cat smiles", "marker-none"),
    ("LABEL: it does entail: entails", 1, "LABEL: it does entail: entails", "marker-entail"),
    # the word searched for is that of the label, not the first label word
    ("LABEL: entailment, no contradiction here", 0, "here", "marker-contradict"),
    # rule 3: refusals, then entailment, then contradiction, wherever they stand
    ("It is not possible to definitively label it: entailment.", None, "*", "phrase-refusal"),
    ("NEITHER entails it", None, "*", "phrase-refusal"),
    ("It does not support or contradict it.", None, "*", "phrase-refusal"),
    ("I must say entailment or contradiction; entailment", None, "*", "phrase-refusal"),
    ("I must say contradiction or entailment; contradiction", 1, "*", "phrase-entail"),
    ("It contradicts, it does not entail.", 1, "*", "phrase-entail"),
    ("It supports the claim and contradicts nothing", 1, "*", "phrase-entail"),
    ("It supports the caption", None, "*", "none"),
    ("The image can be seen as indirectly supporting it", 1, "*", "phrase-entail"),
    ("The image is inconsistent with it", None, "*", "none"),
    ("The image is consistent", 1, "*", "phrase-entail"),
    ("It is in agreement, and confirms the claim", 1, "*", "phrase-entail"),
    ("It confirms the claim", 1, "*", "phrase-entail"),
    ("It appears to contest that", 0, "*", "phrase-contradict"),
    ("Contradictory at best", 0, "*", "phrase-contradict"),
    ("A dog on a lawn", None, "*", "none"),
    # rule 4
    ("Contradiction. A cat. Entailment. A dog.", 1, "A cat.  A dog.", "phrase-entail"),
    ("Contradiction: a cat", 0, "a cat", "phrase-contradict"),
    ("Contradiction\nA cat", 0, "A cat", "phrase-contradict"),
    ("Entailment.Contradiction:Entailment\nA cat", 1, "A cat", "phrase-entail"),
    ("contradiction. A cat", 0, "contradiction. A cat", "phrase-contradict"),
    ("Contradiction.", 0, "", "phrase-contradict"),
    ("Contradiction\n", 0, "Contradiction", "phrase-contradict"),
    ("Therefore, it entails", 1, "", "phrase-entail"),
    ("A. Therefore, B. Therefore, C.\nLABEL: entailment", 1, "A. Therefore, B.", "marker-entail"),
    ("A. therefore, B.\nLABEL: entailment", 1, "A. therefore, B.", "marker-entail"),
    ("A. Therefore B.\nLABEL: entailment", 1, "A. Therefore B.", "marker-entail"),
    # capitals whose lower case is longer do not disturb anything
    ("\u0130\u0130\u0130 entails", 1, "*", "phrase-entail"),
    ("LABEL: \u0130\u0130 contradiction", 0, "LABEL: \u0130\u0130 contradiction", "marker-contradict"),
]


@pytest.mark.parametrize(("output", "label", "explanation", "rule"), OFFICIAL)
def test_official_table(output: str | None, label: int | None, explanation: str | None, rule: str) -> None:
    parsed = parse_official(output)
    expected = output if explanation == "*" else explanation
    assert (parsed.value, parsed.explanation, parsed.rule) == (label, expected, rule)
    assert (parsed.status == "read") == (label is not None)


def _examples() -> list[dict[str, Any]]:
    here = Path(__file__).resolve().parents[3].parent / "shared" / "facts" / "vflute_extraction_examples.json"
    return json.loads(here.read_text(encoding="utf-8")) if here.is_file() else []


@pytest.mark.skipif(not _examples(), reason="shared/facts/vflute_extraction_examples.json is not beside the checkout")
def test_official_equals_all_published_pairs() -> None:
    pairs = _examples()
    assert len(pairs) == 20
    for pair in pairs:
        parsed = parse_official(pair["output"])
        assert (parsed.value, parsed.explanation) == (pair["label"], pair["explanation"]), pair["output"]


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (None, "missing"),
        ("", "empty"),
        ("  ", "empty"),
        ("A.\nLABEL: neither", "refused"),
        ("It NEITHER shows nor tells", "refused"),
        ("entailment or contradiction", "ambiguous"),
        ("A dog", "unreadable"),
        ("A.\nLABEL: dunno", "unreadable"),
        ("A.\nLABEL: Contradicts", "read"),
        ("The image CONFIRMS the claim.", "read"),
        ("\u0130 entails", "read"),
    ],
)
def test_official_status(output: str | None, status: str) -> None:
    assert parse_official(output).status == status


def _official_label_restated(output: str) -> int | None:
    """Rules 2 and 3 once more, in another way."""
    cuts = [output.index(m) for m in ("LABEL:", "Label:", "label:") if m in output]
    if cuts:
        tail = output[min(cuts) + 6 :].lower()
        return None if "neither" in tail else 0 if "contradict" in tail else 1 if "entail" in tail else None
    text = output.lower()
    none = ["not possible to definitively label", "neither", "does not support or contradict"]
    if any(p in text for p in [*none, "entailment or contradiction"]):
        return None
    one = "entail|supports the claim|is consistent|image can be seen as indirectly supporting|in harmony with"
    one += "|appears to be consistent with the claim|is in agreement|confirms the claim"
    if any(p in text for p in one.split("|")):
        return 1
    return 0 if "contradict" in text or "appears to contest" in text else None


PIECES = st.sampled_from(
    [
        *("LABEL:", "Label:", "label:", "Answer:", "entailment", "Entailment.", "contradiction", "Contradiction:"),
        *("entails", "contradicts", " the claim", "neither", "not ", "does not ", " or ", "\n", " ", ". ", "?", ", "),
        *("Therefore,", "scene graph", "a_b", "**", '"', "{", "}", "</think>", "is consistent with", "wait, ", "label"),
        *("supports", "Answer is ", "this is a ", "\u0130", "\ud800"),
    ]
)
OUTPUTS = st.one_of(st.text(), st.lists(PIECES, max_size=30).map("".join))


@given(OUTPUTS, st.booleans())
def test_official_holds_its_promises(output: str, scene_graph: bool) -> None:
    found = parse_official(output, scene_graph=scene_graph)
    assert found.value == _official_label_restated(output)
    assert (found.status == "read") == (found.value is not None)
    assert found.explanation is not None and found.explanation == found.explanation.strip()


@pytest.mark.parametrize("output", [b"LABEL: entailment", 1, ["LABEL: entailment"], float("nan")])
def test_other_types_are_refused(output: Any) -> None:
    with pytest.raises(TypeError, match=type(output).__name__):
        parse_official(output)


@pytest.mark.slow
@pytest.mark.parametrize(
    "piece",
    ["LABEL:", "LABEL: entailment ", "Therefore,", "entail", "entailment or contradiction ", " ", "label\n", "_", "x"]
    + ["Contradiction.", "a_emoji ", "the image and the scene graph of the image ", "a_b scene graph ", "\u0130"],
)
def test_time_does_not_explode(piece: str) -> None:
    # Tens of milliseconds to a second on a slow machine; anything quadratic would take hours.
    output = piece * (8_000_000 // len(piece))
    begin = time.process_time()
    parse_official(output, scene_graph=True)
    assert time.process_time() - begin < 60


# --- scene graphs -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "rewritten"),
    [
        # Expected values follow by hand from the published replacements, in their order.
        ("", ""),
        ("A dog_house.", "A dog_house."),
        ("The scene graph shows a dog.", "The image shows a dog."),
        ("So the scene graph describes a dog.", "So the image shows a dog."),
        ("the scene graph indicates it", "the image displays it"),
        ("the scene graph explicitly states it", "the image displays it"),
        ("Scene Graph shows a red_dog.", "Scene Graph shows a red dog."),
        ("The image and the scene graph both support the claim.", "The image supports the claim."),
        ("The image and the scene graph show a dog.", "The image show a dog."),
        ("The image and the scene graph's description fit.", "The image fit."),
        ("The image and scene graph show a dog.", "The image and image show a dog."),
        ("In the scene graph, a dog.", "In the image, a dog."),
        ('The scene graph has "big_dog" and crying_face_emoji.', "The image has big dog and crying_face_emoji."),
        ("scene graph: a_b my_emoji_a_b", "image: a b my_emoji_a b"),
        ("scene graph a_b a_b_c", "image a b a b_c"),
    ],
)
def test_scene_graph_talk(text: str, rewritten: str) -> None:
    assert rewrite_scene_graph_talk(text) == rewritten


def test_scene_graph_runs_only() -> None:
    output = "The scene graph has a red_dog.\nLABEL: entailment"
    assert parse_official(output).explanation == "The scene graph has a red_dog."
    assert parse_official(output, scene_graph=True).explanation == "The image has a red dog."
    assert parse_official(None, scene_graph=True).explanation is None
