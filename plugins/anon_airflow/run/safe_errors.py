"""What an exception may say outside: our own words as they are, of anyone else's only the kind and the place."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from anon_core.errors import AnonError, InternalError, TableError
from anon_core.extras import missing_extra


def reason_of(error: BaseException) -> str:
    """Say what went wrong without a library's words: our messages hold no values, other people's quote cells."""
    if isinstance(error, TableError):
        return error.what
    if isinstance(error, AnonError):
        return str(error)
    if missing := missing_extra(error):
        return str(missing)
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # not error.strerror: Arrow puts a text of its own there
    return str(InternalError(type(error).__name__, place_of(error)))


def place_of(error: BaseException) -> str:
    """Return where in our own code an error came up: file and line, never its text."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if {"anon_core", "anon_airflow"} & set(Path(f.filename).parts)]
    last = (ours or frames)[-1] if frames else None
    return f"{Path(last.filename).name}:{last.lineno}" if last else "an unknown place"
