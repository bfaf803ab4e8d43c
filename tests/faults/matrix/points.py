"""The points of an operation, which of them are tried, and what comes of one."""

from __future__ import annotations

import os
import random
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.faults.anon_process import KILLED, Ended
from tests.faults.matrix import invariants
from tests.faults.matrix.interposer import DISK, FAULTS, Fault
from tests.faults.matrix.operations import Operation
from tests.faults.matrix.place import Place

POINTS = "ANON_FAULT_POINTS"
"""`all`; or a number, of points of each operation and fault; or `kinds`: of every kind of point one."""
SEED = 20261117
STOPPED = 130
EVERY = 4
"""One in so many kinds is struck by another fault than a kill, too."""
WRITES = ("write", "pwrite", "writev", "pwritev", "copy_file_range", "sendfile")


@dataclass(slots=True)
class Tried:
    """What came of some points: how they ended, and what did not hold, with the point."""

    points: int = 0
    ended: Counter[str] = field(default_factory=Counter)
    findings: list[str] = field(default_factory=list)


def counted(operation: Operation, place: Place) -> list[str]:
    """
    Do the operation once without a fault and return the kind of each of its points: the call and what it changes.

    It must end well: what does not hold without a fault is no finding of a fault.
    """
    ended = place.do(operation.act(place), Fault(kind="count", root=place.folder))
    assert ended.code == operation.code, ended.err
    assert invariants.portal_is_settled(place, operation.releases[1], operation.tombstones) == []
    assert invariants.no_canary(place, ended) == []
    kinds = [kind_of(call, path) for call, path in place.struck()]
    place.restore()
    return kinds


def kind_of(call: str, path: str) -> str:
    """Return the name of a kind of point: what is drawn, or depends on the moment, is left out."""
    path = re.sub(r"(?<=/\.incoming)-[^/]+", "", path)
    path = re.sub(r"(?<=/\.incoming)/(arriving|dataset|portal)/[^/]+$", r"/\1/FILE", path)  # Written one like another.
    path = re.sub(r"(manual|\d{4}-\d\d-\d\d)\.[0-9a-f]{8}", "VERSION", path)
    path = re.sub(r"(anon|scheduled)-\d[^/]+", "RUN", path)
    return f"{call} {re.sub(r'[0-9a-f]{8,}|[0-9]+', '#', path)}"


def wanted_points(operation: Operation, kinds: Sequence[str], known: Iterable[str]) -> list[tuple[int, str]]:
    """
    Return the points to try, each with its fault, as the environment asks.

    :param known: the kinds that are tried with another operation; of interest where one point of each kind is asked for
    """
    wanted = how_many()
    if wanted == "kinds":
        return [*new_kinds(operation, kinds, known), *drawn(operation, kinds)]
    return [(at, fault) for fault in FAULTS if fault != "count" for at in chosen(operation, kinds, fault, wanted)]


def chosen(operation: Operation, kinds: Sequence[str], fault: str, wanted: str) -> list[int]:
    """Return the points to try: `all` of them, or so many, drawn from different kinds as far as there are."""
    numbers = [at for at, kind in enumerate(kinds, 1) if can_strike(fault, operation, kind)]
    if wanted == "all":
        return numbers
    draw = random.Random(f"{SEED} {fault} {len(kinds)}")
    draw.shuffle(numbers)
    return sorted(sorted(numbers, key=lambda at: _seen_before(kinds, numbers, at))[: int(wanted)])


