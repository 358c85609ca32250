"""`figlang_openai`: scores by an API's logprobs, against a server with the demo model behind it.

The demo model begins every answer with "The". Among its 20 most probable first tokens are " image", " bridge" and
" anchor" too, which serve as the words here; "Yes" and "No" are not among them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pyarrow.parquet
import pytest
from demo_runs import DEMO, answers, evaluate
from openai_server import OpenAIServer

from figlang_tasks import FigLangError
from figlang_tasks.core.score_requests import ScoreRequest, read_answer
from figlang_tasks.mini import DATA_DIR
from figlang_tasks.models.openai_scores import OpenAIScoresError, match

ROWS = 3
# What each task asks for. All tasks lie in one folder, since reading task files takes seconds.
SCORES: dict[str, dict[str, Any] | None] = {
    "words": None,
    "match": {"kind": "match", "yes": "image", "no": "bridge"},
    "match_exact": {"kind": "match", "yes": " image", "no": " bridge"},
    "match_one": {"kind": "match", "yes": "The", "no": "No"},
    "match_none": {"kind": "match"},
    "match_same": {"kind": "match", "yes": "Yes", "no": " Yes"},
    "candidates": {"kind": "candidates", "candidates": ["The", "image"]},
}
TASK = """
task: api_{name}
dataset_path: json
dataset_kwargs: {{data_files: {{test: rows.jsonl}}}}
test_split: test
output_type: generate_until
doc_to_text: "Does it match? {{{{claim}}}}"
doc_to_target: claim
doc_to_visual: !function functions.doc_to_visual
doc_to_messages: !function functions.doc_to_messages
process_results: !function functions.process_results
num_fewshot: 0
generation_kwargs: {{max_new_tokens: 4, num_beams: 1, do_sample: false, temperature: 0, until: []{score}}}
metric_list:
  - {{metric: seen, aggregation: mean, higher_is_better: true}}
"""
FUNCTIONS = """
from PIL import Image

def doc_to_visual(doc):
    return [Image.open(path).convert("RGB") for path in doc["pictures"]]

def doc_to_messages(doc, lmms_eval_specific_kwargs=None):
    images = [{"type": "image", "url": image} for image in doc_to_visual(doc)]
    return [{"role": "user", "content": [*images, {"type": "text", "text": "Does it match? " + doc["claim"]}]}]

def process_results(doc, results):
    return {"seen": 1.0}
"""


@pytest.fixture(scope="module")
def tasks(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder of tasks on pictures of figlang_mini, one or two for each claim."""
    folder = tmp_path_factory.mktemp("scored")
    rows = pyarrow.parquet.read_table(next(DATA_DIR.rglob("test-*.parquet"))).slice(0, ROWS + 1).to_pylist()
    pictures = [folder / f"{i}.png" for i in range(len(rows))]
    for path, row in zip(pictures, rows, strict=True):
        path.write_bytes(row["image"]["bytes"])
    docs = [
        {"claim": rows[i]["claim"], "pictures": [str(path) for path in pictures[i : i + 1 + i % 2]]}
        for i in range(ROWS)
    ]
    (folder / "rows.jsonl").write_text("".join(json.dumps(doc) + "\n" for doc in docs))
    (folder / "functions.py").write_text(FUNCTIONS)
    for name, score in SCORES.items():
        given = f", figlang_score: {json.dumps(score)}" if score else ""
        (folder / f"api_{name}.yaml").write_text(TASK.format(name=name, score=given))
    return str(folder)


@pytest.fixture
def ask(server: OpenAIServer, tasks: str) -> Callable[..., list[str]]:
    """The answers to a task by the server."""

    def ask(name: str, more: str = "", model: str = "figlang_openai") -> list[str]:
        arguments = f"model_version={server.name},base_url={server.url},api_key=none,retry_backoff_s=0.1{more}"
        return _run(name, tasks, model, arguments)

    return ask


def _run(name: str, tasks: str, model: str, model_args: str) -> list[str]:
    results = evaluate(f"api_{name}", model, model_args, include_path=tasks)
    return list(answers(results, f"api_{name}").values())


def scores(outputs: list[str]) -> list[list[float]]:
    found = [read_answer(output) for output in outputs]
    return [values for values in found if values is not None]


@pytest.fixture
def by_vlm(tasks: str) -> Callable[[str], list[str]]:
    """The answers to a task by the same model in this process."""
    return lambda name: _run(name, tasks, "figlang_vlm", f"{DEMO},device=cpu")


