"""What an exception may say outside: our own words as they are, of anyone else's only the kind and the place."""

from __future__ import annotations

import os
import traceback
from pathlib import Path

from anon_core.errors import AnonError, InternalError, TableError


def reason_of(error: BaseException) -> str:
    """Say what went wrong without a library's words: our messages hold no values, other people's quote cells."""
    if isinstance(error, TableError):
        return error.what
    if isinstance(error, AnonError):
        return str(error)
    if isinstance(error, OSError) and error.errno:
        return os.strerror(error.errno)  # not error.strerror: Arrow puts a text of its own there
    frames = traceback.extract_tb(error.__traceback__)
    where = f"{Path(frames[-1].filename).name}:{frames[-1].lineno}" if frames else "an unknown line"
    return str(InternalError(type(error).__name__, where))
