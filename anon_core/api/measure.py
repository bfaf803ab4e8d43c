"""A table held against privacy models, each measured once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, replace
from typing import Any, ClassVar, TypeAlias, overload

from anon_core.api.shown import NAMES, Shown, rows_or_people
from anon_core.api.sources import Names, TableLike, names_of, rows_of
from anon_core.errors import InvalidInputError, RefusedError, UnknownColumnError
from anon_core.models import Measurement, Need, Over, PrivacyModel, Requirement, Subject
from anon_core.models.model import with_unique_names
from anon_core.wording import counted

ModelLike: TypeAlias = PrivacyModel | type[PrivacyModel]
"""A model with its settings; or a model that needs none, by its class."""

MEASUREMENT_FIELDS = {
    "name": "string",
    "passed": "bool",
    "observed": "string",
    "required": "string",
    "rows_at_risk": "int64",
    "sentence": "string",
    "waived_by": "string",
}


def measurement_record(one: Measurement) -> dict[str, Any]:
    """Return a measurement as a line of a table; figures are text there, for they may be counts, shares or words."""
    record = {name: getattr(one, name) for name in MEASUREMENT_FIELDS}
    figures = {name: None if record[name] is None else str(record[name]) for name in ("observed", "required")}
    return record | figures


class Judged(Shown):
    """A table with the ``measurements`` of it; ``unit`` tells its people apart, without it rows were counted."""

    __slots__ = ()

    FIELDS: ClassVar[Mapping[str, str]] = MEASUREMENT_FIELDS

    measurements: Sequence[Measurement]
    unit: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Whether everything that was measured holds."""
        return all(one.holds for one in self.measurements)

    @property
    def counted(self) -> str:
        """What was counted: rows, or people."""
        return "people" if self.unit else "rows"

    @property
    def counted_whom(self) -> str:
        """What was counted, in words."""
        return f"people told apart by {', '.join(self.unit)}" if self.unit else "rows, not people"

    def records(self) -> list[dict[str, Any]]:
        """Return the measurements."""
        return [measurement_record(one) for one in self.measurements]

    def raise_if_unsafe(self) -> None:
        """:raises RefusedError: something does not hold; all such checks are named."""
        refuse(self.measurements)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured(Measurement, Shown):
    """
    What a model found; see :class:`~anon_core.models.Measurement` for its figures.

    ``counted`` says what its counts are of: people, or rows that may be of fewer people.
    """

    FIELDS: ClassVar[Mapping[str, str]] = {**MEASUREMENT_FIELDS, "columns": NAMES, "counted": "string"}

    counted: str

    @property
    def heading(self) -> str:
        return f"{self.name}, counted in {'people' if self.counted == 'people' else 'rows, not people'}"

    def records(self) -> list[dict[str, Any]]:
        """Return the one measurement."""
        return [{**measurement_record(self), "columns": list(self.columns), "counted": self.counted}]

    def raise_if_unsafe(self) -> None:
        """:raises RefusedError: it does not hold."""
        refuse([self])


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurements(Judged, Sequence[Measured]):
    """What several models found, in their order."""

    FIELDS: ClassVar[Mapping[str, str]] = Measured.FIELDS

    rows: int
    unit: tuple[str, ...]
    measurements: tuple[Measured, ...]

    @property
    def heading(self) -> str:
        return f"{how_many_hold(self.measurements)}; {rows_or_people(self.rows, self.unit)}"

    def records(self) -> list[dict[str, Any]]:
        """Return the measurements."""
        return [line for one in self.measurements for line in one.records()]

    def __len__(self) -> int:
        return len(self.measurements)

    @overload
    def __getitem__(self, at: int) -> Measured: ...
    @overload
    def __getitem__(self, at: slice) -> tuple[Measured, ...]: ...
    def __getitem__(self, at: int | slice) -> Measured | tuple[Measured, ...]:
        return self.measurements[at]

    def __iter__(self) -> Iterator[Measured]:
        return iter(self.measurements)


def how_many_hold(measurements: Sequence[Measurement]) -> str:
    """Return how many checks hold, in words; what is only reported is no check."""
    checks = [one for one in measurements if one.counts_as_check]
    return f"{sum(one.holds for one in checks):,} of {counted(len(checks), 'check')} hold"


def refuse(measurements: Sequence[Measurement]) -> None:
    """:raises RefusedError: one of the measurements does not hold; all such are named."""
    if failing := [f"{one.name} ({one.sentence})" for one in measurements if not one.holds]:
        raise RefusedError("check", failing)


