"""Renders the Jinja templates under ``prompts/``: every word that a model reads is there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from figlang_tasks import resource_dir

if TYPE_CHECKING:
    from PIL import Image


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(resource_dir("prompts")),
        undefined=StrictUndefined,
        autoescape=False,  # plain text for models, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def render(template: str, **values: Any) -> str:
    """Render ``prompts/<template>``, for example ``render("vflute/question.jinja", claim=...,
    instruction=3)``.
    """
    return _environment().get_template(template).render(**values)


def prompt_hash(benchmark: str) -> str:
    """The first 12 hex digits of the SHA-256 over all templates of a benchmark."""
    digest = hashlib.sha256()
    for path in sorted((resource_dir("prompts") / benchmark).glob("*.jinja")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def user_turn(pictures: Sequence[Image.Image], text: str) -> dict[str, Any]:
    """A chat turn of the user: the pictures, then the text."""
    shown = [{"type": "image", "url": picture} for picture in pictures]
    return {"role": "user", "content": [*shown, {"type": "text", "text": text}]}


def turn_with_pictures_inside(pictures: Sequence[Image.Image], text: str) -> dict[str, Any]:
    """A chat turn of the user: each picture in place of an ``<image>`` of the text; before a text
    that has none.
    """
    parts = text.split("<image>") if pictures else [text]
    if len(parts) == 1:
        parts = [""] * len(pictures) + parts
    content: list[dict[str, Any]] = []
    for part, picture in zip(parts, [*pictures, None], strict=True):
        content += [{"type": "text", "text": part}] if part.strip() else []
        content += [{"type": "image", "url": picture}] if picture is not None else []
    return {"role": "user", "content": content}
