"""If these fail, intervals and tests of differences are computed from wrong sums."""

from __future__ import annotations

import numpy as np
import pytest

from figlang_tasks.metrics import resampling
from figlang_tasks.metrics.array_types import Floats
from figlang_tasks.metrics.resampling import RowSums, draw_units

UNITS = 60
RNG = np.random.default_rng(0)
LABELS = RNG.integers(0, 2, size=(UNITS, 3)).astype(np.float64)
MANY_COUNTS = RNG.integers(0, 1000, size=(UNITS, 4)).astype(np.float64)
"""Whole numbers of which no two rows are equal."""
SCORES = RNG.random((UNITS, 2))
LARGE_COUNTS = LABELS + 2.0**52
"""Whole numbers whose sums are not exact."""

TABLES = [LABELS, MANY_COUNTS, SCORES, LARGE_COUNTS]


@pytest.mark.parametrize("tables", [TABLES, [LABELS], [LABELS, SCORES], [LABELS, LARGE_COUNTS]])
def test_sums_of_draws_are_those_of_the_drawn_rows(tables: list[Floats]) -> None:
    row_sums = RowSums(tables)
    [drawn_units] = draw_units(UNITS, resamples=20, rng=np.random.default_rng(1))
    sums_of_tables = row_sums.of_draws(drawn_units)
    for table, sums in zip(tables, sums_of_tables, strict=True):
        assert sums == pytest.approx(table[drawn_units].sum(axis=1), rel=1e-12)


@pytest.mark.parametrize("tables", [TABLES, [LABELS], [LABELS, SCORES], [LABELS, LARGE_COUNTS]])
def test_sums_of_swaps_are_those_of_units_that_stay_and_of_the_others(
    tables: list[Floats],
) -> None:
    is_swapped = np.random.default_rng(2).integers(0, 2, size=(20, UNITS), dtype=np.uint8)
    sums_of_kept, sums_of_swapped = RowSums(tables).of_swaps(is_swapped)
    for table, kept, swapped in zip(tables, sums_of_kept, sums_of_swapped, strict=True):
        assert swapped == pytest.approx(is_swapped.astype(float) @ table, rel=1e-12)
        assert kept == pytest.approx((1.0 - is_swapped) @ table, rel=1e-12)


def test_other_tables_change_no_bit() -> None:
    """Not even if a table is counted in one call and weighted in another."""
    [drawn_units] = draw_units(UNITS, resamples=20, rng=np.random.default_rng(1))
    together = RowSums(TABLES).of_draws(drawn_units)
    for table, sums in zip(TABLES, together, strict=True):
        [alone] = RowSums([table]).of_draws(drawn_units)
        assert np.array_equal(alone, sums)


def test_the_draws_of_all_blocks_are_those_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    [in_one_block] = draw_units(7, resamples=50, rng=np.random.default_rng(3))
    monkeypatch.setattr(resampling, "BLOCK", 30)
    blocks = list(draw_units(7, resamples=50, rng=np.random.default_rng(3)))
    assert len(blocks) > 1
    assert np.array_equal(np.concatenate(blocks), in_one_block)


@pytest.mark.filterwarnings("error")
def test_large_numbers_make_no_warning() -> None:
    [drawn_units] = draw_units(3, resamples=2, rng=np.random.default_rng(1))
    [sums] = RowSums([np.full((3, 1), 1e308)]).of_draws(drawn_units)
    assert np.isinf(sums).all()


def test_no_units_are_refused() -> None:
    with pytest.raises(ValueError):
        RowSums([np.empty((0, 2))])
