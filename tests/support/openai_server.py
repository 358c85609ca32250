"""Local OpenAI-compatible servers of /v1/chat/completions: a model, fixed bodies or a test answers.

Pictures arrive as base64 data URLs, as the harness's API classes send them::

    with OpenAIServer(DEMO_MODEL_DIR, faults=["429", "drop"]) as server:
        ...  # base_url=server.url
        assert [request.status for request in server.requests] == [429, None, 200]
"""

from __future__ import annotations

import base64
import io
import json
import socket
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
import torch
from hub_server import QuietServer
from PIL import Image
from typing_extensions import Self
from vlm_requests import GREEDY, asked, made

from figlang_tasks.models.vlm import FigLangVLM

RETRY_AFTER = 0.1  # seconds; clients ignore 0
JUDGE_MODEL = "judge-1"
"""The model that a `JudgeServer` serves."""


def without_proxies(patch: pytest.MonkeyPatch) -> None:
    """Unset the variables that name a proxy, which could not reach a local server."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        patch.delenv(name, raising=False)
        patch.delenv(name.lower(), raising=False)


@dataclass(frozen=True)
class LoggedRequest:
    """One request for a completion. `status` is None where there was no whole answer."""

    status: int | None
    images: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """An answer: its text, and its first token as the protocol has it."""

    text: str | None
    first: dict[str, Any] | None = None


@dataclass(frozen=True)
class Body:
    """An answer as it is sent, whatever it is."""

    content: bytes


class Refused(Exception):
    """An answer with an error: its status, its message."""


_ONE_AT_A_TIME = threading.Lock()


@lru_cache(maxsize=1)
def _model(pretrained: str) -> FigLangVLM:
    return FigLangVLM(pretrained, device="cpu")


def answer_by_model(
    pretrained: str, messages: list[dict[str, Any]], max_tokens: int, top: int | None
) -> Reply:
    """The answer of `figlang_vlm` to a conversation.

    Args:
        pretrained: the model.
        messages: the conversation.
        max_tokens: the most tokens of the answer.
        top: how many log-probabilities of the first token the reply has; None leaves them out.
    """
    pictures = iter(images_of(messages))
    turns: list[dict[str, Any]] = []
    for message in messages:
        content: list[dict[str, Any]] = []
        for part in _parts(message):
            if part["type"] == "image_url":
                content.append({"type": "image", "url": next(pictures)})
            else:
                content.append(part)
        turns.append({"role": message["role"], "content": content})

    with _ONE_AT_A_TIME:
        lm = _model(pretrained)
        (text,) = asked(lm, [turns], GREEDY | {"max_new_tokens": max_tokens})
        if top is None:
            return Reply(text)
        _, inputs = made(lm, turns)
        with torch.inference_mode():
            logits = lm.model(**inputs).logits[0, -1]
        likeliest = logits.float().log_softmax(-1).topk(top)

    tokens: list[dict[str, Any]] = []
    for index, logprob in zip(likeliest.indices, likeliest.values.tolist(), strict=True):
        word = lm.tokenizer.decode([index])
        tokens.append({"token": word, "logprob": logprob, "bytes": list(word.encode())})
    return Reply(text, tokens[0] | {"top_logprobs": tokens})


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a message; a text alone is one part."""
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _texts(message: Mapping[str, Any]) -> list[str]:
    return [part["text"] for part in _parts(message) if part["type"] == "text"]


def images_of(messages: Iterable[Mapping[str, Any]]) -> list[Image.Image]:
    """Return the pictures of a conversation, in order."""
    images: list[Image.Image] = []
    for message in messages:
        for part in _parts(message):
            if part["type"] == "image_url":
                _, _, encoded = part["image_url"]["url"].partition("base64,")
                content = io.BytesIO(base64.b64decode(encoded))
                images.append(Image.open(content).convert("RGB"))
    return images


