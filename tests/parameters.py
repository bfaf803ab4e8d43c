"""Parameters of a test, of which ``make test`` takes some and ``make test-thorough`` the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def parameters(values: Iterable[Any], *, always: Collection[Any]) -> list[Any]:
    """Return all values of one parameter; those that are not in ``always`` are marked ``thorough``."""
    given = list(values)
    unknown = [one for one in always if one not in given]
    assert not unknown, f"no parameters of this test: {unknown}"
    return [one if one in always else pytest.param(one, marks=pytest.mark.thorough) for one in given]
