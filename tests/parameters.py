"""Parameters of a test, of which ``make test`` takes some and ``make test-thorough`` the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def parameters(values: Iterable[Any], *, always: Collection[Any]) -> list[Any]:
    """Return all values as parameters; those that are not in ``always`` are marked ``thorough``."""
    given = list(values)
    unknown = [one for one in always if one not in given]
    assert not unknown, f"no parameters of this test: {unknown}"
    return [one if one in always else _thorough(one) for one in given]


def _thorough(value: Any) -> Any:
    marks = pytest.mark.thorough
    return pytest.param(*value, marks=marks) if isinstance(value, tuple) else pytest.param(value, marks=marks)
