"""The ``unit`` of a publication file: the columns that tell people apart, or that every row is another person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, model_validator

from anon_core.files.yaml_lines import Location, as_text
from anon_core.settings import NOT_EMPTY, Day, Filled, Names, Reason, Settings, Text, quoted
from anon_core.spec.written import Found, at, did_you_mean, list_at, text_at

ROW = "row"
"""The unit of a file that has one row for each person."""


class Answered(Settings):
    """A statement that a person answers for, with a reason, until a day."""

    reason: Reason
    by: Filled
    until: Day


class Spanning(Answered):
    """An identifier that several people may share, such as the number of a household; a person answers for that."""

    column: Text


class Unit(Settings):
    """
    Whose the rows are: ``columns`` tell people apart; without columns every row is another person.

    With ``rows_are_people`` a person answers for the latter, although identifiers contradict it. ``may_span`` names
    identifiers that several people may share.
    """

    columns: Annotated[Names, NOT_EMPTY] = ()
    rows_are_people: Answered | None = None
    may_span: tuple[Spanning, ...] = ()

    @model_validator(mode="after")
    def _one_way(self) -> Unit:
        if self.rows_are_people and (self.columns or self.may_span):
            raise ValueError("`rows_are_people` says that no column tells people apart; remove the others")
        return self

    @property
    def answered(self) -> tuple[Answered, ...]:
        """All statements that a person answers for."""
        return (*((self.rows_are_people,) if self.rows_are_people else ()), *self.may_span)

    def __str__(self) -> str:
        return ", ".join(self.columns) or ROW


def _read(value: Any) -> Any:
    """Return the short forms of a unit (``row``, a column, a list of columns) as the long form."""
    if isinstance(value, dict | Unit):
        return value
    if isinstance(value, list):
        return {"columns": value}
    text = as_text(value)
    if not isinstance(text, str) or not text.strip():
        raise ValueError(
            f"should be `row` (every row is another person), a column or a list of columns, not {quoted(value)}"
        )
    return {} if text == ROW else {"columns": [text]}


UnitSection = Annotated[Unit, BeforeValidator(_read)]


def unit_problems(content: Any, declared: Mapping[str, Any]) -> Found:
    """
    Yield what is wrong between `unit` and the columns: names that no column of the source has, and roles that publish.

    A column that tells people apart by itself is an identifier. One of several that do so together may be anything.
    """
    named = list(_unit_columns(at(content, ("unit",))))
    for location, name in (*named, *_spanning_columns(content)):
        if name not in declared:
            yield location, f"no column {quoted(name)} in `columns`{did_you_mean(name, declared)}"
    if len(named) == 1:
        location, name = named[0]
        if text_at(declared.get(name), ("role",)) in ("quasi", "sensitive", "other"):
            what = f"column {quoted(name)} tells people apart: give it the role identifier, or name another unit"
            yield location, what
    if not named and at(content, ("unit",)) and at(content, ("privacy", "max_rows_per_person")) is not None:
        what = "by `unit` every row is another person, so none has several; remove it, or name the columns of the unit"
        yield ("privacy", "max_rows_per_person"), what


def _unit_columns(written: Any) -> Iterator[tuple[Location, str]]:
    """Yield the columns that tell people apart, and where each is written."""
    here: Location = ("unit",)
    if isinstance(written, dict):
        here, written = ("unit", "columns"), at(written, ("columns",))
    if isinstance(written, list):
        for index, one in enumerate(written):
            if isinstance(name := as_text(one), str):
                yield (*here, index), name
    elif isinstance(name := as_text(written), str) and name != ROW and here == ("unit",):
        yield here, name


def _spanning_columns(content: Any) -> Iterator[tuple[Location, str]]:
    for index, one in enumerate(list_at(content, ("unit", "may_span"))):
        if name := text_at(one, ("column",)):
            yield ("unit", "may_span", index, "column"), name
