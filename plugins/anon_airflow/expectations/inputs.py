"""Inputs of expectations besides the batch: a folder of hierarchy files, and the originals of a release.

The caller sets them with a context manager for the time of an evaluation; they are never part of a suite. A suite is
stored and compared between machines, so it must not hold paths of one machine, and it must never hold originals.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

if TYPE_CHECKING:
    import pandas as pd

    from anon_core.frequency import FrequencyTable
    from anon_core.models.subject import Pairing

OriginalTable: TypeAlias = Union["pd.DataFrame", "FrequencyTable"]


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """An empty table, and the frequencies of the file that it stands for."""

    frame: pd.DataFrame
    frequencies: FrequencyTable


_STAND_INS: ContextVar[Mapping[int, StandIn] | None] = ContextVar("anon_stand_ins", default=None)
_FOLDER: ContextVar[Path | None] = ContextVar("anon_hierarchy_folder", default=None)
_PAIRING: ContextVar[Pairing | None] = ContextVar("anon_pairing", default=None)
_ORIGINALS: ContextVar[Mapping[str, OriginalTable] | None] = ContextVar("anon_originals", default=None)


@contextmanager
def hierarchies_in(folder: Path) -> Iterator[None]:
    """Let expectations find hierarchy files in this folder, for the duration of the block."""
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def hierarchy_folder() -> Path | None:
    """Return the folder of hierarchy files; None if none is set."""
    return _FOLDER.get()


@contextmanager
def originals(tables: Mapping[str, OriginalTable]) -> Iterator[None]:
    """
    Let expectations find original tables by their names, for the duration of the block.

    An original is a DataFrame, one row per row as collected, or a frequency table of the core.
    """
    token = _ORIGINALS.set(dict(tables))
    try:
        yield
    finally:
        _ORIGINALS.reset(token)


def original_named(name: str) -> OriginalTable | None:
    """Return the original of this name, or None if none is set."""
    return (_ORIGINALS.get() or {}).get(name)


@contextmanager
def paired_by(pairing: Pairing | None) -> Iterator[None]:
    """Let expectations use the pairing of released rows with originals, for the duration of the block."""
    token = _PAIRING.set(pairing)
    try:
        yield
    finally:
        _PAIRING.reset(token)


def known_pairing() -> Pairing | None:
    """Return the pairing of released rows with their originals, or None if it is not known."""
    return _PAIRING.get()


@contextmanager
def stand_ins(tables: Mapping[int, StandIn]) -> Iterator[None]:
    """Let metrics find frequencies that are counted already, by the id of the frame that stands for them."""
    token = _STAND_INS.set(tables)
    try:
        yield
    finally:
        _STAND_INS.reset(token)


def counted_already(table: pd.DataFrame) -> FrequencyTable | None:
    """Return the frequencies that a frame stands for, or None for a real table."""
    found = (_STAND_INS.get() or {}).get(id(table))
    return found.frequencies if found is not None and found.frame is table else None
