"""Same input, spec and version: same bytes, whatever the order of the rows and the process."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, people, portal_of, source_of, versions_of, write_publication
from tests.parameters import parameters

METHODS = {
    "global": {"recode": {"method": "global"}},
    "singletons": {
        "recode": {"method": "singletons", "singletons": {"columns": ["town", "sex"]}},
        "privacy": {"k": 2, "published_uniqueness": {"max_size": 3, "max_share": 1.0}},
        "reviewed": {"by": "Ada", "on": "2026-01-03"},
    },
}


def published_bytes(spec: Path) -> dict[str, bytes]:
    folder = portal_of(spec) / spec.stem / "latest"
    return {name: (folder / name).read_bytes() for name in ("people.csv", "people.parquet", "report.json")}


RUN_ALL = (
    "import sys; from anon_airflow.cli import anon; [anon(['run', s], standalone_mode=False) for s in sys.argv[1:]]"
)


def run_with_hash_seed(specs: list[Path], seed: str | None, home: Path) -> None:
    """Run all in an interpreter with this hash seed; without one, as every test does, with the seed of that process."""
    if seed is None:
        assert all(anon("run", spec, home=home).code == 0 for spec in specs)
        return
    environ = {**os.environ, "PYTHONHASHSEED": seed, "ANON_HOME": str(home)}
    subprocess.run([sys.executable, "-c", RUN_ALL, *map(str, specs)], env=environ, capture_output=True, check=True)


@pytest.mark.parametrize("seeds", parameters([(None, "4242"), ("1", "2")], always=[(None, "4242")]), ids=str)
def test_shuffled_rows_and_another_hash_seed_give_the_same_bytes(tmp_path, seeds):
    """In two interpreters of their own: the order of sets of text differs between them."""
    found = []
    for number, seed in enumerate(seeds):
        rows = random.Random(number).sample(people(), 400)
        specs = [write_publication(tmp_path / f"{number}" / method, rows, **METHODS[method]) for method in METHODS]
        sources = [source_of(spec).read_bytes() for spec in specs]
        run_with_hash_seed(specs, seed, tmp_path / f"{number}" / "home")
        found.append([(versions_of(spec), published_bytes(spec)) for spec in specs])
        assert [source_of(spec).read_bytes() for spec in specs] == sources
    assert found[0] == found[1]
    assert all(len(versions) == 1 for versions, _ in found[0])


def test_the_order_of_published_rows_says_nothing_about_the_order_of_the_source(tmp_path):
    spec = write_publication(tmp_path)
    assert anon("run", spec, home=tmp_path / "home").code == 0
    lines = published_bytes(spec)["people.csv"].decode().splitlines()[1:]
    assert lines == sorted(lines)


def test_the_same_rows_in_another_order_are_not_a_new_version(tmp_path):
    spec, home = write_publication(tmp_path), tmp_path / "home"
    assert anon("run", spec, home=home).code == 0
    source_of(spec).write_text(csv_text(reversed(people())))
    assert anon("run", spec, "--json", home=home).json["verdict"] == "unchanged"
