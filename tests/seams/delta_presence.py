"""A privacy model as another package would bring it: delta-presence against a population table (Nergiz 2007)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.models.hierarchies import hierarchy_named
from anon_core.settings import Filled, Settings, Share

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.kernels import Integers
    from anon_core.models import Classes
    from anon_core.table import Mask


class Presence(Settings):
    """What ``privacy.delta_presence`` says: the table of everybody, and how likely a person may be in the release."""

    population: Filled
    max: Share


@dataclass(frozen=True, kw_only=True)
class DeltaPresence(PrivacyModel):
    """Of the people in ``population`` that a published tuple covers, at most the share ``limit`` is published."""

    key: ClassVar[str] = "delta_presence"
    title: ClassVar[str] = "delta-presence"
    promise: ClassVar[str] = "nobody of {population} is in the release with a likelihood above {limit}"
    page: ClassVar[Mapping[str, str]] = {"delta_presence": "Being in the table cannot be inferred"}
    section: ClassVar[str] = "delta_presence"
    settings: ClassVar[Any] = Presence
    stated_limit: ClassVar[bool] = True
    waivable: ClassVar[bool] = True
    monotone: ClassVar[bool] = True
    resists: ClassVar[tuple[str, ...]] = ("presence",)

    population: str
    sha256: str
    limit: float
    hierarchies: dict[str, dict[str, Any]]

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        wanted: Presence | None = context.settings_of(cls)
        if wanted is None or context.publication is None:
            return
        quasi = context.quasi_identifiers
        yield cls(
            columns=quasi,
            population=wanted.population,
            sha256=context.publication.file_digest("privacy.delta_presence.population", wanted.population),
            limit=wanted.max,
            hierarchies={name: context.hierarchy(name) for name in quasi},
        )

    def safe(self, classes: Classes) -> Mask:
        """Count of the population only the tuples that are in the class: a label covers these, and perhaps more."""
        people = self._people(classes.frequencies, classes.folder or Path())
        return classes.sizes <= self.limit * classes.total(people)

    def measure(self, subject: Subject) -> Measurement:
        import numpy as np

        from anon_core.comparison import compare_frequencies
        from anon_core.hierarchy.build import ladder
        from anon_core.measures.linkage.covering import Covering, coverings
        from anon_core.table import Column

        folder = subject.folder or Path()
        published, everybody = subject.rows_over(self.columns), self._everybody(folder)
        built = [
            ladder(
                Column(name=name, codes=codes, domain=domain),
                hierarchy_named(name, self.hierarchies[name], folder),
                folder,
            )
            for name, codes, domain in zip(everybody.names, everybody.codes, everybody.domains, strict=True)
        ]
        compared = compare_frequencies(everybody, published, built)
        edges = Covering.joined(list(coverings(built, compared.before.codes, compared.after.codes)))
        rows = compared.after.weights
        people = np.bincount(edges.after, weights=compared.before.weights[edges.before], minlength=len(rows))
        with np.errstate(divide="ignore"):
            presence = rows / people
        worst, above = float(presence.max()), int(rows[presence > self.limit].sum())
        return self.measurement(
            passed=not above,
            observed=worst,
            required=self.limit,
            sentence=f"the likelihood to be published is at most {worst:.4g}, {self.limit:g} allowed"
            + (f"; {subject.in_words(above, 'is', 'are')} above it: generalise further" if above else ""),
            counts={"worst": worst, "rows": published.rows, "rows_above": above},
            rows_at_risk=above,
        )

    def _people(self, private: FrequencyTable, folder: Path) -> Integers:
        """Return how many people of the population have each tuple of the private table, looked up once."""
        import numpy as np

        if id(private) not in _KNOWN:
            everybody = self._everybody(folder)
            known = dict(zip(_cells(everybody), everybody.weights.tolist(), strict=True))
            people = np.array([known.get(one, 0) for one in _cells(private)], np.int64)
            _KNOWN[id(private)] = (private, people)
        return _KNOWN[id(private)][1]

    def _everybody(self, folder: Path) -> FrequencyTable:
        from anon_core.frequency import FrequencyTable
        from anon_core.table import read

        if hashlib.sha256((folder / self.population).read_bytes()).hexdigest() != self.sha256:
            raise NotMeasurableError("the population table was changed")
        return FrequencyTable.of(read(folder / self.population), self.columns)


_KNOWN: dict[int, tuple[FrequencyTable, Integers]] = {}


def _cells(table: FrequencyTable) -> list[tuple[str | None, ...]]:
    labels = [domain.to_pylist() for domain in table.domains]
    return [
        tuple(values[code] for values, code in zip(labels, codes, strict=True))
        for codes in zip(*(codes.tolist() for codes in table.codes), strict=True)
    ]
