"""What one privacy model found: the result that recoding, commands, gate, reports, pages and audit all use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anon_core.policy import Waiver

Figure = int | float | bool | str | None
"""
What is observed or required: a count, a share, true or false, or a word where it is no number. None where there is too
little to measure.
"""


def counts_as_check(*, passed: bool, required: Figure) -> bool:
    """
    Whether a measurement is one of the n of "n of n checks hold".

    A measurement that requires nothing (``required`` is None) is only reported, and is not among the n. One that could
    not be made has no figure either, but counts, because it has not passed.

    >>> counts_as_check(passed=True, required=None), counts_as_check(passed=False, required=None)
    (False, True)
    """
    return required is not None or not passed


class NotMeasurableError(Exception):
    """A model cannot measure this table; the message names columns and counts, never a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """
    The result of one model on one table: what was ``observed``, what is ``required``, and a sentence with both.

    ``required`` is None where nothing is required: such a measurement has passed, and does not count as a check.
    ``name`` is the name of the check, ``model`` the key of its privacy model. ``columns`` are the columns that it is
    about, ``column`` the sensitive one if there is one. ``counts`` has all other figures, ``rows_at_risk`` is how many
    rows break the requirement. ``goal`` and ``reached`` say in a few words what a recoding had to reach, and what it
    reached. ``distribution`` is the name of the file that was measured, if it was a file. If ``measured`` is False, the
    measurement has not passed and cannot be waived. ``waiver`` is the name by which the publication file waives the
    check, ``waived_by`` the person who does.
    """

    model: str
    name: str
    columns: tuple[str, ...]
    column: str | None = None
    passed: bool
    observed: Figure
    required: Figure
    sentence: str
    counts: Mapping[str, Any] = field(default_factory=dict)
    rows_at_risk: int = 0
    goal: str = ""
    reached: str = ""
    distribution: str = ""
    measured: bool = True
    waiver: str | None = None
    waived_by: str | None = None

    def __post_init__(self) -> None:
        # A model that answers with anything but True or False, such as NaN, has not passed.
        truth = isinstance(self.passed, bool) or type(self.passed).__name__ == "bool"  # Also numpy's.
        object.__setattr__(self, "passed", bool(self.passed) if truth else False)

    @property
    def counts_as_check(self) -> bool:
        """Whether it is one of the n of "n of n checks hold"; see :func:`counts_as_check`."""
        return counts_as_check(passed=self.passed, required=self.required)

    @property
    def holds(self) -> bool:
        """Whether it passed, or a person waived it."""
        return self.passed is True or bool(self.measured and self.waiver and self.waived_by)

    def excused(self, waiver: Waiver | None) -> Measurement:
        """Return the measurement, waived if it was measured, did not pass, and there is a waiver."""
        if waiver is None or self.passed or not self.measured:
            return self
        return replace(self, waiver=waiver.check, waived_by=waiver.by)
