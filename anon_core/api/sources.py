"""The table argument of the verbs: a frame, a table that was read, or a path; and whose its rows are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from anon_core.engines.engine import Engine, engine_named
from anon_core.errors import InvalidInputError, TableError
from anon_core.registry import ANY_ENGINE
from anon_core.table import ReadOptions, Table
from anon_core.table import read as read_file
from anon_core.table.frames import FRAME, Frame, read_frame
from anon_core.table.people import fresh_name, person_column

Names: TypeAlias = str | Sequence[str]
"""One column, or several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedTable:
    """A table in memory, and the kind of engine that counts it."""

    table: Table
    engine: type[Engine]

    def counted_for(self, unit: Sequence[str]) -> Engine:
        """
        Return the engine of the rows, with the people behind them where columns tell these apart.

        :raises UnknownColumnError: a column of the unit is not in the table.
        """
        return self.counted(self.table, unit)

    def counted(self, table: Table, unit: Sequence[str]) -> Engine:
        """Return the engine of other columns of the same rows, with the people behind them."""
        if not unit:
            return self.engine.of(table)
        name = fresh_name("person", [*self.table.names, *table.names])
        people = person_column(self.table, unit, name)
        return self.engine.of(Table(columns=(*table.columns, people), rows=table.rows), unit=name)


TableLike: TypeAlias = Frame | Table | LoadedTable | Path | str
"""A frame of pandas, polars or pyarrow; a table that :func:`read` gave; or the path of a CSV or Parquet file."""


def rows_of(source: TableLike, options: ReadOptions | None = None, *, engine: str = ANY_ENGINE) -> LoadedTable:
    """
    Return the rows of a source, which stays as it is.

    :raises TableError: it cannot be read, or has no rows.
    :raises InvalidInputError: it is none of the kinds that are read.
    """
    options = options or ReadOptions(encoding="auto")
    if isinstance(source, LoadedTable):
        return source
    if isinstance(source, (str, Path)):
        path = Path(source)
        return LoadedTable(table=read_file(path, options), engine=engine_named(engine, source=path))
    if isinstance(source, Table):
        if not source.rows or not source.columns:
            raise TableError("the table", "has no rows", "there is nothing to measure: check how it was made")
        return LoadedTable(table=source, engine=engine_named(engine, source=FRAME))
    if isinstance(source, Frame) and not isinstance(source, type):
        return LoadedTable(table=read_frame(source, options), engine=engine_named(engine, source=FRAME))
    raise InvalidInputError(
        f"a table is wanted, and this is of type {type(source).__name__}: give a frame of pandas, polars or pyarrow "
        "(anything with __arrow_c_stream__), or the path of a CSV or Parquet file"
    )


def read(
    source: Frame | Table | Path | str,
    *,
    delimiter: str = "auto",
    encoding: str = "auto",
    missing_words: Sequence[str] = ("",),
) -> Table:
    """
    Read a table once, for several verbs; every cell is text, and a cell that is one of ``missing_words`` is a gap.

    ``delimiter`` and ``encoding`` are those of a CSV file; other sources have none. Of a path with ``*`` all matching
    files are read, one below the other.

    :raises TableError: it cannot be read, or has no rows.
    :raises InvalidInputError: the source is no file, and an argument is for files only.
    """
    if isinstance(missing_words, str):
        missing_words = (missing_words,)
    if not isinstance(source, (str, Path)) and (delimiter, encoding) != ("auto", "auto"):
        raise InvalidInputError("delimiter= and encoding= are for CSV files; a frame has neither: leave them out")
    if isinstance(source, Table) and tuple(missing_words) != ("",):
        raise InvalidInputError("missing_words= is for what is read now, and this table was read before")
    options = ReadOptions(delimiter=delimiter, encoding=encoding, missing_words=tuple(missing_words))
    return rows_of(source, options).table


def names_of(given: Names | None) -> tuple[str, ...]:
    """
    Return one name or several as a tuple.

    >>> names_of("age"), names_of(["age", "town"]), names_of(None)
    (('age',), ('age', 'town'), ())
    """
    return (given,) if isinstance(given, str) else tuple(given or ())


def searched_names(given: Names | None) -> tuple[str, ...] | None:
    """Return the columns that a search is given; None where it is left to search all."""
    return None if given is None else names_of(given)
