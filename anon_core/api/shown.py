"""A result as a small table: for pandas, for Arrow, and for a notebook."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from anon_core.errors import InvalidInputError
from anon_core.wording import counted, rows_not_people

if TYPE_CHECKING:
    import pandas
    import pyarrow as pa

NAMES = "names"
"""The type of a field that holds the names of columns."""
MAX_ROWS = 50
"""A notebook shows so many rows of a result."""


class Shown(ABC):
    """
    A result with one record per line: of names, counts and sentences, never of cells of the table.

    ``FIELDS`` has the Arrow type of every field of a record, or ``names``.
    """

    __slots__ = ()

    FIELDS: ClassVar[Mapping[str, str]]

    @property
    @abstractmethod
    def heading(self) -> str:
        """The result in one line."""

    @abstractmethod
    def records(self) -> list[dict[str, Any]]:
        """Return the lines of the result, each with all fields."""

    def to_arrow(self) -> pa.Table:
        """Return the records as an Arrow table."""
        import pyarrow as pa

        kinds = {
            name: pa.list_(pa.string()) if kind == NAMES else pa.type_for_alias(kind) for name, kind in self._kinds()
        }
        return pa.Table.from_pylist(self.records(), schema=pa.schema(kinds))

    def to_pandas(self) -> pandas.DataFrame:
        """
        Return the records as a pandas frame.

        :raises InvalidInputError: pandas is not installed.
        """
        if find_spec("pandas") is None:
            raise InvalidInputError("to_pandas() needs pandas: pip install pandas, or use to_arrow()")
        return self.to_arrow().to_pandas()

    def _kinds(self) -> list[tuple[str, str]]:
        return list(self.FIELDS.items())

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return html_table(self.heading, list(self.FIELDS), [list(one.values()) for one in self.records()])


def html_table(heading: str, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """
    Return a plain table; everything in it is escaped.

    >>> html_table("1 row", ["columns"], [[("<b>", "age")]])
    '<table><caption>1 row</caption><tr><th>columns</th></tr><tr><td>&lt;b&gt;, age</td></tr></table>'
    """
    lines = ["".join(f"<td>{escape(_text(cell))}</td>" for cell in row) for row in rows[:MAX_ROWS]]
    if len(rows) > MAX_ROWS:
        lines.append(f'<td colspan="{len(header)}">and {counted(len(rows) - MAX_ROWS, "more row")}</td>')
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(f"<tr>{line}</tr>" for line in (head, *lines))
    return f"<table><caption>{escape(heading)}</caption>{body}</table>"


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:.4g}"
    return ", ".join(map(str, cell)) if isinstance(cell, (tuple, list)) else str(cell)


def rows_or_people(count: int, unit: Sequence[str]) -> str:
    """
    Return what was counted, in words: people, or rows that may be of fewer people.

    >>> rows_or_people(1, ["person"]), rows_or_people(2000, [])
    ('1 person, told apart by person', '2,000 rows, not people')
    """
    if unit:
        return f"{counted(count, 'person')}, told apart by {', '.join(unit)}"
    return rows_not_people(count)
