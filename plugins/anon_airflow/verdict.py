"""What the gate found, as plain data: counts, names of columns and digests, never a value."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from anon_airflow.distributions import Distribution

EVERYWHERE = "all"
"""The distribution of a check that is not about one file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """
    One thing that was measured, what was required of it, and a sentence that says both.

    One that did not pass may be excused: ``waiver`` is what the publication file calls it, ``waived_by`` who did it.
    """

    distribution: str
    name: str
    passed: bool
    observed: str | int | float
    required: str | int | float
    message: str
    waiver: str | None = None
    waived_by: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it stands in nobody's way: passed, or waived by a person."""
        return self.passed is True or bool(self.waiver and self.waived_by)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Whether these very bytes may be published.

    ``passed`` is computed here and nowhere else: every check holds, there is at least one distribution, and exactly as
    many expectations were evaluated as the suite asks for, more than none. ``vouched`` are those that need the
    originals, measured when these are gone: whoever goes by such a verdict needs a receipt for them. ``suite`` is what
    was evaluated, ready to be stored as JSON. ``singled_out`` are the accepted column sets that do single people out,
    sorted.
    """

    checks: tuple[Check, ...]
    distributions: tuple[Distribution, ...]
    suite: dict[str, Any]
    suite_digest: str
    evaluated: int
    expected: int
    vouched: int = 0
    singled_out: frozenset[tuple[str, ...]] = frozenset()

    @property
    def passed(self) -> bool:
        return bool(
            self.distributions
            and self.checks
            and self.evaluated + self.vouched == self.expected > self.vouched
            and all(check.holds for check in self.checks)
        )

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why the gate is shut, one sentence per failed check, said once for all files it is true of."""
        files: dict[str, dict[str, None]] = {}  # Two columns may fail in the same words: a file is named once.
        for check in self.checks:
            if not check.holds:
                files.setdefault(check.message, {})[check.distribution] = None
        return tuple(
            message if EVERYWHERE in where else f"{', '.join(where)}: {message}" for message, where in files.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the suite (its digest stands for it) as JSON-ready data."""
        return {
            "passed": self.passed,
            "checks": [asdict(check) for check in self.checks],
            "distributions": [distribution._asdict() for distribution in self.distributions],
            "suite_digest": self.suite_digest,
            "evaluated": self.evaluated,
            "expected": self.expected,
            "vouched": self.vouched,
            "reasons": list(self.reasons),
        }
