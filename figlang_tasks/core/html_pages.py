"""What all HTML pages of this package share: how they look, and what their browsers may load."""

from __future__ import annotations

import base64
import hashlib
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

_STYLE_FILE = Path(__file__).resolve().parent / "page_style.css"


def page_environment(folder: Path) -> Environment:
    """A Jinja environment for the templates of a page, which escapes every text.

    Args:
        folder: of the templates.
    """
    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def shared_style() -> str:
    """The style sheet of all pages: colours, headings, tables, filters; a page adds its own."""
    return _STYLE_FILE.read_text(encoding="utf-8")


def content_security_policy(style: str, script: str) -> str:
    """A policy that allows nothing but data pictures, the style sheet and the script.

    Args:
        style, script: the whole text of the only style sheet and of the only script of the page.
    """
    return (
        f"default-src 'none'; img-src data:; style-src {_digest(style)}; script-src"
        f" {_digest(script)}; base-uri 'none'; form-action 'none'"
    )


def _digest(text: str) -> str:
    """The SHA-256 of a text, as a Content-Security-Policy names what it allows."""
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode("ascii")
    return f"'sha256-{digest}'"
