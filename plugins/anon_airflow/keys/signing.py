"""The key that signs receipts, approvals and the audit chain: HMAC-SHA256 with a secret of the worker."""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import logging
import os
import secrets
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anon_airflow.run.home import private_folder, write_private
from anon_airflow.run.locks import locked
from anon_core.errors import InvalidInputError
from anon_core.files.regular import NotRegularError, open_regular

_SOURCES = ("ANON_SIGNING_KEY", "ANON_SIGNING_KEY_FILE", "ANON_SIGNING_KEY_CMD")
_log = logging.getLogger(__name__)

_MIN_LENGTH = 32
_COMMAND_TIMEOUT_S = 60
"""How long a command may take to print a key."""
_MAX_BYTES = 1 << 16
_HOW_TO_MAKE_ONE = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'


@functools.cache
def warn_once(path: Path) -> None:
    _log.warning(
        "signing with the key in %s, which is for demonstrations: every user who can read that folder can sign too. "
        "In production set ANON_SIGNING_KEY, ANON_SIGNING_KEY_FILE with mode 0600, or ANON_SIGNING_KEY_CMD; %s",
        path,
        _HOW_TO_MAKE_ONE,
    )


def long_enough(secret: bytes, where: str) -> bytes:
    secret = secret.strip()
    if len(secret) < _MIN_LENGTH:
        raise InvalidInputError(
            f"{where} has {len(secret)} characters, but a signing key needs {_MIN_LENGTH} or more; {_HOW_TO_MAKE_ONE}"
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
        raise InvalidInputError(f"{where} has more than {_MAX_BYTES:,} bytes, so it is not a key; {_HOW_TO_MAKE_ONE}")
    if mode & 0o077:
        raise InvalidInputError(f"{where} has mode {mode:04o}, so users other than its owner can read it; chmod 600 it")
    return secret


@functools.cache
def printed(command: str) -> bytes:
    """
    Run a command, without a shell, and return the key that it prints; once per process, because it may take long.

    No message shows what the command prints, not even its errors: it may be the key.
    """
    where = "ANON_SIGNING_KEY_CMD"
    try:
        words = shlex.split(command)
    except ValueError:
        raise InvalidInputError(f"{where} has a quote that is not closed; it is split like a shell command") from None
    if not words:
        raise InvalidInputError(f"{where} is empty; set the command that prints the key, or unset it")
    try:
        # The operator of the worker sets the command.
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
            f"{where} ended with code {ended.returncode}; its output is not shown, because it may hold the key: run it "
            "by hand, as the user of the worker"
        )
    return long_enough(ended.stdout, f"the output of {where}")


def create_key(path: Path) -> None:
    """
    Write a new key, if there is none: the file appears complete or not at all; two processes may do so at once.

    A process that is killed leaves at most a part, which the next one overwrites: no unused key stays on the disk.

    :raises StorageError: the folder cannot be written.
    """
    private_folder(path.parent)
    with locked(path.parent, _COMMAND_TIMEOUT_S):
        if not path.exists():  # Another process may have been faster: then its key counts.
            write_private(path, secrets.token_hex(32).encode())


def canonical_json(value: Any) -> str:
    """
    Write a value as canonical JSON, one text for each value: sorted keys, no spaces, ASCII only, no NaN.

    >>> canonical_json({"b": 1, "a": "è"})
    '{"a":"\\\\u00e8","b":1}'

    :raises TypeError: the value holds something that JSON cannot express.
    :raises ValueError: the value holds NaN or an infinity, or contains itself.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def fresh_nonce() -> str:
    """Return 256 random bits, with which a commitment to a private thing tells nothing of it."""
    return secrets.token_hex(32)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """
    A secret and its short public id; ``repr`` never shows the secret.

    >>> key = SigningKey.of(b"0" * 32)
    >>> key.verify("receipt", b"text", key.sign("receipt", b"text"))
    True
    >>> key.verify("chain", b"text", key.sign("receipt", b"text"))
    False
    """

    secret: bytes = field(repr=False)
    key_id: str

    @classmethod
    def of(cls, secret: bytes) -> SigningKey:
        """Return the key of a secret. Its id is made from a digest, so it is the same everywhere."""
        return cls(secret, hashlib.sha256(b"anonflow key id" + secret).hexdigest()[:12])

    @classmethod
    def load(cls, home: Path, environ: Mapping[str, str] | None = None, *, create: bool = True) -> SigningKey:
        """
        Load this worker's key: from ANON_SIGNING_KEY, from the file that ANON_SIGNING_KEY_FILE names, or from the
        output of the command in ANON_SIGNING_KEY_CMD, which can read a secrets backend; only one of them may be set.

        Without any it is ``home/signing.key``, made on first use, for demonstrations; two processes that make it at
        once end with the same key.

        :raises InvalidInputError: a key is short, its file is missing or readable by users other than its owner, its
            command fails, or several of the variables are set.
        :raises StorageError: the new key cannot be written to ``home``.
        """
        environ = os.environ if environ is None else environ
        named = [name for name in _SOURCES if name in environ]
        if len(named) > 1:
            raise InvalidInputError(
                f"{' and '.join(named)} are set; set only one of them, so that it is clear which key signs"
            )
        if named == ["ANON_SIGNING_KEY"]:
            text = environ["ANON_SIGNING_KEY"].encode("utf-8", "surrogateescape")
            return cls.of(long_enough(text, "ANON_SIGNING_KEY"))
        if named == ["ANON_SIGNING_KEY_CMD"]:
            return cls.of(printed(environ["ANON_SIGNING_KEY_CMD"]))
        if named:
            path = Path(environ["ANON_SIGNING_KEY_FILE"])
            return cls.of(long_enough(read_private(path, where := f"ANON_SIGNING_KEY_FILE ({path})"), where))
        path = home / "signing.key"
        if not path.exists():
            if not create:
                raise InvalidInputError(
                    f"there is no signing key: set ANON_SIGNING_KEY (or ..._FILE, ..._CMD) as on the workers, or make "
                    f"{path}"
                )
            create_key(path)
        if create:
            warn_once(path)
        return cls.of(long_enough(read_private(path, str(path)), str(path)))

    def sign(self, purpose: str, message: bytes) -> str:
        """Sign a message for one purpose. A signature for another purpose is never valid instead."""
        if not purpose.isidentifier():
            raise InvalidInputError(f"the purpose of a signature is one plain word, not {purpose!r}")
        return hmac.new(self.secret, b"anonflow\0" + purpose.encode() + b"\0" + message, hashlib.sha256).hexdigest()

    def verify(self, purpose: str, message: bytes, mac: object) -> bool:
        """Whether ``mac`` is this key's signature; False for a value that is not a signature at all."""
        if not isinstance(mac, str) or not mac.isascii():
            return False
        return hmac.compare_digest(self.sign(purpose, message), mac)


def keys_in_file(path: Path, where: str) -> list[SigningKey]:
    """
    Read a file of keys, one per line; empty lines do not count.

    :raises InvalidInputError: it cannot be read, others can read it too, it has no key, or one is short.
    """
    lines = [line.strip() for line in read_private(path, where).splitlines() if line.strip()]
    if not lines:
        raise InvalidInputError(f"{where} has no key; write one per line, or unset it")
    return [SigningKey.of(long_enough(line, f"{where}, key {number}")) for number, line in enumerate(lines, 1)]
