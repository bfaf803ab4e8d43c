"""Whether the tables, columns and triggers of the database are those that this version of anonflow makes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, FromClause, Integer, Table, Text, cast, false, inspect, null, select, text

from anon_airflow.audit.models import SCHEMA_VERSION, VERSIONS, metadata, trigger_statements

_POSTGRESQL_TRIGGERS = """
SELECT t.tgname, pg_get_triggerdef(t.oid), t.tgenabled::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE NOT t.tgisinternal AND c.relname = ANY(:tables) AND pg_table_is_visible(c.oid)
"""


@dataclass(frozen=True, slots=True)
class Schema:
    """
    The tables of the database, compared with what they should be.

    ``tables`` can be read also after an intruder has changed them: a missing column is empty, a missing table has no
    rows. ``problems`` has a sentence for each difference.
    """

    tables: Mapping[str, FromClause]
    problems: tuple[str, ...] = ()


def schema_of(connection: Connection) -> Schema:
    """Compare the database with :mod:`anon_airflow.audit.models`; indexes do not matter."""
    inspector = inspect(connection)
    there = {*inspector.get_table_names(), *inspector.get_view_names()}
    tables: dict[str, FromClause] = {}
    problems: list[str] = []
    missing = set()
    for table in metadata.sorted_tables:
        if table.name not in there:
            missing.add(table.name)
            problems.append(f"table {table.name} is missing")
            tables[table.name] = _readable_table(table, {})
            continue
        columns = {column["name"]: column for column in inspector.get_columns(table.name)}
        found = list(_differences(table, columns))
        keys = inspector.get_pk_constraint(table.name)["constrained_columns"]
        if keys != [column.name for column in table.primary_key.columns]:
            found.append(f"table {table.name} has lost its primary key")
        problems += found
        tables[table.name] = _readable_table(table, columns) if found else table
    if connection.dialect.name == "sqlite":
        problems += [f"table {name} was added" for name in sorted(there - metadata.tables.keys())]
    problems += _version_problems(connection, tables[VERSIONS.name], missing)
    problems += _trigger_problems(connection, missing)
    return Schema(tables, tuple(problems))


def _version_problems(connection: Connection, versions: FromClause, missing: set[str]) -> Iterator[str]:
    if VERSIONS.name in missing:
        return
    found = connection.execute(select(versions.c.version)).scalars().all()
    if list(found) != [SCHEMA_VERSION]:
        yield (
            f"{VERSIONS.name} says {', '.join(map(repr, found)) or 'nothing'}, this version of anonflow makes "
            f"{SCHEMA_VERSION}: another version made the store, or the number was changed by hand"
        )


def _differences(table: Table, columns: Mapping[str, Any]) -> Iterator[str]:
    for column in table.columns:
        found = columns.get(column.name)
        if found is None:
            yield f"column {column.name} of table {table.name} is missing"
        elif not _same_kind(column.type, found["type"]):
            yield f"column {column.name} of table {table.name} has another type, {type(found['type']).__name__}"
        elif found["nullable"] != column.nullable and not column.primary_key:
            now = "may be empty" if found["nullable"] else "may no longer be empty"
            yield f"column {column.name} of table {table.name} {now}"
    for name in sorted(columns.keys() - {column.name for column in table.columns}):
        yield f"column {name} of table {table.name} was added"


def _same_kind(expected: Any, found: Any) -> bool:
    return isinstance(found, Integer) if isinstance(expected, Integer) else isinstance(found, Text)


def _readable_table(table: Table, columns: Mapping[str, Any]) -> FromClause:
    """A table to read from with all the columns that it should have, the missing ones empty."""
    if not columns:
        return select(*[null().label(column.name) for column in table.columns]).where(false()).subquery(table.name)
    return select(
        *[
            null().label(column.name)
            if column.name not in columns
            else column
            if isinstance(column.type, Integer) or _same_kind(column.type, columns[column.name]["type"])
            else cast(column, Text).label(column.name)
            for column in table.columns
        ]
    ).subquery(f"read_{table.name}")


def _trigger_problems(connection: Connection, missing: set[str]) -> Iterator[str]:
    """Compare the triggers that protect the rows with those that this version would make."""
    expected, on = {}, {}
    for statement in trigger_statements(connection.dialect.name):
        found = re.search(r"CREATE TRIGGER (\w+) BEFORE [A-Z ]+ ON (\w+)", statement)
        if found and found[2] not in missing:
            expected[found[1]], on[found[1]] = _normalised(statement), found[2]
    if connection.dialect.name == "sqlite":
        rows = connection.execute(text("SELECT name, sql, 'O' FROM sqlite_master WHERE type = 'trigger'"))
    else:
        rows = connection.execute(text(_POSTGRESQL_TRIGGERS), {"tables": list(metadata.tables)})
    actual = {str(name): (_normalised(str(made)), enabled in ("O", "A")) for name, made, enabled in rows}
    for _, lost in groupby(sorted(expected.keys() - actual.keys(), key=lambda name: (on[name], name)), on.__getitem__):
        names = list(lost)
        are = f"trigger {names[0]} is" if len(names) == 1 else f"triggers {', '.join(names)} are"
        yield f"{are} missing: rows could be changed or removed without a refusal"
    for name in sorted(actual.keys() - expected.keys()):
        yield f"trigger {name} was added"
    for name in sorted(actual.keys() & expected.keys()):
        made, enabled = actual[name]
        if not enabled or (connection.dialect.name == "sqlite" and made != expected[name]):
            yield f"trigger {name} was {'changed' if enabled else 'switched off'}"
    if connection.dialect.name == "postgresql":
        yield from _postgresql_differences(connection, expected, actual)


def _postgresql_differences(
    connection: Connection, expected: Mapping[str, str], actual: Mapping[str, tuple[str, bool]]
) -> Iterator[str]:
    """Compare triggers by when they fire and what they call: PostgreSQL does not return their SQL as it was written."""
    for name in sorted(actual.keys() & expected.keys()):
        made = actual[name][0]
        words = (
            "before",
            "insert" not in made,
            "update",
            "delete",
            "truncate",
            "for each statement",
            " when " not in made,
        )
        whole = all(word if isinstance(word, bool) else word in made for word in words)
        if not whole or not made.endswith("execute function anonflow_append_only()"):
            yield f"trigger {name} was changed"
    body = text("SELECT prosrc FROM pg_proc WHERE proname = 'anonflow_append_only' AND pg_function_is_visible(oid)")
    sources = [_normalised(str(source)) for (source,) in connection.execute(body)]
    wanted = next(iter(trigger_statements("postgresql"))).split("$$")[1]
    if expected and sources != [_normalised(wanted)]:
        yield "function anonflow_append_only was changed: rows could be changed or removed without a refusal"


def _normalised(statement: str) -> str:
    return " ".join(statement.lower().split())
