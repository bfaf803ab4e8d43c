"""The faults are real: what is planted strikes where it should, and what is counted is all that changes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.anon_process import KILLED
from tests.faults.matrix.interposer import Fault, library
from tests.faults.matrix.place import Command, Place

CHANGES = "tests.faults.matrix.test_interposer:change_files"


def change_files(folder: str) -> None:
    """Change files as Python, SQLite and Arrow do: 3 changes by Python, at least 4 by SQLite, 2 by Arrow."""
    import sqlite3

    import pyarrow as pa
    import pyarrow.parquet as pq

    (Path(folder) / "text").write_text("x" * 100)
    (Path(folder) / "text").rename(Path(folder) / "moved")
    connection = sqlite3.connect(Path(folder) / "database")
    connection.execute("CREATE TABLE t (a)")
    connection.close()
    pq.write_table(pa.table({"a": [1, 2]}), Path(folder) / "table.parquet")
    Path("/dev/null").write_text("this is elsewhere, and does not count")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    library()
    place = Place(tmp_path)
    place.save()
    return place


def strike(place: Place, kind: str, at: int):
    return place.do(Command(words=(str(place.folder),), call=CHANGES), Fault(kind=kind, root=place.folder, at=at))


def test_changes_by_python_sqlite_and_arrow_are_counted_in_their_order(place: Place) -> None:
    assert strike(place, "count", 0).code == 0
    calls = place.struck()
    assert calls[:3] == [("open", "/text"), ("write", "/text"), ("rename", "/moved")]
    assert ("pwrite", "/database") in calls
    assert ("unlink", "/database-journal") in calls
    assert {call for call, path in calls if path == "/table.parquet"} >= {"open", "write"}
    assert all(re.match("/(text|moved|database|table)|$", path) for _, path in calls)


def test_a_killed_process_has_made_the_changes_before_and_not_this_one(place: Place) -> None:
    assert strike(place, "kill", 3).code == KILLED
    assert sorted(path.name for path in place.folder.glob("[!t]*")) == []
    assert (place.folder / "text").stat().st_size == 100
    place.restore()
    assert strike(place, "kill", 2).code == KILLED
    assert (place.folder / "text").stat().st_size == 0


def test_a_torn_write_is_half_written(place: Place) -> None:
    assert strike(place, "torn", 2).code == KILLED
    assert (place.folder / "text").stat().st_size == 50


@pytest.mark.parametrize(
    ("kind", "at", "reason"),
    [
        ("full", 2, "No space left on device"),
        ("full", 3, "unexpected OperationalError"),
        ("read-only", 1, "Read-only file system"),
        ("I/O error", 3, "Input/output error"),
        ("I/O error", 5, "unexpected OperationalError"),
    ],
)
def test_an_error_of_the_disk_reaches_python_and_sqlite(place: Place, kind: str, at: int, reason: str) -> None:
    ended = strike(place, kind, at)
    assert ended.code == 2
    assert reason in ended.err


def test_without_a_fault_the_library_changes_nothing(place: Place) -> None:
    assert place.do(Command(words=(str(place.folder),), call=CHANGES)).code == 0
    assert sorted(path.name for path in place.folder.glob("*")) == ["database", "moved", "table.parquet", "tmp"]
