"""A target: a function of choices, what to begin with, and words that its format knows."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.fuzz.drawing import Draw
from tests.fuzz.oracle import FindingError, limits

CORPUS = Path(__file__).parent / "corpus"

MODULES = {
    "csv": "csv_files",
    "sniffing": "sniffing",
    "parquet-bytes": "parquet_bytes",
    "parquet-schemas": "parquet_schemas",
    "publication-text": "publication_text",
    "publications": "publications",
    "hierarchy-files": "hierarchy_files",
    "ladders": "ladders",
    "templates": "templates",
    "receipts": "receipts",
    "portal-documents": "portal_documents",
    "audit-rows": "audit_rows",
    "commands": "commands",
}
"""Every target and its module below ``tests/fuzz/targets``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """
    One way in.

    ``run`` takes choices and an empty folder, and raises :class:`~tests.fuzz.oracle.FindingError` if something happens
    that must not. ``share`` is its part of all cases, ``drawn`` the part of its own that Hypothesis draws.
    """

    run: Callable[[Draw, Path], None]
    share: float
    words: tuple[bytes, ...] = ()
    drawn: float = 0.0
    max_length: int = 2048

    def try_bytes(self, data: bytes, folder: Path) -> None:
        """
        Try an input; one that was too slow is tried again, for loops are compiled when they are first needed.

        :raises FindingError: it is a finding.
        """
        try:
            with limits(len(data)):
                self.run(Draw(data), folder)
        except FindingError as finding:
            if not finding.signature.startswith("too slow"):
                raise
            with limits(len(data)):
                self.run(Draw(data), folder)


def target(name: str) -> Target:
    """Return a target by its name; what it imports is imported now."""
    found: Target = importlib.import_module(f"tests.fuzz.targets.{MODULES[name]}").TARGET
    return found


def corpus(name: str) -> list[Path]:
    """Return the inputs in the repository: what to begin with, and what was found once."""
    return sorted(path for path in (CORPUS / name).glob("*") if path.is_file())
