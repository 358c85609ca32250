"""Renders the Jinja templates of benchmarks: every word that a model reads is there."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from jinja2 import (
    BaseLoader,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
)

from figlang_tasks import resource_dir
from figlang_tasks.core.homes import foreign_homes

if TYPE_CHECKING:
    from PIL import Image


ChatTurn: TypeAlias = dict[str, Any]
"""A turn of a chat, as lmms-eval takes it from ``doc_to_messages``.

``role`` says whose turn it is. ``content`` is a list of texts, ``{"type": "text", "text": ...}``,
and pictures, ``{"type": "image", "url": PICTURE}``.
"""


@cache
def _environment() -> Environment:
    """The settings of Jinja, which are a part of what the templates mean."""
    foreign_loaders: dict[str, BaseLoader] = {}
    for home in foreign_homes().values():
        foreign_loaders[home.name] = FileSystemLoader(home.prompts)
    return Environment(
        loader=ChoiceLoader(
            [FileSystemLoader(resource_dir("prompts")), PrefixLoader(foreign_loaders)]
        ),
        undefined=StrictUndefined,
        autoescape=False,  # plain text for models, not HTML
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )


def render(template: str, **values: object) -> str:
    """Render a template of a benchmark.

    For example ``render("vflute/question.jinja", claim=..., instruction=3)``.
    """
    return _environment().get_template(template).render(**values)


def prompt_hash(benchmark: str) -> str:
    """The first 12 hex digits of the SHA-256 over all templates of a benchmark."""
    folder = resource_dir("prompts") / benchmark
    if benchmark in foreign_homes():
        folder = foreign_homes()[benchmark].prompts
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.jinja")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def template_hash(*templates: str) -> str:
    """The first 12 hex digits of the SHA-256 over some templates, named as for `render`."""
    digest = hashlib.sha256()
    for template in templates:
        path = _environment().get_template(template).filename
        assert path is not None  # all loaders read files
        digest.update(template.encode() + b"\0" + Path(path).read_bytes() + b"\0")
    return digest.hexdigest()[:12]


def user_turn(pictures: Sequence[Image.Image], text: str) -> ChatTurn:
    """A chat turn of the user: the pictures, then the text."""
    content: list[dict[str, object]] = []
    for picture in pictures:
        content.append({"type": "image", "url": picture})
    content.append({"type": "text", "text": text})
    return {"role": "user", "content": content}


def turn_with_pictures_inside(pictures: Sequence[Image.Image], text: str) -> ChatTurn:
    """A user's turn with pictures in place of ``<image>``; without any, the pictures come first.

    Args:
        pictures: as many as the text has ``<image>``, or any number if it has none.
        text: the text; it is left as it is if there are no pictures.

    Raises:
        ValueError: the text has ``<image>``, and there are pictures, but not as many.
    """
    pieces = text.split("<image>") if pictures else [text]
    if len(pieces) == 1:
        pieces = [""] * len(pictures) + pieces
    content: list[dict[str, object]] = []
    # No picture follows the last piece of text.
    for piece, picture in zip(pieces, [*pictures, None], strict=True):
        if piece.strip():
            content.append({"type": "text", "text": piece})
        if picture is not None:
            content.append({"type": "image", "url": picture})
    return {"role": "user", "content": content}