@overload
def measure(
    source: TableLike,
    model: ModelLike,
    /,
    *,
    quasi: Names | None = None,
    sensitive: str | None = None,
    unit: Names | None = None,
) -> Measured: ...
@overload
def measure(
    source: TableLike,
    model: ModelLike,
    second: ModelLike,
    /,
    *more: ModelLike,
    quasi: Names | None = None,
    sensitive: str | None = None,
    unit: Names | None = None,
) -> Measurements: ...
def measure(
    source: TableLike,
    /,
    *models: ModelLike,
    quasi: Names | None = None,
    sensitive: str | None = None,
    unit: Names | None = None,
) -> Measured | Measurements:
    """
    Hold a table against privacy models: one gives one measurement, several give all of them.

    What a model leaves open is filled in: its ``columns`` are the ``quasi`` identifiers, or all columns where it is
    about the whole table, and its ``sensitive`` column is the one given here. ``unit`` has the columns that tell people
    apart; without it rows are counted, and the result says so.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: a model lacks columns or settings, cannot be measured by a table alone, or an argument
        would have no effect.
    :raises TableError: the table cannot be read.
    """
    rows, people = rows_of(source), names_of(unit)
    names = tuple(name for name in rows.table.names if len(people) != 1 or name not in people)
    given = Given(names=names, quasi=names_of(quasi), sensitive=sensitive)
    built = given.filled([_built(one) for one in models])
    _check_columns(built, rows.table.names, people)
    engine = rows.counted_for(people)
    subject = Subject(names=engine.names, rows=engine.count, people=engine.people if people else None)
    found = [_measured(one, subject, by_people=bool(people)) for one in with_unique_names(built)]
    if len(models) == 1:
        return found[0]
    rows_counted = engine.people(names[:1]).people if people else engine.rows
    return Measurements(rows=rows_counted, unit=people, measurements=tuple(found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The columns that a call names: all ``names`` of the table but the unit, quasi-identifiers, a sensitive one."""

    names: tuple[str, ...]
    quasi: tuple[str, ...]
    sensitive: str | None

    def filled(self, models: Sequence[PrivacyModel]) -> list[PrivacyModel]:
        """
        Return the models with what they leave open.

        :raises InvalidInputError: there is no model, one of them lacks a column, or an argument is used by none.
        """
        if not models:
            raise InvalidInputError("no model is given; name one, such as KAnonymity(k=5)")
        found = [self._filled(one) for one in models]
        unused = []
        if self.quasi and all(one.columns or one.over is not Over.QUASI for one in models):
            unused.append("quasi=")
        if self.sensitive is not None and found == [replace(self, sensitive=None)._tried(one) for one in models]:
            unused.append("sensitive=")
        if unused:
            raise InvalidInputError(f"{' and '.join(unused)} would have no effect on these models; leave it out")
        return found

    def _tried(self, model: PrivacyModel) -> PrivacyModel | None:
        try:
            return self._filled(model)
        except InvalidInputError:
            return None

    def _filled(self, model: PrivacyModel) -> PrivacyModel:
        what: dict[str, Any] = {}
        if not model.columns:
            by = {
                Over.QUASI: self.quasi,
                Over.ALL: self.names,
                Over.SENSITIVE: (self.sensitive,) * bool(self.sensitive),
            }
            what["columns"] = by[model.over]
            if not what["columns"] and model.key != "max_rows_per_person":
                wanted = "quasi=" if model.over is Over.QUASI else "sensitive="
                raise InvalidInputError(f"{type(model).__name__} is about columns, and none are named: give {wanted}")
        if Need.SENSITIVE in model.needs and not getattr(model, "sensitive", ""):
            if not self.sensitive:
                raise InvalidInputError(
                    f"{type(model).__name__} is about a sensitive column, and none is named: give sensitive="
                )
            what["sensitive"] = self.sensitive
        return replace(model, **what)


def _built(model: ModelLike) -> PrivacyModel:
    """:raises InvalidInputError: it is no model, lacks settings, or needs more than a table."""
    if isinstance(model, type) and issubclass(model, PrivacyModel):
        wanted = [one.name for one in fields(model) if one.default is MISSING and one.default_factory is MISSING]
        if wanted:
            settings = ", ".join(f"{name}=..." for name in wanted)
            raise InvalidInputError(f"{model.__name__} needs settings: write {model.__name__}({settings})")
        model = model()
    if not isinstance(model, PrivacyModel):
        raise InvalidInputError("a model is wanted, such as KAnonymity(k=5); a table alone is measured by models")
    if model.needs & (Need.ORIGINAL | Need.PAIRING | Need.NAMES):
        raise InvalidInputError(
            f"{type(model).__name__} needs more than the table: a publication file asks for it, and `check` or "
            "`recode` measures it"
        )
    return model


def _check_columns(models: Sequence[PrivacyModel], names: Sequence[str], unit: Sequence[str]) -> None:
    wanted = [name for one in models for name in (*one.columns, *(() if one.column is None else (one.column,)))]
    if unknown := [name for name in dict.fromkeys([*wanted, *unit]) if name not in names]:
        raise UnknownColumnError(unknown, names)
    for one in models:
        if one.column in one.columns or len(set(one.columns)) < len(one.columns):
            raise InvalidInputError(
                f"{type(one).__name__} has a column named twice among quasi-identifiers and the sensitive column; "
                "a column can be one of them, once"
            )
    if len(unit) == 1 and unit[0] in wanted:
        raise InvalidInputError(f"{unit[0]} says who is counted, so no model can be about it; leave it out")


def _measured(required: Requirement, subject: Subject, *, by_people: bool) -> Measured:
    found = required.measured(subject)
    own = {one.name: getattr(found, one.name) for one in fields(Measurement)}
    return Measured(**own, counted="people" if by_people and required.model.counts_people else "rows")
