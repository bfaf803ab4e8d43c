"""What may be shown of an exception: the message if it is one of ours, else only its type and place in the code."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from anon_core.errors import AnonError, InternalError, TableError
from anon_core.extras import missing_extra


def reason_of(error: BaseException) -> str:
    """Return what went wrong, without text of a library: our messages hold no values, theirs may quote cells."""
    if isinstance(error, TableError):
        return error.what
    if isinstance(error, AnonError):
        return str(error)
    if missing := missing_extra(error):
        return str(missing)
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # Not `error.strerror`: Arrow puts its own text there.
    return str(InternalError(type(error).__name__, place_of(error)))


def place_of(error: BaseException) -> str:
    """Return where in our own code an error was raised: file and line, never its text."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [f for f in frames if {"anon_core", "anon_airflow"} & set(Path(f.filename).parts)]
    last = (ours or frames)[-1] if frames else None
    return f"{Path(last.filename).name}:{last.lineno}" if last else "an unknown place"
