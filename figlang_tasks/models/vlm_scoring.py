"""Log-probabilities of given texts as a generative model's answer, the costly prefix of images and
prompt run once.

The prefix leaves its keys and values (and other states) in the model's cache. All texts then run
through the model as one batch that sees that cache, with the inputs that the model's own steps of
``generate`` make. Once per run and kind of prompt, the result is checked against ``generate``
itself, made to choose a text's tokens one by one.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from loguru import logger
from torch.nn import functional
from transformers.cache_utils import Cache, DynamicLayer, DynamicSlidingWindowLayer, StaticLayer

from .ahead import Batches

Inputs = Mapping[str, Any]
# What a model gave, and with what (its cache, too) `generate` goes on from there
Step = tuple[Any, dict[str, Any]]

# Bounds of one forward pass over texts: positions that its attention sees (keys and values of one
# layer, about 1 GB for a model of 7B) and tokens of texts (logits, about 1 GB for a vocabulary of
# 150 000).
MAX_POSITIONS = 65_536
MAX_TOKENS = 2_048
# Largest mean difference of a token's log-probability from that of the check, in nats.
TOLERANCE_FLOAT32 = 1e-4
TOLERANCE_HALF = 0.05


def joiner(prompt: str, tokenizer: Any) -> str:
    """The text between prompt and answer: a space, unless white space or a special token ends the
    prompt.
    """
    added = getattr(tokenizer, "added_tokens_decoder", {}).values()
    special = tuple(str(token) for token in added if token.special)
    return "" if not prompt or prompt[-1].isspace() or prompt.endswith(special) else " "


def answer_tokens(
    tokenizer: Any, prompt: str, texts: Sequence[str], add_special_tokens: bool
) -> list[list[int]]:
    """The tokens of each text as it follows the prompt: those of both tokenised as one.

    Where the tokenizer merges over the border (a prompt that ends in a space), the prompt keeps its
    tokens: they are what the model answers to in words. The text then has the tokens that it has
    behind a line break.
    """
    joined = tokenizer(
        [prompt, *(prompt + text for text in texts)], add_special_tokens=add_special_tokens
    )
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
    """The cache of one prefix, seen by `rows` sequences that go on from it; the prefix stays as it
    is.

    Plain keys and values are views. Other layers (states of linear attention, which change) are
    copied for each row.
    """

    def __init__(self, prefix: Any, rows: int) -> None:
        layers = []
        for layer in getattr(prefix, "layers", None) or [None]:
            if layer is None or isinstance(layer, StaticLayer):
                raise TypeError(
                    f"a cache of {type(prefix).__name__} / {type(layer).__name__} cannot be shared"
                )
            if type(layer) in (DynamicLayer, DynamicSlidingWindowLayer):
                layer = copy.copy(layer)
                if layer.is_initialized:
                    layer.keys, layer.values = (
                        kept.expand(rows, -1, -1, -1) for kept in (layer.keys, layer.values)
                    )
            else:
                layer = copy.deepcopy(layer)
                layer.reorder_cache(torch.zeros(rows, dtype=torch.long))
            layers.append(layer)
        super().__init__(layers=layers)

    def update(
        self,
        key_states: torch.Tensor,
        value_states: torch.Tensor,
        layer_idx: int,
        *args: Any,
        **kwargs: Any,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values of prefix and sequences, [rows, heads, positions, size]."""
        layer: Any = copy.copy(self.layers[layer_idx])
        return layer.update(key_states, value_states, *args, **kwargs)


