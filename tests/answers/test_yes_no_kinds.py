"""Answers to a yes-or-no question that are easily read wrongly are read so again, if this fails.

Each table is one kind: an output, and what a careful person reads: True, False, or None where
nobody could tell.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.benchmarks.flute.parse import CONTRADICT, parse_careful
from figlang_tasks.benchmarks.metaclue.judging import METAPHOR

CORRECTED = [
    ("No, actually yes.", True),
    ("Yes, actually no.", False),
    ("No. Wait, yes.", True),
    ("No... wait, yes.", True),
    ("Yes. Hmm, on second thought, no.", False),
    ("No - scratch that - yes.", True),
    ("Yes. Correction: no.", False),
    ("No, I mean yes.", True),
    ("Yes, or rather no.", False),
    ("No. On closer inspection, yes.", True),
    ("No. I misread the caption. Yes.", True),
    ("The answer is no. Wait, the answer is yes.", True),
    ("The answer is no, actually yes.", True),
    ("No, actually it is a metaphor.", True),
    ("No. Actually, this is a metaphor.", True),
    ("Yes. Wait, there is no metaphor in it.", False),
    ("Actually, yes.", True),
    ("Actually no.", False),
    ("Yes, actually.", True),
    ("No, yes.", None),
    ("Yes. No.", None),
    ("Yes. The man actually wears a hat. No, it is a helmet.", None),
    ("No, the people wait for a real bus. Yes, there is a queue.", None),
    ("No, this is a metaphor.", None),
    ("The answer is no. Actually, it is yes.", True),
    ("No. Sorry, I meant yes.", True),
    ("Yes -> no", None),
    ("Yes, it does not.", None),
    ("No, it does.", None),
    ("Yes, it does.", True),
]

NO_THAT_DENIES_NOTHING = [
    ("No wonder this is a metaphor.", True),
    ("No doubt this is a metaphor.", True),
    ("No doubt, it is a metaphor.", True),
    ("No question, this is a visual metaphor.", True),
    ("It is no surprise that this is a metaphor.", True),
    ("It is no coincidence that the image contains a metaphor.", True),
    ("It is no secret that the picture is a metaphor.", True),
    ("No matter how you look at it, this is a metaphor.", True),
    ("Yes, no doubt.", True),
    ("Yes, no question about it.", True),
    ("No doubt about it.", True),
    ("No reasonable person would deny that this is a metaphor.", True),
    ("Nobody would say that this is a metaphor.", False),
    ("This is no ordinary photo; it is a metaphor.", True),
    ("It is out of the question that this is a metaphor.", False),
    ("This is nothing less than a metaphor.", True),
    ("There are no fewer than two metaphors here. The image contains a metaphor.", True),
    ("No, no doubt it is literal.", False),
    ("No wonder people stop and look.", None),
    ("No problem! I will look at the picture.", None),
    ("No people are in the image.", None),
    ("No. 2 on the list is a piece of cake.", None),
    ("No two readers would agree.", None),
    ("No way.", False),
    ("No metaphor.", False),
    ("There is no metaphor here.", False),
    ("No visual metaphor is used.", False),
]

WITHOUT_DOUBT = [
    ("Without a doubt this is a metaphor.", True),
    ("Without a doubt, this is a metaphor.", True),
    ("Without any doubt the image contains a visual metaphor.", True),
    ("Without question this is a metaphor.", True),
    ("Beyond doubt this is a metaphor.", True),
    ("This is without a doubt a metaphor.", True),
    ("This is undoubtedly a metaphor.", True),
    ("Undoubtedly, this is a metaphor.", True),
    ("Without a doubt, yes.", True),
    ("Without a doubt, no.", False),
    ("Without a doubt.", True),
    ("There is no question that this is a metaphor.", True),
    ("There is no denying that this is a metaphor.", True),
    ("There's no doubt that the poster uses a metaphor.", True),
    ("There is no way to deny that this is a metaphor.", True),
    ("There isn't any doubt that this is a metaphor.", True),
    ("It is, without a doubt, a metaphor.", True),
    ("This is not, in my view, a metaphor.", False),
    ("I have no doubt that this is a metaphor.", True),
    ("Nobody can deny that this is a metaphor.", True),
    ("It cannot be denied that this is a metaphor.", True),
    ("It is impossible to deny that this is a metaphor.", True),
    ("I don't doubt that this is a metaphor.", True),
    ("Without a doubt this is not a metaphor.", False),
    ("There is no doubt that the image contains no metaphor.", False),
    ("The image is without metaphor.", False),
    ("I doubt that this is a metaphor.", None),
    ("It is doubtful whether this is a metaphor.", None),
    ("It is unlikely that this is a metaphor.", None),
    ("It is hardly a metaphor.", None),
]

BOXES = [
    ("- [x] Yes\n- [ ] No", True),
    ("- [ ] Yes\n- [x] No", False),
    ("- [X] Yes\n- [ ] No", True),
    ("[ ] Yes [x] No", False),
    ("Yes [x]\nNo [ ]", True),
    ("Yes [ ] No [x]", False),
    ("(x) Yes\n( ) No", True),
    ("( ) Yes\n(x) No", False),
    ("\u2611 Yes\n\u2610 No", True),
    ("\u2610 Yes  \u2611 No", False),
    ("\u2612 Yes\n\u2610 No", True),
    ("\u2611 Yes\n\u2612 No", True),
    ("\u2713 Yes\n\u2717 No", True),
    ("\u2717 Yes\n\u2713 No", False),
    ("Yes \u2717\nNo \u2713", False),
    ("\u274c Yes\n\u2705 No", False),
    ("\u25cb Yes\n\u25cf No", False),
    ("[\u2713] Yes\n[ ] No", True),
    ("[\u2713] Yes\n[\u2717] No", True),
    ("Answer:\n- [x] **Yes**\n- [ ] **No**", True),
    ("Yes: \u2713\nNo: \u2717", True),
    ("\u2705 Yes", True),
    ("\u274c No, it is a plain photo.", False),
    ("[x] Yes\n[x] No", None),
    ("[ ] Yes\n[ ] No", None),
    ("[ ] Yes", None),
    ("\u2713 No text in the picture\n\u2713 Two concepts\n\nAnswer: Yes", True),
    ("\u2713 No text in the picture\n\u2713 Two concepts", None),
    ("| [x] | Yes |\n| [ ] | No |", True),
]

BOTH = [
    ("Yes, but no.", None),
    ("No, but yes.", None),
    ("Yes, but also no.", None),
    ("Technically yes, but practically no.", None),
    ("S\u00ed y no.", None),
    ("Nein, aber ja.", None),
    ("Yes, but not really.", None),
    ("Yes but no.", None),
    ("Yes and no.", None),
    ("Well, yes and no.", None),
    ("Answer: Yes and no", None),
    ("The answer is yes and no, since the picture has two parts.", None),
    ("Both yes and no.", None),
    ("Yes, but then again, no.", None),
    ("Yes, no.", None),
    ("Yes ... and no.", None),
    ("Answer: Yes, but no", None),
    ("Answer: yes, no", None),
    ("Neither yes nor no.", None),
    ("The answer is neither yes nor no.", None),
    ("Maybe yes, maybe no.", None),
    ("Yes, but no one sees it.", True),
    ("Yes, but no words are needed.", True),
    ("Yes, although no text is shown.", True),
    ("No, but it is close.", False),
    ("Yes and no one would doubt it.", True),
    ("No, no.", False),
]

ECHOES = [
    ("Yes/No: no", False),
    ("Yes/No: Yes", True),
    ("Yes / No: No", False),
    ("Yes or no? No.", False),
    ("Yes or No? Yes, it is.", True),
    ("Yes/No? Yes", True),
    ("Answer (Yes/No): Yes", True),
    ("Answer with Yes or No: No", False),
    ("Answer Yes or No.\nNo", False),
    ("Y/N: N", False),
    ("No or yes: yes", True),
    ("Sim ou n\u00e3o? Sim.", True),
    ("\u662f\u6216\u5426\uff1f\u5426", False),
    ("Yes/No", None),
    ("No/Yes", None),
    ("Yes or No", None),
    ("Answer: yes/no", None),
    ("Answer: no or yes", None),
    ("\u662f/\u5426", None),
]

DENIED_TWICE = [
    ("The answer is not no.", True),
    ("The answer is not yes.", False),
    ("The answer isn't no.", True),
    ("The answer cannot be yes.", False),
    ("It's not a no.", True),
    ("The answer is not yes, it is no.", False),
    ("The answer is not yes but no.", False),
    ("The image is not without metaphor.", True),
    ("This is not without a metaphor.", True),
    ("The picture is not devoid of metaphor. Yes.", True),
    ("It would not be wrong to say that this is a metaphor.", True),
    ("I do not think the answer is no.", None),
    ("I can't say no.", None),
    ("I can't say yes.", None),
    ("I would not say no.", None),
    ("I can't say yes or no.", None),
    ("I do not think that there is no metaphor in it.", None),
    ("The answer is not a simple yes.", None),
    ("The answer is not necessarily no.", None),
    ("It is false that the image contains a metaphor.", False),
    ("It is far from a metaphor.", False),
]

LANGUAGES = [
    ("\u662f", True),
    ("\u662f\u3002", True),
    ("\u662f\u7684\uff0c\u8fd9\u5f20\u56fe\u7247\u5305\u542b\u89c6\u89c9\u9690\u55bb\u3002", True),
    ("\u5426", False),
    ("\u5426\uff0c\u56fe\u4e2d\u53ea\u6709\u4e00\u53ea\u732b\u3002", False),
    ("\u4e0d\u662f", False),
    ("\u4e0d\u662f\uff0c\u8fd9\u662f\u4e00\u5f20\u666e\u901a\u7684\u7167\u7247\u3002", False),
    ("\u4e0d", False),
    ("\u5bf9", True),
    ("\u5c0d\uff0c\u9019\u662f\u96b1\u55bb\u3002", True),
    ("\u4e0d\u5bf9\u3002", False),
    ("\u7b54\u6848\u662f\u5426", False),
    ("\u7b54\u6848\uff1a\u662f", True),
    ("\u7b54\u6848\u662f\uff1a\u4e0d\u662f\u3002", False),
    ("\u56fe\u7247\u91cc\u6709\u4e00\u53ea\u732b\uff0c\u6240\u4ee5\u5426\u3002", False),
    ("\u662f\u4e00\u53ea\u732b\u3002", None),
    ("\u4e0d\u540c\u7684\u4eba\u6709\u4e0d\u540c\u7684\u770b\u6cd5\u3002", None),
    ("\u9700\u8981\u5224\u65ad\u56fe\u7247\u662f\u5426\u6709\u9690\u55bb\u3002", None),
    ("Sim", True),
    ("Sim, a imagem cont\u00e9m uma met\u00e1fora.", True),
    ("N\u00e3o.", False),
    ("N\u00e3o, \u00e9 uma foto comum.", False),
    ("Resposta: N\u00e3o", False),
    ("A resposta \u00e9 sim.", True),
    ("S\u00ed, la imagen contiene una met\u00e1fora.", True),
    ("No, es una foto normal.", False),
    ("La respuesta es no.", False),
    ("Respuesta: S\u00ed", True),
    ("Oui, l'image contient une m\u00e9taphore.", True),
    ("Non.", False),
    ("La r\u00e9ponse est non.", False),
    ("Ja, das Bild enth\u00e4lt eine Metapher.", True),
    ("Nein", False),
    ("Die Antwort ist nein.", False),
    ("Antwort: Ja", True),
    ("S\u00ec.", True),
    ("Non-literal elements abound.", None),
    ("SIM cards are on the table.", None),
]

MARKED = [
    ('{"answer": true}', True),
    ('{"answer": false}', False),
    ('{"answer": "yes"}', True),
    ('{"answer": "No"}', False),
    ('```json\n{"answer": false, "reason": "yes would need two concepts"}\n```', False),
    ("{'answer': True}", True),
    ("\\boxed{yes}", True),
    ("$\\boxed{\\text{No}}$", False),
    ("<answer>no</answer>", False),
    ("Answer -> no", False),
    ("Answer -> yes", True),
    ("Answer => no", False),
    ("Answer \u2192 No", False),
    ("Answer: true", True),
    ("Answer = yes", True),
    ("True", True),
    ("False.", False),
    ('{"answer": "yes"}\n{"answer": "no"}', None),
    ("\\boxed{yes} and \\boxed{no}", None),
    ('{"answer": null}', None),
    ("True stories are told in pictures.", None),
]

ANNOUNCED = [
    ("I'd say no.", False),
    ("I'd go with yes.", True),
    ("I would lean towards no.", False),
    ("It's a yes from me.", True),
    ("That's a no.", False),
    ("The answer to whether it is a metaphor is yes.", True),
    ("My answer is yes. The final answer is no.", False),
    ("Answer: no\n\nThere is no second concept.", False),
    ("As there is no second concept the answer is no.", False),
    ("There is no way around it: the answer is yes.", True),
    ("The correct answer would be yes.", True),
    ("The answer is (B) no.", False),
    ("The answer is **(A) Yes**. The road is a zip.", True),
    ("The answer is a resounding yes.", True),
    ("I have to say no.", False),
    ("I select option (B) no.", False),
    ("The answer could be yes.", None),
    ("If the cat were a symbol, the answer would be yes.", None),
    ("The answer is yes if the cat is a symbol.", None),
    ('The sign in the picture says "No".', None),
    ('The man says: "Yes."', None),
    ("To answer yes, one must see two concepts.", None),
    ("Absolutely not.", False),
    ("Not at all.", False),
    ("It does not.", False),
    ("It does.", True),
    ("Absolutely.", True),
    ("Sure! Here is what I see in the picture.", None),
    ("Certainly! Let us look at the picture.", None),
]

KINDS = {
    "corrected": CORRECTED,
    "no that denies nothing": NO_THAT_DENIES_NOTHING,
    "without doubt": WITHOUT_DOUBT,
    "boxes": BOXES,
    "both": BOTH,
    "echoes": ECHOES,
    "denied twice": DENIED_TWICE,
    "languages": LANGUAGES,
    "marked": MARKED,
    "announced": ANNOUNCED,
}
ROWS = []
for kind, rows in KINDS.items():
    ROWS += [pytest.param(output, value, id=f"{kind}: {output}") for output, value in rows]


@pytest.mark.parametrize(("output", "value"), ROWS)
def test_a_kind_is_read_as_a_careful_person_reads_it(output: str, value: bool | None) -> None:
    reading = yes_no(output, about=METAPHOR)
    assert reading.value is value, reading
    assert (reading.status == "read") == (value is not None)


def test_each_kind_has_enough_inputs_and_some_that_stay_unread() -> None:
    for kind, rows in KINDS.items():
        assert len(rows) >= 15, kind
        assert any(value is None for _, value in rows), kind


@pytest.mark.parametrize(
    ("output", "status"),
    [
        ("Yes and no.", "ambiguous"),
        ("Yes, but no.", "ambiguous"),
        ("Neither yes nor no.", "refused"),
        ("I can't say no.", "refused"),
        ("No people are in the image.", "unreadable"),
        ("[x] Yes\n[x] No", "ambiguous"),
    ],
)
def test_why_there_is_no_value(output: str, status: str) -> None:
    assert yes_no(output, about=METAPHOR).status == status


# FLUTE's prompt v1 asks whether two sentences contradict each other.
CONTRADICTING = [
    ("They contradict each other, no doubt.", True),
    ("Without a doubt the sentences contradict each other.", True),
    ("There is no denying that they contradict each other.", True),
    ("No wonder they contradict each other.", True),
    ("No, actually they contradict each other.", True),
    ("The second sentence contradicts nothing in the first.", False),
    ("There is no contradiction.", False),
    ("They do not contradict each other.", False),
    ("The sentences neither contradict nor entail each other.", False),
    ("Nothing in the second sentence contradicts the first.", False),
    ("It's not a contradiction.", False),
    ("Non-contradictory.", False),
    ("They hardly contradict each other.", None),
    ("They might contradict each other.", None),
    ("I doubt that they contradict each other.", None),
    ("Yes and no.", None),
]


@pytest.mark.parametrize(("output", "value"), CONTRADICTING)
def test_the_question_of_flute_v1_is_read_alike(output: str, value: bool | None) -> None:
    assert yes_no(output, CONTRADICT).value is value
    assert parse_careful(output, "v1").value == (None if value is None else int(not value))


PIECES = ["not ", "no ", "[x]", "yes", "(", "\n", "\u662f", "neither "]
for rows in KINDS.values():
    PIECES += [output for output, _ in rows]


@given(st.lists(st.one_of(st.sampled_from(PIECES), st.text(max_size=20)), max_size=6).map("".join))
def test_any_text_has_a_reading(text: str) -> None:
    reading = yes_no(text, about=METAPHOR)
    assert (reading.value is None) == (reading.status != "read")
