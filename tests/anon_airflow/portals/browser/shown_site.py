"""A portal as a town would have it, published through the real steps, and a web server for it."""

from __future__ import annotations

import contextlib
import http.server
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from anon_airflow.portals.choice import portal_on_record, record_of
from anon_airflow.run.context import Run
from anon_core.spec import load_spec
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import COLUMNS, csv_text, people, source_of, write_publication

METADATA: dict[str, Any] = {
    "description": "Points on the driver licences of residents, by year of birth, town and sex.",
    "publisher": "Town of Alba, Open Data Office",
    "licence": "CC-BY-4.0",
    "keywords": ["driver licences", "mobilità"],
    "frequency": "monthly",
    "contact": "opendata@alba.example",
    "language": "en",
    "theme": "transport",
}
MEANINGS = {"born": "Year of birth", "town": "Town of residence", "sex": "Sex as registered", "points": "Points left"}
DOGS = f"Whoever keeps a dog.\n\nBy the rules of https://alba.example/{'regolamento_' * 12}."
WITHDRAWN = "A town was published under the wrong name"


def described(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: column | {"description": MEANINGS.get(name)} for name, column in columns.items()}


def write_site(folder: Path) -> Path:
    """Publish two datasets, one of them in four versions of which one is withdrawn; return the portal's folder."""
    spec = write_publication(
        folder, dataset="licences", columns=described(COLUMNS), metadata=METADATA, title="Driver licences"
    )
    runs = []
    for month in (1, 2, 3, 4):
        source_of(spec).write_text(csv_text(people(400 + 60 * month, seed=month)))
        runs.append(_published(spec, folder, f"2026-0{month}-01"))
    portal = portal_on_record(record_of(load_spec(spec)))
    second = portal.versions("licences")[2]["version"]
    portal.withdraw("licences", second, WITHDRAWN, "2026-05-02T09:30:00Z")
    other = write_publication(
        folder,
        dataset="dogs",
        title="Dog owners – città",
        metadata={"description": DOGS, "publisher": METADATA["publisher"], "keywords": ["animals"]},
    )
    _published(other, folder, "2026-01-01")
    return folder / "include" / "portal"


def _published(spec: Path, folder: Path, period: str) -> Run:
    run = run_of(spec, folder / "home", f"manual__{period}", period=period)
    take(run, *UNTIL_GATE, "publish", "record")
    return run


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: what was asked for is no news."""


@contextlib.contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve a folder on this machine only, and give its address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
