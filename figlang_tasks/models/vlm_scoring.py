"""Scores by a generative model: log-probabilities of given texts as its answer, or P(yes).

Images and prompt, the costly prefix, run once for all texts. The prefix leaves its keys and values
(and other states) in the model's cache. All texts then run through the model as one batch that sees
that cache, with the inputs that the model's own steps of ``generate`` make. Once per run and set of
input names, the result is checked against ``generate`` itself, made to choose a text's tokens one
by one.

This leans on private parts of transformers (5.24): ``_update_model_kwargs_for_generation`` and
``prepare_inputs_for_generation``, because only these know how each family counts positions behind
pictures. The check above notices where a release changes them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import torch
from loguru import logger
from torch.nn import functional

from .ahead import BatchRunner
from .vlm_answer_tokens import (
    answer_tokens,
    first_tokens_of_words,
    prompt_as_read,
    separator_before_answer,
)
from .vlm_cache import SharedPrefix, for_rows

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase
    from transformers.generation import GenerateOutput
    from transformers.modeling_outputs import ModelOutput

Inputs: TypeAlias = Mapping[str, torch.Tensor]
"""The tensors of prompts, by the name that the model has for each."""

# Bounds of one forward pass over texts: positions that its attention sees (keys and values of one
# layer, about 1 GB for a model of 7B) and tokens of texts (logits, about 1 GB for a vocabulary of
# 150 000).
MAX_POSITIONS = 65_536
MAX_TOKENS = 2_048

# Largest mean difference of a token's log-probability from that of the check, in nats.
TOLERANCE_FLOAT32 = 1e-4
TOLERANCE_HALF = 0.05


class _Step(NamedTuple):
    """Where ``generate`` stands after the prefix: all that it needs to go on with a first token.

    Attributes:
        outputs: what the model gave.
        state: the keyword arguments with which ``generate`` goes on; the cache is one of them.
    """

    outputs: ModelOutput
    state: dict[str, Any]


class _CacheMistrusted(Exception):
    """The model has been found unable to go on from the shared prefix."""


class Scorer:
    """Scores texts after a prompt by the shared prefix.

    If that proves wrong for the model, it scores token by token from then on, which is slow.

    Attributes:
        uses_shared_prefix: whether the shared prefix is used; False once it has proved wrong.
    """

    def __init__(self, model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.uses_shared_prefix = True
        # `_next_batch` makes batches that are smaller yet: here they are halved if memory runs out.
        self._batch_runner = BatchRunner(MAX_TOKENS, "candidate")
        # A prompt with an image takes another way through a model than one without: each set of
        # names of inputs is checked once.
        self._checked: set[frozenset[str]] = set()

    def candidate_log_probs(
        self, inputs: Inputs, prompt: str, texts: Sequence[str], add_special_tokens: bool
    ) -> list[list[float]]:
        """The log-probabilities (nats) of each text's tokens, as the answer to a prompt.

        Args:
            inputs: the tensors of the prompt, a batch of one.
            prompt: the prompt that they were made of.
            texts: the candidates.
            add_special_tokens: whether the tokenizer added special tokens to the prompt.
        """
        prompt = prompt_as_read(self.tokenizer, prompt, inputs["input_ids"][0])
        between = separator_before_answer(prompt, self.tokenizer)
        answers = [between + text for text in texts]
        tokens = answer_tokens(self.tokenizer, prompt, answers, add_special_tokens)
        return self.log_probs(inputs, tokens)

    def match_scores(
        self, inputs: Inputs, prompts: Sequence[str], yes: str, no: str, add_special_tokens: bool
    ) -> list[float]:
        """P(yes) / (P(yes) + P(no)) of the first answer token, for each prompt of the batch.

        A word counts with the first token it has after the prompt, written with and without a space
        before it. Tokens that both words begin with count for neither.

        Args:
            inputs: the tensors of the prompts.
            prompts: the prompts that they were made of.
            yes, no: the words.
            add_special_tokens: whether the tokenizer added special tokens to the prompts.

        Raises:
            ValueError: both words begin with the same token.
        """
        # Equal prompts, which differ in their pictures alone, are tokenised once.
        tokens_by_prompt: dict[str, tuple[list[int], list[int]]] = {}
        for prompt in prompts:
            if prompt not in tokens_by_prompt:
                # The processor ends all prompts alike: the first row stands for each.
                complete_prompt = prompt_as_read(self.tokenizer, prompt, inputs["input_ids"][0])
                tokens_by_prompt[prompt] = first_tokens_of_words(
                    self.tokenizer, complete_prompt, yes, no, add_special_tokens
                )
        log_probs, _ = self._prefill(inputs)  # [batch, vocabulary]
        scores: list[float] = []
        for row, prompt in zip(log_probs, prompts, strict=True):
            yes_tokens, no_tokens = tokens_by_prompt[prompt]
            yes_log_prob = torch.logsumexp(row[yes_tokens], dim=-1)
            no_log_prob = torch.logsumexp(row[no_tokens], dim=-1)
            # sigmoid(log a - log b) = a / (a + b)
            scores.append(torch.sigmoid(yes_log_prob - no_log_prob).item())
        return scores

    # --- log-probabilities of token sequences ---

    def log_probs(self, prefix: Inputs, tokens: Sequence[Sequence[int]]) -> list[list[float]]:
        """The log-probabilities (nats) of the tokens of sequences after a prefix.

        Args:
            prefix: the tensors of the prompt, a batch of one.
            tokens: of each sequence, at least one.
        """
        if self.uses_shared_prefix:
            try:
                return self._log_probs_by_shared_prefix(prefix, tokens)
            except _CacheMistrusted as mistrusted:
                self.uses_shared_prefix = False
                logger.warning(
                    f"figlang_vlm: {type(self.model).__name__} cannot continue from the cache of"
                    f" images and prompt ({mistrusted}). Each candidate is decoded token by token"
                    " with images and prompt: the scores are right, but this is slow"
                )
        return [self.log_probs_token_by_token(prefix, sequence) for sequence in tokens]

    def _log_probs_by_shared_prefix(
        self, prefix: Inputs, tokens: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The log-probabilities of sequences that all see the cache of one run of the prefix.

        The run of the prefix gives those of all first tokens; batches of sequences give the others.

        Raises:
            _CacheMistrusted: the model cannot go on from that cache.
        """
        vocabulary_log_probs, step = self._prefill(prefix)
        first_tokens = [sequence[0] for sequence in tokens]
        log_probs: list[list[float]] = []
        for first_log_prob in vocabulary_log_probs[0][first_tokens].tolist():
            log_probs.append([first_log_prob])

        def run(indices: Sequence[int]) -> list[list[float]]:
            """The log-probabilities of all but the first token of the sequences at `indices`."""
            return self._later_log_probs(
                prefix["input_ids"], step, [tokens[index] for index in indices]
            )

        input_names = frozenset(prefix)
        waiting = [index for index, sequence in enumerate(tokens) if len(sequence) > 1]
        waiting.sort(key=lambda index: -len(tokens[index]))  # the longest first
        while waiting:
            batch = _next_batch(waiting, tokens, prefix["input_ids"].shape[1])
            try:
                for indices, later_log_probs in self._batch_runner.run(batch, run):
                    for index, later in zip(indices, later_log_probs, strict=True):
                        log_probs[index] += later
            except MemoryError:  # says nothing about the cache
                raise
            except Exception as error:  # each family raises its own class
                if input_names in self._checked:
                    raise
                raise _CacheMistrusted(f"{type(error).__name__}: {error}") from error
            if input_names not in self._checked:  # the first batch with such inputs
                # The longest of the batch, and its last row, which is furthest from the first and
                # has most padding.
                for index in {batch[0], batch[-1]}:
                    reference = self.log_probs_token_by_token(prefix, tokens[index])
                    self._require_agreement(reference, log_probs[index])
                self._checked.add(input_names)
            waiting = waiting[len(batch) :]  # a batch is the first that wait
        return log_probs

    def log_probs_token_by_token(self, prefix: Inputs, tokens: Sequence[int]) -> list[float]:
        """The log-probabilities of one sequence's tokens, each chosen for ``generate`` in turn.

        Slow, and right for every model: the reference for the shared prefix.
        """
        remaining = iter(tokens)

        def next_token(batch_index: int, generated: torch.Tensor) -> list[int]:
            """The only token that ``generate`` may choose next."""
            return [next(remaining)]

        output = self._generate(
            prefix,
            max_new_tokens=len(tokens),
            # Not by a logits processor: Janus's generate (transformers 5.24) drops those that it is
            # given.
            prefix_allowed_tokens_fn=next_token,
            eos_token_id=None,
        )
        if output.sequences[0, -len(tokens) :].tolist() != list(tokens):
            raise RuntimeError(
                f"generate of {type(self.model).__name__} does not generate the tokens that it must"
            )
        logits = torch.cat(output.logits)[None]  # of [1, vocabulary] for each token
        return _token_log_probs(logits, torch.tensor([list(tokens)]))[0].tolist()

    def _generate(self, prefix: Inputs, **options: Any) -> GenerateOutput:
        """Run ``generate`` greedily, whatever a checkpoint's own settings say, and keep logits."""
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

    def _prefill(self, prefix: Inputs) -> tuple[torch.Tensor, _Step | None]:
        """Run the prompts, and note where ``generate`` stands behind them.

        Only ``generate`` knows each family's positions. So it generates one token, and its method
        that prepares the next step is replaced meanwhile by one that also keeps that step.

        Returns:
            The log-probabilities of the first answer token, [batch, vocabulary], and the step; None
            if the model leaves ``generate`` to a part of it, whose steps are not seen.
        """
        steps: list[_Step] = []
        update = self.model._update_model_kwargs_for_generation

        def update_and_keep(outputs: ModelOutput, *args: Any, **options: Any) -> dict[str, Any]:
            """Do what the model's method does, and keep its result."""
            state = update(outputs, *args, **options)
            steps.append(_Step(outputs, dict(state)))
            return state

        self.model._update_model_kwargs_for_generation = update_and_keep
        try:
            output = self._generate(prefix, max_new_tokens=1)
        finally:
            # The instance has had an attribute of that name; its class has the method.
            del self.model._update_model_kwargs_for_generation
        first_log_probs = functional.log_softmax(output.logits[0].float(), dim=-1)
        return first_log_probs, steps[0] if steps else None

    def _later_log_probs(
        self, prompt_tokens: torch.Tensor, step: _Step | None, tokens: Sequence[Sequence[int]]
    ) -> list[list[float]]:
        """The log-probabilities of all but the first token of each sequence, by one forward pass.

        Args:
            prompt_tokens: of the prefix, [1, positions].
            step: where ``generate`` stands after the prefix.
            tokens: of each sequence, at least two.
        """
        if step is None:  # see `_prefill`; the warning of `log_probs` adds the model's name
            raise TypeError("its generate is that of a part of it")
        device = prompt_tokens.device
        rows = len(tokens)
        lengths = [len(sequence) for sequence in tokens]
        longest = max(lengths)
        # What pads a sequence needs no mask: it comes after all that is read from the sequence.
        padded_rows: list[list[int]] = []
        for sequence in tokens:
            padding = [sequence[-1]] * (longest - len(sequence))
            padded_rows.append([*sequence, *padding])
        padded = torch.tensor(padded_rows, device=device)
        # At each token the model foretells the next one: it reads all but the last.
        read_tokens = padded[:, :-1]
        foretold_tokens = padded[:, 1:]

        state = self._state_after(step, prompt_tokens.shape[1], rows, longest - 1, device)
        # The model prepares its inputs for one row. They hold for all rows but for the tokens.
        first_sequence = torch.cat([prompt_tokens, read_tokens[:1]], dim=1)
        model_inputs = self.model.prepare_inputs_for_generation(first_sequence, **state)
        inputs = {name: for_rows(name, model_inputs[name], rows) for name in model_inputs}
        inputs["input_ids"] = read_tokens
        log_probs = _token_log_probs(self.model(**inputs).logits, foretold_tokens).tolist()
        # Without what pads the shorter sequences.
        return [row[: length - 1] for row, length in zip(log_probs, lengths, strict=True)]

    def _state_after(
        self, step: _Step, prompt_length: int, rows: int, count: int, device: torch.device
    ) -> dict[str, Any]:
        """The state of ``generate`` (see `_Step`) for one step over `count` tokens in each row.

        Args:
            step: where ``generate`` stands after the prefix.
            prompt_length: tokens of the prefix.
            rows: sequences that go on from it.
            count: tokens of the longest sequence that the model reads.
            device: that of the tokens.
        """
        state = dict(step.state)
        # transformers 5.24 calls it cache, earlier versions past_key_values.
        cache_name = "cache" if "cache" in state else "past_key_values"
        cache = SharedPrefix(state.get(cache_name), rows)
        # `step.state` is ready for one more token; masks and positions must cover all of them.
        for _ in range(count - 1):
            state = self.model._update_model_kwargs_for_generation(
                step.outputs, state, is_encoder_decoder=False
            )
        state[cache_name] = cache
        if "logits_to_keep" in state:  # of how many last tokens the model returns logits
            state["logits_to_keep"] = count
        if "cache_position" in state:  # transformers 4
            state["cache_position"] = torch.arange(
                prompt_length, prompt_length + count, device=device
            )
        else:  # transformers 5: how many last tokens the model reads
            state["next_sequence_length"] = count
        return state

    def _require_agreement(self, reference: Sequence[float], log_probs: Sequence[float]) -> None:
        """Check log-probabilities by the shared prefix against a reference, token by token.

        Raises:
            _CacheMistrusted: they differ by more than rounding explains.
        """
        is_float32 = self.model.dtype == torch.float32
        tolerance = TOLERANCE_FLOAT32 if is_float32 else TOLERANCE_HALF
        differences: list[float] = []
        for reference_log_prob, log_prob in zip(reference, log_probs, strict=True):
            differences.append(abs(reference_log_prob - log_prob))
        mean_difference = sum(differences) / len(differences)
        # A NaN is not within the tolerance.
        if not mean_difference <= tolerance:
            raise _CacheMistrusted(
                f"log-probabilities differ by {mean_difference:.2g} nats per token"
            )


def _next_batch(
    waiting: Sequence[int], tokens: Sequence[Sequence[int]], prompt_length: int
) -> list[int]:
    """The first sequences of those that wait, as many as one forward pass takes.

    Sequences shorter than two thirds of the longest are left for a batch of their own, where less
    of it is padding.

    Args:
        waiting: indices of sequences, the longest first, so that those left stand at the end.
        tokens: of all sequences.
        prompt_length: tokens of the prefix.
    """
    longest = len(tokens[waiting[0]])
    most_rows = min(MAX_POSITIONS // (prompt_length + longest), MAX_TOKENS // longest)
    first_waiting = waiting[: max(most_rows, 1)]
    return [index for index in first_waiting if 3 * len(tokens[index]) >= 2 * longest]


def _token_log_probs(logits: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
    """The log-probabilities in float32 of tokens, [rows, length].

    Args:
        logits: [rows, length, vocabulary].
        tokens: [rows, length].
    """
    losses = functional.cross_entropy(
        logits.float().flatten(0, 1), tokens.to(logits.device).flatten(), reduction="none"
    )
    return -losses.view(tokens.shape)
