from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figlang_tasks.benchmarks.vflute.parse import Parsed, parse_official, parse_strict, rewrite_scene_graph_talk

relaxed = settings(deadline=None)  # first calls import and compile
STATUSES = {"labelled", "refused", "ambiguous", "unlabelled", "empty", "missing"}

# --- official ---------------------------------------------------------------------------------------------------------

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
    assert (parsed.label, parsed.explanation, parsed.rule) == (label, expected, rule)
    assert (parsed.status == "labelled") == (label is not None)


def _examples() -> list[dict[str, Any]]:
    here = Path(__file__).resolve().parents[3].parent / "shared" / "facts" / "vflute_extraction_examples.json"
    return json.loads(here.read_text(encoding="utf-8")) if here.is_file() else []


@pytest.mark.skipif(not _examples(), reason="shared/facts/vflute_extraction_examples.json is not beside the checkout")
def test_official_equals_all_published_pairs() -> None:
    pairs = _examples()
    assert len(pairs) == 20
    for pair in pairs:
        parsed = parse_official(pair["output"])
        assert (parsed.label, parsed.explanation) == (pair["label"], pair["explanation"]), pair["output"]


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (None, "missing"),
        ("", "empty"),
        ("  ", "empty"),
        ("A.\nLABEL: neither", "refused"),
        ("It neither shows nor tells", "refused"),
        ("entailment or contradiction", "ambiguous"),
        ("A dog", "unlabelled"),
        ("A.\nLABEL: dunno", "unlabelled"),
        ("LABEL: entailment", "labelled"),
    ],
)
def test_official_status(output: str | None, status: str) -> None:
    assert parse_official(output).status == status


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("A.\nLABEL: Contradicts", "Contradict"),
        ("The image CONFIRMS the claim.", "CONFIRMS the claim"),
        ("Entails it", "Entail"),
        ("A.\nLABEL: unsure", None),
        ("A dog", None),
        (None, None),
        ("\u0130 entails", None),
    ],
)
def test_official_span(output: str | None, words: str | None) -> None:
    span = parse_official(output).span
    assert (span and output and output[slice(*span)]) == words


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


@relaxed
@given(OUTPUTS)
def test_official_label_equals_the_restatement(output: str) -> None:
    assert parse_official(output).label == _official_label_restated(output)


@relaxed
@given(OUTPUTS, st.booleans())
def test_both_parsers_hold_their_promises(output: str, scene_graph: bool) -> None:
    for parsed in (parse_official(output, scene_graph=scene_graph), parse_strict(output)):
        assert isinstance(parsed, Parsed)
        assert parsed.label in (0, 1, None) and not isinstance(parsed.label, bool)
        assert isinstance(parsed.explanation, str) and parsed.explanation == parsed.explanation.strip()
        assert parsed.status in STATUSES
        assert (parsed.status == "labelled") == (parsed.label is not None)
        if parsed.span is not None:
            assert 0 <= parsed.span[0] < parsed.span[1] <= len(output)
    assert parse_official(output).label == parse_official(output, scene_graph=True).label


@pytest.mark.parametrize("parse", [parse_official, parse_strict])
@pytest.mark.parametrize("output", [b"LABEL: entailment", 1, ["LABEL: entailment"], float("nan")])
def test_other_types_are_refused(parse: Any, output: Any) -> None:
    with pytest.raises(TypeError, match=type(output).__name__):
        parse(output)


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


# --- strict -----------------------------------------------------------------------------------------------------------

