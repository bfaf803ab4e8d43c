"""Same input, spec and version: same bytes, whatever the order of the rows and the process."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, people, portal_of, source_of, write_publication

METHODS = {
    "global": {"recode": {"method": "global"}},
    "singletons": {
        "recode": {"method": "singletons", "singletons": {"columns": ["town", "sex"]}},
        "privacy": {"k": 2, "published_uniqueness": {"max_size": 3, "max_share": 1.0}},
    },
}


def published_bytes(spec: Path) -> dict[str, bytes]:
    folder = portal_of(spec) / spec.stem / "latest"
    return {name: (folder / name).read_bytes() for name in ("people.csv", "people.parquet", "report.json")}


@pytest.mark.parametrize("method", METHODS)
def test_shuffled_rows_and_another_hash_seed_give_the_same_bytes(tmp_path, method):
    """In two interpreters of their own: the order of sets and dictionaries of text differs between them."""
    rows = people()
    found, versions = [], []
    for seed in ("1", "4242"):
        shuffled = random.Random(int(seed)).sample(rows, len(rows))
        spec = write_publication(tmp_path / seed, shuffled, **METHODS[method])
        source = source_of(spec).read_bytes()
        environ = {**os.environ, "PYTHONHASHSEED": seed, "ANON_HOME": str(tmp_path / seed / "home")}
        ended = subprocess.run(
            [sys.executable, "-m", "anon_airflow.cli", "run", str(spec), "--json"],
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr + ended.stdout
        versions.append(json.loads(ended.stdout)["release"])
        found.append(published_bytes(spec))
        assert source_of(spec).read_bytes() == source
    assert found[0] == found[1]
    assert versions[0] == versions[1], "the version is named after what it holds"


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
