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
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from PIL import Image
from typing_extensions import Self

_LOADING = threading.Lock()  # transformers replaces functions of its own while it loads: in one thread at a time

RETRY_AFTER = 0.1  # seconds; clients ignore 0


@dataclass(frozen=True)
class LoggedRequest:
    """One request for a completion. `status` is None where there was no whole answer."""

    status: int | None
    images: int
    body: Mapping[str, Any]


@dataclass(frozen=True)
class Reply:
    """An answer: its text, the number of tokens of the prompt and of itself, its tokens as the protocol has them."""

    text: str | None
    prompt_tokens: int
    tokens: int
    logprobs: list[dict[str, Any]] | None = None


class Refused(Exception):
    """An answer with an error: its status, its message."""


class ChatModel:
    """A model of transformers that answers one conversation at a time, greedily."""

    def __init__(self, pretrained: str) -> None:
        from transformers import AutoModelForImageTextToText, AutoProcessor

        self._processor = AutoProcessor.from_pretrained(pretrained)
        self._model = AutoModelForImageTextToText.from_pretrained(pretrained, dtype="auto").eval()
        self._lock = threading.Lock()

    def reply(self, messages: list[dict[str, Any]], max_tokens: int, top: int | None = None) -> Reply:
        """Return the answer, with as many `top` log-probabilities for each of its tokens; None leaves them out."""
        pictures = images_of(messages)
        turns = [
            {
                "role": message["role"],
                "content": [
                    {"type": "image"} if part["type"] == "image_url" else {"type": "text", "text": part["text"]}
                    for part in _parts(message)
                ],
            }
            for message in messages
        ]
        text = self._processor.apply_chat_template(turns, tokenize=False, add_generation_prompt=True)
        inputs = self._processor(images=pictures or None, text=text, return_tensors="pt").to(dtype=self._model.dtype)
        end = self._processor.tokenizer.eos_token_id
        with self._lock:
            output = self._model.generate(
                **inputs,
                do_sample=False,
                num_beams=1,
                max_new_tokens=max_tokens,
                pad_token_id=end,
                eos_token_id=end,
                output_logits=True,
                return_dict_in_generate=True,
            )
        prompt_length = inputs["input_ids"].shape[1]
        answer = output.sequences[0, prompt_length:].tolist()
        logprobs = None
        if top is not None:
            steps = zip(answer, output.logits, strict=True)
            logprobs = [self._logprob(token, logits[0].float().log_softmax(-1), top) for token, logits in steps]
        text = self._processor.tokenizer.decode(answer, skip_special_tokens=True)
        return Reply(text, prompt_length, len(answer), logprobs)

    def _logprob(self, token: int, values: Any, top: int) -> dict[str, Any]:
        def entry(index: int) -> dict[str, Any]:
            text = self._processor.tokenizer.decode([index])
            return {"token": text, "logprob": values[index].item(), "bytes": list(text.encode())}

        return entry(token) | {"top_logprobs": [entry(index) for index in values.topk(top).indices.tolist()]}


chat_model = lru_cache(maxsize=1)(ChatModel)


def _parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def images_of(messages: Iterable[Mapping[str, Any]]) -> list[Image.Image]:
    """Return the pictures of a conversation, in order."""
    urls = [part["image_url"]["url"] for message in messages for part in _parts(message) if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition("base64,")[2]))).convert("RGB") for url in urls]


class OpenAIServer:
    """The server; a context manager.

    Args:
        pretrained: model to serve.
        faults: what happens to the first requests for a completion, one after the other: "429" refuses with
            Retry-After, "drop" closes the connection without an answer, "hang" never answers, "ok" answers; a
            mapping stands in the message of an answer.
        logprobs: False leaves them out where they are asked for, as some servers do.
    """

    def __init__(
        self, pretrained: str | Path, faults: Iterable[str | Mapping[str, Any]] = (), logprobs: bool = True
    ) -> None:
        self.name = Path(pretrained).name
        self.logprobs = logprobs
        self.requests: list[LoggedRequest] = []
        self.faults = deque(faults)
        self.ended = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"owner": self}))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._pretrained = str(pretrained)

    def reply(self, body: Mapping[str, Any]) -> Reply:
        """Return the answer to a request; override it for other answers.

        Raises:
            Refused: the request gets an error.
        """
        if body["model"] != self.name:
            raise Refused(404, f"The model {body['model']!r} does not exist")
        top = body.get("top_logprobs", 0) if body.get("logprobs") and self.logprobs else None
        with _LOADING:
            model = chat_model(self._pretrained)
        return model.reply(body["messages"], body["max_tokens"], top)

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

    def _answer(self, reply: Reply, said: Mapping[str, Any]) -> None:
        choice: dict[str, Any] = {"index": 0, "finish_reason": "stop"}
        choice["message"] = {"role": "assistant", "content": reply.text, **said}
        choice["logprobs"] = reply.logprobs and {"content": reply.logprobs, "refusal": None}
        usage = {"prompt_tokens": reply.prompt_tokens, "completion_tokens": reply.tokens}
        usage["total_tokens"] = reply.prompt_tokens + reply.tokens
        answer = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": f"{self.owner.name}-2026"}
        self._send(200, {**answer, "choices": [choice], "usage": usage})

    def _error(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        self._send(status, {"error": {"message": message, "type": "error", "code": str(status)}}, headers)

    def _send(self, status: int, value: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        for name, text in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, text)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
