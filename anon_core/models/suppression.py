"""Not too many rows are removed, or are left without any information."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.policy import rows_allowed
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable


@dataclass(frozen=True, kw_only=True)
class RowsSuppressedAtMost(PrivacyModel):
    """
    At most the share ``limit`` of the ``rows_before`` rows as collected is suppressed. Rows are counted.

    A row is suppressed if it was removed, or if it says nothing in any of ``columns``, the quasi-identifiers: each cell
    is ``*`` or one of the labels that ``roots`` has for the column. Without columns only removed rows count. A table
    with more rows than were collected is not measurable: rows were added, and no waiver excuses that.
    """

    key: ClassVar[str] = "rows_suppressed_at_most"
    title: ClassVar[str] = "rows suppressed"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "at most {limit} of the rows as collected are removed or say nothing any more"
    page: ClassVar[Mapping[str, str]] = {"rows_suppressed_at_most": "Few enough rows were left out"}
    section: ClassVar[str] = "suppression_limit"
    off: ClassVar[float] = 1.0
    waivable: ClassVar[bool] = True
    of_release: ClassVar[bool] = True

    roots: tuple[tuple[str, ...], ...]
    rows_before: int
    limit: float

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.publication is None or context.rows_before is None:
            return
        quasi = context.quasi_identifiers
        yield cls(
            columns=quasi,
            roots=tuple(context.roots(name) for name in quasi),
            rows_before=context.rows_before,
            limit=context.policy.suppression_limit,
        )

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        yield cls.key, None

    @property
    def goal(self) -> str:
        return f"suppression of at most {rows_allowed(self.limit, self.rows_before)} rows"

    def measure(self, subject: Subject) -> Measurement:
        table = subject.rows_over(self.columns)
        removed = self.rows_before - table.rows
        blanked = self._blanked(table) if subject.rows_blanked is None else subject.rows_blanked
        if removed < 0:
            raise NotMeasurableError(f"the file has {counted(-removed, 'row')} more than the source; write it again")
        suppressed = removed + blanked
        share = suppressed / self.rows_before
        passed = share <= self.limit
        advice = "" if passed else "; raise privacy.suppression_limit, or generalise so that fewer rows stand out"
        if blanked and not passed:
            advice += "; if values of the source read like the root, name it otherwise: `hierarchy: {root: ...}`"
        return self.measurement(
            passed=passed,
            observed=share,
            required=self.limit,
            sentence=f"{suppressed:,} of {counted(self.rows_before, 'row')} ({share:.2%}; {removed:,} removed, "
            f"{blanked:,} say nothing any more), {self.limit:.2%} allowed{advice}",
            counts={"rows": table.rows, "removed": removed, "blanked": blanked, "share": share},
            rows_at_risk=suppressed,
            reached=str(suppressed),
        )

    def _blanked(self, table: FrequencyTable) -> int:
        """Return how many rows say nothing in any column; the label of a root may have its level added."""
        import numpy as np

        if len(self.roots) != len(self.columns):
            raise NotMeasurableError("`roots` must have labels for every column")
        blank = np.full(len(table.weights), bool(self.columns))
        for codes, domain, roots in zip(table.codes, table.domains, self.roots, strict=True):
            levels = tuple(f"{root} (level " for root in roots)
            nothing = [
                label is not None and (label in ("*", *roots) or label.startswith(levels))
                for label in domain.to_pylist()
            ]
            blank &= np.array(nothing, np.bool_)[codes]
        return int(table.weights[blank].sum())
