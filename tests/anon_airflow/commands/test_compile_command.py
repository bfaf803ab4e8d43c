"""``anon compile``: afterwards no process compiles anything, whatever it does with a large table."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.faults.anon_process import anon
from tests.faults.publications import COLUMNS, Row, people, source_of, write_publication

COMPILING = "compiling inner loops"
ROWS = 12_000
"""So many rows go through compiled loops in a process that has none yet."""
SEVERAL_ROWS = {**COLUMNS, "points": {"role": "other"}, "id": {"role": "identifier"}}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def in_a_new_process(*arguments: str | Path, cache: Path, home: Path) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "ANON_HOME": str(home)}
    words = [sys.executable, "-c", "from anon_airflow.entry import main; main()", *map(str, arguments)]
    return subprocess.run(words, env=environ, capture_output=True, text=True, check=False)


def many_people() -> list[Row]:
    """People of whom a third have several rows."""
    draw = random.Random(3)
    rows = people(ROWS)
    return [*rows, *((one[0], one[1], *draw.choice(rows)[2:]) for one in rows[: ROWS // 3])]


def test_it_names_the_folder_and_compiles_nothing_twice(home: Path) -> None:
    assert anon("compile", "--json", home=home).code == 0
    again = anon("compile", "--json", home=home)
    assert again.code == 0, again.err
    assert again.json["fresh"] == 0
    assert again.json["variants"] > again.json["loops"] > 30
    assert list(Path(again.json["folder"]).rglob("unique_search.run-*.nbi"))
    said = anon("compile", home=home).out
    assert said.startswith(f"{again.json['variants']} variants of {again.json['loops']} loops in ")
    assert said.endswith(f": 0 compiled, {again.json['variants']} kept from before\n")


@pytest.mark.parametrize("environ", [{"NUMBA_CACHE_DIR": "/proc/none"}, {"NUMBA_DISABLE_JIT": "1"}], ids=str)
def test_where_nothing_can_be_kept_it_ends_with_2(home: Path, environ: Mapping[str, str]) -> None:
    ended = anon("compile", "--json", home=home, environ=environ)
    assert (ended.code, ended.out) == (2, "")
    assert next(iter(environ)) in ended.err


@pytest.mark.thorough
def test_after_it_no_command_compiles_a_loop(tmp_path: Path, home: Path) -> None:
    ways: dict[str, dict[str, Any]] = {
        "global": {"method": "global"},
        "safe": {"method": "prioritised", "mode": "safe", "improve": 2},
        "link": {"method": "prioritised", "mode": "link", "improve": 1},
    }
    by_rows = [write_publication(tmp_path / name, people(ROWS), recode=recode) for name, recode in ways.items()]
    rows = many_people()
    by_people = [
        write_publication(tmp_path / f"{name}-people", rows, recode=recode, unit="id", columns=SEVERAL_ROWS)
        for name, recode in ways.items()
    ]
    table = source_of(by_people[0])
    commands: list[tuple[str | Path, ...]] = [
        ("detect", table, "--max-size", "3"),
        ("detect", table, "--unit", "id", "--max-size", "3"),
        ("score", table, "--exclude", "id"),
        ("uccs", table, "--approximate", "0.01"),
        ("check", table, "--spec", by_people[0]),
        *(("recode", source_of(spec), "--spec", spec, "--output", spec.with_suffix(".csv")) for spec in by_rows),
        *(("recode", source_of(spec), "--spec", spec, "--output", spec.with_suffix(".csv")) for spec in by_people),
        ("run", by_rows[1]),
        ("run", by_people[1]),
    ]
    cold = in_a_new_process(*commands[0], cache=tmp_path / "cold", home=home)
    assert COMPILING in cold.stderr, "else the table is too small"
    cache = tmp_path / "cache"
    compiled = in_a_new_process("compile", "--json", cache=cache, home=home)
    assert compiled.returncode == 0, compiled.stderr
    document = yaml.safe_load(compiled.stdout)
    assert (document["folder"], document["fresh"]) == (str(cache), document["variants"])
    assert COMPILING not in compiled.stderr
    kept = sorted(path.name for path in cache.rglob("*"))
    for command in commands:
        ended = in_a_new_process(*command, cache=cache, home=home)
        assert ended.returncode in (0, 1), ended.stderr
        assert COMPILING not in ended.stderr, command
    assert sorted(path.name for path in cache.rglob("*")) == kept
