"""The key that signs receipts, approvals and the audit chain: HMAC-SHA256 with a secret of the worker."""

from __future__ import annotations

import functools
import hashlib
import hmac
import json
import logging
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anon_core.errors import InvalidInputError, StorageError

__all__ = ["SigningKey", "canonical_json"]

_log = logging.getLogger(__name__)

_SHORTEST = 32
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
        Find this worker's key: ANON_SIGNING_KEY, else ANON_SIGNING_KEY_FILE, else ``home/signing.key``.

        The last is made on first use, for demonstrations; two processes that make it at once end with the same key.

        :raises InvalidInputError: a key is short, or its file is missing or readable by others than its owner.
        :raises StorageError: ``home`` does not take the new key.
        """
        environ = os.environ if environ is None else environ
        if "ANON_SIGNING_KEY" in environ:
            text = environ["ANON_SIGNING_KEY"].encode("utf-8", "surrogateescape")
            return cls.of(_long_enough(text, "ANON_SIGNING_KEY"))
        if "ANON_SIGNING_KEY_FILE" in environ:
            path = Path(environ["ANON_SIGNING_KEY_FILE"])
            return cls.of(_read(path, f"ANON_SIGNING_KEY_FILE ({path})"))
        path = home / "signing.key"
        if not path.exists():
            if not create:
                raise InvalidInputError(
                    f"there is no signing key: set ANON_SIGNING_KEY as the workers have it, or {path}"
                )
            _create(path)
        if create:
            _warn_once(path)
        return cls.of(_read(path, str(path)))

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
        "In production set ANON_SIGNING_KEY, or ANON_SIGNING_KEY_FILE with mode 0600; %s",
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
    return _long_enough(secret, where)


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
