"""Leases that are changed by hand, and a sweep of a home."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

from anon_airflow.run.home import Home
from anon_airflow.run.lease import FILE
from anon_airflow.run.sweep import Swept, closed_in_home, sweep


def change_lease(folder: Path, **changes: object) -> None:
    lease = json.loads((folder / FILE).read_bytes())
    (folder / FILE).write_text(json.dumps({**lease, **changes}))


def run_out(folder: Path) -> None:
    change_lease(folder, end=(datetime.now(UTC) - timedelta(seconds=1)).isoformat())


def swept(home: Path, **options: object) -> Swept:
    with closed_in_home(Home(home)) as closed:
        return sweep(Home(home), closed, **options)