STRICT: list[tuple[str | None, int | None, str]] = [
    # A later declaration beats JSON; a question declares nothing; a claim about the claim is no stance.
    ('{"answer": "entailment"}\nOn reflection I was wrong.\nLABEL: contradiction', 0, "marker"),
    ('Scene: {"objects": ["a"], "relation": "contradicts"}\nIt fits.\nLABEL: entailment', 1, "marker"),
    ('LABEL: neither\n{"label": "entailment"}', 1, "json"),
    ("Label: entailment?", None, "negated"),
    ("The picture supports the statement that the claim is false.", None, "none"),
    ("It supports the claim's opposite.", None, "none"),
    ("The image supports the claim that my lawyer is a shark.", 1, "stance"),
    (None, None, "missing"),
    ("", None, "empty"),
    (" \n ", None, "empty"),
    # declared with a marker; the last one wins
    ("The image shows a dog.\nLABEL: entailment", 1, "marker"),
    ("The image shows a dog.\nlabel : CONTRADICTION.", 0, "marker"),
    ("LABEL: entailment ... wait, LABEL: contradiction", 0, "marker"),
    ("Label: Contradiction\n\nOn reflection it does fit.\n\nLabel: Entailment", 1, "marker"),
    ("**Label:** Contradiction\n\n**Explanation:** The image shows calm seas.", 0, "marker"),
    ("**Label**: Entailment", 1, "marker"),
    ("**LABEL: ENTAILMENT**", 1, "marker"),
    ("### Label\n**Contradiction**", 0, "bare"),
    ("Label \u2013 Contradiction", 0, "marker"),
    ("Label\uff1aEntailment", 1, "marker"),
    ("Label: \u201centailment\u201d", 1, "marker"),
    ("Answer: contradiction", 0, "marker"),
    ("Final Answer: The image contradicts the claim.", 0, "marker"),
    ("Answer: (b) contradiction", 0, "marker"),
    ("Answer: A. Entailment", 1, "marker"),
    ("Verdict: **Contradiction** \u2014 the mood is the opposite.", 0, "marker"),
    ("Label: Contradicts because of the rain", 0, "marker"),
    ("<label>contradiction</label>", 0, "marker"),
    ("Final answer: $\\boxed{\\text{entailment}}$", 1, "marker"),
    ("The result is \\boxed{contradiction}.", 0, "marker"),
    ("Explanation. LABEL: entailment, does not contradict", 1, "marker"),
    ("LABEL: contradiction (not entailment)", 0, "marker"),
    ("LABEL: entailment, not contradiction", 1, "marker"),
    ("LABEL: most likely contradiction", 0, "marker"),
    ("A dog.\nLABEL: neither", None, "marker"),
    ("LABEL: neutral. The image has nothing to do with it.", None, "marker"),
    ("LABEL: entailment? No: LABEL: neither entailment nor contradiction", None, "marker"),
    ("The relationship: unclear", None, "marker"),
    # declared in a sentence
    ("The cat smiles. Therefore, the label is contradiction.", 0, "marker"),
    ("The correct label for this image and claim is **entailment**.", 1, "marker"),
    ('The answer is "contradiction" because the man frowns.', 0, "marker"),
    ("The label should be entailment.", 1, "marker"),
    ("The label would be: Entailment.", 1, "marker"),
    ("So I would label this as a contradiction.", 0, "marker"),
    ("I would classify the relationship as entailment.", 1, "marker"),
    ("This can be categorized under contradiction.", 0, "marker"),
    ("The image can be identified as an entailment of the claim.", 1, "marker"),
    ("I would assign the label of contradiction to this pair.", 0, "marker"),
    ("I choose entailment.", 1, "marker"),
    ("I would consider this a contradiction.", 0, "marker"),
    ("The claim should be judged contradicted.", 0, "statement"),
    ("I would go with contradiction here.", 0, "marker"),
    ("The relationship between the image and the claim is one of entailment.", 1, "marker"),
    ("The label is not entailment but contradiction.", 0, "marker"),
    ("My answer is contradiction rather than entailment.", 0, "marker"),
    ("The image clearly shows joy. This is a contradiction.", 0, "declaration"),
    ("It's a clear contradiction.", 0, "declaration"),
    ("The man is dry, making it a contradiction.", 0, "declaration"),
    ("Therefore, this represents an entailment.", 1, "declaration"),
    ("The scene is cheerful; hence, entailment.", 1, "declaration"),
    ("LABEL: entailment. Wait, this is a contradiction.", 0, "marker"),
    ("Label: Entailment\nHe says one thing and does another: this is a contradiction.", 1, "marker"),
    ("Label (entailment or contradiction): contradiction", 0, "marker"),
    ("Entailment/Contradiction: Entailment", 1, "marker"),
    ("Entailment or contradiction? Contradiction.", 0, "bare"),
    ("Is this entailment? No. It is contradiction.", 0, "declaration"),
    ("Based on this, I'd say entailment.", 1, "declaration"),
    ("No, contradiction.", 0, "declaration"),
    ("I lean towards entailment.", 1, "declaration"),
    ("The label 'entailment' does not fit; this is a contradiction.", 0, "declaration"),
    ("The label 'entailment' is incorrect.", None, "negated"),
    ("The image does not contradict the claim, so the label is entailment.", 1, "marker"),
    ("The image neither entails nor contradicts the claim. Label: contradiction", 0, "marker"),
    ("It would be wrong to label this as a contradiction.", None, "negated"),
    ("I disagree that the image entails the claim.", None, "negated"),
    ("LABEL: contradiction or neutral", None, "echo"),
    ("LABEL: 0", None, "none"),
    # alone
    ("Contradiction", 0, "bare"),
    ("entailment.", 1, "bare"),
    ("**Contradiction**", 0, "bare"),
    ("Entailment. The picture shows a cat.", 1, "bare"),
    ("Contradiction: the sea is calm.", 0, "bare"),
    ("Entailment - the image shows a cat.", 1, "bare"),
    ("The sea is calm while the claim speaks of a storm.\n\nContradiction", 0, "bare"),
    ("The sea is calm while the claim speaks of a storm. Contradiction.", 0, "bare"),
    ("Entailment: No\nContradiction: Yes", 0, "bare"),
    ("Entailment: the cat smiles.\nContradiction", 0, "bare"),
    ("A calm sea, bright and wide, is all there is.\nContradiction: the claim speaks of a storm.", 0, "bare"),
    ("Entailment: the cat smiles.\nContradiction: the cat is sad.\nHard to say.", None, "conflict"),
    # JSON
    ('{"label": "entailment", "explanation": "The cat smiles."}', 1, "json"),
    ('```json\n{"explanation": "The cat frowns.", "label": "Contradiction"}\n```', 0, "json"),
    ("{'label': 'contradiction', 'explanation': 'The cat frowns.'}", 0, "marker"),
    ('{"explanation": "It does not contradict', None, "negated"),
    ('{"label": "entailment or contradiction"}', None, "echo"),
    ('{"label": 1}', None, "none"),
    ('{"label": "entailment"}.', 1, "json"),
    ('{"label": "yes", "verdict": "contradiction"}', 0, "json"),
    *((f'{{"label": "{word}"}}', 1, "json") for word in ("entailment", "entails", "entailed", "entail")),
    *((f'{{"label": "contradict{end}"}}', 0, "json") for end in ("", "s", "ed", "ion", "ory")),
    ('{"explanation": "' + "x " * 50_000 + '", "label": "contradiction"}', 0, "marker"),  # its middle is not read
    # plain statements
    ("The image entails the claim.", 1, "statement"),
    ("The image contradicts the claim.", 0, "statement"),
    ("The claim is entailed by the image.", 1, "statement"),
    ("The claim is contradicted by the image, which shows a calm sea.", 0, "statement"),
    ("The image does not show a sad man, which contradicts the claim.", 0, "statement"),
    ("No, the image contradicts the claim.", 0, "statement"),
    ("The image appears to contradict the claim.", 0, "statement"),
    ("The image not only illustrates but entails the claim.", 1, "statement"),
    ("The image without a doubt entails the claim.", 1, "statement"),
    ("There is a contradiction between the image and the claim.", 0, "statement"),
    ("The image is in contradiction with the claim.", 0, "statement"),
    ("The image is contradictory to the claim.", 0, "statement"),
    ("The image entails the claim and does not contradict it.", 1, "statement"),
    ("The image does not entail the claim; it contradicts it.", 0, "statement"),
    ("The image doesn\u2019t entail the claim, but rather contradicts it.", 0, "statement"),
    ("The sea is not calm, it contradicts the claim.", 0, "statement"),
    ("The answer is entails.", 1, "statement"),
    ("Wait, this is a contradiction.", 0, "declaration"),
    # negation declares nothing
    ("A dog.\nNo contradiction of the claim.", None, "negated"),
    ("Not once, it seems, does it contradict the claim.", None, "negated"),
    ("The image does not entail the claim.", None, "negated"),
    ("The image does not contradict the claim.", None, "negated"),
    ("The image doesn't directly contradict the claim.", None, "negated"),
    ("The image does not, in any way, contradict the claim.", None, "negated"),
    ("The image cannot be said to entail the claim.", None, "negated"),
    ("The image fails to entail the claim.", None, "negated"),
    ("Nothing in the image contradicts the claim.", None, "negated"),
    ("There is no contradiction between the image and the claim.", None, "negated"),
    ("This is not a contradiction.", None, "negated"),
    ("I would not label this as a contradiction.", None, "negated"),
    ("Label: not entailment", None, "negated"),
    ("The picture is non-contradictory.", None, "negated"),
    # hedges, conditions, questions
    ("The image might contradict the claim.", None, "negated"),
    ("If the man were sad, the image would contradict the claim.", None, "negated"),
    ("I cannot tell whether the image entails the claim.", None, "refusal"),
    ("Does the image entail the claim?", None, "negated"),
    ("It is unclear whether the image entails or contradicts the claim.", None, "refusal"),
    ("The label could be entailment.", None, "negated"),
    ("Does the image support the claim?", None, "negated"),
    ("LABEL: neither?", None, "none"),
    # the options
    ("Choose between entailment or contradiction: the image is blue.", None, "echo"),
    ("Does the image entail or contradict the claim? A dog sits there.", None, "echo"),
    ("LABEL: entailment or contradiction", None, "echo"),
    ("LABEL: {entailment|contradiction}", None, "echo"),
    ("Label: entailment/contradiction", None, "echo"),
    ("The labels are entailment and contradiction.", None, "echo"),
    ("You ask: entailment or contradiction? The image contradicts the claim.", 0, "statement"),
    # no choice
    ("The image neither entails nor contradicts the claim.", None, "refusal"),
    ("The image does not support or contradict the claim.", None, "refusal"),
    ("The image supports or contradicts the claim.", None, "echo"),
    ("The image entails or at least supports the claim.", 1, "statement"),
    ("It is not possible to determine a label from the image.", None, "refusal"),
    ("I'm sorry, I can't help with that.", None, "refusal"),
    ("The image entails the mood but contradicts the claim.", None, "conflict"),
    ("A dog sits on a lawn.", None, "none"),
    ("Yes.", None, "none"),
    # about something else
    ("His smile contradicts his words. The claim is odd.", None, "none"),
    ("His smile contradicts his words.", None, "none"),
    ("The humor comes from the contradiction of a dog in a suit.", None, "none"),
    ("The cartoon describes the contradiction of modern life.", None, "none"),
    ("The meme identifies a contradiction in our habits.", None, "none"),
    ("The answer lies in the contradiction of the two men.", None, "none"),
    ("There is a marked contradiction in his face.", None, "none"),
    ("The humor is that a shark entails danger while the image is calm.", None, "none"),
    # in the words of the instructions
    ("The image supports the claim.", 1, "stance"),
    ("The visual evidence refutes the claim.", 0, "stance"),
    ("The image is consistent with the statement.", 1, "stance"),
    ("The image is inconsistent with the caption.", 0, "stance"),
    ("The image does not support the claim.", None, "negated"),
    ("It is not sad. The image supports the claim.", 1, "stance"),
    ("The image is not sad, it supports the claim.", 1, "stance"),
    ("The image supports the claim in part, and refutes the claim in part.", None, "conflict"),
    # thinking aloud
    ("<think>Label: entailment? The sea is calm.</think>LABEL: contradiction", 0, "marker"),
    ("<think>this is a contradiction</think>\nThe sea is calm.", None, "none"),
    ("<think>LABEL: entailment</think>", 1, "marker"),  # nothing else is there
]