class Scorer:
    """Scores texts after one prompt; if the shared prefix proves wrong for the model, token by
    token, which is slow.
    """

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.shared = True  # False once the shared prefix has proved wrong for this model
        self._rows = Batches(MAX_TOKENS, "candidate")
        self._checked: set[frozenset[str]] = set()  # names of the inputs of prompts

    def candidates(
        self, inputs: Inputs, prompt: str, texts: Sequence[str], add_special_tokens: bool
    ) -> list[list]:
        """The log-probabilities (nats) of each text's tokens as the answer to a prompt, a batch of
        one.
        """
        prompt = self._as_read(inputs, prompt)
        between = joiner(prompt, self.tokenizer)
        answers = [between + text for text in texts]
        return self.log_probs(
            inputs, answer_tokens(self.tokenizer, prompt, answers, add_special_tokens)
        )

    def match(
        self, inputs: Inputs, prompts: Sequence[str], yes: str, no: str, add_special_tokens: bool
    ) -> list[float]:
        """P(yes) / (P(yes) + P(no)) of the first answer token, for each prompt of the batch.

        A word counts with the first token it has after the prompt, written with and without a space
        before it. Tokens that both words begin with count for neither.
        """
        words = {
            prompt: self._first_tokens(self._as_read(inputs, prompt), yes, no, add_special_tokens)
            for prompt in prompts
        }
        log_probs, _ = self._prefill(inputs)
        found = []
        for row, prompt in zip(log_probs, prompts, strict=True):
            of_yes, of_no = (torch.logsumexp(row[ids], dim=-1) for ids in words[prompt])
            found.append(torch.sigmoid(of_yes - of_no).item())
        return found

    def _first_tokens(
        self, prompt: str, yes: str, no: str, add_special_tokens: bool
    ) -> list[list[int]]:
        """The tokens that each word, and not the other, begins with after a prompt."""
        spellings = [space + word for word in (yes, no) for space in ("", " ")]
        tokens = answer_tokens(self.tokenizer, prompt, spellings, add_special_tokens)
        first = [{ids[0] for ids in tokens[:2]}, {ids[0] for ids in tokens[2:]}]
        both = first[0] & first[1]
        if not first[0] - both or not first[1] - both:
            raise ValueError(
                f"the words {yes!r} and {no!r} begin with the same token; choose other words"
            )
        return [sorted(ids - both) for ids in first]

    def log_probs(self, prefix: Inputs, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        """The log-probabilities (nats) of the tokens of sequences after a prefix, a batch of
        one.
        """
        if not self.shared:
            return [self.decoded(prefix, ids) for ids in tokens]
        log_probs, steps = self._prefill(prefix)
        found = [[value] for value in log_probs[0][[ids[0] for ids in tokens]].tolist()]
        waiting = sorted(
            (i for i, ids in enumerate(tokens) if len(ids) > 1), key=lambda i: -len(tokens[i])
        )
        positions = prefix["input_ids"].shape[1]
        # a prompt with an image goes other ways through a model than one without
        kind = frozenset(prefix)

        def rest(batch: Sequence[int]) -> list[list[float]]:
            return self._after(prefix["input_ids"], steps, [tokens[i] for i in batch])

        while waiting:
            length = len(tokens[waiting[0]])
            rows = min(MAX_POSITIONS // (positions + length), MAX_TOKENS // length)
            # Texts much shorter than the longest wait for a batch of their own, where less of it is
            # padding.
            batch = [i for i in waiting[: max(rows, 1)] if 3 * len(tokens[i]) >= 2 * length]
            try:
                for part, values in self._rows.run(batch, rest):
                    for i, each in zip(part, values, strict=True):
                        found[i] += each
            except MemoryError:
                raise
            except Exception as error:
                if kind in self._checked:
                    raise
                self._distrust(f"{type(error).__name__}: {error}")
                return self.log_probs(prefix, tokens)
            if kind not in self._checked:
                # The longest of the batch, and the row that is furthest from the first and has most
                # padding.
                if not all(
                    self._agree(self.decoded(prefix, tokens[i]), found[i])
                    for i in {batch[0], batch[-1]}
                ):
                    return self.log_probs(prefix, tokens)
                self._checked.add(kind)
            waiting = waiting[len(batch) :]
        return found

    def decoded(self, prefix: Inputs, ids: Sequence[int]) -> list[float]:
        """The log-probabilities of one sequence's tokens, each chosen for ``generate`` in turn."""
        waiting = iter(ids)
        # Not by a logits processor: Janus's generate drops those that it is given.
        forced = {
            "max_new_tokens": len(ids),
            "prefix_allowed_tokens_fn": lambda *_: [next(waiting)],
        }
        out = self._generate(prefix, **forced, eos_token_id=None)
        if out.sequences[0, -len(ids) :].tolist() != list(ids):
            raise RuntimeError(
                f"generate of {type(self.model).__name__} does not generate the tokens that it must"
            )
        return _token_log_probs(torch.cat(out.logits)[None], torch.tensor([list(ids)]))[0].tolist()

    def _generate(self, prefix: Inputs, **options: Any) -> Any:
        return self.model.generate(
            **prefix,
            num_beams=1,
            do_sample=False,
            use_cache=True,  # some fine-tuned checkpoints say False, for their training
            output_logits=True,
            return_dict_in_generate=True,
            pad_token_id=self.tokenizer.pad_token_id,
            **options,
        )

    def _prefill(self, prefix: Inputs) -> tuple[torch.Tensor, list[Step]]:
        """The log-probabilities of the first answer token, [batch, vocabulary], and the step of
        ``generate``.

        It alone knows each family's positions. There is no step if a part of the model has a
        ``generate`` of its own.
        """
        steps: list[Step] = []
        update = self.model._update_model_kwargs_for_generation

        def kept(outputs: Any, *args: Any, **options: Any) -> dict[str, Any]:
            state = update(outputs, *args, **options)
            steps.append((outputs, dict(state)))
            return state

        self.model._update_model_kwargs_for_generation = kept
        try:
            out = self._generate(prefix, max_new_tokens=1)
        finally:
            # Of the instance; the class keeps its own
            del self.model._update_model_kwargs_for_generation
        return functional.log_softmax(out.logits[0].float(), dim=-1), steps

    def _after(
        self, prefix: torch.Tensor, steps: list[Step], tokens: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The log-probabilities of all but the first token of each sequence, by one forward
        pass.
        """
        if not steps:
            raise TypeError("its generate is that of a part of it")
        lengths = [len(ids) for ids in tokens]
        padded = torch.tensor(
            [[*ids, *[ids[-1]] * (max(lengths) - len(ids))] for ids in tokens], device=prefix.device
        )
        count = max(lengths) - 1
        outputs, state = steps[0][0], dict(steps[0][1])
        name = "cache" if "cache" in state else "past_key_values"  # before transformers 5.24
        cache = SharedPrefix(state.get(name), len(tokens))
        for _ in range(count - 1):
            state = self.model._update_model_kwargs_for_generation(
                outputs, state, is_encoder_decoder=False
            )
        state[name] = cache
        if "logits_to_keep" in state:
            state["logits_to_keep"] = count
        if "cache_position" in state:  # transformers 4
            state["cache_position"] = torch.arange(
                prefix.shape[1], prefix.shape[1] + count, device=prefix.device
            )
        else:
            state["next_sequence_length"] = count
        row = torch.cat([prefix, padded[:1, :-1]], dim=1)
        inputs = self.model.prepare_inputs_for_generation(row, **state)
        # What pads a text needs no mask: it comes after all that is read from it.
        inputs = {name: _for_rows(name, value, len(tokens)) for name, value in inputs.items()}
        inputs["input_ids"] = padded[:, :-1]
        values = _token_log_probs(self.model(**inputs).logits, padded[:, 1:]).tolist()
        return [row[: length - 1] for row, length in zip(values, lengths, strict=True)]

    def _as_read(self, inputs: Inputs, prompt: str) -> str:
        """The prompt with the white space that the processor ends it with (PaliGemma: a line
        break).
        """
        end = self.tokenizer.decode(inputs["input_ids"][0, -1:])
        return prompt + end if end.isspace() and not prompt.endswith(end) else prompt

    def _agree(self, decoded: list[float], shared: list[float]) -> bool:
        tolerance = TOLERANCE_FLOAT32 if self.model.dtype == torch.float32 else TOLERANCE_HALF
        difference = sum(abs(a - b) for a, b in zip(decoded, shared, strict=True)) / len(decoded)
        if difference <= tolerance:
            return True
        self._distrust(f"log-probabilities differ by {difference:.2g} nats per token")
        return False

    def _distrust(self, reason: str) -> None:
        self.shared = False
        logger.warning(
            f"figlang_vlm: {type(self.model).__name__} cannot continue from the cache of images and"
            f" prompt ({reason}). Each candidate is decoded token by token with images and prompt:"
            " the scores are right, but this is slow"
        )


def _for_rows(name: str, value: Any, rows: int) -> Any:
    """A model input of one row for `rows` rows; position ids may have the rows in their second
    dimension.
    """
    if not isinstance(value, torch.Tensor) or value.dim() < 2:
        return value
    if (
        name == "image_encoder_embeddings"
    ):  # Idefics 1 views rows and pictures as one dimension, which needs copies
        return value.repeat(rows, *[1] * (value.dim() - 1))
    rows_at = value.dim() - 2 if name == "position_ids" else 0
    if value.shape[rows_at] != 1:
        return value
    return value.expand(*value.shape[:rows_at], rows, *value.shape[rows_at + 1 :])


def _token_log_probs(logits: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
    """The log-probabilities in float32 of `ids` [rows, length] under `logits` [rows, length,
    vocabulary].
    """
    losses = functional.cross_entropy(
        logits.float().flatten(0, 1), ids.to(logits.device).flatten(), reduction="none"
    )
    return -losses.view(ids.shape)
