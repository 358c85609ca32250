"""The tags of thoughts, and an output without what stands in them."""

from __future__ import annotations

import re

_THOUGHT = re.compile(
    r"<(?P<end>/?)(?:\w{1,8}:)?(?:think|thinking|thought|analysis)>|<\|(?:start|(?P<cohere_end>end))_thinking\|>"
    r"|[\u25c1\ufffd](?P<kimi_end>/?)think[\u25b7\ufffd]|\[(?P<mistral_end>/?)think\]"
    r"|<\|channel\|>analysis<\|message\|>|(?P<final><\|channel\|>final<\|message\|>)"  # gpt-oss
    r"|\Aanalysis(?-i:(?=[A-Z]))|(?P<bare_final>assistantfinal)"  # the same without its special tokens
    r"|<\|channel>thought|(?P<gemma_end><channel\|>)|(?P<answer>(?<![^\n])<answer>)",
    re.I,
)


def without_thoughts(output: str) -> str:
    """An output with line ends in place of thoughts and their tags."""
    kept: list[tuple[int, int]] = []
    at, is_open = 0, False
    for tag in _THOUGHT.finditer(output):
        if tag["answer"]:
            if is_open:  # what is marked as the answer ends the thought
                at, is_open = tag.start(), False
        elif any(tag.groupdict().values()):
            if not is_open:
                kept.clear()
            at, is_open = tag.end(), False
        elif not is_open:
            kept.append((at, tag.start()))
            is_open = True
    if not is_open:
        kept.append((at, len(output)))
    signs = ["\n"] * len(output)
    for start, end in kept:
        signs[start:end] = output[start:end]
    return "".join(signs)
