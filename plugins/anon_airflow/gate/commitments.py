"""Commitments: a receipt is bound to private files by them, and they reveal nothing about the files.

A plain digest is not enough: an attacker who knows all rows of a table but one can try all possible rows until the
digest matches. With a fresh, private nonce of 256 bits that is impossible.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from anon_airflow.keys.signing import canonical_json
from anon_airflow.run.home import write_private
from anon_core.files.storage import digest

FILE = ".nonce"
"""The file with the nonce of a receipt, beside the gated files; the note of the gate in the home keeps it for good."""


class Commitment(NamedTuple):
    """The name of a private file, and the sha256 of a nonce, that name and the digest of the file."""

    name: str
    sha256: str


def commit(nonce: str, digests: Mapping[str, str]) -> tuple[Commitment, ...]:
    """
    Commit to private files by their names and digests.

    >>> commit("n", {"suite": "a"}) == commit("n", {"suite": "b"})
    False
    """
    return tuple(
        Commitment(name, digest(canonical_json([nonce, name, sha256]))) for name, sha256 in sorted(digests.items())
    )


def keep_nonce(folder: Path, nonce: str) -> None:
    """Keep the nonce beside the gated files, for `publish`."""
    write_private(folder / FILE, nonce.encode())


def kept_nonce(folder: Path) -> str:
    """Return the nonce beside the gated files; empty if it is missing, and then no commitment matches."""
    try:
        return (folder / FILE).read_text("ascii")
    except (OSError, ValueError):
        return ""
