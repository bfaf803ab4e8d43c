"""A small register of people, its publication file, and what is left of it afterwards."""

from __future__ import annotations

import csv
import io
import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

NAMES = ("id", "born", "town", "sex", "points", "notes")
PROVINCES = {"NORTH": ("Alba", "Bria", "Cusa", "Dosso"), "SOUTH": ("Elva", "Fara", "Gavi", "Issa")}
TOWNS = [(town, province) for province, towns in PROVINCES.items() for town in towns]
COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "born": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [5, 10, 20]}},
    "town": {"role": "quasi", "priority": 2, "hierarchy": {"file": "hierarchies/towns.csv"}},
    "sex": {"role": "quasi", "priority": 3, "hierarchy": {"root": "any"}},
    "points": {"role": "sensitive"},
    "notes": {"role": "drop"},
}
LENIENT = {"max_share_alone": 1.0, "max_share_with_sensitive": 1.0}
"""What a small register needs of `published_uniqueness`: some of its people have points that few have."""
Row = Sequence[str]


def people(rows: int = 400, seed: int = 1) -> list[Row]:
    """People whose birth year, town and sex single many of them out."""
    draw = random.Random(seed)
    return [
        (
            f"P{number:06}",
            str(draw.randint(1940, 1999)),
            draw.choice(TOWNS)[0],
            draw.choice("FM"),
            str(draw.randint(1, 30)),
            f"note {number}",
        )
        for number in range(rows)
    ]


def csv_text(rows: Iterable[Row], names: Sequence[str] = NAMES, delimiter: str = ",") -> str:
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([names, *rows])
    return stream.getvalue()


def write_publication(
    folder: Path,
    rows: Iterable[Row] | None = None,
    *,
    dataset: str = "people",
    source: str | bytes | None = None,
    source_section: Mapping[str, Any] | None = None,
    columns: Mapping[str, Any] = COLUMNS,
    privacy: Mapping[str, Any] | None = None,
    towns: Iterable[Sequence[str]] = TOWNS,
    **changes: Any,
) -> Path:
    """Write ``include`` with a publication file, its source and its hierarchy; return the publication file."""
    include = folder / "include"
    for name in ("publications", "samples", "hierarchies"):
        (include / name).mkdir(parents=True, exist_ok=True)
    content = csv_text(people() if rows is None else rows) if source is None else source
    (include / f"samples/{dataset}.csv").write_bytes(content.encode() if isinstance(content, str) else content)
    (include / "hierarchies/towns.csv").write_text("".join(";".join(town) + "\n" for town in towns))
    spec = {
        "dataset": dataset,
        "title": f"The register of {dataset}",
        "source": dict(source_section or {"file": f"samples/{dataset}.csv"}),
        "columns": dict(columns),
        "detect": {"max_size": 3},
        "privacy": {
            "k": 5,
            "suppression_limit": 0.05,
            **(privacy or {}),
            "published_uniqueness": {**LENIENT, **(privacy or {}).get("published_uniqueness", {})},
        },
        "recode": {"method": "global"},
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
        **changes,
    }
    path = include / "publications" / f"{dataset}.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True))
    return path


def source_of(spec: Path) -> Path:
    return spec.parent.parent / "samples" / f"{spec.stem}.csv"


def portal_of(spec: Path) -> Path:
    return spec.parent.parent / "portal"


def released(spec: Path) -> list[dict[str, str]]:
    """Return the rows of the newest release, as anybody can download them."""
    with (portal_of(spec) / spec.stem / "latest" / f"{spec.stem}.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def versions_of(spec: Path) -> list[str]:
    """The versions that a visitor of the portal sees."""
    folder = portal_of(spec) / spec.stem / "versions"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


def files_below(folder: Path) -> list[Path]:
    """Every file there is, hidden ones too."""
    return sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def bytes_below(folder: Path) -> dict[str, bytes]:
    """Every file with its content, to compare before and after."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in files_below(folder)}


def staged_files(home: Path) -> list[Path]:
    """Files in the staging area, under any name: there must be none when a run has ended."""
    return files_below(home / "staging")
