"""All keys of a worker: the current key signs, retired keys only verify old signatures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anon_airflow.keys.signing import SigningKey, keys_in_file
from anon_core.errors import InvalidInputError

RETIRED = "ANON_RETIRED_KEYS_FILE"


@dataclass(frozen=True, slots=True)
class KeyRing:
    """
    The current key and the retired ones.

    >>> old, new = SigningKey.of(b"0" * 32), SigningKey.of(b"1" * 32)
    >>> ring = KeyRing(new, (old,))
    >>> ring.find(old.key_id) == old, ring.find("nobody's")
    (True, None)
    """

    current: SigningKey
    retired: tuple[SigningKey, ...] = ()

    @classmethod
    def of(cls, key: SigningKey | KeyRing) -> KeyRing:
        """Return a ring; a key alone is one without retired keys."""
        return key if isinstance(key, KeyRing) else cls(key)

    @classmethod
    def load(cls, home: Path, environ: Mapping[str, str] | None = None, *, create: bool = True) -> KeyRing:
        """
        Load this worker's keys: the current one as :meth:`SigningKey.load` does, retired ones from
        ANON_RETIRED_KEYS_FILE, which names one file or several (separated as in PATH), each readable by its owner only,
        one key per line.

        :raises InvalidInputError: a key cannot be used, or the current one is among the retired ones.
        :raises StorageError: a new key cannot be written to ``home``.
        """
        environ = os.environ if environ is None else environ
        current = SigningKey.load(home, environ, create=create)
        paths = [Path(text) for text in environ.get(RETIRED, "").split(os.pathsep) if text]
        if RETIRED in environ and not paths:
            raise InvalidInputError(f"{RETIRED} is set but empty; name a file, or unset it")
        retired = {key.key_id: key for path in paths for key in keys_in_file(path, f"{RETIRED} ({path})")}
        if current.key_id in retired:
            raise InvalidInputError(
                f"{RETIRED} lists key {current.key_id}, which is also the current key, but a retired key must not "
                "sign: make a new key, or remove this one from that file"
            )
        return cls(current, tuple(retired.values()))

    def find(self, key_id: object) -> SigningKey | None:
        """Return the key with this id, current or retired, or None."""
        return next((key for key in (self.current, *self.retired) if key.key_id == key_id), None)

    def distrust(self, key_id: str) -> str | None:
        """Return why nothing that this key signed may be published any more; None for the current key."""
        if key_id == self.current.key_id:
            return None
        if self.find(key_id):
            return (
                f"was signed with key {key_id}, which is retired, and others may know it by now: "
                "run it again (in Airflow: clear the run from `stage`)"
            )
        return (
            f"was signed with key {key_id}, this worker has key {self.current.key_id}: set ANON_SIGNING_KEY (or "
            "ANON_SIGNING_KEY_FILE, or ANON_SIGNING_KEY_CMD) as on the other workers, or run it again"
        )
