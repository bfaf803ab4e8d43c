"""The verdict of the gate, as plain data: counts, names of columns and digests, never a value."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from anon_airflow.gate.files import MeasuredFile
from anon_airflow.gate.receipt import ModelUsed
from anon_core.models.measurement import Measurement
from anon_core.registry import MODELS

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable

EVERYWHERE = "all"
"""The distribution of a measurement that is about all files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """
    Whether the measured bytes may be published.

    ``passed`` is computed only here: every check holds, there is at least one file, and all expectations of the suite
    were evaluated, at least one. ``vouched`` counts expectations that need the originals but were due after these were
    removed: a caller that uses such a verdict needs a receipt for them. ``suite`` is what was evaluated, ready to be
    stored as JSON. ``singled_out`` are the accepted column sets that the gate would refuse otherwise, sorted.
    ``released`` are the rows of the files, counted, for the public report.
    """

    checks: tuple[Measurement, ...]
    distributions: tuple[MeasuredFile, ...]
    suite: dict[str, Any]
    suite_digest: str
    evaluated: int
    expected: int
    vouched: int = 0
    singled_out: frozenset[tuple[str, ...]] = frozenset()
    released: FrequencyTable | None = field(default=None, repr=False, compare=False)

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
        """Why the gate refuses: one sentence for each failed check, once for all files that it is about."""
        files: dict[str, dict[str, None]] = {}  # Two columns may have the same sentence: name a file once.
        for check in self.checks:
            if not check.holds:
                files.setdefault(check.sentence, {})[check.distribution] = None
        return tuple(
            sentence if EVERYWHERE in where else f"{', '.join(where)}: {sentence}" for sentence, where in files.items()
        )

    @property
    def models(self) -> tuple[ModelUsed, ...]:
        """The privacy models of the suite, each with the package that it comes with."""
        keys = sorted(
            {str(entry["meta"]["model"]) for entry in self.suite.get("expectations", ()) if "model" in entry["meta"]}
        )
        providers = [(key, MODELS.provider(key)) for key in keys]
        return tuple(ModelUsed(key=key, package=one.package, version=one.version) for key, one in providers)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the suite (its digest stands for it) as JSON-ready data."""
        return {
            "passed": self.passed,
            "checks": [noted(check) for check in self.checks],
            "distributions": [distribution._asdict() for distribution in self.distributions],
            "suite_digest": self.suite_digest,
            "evaluated": self.evaluated,
            "expected": self.expected,
            "vouched": self.vouched,
            "reasons": list(self.reasons),
        }


def noted(check: Measurement) -> dict[str, Any]:
    """Return a measurement in the form of both reports."""
    return {
        "distribution": check.distribution,
        "name": check.name,
        "passed": check.passed,
        "observed": check.observed,
        "required": check.required,
        "message": check.sentence,
        "waiver": check.waiver,
        "waived_by": check.waived_by,
    }
