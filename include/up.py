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
from pathlib import Path

HOME = Path(os.environ["AIRFLOW_HOME"])
PORT = os.environ["AIRFLOW__API__PORT"]
AIRFLOW = str(Path(sys.executable).with_name("airflow"))
# The scheduler's and the triggerer's log servers would listen on every interface.
PARTS = (
    ("api-server", "--host", "127.0.0.1", "--port", PORT, "--workers", "1"),
    ("scheduler", "--skip-serve-logs"),
    ("dag-processor",),
    ("triggerer", "--skip-serve-logs"),
)


def start() -> list[subprocess.Popen[bytes]]:
    """Start every part in a process group of its own, each with a log file."""
    running = []
    for part in PARTS:
        with (HOME / f"{part[0]}.log").open("wb") as log:
            running.append(subprocess.Popen([AIRFLOW, *part], stdout=log, stderr=log, start_new_session=True))
    return running


def stop(running: list[subprocess.Popen[bytes]]) -> None:
    """Stop all parts with their children: first with SIGTERM, then with SIGKILL."""
    for how, timeout_s in ((signal.SIGTERM, 15), (signal.SIGKILL, 5)):
        for part in running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(part.pid, how)
        end = time.monotonic() + timeout_s
        for part in running:
            with contextlib.suppress(subprocess.TimeoutExpired):
                part.wait(max(0.1, end - time.monotonic()))


def healthy() -> bool:
    """Whether the API answers and the scheduler has reported."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{PORT}/api/v2/monitor/health", timeout=2) as answer:
            state = json.load(answer)
    except (OSError, ValueError):
        return False
    return all(state[part]["status"] == "healthy" for part in ("metadatabase", "scheduler", "dag_processor"))


def main() -> int:
    with socket.socket() as probe:
        if probe.connect_ex(("127.0.0.1", int(PORT))) == 0:
            print(f"port {PORT} is in use: make up PORT={int(PORT) + 1}", file=sys.stderr)
            return 2
    pid = HOME / "up.pid"
    pid.write_text(str(os.getpid()))
    for name in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(name, lambda *_: sys.exit(0))
    print("starting Airflow (about half a minute) ...", flush=True)
    running = start()
    announced = False
    try:
        while all(part.poll() is None for part in running):
            if not announced and healthy():
                passwords = json.loads((HOME / "simple_auth_manager_passwords.json.generated").read_text())
                print(f"Airflow is at http://127.0.0.1:{PORT}  login admin  password {passwords['admin']}")
                print(
                    "Publications are paused: switch one on, or trigger it, in the web UI. Ctrl-C stops Airflow.",
                    flush=True,
                )
                announced = True
            time.sleep(1)
        ended = next(name[0] for name, part in zip(PARTS, running, strict=True) if part.poll() is not None)
        print(f"{ended} has ended; see {HOME / (ended + '.log')}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nstopping ...", flush=True)
        return 0
    finally:
        stop(running)
        pid.unlink(missing_ok=True)


if __name__ == "__main__":
    sys.exit(main())
