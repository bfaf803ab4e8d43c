"""What one privacy model found: the one result that recoding, commands, gate, reports, pages and audit share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from anon_core.policy import Waiver

Figure = int | float | bool | str | None
"""
What is observed or required: a count, a share, a truth, a word where it is no number, or None where there is too little
for any.
"""


def counts_as_check(*, passed: bool, required: Figure) -> bool:
    """
    Whether a measurement is one of the n of "n of n checks hold".

    What requires nothing (``required`` is None) only informs: it is reported, and counted nowhere. What could not be
    measured has no figure either, but has not passed.

    >>> counts_as_check(passed=True, required=None), counts_as_check(passed=False, required=None)
    (False, True)
    """
    return required is not None or not passed


class NotMeasurableError(Exception):
    """A model cannot be measured here; its text is ours, names columns and counts, and never a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """
    One requirement held against a table: ``observed`` against ``required``, and a sentence that says both.

    ``required`` is None where nothing is required: such a warning has passed, and is counted among no checks.
    ``name`` is what the check is called everywhere, ``model`` the key of its privacy model. ``columns`` are those that
    it is about, ``column`` the sensitive one where it is about one. ``counts`` has everything else that was counted,
    ``rows_at_risk`` the rows that stand in the way of passing. ``goal`` and ``reached`` say in a few words what a
    recoding was to reach, and how far it came. ``distribution`` is the file that was measured, where one was. Where
    nothing could be ``measured`` it has not passed, and cannot be waived. ``waiver`` is what the publication file calls
    the check that ``waived_by`` lets fail.
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
        # A model that answers with anything else than a truth, such as a number that is none, has not passed.
        truth = isinstance(self.passed, bool) or type(self.passed).__name__ == "bool"  # Also numpy's.
        object.__setattr__(self, "passed", bool(self.passed) if truth else False)

    @property
    def counts_as_check(self) -> bool:
        """Whether it is one of the n of "n of n checks hold"; see :func:`counts_as_check`."""
        return counts_as_check(passed=self.passed, required=self.required)

    @property
    def holds(self) -> bool:
        """Whether nothing stands in the way: it passed, or a person waived it."""
        return self.passed is True or bool(self.measured and self.waiver and self.waived_by)

    def excused(self, waiver: Waiver | None) -> Measurement:
        """Return it waived, if it was measured, did not pass, and there is a waiver."""
        if waiver is None or self.passed or not self.measured:
            return self
        return replace(self, waiver=waiver.check, waived_by=waiver.by)
