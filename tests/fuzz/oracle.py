"""What is a finding, in one place.

For a function: any exception that is not an ``AnonError``, or is an ``InternalError``. For a command: a traceback, an
exit code other than 0, 1 and 2, the words "bug in anonflow". For both: a canary in anything that a caller would log,
print or keep; more than :data:`MAX_SECONDS` of CPU; more than :data:`MAX_BYTES` of memory.
"""

from __future__ import annotations

import contextlib
import io
import logging
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from anon_core.errors import AnonError, InternalError

T = TypeVar("T")

MAX_SECONDS = 20.0
MAX_BYTES = 1 << 30
CANARY = "Qanary7xZ"
"""Planted in cells, never in names of columns or files: those may be shown."""

_OURS = {"anon_core", "anon_airflow"}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGALRM)


class FindingError(Exception):
    """Something that must not happen; ``signature`` is the same for findings with the same cause."""

    def __init__(self, kind: str, where: str, details: str = "") -> None:
        super().__init__(kind, where, details)
        self.signature = f"{kind} at {where}"
        self.details = details

    def __str__(self) -> str:
        return self.signature


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """What a command left: its exit code and what it printed."""

    code: int
    out: str
    err: str


def target_error(error: Exception) -> FindingError:
    """Return a finding for an error that nothing judged: mostly a mistake in the target itself."""
    details = "".join(traceback.format_exception(error))
    return FindingError(f"{type(error).__name__} in the target", place_of(error), details)


def place_of(error: BaseException) -> str:
    """Return the file and function of ours where an error came up: unlike a line, it stays the same for a while."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        frames.append((Path(code.co_filename), code.co_name))
        trace = trace.tb_next
    ours = [frame for frame in frames if _OURS & set(frame[0].parts) and "tests" not in frame[0].parts]
    file, function = (ours or frames)[-1]
    return f"{file.name}:{function}"


def logged_text(error: BaseException | None) -> str:
    """Return everything that a caller who logs an error, with what is behind it, would write down."""
    parts: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        parts += [str(error), repr(error), repr(error.args), repr(getattr(error, "__dict__", "")), *_notes(error)]
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(parts)


def _notes(error: BaseException) -> Iterable[str]:
    return getattr(error, "__notes__", ())


def refuse_canary(text: str, what: str) -> None:
    """:raises FindingError: a cell stands in this text."""
    if CANARY in text:
        at = text.index(CANARY)
        raise FindingError("canary", what, text[max(0, at - 200) : at + 60])


def judged(call: Callable[..., T], *arguments: Any, **named: Any) -> T | None:
    """
    Call a function; return None if it refuses in words of ours.

    :raises FindingError: it fails in any other way, or its words hold a canary.
    """
    try:
        return call(*arguments, **named)
    except (KeyboardInterrupt, FindingError):
        raise
    except InternalError as error:
        raise FindingError(f"InternalError ({error.kind})", place_of(error), str(error)) from error
    except AnonError as error:
        words = logged_text(error)
        if CANARY in words:
            refuse_canary(words, place_of(error))
        return None
    except BaseException as error:  # SystemExit and MemoryError are findings, too.
        raise FindingError(type(error).__name__, place_of(error), "".join(traceback.format_exception(error))) from error


def command(main: Callable[[], Any], arguments: list[str]) -> Ended:
    """
    Run a command in this process as if it were one of its own.

    :raises FindingError: it ends in a way that a command must not end.
    """
    name = " ".join(word for word in arguments[:2] if word.isalpha()) or "anon"
    code: Any = 0
    with _own_process(arguments) as (out, err):
        try:
            main()
        except SystemExit as ended:
            code = 0 if ended.code is None else ended.code
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # As above; the exit of a command is handled before.
            raise FindingError(
                f"traceback of {type(error).__name__}", place_of(error), "".join(traceback.format_exception(error))
            ) from error
        ended = Ended(code=code, out=_written(out), err=_written(err))
    both = ended.out + ended.err
    if "bug in anonflow" in both:
        line = next(line for line in both.splitlines() if "bug in anonflow" in line)
        raise FindingError("bug in anonflow", line.split(";")[0].removeprefix("anon: "), both[-2000:])
    if "Traceback (most recent" in both:
        raise FindingError("traceback printed", name, both[-2000:])
    if ended.code not in (0, 1, 2):
        raise FindingError(f"exit code {ended.code}", name, both[-2000:])
    refuse_canary(both, name)
    return ended


@contextlib.contextmanager
def _own_process(arguments: list[str]) -> Iterator[tuple[io.TextIOWrapper, io.TextIOWrapper]]:
    """Give a command its own arguments, streams, signals and log, and put everything back."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="strict", write_through=True)
    err = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="backslashreplace", write_through=True)
    streams = sys.argv, sys.stdout, sys.stderr, sys.unraisablehook
    handlers = {name: signal.getsignal(name) for name in _SIGNALS}
    root = logging.getLogger()
    logs = root.handlers[:], root.level
    with warnings.catch_warnings():
        root.handlers[:] = []
        sys.argv, sys.stdout, sys.stderr = ["anon", *arguments], out, err
        try:
            yield out, err
        finally:
            sys.argv, sys.stdout, sys.stderr, sys.unraisablehook = streams
            root.handlers[:], root.level = logs
            for name, handler in handlers.items():
                signal.signal(name, signal.SIG_DFL if handler is None else handler)


def _written(stream: io.TextIOWrapper) -> str:
    return "" if stream.closed else stream.buffer.getvalue().decode("utf-8", "replace")  # type: ignore[attr-defined]


@contextlib.contextmanager
def limits(size: int) -> Iterator[None]:
    """:raises FindingError: the block took more time, or more memory beyond ``size`` bytes, than it may."""
    began, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    yield
    took = time.process_time() - began
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    if took > MAX_SECONDS:
        raise FindingError("too slow", "this input", f"{took:.1f} s of CPU")
    if grown > MAX_BYTES + size:
        raise FindingError("too much memory", "this input", f"{grown / 1e9:.1f} GB")
