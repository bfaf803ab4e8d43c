"""At every change of a file, of every operation: killed, torn, disk full, read-only, I/O error.

Afterwards there is exactly one release or none, the chain holds, and going on leaves nothing behind.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable

import pytest

from tests.faults.matrix.interposer import Fault
from tests.faults.matrix.operations import OPERATIONS, Operation
from tests.faults.matrix.place import Place
from tests.faults.matrix.points import Tried, counted, try_point, wanted_points

pytestmark = pytest.mark.faults

PARTS = 8
"""The points of each operation are so many tests, for several processes to share."""
Remember = Callable[[str, object], None]


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Place, list[str]]]:
    """For each operation, by its name, the place that is prepared for it and the kinds of its points."""
    found = {one.name: Place(tmp_path_factory.mktemp("place")) for one in OPERATIONS}
    return {one.name: (found[one.name], prepared(one, found[one.name])) for one in OPERATIONS}


@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda one: one.name.replace(" ", "_"))
def test_after_every_fault_there_is_one_release_or_none_and_going_on_mends_it(
    places: dict[str, tuple[Place, list[str]]], operation: Operation, part: int, record_property: Remember
) -> None:
    place, kinds = places[operation.name]
    earlier = OPERATIONS[: OPERATIONS.index(operation)]
    points = wanted_points(operation, kinds, known={kind for one in earlier for kind in places[one.name][1]})
    try_all(operation, place, points[part::PARTS], record_property)


def prepared(operation: Operation, place: Place) -> list[str]:
    """Bring a place to the state before the operation, and return the kinds of its points."""
    operation.prepare(place)
    place.save()
    return counted(operation, place)


def try_all(operation: Operation, place: Place, points: Iterable[tuple[int, str]], record_property: Remember) -> None:
    """Let each fault strike at its point, and fail with everything that did not hold."""
    by_fault: dict[str, Tried] = {}
    for at, fault in points:
        tried = by_fault.setdefault(fault, Tried())
        try_point(operation, place, Fault(kind=fault, root=place.folder, at=at), tried)
    findings = []
    for fault, tried in by_fault.items():
        counts = {"operation": operation.name, "fault": fault, "points": tried.points, "ended": tried.ended}
        record_property("matrix", json.dumps({**counts, "findings": len(tried.findings)}))
        findings += tried.findings
    assert not findings, "\n".join(findings)
