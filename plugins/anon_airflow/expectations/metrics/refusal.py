"""What a metric gives instead of a number: a reason in our own words.

Great Expectations copies the text of an exception into its results in every format, and libraries quote cells in
theirs. So our metrics never raise; they return a :class:`Refusal`, and an expectation that gets one has failed.
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
    """Turn whatever the function raises into a Refusal; of a foreign exception only the type is told."""

    @functools.wraps(measure)
    def measured(*args: Any, **kwargs: Any) -> Any:
        try:
            return measure(*args, **kwargs)
        except NotMeasurableError as error:
            return Refusal(str(error))
        except Exception as error:  # noqa: BLE001 - refused, whatever it is
            return Refusal(f"unexpected {type(error).__name__}; its text is withheld because it may quote data")

    return measured
