"""A small publication, its files, and what the gate makes of them."""

from __future__ import annotations

import json
from datetime import date

import pyarrow as pa
import yaml

from anon_airflow.gate import measurement
from anon_airflow.gate.witness import Witness
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.spec import load_spec
from anon_core.table import from_arrow

TODAY = date(2026, 11, 16)
CANARY = "CANARY-7f3a"
PERSON = "person"
COLUMNS = {
    "id": {"role": "identifier"},
    "year": {"role": "quasi", "hierarchy": {"intervals": [5, 10]}},
    "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
    "category": {"role": "sensitive"},
    "points": {"role": "other"},
}
ROWS = [("1980", "F", "A", "3")] * 3 + [("1980", "M", "B", "3")] * 3 + [("1990", "F", "A", "3")] * 4


def publisher(folder):
    """Return a function that writes a publication and its distributions, and measures them."""

    def measure(
        rows=ROWS, *, names=("year", "sex", "category", "points"), before=10, today=TODAY, edit=None, site=None, **spec
    ):
        publication = publication_of(folder, **spec)
        paths = write(folder, rows, names)
        if edit:
            edited = edit(paths)
            paths = paths if edited is None else edited
        witness = None if spec.get("unit", "row") == "row" else witness_of(folder, rows, names)
        return measurement.measure(publication, paths, rows_before=before, today=today, witness=witness, site=site)

    return measure


LENIENT = {"max_share_alone": 1.0, "max_share_with_sensitive": 1.0}
"""What a small table needs of `published_uniqueness`: half of its people may have a value that few share."""


def publication_of(folder, *, columns=COLUMNS, k=3, expectations=(), csv=None, unit="row", **privacy):
    privacy["published_uniqueness"] = {**LENIENT, **privacy.get("published_uniqueness", {})}
    spec = {
        "dataset": "licences",
        "title": "Licences",
        "source": {"file": "x.csv"},
        "columns": columns,
        "privacy": {"k": k, **privacy},
        "recode": {"method": "none"},
        "expectations": list(expectations),
        "unit": unit,
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
        "csv": csv or {},
    }
    path = folder / "licences.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False, allow_unicode=True))
    return load_spec(path)


def write(folder, rows, names):
    table = from_arrow(pa.table([pa.array(c, pa.string()) for c in zip(*rows, strict=True)], names=list(names)))
    paths = [folder / "licences.csv", folder / "licences.parquet"]
    write_csv(table, paths[0])
    write_parquet(table, paths[1])
    return paths


def witness_of(folder, rows, names, people=None):
    """Write whose each row is, by default another person's, and return the witness."""
    whose = [str(number) for number in range(len(rows))] if people is None else people
    cells = [pa.array(column, pa.string()) for column in [*zip(*rows, strict=True), whose]]
    path = folder / "witness.parquet"
    write_parquet(from_arrow(pa.table(cells, names=[*names, PERSON])), path)
    return Witness(path=path, unit=PERSON)


def overwrite(path, content):
    path.write_bytes(content)


def failed(verdict):
    assert not verdict.passed and verdict.reasons
    return {check.name for check in verdict.checks if not check.passed}


def text_of(verdict):
    return json.dumps([verdict.to_dict(), verdict.suite, verdict.reasons], allow_nan=False, ensure_ascii=False)
