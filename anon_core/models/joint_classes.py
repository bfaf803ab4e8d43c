"""Classes are large enough over all columns that others may know: quasi-identifiers and columns declared other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.models.k_beside_original import KBesideOriginal
from anon_core.policy import KMeans
from anon_core.waivers import ACCEPT_OTHERS

if TYPE_CHECKING:
    from anon_core.detection.joint import Joint
    from anon_core.measures.linkage.four_ks import FourK

MAX_COLUMNS_SHOWN = 6
"""For so many columns the sentence says which k the table would have without them."""


@dataclass(frozen=True, kw_only=True)
class JointClasses(PrivacyModel):
    """
    The smallest class over ``columns`` has at least ``k`` people; ``others`` of them are declared other.

    The publication file declares such a column harmless. It is published as collected, and within the classes of the
    recoded quasi-identifiers it may still single people out. Columns that a person accepts by name are left out.
    """

    key: ClassVar[str] = "joint_classes"
    title: ClassVar[str] = "k-anonymity with all other columns"
    stated_limit: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True
    promise: ClassVar[str] = "every class over {columns} has at least {k} {counted}"
    page: ClassVar[Mapping[str, str]] = {"joint_classes": "Groups are large enough with the columns declared harmless"}
    instead: ClassVar[str] = ACCEPT_OTHERS
    monotone: ClassVar[bool] = True
    counts_people: ClassVar[bool] = True
    of_release: ClassVar[bool] = True

    k: int
    others: tuple[str, ...]

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        linked = context.policy.k_means is KMeans.LINK and context.quasi_identifiers
        if context.judged_others and not linked:
            columns = (*context.quasi_identifiers, *context.judged_others)
            yield cls(columns=columns, k=context.k, others=context.judged_others)

    @property
    def goal(self) -> str:
        return f"k {self.k} over {', '.join(self.columns)}"

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.detection.joint import joint

        found = joint(subject.people_over(self.columns), self.others, k=self.k)
        passed = found.k >= self.k
        return self.measurement(
            passed=passed,
            observed=found.k,
            required=self.k,
            sentence=f"smallest class has {subject.in_words(found.k)}, {self.k:,} required over "
            + ", ".join(self.columns)
            + ("" if passed else f"; {self._advice(subject, found)}"),
            counts={
                "k": found.k,
                "classes": found.classes,
                "rows": found.rows,
                "rows_below_k": found.rows_below,
                "singletons": found.alone,
                "without": [{"columns": list(names), "k": k} for names, k in found.without.items()],
                "smallest_set": list(found.smallest or ()),
            },
            rows_at_risk=found.rows_below,
        )

    def _advice(self, subject: Subject, found: Joint) -> str:
        lying = f"{subject.in_words(found.rows_below, 'lies', 'lie')} in classes below {self.k:,}, "
        lying += f"{subject.in_words(found.alone, 'is', 'are')} alone"
        single = sorted(((k, names[0]) for names, k in found.without.items() if len(names) == 1), reverse=True)
        tried = ", ".join(f"{k:,} without {name}" for k, name in single[:MAX_COLUMNS_SHOWN])
        if not self.others:
            return f"{lying}: generalise the quasi-identifiers further"
        if found.smallest is None:
            return (
                f"{lying}: without any of {', '.join(self.others)} k is {found.k_without_any:,} still, so generalise "
                "the quasi-identifiers further"
            )
        chosen = ", ".join(found.smallest)
        which = "the smallest set" if found.proven else "a set"
        return (
            f"{lying}; {chosen} {'is' if len(found.smallest) == 1 else 'are'} {which} without which it holds: drop "
            "these columns, declare them quasi so that they are generalised, or accept them by name in "
            f"published_uniqueness.accept (tried: k is {tried})"
        )


@dataclass(frozen=True, kw_only=True)
class JointBesideOriginal(KBesideOriginal):
    """
    Link and source k are reached with all columns declared other, too. A published value of these covers itself only.

    It replaces :class:`JointClasses` where the policy means link k.
    """

    key: ClassVar[str] = "joint_beside_original"
    title: ClassVar[str] = "k-anonymity beside the original with all other columns"
    stated_limit: ClassVar[bool] = True
    page: ClassVar[Mapping[str, str]] = {
        "joint_link_k": "Every person may be one of enough rows, with the columns declared harmless",
        "joint_source_k": "Every row may be that of enough people, with the columns declared harmless",
    }
    section: ClassVar[str | None] = None
    instead: ClassVar[str] = ACCEPT_OTHERS
    of_release: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"joint_{self.means}_k"

    def _four(self, subject: Subject) -> FourK:
        from anon_core.measures.linkage.four_ks import four_k

        if subject.comparison is None and subject.original is not None:
            return super()._four(subject)
        compared = subject.joint.before.names if subject.joint else ()
        apart = [name for name in self.columns if name not in compared and subject.rows_over((name,)).tuples > 1]
        if subject.joint is None or apart:  # A column of one value tells no rows apart.
            raise NotMeasurableError("the columns declared other were not compared with the original rows")
        return four_k(subject.joint, k=self.k)

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if context.policy.k_means is not KMeans.LINK or not (context.quasi_identifiers and context.judged_others):
            return
        columns = (*context.quasi_identifiers, *context.judged_others)
        hierarchies: dict[str, dict[str, Any]] = {name: context.hierarchy(name) for name in columns}
        for means in ("link", "source"):
            yield cls(
                columns=columns, k=context.k, means=means, original=str(context.original), hierarchies=hierarchies
            )
