"""The folder that hierarchy files of a suite are found in: told by whoever evaluates it, never written in the suite.

A suite is kept with the notes of a run and compared between machines; where a folder lies on one is none of its words.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from anon_airflow.expectations.metrics.refusal import NotMeasurableError

_FOLDER: ContextVar[Path | None] = ContextVar("anon_hierarchy_folder", default=None)


@contextmanager
def hierarchies_in(folder: Path) -> Iterator[None]:
    """Let metrics find hierarchy files below this folder, as long as the block lasts."""
    token = _FOLDER.set(folder)
    try:
        yield
    finally:
        _FOLDER.reset(token)


def hierarchy_folder() -> Path:
    """
    Return the folder of hierarchy files.

    :raises NotMeasurableError: nobody told it.
    """
    folder = _FOLDER.get()
    if folder is None:
        raise NotMeasurableError("nobody told the folder of its hierarchy files: evaluate the suite through the gate")
    return folder
