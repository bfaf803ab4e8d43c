"""Run ``anon`` in processes of its own, as users do, without paying for the imports every time.

One server process imports everything once and then forks a child for every command. A child has its own environment,
file descriptors and limits, so it can be killed, starved of disk space and searched like any other process.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import functools
import gc
import importlib
import json
import os
import pkgutil
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

KILLED = -signal.SIGKILL

# What most commands import only when they come to it. All else of the core and the commands is imported too, but for
# the compiled loops: whether these are loaded depends on the table.
WARM = (
    "anon_airflow.cli",
    "anon_airflow.draft.text",
    "anon_airflow.expectations.evaluation",
    "anon_airflow.run.local",
    "anon_airflow.gate.measurement",
    "anon_airflow.gate.surplus",
    "anon_airflow.run.summary",
    "anon_airflow.sources.file",
    "anon_airflow.portals.folder.portal",
    "anon_airflow.portals.folder.site",
    "anon_airflow.portals.folder.catalogue",
    "html5rdf",
    "pyarrow.pandas_compat",
    "rdflib.plugins.serializers.jsonld",
    "rdflib.plugins.serializers.turtle",
    "rdflib.plugins.stores.memory",
    "rich.table",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left: its exit code and everything it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one object on stdout; anything else there is an error."""
        return json.loads(self.out)


class Started:
    """A command at work."""

    def __init__(self, pid: int, folder: Path, server: _Server, terminal: _Terminal | None) -> None:
        self.pid = pid
        self._folder = folder
        self._server = server
        self._terminal = terminal

    def until_it_says(self, pattern: str, seconds: float = 120) -> None:
        """Wait for what it says on stderr; the first time a search is run, its loops are compiled."""
        end = time.monotonic() + seconds
        said = self._folder / "err"
        while not (said.exists() and re.search(pattern, said.read_text())):
            assert time.monotonic() < end, f"it did not say {pattern}"
            time.sleep(0.05)

    def kill(self) -> None:
        """End it as the power cut does; it is ours, and not waited for yet, so its id is still its own."""
        os.kill(self.pid, signal.SIGKILL)

    def wait(self) -> Ended:
        code = self._server.ask(do="wait", pid=self.pid)["code"]
        out, err = (
            (self._folder / name).read_text() if (self._folder / name).exists() else "" for name in ("out", "err")
        )
        shutil.rmtree(self._folder)
        return Ended(code=code, out=out, err=self._terminal.shown() if self._terminal else err)


class _Terminal:
    """A terminal that is read all the time, since it keeps little."""

    def __init__(self) -> None:
        self._ours, self._its = pty.openpty()
        self.name = os.ttyname(self._its)
        self._blocks: list[bytes] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError):  # How a terminal says that the other side has gone.
            while block := os.read(self._ours, 4096):
                self._blocks.append(block)

    def shown(self) -> str:
        """Return what it shows, once the command has ended."""
        os.close(self._its)
        self._reader.join()
        os.close(self._ours)
        return b"".join(self._blocks).decode()


def anon(*arguments: str | Path, home: Path, **options: Any) -> Ended:
    """Run ``anon`` with these arguments and wait for its end; see :func:`start` for the options."""
    return start(*arguments, home=home, **options).wait()


