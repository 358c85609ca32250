"""Where the answer stands in an output: outside of thoughts, in the model's turn, in its tag."""

from __future__ import annotations

import re

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
# GLM's box, Sky-T1's solution, LLaVA-CoT's stages as words, Mistral's instruction, a repeated
# prompt of LLaVA-1.5.
_ANSWER_TAG = re.compile(
    rf"<(?P<end>/?)(?:{'|'.join(ANSWERS)})>"
    r"|<\|begin_of_(?:box|solution)\|>|(?P<token_end><\|end_of_(?:box|solution)\|>)"
    r"|\(here (?:begins|(?P<stage_end>ends)) the conclusion stage\)"
    r"|\[/INST\]|\A(?-i:USER:)[^\x00]{0,20000}?(?-i:ASSISTANT:)",
    re.I,
)


def answer_span(output: str) -> tuple[str, int, int]:
    """The output with line ends in place of thoughts, and start and end of the answer in it."""
    text = without_thoughts(output)
    turn_start, turn_end = _first_turn(text)
    start, end = _last_tagged(text, turn_start, turn_end)
    return text, start, end


def _first_turn(text: str) -> tuple[int, int]:
    """Start and end of the first turn that has words."""
    start = 0
    for token in _END_OF_TURN.finditer(text):
        if text[start : token.start()].strip():
            return start, token.start()
        start = token.end()
    return start, len(text)


def _last_tagged(text: str, start: int, end: int) -> tuple[int, int]:
    """Start and end of the answer that tags mark in a turn; of the turn if they mark none.

    The last tag that has words counts. Words after an empty tag are the answer too.

    Args:
        text: the output without thoughts.
        start: where the turn starts.
        end: where the turn ends.
    """
    tags = list(_ANSWER_TAG.finditer(text, start, end))
    inside_end = end
    for tag in reversed(tags):
        if _closes(tag):
            inside_end = tag.start()
        elif text[tag.end() : inside_end].strip():
            return tag.end(), inside_end
        else:
            inside_end = end
    if tags and _closes(tags[-1]):  # "<answer></answer> B", "B</answer>"
        if text[tags[-1].end() : end].strip():
            return tags[-1].end(), end
        if len(tags) == 1:
            return start, tags[-1].start()
    return start, end


def _closes(tag: re.Match[str]) -> bool:
    """Whether a match of `_ANSWER_TAG` is a closing tag."""
    return bool(tag["end"] or tag["token_end"] or tag["stage_end"])