@pytest.mark.parametrize(("output", "label", "rule"), STRICT)
def test_strict_table(output: str | None, label: int | None, rule: str) -> None:
    parsed = parse_strict(output)
    assert (parsed.label, parsed.rule) == (label, rule)
    assert (parsed.status == "labelled") == (label is not None)


LONG: list[tuple[str, int | None, str]] = [
    (
        "The image depicts a man standing in heavy rain while smiling broadly. The claim suggests that he is having "
        "the worst day of his life. Since his expression does not show any distress, the image does not support the "
        "claim; rather, it contradicts it.\n\nLABEL: contradiction",
        0,
        "The image depicts a man standing in heavy rain while smiling broadly. The claim suggests that he is having "
        "the worst day of his life. Since his expression does not show any distress, the image does not support the "
        "claim; rather, it contradicts it.",
    ),
    (
        "## Analysis\n\nThe meme shows a student asleep on a book. The claim says that studying is exhausting, so the "
        "picture **supports** it.\n\n**Label: Entailment**",
        1,
        "Analysis\n\nThe meme shows a student asleep on a book. The claim says that studying is exhausting, so the "
        "picture **supports** it.",
    ),
    (
        "**Label:** Contradiction\n\n**Explanation:** The sea in the image is calm.",
        0,
        "The sea in the image is calm.",
    ),
    ('{"label": "entailment", "explanation": " The cat smiles. "}', 1, "The cat smiles."),
    ('Here you are:\n```json\n{"verdict": "contradiction"}\n```', 0, "Here you are:"),
    ("Explanation: the cat smiles.\nLabel: entailment", 1, "the cat smiles."),
    ("Contradiction\nThe cat frowns.", 0, "The cat frowns."),
    ("The cat smiles. Therefore, the label is entailment.", 1, "The cat smiles."),
    ("LABEL: entailment", 1, ""),
    ("</think>LABEL: entailment", 1, ""),
    ("Label: Contradicts because of the rain", 0, "because of the rain"),
    ("The sea is calm.\nLABEL: neither", None, "The sea is calm."),
    ("The sea is calm. The label should be neither.", None, "The sea is calm."),
    ("The label is neither because the sea is calm.", None, "The label is neither because the sea is calm."),
    ("This is a contradiction. The sea is calm.", 0, "The sea is calm."),
    ("The label is entailment because the cat smiles.", 1, "The label is entailment because the cat smiles."),
    ("The image entails the claim since the cat smiles.", 1, "The image entails the claim since the cat smiles."),
    ("A dog on a lawn. ", None, "A dog on a lawn."),
    ("<think>hm</think> The cat smiles. LABEL: entailment", 1, "The cat smiles."),
]