def start(
    *arguments: str | Path,
    home: Path,
    environ: Mapping[str, str] | None = None,
    largest_file: int | None = None,
    kill_after_step: str | None = None,
    kill_at_write: int | None = None,
    full_at_write: int | None = None,
    stop_at_write: int | None = None,
    fault: tuple[str, str] | None = None,
    cwd: Path | None = None,
    call: str | None = None,
    armed: Mapping[str, object] | None = None,
    preload: Path | None = None,
    terminal: bool = False,
) -> Started:
    """
    Start ``anon``.

    ``largest_file``: no file can grow beyond so many bytes, as on a full disk. ``kill_after_step``: SIGKILL when this
    step has returned. ``kill_at_write``: SIGKILL at the nth fsync, rename or removal. ``full_at_write``: from the nth
    fsync or new folder on there is no space left. ``stop_at_write``: from the nth fsync, rename or removal on,
    somebody asks it to stop, again at every one. ``fault``: a dotted function and the text of the ValueError that it
    raises instead of working. ``call``: a function, as ``module:name``, to be called with the arguments in place of the
    command; its errors are printed as those of commands are. ``preload`` and ``armed``: see :mod:`tests.faults.matrix`.
    ``terminal``: its stderr is a terminal.
    """
    folder = Path(tempfile.mkdtemp(prefix="anon-command-"))
    temporary = home.parent / "tmp"
    temporary.mkdir(exist_ok=True)
    server = _server(preload)
    screen = _Terminal() if terminal else None
    answer = server.ask(
        do="start",
        arguments=[str(argument) for argument in arguments],
        environ={"ANON_HOME": str(home), "TMPDIR": str(temporary), "HOME": str(home.parent), **(environ or {})},
        largest_file=largest_file,
        kill_after_step=kill_after_step,
        kill_at_write=kill_at_write,
        full_at_write=full_at_write,
        stop_at_write=stop_at_write,
        fault=fault,
        cwd=str(cwd or home.parent),
        call=call,
        armed=armed,
        out=str(folder / "out"),
        err=screen.name if screen else str(folder / "err"),
    )
    return Started(answer["pid"], folder, server, screen)


def warm_modules() -> None:
    """Import what commands import when they come to it."""
    for name in WARM:
        importlib.import_module(name)
    for package in ("anon_core", "anon_airflow.commands"):
        (folder,) = map(Path, importlib.import_module(package).__path__)
        for path in sorted(folder.rglob("*.py")):
            if "compiled" not in path.parts and path.stem != "__init__":
                importlib.import_module(".".join((package, *path.relative_to(folder).with_suffix("").parts)))
    from anon_core import registry
    from anon_core.detection.roles.lexicon import meaning_of

    for seam in (registry.MODELS, registry.METHODS, registry.ENGINES, registry.SOURCES, registry.PORTALS):
        seam.members()  # Looks through all that is installed.
    meaning_of("name")  # Reads the words of all languages.
    assert "numba" not in sys.modules, "a command would find it loaded"


def warm_templates() -> None:
    """Compile the templates of the portal's pages once."""
    from anon_airflow.portals.folder import pages

    for name in pages._environment().list_templates():
        pages._environment().get_template(name)


class _Server:
    def __init__(self, preload: Path | None) -> None:
        project = str(Path(__file__).parents[2])
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [project, os.environ.get("PYTHONPATH")]))}
        if preload:
            environ["LD_PRELOAD"] = str(preload)
        self._process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
            env=environ,
        )
        atexit.register(self.stop)

    def ask(self, **question: Any) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write(json.dumps(question) + "\n")
        return dict(json.loads(self._process.stdout.readline()))

    def stop(self) -> None:
        assert self._process.stdin
        self._process.stdin.close()
        self._process.wait(30)


@functools.cache
def _server(preload: Path | None = None) -> _Server:
    return _Server(preload)


def _serve() -> None:
    from anon_airflow.gate.silence import quiet

    with quiet():
        warm_modules()
        warm_templates()
    gc.collect()
    gc.freeze()  # Else every child walks, and so copies, all that was imported.
    running: dict[int, int] = {}
    for line in sys.stdin:
        question = json.loads(line)
        if question["do"] == "start":
            pid = os.fork()
            if not pid:
                _become(question)
            running[pid] = pid
            answer = {"pid": pid}
        else:
            _, status = os.waitpid(running.pop(question["pid"]), 0)
            answer = {"code": os.waitstatus_to_exitcode(status)}
        print(json.dumps(answer), flush=True)


