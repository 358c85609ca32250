"""The tokens of texts as the answer to a prompt, and the first tokens of yes and no."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def prompt_as_read(
    tokenizer: PreTrainedTokenizerBase, prompt: str, prompt_tokens: torch.Tensor
) -> str:
    """The prompt as the model reads it: some processors add white space (PaliGemma a line break).

    Args:
        tokenizer: the model's.
        prompt: the prompt.
        prompt_tokens: the tokens that the processor made of a prompt, [positions]; the last one is
            looked at.
    """
    last_text = tokenizer.decode(prompt_tokens[-1:])
    if last_text.isspace() and not prompt.endswith(last_text):
        return prompt + last_text
    return prompt


def separator_before_answer(prompt: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """The text between prompt and answer: a space, or "".

    It is "" behind white space or a special token, and for an empty prompt.
    """
    added_tokens = getattr(tokenizer, "added_tokens_decoder", {}).values()
    special_tokens = tuple(str(token) for token in added_tokens if token.special)
    if not prompt or prompt[-1].isspace() or prompt.endswith(special_tokens):
        return ""
    return " "


def answer_tokens(
    tokenizer: PreTrainedTokenizerBase,
    prompt: str,
    texts: Sequence[str],
    add_special_tokens: bool,
) -> list[list[int]]:
    """The tokens of each text as it follows the prompt, without those of the prompt.

    Prompt and text are tokenised as one: after "Answer:" the text " yes" has the token " yes".
    Where the tokenizer merges over the border (a prompt that ends in a space), the prompt keeps its
    tokens: they are what the model answers to in words. The text then has the tokens that it has
    behind a line break, or alone where the tokenizer merges over that border too.

    Args:
        tokenizer: the model's.
        prompt: the prompt.
        texts: the answers.
        add_special_tokens: whether the tokenizer adds special tokens to the prompt.

    Raises:
        ValueError: a text has no token.
    """
    after_prompt = _tokens_after(tokenizer, prompt, texts, add_special_tokens)
    after_line_break = _tokens_after(tokenizer, "\n", texts, add_special_tokens=False)
    tokens_of_texts: list[list[int]] = []
    for index, text in enumerate(texts):
        tokens = after_prompt[index]
        if tokens is None:
            tokens = after_line_break[index]
        if tokens is None:
            tokens = tokenizer(text, add_special_tokens=False)["input_ids"]
        if not tokens:
            raise ValueError(f"{text!r} has no token, so it has no probability")
        tokens_of_texts.append(tokens)
    return tokens_of_texts


def _tokens_after(
    tokenizer: PreTrainedTokenizerBase,
    beginning: str,
    texts: Sequence[str],
    add_special_tokens: bool,
) -> list[list[int] | None]:
    """The tokens of each text behind a beginning, without those of the beginning.

    None for a text that changes the tokens of the beginning, because the tokenizer merges over the
    border of the two.
    """
    beginnings_with_texts = [beginning + text for text in texts]
    texts_to_encode = [beginning, *beginnings_with_texts]
    encoded = tokenizer(texts_to_encode, add_special_tokens=add_special_tokens)
    beginning_tokens, *joined_tokens = encoded["input_ids"]
    length = len(beginning_tokens)
    tokens_of_texts: list[list[int] | None] = []
    for tokens in joined_tokens:
        keeps_beginning = tokens[:length] == beginning_tokens
        tokens_of_texts.append(tokens[length:] if keeps_beginning else None)
    return tokens_of_texts


def first_tokens_of_words(
    tokenizer: PreTrainedTokenizerBase, prompt: str, yes: str, no: str, add_special_tokens: bool
) -> tuple[list[int], list[int]]:
    """The tokens with which only `yes`, and only `no`, begins after a prompt.

    Each word is tried with and without a space before it.

    Returns:
        The ids of the tokens for yes, and of those for no, sorted.

    Raises:
        ValueError: a word has no such token.
    """
    spellings = [yes, f" {yes}", no, f" {no}"]
    tokens = answer_tokens(tokenizer, prompt, spellings, add_special_tokens)
    first_tokens = [spelling_tokens[0] for spelling_tokens in tokens]
    yes_tokens = set(first_tokens[:2])  # two spellings each
    no_tokens = set(first_tokens[2:])
    both = yes_tokens & no_tokens
    if yes_tokens == both or no_tokens == both:
        raise ValueError(
            f"the words {yes!r} and {no!r} begin with the same token; choose other words"
        )
    return sorted(yes_tokens - both), sorted(no_tokens - both)
