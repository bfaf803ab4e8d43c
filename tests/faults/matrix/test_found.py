"""What the matrix has found, each at the very point, so that it does not come back between two long runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.anon_process import KILLED, Ended
from tests.faults.matrix import invariants
from tests.faults.matrix.interposer import Fault, library
from tests.faults.matrix.operations import OPERATIONS, Operation, run
from tests.faults.matrix.place import Place
from tests.parameters import parameters

BY_NAME = {operation.name: operation for operation in OPERATIONS}
EVERY = parameters([4, 1], always=[4])
"""Every fourth point of those that a test strikes, or each."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Place:
    library()
    return Place(tmp_path_factory.mktemp("found"))


_prepared: dict[Path, tuple[str, list[tuple[str, str]]]] = {}
"""What each place was prepared for last, and the calls that the operation makes there."""


def prepare(place: Place, name: str) -> list[tuple[str, str]]:
    """Bring the place to the state before an operation, and return the calls that it makes."""
    if _prepared.get(place.folder, ("", []))[0] == name:
        place.restore()
        return _prepared[place.folder][1]
    operation = BY_NAME[name]
    place.clear()
    operation.prepare(place)
    place.save()
    assert place.do(operation.act(place), Fault(kind="count", root=place.folder)).code == operation.code
    calls = place.struck()
    place.restore()
    _prepared[place.folder] = name, calls
    return calls


def strike(place: Place, operation: Operation, kind: str, at: int) -> Ended:
    return place.do(operation.act(place), Fault(kind=kind, root=place.folder, at=at))


@pytest.mark.parametrize("every", EVERY)
def test_a_process_that_is_killed_while_it_makes_the_signing_key_leaves_no_other_copy_of_it(
    place: Place, every: int
) -> None:
    calls = prepare(place, "run")
    points = [at for at, (_, path) in enumerate(calls, 1) if "signing.key" in path]
    assert len(points) >= 4
    for at in (*points, points[-1] + 1)[every - 1 :: every]:
        assert strike(place, BY_NAME["run"], "kill", at).code == KILLED
        assert place.do(run(place)).code == 0
        assert [path.name for path in place.home.iterdir() if "key" in path.name] == ["signing.key"]
        place.restore()


def test_a_withdrawal_on_a_full_disk_tells_of_the_portal_where_that_failed(place: Place) -> None:
    calls = prepare(place, "withdrawal of a dataset")
    at = next(at for at, (call, path) in enumerate(calls, 1) if call == "open" and path.endswith("catalog.ttl"))
    ended = strike(place, BY_NAME["withdrawal of a dataset"], "full", at)
    assert ended.code == 2
    assert "publishing into the portal folder failed" in ended.err
    assert "No space left on device" in ended.err


def test_a_removal_that_fails_names_the_folder_of_the_portal(place: Place) -> None:
    calls = prepare(place, "withdrawal of a dataset")
    at = next(at for at, (call, path) in enumerate(calls, 1) if call == "rmdir" and ".incoming" in path)
    ended = strike(place, BY_NAME["withdrawal of a dataset"], "read-only", at)
    assert f"failed at {place.portal}" in ended.err


def test_a_run_on_a_disk_that_becomes_read_only_is_no_bug(place: Place) -> None:
    calls = prepare(place, "run")
    at = next(at for at, (call, path) in enumerate(calls, 1) if call == "rename" and path.endswith("original.parquet"))
    ended = strike(place, BY_NAME["run"], "read-only", at)
    assert invariants.said_well(BY_NAME["run"], "read-only", ended) == []
    assert ended.code == 2


def test_a_note_that_finds_no_room_leaves_no_half_of_it(place: Place) -> None:
    calls = prepare(place, "run")
    at = next(at for at, (call, path) in enumerate(calls, 1) if call == "fsync" and path.endswith("recode.json.part"))
    assert strike(place, BY_NAME["run"], "full", at).code == 2
    assert list(place.home.rglob("*.part")) == []


def test_a_stop_while_the_portal_is_tried_leaves_no_folder_there(place: Place) -> None:
    calls = prepare(place, "run")
    at = next(at for at, (call, path) in enumerate(calls, 1) if call == "mkdir" and "/.incoming-" in path)
    assert strike(place, BY_NAME["run"], "stop", at).code == 130
    assert list(place.portal.glob(".*-*")) == []


@pytest.mark.parametrize("every", EVERY)
@pytest.mark.parametrize("area", ["staging", "gated"])
def test_a_stop_while_a_private_folder_is_made_leaves_nothing_there(place: Place, area: str, every: int) -> None:
    calls = prepare(place, "run")
    points = [at for at, (_, path) in enumerate(calls, 1) if f"/{area}/" in path and "/.part-" in path]
    assert len(points) >= 4
    for at in points[every - 1 :: every]:
        assert strike(place, BY_NAME["run"], "stop", at).code == 130
        assert invariants.nothing_is_left(place) == []
        place.restore()
