"""Link k, source k and concealment: how well people hide from an attacker who knows the originals of all people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.errors import HierarchyError, InvalidInputError, UnknownLabelsError
from anon_core.models import Measurement, Need, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.models.hierarchies import GROUPS, WITHHELD, hierarchy_named
from anon_core.policy import KMeans
from anon_core.waivers import HIDES_PEOPLE
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.measures.linkage.four_ks import FourK


@dataclass(frozen=True, kw_only=True)
class KBesideOriginal(PrivacyModel):
    """
    One of the k's that are measured beside the originals is at least ``k``.

    ``means: link``: an attacker who knows a person finds k published rows that may be theirs. ``source``: every
    published row may be that of k people. ``concealment``: as link, but without the rows that a comparison of all rows
    with all people rules out. ``original`` names the table as collected. ``hierarchies`` says for each of ``columns``
    how it was generalised, written as in a publication file, with the sha256 of a file. With ``groups: true`` beside it
    the column may instead have been grouped by its own values, if its labels are ranges; where both are possible, the
    smaller k counts. A release fails if its rows cannot have been made from the original. Where people are counted,
    link and source count people in place of rows, and concealment is not measured.
    """

    key: ClassVar[str] = "k_beside_original"
    title: ClassVar[str] = "k-anonymity beside the original"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "{means} k over {columns}, beside the original, is at least {k}"
    page: ClassVar[Mapping[str, str]] = {
        "link_k": "Every person may be one of enough rows",
        "source_k": "Every row may be that of enough people",
    }
    section: ClassVar[str | None] = "k_means"
    needs: ClassVar[Need] = Need.ORIGINAL
    instead: ClassVar[str] = HIDES_PEOPLE
    counts_people: ClassVar[bool] = True

    k: int
    means: str
    original: str
    hierarchies: dict[str, dict[str, Any]]

    @property
    def name(self) -> str:
        return f"{self.means}_k"

    @property
    def goal(self) -> str:
        return f"{self.means} k {self.k}"

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        if not context.quasi_identifiers or context.policy.k_means is not KMeans.LINK:
            return
        hierarchies = {name: context.hierarchy(name) for name in context.quasi_identifiers}
        for means in ("link", "source"):
            yield cls(
                columns=context.quasi_identifiers,
                k=context.k,
                means=means,
                original=str(context.original),
                hierarchies=hierarchies,
            )

    def measure(self, subject: Subject) -> Measurement:
        four = self._four(subject)
        observed = {"link": four.link, "source": four.source, "concealment": four.concealment}[self.means]
        if observed is None:
            raise NotMeasurableError(four.unmeasured or four.reason or "it is not defined here")
        below = four.rows_below[self.means]
        sentence = f"{self.means} k is {observed:,}, {self.k:,} required over {', '.join(self.columns)}"
        if observed < self.k:
            sentence += f"; {subject.in_words(below or 0, 'is', 'are')} below it: generalise these columns further"
        if not four.fits:
            sentence += f"; {four.reason}: write the file again from its source"
        before = subject.comparison.before if subject.comparison else subject.original
        return self.measurement(
            passed=observed >= self.k and four.fits,
            observed=observed,
            required=self.k,
            sentence=sentence,
            counts={
                "k": observed,
                "rows": subject.people_over(self.columns).rows,
                "rows_before": before.rows if before else None,
                "rows_below_k": below,
                "made_from_original": four.fits,
            },
            rows_at_risk=below or 0,
        )

    def _four(self, subject: Subject) -> FourK:
        if subject.comparison is not None or subject.original is None:
            return subject.four_k(self.k)
        published, original = subject.rows_over(self.columns), subject.original.project(list(self.columns))
        self._require_settings(published, original)
        try:
            ways = list(product(*(self._ladders(name, published, original, subject.folder) for name in self.columns)))
            of_rows = self._worst(original, published, ways)
            if subject.people is None:
                return of_rows
            if subject.original_people is None:
                raise NotMeasurableError("people are counted, and the original has no column that tells them apart")
            whose = subject.original_people.project(list(self.columns))
            of_people = self._worst(whose, subject.people_over(self.columns), ways)
            # Whether a file can have been made from its original depends on rows, not on people.
            return replace(of_people, fits=of_rows.fits, reason=of_people.reason if of_rows.fits else of_rows.reason)
        except HierarchyError:
            raise NotMeasurableError("a hierarchy cannot be used; `anon hierarchy check` says why") from None
        except UnknownLabelsError as error:
            unknown = "; ".join(
                f"{counted(labels, 'distinct label')} of {name}, in {counted(rows, 'row')}"
                for name, (labels, rows) in error.unknown.items()
            )
            raise NotMeasurableError(
                f"neither values of the original nor labels of its hierarchies: {unknown}; name the `hierarchies` that "
                "made them, and give the very table that was recoded"
            ) from None
        except InvalidInputError as error:  # Its text is ours: it has names of columns and counts.
            raise NotMeasurableError(str(error)) from None

    def _worst(self, original: FrequencyTable, published: FrequencyTable, ways: list[tuple[Ladder, ...]]) -> FourK:
        from anon_core.comparison import compare_frequencies
        from anon_core.measures.linkage.four_ks import four_k, worst_case

        compared = [compare_frequencies(original, published, built) for built in ways]
        return four_k(worst_case(compared, k=self.k, means=[self.means]), k=self.k)

    def _require_settings(self, published: FrequencyTable, original: FrequencyTable) -> None:
        if set(self.hierarchies) != set(self.columns):
            raise NotMeasurableError("`hierarchies` must name exactly the columns that are measured")
        alike = {
            name
            for table in (published, original)
            for name, domain in zip(table.names, table.domains, strict=True)
            if len(set(domain.to_pylist())) < len(domain)
        }
        if alike:
            raise NotMeasurableError(f"cells of different kinds read the same in {', '.join(sorted(alike))}")

    def _ladders(
        self, name: str, published: FrequencyTable, original: FrequencyTable, folder: Path | None
    ) -> list[Ladder]:
        """Return the ladder of a column; two where its labels do not show whether it was grouped by its own values."""
        from anon_core.hierarchy.build import ladder
        from anon_core.hierarchy.kinds.published_groups import ladders_leading_to
        from anon_core.table import Column

        (at,), (there,) = original.positions([name]), published.positions([name])
        column = Column(name=name, codes=original.codes[at], domain=original.domains[at])
        given = self.hierarchies[name]
        hierarchy = hierarchy_named(name, given, folder)
        declared = ladder(column, hierarchy, folder or Path(), withheld=given.get(WITHHELD))
        if not given.get(GROUPS):
            return [declared]
        return ladders_leading_to(column, published.domains[there].to_pylist(), declared)
