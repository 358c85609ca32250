"""The paper's categories for generated pictures, and its table of them (arXiv 2303.15445, section
4.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from figlang_tasks.core.optional_modules import Sorting

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "figurative": ("figurative", "f"),
    "figurative+literal": ("figurative+literal", "figurative literal", "fl", "f+l"),
    "literal": ("literal", "l"),
    "partial literal": ("partial literal", "partial", "pl", "p"),
    "none": ("none", "n"),
}
"""Of section 3, each with the cells that mean it."""


def _published(system: str, asked: str, pictures: int, *shares: float) -> dict[str, Any]:
    return {
        "system": system,
        "input": asked,
        "pictures": pictures,
        "categories": dict(zip(CATEGORIES, shares, strict=True)),
    }


TABLE_9: Mapping[str, Any] = {
    "source": "IRFL, arXiv 2303.15445, Table 9: 15 idioms, as the page images of version 1 have it",
    "rows": [
        _published("DALL-E", "idiom", 48, 0, 0, 0.31, 0.48, 0.19),
        _published("DALL-E", "definition", 120, 0.425, 0.1, 0, 0.02, 0.44),
        _published("Stable Diffusion", "idiom", 59, 0, 0.05, 0.17, 0.42, 0.27),
        _published("Stable Diffusion", "definition", 118, 0.11, 0.01, 0, 0.025, 0.85),
        _published("IRFL's search", "idiom", 69, 0.04, 0.2, 0.35, 0.23, 0.04),
        _published("IRFL's search", "definition", 126, 0.46, 0.06, 0, 0.015, 0.43),
    ],
}
"""Shares of all pictures of a row: they sum to less than 1."""

SORTING = Sorting(
    task="irfl_generate",
    inputs=("idiom", "definition"),
    categories=CATEGORIES,
    prompts="figlang_tasks.benchmarks.irfl.generate",
    published=TABLE_9,
)
