"""``anon audit``: the history of every run, and the proof that nobody touched it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from anon_airflow.audit import AuditStore, Head
from anon_airflow.commands.output import json_option, print_json, print_table
from anon_airflow.home import Home, private_folder
from anon_airflow.key_ring import KeyRing
from anon_core.errors import InvalidInputError


def audit_store() -> AuditStore:
    """Open the audit store that is there; a command makes none."""
    home = Home.find()
    if home.audit_url is None and not (home.root / "audit.db").exists():
        raise InvalidInputError(
            f"there is no audit store in {home.root} yet; set ANON_HOME (or ANON_AUDIT_URL) to the one you mean"
        )
    return AuditStore.open(home.audit_url, home.root, KeyRing.load(private_folder(home.root), create=False))


@click.group(short_help="What was published and refused, and its proof.")
def audit() -> None:
    """List, show, verify and export what was published and refused."""


@audit.command("list")
@click.option("--dataset", help="Only this dataset.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Newest runs shown.")
@json_option
def list_runs(dataset: str | None, limit: int, as_json: bool) -> None:
    """List runs, the newest first, with their verdicts; runs that never reported back are `open`."""
    with audit_store() as store:
        runs = store.runs(dataset, limit)
    if as_json:
        print_json({"runs": [asdict(run) for run in runs]})
        return
    print_table(
        f"{len(runs)} runs",
        ["started", "dataset", "verdict", "by", "version", "run"],
        [[r.started[:19], r.dataset, r.verdict, r.by, r.version, r.run_id] for r in runs],
    )


@audit.command()
@click.argument("run_id", metavar="ID")
@click.option("--summary", is_flag=True, help="Only the summary, not every row on record.")
@json_option
def show(run_id: str, summary: bool, as_json: bool) -> None:
    """Show one run: ID is a run id, a version, or the name of a dataset for its latest run."""
    from anon_airflow.run import folder_name
    from anon_airflow.summary import print_summary

    home = Home.find()
    with audit_store() as store:
        found = next((r for r in store.runs(limit=None) if run_id in (r.run_id, r.version, r.dataset)), None)
        if found is None:
            raise InvalidInputError(f"no run, version or dataset called {run_id!r}; see `anon audit list`")
        rows = store.run(found.run_id, found.dataset)
    report = home.notes / found.dataset / folder_name(found.run_id) / "internal-report.json"
    if as_json:
        content: dict[str, Any] = {
            "run_id": found.run_id,
            "dataset": found.dataset,
            "verdict": found.verdict,
            "rows": rows,
        }
        content["report"] = json.loads(report.read_bytes()) if report.exists() else None
        print_json(content)
        return
    if report.exists():
        print_summary(report)
        if summary:
            return
    print_table(
        f"on record for {found.run_id}",
        ["at", "what", "details"],
        sorted(
            [row["at"][:19], table, _line(row)] for table, listed in rows.items() for row in listed if table != "checks"
        ),
    )


def _line(row: dict[str, Any]) -> str:
    hidden = {
        "id",
        "at",
        "run_id",
        "dataset",
        "body",
        "details",
        "mac",
        "spec_digest",
        "content_digest",
        "digest",
        "intent_id",
    }
    return ", ".join(f"{key}: {_flat(value)}" for key, value in row.items() if key not in hidden and value is not None)


def _flat(value: Any) -> str:
    return "; ".join(map(str, value)) if isinstance(value, list) else str(value)


@audit.command()
@click.option("--dataset", help="Only this dataset.")
@json_option
def pending(dataset: str | None, as_json: bool) -> None:
    """List the runs that wait for a person to approve them: since when, who may, and the receipt to approve."""
    from anon_airflow.asking import pending_questions

    with audit_store() as store:
        listed = pending_questions(store, dataset)
    if as_json:
        print_json({"pending": listed})
        return
    print_table(
        f"{len(listed)} waiting for approval",
        ["since", "dataset", "who may approve", "receipt", "run"],
        [
            [one["since"][:19], one["dataset"], ", ".join(one["users"]) or "anybody", one["receipt"], one["run_id"]]
            for one in listed
        ],
    )


@audit.command()
@click.option(
    "--anchor", type=click.Path(path_type=Path, exists=True), help="A release's manifest.json: shows a cut tail."
)
@json_option
def verify(anchor: Path | None, as_json: bool) -> None:
    """Prove that no row was changed, removed or added behind our back; exit 1 names the first broken link.

    The newest rows could be cut off without the chain noticing. A manifest published before that, given with --anchor,
    shows it. Keys that were retired are named in ANON_RETIRED_KEYS_FILE.
    """
    head = _anchor(anchor) if anchor else None
    with audit_store() as store:
        found = store.verify(head)
    if as_json:
        print_json(asdict(found))
    elif found.ok:
        anchored = f"; the anchor, entry {head.seq}, is in it" if head else ""
        click.echo(f"{found.entries:,} entries, unbroken; head {found.head.seq} {found.head.mac[:12]}{anchored}")
        for number, use in enumerate(found.keys, 1):
            retired = "" if number == len(found.keys) else f" to {found.keys[number].from_seq - 1}, then retired"
            click.echo(f"  key {use.key_id}: from link {use.from_seq}{retired}")
        for intent in found.open_intents:
            click.echo(f"  open: {intent.verb} of {intent.dataset} since {intent.at[:19]} ({intent.run_id})")
    else:
        click.echo(f"BROKEN at entry {found.broken_seq}: {found.reason}", err=True)
    raise click.exceptions.Exit(0 if found.ok else 1)


def _anchor(path: Path) -> Head:
    try:
        entry = json.loads(path.read_bytes())["audit"]
        return Head(seq=int(entry["seq"]), mac=str(entry["mac"]))
    except (ValueError, KeyError, TypeError):
        raise InvalidInputError(f"{path} is not a manifest with the head of an audit chain") from None


@audit.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with all entries in a list.")
def export(as_json: bool) -> None:
    """Print every entry in order, one JSON object per line."""
    with audit_store() as store:
        if as_json:
            print_json({"entries": list(store.export())})
            return
        for entry in store.export():
            click.echo(json.dumps(entry, ensure_ascii=False, sort_keys=True))
