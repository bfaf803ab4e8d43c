"""Both ways to do the inner loops, so that tests can hold one against the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

from anon_core.kernels import effort

TIERS = ("numpy", "compiled")


@contextmanager
def tier(name: str) -> Iterator[None]:
    """Do all loops in numpy, or all in compiled code, whatever the size and whatever is loaded."""
    if name == "compiled":
        with mock.patch.multiple(effort, MIN_LARGE_ROWS=0, MAX_CODES_IN_NUMPY=0):
            yield
    else:
        with mock.patch.multiple(effort, MIN_LARGE_ROWS=2**62, MAX_CODES_IN_NUMPY=2**62, _COMPILED="nothing"):
            yield
