"""Two processes at once, a random moment apart: each ends well or says why not, and the portal is whole."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.faults.anon_process import Ended
from tests.faults.matrix import invariants
from tests.faults.matrix.invariants import assert_settled
from tests.faults.matrix.operations import Operation, run
from tests.faults.matrix.place import Command, Place
from tests.faults.matrix.points import SEED, how_many

pytestmark = pytest.mark.faults

TIMES = {"all": 40, "kinds": 3}
MAX_DELAY_S = 0.8
WITHDRAW = Command(words=("withdraw", "people", "--reason", "wrong"))
SWEEP = Command(words=("sweep",))
BUSY = "another `anon run` of people is at work"
WITHDRAWN = "was withdrawn"
ANY = Operation(name="either", prepare=lambda place: None, act=run)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A place with one release."""
    place = Place(tmp_path)
    place.write()
    assert place.do(run(place)).code == 0
    return place


def both(place: Place, first: Command, second: Command, draw: random.Random) -> tuple[Ended, Ended]:
    """Start both in a random order, a random time apart, and wait for their ends."""
    commands = [first, second]
    swapped = draw.random() < 0.5
    started = []
    for command in reversed(commands) if swapped else commands:
        started.append(place.begin(command))
        time.sleep(draw.uniform(0, MAX_DELAY_S))
    ended = [each.wait() for each in started]
    one, other = reversed(ended) if swapped else ended
    for each in ended:
        assert invariants.said_well(ANY, "", each) == []
    return one, other


def repeated(place: Place, name: str):
    """Put the place back so many times, each with its own random numbers."""
    place.save()
    for number in range(TIMES.get(how_many(), 10)):
        place.restore()
        yield random.Random(f"{SEED} {name} {number}")


def test_two_runs_of_one_file_publish_once(place: Place) -> None:
    place.write(2)
    for draw in repeated(place, "runs"):
        for ended in both(place, run(place), run(place), draw):
            assert ended.code == 0 or BUSY in ended.err, ended.err
        assert_settled(place, 2)


def test_two_datasets_are_published_to_one_portal(place: Place) -> None:
    place.write(2)
    place.write(5, dataset="others")
    other = place.spec.with_name("others.yaml")
    for draw in repeated(place, "datasets"):
        ended = both(place, run(place), Command(words=("run", str(other))), draw)
        assert [each.code for each in ended] == [0, 0], [each.err for each in ended]
        assert_settled(place, 2)
        listed = (place.portal / "index.html").read_text() + (place.portal / "catalog.ttl").read_text()
        assert "others" in listed and "people" in listed


def test_what_is_withdrawn_while_its_dataset_is_published_stays_withdrawn(place: Place) -> None:
    place.write(2)
    for draw in repeated(place, "withdrawal"):
        ran, withdrew = both(place, run(place), WITHDRAW, draw)
        assert withdrew.code == 0, withdrew.err
        assert ran.code == 0 or WITHDRAWN in ran.err + ran.out, ran.err
        stones = list(place.portal.glob("people/versions/*/tombstone.json"))
        assert_settled(place, 2 - len(stones) if ran.code == 0 else 0, len(stones))
        assert len(stones) >= 1


def test_a_sweep_takes_nothing_from_a_run_at_work(place: Place) -> None:
    place.write(2)
    for draw in repeated(place, "sweep"):
        ran, swept = both(place, run(place), SWEEP, draw)
        assert (ran.code, swept.code) == (0, 0), ran.err + swept.err
        assert_settled(place, 2)


def test_two_withdrawals_withdraw_once(place: Place) -> None:
    for draw in repeated(place, "withdrawals"):
        ended = both(place, WITHDRAW, WITHDRAW, draw)
        assert [each.code for each in ended] == [0, 0], [each.err for each in ended]
        assert_settled(place, 0, 1)
