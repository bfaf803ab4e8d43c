"""One table on every engine, as rows and as frequencies: what an expectation says must be the same on all."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import great_expectations as gx
import pandas as pd
import pytest
import sqlalchemy as sa

from anon_airflow.expectations import expectations_of_models
from anon_airflow.expectations.evaluation import batch_of

WEIGHT = "rows of the group"
"""A name with blanks, so that quoting of weights is tried everywhere."""

TYPES = {
    str: ("str", "TEXT", "TEXT"),
    int: ("Int64", "INTEGER", "BIGINT"),
    float: ("float64", "REAL", "DOUBLE PRECISION"),
    bool: ("boolean", "BOOLEAN", "BOOLEAN"),
    Decimal: ("object", "BLOB", "NUMERIC"),
    date: ("object", "TEXT", "DATE"),
    datetime: ("datetime64[us]", "TEXT", "TIMESTAMP"),
}
"""A kind of cells in pandas, SQLite and PostgreSQL."""
_numbers = itertools.count()


@dataclass(frozen=True)
class Cells:
    """A table as Python has it; ``None`` is a gap. Kinds are those of the first row with a value, or text."""

    names: Sequence[str]
    rows: Sequence[tuple[Any, ...]]
    kinds: Sequence[type] | None = None

    def kind(self, at: int) -> type:
        if self.kinds:
            return self.kinds[at]
        return next((type(row[at]) for row in self.rows if row[at] is not None), str)

    def frame(self) -> pd.DataFrame:
        columns = [
            pd.Series([row[at] for row in self.rows], dtype=TYPES[self.kind(at)][0]) for at in range(len(self.names))
        ]
        table = pd.concat(columns, axis=1) if columns else pd.DataFrame()
        table.columns = list(self.names)
        return table

    def categories(self) -> pd.DataFrame:
        """Return texts as categories, with one that no row has."""
        return self.frame().astype("category").apply(lambda column: column.cat.add_categories(["nobody's"]))

    def counted(self) -> Cells:
        """Return the distinct rows with their weights; a group of several rows is split in two, to be added again."""
        counts = Counter((repr(row), row) for row in self.rows)
        parts = [
            (*row, part) for (_, row), times in counts.items() for part in ((times,) if times == 1 else (1, times - 1))
        ]
        return Cells([*self.names, WEIGHT], parts, [*map(self.kind, range(len(self.names))), int])


def people(*groups: tuple[Any, ...], names: Sequence[str] = ("sex", "town")) -> Cells:
    """Return a table with as many rows as the number at the end of each group says."""
    return Cells(names, [tuple(group[:-1]) for group in groups for _ in range(group[-1])])


class Database:
    """A database that Great Expectations reads: tables are written with a plain engine beside it."""

    def __init__(self, kind: str, engine: sa.Engine, source: Any) -> None:
        self.kind, self.engine, self.source = kind, engine, source

    def run(self, *statements: str) -> None:
        with self.engine.begin() as connection:
            for statement in statements:
                connection.exec_driver_sql(statement)

    def quoted(self, name: str) -> str:
        return self.engine.dialect.identifier_preparer.quote_identifier(name)

    def write(self, cells: Cells, types: Sequence[str] | None = None, schema: str | None = None) -> str:
        """Write a table and return its name."""
        name = f"t{next(_numbers)}"
        where = f"{schema}.{name}" if schema else name
        place = 1 if self.kind == "sqlite" else 2
        types = types or [TYPES[cells.kind(at)][place] for at in range(len(cells.names))]
        columns = ", ".join(f"{self.quoted(column)} {kind}" for column, kind in zip(cells.names, types, strict=True))
        marks = ", ".join("?" if self.kind == "sqlite" else "%s" for _ in cells.names)
        with self.engine.begin() as connection:
            connection.exec_driver_sql(f"CREATE TABLE {where} ({columns})")
            if cells.rows:
                connection.exec_driver_sql(f"INSERT INTO {where} VALUES ({marks})", [*map(self._stored, cells.rows)])
        return name

    def _stored(self, row: tuple[Any, ...]) -> tuple[Any, ...]:
        if self.kind == "postgresql":
            return row
        return tuple(str(cell) if isinstance(cell, (Decimal, date)) else cell for cell in row)

    def batch(self, table: str, schema: str | None = None) -> Any:
        asset = self.source.add_table_asset(f"a{next(_numbers)}", table_name=table, schema_name=schema)
        return asset.add_batch_definition_whole_table("whole").get_batch()

    def query_batch(self, query: str) -> Any:
        asset = self.source.add_query_asset(f"a{next(_numbers)}", query=query)
        return asset.add_batch_definition_whole_table("whole").get_batch()

    def judge(self, name: str, cells: Cells, *, weight_column: str | None = None, **kwargs: Any) -> Any:
        return judged(self.batch(self.write(cells)), name, weight_column=weight_column, **kwargs)

    def agreed(self, name: str, cells: Cells, **kwargs: Any) -> Any:
        """Return the one result of rows, frequencies and categories, here and in pandas: they must be the same."""
        counted = cells.counted()
        results = {
            "pandas, rows": judged(batch_of(cells.frame()), name, **kwargs),
            "pandas, frequencies": judged(batch_of(counted.frame()), name, weight_column=WEIGHT, **kwargs),
            f"{self.kind}, rows": self.judge(name, cells, **kwargs),
            f"{self.kind}, frequencies": self.judge(name, counted, weight_column=WEIGHT, **kwargs),
        }
        if all(cells.kind(at) is str for at in range(len(cells.names))):
            results["pandas, categories"] = judged(batch_of(cells.categories()), name, **kwargs)
        said = {where: (result.success, result.result) for where, result in results.items()}
        first = said["pandas, rows"]
        assert said == dict.fromkeys(said, first), said
        for result in results.values():
            json.dumps(result.to_json_dict(), allow_nan=False)
        return results["pandas, rows"]


def judged(
    batch: Any, name: str, *, weight_column: str | None = None, result_format: str = "BASIC", **kwargs: Any
) -> Any:
    """Run one expectation on a batch."""
    return batch.validate(
        expectations_of_models()[name](weight_column=weight_column, **kwargs), result_format=result_format
    )


@pytest.fixture(scope="session")
def expectation_context() -> Any:
    """One context for all databases."""
    return gx.get_context(mode="ephemeral")


@pytest.fixture(name="sqlite_database", scope="session")
def in_sqlite(expectation_context: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    address = f"sqlite:///{tmp_path_factory.mktemp('expectations')}/tables.db"
    source = expectation_context.data_sources.add_sqlite("sqlite", connection_string=address)
    engine = sa.create_engine(address)
    yield Database("sqlite", engine, source)
    engine.dispose()
    source.get_execution_engine().close()
    source.get_engine().dispose()


@pytest.fixture(name="postgresql_database", scope="session")
def in_postgresql(expectation_context: Any, postgresql: str) -> Iterator[Database]:
    engine = sa.create_engine(postgresql.format("postgres"))
    address = postgresql.format("postgres").replace("@/", "@localhost/")  # Great Expectations wants a host.
    source = expectation_context.data_sources.add_postgres("postgresql", connection_string=address)
    yield Database("postgresql", engine, source)
    engine.dispose()
    source.get_execution_engine().close()
    source.get_engine().dispose()


@pytest.fixture(name="database", params=["sqlite", "postgresql"])
def each_database(request: pytest.FixtureRequest) -> Database:
    """Each database that expectations are measured in."""
    return request.getfixturevalue(f"{request.param}_database")
