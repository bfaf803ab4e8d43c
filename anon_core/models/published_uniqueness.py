"""No small set of published columns singles people out, unless a person accepts the set by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, Over, PolicyContext, PrivacyModel, Subject
from anon_core.policy import KMeans
from anon_core.waivers import ACCEPT_BY_NAME

if TYPE_CHECKING:
    from anon_core.detection.uniqueness import UniqueSet

MAX_SETS_NAMED = 5
"""How many offending sets the sentence names; the counts have them all."""


@dataclass(frozen=True, kw_only=True)
class PublishedUniqueness(PrivacyModel):
    """
    No set of up to ``max_size`` of these columns leaves more than ``max_share`` of the rows alone.

    An ``accepted`` set and its subsets are not measured; of a larger set, only those rows count that the accepted set
    does not single out already. The sets in ``together`` are measured too, at any size. A ``protected`` set and its
    subsets are not measured, because another model judges them. The counts list the minimal sets that break the limit.
    The advice depends on which of their columns are ``quasi`` already.
    """

    key: ClassVar[str] = "published_uniqueness"
    title: ClassVar[str] = "published uniqueness"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = (
        "no set of up to {max_size} of {columns}, but for what is accepted, leaves more than {max_share} of the "
        "{counted} alone"
    )
    page: ClassVar[Mapping[str, str]] = {
        "published_uniqueness": "No small set of columns leaves more alone than allowed"
    }
    section: ClassVar[str] = "published_uniqueness"
    instead: ClassVar[str] = ACCEPT_BY_NAME
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    over: ClassVar[Over] = Over.ALL
    counts_people: ClassVar[bool] = True

    max_size: int
    max_share: float
    accepted: tuple[tuple[str, ...], ...] = ()
    together: tuple[tuple[str, ...], ...] = ()
    protected: tuple[tuple[str, ...], ...] = ()
    quasi: tuple[str, ...] = ()

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.publication is None:
            return
        limits, quasi = context.policy.published_uniqueness, context.quasi_identifiers
        yield cls(
            columns=context.searched,
            max_size=limits.max_size,
            max_share=limits.max_share,
            accepted=context.accepted,
            together=context.larger_sets,
            protected=(quasi,) if quasi and context.policy.k_means is KMeans.LINK else (),
            quasi=quasi,
        )

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.detection.uniqueness import search_uniqueness

        table = subject.people_over(self.columns)
        searched = search_uniqueness(
            table,
            max_size=self.max_size,
            max_share=self.max_share,
            accepted=self.accepted,
            together=self.together,
            protected=self.protected,
        )
        found, allowed = searched.sets, searched.most_allowed
        worst = max((unique.share for unique in found), default=0.0)
        sets = [{"columns": list(u.columns), "singletons": int(u.singletons), "share": float(u.share)} for u in found]
        rows = table.rows
        return self.measurement(
            passed=not found,
            observed=len(found),
            required=0,
            sentence=self._sentence(subject, sets, rows) + self._left_alone(subject, allowed),
            counts={
                "sets": len(found),
                "largest_share": float(worst),
                "rows": rows,
                "offending": sets,
                "alone_within_limit": allowed.singletons if allowed else 0,
            },
            rows_at_risk=max((unique.singletons for unique in found), default=0),
        )

    def _left_alone(self, subject: Subject, allowed: UniqueSet | None) -> str:
        """Return how many people are alone on the worst of the sets that keep the limit, as the end of a sentence."""
        if allowed is None:
            return ""
        alone = subject.in_words(allowed.singletons, "is", "are")
        return f"; within that limit {alone} alone by {', '.join(allowed.columns)}"

    def _sentence(self, subject: Subject, sets: list[dict[str, Any]], rows: int) -> str:
        limit = f"more than {self.max_share:.2%} of {subject.in_words(rows)} alone"
        if not sets:
            more = f", nor one of {len(self.together)} larger ones" if self.together else ""
            but = ", but for what is accepted" if self.accepted else ""
            end = "," if more or but else ""
            return f"no set of up to {self.max_size} of {len(self.columns)} columns{more}{but}{end} leaves {limit}"
        named = "; ".join(
            f"{', '.join(one['columns'])}: {subject.in_words(one['singletons'])}" for one in sets[:MAX_SETS_NAMED]
        )
        rest = f" and {len(sets) - MAX_SETS_NAMED} more" if len(sets) > MAX_SETS_NAMED else ""
        return (
            f"{len(sets)} sets of columns leave {limit} ({named}{rest}): {self._advice(sets)}, drop one, or accept the "
            "set by name with a reason, a person and a date"
        )

    def _advice(self, sets: list[dict[str, Any]]) -> str:
        """Return how to have the columns of some sets generalised: declare them quasi, or recode quasi ones further."""
        others = [[name for name in one["columns"] if name not in self.quasi] for one in sets]
        declare = list(dict.fromkeys(name for names in others for name in names))
        if not any(name in self.quasi for one in sets for name in one["columns"]):
            return "declare these columns quasi so that they are generalised"
        parts = [f"declare {_listed(declare)} quasi"] if declare else []
        alone = [one["columns"] for one, names in zip(sets, others, strict=True) if not names]
        already = list(dict.fromkeys(name for columns in alone for name in columns))
        if already:
            parts.append(f"generalise {_listed(already)} further by recoding (quasi already)")
        return ", ".join(parts)


def _listed(names: list[str]) -> str:
    return ", ".join(names[:MAX_SETS_NAMED]) + (
        f" and {len(names) - MAX_SETS_NAMED} more" if len(names) > MAX_SETS_NAMED else ""
    )
