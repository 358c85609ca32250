"""``--model figlang_openai``: the harness's ``openai`` class, which answers score requests too, by the API's logprobs.

For vLLM, SGLang, OpenAI and whatever else speaks that protocol and returns ``top_logprobs``. Requests for words go to
the harness's class as they are. A score request (`core.score_requests`) becomes chat completions of one
token, read from the 20 most probable first tokens, which is all that such an API tells:

A request of kind ``match`` gives P(yes) / (P(yes) + P(no)) for each image alone with the text, as
:mod:`figlang_tasks.models.vlm` has it, but over returned tokens that are the whole word, with or without a space before
it. Chat APIs give no log-probability of a given text, so there is no kind ``candidates``.

A request of which the API says nothing ends the run with the task and the document in the message. If the API names one
of the two words alone, the probability of the other counts as 0, and the log says how often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import closing
from typing import Any

from lmms_eval.api.instance import GenerationResult, Instance, TokenCounts
from lmms_eval.models.chat.openai import OpenAICompatible
from lmms_eval.models.model_utils.usage_metrics import is_budget_exceeded, log_usage
from lmms_eval.protocol import ChatMessages
from loguru import logger
from openai import APIStatusError
from tqdm import tqdm

from figlang_tasks import models
from figlang_tasks.core import score_requests
from figlang_tasks.core.errors import FigLangError
from figlang_tasks.core.score_requests import ScoreRequest

from .ahead import ahead, threads

TOP = 20  # the most that OpenAI gives, and vLLM unless told otherwise
NO_LOGPROBS = (
    "this API gives no logprobs, so it cannot answer score requests. vLLM (`vllm serve MODEL`, with --max-logprobs 20 "
    "or more) and SGLang (`python -m sglang.launch_server --model-path MODEL`) give logprobs; so do OpenAI's models "
    "that do not reason"
)
BUDGET_EXCEEDED = "[LMMS_EVAL_BUDGET_EXCEEDED]"  # the harness's own words where --max_tokens is spent


class FigLangOpenAI(OpenAICompatible):
    """The harness's ``openai`` with score requests, and a ``timeout`` that holds. Arguments: those of that class.

    ``num_concurrent`` requests run at a time; ``max_retries`` holds for refusals (429), dropped connections, errors of
    the server and requests over their ``timeout`` (seconds in which the server sends nothing). Unlike the harness's
    class for words, a score request that fails to the end ends the run.
    """

    answers_score_requests = ("match",)
    client: Any

    def __init__(self, *, timeout: float = 600.0, **others: Any) -> None:
        if not isinstance(timeout, int | float):
            raise FigLangError(f"figlang_openai: timeout={timeout!r}; valid: seconds")
        super().__init__(timeout=timeout, **others)
        self.client = self.client.with_options(timeout=timeout)  # the harness's class takes it and leaves it unused
        self._retrying = self.client.with_options(max_retries=int(self.max_retries))  # the harness tries again itself

    def generate_until(self, requests: list[Instance]) -> list[GenerationResult]:
        """Answer the requests, in their order."""
        scored = [i for i, request in enumerate(requests) if request.args[2].get(score_requests.KEY) is not None]
        if not scored:
            return super().generate_until(requests)
        answers = self._scores(requests, scored)
        words = [i for i in range(len(requests)) if i not in answers]
        answers.update(zip(words, super().generate_until([requests[i] for i in words]), strict=True))
        return [answers[i] for i in range(len(requests))]

    def _scores(self, requests: Sequence[Instance], indices: Sequence[int]) -> dict[int, GenerationResult]:
        answers: dict[int, GenerationResult] = {}
        unsure = 0
        concurrent = max(1, int(self.num_concurrent))
        with (
            threads(concurrent) as pool,
            closing(ahead(lambda index: pool.submit(self._scored, requests[index]), indices, concurrent)) as scored,
        ):
            for index, (answer, missing) in tqdm(scored, "Model Responding", len(indices), disable=self.rank != 0):
                answers[index] = answer
                unsure += missing
        if unsure:
            logger.warning(
                f"figlang_openai: for {unsure} images one word of a match was not among the {TOP} most probable "
                "tokens; its probability counts as 0"
            )
        return answers

    def _scored(self, request: Instance) -> tuple[GenerationResult, int]:
        """The answer to a score request, and the number of its images for which a word was missing."""
        _, _, _, doc_id, task, _ = request.args
        if is_budget_exceeded():
            return GenerationResult(BUDGET_EXCEEDED, TokenCounts()), 0
        with models.naming(FigLangError, f"figlang_openai: task {task}, doc {doc_id}"):
            wanted, prompts = self._prompts(request)
            tokens, counts = zip(*map(self._first_token, prompts), strict=True)
            read, written = (sum(each) for each in zip(*counts, strict=True))
            scores = [match(each, wanted) for each in tokens]
            answer = GenerationResult(score_requests.answer(scores), TokenCounts(read, written))
            return answer, sum(score in (0, 1) for score in scores)

    def _prompts(self, request: Instance) -> tuple[ScoreRequest, list[list[dict[str, Any]]]]:
        """What is to be scored, and the conversations that the API is to answer for it."""
        _, doc_to_messages, gen_kwargs, doc_id, task, split = request.args
        doc = self.task_dict[task][split][doc_id]
        wanted = score_requests.score_request(gen_kwargs, doc)
        assert wanted is not None, "only score requests come here"
        if wanted.kind != "match":
            raise ValueError("chat APIs give no log-probabilities of candidates: run the model with figlang_vlm")
        messages = ChatMessages(messages=doc_to_messages(doc)).to_openai_messages()
        return wanted, models.each_image_alone(messages, "image_url")

    def _first_token(self, messages: list[dict[str, Any]]) -> tuple[list[tuple[str, float]], tuple[int, int]]:
        """The most probable first tokens of an answer, and the numbers of tokens read and written."""
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
        try:
            response = self._retrying.chat.completions.create(**payload)
        except APIStatusError as error:
            if error.status_code == 400 and "logprob" in str(error).lower():
                raise ValueError(f"{NO_LOGPROBS}. It says: {error}") from error
            raise
        logprobs = response.choices[0].logprobs if response.choices else None
        if logprobs is None or not logprobs.content or not logprobs.content[0].top_logprobs:
            raise ValueError(NO_LOGPROBS)
        usage = response.usage
        read, written = (usage.prompt_tokens or 0, usage.completion_tokens or 0) if usage else (0, 0)
        log_usage(self.model_version, task_name=None, input_tokens=read, output_tokens=written, source="model")
        found = [(top.token, top.logprob) for top in logprobs.content[0].top_logprobs]
        return [(token, value) for token, value in found if math.isfinite(value)], (read, written)


def match(log_probs: Sequence[tuple[str, float]], wanted: ScoreRequest) -> float:
    """P(yes) / (P(yes) + P(no)) over tokens that are one of the words; 0 or 1 if one word is not there."""
    yes, no = (
        sum(math.exp(value) for token, value in log_probs if token.removeprefix(" ") == word.strip())
        for word in (wanted.yes, wanted.no)
    )
    if not yes and not no:
        told = ", ".join(f"{token!r} {value:.2f}" for token, value in log_probs)
        raise ValueError(f"neither {wanted.yes!r} nor {wanted.no!r} is among the first tokens: {told}")
    return yes / (yes + no)
