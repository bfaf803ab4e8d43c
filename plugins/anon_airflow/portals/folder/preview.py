"""The first rows of a published CSV, for the dataset page. Only the beginning of the file is read."""

from __future__ import annotations

import csv
import io
import itertools
from dataclasses import dataclass
from pathlib import Path

from anon_airflow.portals.manifest import Manifest

ROWS = 10
MAX_BYTES = 1 << 18
MAX_CELL_LENGTH = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """Names of columns and the first rows; ``file`` is the name of their file."""

    file: str
    names: list[str]
    rows: list[list[str]]


def preview_of(folder: Path, manifest: Manifest) -> Preview | None:
    """Return the first rows of the first CSV of a version; None if it has none, or it cannot be read."""
    name = next((each["name"] for each in manifest["distributions"] if each["media_type"] == "text/csv"), None)
    if name is None:
        return None
    try:
        with (folder / name).open("rb") as stream:
            head = stream.read(MAX_BYTES)
            whole = not stream.read(1)
        lines = list(itertools.islice(csv.reader(io.StringIO(head.decode("utf-8", "ignore"), newline="")), ROWS + 1))
    except (OSError, csv.Error):
        return None
    if not whole and len(lines) <= ROWS:
        lines.pop()  # The last line was not read to its end.
    if not lines:
        return None
    names, *rows = lines
    shown = [[_short(cell) for cell in row] for row in rows if len(row) == len(names)]
    return Preview(file=name, names=names, rows=shown) if shown else None


def _short(cell: str) -> str:
    return cell if len(cell) <= MAX_CELL_LENGTH else f"{cell[: MAX_CELL_LENGTH - 1]}…"
