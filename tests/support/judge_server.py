"""A local OpenAI-compatible server whose answers a function of the test gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from openai_server import OpenAIServer, Refused, Reply, images_of
from PIL import Image

MODEL = "judge-1"


class JudgeServer(OpenAIServer):
    """The server; a context manager.

    Args:
        answer: what is said to a prompt and its pictures; None refuses, "" has no content.
    """

    def __init__(self, answer: Callable[[str, list[Image.Image]], str | None]) -> None:
        super().__init__(MODEL)
        self.answer = answer
        self.prompts: list[str] = []
        self.pictures: list[int] = []
        self.settings: dict[str, Any] = {}  # of the last request

    def reply(self, body: Mapping[str, Any]) -> Reply:
        pictures = images_of(body["messages"])
        self.settings = {name: value for name, value in body.items() if name != "messages"}
        (prompt,) = [
            part["text"] for part in body["messages"][-1]["content"] if part["type"] == "text"
        ]
        self.prompts.append(prompt)
        self.pictures.append(len(pictures))
        said = self.answer(prompt, pictures)
        if body["model"] != MODEL or said is None:
            raise Refused(400, "refused\x1b[31m")
        return Reply(said or None)