def test_match_is_that_of_the_same_model_in_process(server: OpenAIServer, ask: Callable, by_vlm: Callable) -> None:
    # With a space, figlang_vlm counts the tokens " image" and " bridge" alone. Without, it would also count "im" and
    # "b", with which the words begin when no space precedes them. Their probabilities are below the 20 that the API
    # tells of, and would move these scores by up to 0.005.
    found, expected = scores(ask("match", ",num_concurrent=2")), scores(by_vlm("match_exact"))
    assert [len(values) for values in found] == [1, 2, 1]
    assert sum(found, []) == pytest.approx(sum(expected, []), abs=1e-3)
    assert len({round(value, 3) for value in sum(found, [])}) == 4 and all(0.05 < v < 0.95 for v in sum(found, []))
    assert [request.images for request in server.requests] == [1] * 4
    body = server.requests[0].body
    assert [part["type"] for part in body["messages"][0]["content"]] == ["image_url", "text"]
    settings = {name: body[name] for name in ("max_tokens", "temperature", "logprobs", "top_logprobs")}
    assert settings == {"max_tokens": 1, "temperature": 0, "logprobs": True, "top_logprobs": 20}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("match_none", "neither 'Yes' nor 'No' is among the first tokens: 'The' -0.00"),
        ("match_same", "are the same"),
        ("candidates", "no log-probabilities of candidates"),
    ],
)
def test_what_the_api_does_not_tell_ends_the_run(name: str, message: str, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match=f"task api_{name}, doc 0: ValueError: .*{message}"):
        ask(name, ",num_concurrent=1")


def test_one_missing_word_is_counted(ask: Callable, warnings_of_loguru: list[str]) -> None:
    found = scores(ask("match_one"))
    assert found == [[1.0], [1.0, 1.0], [1.0]]
    [line] = [line for line in warnings_of_loguru if "figlang_openai" in line]
    assert "for 4 images one word of a match" in line and "error of these scores is up to" in line


@pytest.mark.parametrize("server", [{"logprobs": False}], indirect=True)
def test_a_server_without_logprobs(server: OpenAIServer, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match="task api_match, doc 0: .*gives no logprobs.*vllm serve"):
        ask("match", ",num_concurrent=1")


# In a row, so that the OpenAI client (two retries of its own) gives up and the class has to try again.
@pytest.mark.parametrize("server", [{"faults": ["429"] * 3 + ["drop"]}], indirect=True)
def test_refusals_and_dropped_connections_are_tried_again(server: OpenAIServer, ask: Callable) -> None:
    found = scores(ask("match", ",num_concurrent=1"))
    assert [len(values) for values in found] == [1, 2, 1]
    assert [request.status for request in server.requests] == [429] * 3 + [None] + [200] * 4


@pytest.mark.parametrize("server", [{"faults": ["drop"] * 30}], indirect=True)
def test_a_request_that_fails_to_the_end_ends_the_run(server: OpenAIServer, ask: Callable) -> None:
    with pytest.raises(OpenAIScoresError, match="doc 0: APIConnectionError"):
        ask("match", ",num_concurrent=1,max_retries=1")
    with pytest.raises(FigLangError, match=r"NotFoundError: .*'other' does not exist.* \(see model=, base_url="):
        server.next_fault = lambda: "ok"  # type: ignore[method-assign]
        ask("match", ",num_concurrent=1,model=other")


def test_requests_for_words_are_those_of_the_harness(server: OpenAIServer, ask: Callable) -> None:
    ours = ask("words", ",num_concurrent=1")
    sent = [request.body for request in server.requests]
    assert ours == ask("words", ",num_concurrent=1", model="openai")
    assert [request.body for request in server.requests] == sent * 2
    assert len(sent) == ROWS and "logprobs" not in sent[0] and all(ours)


def test_tokens_of_both_spellings_count() -> None:
    wanted = ScoreRequest(kind="match")
    told = [("Yes", math.log(0.4)), (" Yes", math.log(0.1)), ("No", math.log(0.2)), (" No", math.log(0.05))]
    assert match([*told, ("yes", -1.0), ("Yesterday", -1.0)], wanted).score == pytest.approx(0.5 / 0.75)
    assert match([*told, ("yes", -1.0)], wanted).error == 0
    one = match(told[:2], wanted)
    assert one == (1.0, pytest.approx(0.2 / 0.7))
