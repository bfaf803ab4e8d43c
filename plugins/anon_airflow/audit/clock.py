"""The latest day on record: a waiver that has ended does not become valid again when a clock is set back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import select

from anon_airflow.audit.chain import entry_message
from anon_airflow.audit.database import Database
from anon_airflow.audit.legible import legible
from anon_airflow.audit.models import CHAIN
from anon_airflow.keys.ring import RETIRED, KeyRing
from anon_core.errors import RefusedError

BY = "audit store"


@dataclass(frozen=True, slots=True, order=True)
class SeenDay:
    """A day, and the link that has it."""

    day: date
    link: int


def latest_day(database: Database, ring: KeyRing) -> SeenDay | None:
    """
    Return the latest day of any link of the whole chain; None for an empty store.

    The newest link may have an earlier day: a worker whose clock was set back writes links too. Only two links are
    read, by an index, and both must be signed: the one with the latest time and the newest. `publish`, which reads all
    links, and `anon audit verify` detect a link whose time was changed to an earlier one.

    :raises RefusedError: one of the two was edited, or names a key that is not here.
    """
    times = select(CHAIN).where(CHAIN.c.at.is_not(None)).order_by(CHAIN.c.at.desc(), CHAIN.c.seq.desc()).limit(1)
    with database.reading() as connection:
        newest = connection.execute(select(CHAIN).order_by(CHAIN.c.seq.desc()).limit(1)).mappings().first()
        latest = connection.execute(times).mappings().first()
    if newest is None:
        return None
    if ring.find(newest["key_id"]) is None:
        return None
    _check(dict(newest), ring, "the newest")
    if latest is None:
        return None
    _check(dict(latest), ring, "which has the latest day")
    return SeenDay(date.fromisoformat(latest["at"][:10]), latest["seq"])


def _check(entry: Mapping[str, Any], ring: KeyRing, which: str) -> None:
    key, named = ring.find(entry["key_id"]), legible(entry["key_id"])
    if key is None:
        raise RefusedError(
            BY,
            [
                f"link {entry['seq']}, {which}, was signed with key {named}, which is not here, so this worker cannot "
                f"know which waivers have ended: name a file with that key in {RETIRED}"
            ],
        )
    if not key.verify("chain", entry_message(entry), entry["mac"]):
        raise RefusedError(BY, [f"link {entry['seq']}, {which}, was edited: run `anon audit verify`"])
