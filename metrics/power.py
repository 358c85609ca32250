"""The smallest difference between two systems that a test can find."""

from __future__ import annotations

import math

ALPHA = 0.05
"""The level of the two-sided test that `smallest_difference` is made for."""

POWER = 0.8
"""In which share of samples that test finds the smallest detectable difference."""

TOO_FEW = 8
"""Units that must differ for a `Comparison.smallest_detectable`.

With fewer, that of a share would exceed the share of rows that differ at all,
(1.96 + 0.84)**2 = 7.8 being where the two meet.
"""


def smallest_difference(error: float, units: int, difference: float = 0.0) -> float:
    """The smallest true difference that a test finds in four of five samples (p < .05, two-sided).

    The samples are of the size of the observed one. With z the quantiles of the normal
    distribution for 97.5 % and 80 %, it is the d that solves Connor's equation::

        d = z_975 * sqrt(V) + z_80 * sqrt(V - d**2 / units)
        V = error**2 + difference**2 / units

    For a share of rows, V is the share of rows that one system alone has right, by the number of
    rows. Other metrics, and units of several rows, behave alike up to the curvature of the metric:
    ``error**2`` is their variance where the systems differ by `difference`, and V that where they
    are equal, which the test is made for.

    Args:
        error: the standard error of the paired difference, not negative.
        units: the number of units that it was taken over, at least 1.
        difference: the observed difference between the systems that `error` belongs to.

    Returns:
        The difference on the metric's own scale, at least 0.

    Raises:
        ValueError: an error or a difference that is not finite, a negative error, or no units.

    Examples:
        100 rows, of which one system alone has every fifth right, cannot show three points:

        >>> round(smallest_difference(math.sqrt(0.2 / 100), 100), 3)
        0.124

    Source: Connor 1987.
    """
    from scipy import special

    if not (math.isfinite(error) and error >= 0 and math.isfinite(difference) and units >= 1):
        raise ValueError(
            f"error is {error}, difference {difference}, units {units}: give finite numbers, and a"
            " unit"
        )
    variance = error**2 + difference**2 / units
    z_alpha = float(special.ndtri(1 - ALPHA / 2))
    z_power = float(special.ndtri(POWER))
    # Systems that differ vary less than equal ones: the equation is quadratic in d.
    shrinkage = 1 + z_power**2 / units
    root = math.sqrt(z_alpha**2 - shrinkage * (z_alpha**2 - z_power**2))
    return math.sqrt(variance) * (z_alpha + root) / shrinkage
