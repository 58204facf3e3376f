"""The types of arrays, one name for each kind of entry."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
"""Probabilities, weights, costs, and whatever else is measured."""
Singles = NDArray[np.float32]
"""Such figures where there are very many of them."""
Integers = NDArray[np.int64]
"""Places, counts, and the numbers of things."""
Codes = NDArray[np.int32]
"""Symbols and states, of which there are many."""
Flags = NDArray[np.bool_]
"""Which of some things are so."""
Bytes = NDArray[np.uint8]
