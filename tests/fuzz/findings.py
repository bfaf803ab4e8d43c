"""Findings of one worker: one input for each signature, made smaller where that is quick, and how often it came."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.oracle import FindingError

SMALLER_SECONDS = 5.0


class Findings:
    """Keeps findings below a folder, in files that survive the process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.counts: Counter[str] = Counter()
        folder.mkdir(parents=True, exist_ok=True)

    def keep(self, finding: FindingError, data: bytes, attempt: Callable[[bytes], str | None] | None = None) -> None:
        """Save the input of a finding that is new; ``attempt`` tries an input and returns the signature, if any."""
        self.counts[finding.signature] += 1
        if self.counts[finding.signature] > 1:
            return
        name = hashlib.sha256(finding.signature.encode()).hexdigest()[:10]
        saved = self.folder / f"{name}.json"
        (self.folder / name).write_bytes(data)
        saved.write_text(json.dumps({"signature": finding.signature, "details": finding.details[-4000:]}))
        if attempt is not None:
            (self.folder / name).write_bytes(smaller(data, finding.signature, attempt))


def smaller(data: bytes, signature: str, attempt: Callable[[bytes], str | None]) -> bytes:
    """
    Return a part of an input that is the same finding, by leaving out pieces while there is time.

    >>> smaller(b"aaaaaXaaaa", "X", lambda data: "X" if b"X" in data else None)
    b'X'
    """
    end = time.monotonic() + SMALLER_SECONDS
    size = max(1, len(data) // 2)
    while size:
        at = 0
        while at < len(data) and time.monotonic() < end:
            shorter = data[:at] + data[at + size :]
            if attempt(shorter) == signature:
                data = shorter
            else:
                at += size
        size //= 2
    return data
