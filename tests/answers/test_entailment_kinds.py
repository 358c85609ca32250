"""Answers about entailment that are easily read wrongly are read so again, if this fails.

Each table is one kind: an output, and what a careful person reads: 1 entailment, 0 contradiction,
or None where nobody could tell.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.entailment import entailment

SEVERAL = [
    ("LABEL: entailment, contradiction", None),
    ("LABEL: contradiction, entailment", None),
    ("LABEL: entailment/contradiction", None),
    ("LABEL: entailment contradiction", None),
    ("LABEL: entailment -> contradiction", None),
    ("LABEL: entailment or neutral", None),
    ("LABEL: contradiction/entailment", None),
    ("LABEL: entailment or contradiction", None),
    ("LABEL: contradiction or entailment", None),
    ("LABEL: entailment and contradiction", None),
    ("LABEL: entailment & contradiction", None),
    ("LABEL: entailment + contradiction", None),
    ("LABEL: Entailment | Contradiction", None),
    ("LABEL: both entailment and contradiction", None),
    ('LABEL: "entailment", "contradiction"', None),
    ("The image contradicts the claim.\nLABEL: entailment, contradiction", None),
    ("Entailment and contradiction", None),
    ("LABEL: entailment, not contradiction", 1),
    ("LABEL: contradiction, not entailment", 0),
    ("LABEL: entailment rather than contradiction", 1),
    ("LABEL: entailment, since nothing contradicts the claim", 1),
    ("LABEL: entailment.\nThe image and the claim are about a race.", 1),
    ("Between entailment and contradiction, I choose contradiction.", 0),
]

LAST_ANNOUNCEMENT = [
    ("LABEL: entailment\nThe boat sinks, so I check it again.\nLABEL: contradiction", 0),
    ("My first label is contradiction. The final label is entailment.", 1),
    ("The answer is entailment. Wait, the answer is contradiction.", 0),
    ("Label: entailment. Correction: contradiction.", 0),
    ("The image entails the claim.\nLABEL: contradiction", 0),
    ("I cannot be sure. Still, the answer is entailment.", 1),
    ("The image does not support the claim.\n\nLABEL: entailment", 1),
    ("I would label this as contradiction.", 0),
    ("This can be classified as entailment.", 1),
    ("Answer -> contradiction", 0),
    ("I'd say entailment.", 1),
    ('{"answer": "contradiction"}', 0),
    ("- [x] Entailment\n- [ ] Contradiction", 1),
    ("[ ] Entailment [x] Contradiction", 0),
    ("Entailment: No\nContradiction: Yes", 0),
    ("Entailment: yes", 1),
    ("LABEL: neither", None),
    ("The image entails the claim in part.\nLABEL: neutral", None),
    ("If the smile is real, the answer is entailment.", None),
    ("The label could be entailment.", None),
    ("[ ] Entailment\n[ ] Contradiction", None),
    ('{"label": "entailment"}\n{"label": "contradiction"}', None),
]

DENIED_LABEL = [
    ("LABEL: non-contradiction", 1),
    ("LABEL: not contradiction", 1),
    ("LABEL: not a contradiction", 1),
    ("LABEL: no contradiction", 1),
    ("LABEL: non-entailment", 0),
    ("LABEL: not entailment", 0),
    ("not_entailment", 0),
    ("Non-contradiction.", 1),
    ("Not a contradiction.", 1),
    ("Not entailment", 0),
    ("The answer is not entailment.", 0),
    ("The answer is not entailment but contradiction.", 0),
    ("The label cannot be entailment.", 0),
    ("The label is not contradiction; it is entailment.", 1),
    ("I would not label this as a contradiction.", 1),
    ("This is not a contradiction.", 1),
    ("It isn't an entailment.", 0),
    ("There is no contradiction between the image and the claim.", 1),
    ("There is no contradiction.", 1),
    ("Contradiction: no", 1),
    ("LABEL: neither entailment nor contradiction", None),
    ("This is neither an entailment nor a contradiction.", None),
    ("Not entailment, not contradiction.", None),
    ("Entailment: No\nContradiction: No", None),
    ("The answer is not necessarily entailment.", None),
    ("This is not a direct contradiction.", None),
    ("It would be a mistake to label this as contradiction.", None),
    ("There is no contradiction in his smile.", None),
]

DENIED_RELATION = [
    ("It contradicts nothing in the claim.", 1),
    ("The image contradicts none of the claim.", 1),
    ("Nothing in the image contradicts the claim.", 1),
    ("No part of the picture contradicts the claim.", 1),
    ("The image does not contradict the claim.", 1),
    ("The image doesn't contradict the statement.", 1),
    ("The sentences do not contradict each other.", 1),
    ("The claim is not contradicted by the image.", 1),
    ("The image is not contradictory to the claim.", 1),
    ("The image does not refute the claim.", 1),
    ("The image is not inconsistent with the claim.", 1),
    ("The image does not entail the claim.", 0),
    ("The first sentence does not entail the second.", 0),
    ('The sentence "He is up" does not entail the sentence "He is down."', 0),
    ('"He is up" doesn\'t entail "He is down".', 0),
    ("The premise does not entail the hypothesis.", 0),
    ("The hypothesis is not entailed by the premise.", 0),
    ("The image does not support the claim.", 0),
    ("The image fails to support the claim.", 0),
    ("The claim is not supported by the image.", 0),
    ("The claim isn't supported by the visual evidence.", 0),
    ("The statement is not confirmed by the picture.", 0),
    ("The image does not seem to support the claim.", 0),
    ("The image does not, however, support the claim.", 0),
    ("The image in no way supports the claim.", 0),
    ("Neither of the sentences contradicts the other.", 1),
    ("It is not true that the image contradicts the claim.", 1),
    ("The claim does not align with the image.", 0),
    ("I do not think the image supports the claim.", 0),
    ("The picture is not consistent with the claim.", 0),
    ("The image neither entails nor contradicts the claim.", None),
    ("The image does not support or contradict the claim.", None),
    ("The image does not entail or contradict the claim.", None),
    ("The image does not contradict the claim, nor does it support it.", None),
    ("The image does not contradict the claim, but it does not support it either.", None),
    ("The image does not entail the claim. It does not contradict it.", None),
    ("The claim is neither supported nor refuted by the image.", None),
    ("The image does not entail the claim; they are unrelated.", None),
    ("The image does not entail the claim. It is neutral.", None),
]

DENIED_IN_PART = [
    ("The image does not fully support the claim.", None),
    ("The image does not directly contradict the claim.", None),
    ("The first sentence does not necessarily entail the second.", None),
    ("The image does not explicitly contradict the claim.", None),
    ("The image does not support the claim on its own.", None),
    ("The image does not directly contradict the claim, but it does not support it.", None),
    ("The claim is not entirely supported by the image.", None),
    ("The image does not contradict the claim if the smile is real.", None),
    ("If the storm is real, the image does not support the claim.", None),
    ("The image might not support the claim.", None),
    ("Some say that the image does not support the claim.", None),
    ("The image hardly contradicts the claim.", None),
    ("It hardly supports the claim.", None),
    ("The image barely supports the claim.", None),
    ("The image contradicts hardly anything in the claim.", None),
    ("The image only partially supports the claim.", None),
    ("The image does anything but support the claim.", None),
    ("The first sentence does not entail the second literally.", None),
    ("Does the image not support the claim?", None),
    ("It is wrong to say that the image does not support the claim.", None),
    ('The caption reads "It does not entail it."', None),
    ("The image supports the claim, but does not entail it.", None),
    ("The image does not fully support the claim; it contradicts it.", 0),
    ("The image does not directly contradict the claim, and it supports it.", 1),
]

DENIED_OF_SOMETHING_ELSE = [
    ("It does not entail any risk.", None),
    ("The plan does not entail a loss.", None),
    ("The bridge in the image does not support his weight.", None),
    ("The bridge does not support it.", None),
    ("The crowd does not support the king.", None),
    ("It is not supported by evidence or logical reasoning.", None),
    ("It is not supported by evidence in the text of another sentence.", None),
    ("The theory is not supported.", None),
    ("His smile does not contradict his tears.", None),
    ("The man does not contradict his wife.", None),
    ("The mother does not agree with her son.", None),
    ("The couple in the picture do not agree with each other.", None),
    ("A beam in the image that does not support it has rotted.", None),
    ("Back to the claim: the picture shows a boat.", None),
    ("The boy is not aligned with the other children.", None),
    ("The image does not support the claim of the miners.", None),
    ("The sentence is not a contradiction of itself.", None),
    ("The law does not entail that he pays.", None),
    ("The image shows a beam that does not support the roof, and it contradicts the claim.", 0),
]

CONTRADICTORY = [
    ('The sentence "He is up" is a sentence that is contradictory to "He is down".', 0),
    ("The image shows a scene that is contradictory to the claim.", 0),
    ("It is contradictory to the claim.", 0),
    ("The two are contradictory.", 0),
    ("The sentences are mutually contradictory.", 0),
    ("The image is contradictory to the claim.", 0),
    ("The second sentence is contradictory to the first.", 0),
    ("The claim appears to be contradictory to the image.", 0),
    ("They are contradictory to each other.", 0),
    ("The first sentence, which is contradictory to the second, is a metaphor.", 0),
    ("The sentences are not contradictory.", 1),
    ("They aren't contradictory to each other.", 1),
    ("The sentence is self-contradictory.", None),
    ("His feelings are contradictory.", None),
    ("The man has a contradictory nature.", None),
    ("Are they contradictory?", None),
]

KINDS = {
    "several": SEVERAL,
    "last announcement": LAST_ANNOUNCEMENT,
    "denied label": DENIED_LABEL,
    "denied relation": DENIED_RELATION,
    "denied in part": DENIED_IN_PART,
    "denied of something else": DENIED_OF_SOMETHING_ELSE,
    "contradictory": CONTRADICTORY,
}
ROWS = []
for kind, rows in KINDS.items():
    ROWS += [pytest.param(output, value, id=f"{kind}: {output}") for output, value in rows]


@pytest.mark.parametrize(("output", "value"), ROWS)
def test_a_kind_is_read_as_a_careful_person_reads_it(output: str, value: int | None) -> None:
    reading = entailment(output)
    assert reading.value == value, reading
    assert (reading.status == "read") == (value is not None)


def test_each_kind_has_enough_inputs_and_some_that_stay_unread() -> None:
    for kind, rows in KINDS.items():
        assert len(rows) >= 15, kind
        assert any(value is None for _, value in rows), kind


@pytest.mark.parametrize(
    ("output", "status", "rule"),
    [
        ("LABEL: entailment, contradiction", "ambiguous", "conflict"),
        ("LABEL: neutral", "refused", "neither"),
        ("The image does not support or contradict the claim.", "refused", "neither"),
        ("The image does not entail the claim; they are unrelated.", "refused", "neither"),
        ("The image supports the claim, but does not entail it.", "ambiguous", "conflict"),
        ("The image does not fully support the claim.", "unreadable", "nothing"),
        ("The image does not entail the claim.", "read", "denial"),
        ("- [x] Entailment\n- [ ] Contradiction", "read", "checked"),
    ],
)
def test_which_rule_decides(output: str, status: str, rule: str) -> None:
    reading = entailment(output)
    assert (reading.status, reading.rule) == (status, rule)


PIECES = [
    "not ",
    "neither ",
    "[x]",
    "LABEL: ",
    "(",
    "\n",
]
for rows in KINDS.values():
    PIECES += [output for output, _ in rows]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=6).map("".join))
def test_any_text_has_a_reading(text: str) -> None:
    reading = entailment(text)
    assert (reading.value is None) == (reading.status != "read")


@pytest.mark.parametrize(
    ("output", "right"),
    [
        ("LABEL: entailment. Wait, contradiction.", 0),
        ("LABEL: entailment. Sorry, I meant contradiction.", 0),
        ("LABEL: contradiction. Actually entailment.", 1),
        ("The premise entails the hypothesis if he is rich.", None),
        ("The image would entail the claim if it showed a man.", None),
        ("The image entails the opposite of the claim.", None),
        ("Some say the image entails the claim.", None),
        ("Actually, the image contradicts the claim.", 0),
        ("The image entails the claim.", 1),
    ],
)
def test_corrections_conditions_and_what_others_say(output: str, right: int | None) -> None:
    assert entailment(output).value == right