def new_kinds(operation: Operation, kinds: Sequence[str], known: Iterable[str]) -> list[tuple[int, str]]:
    """Return a point of every kind that is not known, each with its fault: a kill, and for some another one too."""
    draw = random.Random(f"{SEED} {len(kinds)}")
    by_kind: dict[str, list[int]] = {}
    for at, kind in enumerate(kinds, 1):
        by_kind.setdefault(kind, []).append(at)
    for kind in known:
        by_kind.pop(kind, None)
    others = [fault for fault in FAULTS if fault not in ("count", "kill")]
    points = []
    for number, (kind, found) in enumerate(sorted(by_kind.items())):
        points.append((draw.choice(found), "kill"))
        fault = others[number // EVERY % len(others)]
        if number % EVERY == 0 and can_strike(fault, operation, kind):
            points.append((draw.choice(found), fault))
    return points


def drawn(operation: Operation, kinds: Sequence[str]) -> list[tuple[int, str]]:
    """Return three points of an operation, each with another fault, that are the same every time."""
    draw = random.Random(f"{SEED} {operation.name}")
    found = []
    for fault in draw.sample([fault for fault in FAULTS if fault != "count"], 3):
        numbers = [at for at, kind in enumerate(kinds, 1) if can_strike(fault, operation, kind)]
        found += [(draw.choice(numbers), fault)] if numbers else []
    return found


def can_strike(fault: str, operation: Operation, kind: str) -> bool:
    """Tell whether a fault makes a difference at this kind of point: only a write can be torn, a command stopped."""
    if fault == "stop":
        return operation.stops
    return fault != "torn" or kind.split()[0] in WRITES


def _seen_before(kinds: Sequence[str], order: Sequence[int], at: int) -> int:
    """How many points of the same kind come before this one."""
    return sum(kinds[other - 1] == kinds[at - 1] for other in order[: order.index(at)])


def how_many() -> str:
    """How many points the environment asks for, as :data:`POINTS` has it."""
    return os.environ.get(POINTS, "all")


def try_point(operation: Operation, place: Place, fault: Fault, tried: Tried) -> None:
    """Let one fault strike, check what must hold, go on, and check what must hold then."""
    ended = place.do(operation.act(place), fault)
    struck = " ".join(f"{call} {path}" for call, path in place.struck()) or "nothing was struck"
    tried.points += 1
    tried.ended["killed" if ended.code == KILLED else f"exit {ended.code}"] += 1
    wrong = after_the_fault(operation, place, fault, ended)
    wrong += [f"gone on with: {each}" for each in after_going_on(operation, place)]
    where = f"{operation.name}, {fault.kind} at {fault.at} ({struck})"
    tried.findings += [f"{where}: {each}" for each in wrong]
    place.restore()


def after_the_fault(operation: Operation, place: Place, fault: Fault, ended: Ended) -> list[str]:
    """Return what does not hold right after a fault."""
    wrong = [] if ended.code == KILLED else invariants.said_well(operation, fault.kind, ended)
    wrong += invariants.portal_is_whole(place)
    wrong += invariants.record_holds(place)
    wrong += invariants.no_canary(place, ended)
    if fault.kind in ("full", "stop") and (operation.clean or fault.kind == "full"):
        # It lived on, and to remove needs no room.
        wrong += invariants.nothing_is_left(place, waits=operation.waits, journal=fault.kind == "full")
    if ended.code == STOPPED:
        wrong += [
            f"it was stopped, but {each}" for each in invariants.portal_is_settled(place, operation.releases[0], 0)
        ]
    if ended.code == 0 and fault.kind in DISK and operation.code == 0:
        wrong += [
            f"it ended well, but {each}"
            for each in invariants.portal_is_settled(place, operation.releases[1], operation.tombstones)
        ]
    return wrong


def after_going_on(operation: Operation, place: Place) -> list[str]:
    """Do it again without a fault, and return what does not hold then."""
    wrong = []
    again = place.do((operation.again or operation.act)(place))
    if again.code not in operation.again_codes:
        wrong.append(f"exit code {again.code}: {again.err.strip().splitlines()[-1:]}")
    if operation.settled:
        command, code = operation.settled(place)
        settled = place.do(command)
        if settled.code != code:
            wrong.append(f"settled with exit code {settled.code}: {settled.err.strip().splitlines()[-1:]}")
    wrong += invariants.portal_is_settled(place, operation.at_the_end, operation.tombstones)
    wrong += invariants.record_holds(place)
    wrong += invariants.no_canary(place, again)
    return wrong + invariants.nothing_is_left(place, waits=operation.settled is not None)