@pytest.mark.parametrize(("output", "label", "explanation"), LONG)
def test_strict_explanation(output: str, label: int | None, explanation: str) -> None:
    parsed = parse_strict(output)
    assert (parsed.label, parsed.explanation) == (label, explanation)


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("LABEL: entailment ... wait, LABEL: Contradiction", "Contradiction"),
        ("The image ENTAILS the claim.", "ENTAILS"),
        ("<think>a</think> \u0130\u0130 LABEL: entailment", "entailment"),
        ('He says {"label": "entailment"} now', '{"label": "entailment"}'),
        ("A dog.", None),
        ("x" * 200_000 + "\nLABEL: contradiction", "contradiction"),
        ("LABEL: contradiction\n" + "x" * 200_000, "contradiction"),
    ],
)
def test_strict_span(output: str, words: str | None) -> None:
    span = parse_strict(output).span
    assert (None if span is None else output[slice(*span)]) == words


def test_a_label_at_either_end_of_a_runaway_output_is_found() -> None:
    noise = "the dog and the cat " * 100_000
    assert parse_strict(f"{noise}\nLABEL: contradiction").label == 0
    first = parse_strict(f"LABEL: entailment\n{noise}")
    assert (first.label, first.explanation) == (1, noise.strip())


@pytest.mark.parametrize(
    ("end", "label", "rule"),
    [
        ("contradicts the claim. ", None, "none"),
        ("contradicts the claim. ".ljust(400, "y") + " LABEL: entailment. ", 1, "marker"),
        ("supports the claim. ".ljust(400, "y") + ". The picture refutes the claim. ", 0, "stance"),
        ("supports the claim. ".ljust(400, "y") + ". The picture supports the claim. ", 1, "stance"),
    ],
)
def test_words_torn_from_their_negation_are_not_read(end: str, label: int | None, rule: str) -> None:
    """Only the ends of a long output are read; here the last stretch begins right behind "Nothing in the image"."""
    parsed = parse_strict("x " * 50_000 + "\nNothing in the image " + end.ljust(1 << 15, "y"))
    assert (parsed.label, parsed.rule) == (label, rule)


