"""One requirement of a table, and whether it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One requirement: what was observed, what is required, and in words what it is about."""

    name: str
    passed: bool
    observed: Any
    required: Any
    about: str
