"""FLUTE's rules that extract the label and the explanation from a model's output, by prompt.

Prompt v2 asks for "Entails" or "Contradicts" and an explanation. Prompt v1 asks whether two
sentences contradict each other, so that "Yes" is a contradiction and "No" an entailment.

The released code (``generateLabel&Explanations.py`` of tuhinjubcse/model-in-the-loop-fig-lang at
44bd0de) reads answers to prompt v2 alone, and does not foresee the looser forms of models that were
not trained on it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from figlang_tasks.answers.entailment import Label, entailment
from figlang_tasks.answers.text import Answer
from figlang_tasks.answers.verdict import Read, find_answer
from figlang_tasks.answers.yes_no import yes_no
from figlang_tasks.scoring.explained import Explained

Prompt: TypeAlias = Literal["v1", "v2"]

# What may stand before the label at the start of an answer: quotation marks, emphasis and list
# marks (`- **"`), then "Final answer: ".
_LEAD = (
    r"[\s\"'“”‘’*_#>`(\[-]{0,16}(?:(?:final |my )?(?:answer|label|verdict)(?:"
    r" is)?[\s*_\"'“”:]{1,8})?"
)
# What may stand behind the label and belongs to it: `**.` or `."`, then blanks and dashes. A
# quotation mark after a space does not belong to it: it may open the explanation.
_CLOSE = r"[\"'”’*_`)\]]{0,4}[.:;,!]*[\"'”’*_`)\]]{0,4}[\s:;,*_–—-]*"
_ENTAILS = r"entail(?:s|ed|ment)?"
_CONTRADICTS = r"contradict(?:s|ed|ion|ory)?"
# The groups are named for what the answer means: the "yes" of prompt v1 is a contradiction.
_LABEL_AT_START = {
    "v1": re.compile(rf"\A{_LEAD}(?:(?P<contradicts>yes)|(?P<entails>no))\b{_CLOSE}", re.I),
    "v2": re.compile(
        rf"\A{_LEAD}(?:(?P<entails>{_ENTAILS})|(?P<contradicts>{_CONTRADICTS}))\b{_CLOSE}", re.I
    ),
}
# What follows a label if the options are repeated, which is no answer: "Entails or Contradicts",
# "Yes/No".
_OTHER_OPTION = re.compile(
    r"\A[\s\"'“”‘’*_]{0,4}(?:or|/|and|\|)[\s\"'“”‘’*_]{0,4}(?:yes|no|entail|contradict)", re.I
)


# Emphasis or a quotation mark at the end of the text before a label.
_MARKUP = re.compile(r"[*_`\"'“‘]\Z")


def parse_official(output: str | None, prompt: Prompt = "v2") -> Explained:
    """Label (1 entailment, 0 contradiction; None if unread) and explanation, by the papers' rules.

    - Prompt v2: "Entails." anywhere, else "Contradicts." anywhere, as released (so "Contradicts. It
      never says Entails." is an entailment); else the word that opens the answer.
    - Prompt v1: "Yes" at the start is a contradiction, "No" an entailment.

    The explanation is None without an output, and for an entailment by prompt v1, which is not
    explained. It is "" if an output says nothing outside of thoughts. An answer without a label is
    the explanation as a whole.

    Args:
        output: the model's output; None if there is none.
        prompt: the prompt that it answers.
    """
    # The released rule reads all of an output, also thoughts; the others read the answer alone.
    if prompt == "v2" and isinstance(output, str):
        released_reading = _read_as_released(output)
        if released_reading is not None:
            return released_reading

    answer = find_answer(output)
    if isinstance(answer, Read):  # no output, or none outside of thoughts: its status says which
        explanation = None if output is None else ""
        return Explained(None, answer.status, answer.rule, explanation)
    reading = _read_label_at_start(answer, prompt)
    if reading is None:
        return Explained(None, "unreadable", "none", explanation=answer.raw)
    return reading


def _read_as_released(output: str) -> Explained | None:
    """Label and explanation by the released rule for prompt v2; None if it finds no label.

    The explanation is what follows the first "Entails." (or "Contradicts."), up to the next one.
    "Contradicts." is looked for only if "Entails." stands nowhere.
    """
    for word, label, rule in (
        ("Entails.", 1, "released-entails"),
        ("Contradicts.", 0, "released-contradicts"),
    ):
        start = output.find(word)
        if start < 0:
            continue
        explanation = output[start + len(word) :].split(word)[0]
        before_label = output[max(0, start - 4) : start]  # its last character is all that counts
        if _MARKUP.search(before_label):
            # "**Entails.** It is ...": a trained T5, which the rule was made for, writes no markup.
            explanation = explanation.lstrip("*_`\"'”’")
        return Explained(label, "read", rule, explanation.strip())
    return None


def _read_label_at_start(answer: Answer, prompt: Prompt) -> Explained | None:
    """Label and explanation of an answer that begins with the label; None if it does not.

    An answer that begins with both options ("Entails or Contradicts ...") repeats the question.
    """
    match = _LABEL_AT_START[prompt].match(answer.raw)
    if match is None:
        return None
    label = 0 if match["entails"] is None else 1
    label_end = match.end("entails" if label == 1 else "contradicts")
    behind_label = answer.raw[label_end : label_end + 40]
    if _OTHER_OPTION.match(behind_label):
        return None
    # The match ends behind the label and its marks: "Entails.** ".
    explanation = answer.raw[match.end() :].strip()
    if prompt == "v2":
        rule = "opening-entails" if label == 1 else "opening-contradicts"
        return Explained(label, "read", rule, explanation)
    if label == 1:  # Prompt v1 asks for no explanation of an entailment.
        return Explained(label, "read", "opening-no", explanation=None)
    return Explained(label, "read", "opening-yes", explanation)


CONTRADICT = r"contradict\w*(?! (?:itself|themselves)\b)"
"""A pattern of what prompt v1 asks about, by which `yes_no` reads sentences that answer it."""


def parse_careful(
    output: str | None, prompt: Prompt, prompt_texts: Sequence[str] = ()
) -> Read[Label]:
    """The label (1 entailment, 0 contradiction; None if unread) as a careful reader reads it.

    Args:
        output: the model's output; None if there is none.
        prompt: the prompt that it answers.
        prompt_texts: premise and hypothesis. Words of theirs that an answer repeats are no answer.
    """
    if prompt == "v2":
        return entailment(output, prompt_texts)
    # Prompt v1 asks whether the sentences contradict each other: "Yes" is label 0.
    contradiction = yes_no(output, CONTRADICT, prompt_texts)
    if contradiction.value is None:
        return Read(None, contradiction.status, contradiction.rule)
    return Read(0 if contradiction.value else 1, contradiction.status, contradiction.rule)
