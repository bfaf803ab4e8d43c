"""What two ways to judge a table must agree on."""

from __future__ import annotations

from typing import Any

from anon_core.models import Measurement


def figures(one: Measurement) -> tuple[Any, ...]:
    return one.passed, "none" if one.observed is None else one.observed, one.required
