"""No small set of published columns singles people out, unless someone answers for it."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.measured_expectation import (
    Accepted,
    ColumnNames,
    Finding,
    MeasuredExpectation,
    PositiveCount,
    Share,
)
from anon_core.detect.uniqueness import unaccepted_uniqueness
from anon_core.frequency import FrequencyTable

NAMED = 5
"""How many offending sets the sentence names; the result has them all."""


class ExpectPublishedUniqueness(MeasuredExpectation):
    """
    Expect no set of up to ``max_size`` of these columns to leave more than ``max_share`` of the rows alone.

    An ``accepted`` set excuses itself and its subsets; of a larger set, only rows count that the accepted one does not
    single out already. The sets in ``together`` are measured too, whatever their size; a ``protected`` set and its
    subsets are not, because another expectation judges them. The result lists the minimal
    offending sets.
    """

    columns: ColumnNames
    max_size: PositiveCount
    max_share: Share
    accepted: Accepted
    together: Accepted
    protected: Accepted

    title: ClassVar[str] = "published uniqueness"
    promise: ClassVar[str] = "no set of up to {max_size} of {columns} leaves more than {max_share} of the rows alone"
    success_keys: ClassVar[tuple[str, ...]] = (
        "columns",
        "max_size",
        "max_share",
        "accepted",
        "together",
        "protected",
        "weight_column",
    )
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        found = unaccepted_uniqueness(
            measured,
            max_size=self.max_size,
            max_share=self.max_share,
            accepted=[tuple(columns) for columns in self.accepted],
            together=[tuple(columns) for columns in self.together],
            protected=[tuple(columns) for columns in self.protected],
        )
        worst = max((unique.share for unique in found), default=0.0)
        sets = [{"columns": list(u.columns), "singletons": int(u.singletons), "share": float(u.share)} for u in found]
        return Finding(
            passed=not found,
            measured=len(found),
            required=0,
            observed={"sets": len(found), "largest_share": float(worst), "rows": measured.rows, "offending": sets},
            sentence=self._sentence(sets, measured.rows),
        )

    def _sentence(self, sets: list[dict[str, object]], rows: int) -> str:
        limit = f"more than {self.max_share:.2%} of {rows:,} rows alone"
        if not sets:
            more = f", nor one of {len(self.together)} larger ones," if self.together else ""
            return f"no set of up to {self.max_size} of {len(self.columns)} columns{more} leaves {limit}"
        named = "; ".join(f"{', '.join(map(str, s['columns']))}: {s['singletons']:,} rows" for s in sets[:NAMED])  # type: ignore[call-overload]
        rest = f" and {len(sets) - NAMED} more" if len(sets) > NAMED else ""
        return (
            f"{len(sets)} sets of columns leave {limit} ({named}{rest}): declare these columns "
            "quasi so that they are generalised, drop one, or accept the set by name with a reason, a person and a date"
        )