@pytest.mark.parametrize(
    ("before", "after", "label"),
    [
        (32_000, 100_000, 1),
        (34_000, 100_000, None),
        (100_000, 32_000, 1),
        (100_000, 34_000, None),
        (32_748, 0, 1),  # where the gap of a longer output would be
        (32_748, 32_000, 1),
    ],
)
def test_32768_characters_of_each_end_are_searched(before: int, after: int, label: int | None) -> None:
    assert parse_strict("x" * before + "\nLABEL: entailment\n" + "x" * after).label == label


@pytest.mark.parametrize(
    ("output", "status"),
    [
        (None, "missing"),
        (" ", "empty"),
        ("LABEL: entailment", "labelled"),
        ("A.\nLABEL: neither", "refused"),
        ("I'm sorry, I can't help with that.", "refused"),
        ("LABEL: entailment or contradiction", "ambiguous"),
        ("The image entails the mood but contradicts the claim.", "ambiguous"),
        ("The image does not entail the claim.", "unlabelled"),
    ],
)
def test_strict_status(output: str | None, status: str) -> None:
    assert parse_strict(output).status == status


@relaxed
@given(
    st.text(alphabet=st.characters(codec="ascii", categories=["L", "Zs"]), max_size=80).filter(
        lambda t: not any(w in t.lower() for w in ("entail", "contradict"))
    ),
    st.sampled_from([(1, "entailment"), (0, "contradiction")]),
    st.sampled_from(["LABEL: ", "Label: ", "**Label:** ", "Answer: ", "label = "]),
    st.sampled_from([str.lower, str.upper, str.capitalize]),
)
def test_a_final_label_line_is_always_read(text: str, side: tuple[int, str], marker: str, case: Any) -> None:
    parsed = parse_strict(f"{text}.\n{marker}{case(side[1])}")
    assert (parsed.label, parsed.rule) == (side[0], "marker")
    assert parsed.explanation == parse_strict(f"{text}.\nLABEL: entails").explanation


