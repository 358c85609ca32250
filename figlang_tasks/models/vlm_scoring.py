"""Log-probabilities of given texts as a generative model's answer, the costly prefix of images and prompt run once.

The prefix leaves its keys and values in the model's cache. All texts then run through the model as one batch that sees
that cache; it is neither copied per text nor kept longer than one layer needs it. Whether that path is right for a
model is checked against one whole forward pass, once per run (:class:`Scorer`).

How prompt and text meet: :func:`joiner`, :func:`answer_tokens`.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeVar

import torch
from loguru import logger
from torch.nn import functional
from transformers.cache_utils import Cache, DynamicLayer, DynamicSlidingWindowLayer

T = TypeVar("T")
Inputs = Mapping[str, Any]

# Bounds of one forward pass over texts: positions that its attention sees (keys and values of one layer, about 1 GB for
# a model of 7B) and tokens of texts (logits, about 1 GB for a vocabulary of 150 000).
MAX_POSITIONS = 65_536
MAX_TOKENS = 2_048
# Model inputs with an entry per token that the texts do without, once the prefix has run.
KNOWN_PER_TOKEN = {"input_ids", "attention_mask", "token_type_ids", "mm_token_type_ids"}
# Largest mean difference of a token's log-probability between both paths, in nats.
TOLERANCE_FLOAT32 = 1e-4
TOLERANCE_HALF = 0.05


class OutOfMemory(RuntimeError):
    """Not even the smallest piece of a request fits into memory."""


def attempt(run: Callable[[], T]) -> T | None:
    """Return what `run` returns; None if it ran out of memory, with that memory free again."""
    from accelerate.utils.memory import clear_device_cache, should_reduce_batch_size

    try:
        return run()
    except RuntimeError as error:
        if not isinstance(error, torch.OutOfMemoryError) and not should_reduce_batch_size(error):
            raise
        logger.warning(f"figlang_vlm: out of memory: {str(error).strip().splitlines()[0]}")
    # Only here: as long as the exception is handled, its traceback holds the tensors.
    clear_device_cache(garbage_collection=True)
    return None


def joiner(prompt: str, tokenizer: Any) -> str:
    """Return what stands between a rendered prompt and the answer: a space, unless the prompt brings its own end.

    Templates end in white space or a special token (``<|im_start|>assistant\\n``), or in words (``ASSISTANT:``) after
    which the answer follows with a space.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    special = tuple(str(token) for token in added if token.special)
    return "" if not prompt or prompt[-1].isspace() or prompt.endswith(special) else " "


def answer_tokens(tokenizer: Any, prompt: str, texts: Sequence[str], add_special_tokens: bool) -> list[list[int]]:
    """Return the tokens of each text as it follows the prompt.

    They are those of prompt and text tokenised as one. Where the tokenizer merges over the border (a prompt that ends
    in a space), the prompt keeps its tokens, since those are what the model answers to when it answers in words; the
    text then has the tokens that it has behind a line break.

    Raises:
        ValueError: a text has no token.
    """
    joined = tokenizer([prompt, *(prompt + text for text in texts)], add_special_tokens=add_special_tokens)
    apart = tokenizer(["\n", *("\n" + text for text in texts)], add_special_tokens=False)
    found = []
    for i, text in enumerate(texts, start=1):
        ids = next(
            (
                ids[i][len(ids[0]) :]
                for ids in (joined["input_ids"], apart["input_ids"])
                if ids[i][: len(ids[0])] == ids[0]
            ),
            None,
        )
        ids = tokenizer(text, add_special_tokens=False)["input_ids"] if ids is None else ids
        if not ids:
            raise ValueError(f"{text!r} has no token, so it has no probability")
        found.append(ids)
    return found


