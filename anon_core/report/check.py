"""One requirement of a table, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """
    One requirement: what was observed, what is required, and in words what it is about.

    ``column`` is there where it is required of one column, ``measured`` is false where it could not be looked at, and
    ``waived_by`` names who lets it fail.
    """

    name: str
    passed: bool
    observed: Any
    required: Any
    about: str
    column: str | None = None
    measured: bool = True
    waived_by: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it stands in nobody's way: passed, or waived by a person."""
        return self.passed or self.waived_by is not None
