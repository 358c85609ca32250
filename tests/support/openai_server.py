"""A local OpenAI-compatible server: /v1/chat/completions, answered by a model of this machine.

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
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from typing_extensions import Self
from vlm_requests import GREEDY, asked, made

from figlang_tasks.models.vlm import FigLangVLM

RETRY_AFTER = 0.1  # seconds; clients ignore 0


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
_model = lru_cache(maxsize=1)(lambda pretrained: FigLangVLM(pretrained, device="cpu"))


def answered(
    pretrained: str, messages: list[dict[str, Any]], max_tokens: int, top: int | None
) -> Reply:
    """What `figlang_vlm` says, with as many `top` log-probabilities of its first token; None leaves
    them out.
    """
    pictures = iter(images_of(messages))
    turns = [
        {
            "role": message["role"],
            "content": [
                {"type": "image", "url": next(pictures)} if part["type"] == "image_url" else part
                for part in _parts(message)
            ],
        }
        for message in messages
    ]
    with _ONE_AT_A_TIME:
        lm = _model(pretrained)
        (text,) = asked(lm, [turns], GREEDY | {"max_new_tokens": max_tokens})
        if top is None:
            return Reply(text)
        with torch.inference_mode():
            values = lm.model(**made(lm, turns)[1]).logits[0, -1].float().log_softmax(-1).topk(top)
    tokens = [
        {"token": word, "logprob": value, "bytes": list(word.encode())}
        for word, value in zip(
            map(lm.tokenizer.decode, values.indices[:, None]), values.values.tolist(), strict=True
        )
    ]
    return Reply(text, tokens[0] | {"top_logprobs": tokens})


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def images_of(messages: Iterable[Mapping[str, Any]]) -> list[Image.Image]:
    """Return the pictures of a conversation, in order."""
    urls = [
        part["image_url"]["url"]
        for message in messages
        for part in _parts(message)
        if part["type"] == "image_url"
    ]
    return [
        Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2]))).convert("RGB")
        for url in urls
    ]


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
        self._server = ThreadingHTTPServer(
            ("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self})
        )
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
        top = body.get("top_logprobs", 0) if body.get("logprobs") and self.logprobs else None
        return answered(self._pretrained, body["messages"], body["max_tokens"], top)

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
        texts = [part["text"] for part in _parts(body["messages"][-1]) if part["type"] == "text"]
        return Body(self._choose(" ".join(texts)))


class _Handler(BaseHTTPRequestHandler):
    owner: OpenAIServer
    protocol_version = "HTTP/1.1"
    # Without it small answers wait for the delayed acknowledgement of the client.
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        fault = self.owner.faults.popleft() if self.owner.faults else "ok"
        images = len(images_of(body["messages"]))
        said = {} if isinstance(fault, str) else fault
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
                self._answer(self.owner.reply(body), said)
            except Refused as error:
                self._error(*error.args)

    def _answer(self, reply: Reply | Body, said: Mapping[str, Any]) -> None:
        if isinstance(reply, Body):
            self._send_content(200, reply.content)
            return
        choice: dict[str, Any] = {"index": 0, "finish_reason": self.owner.finish_reason}
        choice["message"] = {"role": "assistant", "content": reply.text, **said}
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