class SharedPrefix(Cache):
    """The cache of one prefix, seen by `rows` sequences that go on from it; nothing of theirs is kept.

    Raises:
        TypeError: the cache has layers other than plain keys and values.
    """

    def __init__(self, prefix: Any, rows: int) -> None:
        layers = []
        for layer in getattr(prefix, "layers", None) or [None]:
            if type(layer) not in (DynamicLayer, DynamicSlidingWindowLayer) or not layer.is_initialized:
                raise TypeError(f"a cache of {type(prefix).__name__} / {type(layer).__name__} cannot be shared")
            layer = copy.copy(layer)
            layer.keys, layer.values = (states.expand(rows, -1, -1, -1) for states in (layer.keys, layer.values))
            layers.append(layer)
        super().__init__(layers=layers)

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the keys and values of prefix and sequences, [rows, heads, positions, size]."""
        layer: Any = copy.copy(self.layers[layer_idx])
        return layer.update(key_states, value_states, *args, **kwargs)


class Scorer:
    """Scores texts after one prompt.

    Attributes:
        shared: False once the shared prefix has proved wrong for this model; then every text takes a whole forward
            pass, and the log says so.
        max_rows: texts per forward pass, lowered where memory runs out.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.shared = True
        self.max_rows = MAX_TOKENS
        self._checked = False
        self._accepts = inspect.signature(model.forward).parameters

    def candidates(self, inputs: Inputs, prompt: str, texts: Sequence[str], add_special_tokens: bool) -> list[list]:
        """Return the log-probabilities (nats) of each text's tokens as the answer to the prompt.

        Args:
            inputs: the processor's tensors for the prompt alone (a batch of one), on the model's device.
            prompt: the rendered prompt.
            texts: the answers.
            add_special_tokens: as the processor was told.

        Raises:
            ValueError: a text has no token.
            OutOfMemory: a single text does not fit.
        """
        between = joiner(prompt, self.tokenizer)
        answers = [between + text for text in texts]
        return self.log_probs(inputs, answer_tokens(self.tokenizer, prompt, answers, add_special_tokens))

    def match(self, inputs: Inputs, prompt: str, yes: str, no: str, add_special_tokens: bool) -> list[float]:
        """Return P(yes) / (P(yes) + P(no)) of the first answer token, for each prompt of the batch.

        A word counts with the first token it has after the prompt, written with and without a space before it. Tokens
        that both words begin with count for neither.

        Args:
            inputs: the processor's tensors for prompts of the same text, padded on the left.
            prompt: the rendered prompt.

        Raises:
            ValueError: both words begin with the same token.
        """
        spellings = [space + word for word in (yes, no) for space in ("", " ")]
        tokens = answer_tokens(self.tokenizer, prompt, spellings, add_special_tokens)
        first = [{ids[0] for ids in tokens[:2]}, {ids[0] for ids in tokens[2:]}]
        both = first[0] & first[1]
        if not first[0] - both or not first[1] - both:
            raise ValueError(f"the words {yes!r} and {no!r} begin with the same token; take other words")
        log_probs, _ = self._prefill(inputs)
        of_yes, of_no = (torch.logsumexp(log_probs[:, sorted(ids - both)], dim=-1) for ids in first)
        return torch.sigmoid(of_yes - of_no).tolist()

    def log_probs(self, prefix: Inputs, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probability (nats) of every token of every sequence after the prefix.

        Args:
            prefix: model inputs of a batch of one.
            tokens: sequences of token ids, none of them empty.

        Raises:
            OutOfMemory: a single sequence does not fit.
        """
        unknown = sorted(
            name for name, value in prefix.items() if _per_token(value, prefix) and name not in KNOWN_PER_TOKEN
        )
        if self.shared and unknown:
            self._distrust(f"it would need more of {', '.join(unknown)}")
        if not self.shared:
            return [self.whole(prefix, ids) for ids in tokens]
        run = attempt(partial(self._prefill, prefix))
        if run is None:
            raise OutOfMemory("images and prompt do not fit into memory")
        first, cache = run[0][0], run[1]
        found = [[value] for value in first[[ids[0] for ids in tokens]].tolist()]
        waiting = sorted((i for i, ids in enumerate(tokens) if len(ids) > 1), key=lambda i: -len(tokens[i]))
        positions = prefix["input_ids"].shape[1]
        while waiting:
            length = len(tokens[waiting[0]])
            rows = min(self.max_rows, MAX_POSITIONS // (positions + length), MAX_TOKENS // length)
            # Texts much shorter than the longest wait for a batch of their own, where less of it is padding.
            batch = [i for i in waiting[: max(rows, 1)] if 3 * len(tokens[i]) >= 2 * length]
            try:
                rest = attempt(partial(self._after, cache, positions, [tokens[i] for i in batch]))
            except Exception as error:
                if self._checked:
                    raise
                self._distrust(f"{type(error).__name__}: {error}")
                return self.log_probs(prefix, tokens)
            if rest is None:
                if len(batch) == 1:
                    raise OutOfMemory(f"a candidate of {length} tokens after {positions} does not fit into memory")
                self.max_rows = len(batch) // 2
                logger.warning(
                    f"figlang_vlm: out of memory with {len(batch)} candidates; going on with {self.max_rows}"
                )
                continue
            if not self._checked:
                self._checked = True
                i = batch[0]
                if not self._agree(self.whole(prefix, tokens[i]), found[i] + rest[0]):
                    return self.log_probs(prefix, tokens)
            for i, values in zip(batch, rest, strict=True):
                found[i] += values
            waiting = waiting[len(batch) :]
        return found

    def whole(self, prefix: Inputs, ids: Sequence[int]) -> list[float]:
        """Return the log-probabilities of one sequence's tokens by one forward pass over prefix and sequence.

        Raises:
            OutOfMemory: it does not fit.
        """
        run = attempt(partial(self._whole, prefix, ids))
        if run is None:
            raise OutOfMemory(f"{len(ids)} tokens after {prefix['input_ids'].shape[1]} do not fit into memory")
        return run

    def _whole(self, prefix: Inputs, ids: Sequence[int]) -> list[float]:
        inputs = {name: _longer(value, prefix, len(ids)) for name, value in prefix.items()}
        added = torch.tensor([list(ids)], device=prefix["input_ids"].device)
        inputs["input_ids"] = torch.cat([prefix["input_ids"], added], dim=1)
        if "logits_to_keep" in self._accepts:
            inputs["logits_to_keep"] = len(ids) + 1
        logits = self.model(**inputs, use_cache=False).logits[:, -len(ids) - 1 : -1]
        return _token_log_probs(logits, added)[0].tolist()

    def _prefill(self, prefix: Inputs) -> tuple[torch.Tensor, Any]:
        """Return the log-probabilities of the first answer token, [batch, vocabulary], and the cache of the prefix.

        By ``generate``: it alone knows each family's positions for padded prompts and sets up what goes on from them.
        """
        out = self.model.generate(
            **prefix,
            max_new_tokens=1,
            num_beams=1,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
            pad_token_id=self.tokenizer.pad_token_id,
        )
        return functional.log_softmax(out.logits[0].float(), dim=-1), out.past_key_values

    def _after(self, cache: Any, positions: int, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        """Return the log-probabilities of all but the first token of each sequence."""
        lengths = [len(ids) for ids in tokens]
        rows = [[*ids, *[ids[-1]] * (max(lengths) - len(ids))] for ids in tokens]
        padded = torch.tensor(rows, device=self.model.device)
        # No attention mask: the prefix has no padding, and what pads a text comes after all that is read from it.
        options: dict[str, Any] = {"past_key_values": SharedPrefix(cache, len(tokens)), "use_cache": True}
        following = torch.arange(positions, positions + max(lengths) - 1, device=self.model.device)
        if "cache_position" in self._accepts:  # transformers 4
            options["cache_position"] = following
        # Qwen-VL and kin count positions in height and width: text goes on from the prefix's last position plus this.
        deltas = getattr(getattr(self.model, "model", None), "rope_deltas", None)
        if deltas is not None:
            options["position_ids"] = (following + deltas.to(following.device)).expand(3, len(tokens), -1)
        logits = self.model(input_ids=padded[:, :-1], **options).logits
        values = _token_log_probs(logits, padded[:, 1:]).tolist()
        return [row[: length - 1] for row, length in zip(values, lengths, strict=True)]

    def _agree(self, whole: list[float], shared: list[float]) -> bool:
        tolerance = TOLERANCE_FLOAT32 if self.model.dtype == torch.float32 else TOLERANCE_HALF
        difference = sum(abs(a - b) for a, b in zip(whole, shared, strict=True)) / len(whole)
        if difference <= tolerance:
            return True
        self._distrust(f"log-probabilities differ by {difference:.2g} nats per token")
        return False

    def _distrust(self, reason: str) -> None:
        self.shared = False
        logger.warning(
            f"figlang_vlm: {type(self.model).__name__} cannot go on from the cache of images and prompt ({reason}); "
            "every candidate takes a whole forward pass, which is right but slow"
        )


def _longer(value: Any, inputs: Inputs, count: int) -> Any:
    """Return a tensor that has an entry per token with its last entry (that of text) repeated `count` times."""
    if not _per_token(value, inputs):
        return value
    return torch.cat([value, value[:, -1:].expand(-1, count, *value.shape[2:])], dim=1)


def _per_token(value: Any, inputs: Inputs) -> bool:
    return (
        isinstance(value, torch.Tensor)
        and not value.is_floating_point()
        and value.shape[:2] == inputs["input_ids"].shape
    )


def _token_log_probs(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """Return the log-probabilities in float32 of `ids` [rows, length] under `logits` [rows, length, vocabulary]."""
    losses = functional.cross_entropy(logits.float().flatten(0, 1), ids.to(logits.device).flatten(), reduction="none")
    return -losses.view(ids.shape)
