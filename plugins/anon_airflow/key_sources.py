"""Where the secret of a signing key comes from: a private file, or a command that prints it."""

from __future__ import annotations

import functools
import logging
import os
import secrets
import shlex
import subprocess
from pathlib import Path

from anon_airflow.home import private_folder, write_private
from anon_airflow.locks import locked
from anon_core.errors import InvalidInputError
from anon_core.regular_files import NotRegularError, open_regular

_log = logging.getLogger(__name__)

_MIN_LENGTH = 32
_COMMAND_TIMEOUT_S = 60
"""How long a command may take to print a key."""
_MAX_BYTES = 1 << 16
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
    if len(secret) < _MIN_LENGTH:
        raise InvalidInputError(
            f"{where} holds {len(secret)} characters, a signing key needs {_MIN_LENGTH} or more; {_HOW_TO_MAKE_ONE}"
        )
    return secret


def read_private(path: Path, where: str) -> bytes:
    try:
        with open_regular(path) as file:
            mode = os.fstat(file.fileno()).st_mode & 0o777
            secret = file.read(_MAX_BYTES + 1)
    except NotRegularError as error:
        raise InvalidInputError(f"{where} names {error.kind}; {_HOW_TO_MAKE_ONE} and chmod 600 it") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InvalidInputError(f"{where} cannot be read: {reason}; {_HOW_TO_MAKE_ONE} and chmod 600 it") from None
    if len(secret) > _MAX_BYTES:
        raise InvalidInputError(f"{where} has more than {_MAX_BYTES:,} bytes, and is no key; {_HOW_TO_MAKE_ONE}")
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
        # The command is given by the person who runs the worker.
        ended = subprocess.run(  # noqa: S603
            words, capture_output=True, stdin=subprocess.DEVNULL, timeout=_COMMAND_TIMEOUT_S, check=False
        )
    except subprocess.TimeoutExpired:
        raise InvalidInputError(f"{where} has not ended within {_COMMAND_TIMEOUT_S} seconds; run it by hand") from None
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
    """
    Write a new key: the file appears whole or not at all, and only once; two processes may do so at once.

    A process that is killed leaves at most a part, which the next one overwrites: no unused key stays on the disk.

    :raises StorageError: the folder does not take it.
    """
    private_folder(path.parent)
    with locked(path.parent, _COMMAND_TIMEOUT_S):
        if not path.exists():  # Another process may have been first: its key is the key.
            write_private(path, secrets.token_hex(32).encode())
