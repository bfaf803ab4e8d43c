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

from anon_core.errors import InvalidInputError, StorageError

__all__ = ["SigningKey", "canonical_json", "keys_in_file"]

_log = logging.getLogger(__name__)

_SHORTEST = 32
_PATIENCE = 60
"""Seconds that a command may take to print a key."""
_SOURCES = ("ANON_SIGNING_KEY", "ANON_SIGNING_KEY_FILE", "ANON_SIGNING_KEY_CMD")
_HOW_TO_MAKE_ONE = 'make one with `python -c "import secrets; print(secrets.token_hex(32))"`'


def canonical_json(value: Any) -> str:
    """
    Write a value as the one JSON text that stands for it: sorted keys, no spaces, ASCII only, no NaN.

    >>> canonical_json({"b": 1, "a": "è"})
    '{"a":"\\\\u00e8","b":1}'

    :raises TypeError: the value holds something that JSON has no word for.
    :raises ValueError: the value holds NaN or an infinity, or holds itself.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """
    A secret and the short public name it goes by; the secret never shows in ``repr``.

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
        """Name a secret after its digest, so that the same secret has the same key id everywhere."""
        return cls(secret, hashlib.sha256(b"anonflow key id" + secret).hexdigest()[:12])

    @classmethod
    def load(cls, home: Path, environ: Mapping[str, str] | None = None, *, create: bool = True) -> SigningKey:
        """
        Find this worker's key: in ANON_SIGNING_KEY, in the file that ANON_SIGNING_KEY_FILE names, or printed by the
        command in ANON_SIGNING_KEY_CMD, which is how a secrets backend is asked; only one of them may be set.

        Without any it is ``home/signing.key``, made on first use, for demonstrations; two processes that make it at
        once end with the same key.

        :raises InvalidInputError: a key is short, its file is missing or readable by others than its owner, its command
            fails, or several places are named.
        :raises StorageError: ``home`` does not take the new key.
        """
        environ = os.environ if environ is None else environ
        named = [name for name in _SOURCES if name in environ]
        if len(named) > 1:
            raise InvalidInputError(
                f"{' and '.join(named)} are set; set one of them, so that it is plain which key signs"
            )
        if named == ["ANON_SIGNING_KEY"]:
            text = environ["ANON_SIGNING_KEY"].encode("utf-8", "surrogateescape")
            return cls.of(_long_enough(text, "ANON_SIGNING_KEY"))
        if named == ["ANON_SIGNING_KEY_CMD"]:
            return cls.of(_printed(environ["ANON_SIGNING_KEY_CMD"]))
        if named:
            path = Path(environ["ANON_SIGNING_KEY_FILE"])
            return cls.of(_long_enough(_read(path, where := f"ANON_SIGNING_KEY_FILE ({path})"), where))
        path = home / "signing.key"
        if not path.exists():
            if not create:
                raise InvalidInputError(
                    f"there is no signing key: set ANON_SIGNING_KEY (or ..._FILE, ..._CMD) as the workers have it, "
                    f"or {path}"
                )
            _create(path)
        if create:
            _warn_once(path)
        return cls.of(_long_enough(_read(path, str(path)), str(path)))

    def sign(self, purpose: str, message: bytes) -> str:
        """Sign a message for one purpose, so that what was signed for another can never stand in for it."""
        if not purpose.isidentifier():
            raise InvalidInputError(f"the purpose of a signature is one plain word, not {purpose!r}")
        return hmac.new(self.secret, b"anonflow\0" + purpose.encode() + b"\0" + message, hashlib.sha256).hexdigest()

    def verify(self, purpose: str, message: bytes, mac: object) -> bool:
        """Say whether ``mac`` is this key's signature; anything that is no signature at all is simply not."""
        if not isinstance(mac, str) or not mac.isascii():
            return False
        return hmac.compare_digest(self.sign(purpose, message), mac)


@functools.cache
def _warn_once(path: Path) -> None:
    _log.warning(
        "signing with the key in %s, which is for demonstrations: whoever reads that folder can sign too. "
        "In production set ANON_SIGNING_KEY, ANON_SIGNING_KEY_FILE with mode 0600, or ANON_SIGNING_KEY_CMD; %s",
        path,
        _HOW_TO_MAKE_ONE,
    )


def _long_enough(secret: bytes, where: str) -> bytes:
    secret = secret.strip()
    if len(secret) < _SHORTEST:
        raise InvalidInputError(
            f"{where} holds {len(secret)} characters, a signing key needs {_SHORTEST} or more; {_HOW_TO_MAKE_ONE}"
        )
    return secret


def _read(path: Path, where: str) -> bytes:
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


def keys_in_file(path: Path, where: str) -> list[SigningKey]:
    """
    Read a file of keys, one per line; empty lines do not count.

    :raises InvalidInputError: it cannot be read, others can read it too, it has no key, or one is short.
    """
    lines = [line.strip() for line in _read(path, where).splitlines() if line.strip()]
    if not lines:
        raise InvalidInputError(f"{where} has no key; write one per line, or unset it")
    return [SigningKey.of(_long_enough(line, f"{where}, key {number}")) for number, line in enumerate(lines, 1)]


@functools.cache
def _printed(command: str) -> bytes:
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
    return _long_enough(ended.stdout, f"the output of {where}")


def _create(path: Path) -> None:
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
