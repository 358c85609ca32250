"""`figlang_openai`: scores by an API's logprobs, against a server with the demo model behind it.

The demo model begins every answer with "The". Among its 20 most probable first tokens are " image", " bridge" and
" anchor" too, which serve as the words here; "Yes" and "No" are not among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from demo_runs import DEMO, answers, evaluate
from openai_server import OpenAIServer

from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import ScoreRequest, read_answer
from figlang_tasks.models.openai_scores import OpenAIScoresError, match


@pytest.fixture
def ask(server: OpenAIServer, score_tasks: str) -> Callable[..., list[str]]:
    """The answers to a task by the server."""

    def ask(name: str, more: str = "", model: str = "figlang_openai") -> list[str]:
        arguments = f"model_version={server.name},base_url={server.url},api_key=none,retry_backoff_s=0.1{more}"
        return _run(name, score_tasks, model, arguments)

    return ask


def _run(name: str, tasks: str, model: str, model_args: str) -> list[str]:
    results = evaluate(f"score_{name}", model, model_args, include_path=tasks)
    return list(answers(results, f"score_{name}").values())


def scores(outputs: list[str]) -> list[list[float]]:
    found = [read_answer(output) for output in outputs]
    return [values for values in found if values is not None]


@pytest.fixture
def by_vlm(score_tasks: str) -> Callable[[str], list[str]]:
    """The answers to a task by the same model in this process."""
    return lambda name: _run(name, score_tasks, "figlang_vlm", f"{DEMO},device=cpu")


def test_match_is_that_of_the_same_model_in_process(server: OpenAIServer, ask: Callable, by_vlm: Callable) -> None:
    # With a space, figlang_vlm counts the tokens " image" and " bridge" alone. Without, it would also count "im" and
    # "b", with which the words begin when no space precedes them. Their probabilities are below the 20 that the API
    # tells of, and would move these scores by up to 0.005.
    found, expected = scores(ask("match_words", ",num_concurrent=2")), scores(by_vlm("match_exact"))
    assert [len(values) for values in found] == [1, 2, 3]
    assert sum(found, []) == pytest.approx(sum(expected, []), abs=1e-3)
    assert len({round(value, 3) for value in sum(found, [])}) == 6 and all(0.05 < v < 0.95 for v in sum(found, []))
    assert [request.images for request in server.requests] == [1] * 6
    body = server.requests[0].body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    settings = {name: body[name] for name in ("max_tokens", "temperature", "logprobs", "top_logprobs")}
    assert settings == {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 20}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("match", "neither 'Yes' nor 'No' is among the first tokens: 'The' -0.00"),
        ("match_same", "are the same"),
        ("candidates", "no log-probabilities of candidates"),
    ],
)
def test_what_the_api_does_not_tell_ends_the_run(name: str, message: str, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match=f"task score_{name}, doc 0: ValueError: .*{message}"):
        ask(name, ",num_concurrent=1")


def test_one_missing_word_is_counted(ask: Callable, warnings_of_loguru: list[str]) -> None:
    found = scores(ask("match_one"))
    assert found == [[1.0], [1.0] * 2, [1.0] * 3]
    [line] = [line for line in warnings_of_loguru if "figlang_openai" in line]
    assert "for 6 images one word of a match" in line


@pytest.mark.parametrize("server", [{"logprobs": False}], indirect=True)
def test_a_server_without_logprobs(server: OpenAIServer, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match="task score_match_words, doc 0: .*gives no logprobs.*vllm serve"):
        ask("match_words", ",num_concurrent=1")


# In a row, so that the OpenAI client (two retries of its own) gives up and the class has to try again.
@pytest.mark.parametrize("server", [{"faults": ["429"] * 3 + ["drop"]}], indirect=True)
def test_refusals_and_dropped_connections_are_tried_again(server: OpenAIServer, ask: Callable) -> None:
    found = scores(ask("match_words", ",num_concurrent=1"))
    assert [len(values) for values in found] == [1, 2, 3]
    assert [request.status for request in server.requests] == [429] * 3 + [None] + [200] * 6


@pytest.mark.parametrize("server", [{"faults": ["drop"] * 30}], indirect=True)
def test_a_request_that_fails_to_the_end_ends_the_run(server: OpenAIServer, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match="doc 0: APIConnectionError"):
        ask("match_words", ",num_concurrent=1,max_retries=1")
    with pytest.raises(FigLangError, match="NotFoundError: .*'other' does not exist"):
        server.next_fault = lambda: "ok"  # type: ignore[method-assign]
        ask("match_words", ",num_concurrent=1,model=other")


def test_requests_for_words_are_those_of_the_harness(server: OpenAIServer, ask: Callable) -> None:
    ours = ask("words", ",num_concurrent=1")
    sent = [request.body for request in server.requests]
    assert ours == ask("words", ",num_concurrent=1", model="openai")
    assert [request.body for request in server.requests] == sent * 2
    assert len(sent) == 3 and "logprobs" not in sent[0] and all(ours)


def test_tokens_of_both_spellings_count() -> None:
    wanted = ScoreRequest(kind="match")
    told = [("Yes", math.log(0.4)), (" Yes", math.log(0.1)), ("No", math.log(0.2)), (" No", math.log(0.05))]
    assert match([*told, ("yes", -1.0), ("Yesterday", -1.0)], wanted) == pytest.approx(0.5 / 0.75)
    assert match(told[:2], wanted) == 1
