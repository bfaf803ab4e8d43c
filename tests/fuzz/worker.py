"""One target in a process of its own: Hypothesis draws some cases, then Atheris goes where coverage leads it.

The case that is being tried stands in a file that is mapped into memory, so that the driver finds it there after the
worker was killed, ran out of memory or hung.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import mmap
import os
import resource
import shutil
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

HEADER = struct.Struct("<QdI")  # Cases so far, when this one began, its length.
MAX_LENGTH = 1 << 16
SLACK = 1 << 28  # Address space that threads and arenas reserve and do not use.
CHUNK = 200
COMPILED = "anon_core/kernels/compiled"


def main() -> None:
    """Try cases until there were enough, or the time is over."""
    options = _parser().parse_args()
    with contextlib.ExitStack() as stack:
        if options.engine == "atheris":
            stack.enter_context(_instrumented())
        from tests.fuzz.target import corpus, target

        chosen = target(options.target)
        folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=options.scratch))
        session = Session(chosen, folder, options)
        try:
            for path in corpus(options.target):
                session.one(path.read_bytes())
            _limit_memory()
            session.draw(int(options.cases * (chosen.drawn if options.engine == "atheris" else 1)))
            if options.engine == "atheris":
                session.guide()
        finally:
            session.report()
            shutil.rmtree(folder, ignore_errors=True)


class Session:
    """Tries one input after the other; a finding is kept, and the next one is tried."""

    def __init__(self, chosen: Any, folder: Path, options: argparse.Namespace) -> None:
        from tests.fuzz.findings import Findings

        self._target = chosen
        self._folder = folder
        self._options = options
        self._findings = Findings(Path(options.findings))
        self._end = time.monotonic() + options.seconds
        self._parent = os.getppid()
        self._cases = 0
        self._limited = False
        with Path(options.state).open("wb") as stream:
            stream.truncate(HEADER.size + MAX_LENGTH)
        with Path(options.state).open("r+b") as stream:
            self._state = mmap.mmap(stream.fileno(), HEADER.size + MAX_LENGTH)

    def one(self, data: bytes) -> None:
        """Try an input."""
        from tests.fuzz.oracle import FindingError, target_error

        self._begin(data)
        try:
            self._target.try_bytes(data, self._folder)
        except FindingError as finding:
            self._found(finding, data)
        except Exception as error:  # A mistake in a target is a finding, too, and the next case is tried.
            self._found(target_error(error), data)
        self._cases += 1
        HEADER.pack_into(self._state, 0, self._cases, 0.0, 0)

    def _begin(self, data: bytes) -> None:
        kept = data[:MAX_LENGTH]
        self._state[HEADER.size : HEADER.size + len(kept)] = kept
        HEADER.pack_into(self._state, 0, self._cases, time.monotonic(), len(kept))

    def _found(self, finding: Any, data: bytes) -> None:
        self._findings.keep(finding, data, self._signature)
        self.report()

    def _signature(self, data: bytes) -> str | None:
        from tests.fuzz.oracle import FindingError

        try:
            self._target.try_bytes(data, self._folder)
        except FindingError as finding:
            return finding.signature
        except Exception:  # A mistake in the target has no signature.
            return None
        return None

    def draw(self, cases: int) -> None:
        """Let Hypothesis draw cases, at most for a quarter of the time: Atheris is faster."""
        alone = self._options.engine == "hypothesis"
        until = self._end if alone else time.monotonic() + (self._end - time.monotonic()) / 4
        enough = self._cases + cases
        turn = self._options.seed
        while self._cases < enough and time.monotonic() < until:
            self._draw_some(min(CHUNK, enough - self._cases), turn)
            turn += 1

    def _draw_some(self, cases: int, turn: int) -> None:
        """Draw a few cases; what is found is kept and not raised, so that Hypothesis goes on."""
        from hypothesis import HealthCheck, Phase, given, seed, settings
        from hypothesis import strategies as st

        from tests.fuzz.drawing import HypothesisDraw
        from tests.fuzz.oracle import FindingError, limits, target_error

        @seed(turn)
        @settings(
            max_examples=cases,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(st.data())
        def drawn(data: Any) -> None:
            choices = HypothesisDraw(data)
            self._begin(b"")
            try:
                with limits(0):
                    self._target.run(choices, self._folder)
            except FindingError as finding:
                recorded = bytes(choices.recorded)
                # What was slow once may have compiled its loops.
                if not finding.signature.startswith("too slow") or self._signature(recorded):
                    self._found(finding, recorded)
            except Exception as error:  # Hypothesis steers by errors of its own; all others are findings.
                if type(error).__module__.startswith("hypothesis"):
                    raise
                self._found(target_error(error), bytes(choices.recorded))
            self._cases += 1
            HEADER.pack_into(self._state, 0, self._cases, 0.0, 0)

        drawn()

    def guide(self) -> None:
        """Let Atheris try cases. It never comes back: it ends the process itself."""
        import atheris

        from tests.fuzz.target import CORPUS

        options = self._options
        kept = Path(options.corpus)
        kept.mkdir(parents=True, exist_ok=True)
        words = self._folder / "words.txt"
        words.write_text("".join(f'"{_escaped(word)}"\n' for word in self._target.words))
        left = max(1, options.cases - self._cases)
        seconds = max(1, int(self._end - time.monotonic()))
        given = [
            "fuzz",
            f"-runs={left}",
            f"-max_total_time={seconds}",
            f"-seed={options.seed + 1}",
            f"-max_len={self._target.max_length}",
            f"-artifact_prefix={options.findings}/",
            "-timeout=100000",  # The driver watches the clock; 0 would mean at once.
            "-rss_limit_mb=0",
            "-malloc_limit_mb=0",
            "-print_final_stats=1",
            *([f"-dict={words}"] if self._target.words else []),
            str(kept),
            *([str(CORPUS / options.target)] if (CORPUS / options.target).is_dir() else []),
        ]
        # Atheris reserves much address space when it begins, so memory is limited by its first case.
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        atheris.Setup(given, self._guided)
        atheris.Fuzz()

    def _guided(self, data: bytes) -> None:
        if not self._limited:
            _limit_memory()
            self._limited = True
        self.one(data)
        if self._cases >= self._options.cases or not self._cases % 500:
            self.report()

    def report(self) -> None:
        """Write how far it is; the driver reads it, however the process ends."""
        if os.getppid() != self._parent:
            os._exit(3)  # The driver is gone.
        part = Path(f"{self._options.report}.part")
        part.write_text(
            json.dumps({"cases": self._cases, "cpu": time.process_time(), "findings": self._findings.counts})
        )
        part.replace(self._options.report)


def _escaped(word: bytes) -> str:
    return "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\x{b:02x}" for b in word)


def _instrumented() -> Any:
    """Watch the coverage of our own modules, but those that numba compiles: it does not know what Atheris adds."""
    import atheris

    folder = Path(__file__).parents[2]
    compiled = [f"{COMPILED}/{path.name}" for path in (folder / COMPILED).glob("*.py")]
    excluded = [name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in compiled]
    return atheris.instrument_imports(include=["anon_core", "anon_airflow"], exclude=excluded)


def _limit_memory() -> None:
    """Let nothing take more than a gigabyte beyond what is there now: it then fails in the case that asks for it."""
    from tests.fuzz.oracle import MAX_BYTES

    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + MAX_BYTES + SLACK
    resource.setrlimit(resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--engine", choices=["atheris", "hypothesis"], required=True)
    parser.add_argument("--cases", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, required=True)
    for name in ("--corpus", "--findings", "--state", "--report", "--scratch"):
        parser.add_argument(name, required=True)
    return parser


if __name__ == "__main__":
    sys.setrecursionlimit(1000)
    main()
