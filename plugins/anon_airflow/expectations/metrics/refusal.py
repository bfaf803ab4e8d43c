"""A refusal: what a metric returns instead of a figure, with a reason in our own words.

Great Expectations copies the text of an exception to its results in every format, and texts of libraries may quote
cells. So our metrics never raise: they return a :class:`Refusal`, and an expectation that receives one fails.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anon_core.models.measurement import NotMeasurableError

__all__ = ["NotMeasurableError", "Refusal", "refuse_instead_of_raising"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something could not be measured, without a single value."""

    reason: str


def refuse_instead_of_raising(measure: Callable[..., Any]) -> Callable[..., Any]:
    """Turn every exception of a function into a Refusal; it names only the type of an exception of a library."""

    @functools.wraps(measure)
    def measured(*args: Any, **kwargs: Any) -> Any:
        try:
            return measure(*args, **kwargs)
        except NotMeasurableError as error:
            return Refusal(str(error))
        except Exception as error:  # noqa: BLE001 - An exception of any type is a refusal.
            return Refusal(f"unexpected {type(error).__name__}; its text is withheld because it may quote data")

    return measured
