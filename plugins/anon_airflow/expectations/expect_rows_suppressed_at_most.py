"""Not too much of the source was left out to make the rest safe."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from anon_airflow.expectations.measured_expectation import (
    AnyColumnNames,
    Finding,
    Labels,
    MeasuredExpectation,
    NotMeasurableError,
    PositiveCount,
    Share,
)
from anon_core.frequency import FrequencyTable
from anon_core.wording import counted


class ExpectRowsSuppressedAtMost(MeasuredExpectation):
    """
    Expect at most the share ``limit`` of ``rows_before`` rows to have been suppressed.

    Suppressed are rows that were removed and rows that say nothing in any of ``columns`` (the quasi-identifiers; none
    of them, and only removed rows count): each cell is ``*`` or one of the column's labels in ``roots``, the words
    that its hierarchy has for everything. More rows than before are refused: somebody added them, and no waiver excuses
    that.
    """

    columns: AnyColumnNames
    roots: Labels
    rows_before: PositiveCount
    limit: Share

    title: ClassVar[str] = "rows suppressed"
    promise: ClassVar[str] = "at most {limit} of {rows_before} rows are removed or say nothing any more"
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "roots", "rows_before", "limit", "weight_column")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def _judge(self, measured: FrequencyTable) -> Finding:
        removed, blanked = self.rows_before - measured.rows, self._blanked(measured)
        if removed < 0:
            raise NotMeasurableError(f"the file has {counted(-removed, 'row')} more than the source; write it again")
        suppressed = removed + blanked
        share = suppressed / self.rows_before
        passed = share <= self.limit
        advice = "" if passed else "; raise privacy.suppression_limit, or generalise so that fewer rows stand out"
        if blanked and not passed:
            advice += "; if values of the source read like the root, name it otherwise: `hierarchy: {root: ...}`"
        return Finding(
            passed=passed,
            measured=share,
            required=self.limit,
            observed={"rows": measured.rows, "removed": removed, "blanked": blanked, "share": share},
            sentence=f"{suppressed:,} of {counted(self.rows_before, 'row')} ({share:.2%}; {removed:,} removed, "
            f"{blanked:,} say nothing any more), {self.limit:.2%} allowed{advice}",
        )

    def _blanked(self, measured: FrequencyTable) -> int:
        """Return how many rows say nothing in any column; a root may carry its level, where a lower label reads so."""
        if len(self.roots) != len(self.columns):
            raise NotMeasurableError("every column needs the labels of its root")
        blank = np.full(len(measured.weights), bool(self.columns))
        for codes, domain, roots in zip(measured.codes, measured.domains, self.roots, strict=True):
            levels = tuple(f"{root} (level " for root in roots)
            nothing = [
                label is not None and (label in ("*", *roots) or label.startswith(levels))
                for label in domain.to_pylist()
            ]
            blank &= np.array(nothing, np.bool_)[codes]
        return int(measured.weights[blank].sum())
