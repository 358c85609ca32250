"""``--model figlang_openai``: the harness's ``openai`` class, which answers score requests too, by
the API's logprobs.

For vLLM, SGLang, OpenAI and whatever else speaks that protocol and returns ``top_logprobs``.
Requests for words go to the harness's class as they are. A score request (`core.score_requests`)
becomes chat completions of one token, read from the 20 most probable first tokens, which is all
that such an API tells:

A request of kind ``match`` gives P(yes) / (P(yes) + P(no)) for each image alone with the text, as
:mod:`figlang_tasks.models.vlm` has it, but over returned tokens that are the whole word, with or
without a space before it. Chat APIs give no log-probability of a given text, so there is no kind
``candidates``.

A request of which the API says nothing ends the run with the task and the document in the message.
If the API names one of the two words alone, the probability of the other counts as 0, and the log
says how often. A refusal of the server is the answer to a request, and a wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts
from lmms_eval.models.chat.openai import OpenAICompatible
from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded, log_usage
from lmms_eval.protocol import ChatMessages
from loguru import logger
from openai import APIStatusError
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core import notes, score_requests
from figlang_tasks.core.chat_reply import (
    NO_LOGPROBS,
    ChatReply,
    ModelNames,
    TokenLogprobs,
    address,
    read_reply,
)
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import ScoreRequest

from .ahead import ahead, threads

TOP = 20  # the most that OpenAI gives, and vLLM unless told otherwise


@dataclass(frozen=True)
class _Scored:
    """The answer to a score request, and for how many of its images one of the two words was
    missing.
    """

    answer: GenerationResult
    images_with_one_word: int


class FigLangOpenAI(OpenAICompatible):
    """The harness's ``openai`` with score requests, and a ``timeout`` that holds. Arguments: those
    of that class.

    ``num_concurrent`` requests run at a time; ``max_retries`` holds for refusals (429), dropped
    connections, errors of the server and requests over their ``timeout`` (seconds in which the
    server sends nothing). Unlike the harness's class for words, a score request that fails to the
    end ends the run.
    """

    answers_score_requests = ("match",)
    client: Any

    def __init__(self, *, timeout: float = 600.0, **others: Any) -> None:
        if not isinstance(timeout, int | float):
            raise FigLangError(f"figlang_openai: timeout={timeout!r}; valid: seconds")
        super().__init__(timeout=timeout, **others)
        # The harness's class takes it and leaves it unused
        self.client = self.client.with_options(timeout=timeout)
        self._address = address(self.client.base_url)
        self._model_names = ModelNames()
        # The harness tries again itself
        self._retrying = self.client.with_options(max_retries=int(self.max_retries))

    def generate_until(self, requests: list[Instance]) -> list[GenerationResult]:
        """Answer the requests, in their order."""
        scored = [
            i
            for i, request in enumerate(requests)
            if request.args[2].get(score_requests.KEY) is not None
        ]
        if not scored:
            return super().generate_until(requests)
        answers = self._scores(requests, scored)
        words = [i for i in range(len(requests)) if i not in answers]
        answers.update(
            zip(words, super().generate_until([requests[i] for i in words]), strict=True)
        )
        return [answers[i] for i in range(len(requests))]

    def _scores(
        self, requests: Sequence[Instance], indices: Sequence[int]
    ) -> dict[int, GenerationResult]:
        """The answers to the score requests at some indices.

        Where one fails, those that are on their way are awaited and handed on, since they are paid
        for.
        """
        answers: dict[int, GenerationResult] = {}
        failures: list[FigLangError] = []
        images_with_one_word = 0
        concurrent = max(1, int(self.num_concurrent))
        # Of figlang_tasks.harness.answers, which keeps each answer
        on_answer = getattr(self, "on_answer", None)
        until_failure = takewhile(lambda _: not failures, indices)

        with (
            threads(concurrent) as pool,
            closing(
                ahead(
                    lambda index: pool.submit(self._score, requests[index]),
                    until_failure,
                    concurrent,
                )
            ) as begun,
        ):
            for index, outcome in tqdm(
                begun, "Model Responding", len(indices), disable=self.rank != 0
            ):
                if isinstance(outcome, FigLangError):
                    failures.append(outcome)
                    continue
                answers[index] = outcome.answer
                images_with_one_word += outcome.images_with_one_word
                if on_answer:
                    on_answer(index, outcome.answer)

        if failures:
            raise failures[0]
        if images_with_one_word:
            logger.warning(
                f"figlang_openai: for {images_with_one_word} images one word of a match was not"
                f" among the {TOP} most probable tokens; its probability counts as 0"
            )
        return answers

    def _score(self, request: Instance) -> _Scored | FigLangError:
        """Answer a score request; where that fails, the error, which names task and document."""
        _, _, _, doc_id, task, _ = request.args
        if is_budget_exceeded():
            return _Scored(GenerationResult(notes.BUDGET_EXCEEDED, TokenCounts()), 0)
        try:
            with models.naming(FigLangError, f"figlang_openai: task {task}, doc {doc_id}"):
                return self._score_images(*self._prompts(request))
        except FigLangError as error:
            return error

    def _score_images(
        self, wanted: ScoreRequest, prompts: Sequence[list[dict[str, Any]]]
    ) -> _Scored:
        """Ask about each image of a request; a refusal stands for the answer to all of them."""
        tokens_read = tokens_written = images_with_one_word = 0
        scores: list[float] = []
        for prompt in prompts:
            reply = self._ask_for_first_token(prompt)
            tokens_read += reply.tokens_read or 0
            tokens_written += reply.tokens_written or 0
            if reply.refusal:
                text = notes.refused_request(reply.refusal, reply.text)
                return _Scored(GenerationResult(text, TokenCounts(tokens_read, tokens_written)), 0)
            first_tokens = reply.first_tokens()
            scores.append(match(first_tokens, wanted))
            images_with_one_word += -math.inf in _logprobs_of_words(first_tokens, wanted)
        answer = GenerationResult(
            score_requests.answer(scores), TokenCounts(tokens_read, tokens_written)
        )
        return _Scored(answer, images_with_one_word)

    def _prompts(self, request: Instance) -> tuple[ScoreRequest, list[list[dict[str, Any]]]]:
        """What is to be scored, and the conversations that the API is to answer for it."""
        _, doc_to_messages, gen_kwargs, doc_id, task, split = request.args
        doc = self.task_dict[task][split][doc_id]
        wanted = score_requests.score_request(gen_kwargs, doc)
        assert wanted is not None, "only score requests come here"
        if wanted.kind != "match":
            raise ValueError(
                "chat APIs give no log-probabilities of candidates: run the model with figlang_vlm"
            )
        messages = ChatMessages(messages=doc_to_messages(doc)).to_openai_messages()
        return wanted, models.each_image_alone(messages, "image_url")

    def _ask_for_first_token(self, messages: list[dict[str, Any]]) -> ChatReply:
        """The reply that has the most probable first tokens of an answer."""
        payload: dict[str, Any] = {
            "model": self.model_version,
            "messages": messages,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP,
        }
        if self.enable_thinking_kwarg is not None:
            enabled = str(self.enable_thinking_kwarg).lower() == "true"
            payload["extra_body"] = {"chat_template_kwargs": {"enable_thinking": enabled}}
        completions = self._retrying.chat.completions.with_raw_response
        try:
            response = completions.create(**payload)
        except APIStatusError as error:
            if error.status_code == 400 and "logprob" in str(error).lower():
                raise ValueError(f"{NO_LOGPROBS}. It says: {error}") from error
            raise
        reply = read_reply(response.content, self._address)
        self._model_names.check(self.model_version, reply)
        log_usage(
            self.model_version,
            task_name=None,
            input_tokens=reply.tokens_read or 0,
            output_tokens=reply.tokens_written or 0,
            source="model",
        )
        return reply


def match(first_tokens: TokenLogprobs, request: ScoreRequest) -> float:
    """P(yes) / (P(yes) + P(no)) over tokens that are one of the words; 0 or 1 if one word is not
    there.
    """
    yes, no = _logprobs_of_words(first_tokens, request)
    if yes == no == -math.inf:
        tokens = ", ".join(f"{token!r:.80} {logprob:.2f}" for token, logprob in first_tokens[:TOP])
        raise ValueError(
            f"neither {request.yes!r} nor {request.no!r} is among the first tokens: {tokens}"
        )
    highest = max(yes, no)
    yes_share, no_share = math.exp(yes - highest), math.exp(no - highest)
    return yes_share / (yes_share + no_share)


def _logprobs_of_words(first_tokens: TokenLogprobs, request: ScoreRequest) -> tuple[float, float]:
    """The logprobs of yes and of no, with or without a space before; minus infinity for a word that
    is not there.
    """
    return _logprob_of(request.yes, first_tokens), _logprob_of(request.no, first_tokens)


def _logprob_of(word: str, first_tokens: TokenLogprobs) -> float:
    logprobs = [
        logprob for token, logprob in first_tokens if token.removeprefix(" ") == word.strip()
    ]
    highest = max(logprobs, default=-math.inf)
    if highest == -math.inf:
        return highest
    return highest + math.log(sum(math.exp(logprob - highest) for logprob in logprobs))
