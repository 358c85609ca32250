"""``--model figlang_openai``: lmms-eval's ``openai`` class, which answers score requests too.

For vLLM, SGLang, OpenAI and whatever else speaks that protocol and returns ``top_logprobs``.
Requests for words go to lmms-eval's class (0.7.3) as they are. A score request
(`core.score_requests`) becomes chat completions of one token, read from the 20 most probable first
tokens, which is all that such an API tells:

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
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts
from lmms_eval.models.chat.openai import OpenAICompatible
from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded, log_usage
from lmms_eval.protocol import ChatMessages
from loguru import logger
from openai import APIStatusError
from tqdm import tqdm

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
from figlang_tasks.models.arguments import require_api_key
from figlang_tasks.models.messages import Message, each_image_alone
from figlang_tasks.models.requests import ChatArguments, errors_naming

from .ahead import results_ahead, threads

if TYPE_CHECKING:
    from openai import OpenAI

TOP = 20
"""Tokens with a logprob that a reply has: the most that OpenAI gives, and vLLM by default."""


@dataclass(frozen=True)
class _Scored:
    """The answer to a score request.

    Attributes:
        answer: the answer.
        images_with_one_word: for how many of its images one of the two words was missing.
    """

    answer: GenerationResult
    images_with_one_word: int


_Outcome: TypeAlias = _Scored | FigLangError
"""What came of a score request; the error names task and document."""


class FigLangOpenAI(OpenAICompatible):
    """lmms-eval's ``openai`` with score requests, and a ``timeout`` that holds.

    It takes the arguments of that class. ``num_concurrent`` requests run at a time; ``max_retries``
    holds for refusals (429), dropped connections, errors of the server and requests over their
    ``timeout`` (seconds in which the server sends nothing). Unlike a request for words, a score
    request that fails to the end ends the run.
    """

    answers_score_requests = ("match",)
    client: OpenAI

    def __init__(self, *, timeout: float = 600.0, **arguments: Any) -> None:
        if not isinstance(timeout, int | float):
            raise FigLangError(f"figlang_openai: timeout={timeout!r}; valid: seconds")
        require_api_key(arguments)
        super().__init__(timeout=timeout, **arguments)
        # lmms-eval 0.7.3 takes a timeout and does not hand it to its client.
        self.client = self.client.with_options(timeout=timeout)
        self._address = address(self.client.base_url)
        self._model_names = ModelNames()
        # For words lmms-eval 0.7.3 tries again itself. Score requests do not pass through
        # that code: here the client does.
        retries = int(self.max_retries)
        self._retrying_client = self.client.with_options(max_retries=retries)

    def generate_until(self, requests: list[Instance]) -> list[GenerationResult]:
        """Answer the requests, in their order: score requests here, others by lmms-eval's class."""
        score_indices: list[int] = []
        word_indices: list[int] = []
        for index, request in enumerate(requests):
            generation_kwargs = ChatArguments.of(request).generation_kwargs
            if generation_kwargs.get(score_requests.KEY) is not None:
                score_indices.append(index)
            else:
                word_indices.append(index)
        if not score_indices:
            return super().generate_until(requests)
        answers = self._answer_score_requests(requests, score_indices)
        word_requests = [requests[index] for index in word_indices]
        word_answers = super().generate_until(word_requests)
        answers.update(zip(word_indices, word_answers, strict=True))
        return [answers[index] for index in range(len(requests))]

    def _answer_score_requests(
        self, requests: Sequence[Instance], indices: Sequence[int]
    ) -> dict[int, GenerationResult]:
        """The answers to the score requests at some indices, by index.

        Where one fails, no further ones are sent. Those that are on their way are awaited and
        handed to `on_answer`, since they are paid for; then the failure is raised.

        Args:
            requests: all requests.
            indices: those of the score requests among them.

        Raises:
            FigLangError: the first failure.
        """
        answers: dict[int, GenerationResult] = {}
        failures: list[FigLangError] = []
        images_with_one_word = 0
        # figlang_tasks.harness.answers may set `on_answer` on this object, to keep each answer as
        # soon as it is there.
        on_answer: Callable[[int, GenerationResult], None] | None
        on_answer = getattr(self, "on_answer", None)
        is_bar_hidden = self.rank != 0
        with closing(self._outcomes(requests, indices)) as outcomes:
            for index, outcome in tqdm(
                outcomes, desc="Model Responding", total=len(indices), disable=is_bar_hidden
            ):
                if isinstance(outcome, FigLangError):
                    failures.append(outcome)
                    continue
                answers[index] = outcome.answer
                images_with_one_word += outcome.images_with_one_word
                if on_answer is not None:
                    on_answer(index, outcome.answer)

        if failures:
            raise failures[0]
        if images_with_one_word:
            logger.warning(
                f"figlang_openai: for {images_with_one_word} images one word of a match was not"
                f" among the {TOP} most probable tokens; its probability counts as 0"
            )
        return answers

    def _outcomes(
        self, requests: Sequence[Instance], indices: Sequence[int]
    ) -> Generator[tuple[int, _Outcome]]:
        """Yield each index with what comes of its request; none is sent after a failure.

        Several are on their way at a time. So the outcomes of others still follow a failure.
        """
        has_failed = False

        def indices_to_send() -> Iterator[int]:
            """Yield the indices one by one, as long as no request has failed."""
            for index in indices:
                if has_failed:
                    return
                yield index

        concurrent = max(1, int(self.num_concurrent))
        with threads(concurrent) as pool:

            def begin(index: int) -> Future[_Outcome]:
                """Begin to answer the request at an index."""
                return pool.submit(self._score, requests[index])

            with closing(results_ahead(begin, indices_to_send(), concurrent)) as outcomes:
                for index, outcome in outcomes:
                    if isinstance(outcome, FigLangError):
                        has_failed = True
                    yield index, outcome

    def _score(self, request: Instance) -> _Outcome:
        """Answer a score request; where that fails, return the error instead of raising it.

        If the tokens of ``--max_tokens`` are used up, nothing is sent, and a note is the answer.
        """
        arguments = ChatArguments.of(request)
        # lmms-eval 0.7.3 checks --max_tokens in its own code alone, which does not run here.
        if is_budget_exceeded():
            answer = GenerationResult(notes.BUDGET_EXCEEDED, TokenCounts())
            return _Scored(answer, images_with_one_word=0)
        subject = f"figlang_openai: task {arguments.task}, doc {arguments.doc_id}"
        try:
            with errors_naming(FigLangError, subject):
                score_request, conversations = self._read(arguments)
                return self._score_images(score_request, conversations)
        except FigLangError as error:
            return error

    def _score_images(
        self, score_request: ScoreRequest, conversations: Sequence[Sequence[Message]]
    ) -> _Scored:
        """The answer to a request: the score of each image, or the server's refusal.

        A refusal of one image is the answer for all: scores of earlier images are dropped, and
        later images are not asked about.

        Args:
            score_request: the words to look for.
            conversations: one for each image.
        """
        replies: list[ChatReply] = []
        scores: list[float] = []
        images_with_one_word = 0
        for messages in conversations:
            reply = self._ask_for_first_token(messages)
            replies.append(reply)
            if reply.refusal:
                refusal = notes.refused_request(reply.refusal, reply.text)
                answer = GenerationResult(refusal, _token_counts(replies))
                return _Scored(answer, images_with_one_word=0)
            first_tokens = reply.first_tokens()
            # This raises an error where both words are missing.
            scores.append(match_score(first_tokens, score_request))
            is_word_missing = -math.inf in _logprobs_of_words(first_tokens, score_request)
            if is_word_missing:
                images_with_one_word += 1
        answer = GenerationResult(score_requests.answer(scores), _token_counts(replies))
        return _Scored(answer, images_with_one_word)

    def _read(self, arguments: ChatArguments) -> tuple[ScoreRequest, list[list[Message]]]:
        """What a request asks to be scored, and a conversation for each of its images.

        Raises:
            ValueError: it asks for log-probabilities of candidates.
        """
        doc = self.task_dict[arguments.task][arguments.split][arguments.doc_id]
        score_request = score_requests.score_request(arguments.generation_kwargs, doc)
        assert score_request is not None, "only score requests come here"
        if score_request.kind != "match":
            raise ValueError(
                "chat APIs give no log-probabilities of candidates: run the model with figlang_vlm"
            )
        chat_messages = ChatMessages(messages=arguments.doc_to_messages(doc))
        messages: list[Message] = chat_messages.to_openai_messages()
        return score_request, each_image_alone(messages, "image_url")

    def _ask_for_first_token(self, messages: Sequence[Message]) -> ChatReply:
        """Send messages, and return the reply, which has the most probable first tokens.

        Its tokens are counted for ``--max_tokens``.

        Raises:
            ValueError: the API gives no logprobs.
            ReplyFault: the reply is no chat completion.
        """
        payload: dict[str, Any] = {
            "model": self.model_version,
            "messages": messages,
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": True,
            "top_logprobs": TOP,
        }
        # An argument of lmms-eval's class: True or False, or one of these as a text.
        if self.enable_thinking_kwarg is not None:
            is_enabled = str(self.enable_thinking_kwarg).lower() == "true"
            payload["extra_body"] = {"chat_template_kwargs": {"enable_thinking": is_enabled}}
        # The raw response, for `read_reply`: the client itself does not check what a server sent.
        completions = self._retrying_client.chat.completions.with_raw_response
        try:
            response = completions.create(**payload)
        except APIStatusError as error:
            if error.status_code == 400 and "logprob" in str(error).lower():
                raise ValueError(f"{NO_LOGPROBS}. It says: {error}") from error
            raise
        reply = read_reply(response.content, self._address)
        self._model_names.check(self.model_version, reply)
        # lmms-eval 0.7.3 counts tokens for --max_tokens and the results by this.
        log_usage(
            self.model_version,
            task_name=None,
            input_tokens=reply.tokens_read or 0,
            output_tokens=reply.tokens_written or 0,
            source="model",
        )
        return reply


