"""The operations that are struck: how each is prepared, done, gone on with after a fault, and what it must lead to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.faults.anon_process import KILLED, anon
from tests.faults.matrix.place import RUN_ID, Command, Place

STEPS = "tests.faults.matrix.step_calls"
NEW_KEY = {"ANON_SIGNING_KEY": "n" * 40}
APPROVAL = {"approval": {"required": True, "users": ["anna", "bea"]}}
OCTOBER, NOVEMBER = ("--period", "2026-10-01"), ("--period", "2026-11-01")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """
    One thing that a person or a schedule does.

    ``releases``: how many versions stand on the portal before and after it, ``ends_with`` how many when everything was
    done, if that is another number; ``tombstones``: how many by then. ``code``: how it ends. ``again``: what is done
    after a fault, ``again_codes`` how that may end. ``settled``: what is done once more at the end, and its exit code.
    ``waits``: it is a task of a run of Airflow, whose gated files wait for the next try. ``stops``: it is a command,
    which a signal stops. ``clean``: nothing is left of an earlier run when it begins.
    """

    name: str
    prepare: Callable[[Place], None]
    act: Callable[[Place], Command]
    code: int = 0
    releases: tuple[int, int] = (0, 0)
    ends_with: int | None = None
    tombstones: int = 0
    again: Callable[[Place], Command] | None = None
    again_codes: tuple[int, ...] = (0,)
    settled: Callable[[Place], tuple[Command, int]] | None = None
    waits: bool = False
    stops: bool = True
    clean: bool = True

    @property
    def at_the_end(self) -> int:
        """How many versions stand on the portal when everything was done."""
        return self.releases[1] if self.ends_with is None else self.ends_with


def run(place: Place, *words: str, environ: Mapping[str, str] | None = None) -> Command:
    """``anon run``."""
    return Command(words=("run", str(place.spec), *words), environ=environ or {})


def task(name: str) -> Callable[[Place], Command]:
    """A step, or several, as Airflow's tasks take them."""

    def command(place: Place) -> Command:
        return Command(words=(str(place.spec),), call=f"{STEPS}:{name}")

    return command


def _ran(place: Place, command: Command, code: int = 0) -> None:
    ended = place.do(command)
    assert ended.code == code, ended.err


def _one_release(place: Place) -> None:
    place.write()
    _ran(place, run(place, *OCTOBER))


def _one_of_two_kept(place: Place) -> None:
    place.write(portal={"folder": "portal", "keep": 1})
    _ran(place, run(place, *OCTOBER))
    place.write(2, portal={"folder": "portal", "keep": 1})


def _two_releases(place: Place) -> None:
    _one_release(place)
    place.write(2)
    _ran(place, run(place, *NOVEMBER))


def _next_period(place: Place) -> None:
    _one_release(place)
    place.write(2)


def _refused(place: Place) -> None:
    place.write(recode={"method": "none"})


def _gated(place: Place) -> None:
    place.write(**APPROVAL)
    _ran(place, task("until_gate")(place))


def _asked(place: Place) -> None:
    _gated(place)
    _ran(place, task("ask")(place))


def _approved(place: Place) -> None:
    _asked(place)
    _ran(place, task("approve")(place))


def _retired_key(place: Place) -> None:
    _one_release(place)
    (place.home / "signing.key").rename(place.folder / "retired.keys")


def _killed_run(place: Place) -> None:
    place.write()
    assert anon("run", place.spec, home=place.home, kill_after_step="recode").code == KILLED


def new_key(place: Place) -> dict[str, str]:
    """The environment of a worker that has a new key and still knows the old one."""
    return {**NEW_KEY, "ANON_RETIRED_KEYS_FILE": str(place.folder / "retired.keys")}


def november(place: Place) -> str:
    """The version of the second period."""
    (folder,) = (place.saved / place.portal.relative_to(place.folder) / "people/versions").glob("2026-11-01.*")
    return folder.name


OPERATIONS = (
    Operation(name="run", prepare=lambda place: place.write(), act=run, releases=(0, 1)),
    Operation(
        name="run of the next period", prepare=_next_period, act=lambda place: run(place, *NOVEMBER), releases=(1, 2)
    ),
    Operation(
        name="run that lets a version expire",
        prepare=_one_of_two_kept,
        act=lambda place: run(place, *NOVEMBER),
        releases=(1, 1),
        tombstones=1,
    ),
    Operation(
        name="run of the same data", prepare=_one_release, act=lambda place: run(place, *OCTOBER), releases=(1, 1)
    ),
    Operation(name="refused run", prepare=_refused, act=run, code=1, again_codes=(1,)),
    Operation(
        name="all tasks of Airflow",
        waits=True,
        stops=False,
        prepare=lambda place: place.write(),
        act=task("whole_run"),
        releases=(0, 1),
    ),
    Operation(
        name="withdrawal of a version",
        prepare=_two_releases,
        act=lambda place: Command(words=("withdraw", november(place), "--reason", "wrong")),
        releases=(2, 1),
        tombstones=1,
    ),
    Operation(
        name="withdrawal of a dataset",
        prepare=_two_releases,
        act=lambda _: Command(words=("withdraw", "people", "--reason", "wrong")),
        releases=(2, 0),
        tombstones=2,
    ),
    Operation(
        name="question",
        waits=True,
        stops=False,
        prepare=_gated,
        act=task("ask"),
        ends_with=1,
        again=task("ask_and_publish"),
    ),
    Operation(
        name="answer",
        waits=True,
        stops=False,
        prepare=_asked,
        act=task("approve"),
        ends_with=1,
        again=task("ask_and_publish"),
    ),
    Operation(
        name="revoked approval",
        waits=True,
        prepare=_approved,
        act=lambda _: Command(words=("approval", "revoke", RUN_ID, "--reason", "wrong")),
        again_codes=(0, 2),
        settled=lambda place: (task("publish")(place), 1),
    ),
    Operation(
        name="publication after an approval",
        waits=True,
        stops=False,
        prepare=_approved,
        act=task("publish"),
        releases=(0, 1),
    ),
    Operation(
        name="change of keys",
        stops=False,
        prepare=_retired_key,
        act=lambda place: Command(words=("x",), call=f"{STEPS}:append", environ=new_key(place)),
        releases=(1, 1),
    ),
    Operation(
        name="run with a new key",
        prepare=_retired_key,
        act=lambda place: run(place, *OCTOBER, environ=new_key(place)),
        releases=(1, 1),
    ),
    Operation(name="sweep", clean=False, prepare=_killed_run, act=lambda _: Command(words=("sweep",))),
)
