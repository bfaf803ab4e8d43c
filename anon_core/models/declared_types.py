"""Every cell reads as the declared type of its column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from anon_core.models import Measurement, NotMeasurableError, PolicyContext, PrivacyModel, Subject
from anon_core.value_type import ValueType
from anon_core.wording import counted


@dataclass(frozen=True, kw_only=True)
class DeclaredTypes(PrivacyModel):
    """
    Every cell of ``columns`` is a gap, or reads as the type that ``types`` has for its column. Rows are counted.

    The types are integer, decimal, date, timestamp, boolean and text. So a remark about a person does not pass in a
    column that is declared a number.
    """

    key: ClassVar[str] = "declared_types"
    title: ClassVar[str] = "types"
    stated_limit: ClassVar[bool] = True
    promise: ClassVar[str] = "{columns} hold {types}"
    page: ClassVar[Mapping[str, str]] = {"declared_types": "Cells are of the types that are announced"}
    waivable: ClassVar[bool] = True
    of_release: ClassVar[bool] = True
    of_bytes: ClassVar[bool] = True

    types: tuple[str, ...]

    @classmethod
    def required_by(cls, context: PolicyContext) -> Iterator[Self]:
        columns = context.publication.effective_columns if context.publication else {}
        declared = {
            name: kind.value for name in context.only_present(context.published) if (kind := columns[name].type)
        }
        if declared:
            yield cls(columns=tuple(declared), types=tuple(declared.values()))

    @classmethod
    def written_in(cls, privacy: Mapping[str, Any], columns: Mapping[str, Any]) -> Iterator[tuple[str, str | None]]:
        if any(isinstance(column, dict) and column.get("type") is not None for column in columns.values()):
            yield cls.key, None

    def measure(self, subject: Subject) -> Measurement:
        from anon_core.measures.profile import cells_of_another_type

        known = [kind.value for kind in ValueType]
        if len(self.types) != len(self.columns) or not set(self.types) <= set(known):
            raise NotMeasurableError(f"give every column one type: {', '.join(known)}")
        types = {name: ValueType(kind) for name, kind in zip(self.columns, self.types, strict=True)}
        wrong = cells_of_another_type(subject.rows_over(self.columns), types)
        cells = sum(wrong.values())
        named = "; ".join(
            f"{counted(count, 'cell')} of {name} {'is' if count == 1 else 'are'} no {types[name].value}"
            for name, count in wrong.items()
        )
        return self.measurement(
            passed=not wrong,
            observed=cells,
            required=0,
            sentence=f"{named}: clean them at the source, or declare another `type`"
            if wrong
            else f"the cells of {counted(len(self.columns), 'column')} are as declared",
            counts={"columns": len(self.columns), "columns_wrong": list(wrong), "cells_wrong": cells},
        )
