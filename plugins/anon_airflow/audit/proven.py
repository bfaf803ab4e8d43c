"""Rows that a decision may rely on, from the whole store: what was sent where, and what was withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from anon_airflow.audit.chain import GENESIS, Head, walk, wrong, wrong_entry
from anon_airflow.audit.clock import BY
from anon_airflow.audit.database import Database
from anon_airflow.audit.handover import Signers
from anon_airflow.audit.models import ROWS
from anon_airflow.audit.runs import decoded
from anon_airflow.key_ring import KeyRing
from anon_core.errors import RefusedError

Row = Mapping[str, Any]


def proven_rows(database: Database, ring: KeyRing, tables: Sequence[str]) -> dict[str, list[Row]]:
    """
    Return all rows of some tables, oldest first, each proven by its own link.

    The history of one run proves every link since the run began. This goes back to the first link of all and asks
    less: rows of other tables are not looked at, so an old fault elsewhere does not stop every dataset for good. But no
    link may be missing, each must follow the one before it, and each must be signed: nothing of these tables can be
    gone unnoticed. Retired keys are needed for that.

    :raises RefusedError: a link does not hold, or one of these rows is not what was signed.
    """
    found: dict[str, list[Row]] = {name: [] for name in tables}
    head = Head(0, GENESIS)
    for position in walk(database):
        here = {name for name, _ in position.rows} | {entry["table_name"] for entry in position.entries}
        if here.isdisjoint(found):
            what = wrong_entry(position, head, ring) if position.entries else ""
        else:
            what = wrong(position, head, Signers(ring))
        if what:
            reason = f"link {position.number}: {what}; nothing on record is believed: run `anon audit verify`"
            raise RefusedError(BY, [reason])
        for name, row in position.rows:
            if name in found:
                found[name].append(decoded(ROWS[name], row))
        if position.entries:
            head = Head(position.number, position.entries[0]["mac"])
    return found
