"""Where the secret of a signing key comes from: a private file, or a command that prints it."""

from __future__ import annotations

import functools
import logging
import os
import secrets
import shlex
import subprocess
from pathlib import Path

from anon_core.errors import InvalidInputError, StorageError

__all__ = ["create_key", "long_enough", "printed", "read_private", "warn_once"]

_log = logging.getLogger(__name__)

_SHORTEST = 32
_PATIENCE = 60
"""Seconds that a command may take to print a key."""
_HOW_TO_MAKE_ONE = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'


@functools.cache
def warn_once(path: Path) -> None:
    _log.warning(
        "signing with the key in %s, which is for demonstrations: whoever reads that folder can sign too. "
        "In production set ANON_SIGNING_KEY, ANON_SIGNING_KEY_FILE with mode 0600, or ANON_SIGNING_KEY_CMD; %s",
        path,
        _HOW_TO_MAKE_ONE,
    )


def long_enough(secret: bytes, where: str) -> bytes:
    secret = secret.strip()
    if len(secret) < _SHORTEST:
        raise InvalidInputError(
            f"{where} holds {len(secret)} characters, a signing key needs {_SHORTEST} or more; {_HOW_TO_MAKE_ONE}"
        )
    return secret


def read_private(path: Path, where: str) -> bytes:
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            secret = file.read()
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInputError(f"{where} cannot be read: {reason}; {_HOW_TO_MAKE_ONE} and chmod 600 it") from None
    if mode & 0o077:
        raise InvalidInputError(f"{where} has mode {mode:04o}, so others than its owner reach it; chmod 600 it")
    return secret


@functools.cache
def printed(command: str) -> bytes:
    """
    Run a command, without a shell, and return the key that it prints; once per process, for it may take a while.

    What it prints, errors too, is not told to anyone: it may be the key.
    """
    where = "ANON_SIGNING_KEY_CMD"
    try:
        words = shlex.split(command)
    except ValueError:
        raise InvalidInputError(f"{where} has a quote that is not closed; it is split as a shell does") from None
    if not words:
        raise InvalidInputError(f"{where} is empty; set the command that prints the key, or unset it")
    try:
        ended = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=_PATIENCE, check=False)  # noqa: S603 - whoever sets it owns the worker
    except subprocess.TimeoutExpired:
        raise InvalidInputError(f"{where} has not ended within {_PATIENCE} seconds; run it by hand") from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or type(error).__name__
        raise InvalidInputError(f"{where} cannot be run: {reason}; it is run without a shell") from None
    if ended.returncode:
        raise InvalidInputError(
            f"{where} ended with code {ended.returncode}; its output is withheld, for it may hold the key: run it by "
            "hand, as the user of the worker"
        )
    return long_enough(ended.stdout, f"the output of {where}")


def create_key(path: Path) -> None:
    """Write a new key beside its place and link it there: the file appears whole or not at all, and only once."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_hex(32).encode())
                file.flush()
                os.fsync(file.fileno())
            os.link(draft, path)
        except FileExistsError:
            pass  # another process was first: its key is the key
        finally:
            draft.unlink()
    except OSError as error:
        raise StorageError(str(path), "making a signing key", error.strerror or type(error).__name__) from None
