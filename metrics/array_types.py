"""Types of arrays."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

Floats: TypeAlias = npt.NDArray[np.float64]
"""An array of numbers with 64 bits."""

Integers: TypeAlias = npt.NDArray[np.integer[Any]]
"""An array of whole numbers of any type."""

Bits: TypeAlias = npt.NDArray[np.uint8]
"""An array of zeros and ones."""
