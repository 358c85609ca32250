"""Explanations judged by people, or by a language model in their place (V-FLUTE, arXiv 2405.01474, section 5)."""

from __future__ import annotations

from figlang_tasks.core.errors import FigLangError


class JudgeError(FigLangError):
    """A sheet, a key or a judge cannot be used; the message names the file and what to do."""
