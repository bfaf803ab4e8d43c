"""Start Airflow on this machine only, print where it is, and stop all of it on Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Collection
from pathlib import Path
from typing import Any

AIRFLOW = str(Path(sys.executable).with_name("airflow"))

Parts = dict[str, subprocess.Popen[bytes]]


def start(home: Path, port: int, *, without: Collection[str] = (), **options: Any) -> Parts:
    """
    Start every part of Airflow in a process group of its own, each with a log file in its home.

    It listens to this machine only. Parts named in ``without`` are left out; ``options`` are those of processes.
    """
    # The scheduler's and the triggerer's log servers would listen on every interface.
    parts = (
        ("api-server", "--host", "127.0.0.1", "--port", str(port), "--workers", "1"),
        ("scheduler", "--skip-serve-logs"),
        ("dag-processor",),
        ("triggerer", "--skip-serve-logs"),
    )
    running = {}
    for part in (one for one in parts if one[0] not in without):
        with (home / f"{part[0]}.log").open("wb") as log:
            running[part[0]] = subprocess.Popen(
                [AIRFLOW, *part], stdout=log, stderr=log, start_new_session=True, **options
            )
    return running


def stop(parts: Parts) -> None:
    """Stop all parts with their children: SIGTERM, then SIGKILL. Each leads a process group of its own."""
    running = parts.values()
    for how, timeout_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        for part in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(part.pid, how)
        end = time.monotonic() + timeout_s
        for part in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                part.wait(max(0.1, end - time.monotonic()))


def healthy(port: int) -> bool:
    """Whether the API answers and the scheduler has reported."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v2/monitor/health", timeout=2) as answer:
            state = json.load(answer)
    except (OSError, ValueError):
        return False
    return all(state[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor"))


def main() -> int:
    home, port = Path(os.environ["AIRFLOW_HOME"]), int(os.environ["AIRFLOW__API__PORT"])
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", port)) == 0:
            print(f"port {port} is in use: make up PORT={port + 1}", file=sys.stderr)
            return 2
    pid = home / "up.pid"
    pid.write_text(str(os.getpid()))
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(0))
    print("starting Airflow (about half a minute) ...", flush=True)
    running = start(home, port)
    announced = False
    try:
        while all(part.poll() is None for part in running.values()):
            if not announced and healthy(port):
                passwords = json.loads((home / "simple_auth_manager_passwords.json.generated").read_text())
                print(f"Airflow is at http://127.0.0.1:{port}  login admin  password {passwords['admin']}")
                print(
                    "Publications are paused: switch one on, or trigger it, in the web UI. Ctrl-C stops Airflow.",
                    flush=True,
                )
                announced = True
            time.sleep(1)
        ended = next(name for name, part in running.items() if part.poll() is not None)
        print(f"{ended} has ended; see {home / (ended + '.log')}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopping ...", flush=True)
        return 0
    finally:
        stop(running)
        pid.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
