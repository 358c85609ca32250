"""The categories into which people sort generated pictures, and the paper's figures for them.

Sources: IRFL (arXiv 2303.15445), section 3 and Table 1 for the categories, section 4.3 and Table 9
for the figures.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict

from figlang_tasks.core.optional_modules import Sorting

CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "figurative": ("figurative", "f"),
    "figurative+literal": ("figurative+literal", "figurative literal", "fl", "f+l"),
    "literal": ("literal", "l"),
    "partial literal": ("partial literal", "partial", "pl", "p"),
    "none": ("none", "n"),
}
"""The categories of section 3, each with the cells of a sheet that mean it."""


class SystemShares(TypedDict):
    """A row of Table 9.

    Attributes:
        system: what made or found the pictures.
        input: what the prompts were: ``idiom``, or ``definition`` of an idiom.
        pictures: how many pictures were sorted.
        categories: the share of pictures by category, 0 to 1.
    """

    system: str
    input: str
    pictures: int
    categories: dict[str, float]


def _row_of_table_9(system: str, prompt_input: str, pictures: int, *shares: float) -> SystemShares:
    """A row of Table 9; `shares` are in the order of `CATEGORIES`."""
    share_by_category = dict(zip(CATEGORIES, shares, strict=True))
    return SystemShares(
        system=system, input=prompt_input, pictures=pictures, categories=share_by_category
    )


TABLE_9: Mapping[str, Any] = {
    "source": "IRFL, arXiv 2303.15445, Table 9: 15 idioms, as the page images of version 1 have it",
    "rows": [
        _row_of_table_9("DALL-E", "idiom", 48, 0, 0, 0.31, 0.48, 0.19),
        _row_of_table_9("DALL-E", "definition", 120, 0.425, 0.1, 0, 0.02, 0.44),
        _row_of_table_9("Stable Diffusion", "idiom", 59, 0, 0.05, 0.17, 0.42, 0.27),
        _row_of_table_9("Stable Diffusion", "definition", 118, 0.11, 0.01, 0, 0.025, 0.85),
        _row_of_table_9("IRFL's search", "idiom", 69, 0.04, 0.2, 0.35, 0.23, 0.04),
        _row_of_table_9("IRFL's search", "definition", 126, 0.46, 0.06, 0, 0.015, 0.43),
    ],
}
"""Table 9. The shares of a row sum to less than 1, as printed."""

SORTING = Sorting(
    task="irfl_generate",
    inputs=("idiom", "definition"),
    categories=CATEGORIES,
    prompts="figlang_tasks.benchmarks.irfl.generate",
    published=TABLE_9,
)