def _become(question: dict[str, Any]) -> None:
    import resource

    from anon_airflow import cli

    for descriptor, path, flags in (
        (0, os.devnull, os.O_RDONLY),
        (1, question["out"], os.O_WRONLY | os.O_CREAT),
        (2, question["err"], os.O_WRONLY | os.O_CREAT | os.O_NOCTTY),
    ):
        opened = os.open(path, flags, 0o600)
        os.dup2(opened, descriptor)
        os.close(opened)
    if os.isatty(2):  # The stream was made for a file, in which one can go back.
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
    os.environ.update(question["environ"])
    os.chdir(question["cwd"])
    tempfile.tempdir = None
    if question["largest_file"] is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (question["largest_file"], question["largest_file"]))
    _plant(question)
    sys.argv = ["anon", *question["arguments"]]
    work = _calling(question["call"], question["arguments"]) if question["call"] else cli.main
    if question["armed"]:
        _arm(question["armed"])
    code = 70
    try:
        work()
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else int(bool(stop.code))
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            if not stream.closed:
                stream.flush()
        os._exit(code)


def _calling(name: str, arguments: list[str]) -> Callable[[], None]:
    """Return a call of a function whose errors end as those of a command do."""
    from anon_airflow import cli

    function = pkgutil.resolve_name(name)

    def work() -> None:
        cli._configure_output()
        try:
            function(*arguments)
        except Exception as error:  # As the command line does.
            sys.exit(cli._report_error(error))

    return work


def _arm(armed: Mapping[str, Any]) -> None:
    """Begin to count the changes of files; the library was loaded before anything else."""
    import ctypes

    loaded = ctypes.CDLL(None)
    loaded.fault_clock(ctypes.c_long(armed["clock"]), ctypes.c_long(armed["clock_at"]))
    root, log = (ctypes.c_char_p(armed[name].encode()) for name in ("root", "log"))
    loaded.fault_arm(ctypes.c_int(armed["kind"]), ctypes.c_long(armed["at"]), root, log)


def _plant(question: dict[str, Any]) -> None:
    """Put the faults that a test asked for into this process."""
    from anon_airflow import steps

    def kill_self(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def stop_self() -> None:
        os.kill(os.getpid(), random.choice((signal.SIGTERM, signal.SIGHUP, signal.SIGINT)))

    def no_space(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    if name := question["kill_after_step"]:
        step = getattr(steps, name)
        setattr(steps, name, lambda *given, **options: kill_self(step(*given, **options)))
    if question["kill_at_write"] is not None:
        writes = ((os, ("fsync", "replace", "rename", "mkdir")), (shutil, ("rmtree", "copyfile")))
        _at_call(question["kill_at_write"], writes, kill_self)
    if question["stop_at_write"] is not None:
        writes = ((os, ("fsync", "replace", "rename", "mkdir")), (shutil, ("rmtree", "copyfile")))
        _at_call(question["stop_at_write"], writes, stop_self)
    if question["full_at_write"] is not None:
        writes = ((os, ("fsync", "mkdir")), (shutil, ("copyfile",)))
        _at_call(question["full_at_write"], writes, no_space)
    if question["fault"]:
        where, text = question["fault"]
        module, _, name = where.rpartition(".")

        def fail(*_: Any, **__: Any) -> None:
            raise ValueError(text)

        assert hasattr(pkgutil.resolve_name(module), name), where
        setattr(pkgutil.resolve_name(module), name, fail)


def _at_call(number: int, functions: Any, happen: Any) -> None:
    """Let something happen at the nth call, and every later one, of any of these functions."""
    left = number

    def counted(function: Any) -> Any:
        def call(*given: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left <= 0:
                happen()
            return function(*given, **options)

        return call

    for module, names in functions:
        for name in names:
            setattr(module, name, counted(getattr(module, name)))


if __name__ == "__main__":
    # Under nohup or in the background of a script these are ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    _serve()