class OpenAIServer:
    """The server; a context manager.

    Args:
        pretrained: model to serve.
        faults: what happens to the first requests for a completion, one after the other: "429"
            refuses with Retry-After, "drop" closes the connection without an answer, "hang" never
            answers, "ok" answers; a mapping stands in the message of an answer.
        logprobs: False leaves them out where they are asked for, as some servers do.
    """

    def __init__(
        self,
        pretrained: str | Path,
        faults: Iterable[str | Mapping[str, Any]] = (),
        logprobs: bool = True,
    ) -> None:
        self.name = Path(pretrained).name
        self.logprobs = logprobs
        self.requests: list[LoggedRequest] = []
        self.faults = deque(faults)
        self.finish_reason = "stop"
        self.ended = threading.Event()
        self._server = QuietServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )
        self._pretrained = str(pretrained)

    def reply(self, body: Mapping[str, Any]) -> Reply | Body:
        """Return the answer to a request; override it for other answers.

        Raises:
            Refused: the request gets an error.
        """
        if body["model"] != self.name:
            raise Refused(404, f"The model {body['model']!r} does not exist")
        top = None
        if body.get("logprobs") and self.logprobs:
            top = body.get("top_logprobs", 0)
        return answer_by_model(self._pretrained, body["messages"], body["max_tokens"], top)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class BodiesServer(OpenAIServer):
    """A server that sends bodies as they are.

    Args:
        choose: the body for the text of a request.
    """

    def __init__(self, choose: Callable[[str], bytes]) -> None:
        super().__init__("served-model")
        self._choose = choose

    def reply(self, body: Mapping[str, Any]) -> Body:
        return Body(self._choose(" ".join(_texts(body["messages"][-1]))))


class JudgeServer(OpenAIServer):
    """A server whose answers a function of the test gives.

    Args:
        answer: the answer to a prompt and its pictures; None refuses, "" has no content.
    """

    def __init__(self, answer: Callable[[str, list[Image.Image]], str | None]) -> None:
        super().__init__(JUDGE_MODEL)
        self.answer = answer
        self.prompts: list[str] = []
        self.pictures: list[int] = []
        self.settings: dict[str, Any] = {}  # of the last request

    def reply(self, body: Mapping[str, Any]) -> Reply:
        pictures = images_of(body["messages"])
        self.settings = {name: value for name, value in body.items() if name != "messages"}
        (prompt,) = _texts(body["messages"][-1])
        self.prompts.append(prompt)
        self.pictures.append(len(pictures))
        text = self.answer(prompt, pictures)
        if body["model"] != JUDGE_MODEL or text is None:
            raise Refused(400, "refused\x1b[31m")
        return Reply(text or None)


class _Handler(BaseHTTPRequestHandler):
    owner: OpenAIServer
    protocol_version = "HTTP/1.1"
    # Without it small answers wait for the delayed acknowledgement of the client.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.owner.faults.popleft() if self.owner.faults else "ok"
        images = len(images_of(body["messages"]))
        fields_of_message = {} if isinstance(fault, str) else fault
        status = {"429": 429, "drop": None, "hang": None}.get(str(fault), 200)
        self.owner.requests.append(LoggedRequest(status, images, body))
        if fault == "hang":
            self.owner.ended.wait()
        elif status is None:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif status == 429:
            self._error(429, "Rate limit reached for requests", {"Retry-After": str(RETRY_AFTER)})
        else:
            try:
                self._answer(self.owner.reply(body), fields_of_message)
            except Refused as error:
                self._error(*error.args)

    def _answer(self, reply: Reply | Body, fields_of_message: Mapping[str, Any]) -> None:
        if isinstance(reply, Body):
            self._send_content(200, reply.content)
            return
        choice: dict[str, Any] = {"index": 0, "finish_reason": self.owner.finish_reason}
        choice["message"] = {"role": "assistant", "content": reply.text, **fields_of_message}
        choice["logprobs"] = reply.first and {"content": [reply.first], "refusal": None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {
            "id": "chatcmpl-0",
            "object": "chat.completion",
            "created": 0,
            "model": f"{self.owner.name}-2026",
        }
        self._send(200, {**answer, "choices": [choice], "usage": usage})

    def _error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(
            status, {"error": {"message": message, "type": "error", "code": str(status)}}, headers
        )

    def _send(
        self, status: int, value: Mapping[str, Any], headers: Mapping[str, str] | None = None
    ) -> None:
        self._send_content(status, json.dumps(value).encode(), headers)

    def _send_content(
        self, status: int, content: bytes, headers: Mapping[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
