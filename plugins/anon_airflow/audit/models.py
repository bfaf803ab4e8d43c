"""The tables of the audit store, and the triggers that prevent changes and removals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sqlalchemy import BigInteger, Column, Index, Integer, MetaData, Table, Text

SCHEMA_VERSION = 1

metadata = MetaData()


def _text(name: str, *, required: bool = True) -> Column[Any]:
    return Column(name, Text, nullable=not required)


def _count(name: str) -> Column[Any]:
    return Column(name, BigInteger, nullable=True)


def _json(name: str) -> Column[Any]:
    """A column that holds canonical JSON text; ``details`` may be left out and is then an empty object."""
    return Column(name, Text, nullable=False, info={"json": True})


def _rows(name: str, *columns: Column[Any]) -> Table:
    """A table whose rows are chained: a row's id is the seq of its chain entry, so it is unique across tables."""
    table = Table(name, metadata, Column("id", Integer, primary_key=True, autoincrement=False), *columns, _text("at"))
    if "run_id" in table.c:
        Index(f"{name}_by_run", table.c.run_id)
    return table


def _of_run() -> tuple[Column[Any], Column[Any]]:
    return _text("run_id"), _text("dataset")


CHAIN = Table(
    "chain",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    _text("table_name"),
    Column("row_id", Integer, nullable=False),
    _text("at"),
    _text("row_digest"),
    _text("previous_mac"),
    _text("mac"),
    _text("key_id"),
)

# Every step looks up the link with the latest day.
Index("chain_by_time", CHAIN.c.at)

VERSIONS = Table("schema_version", metadata, Column("version", Integer, primary_key=True, autoincrement=False))

_TABLES = (
    _rows("intents", *_of_run(), _text("verb"), _text("spec_digest", required=False), _text("actor"), _json("details")),
    _rows("outcomes", Column("intent_id", Integer, nullable=False, index=True), _text("status"), _json("details")),
    _rows(
        "releases",
        *_of_run(),
        _text("version"),
        _text("period", required=False),
        _count("rows_in"),
        _count("rows_out"),
        _text("content_digest"),
        _text("spec_digest"),
        _json("details"),
    ),
    _rows(
        "checks",
        *_of_run(),
        _text("distribution", required=False),
        _text("name"),
        Column("passed", Integer, nullable=False, info={"flag": True}),
        _json("observed"),
        _json("required"),
    ),
    _rows("recodings", *_of_run(), _text("method"), _count("rows_changed"), _count("rows_removed"), _json("details")),
    _rows("receipts", *_of_run(), _text("digest"), _text("body")),
    _rows(
        "approvals",
        *_of_run(),
        _text("receipt_digest"),
        _text("person"),
        _text("decision"),
        _text("mac"),
        _json("details"),
    ),
    _rows(
        "publications",
        *_of_run(),
        _text("version"),
        _text("portal"),
        _text("status"),
        _text("location"),
        _text("content_digest"),
        _json("details"),
    ),
    _rows("refusals", *_of_run(), _text("by"), _json("reasons")),
    _rows(
        "waivers",
        *_of_run(),
        _text("check_name"),
        _json("columns"),
        _text("reason"),
        _text("person"),
        _text("until", required=False),
    ),
    _rows("withdrawals", _text("dataset"), _text("version"), _text("reason"), _text("person")),
)

ROWS: dict[str, Table] = {table.name: table for table in _TABLES}


def trigger_statements(dialect: str) -> Iterator[str]:
    """Yield the SQL statements of the triggers that make every table append-only."""
    if dialect == "postgresql":
        yield (
            "CREATE OR REPLACE FUNCTION anonflow_append_only() RETURNS trigger LANGUAGE plpgsql AS "
            "$$ BEGIN RAISE EXCEPTION 'the audit store is append-only'; END $$"
        )
    for table in metadata.sorted_tables:
        if dialect == "postgresql":
            yield (
                f"CREATE TRIGGER {table.name}_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON {table.name} "
                "FOR EACH STATEMENT EXECUTE FUNCTION anonflow_append_only()"
            )
        else:
            for verb in ("UPDATE", "DELETE"):
                yield (
                    f"CREATE TRIGGER {table.name}_no_{verb.lower()} BEFORE {verb} ON {table.name} "
                    "BEGIN SELECT RAISE(ABORT, 'the audit store is append-only'); END"
                )
            # INSERT OR REPLACE removes the old row without firing the trigger on DELETE.
            (key,) = table.primary_key.columns
            yield (
                f"CREATE TRIGGER {table.name}_no_replace BEFORE INSERT ON {table.name} "
                f"WHEN EXISTS (SELECT 1 FROM {table.name} WHERE {key.name} = NEW.{key.name}) "
                "BEGIN SELECT RAISE(ABORT, 'the audit store is append-only'); END"
            )
