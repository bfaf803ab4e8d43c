"""A clock that is wrong, or is set while a run is at work: what came last is still what the portal shows."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest

from tests.faults.anon_process import KILLED
from tests.faults.matrix import invariants
from tests.faults.matrix.interposer import Fault
from tests.faults.matrix.invariants import assert_settled
from tests.faults.matrix.operations import run
from tests.faults.matrix.place import Command, Place
from tests.faults.matrix.points import SEED, how_many

pytestmark = pytest.mark.faults

DAY = 24 * 3600
OFFSETS = {
    "20 years back": -20 * 365 * DAY,
    "400 days back": -400 * DAY,
    "a day back": -DAY,
    "an hour ahead": 3600,
    "400 days ahead": 400 * DAY,
    "20 years ahead": 20 * 365 * DAY,
}
JUMPS = {"all": 25, "kinds": 1}
TRIED = [name for name in OFFSETS if how_many() != "kinds" or name.startswith(("400", "20 years ahead"))]
each_offset = pytest.mark.parametrize("offset", [OFFSETS[name] for name in TRIED], ids=TRIED)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with one release, and other data to publish."""
    place = Place(tmp_path)
    place.write()
    ran(place)
    place.write(2)
    place.save()
    return place


def ran(place: Place, fault: Fault | None = None, command: Command | None = None) -> None:
    ended = place.do(command or run(place), fault)
    assert ended.code == 0, ended.err


def off_by(place: Place, offset: int, at: int = 0) -> Fault:
    return Fault(kind="count", root=place.folder, clock=offset, at=at)


@each_offset
def test_what_is_published_last_is_latest_while_the_clock_is_wrong_and_after_it_was_set_right(
    place: Place, offset: int
) -> None:
    ran(place, off_by(place, offset))
    assert_settled(place, 2)
    place.write(3)
    ran(place)
    assert_settled(place, 3)


@each_offset
def test_the_clock_may_be_set_at_any_moment_of_a_run(place: Place, offset: int) -> None:
    place.do(run(place), Fault(kind="count", root=place.folder))
    changes = len(place.struck())
    draw = random.Random(f"{SEED} {offset}")
    wanted = how_many()
    for _ in range(JUMPS.get(wanted, 5)):
        place.restore()
        ran(place, off_by(place, offset, draw.randint(1, changes)))
        assert_settled(place, 2)
        place.write(3)
        ran(place)
        assert_settled(place, 3)


@each_offset
def test_a_withdrawal_under_a_wrong_clock_withdraws(place: Place, offset: int) -> None:
    ran(place)
    newest = (place.portal / "people/latest").resolve().name
    ran(place, off_by(place, offset), Command(words=("withdraw", newest, "--reason", "wrong")))
    assert_settled(place, 1, 1)
    place.write(3)
    ran(place)
    assert_settled(place, 2, 1)


@each_offset
def test_the_originals_of_a_run_that_was_killed_under_a_wrong_clock_are_swept_when_it_is_right(
    place: Place, offset: int
) -> None:
    place.do(run(place), Fault(kind="count", root=place.folder))
    calls = place.struck()
    staged = next(
        at for at, (call, path) in enumerate(calls, 1) if call == "rename" and path.endswith("/original.parquet")
    )
    place.restore()
    fault = Fault(kind="kill", root=place.folder, at=staged + 20, clock=offset)
    assert place.do(run(place), fault).code == KILLED
    assert invariants.nothing_is_left(place) != []
    ran(place, command=Command(words=("sweep",)))
    assert list((place.home / "staging").rglob("*.parquet")) == []
    ran(place)
    assert_settled(place, 2)


def test_the_clock_of_a_command_is_off_as_it_was_asked_to_be(place: Place) -> None:
    """Else the tests above prove nothing."""
    ran(place, off_by(place, OFFSETS["20 years ahead"]))
    dates = [
        json.loads(manifest.read_bytes())["published_at"] for manifest in place.portal.rglob("versions/*/manifest.json")
    ]
    assert int(max(dates)[:4]) - int(min(dates)[:4]) in (19, 20)