def _token_counts(replies: Sequence[ChatReply]) -> TokenCounts:
    """The tokens that were read and written for some replies; 0 for a server that does not say."""
    tokens_read = sum(reply.tokens_read or 0 for reply in replies)
    tokens_written = sum(reply.tokens_written or 0 for reply in replies)
    return TokenCounts(tokens_read, tokens_written)


def match_score(first_tokens: TokenLogprobs, request: ScoreRequest) -> float:
    """P(yes) / (P(yes) + P(no)) over the first tokens that are one of the words.

    It is 0 if only the word for no is there, and 1 if only the word for yes is there.

    Args:
        first_tokens: pairs of a token and its logprob.
        request: which words say yes and no.

    Raises:
        ValueError: neither word is there.
    """
    yes_logprob, no_logprob = _logprobs_of_words(first_tokens, request)
    highest = max(yes_logprob, no_logprob)
    if highest == -math.inf:  # neither word is there
        most_likely = first_tokens[:TOP]
        tokens = ", ".join(f"{token!r:.80} {logprob:.2f}" for token, logprob in most_likely)
        raise ValueError(
            f"neither {request.yes!r} nor {request.no!r} is among the first tokens: {tokens}"
        )
    # Both probabilities are divided by the larger one, so that not both become 0 by rounding.
    yes_share = math.exp(yes_logprob - highest)
    no_share = math.exp(no_logprob - highest)
    return yes_share / (yes_share + no_share)


def _logprobs_of_words(first_tokens: TokenLogprobs, request: ScoreRequest) -> tuple[float, float]:
    """The logprobs of yes and of no, in this order; minus infinity for a word that is not there."""
    return _logprob_of(request.yes, first_tokens), _logprob_of(request.no, first_tokens)


def _logprob_of(word: str, first_tokens: TokenLogprobs) -> float:
    """The logarithm of the summed probabilities of the tokens that are a word.

    A token is the word if it is "Yes" or " Yes". Minus infinity if no token is.
    """
    logprobs: list[float] = []
    for token, logprob in first_tokens:
        if token.removeprefix(" ") == word.strip():
            logprobs.append(logprob)
    highest = max(logprobs, default=-math.inf)
    if highest == -math.inf:
        return highest
    # log(sum of exp(logprob)), written so that no probability becomes 0 by rounding
    return highest + math.log(sum(math.exp(logprob - highest) for logprob in logprobs))
