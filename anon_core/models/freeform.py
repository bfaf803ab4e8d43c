"""An attacker infers no guarded value from values that can be observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.errors import HierarchyError, InvalidInputError
from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.models.hierarchies import WITHHELD, hierarchy_named
from anon_core.policy import Guard, Sensitivity
from anon_core.wording import counted

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.kernels import Integers
    from anon_core.measures.freeform import FreeformCheck, GuardedColumn


@dataclass(frozen=True, kw_only=True)
class NoFreeformBreach(PrivacyModel):
    """
    No freeform attack has a threat above ``sigma_t`` (extended Definition 3.4 of Wang 2009).

    Rows are counted. Where people may have several rows, it is not measured. ``hierarchies`` has for every column a
    file with its sha256, or the label of its root. ``guards`` says what is guarded, as in the publication file. After
    local recoding a column has labels of several levels, so all quasi-identifiers are placed in their hierarchies too.
    A label that its hierarchy does not know makes the table not measurable: the figures would be about other values.
    """

    key: ClassVar[str] = "no_freeform_breach"
    title: ClassVar[str] = "freeform anonymity"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "nothing observable in {columns} gives a guarded value away with more than {sigma_t}"
    page: ClassVar[Mapping[str, str]] = {
        "no_freeform_breach": "Guarded values cannot be inferred with too much certainty"
    }
    section: ClassVar[str] = "freeform"
    waivable: ClassVar[bool] = True
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True

    hierarchies: dict[str, dict[str, Any]]
    guards: dict[str, dict[str, Any]]
    sigma_o: float
    sigma_t: float

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        policy = context.policy.freeform
        if context.publication is None or policy is None:
            return
        chosen = [name for name in context.published if name in context.quasi_identifiers or name in policy.columns]
        yield cls(
            columns=tuple(chosen),
            hierarchies={name: context.hierarchy(name) for name in chosen},
            guards={name: guard.model_dump(mode="json") for name, guard in policy.columns.items()},
            sigma_o=policy.sigma_o,
            sigma_t=policy.sigma_t,
        )

    def measure(self, subject: Subject) -> Measurement:
        if subject.people is not None:
            raise NotMeasurableError(
                "it counts rows and cannot count people yet; remove `privacy.freeform`, or collect one row of each "
                "person and write `unit: row`"
            )
        found = subject.freeform
        if found is None:
            found = self._attacks(subject.rows_over(self.columns), subject.folder)
        rows = subject.rows_over(()).rows
        concerned = max((one.rows for one in found.columns), default=0)
        threat, column = (found.worst.threat, found.worst.column) if found.worst else (0.0, None)
        counts = {
            "breaches": found.breaches,
            "rows": rows,
            "rows_concerned": concerned,
            "threat": threat,
            "column": column,
        }
        guarded = ", ".join(self.guards)
        sentence = (
            f"no guarded value of {guarded} can be inferred: largest threat {threat:.2g}, {self.sigma_t:g} allowed"
        )
        if found.breaches:
            sentence = (
                f"{counted(found.breaches, 'way')} to infer a guarded value of {guarded}, {concerned:,} of "
                f"{rows:,} rows concerned, largest threat {threat:.2g} ({column}), {self.sigma_t:g} allowed: use "
                "`recode.method: freeform`, or guard fewer values"
            )
        return self.measurement(
            passed=found.holds,
            observed=found.breaches,
            required=0,
            sentence=sentence,
            counts=counts,
            rows_at_risk=concerned if found.breaches else 0,
            goal=f"freeform threat to column {column!r} of at most {self.sigma_t:g}",
            reached=f"{threat:g} ({counted(found.breaches, 'attack')} above it)",
        )

    def _attacks(self, table: FrequencyTable, folder: Path | None) -> FreeformCheck:
        import numpy as np
        import pyarrow as pa

        from anon_core.frequency import FrequencyTable
        from anon_core.hierarchy.published import UNKNOWN
        from anon_core.measures.freeform import check_freeform

        self._require_settings()
        columns, codes = [], []
        for name, own, domain in zip(table.names, table.codes, table.domains, strict=True):
            guard = Guard.model_validate(self.guards[name]) if name in self.guards else None
            column, places = self._placed(name, domain.to_pylist(), guard, folder)
            if strange := int(np.count_nonzero(places == UNKNOWN)):
                rows = counted(int(table.weights[places[own] == UNKNOWN].sum()), "row")
                raise NotMeasurableError(
                    f"the hierarchy of {name} does not know {counted(strange, 'label')}, in {rows}"
                )
            columns.append(column)
            codes.append(places[own])
        domains = [pa.nulls(len(column.floors)) for column in columns]
        placed_table = FrequencyTable.from_codes(table.names, codes, domains, table.weights)
        return check_freeform(placed_table, columns, self.sigma_t)

    def _require_settings(self) -> None:
        """:raises NotMeasurableError: a column has no hierarchy, a guarded one is not measured or has no file."""
        if set(self.hierarchies) != set(self.columns):
            raise NotMeasurableError("`hierarchies` must name exactly the columns that are measured")
        if not self.guards or not set(self.guards) <= set(self.columns):
            raise NotMeasurableError("guard at least one column, and only columns that are measured")
        if without := sorted(name for name in self.guards if "file" not in self.hierarchies[name]):
            raise NotMeasurableError(
                f"guarded values of {', '.join(without)} cannot be counted without a hierarchy file"
            )

    def _placed(
        self, name: str, labels: Sequence[str | None], guard: Guard | None, folder: Path | None
    ) -> tuple[GuardedColumn, Integers]:
        """Return a column with the sensitivity of its labels, and the place of every published label among them."""
        from anon_core.hierarchy.published import placed_labels
        from anon_core.measures.freeform import guarded, refuse_disarmed

        if guard is not None and guard.sensitivity is Sensitivity.FREQUENCY:
            raise NotMeasurableError(f"the sensitivity of {name} by frequency needs the originals")
        given: Mapping[str, Any] = self.hierarchies[name]
        try:
            hierarchy = hierarchy_named(name, given, folder)
            found = placed_labels(name, labels, hierarchy, folder or Path(), withheld=given.get(WITHHELD))
            column = guarded(found.taxonomy, guard, self.sigma_o)
            refuse_disarmed(column, guard)
            return column, found.places
        except HierarchyError:
            raise NotMeasurableError(
                f"the hierarchy of {name} cannot be used; `anon hierarchy check` says why"
            ) from None
        except InvalidInputError as error:
            raise NotMeasurableError(str(error)) from None
