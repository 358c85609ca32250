"""Where the answer stands in an output: outside of thoughts, in the model's turn, in its tag.

In "<think>A or B?</think>So <answer>B</answer></s>Human: Thanks!" it is "B".
"""

from __future__ import annotations

import re
from functools import lru_cache

from figlang_tasks.answers.thought_tags import ANSWERS
from figlang_tasks.answers.thoughts import without_thoughts

# What ends the turn of a model, with the special tokens that some backends leave in.
_END_OF_TURN = re.compile(
    r"</?s>|<\|start_header_id\|>assistant<\|end_header_id\|>"
    r"|<\|(?:im_|end(?!_of_(?:box|solution))|return)\w*\|>"
    r"|<\|(?:END_RESPONSE|assistant_end)\|>|\[END FINAL RESPONSE\]|<longcat_s>"
    r"|<end_of_(?:utterance|turn)>|<\uff5cend\u2581of\u2581sentence\uff5c>"
    r"|(?<![^\n])<image>|\n(?:USER|Human):"
)
# What begins or ends an answer; `_closes` tells which by the groups.
_ANSWER_TAG = re.compile(
    rf"<(?P<end>/?)(?:{'|'.join(ANSWERS)})>"  # "<answer>"; `end` is "/" in "</answer>"
    # GLM's box, Sky-T1's solution
    r"|<\|begin_of_(?:box|solution)\|>|(?P<token_end><\|end_of_(?:box|solution)\|>)"
    # LLaVA-CoT's stages as words
    r"|\(here (?:begins|(?P<stage_end>ends)) the conclusion stage\)"
    # Mistral's instruction, and a repeated prompt of LLaVA-1.5: the answer follows them
    r"|\[/INST\]|\A(?-i:USER:)[^\x00]{0,20000}?(?-i:ASSISTANT:)",
    re.I,
)


@lru_cache(maxsize=1)  # Several readers look at an output, one after the other.
def answer_span(output: str) -> tuple[str, int, int]:
    """The output with line ends in place of thoughts, and start and end of the answer in it."""
    text = without_thoughts(output)
    turn_start, turn_end = _first_turn(text)
    start, end = _last_tagged(text, turn_start, turn_end)
    return text, start, end


def _first_turn(text: str) -> tuple[int, int]:
    """Start and end of the first turn that is not blank; of the last one if all are."""
    start = 0
    if not ("<" in text or "[END" in text or "\nUSER:" in text or "\nHuman:" in text):
        return start, len(text)  # Most outputs have nothing of what ends a turn.
    for token in _END_OF_TURN.finditer(text):
        if text[start : token.start()].strip():
            return start, token.start()
        start = token.end()
    return start, len(text)


def _last_tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the answer that tags mark in a turn; of the turn if they mark none.

    The last opening tag with words up to its closing one (or to the end of the turn) counts. If
    all are empty, the words after the last closing tag are the answer: "<answer></answer> B". A
    closing tag alone ends the answer: "B</answer>".

    Args:
        text: the output without thoughts.
        start: where the turn starts.
        end: where the turn ends.
    """
    if not ("<" in text or "[" in text or "(" in text or "USER:" in text):
        return start, end  # Most outputs have nothing of what marks an answer.
    tags = list(_ANSWER_TAG.finditer(text, start, end))
    inside_end = end  # where the text in the next opening tag (backwards) ends
    for tag in reversed(tags):
        if _closes(tag):
            inside_end = tag.start()
        elif text[tag.end() : inside_end].strip():
            return tag.end(), inside_end
        else:
            inside_end = end
    if not tags or not _closes(tags[-1]):
        return start, end

    last_closing = tags[-1]
    if text[last_closing.end() : end].strip():  # "<answer></answer> B"
        return last_closing.end(), end
    if len(tags) == 1:  # "B</answer>"
        return start, last_closing.start()
    return start, end


def _closes(tag: re.Match[str]) -> bool:
    """Whether a match of `_ANSWER_TAG` is a closing tag."""
    return bool(tag["end"] or tag["token_end"] or tag["stage_end"])
