"""Starts a worker for every target, goes on when one is killed or hangs, and collects what was found."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz.findings import Findings
from tests.fuzz.oracle import FindingError
from tests.fuzz.target import target
from tests.fuzz.worker import HEADER

HANG_SECONDS = 60.0
"""How long a case may take by the clock; the CPU that it may take is the oracle's."""
START_SECONDS = 180.0
MAX_RESTARTS = 20


@dataclass(slots=True, kw_only=True)
class Result:
    """What came of one target."""

    name: str
    cases: int = 0
    seconds: float = 0.0
    cpu: float = 0.0
    edges: int = 0
    findings: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What to do: ``cases`` are shared out among the targets."""

    names: Sequence[str]
    cases: int
    seconds: float
    seed: int
    corpus: Path
    output: Path
    engine: str
    jobs: int = 1


def run(plan: Plan) -> list[Result]:
    """Run every target of a plan; ``jobs`` of them at once."""
    shares = {name: target(name).share for name in plan.names}
    whole = sum(shares.values())

    def one(name: str) -> Result:
        part = shares[name] / whole
        result = _run_target(plan, name, max(1, round(plan.cases * part)))
        summary = f"{result.cases:,} cases in {result.seconds:.0f} s, {len(result.findings)} findings"
        print(f"{name}: {summary}", file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(plan.jobs) as pool:
        return list(pool.map(one, plan.names))


def _run_target(plan: Plan, name: str, cases: int) -> Result:
    """Run the worker of a target, again for what is left whenever a case has ended it."""
    result = Result(name=name)
    began = time.monotonic()
    end = began + plan.seconds
    for attempt in range(MAX_RESTARTS):
        left = cases - result.cases
        if left <= 0 or time.monotonic() >= end:
            break
        if not _run_worker(plan, result, left, end - time.monotonic(), plan.seed + 1000 * attempt):
            break
    result.seconds = time.monotonic() - began
    return result


def _run_worker(plan: Plan, result: Result, cases: int, seconds: float, seed: int) -> bool:
    """Return whether the worker came to an end that was not its own, so that another should go on."""
    findings = plan.output / "findings" / result.name
    log = plan.output / f"{result.name}.log"
    findings.mkdir(parents=True, exist_ok=True)
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="fuzz-", dir=memory) as scratch, log.open("wb") as stream:
        report, state = Path(scratch) / "report.json", Path(scratch) / "state"
        words = [
            sys.executable, "-m", "tests.fuzz.worker", result.name, "--engine", plan.engine, "--cases", str(cases),
            "--seconds", str(seconds), "--seed", str(seed), "--corpus", str(plan.corpus / result.name),
            "--findings", str(findings), "--state", str(state), "--report", str(report), "--scratch", scratch,
        ]  # fmt: skip
        environment = {**os.environ, "HOME": scratch, "TMPDIR": scratch, "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"}
        environment["ANON_POLICY"] = str(Path(__file__).parents[1] / "policy.yaml")
        worker = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=stream, stderr=subprocess.STDOUT, env=environment
        )
        hung = _watch(worker, state)
        reported = json.loads(report.read_text()) if report.exists() else {"cases": 0, "cpu": 0.0, "findings": {}}
        done, data = _state_of(state)
        result.cases += max(done, reported["cases"])
        result.cpu += reported["cpu"]
        result.findings.update(reported["findings"])
        found = re.findall(rb"cov: (\d+)", log.read_bytes())
        result.edges = max(result.edges, int(found[-1]) if found else 0)
        if worker.returncode == 0:
            return False
        kind = "it hangs" if hung else f"the process ended with {worker.returncode}"
        finding = FindingError(
            kind, "this input" if data is not None else "no input", log.read_text("utf-8", "replace")[-3000:]
        )
        Findings(findings).keep(finding, data or b"")
        result.findings[finding.signature] += 1
        result.cases += 1
        return data is not None


def _watch(worker: subprocess.Popen[bytes], state: Path) -> bool:
    """Wait for a worker; end it, and return true, when one case takes too long."""
    began = time.monotonic()
    while worker.poll() is None:
        time.sleep(0.2)
        since = _began(state) or (began + START_SECONDS - HANG_SECONDS if not state.exists() else time.monotonic())
        if time.monotonic() - since > HANG_SECONDS:
            worker.kill()
            worker.wait()
            return True
    return False


def _began(state: Path) -> float:
    if not state.exists() or state.stat().st_size < HEADER.size:
        return 0.0
    return float(HEADER.unpack(state.read_bytes()[: HEADER.size])[1])


def _state_of(state: Path) -> tuple[int, bytes | None]:
    """Return how many cases were tried, and the one that was being tried."""
    if not state.exists():
        return 0, None
    content = state.read_bytes()
    cases, began, length = HEADER.unpack(content[: HEADER.size])
    return cases, content[HEADER.size : HEADER.size + length] if began else None
