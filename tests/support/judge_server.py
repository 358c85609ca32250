"""A local OpenAI-compatible server whose answers a function of the test gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any

from openai_server import images_of
from PIL import Image

MODEL = "judge-1"


class JudgeServer:
    """The server; a context manager.

    Args:
        answer: what is said to a prompt and its pictures; None refuses with status 500, "" has no content.
    """

    def __init__(self, answer: Callable[[str, list[Image.Image]], str | None]) -> None:
        self.answer = answer
        self.prompts: list[str] = []
        self.pictures: list[int] = []
        self.settings: dict[str, Any] = {}  # of the last request
        handler = type("Handler", (_Handler,), {"owner": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> JudgeServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    owner: JudgeServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # small answers would wait for the delayed acknowledgement of the client

    def do_GET(self) -> None:
        self._send(200, {"object": "list", "data": [{"id": MODEL, "object": "model"}]})

    def do_POST(self) -> None:
        body: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        pictures = images_of(body["messages"])
        self.owner.settings = {name: value for name, value in body.items() if name != "messages"}
        (prompt,) = [part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text"]
        self.owner.prompts.append(prompt)
        self.owner.pictures.append(len(pictures))
        said = self.owner.answer(prompt, pictures)
        if body["model"] != MODEL or said is None:
            self._send(400, {"error": {"message": "refused\x1b[31m", "type": "error", "code": "400"}})
            return
        message = {"role": "assistant", "content": said or None}
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        about = {"id": "chatcmpl-0", "object": "chat.completion", "created": 0, "model": f"{MODEL}-2026"}
        self._send(200, {**about, "choices": [choice], "usage": usage})

    def _send(self, status: int, value: dict[str, Any]) -> None:
        content = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:
        pass
