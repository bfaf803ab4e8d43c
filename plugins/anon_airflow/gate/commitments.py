"""Commitments: what a receipt says of private things, so that it binds them and tells nothing of them.

A plain digest of a table of which all rows but one are known tells that row: whoever tries all possible ones finds it.
With a fresh nonce of 256 bits, which stays private, there is nothing to try.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from anon_airflow.keys.signing import canonical_json
from anon_airflow.run.home import write_private
from anon_core.files.storage import digest

FILE = ".nonce"
"""Where the nonce of a receipt lies, beside the gated files; the note of the gate in the home has it for good."""


class Commitment(NamedTuple):
    """What a private thing is called, and the sha256 of a nonce, that name and the digest of the thing."""

    name: str
    sha256: str


def commit(nonce: str, digests: Mapping[str, str]) -> tuple[Commitment, ...]:
    """
    Commit to private things by their names and digests.

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
    """Return the nonce beside the gated files, empty where it is gone: then nothing that was committed to is found."""
    try:
        return (folder / FILE).read_text("ascii")
    except (OSError, ValueError):
        return ""