MILLION = 10**6
ADVERSARIAL: dict[str, Callable[[], str]] = {
    "markers": lambda: "LABEL:" * MILLION,
    "labels": lambda: "LABEL: entailment " * (MILLION // 2),
    "label lines": lambda: "LABEL: contradiction\n" * (MILLION // 2),
    "therefore": lambda: "Therefore," * MILLION,
    "not": lambda: "not " * (2 * MILLION),
    "entail": lambda: "entail" * MILLION,
    "entails": lambda: "entails " * MILLION,
    "negated": lambda: "does not contradict the claim, " * (MILLION // 3),
    "options": lambda: "entailment or contradiction " * (MILLION // 3),
    "spaces": lambda: "LABEL:" + " " * (8 * MILLION) + "x",
    "newlines": lambda: "label\n" * MILLION,
    "braces": lambda: "{" * (8 * MILLION),
    "closed braces": lambda: "{" * (4 * MILLION) + "}" * (4 * MILLION),
    "brackets": lambda: '{"a":' + "[" * (8 * MILLION) + "}",
    "quotes": lambda: '"label":"' * MILLION,
    "scene graphs": lambda: "the image and the scene graph of the image " * (MILLION // 5),
    "underscores": lambda: "_" * (8 * MILLION),
    "emoji": lambda: "a_emoji " * MILLION,
    "words": lambda: "the label claim image is " * (MILLION // 3),
    "one word": lambda: "x" * (10 * MILLION),
    "question marks": lambda: "?" * (8 * MILLION),
    "supports": lambda: "supports the supports " * (MILLION // 3),
    "stars": lambda: "*" * (8 * MILLION),
    "dotted capitals": lambda: "\u0130" * (4 * MILLION),
    "think": lambda: "</think>" * MILLION,
}


@pytest.mark.parametrize("name", ADVERSARIAL)
def test_time_does_not_explode(name: str) -> None:
    # Tens of milliseconds to a second on a slow machine; anything quadratic would take hours.
    output = ADVERSARIAL[name]()
    begin = time.perf_counter()
    parse_official(output, scene_graph=True)
    parse_strict(output)
    assert time.perf_counter() - begin < 60


@settings(max_examples=50, deadline=None)
@given(st.lists(PIECES, max_size=8).map("".join), st.integers(1, 400))
def test_repeated_pieces_never_raise(piece: str, times: int) -> None:
    parse_official(piece * times, scene_graph=True)
    parse_strict(piece * times)
