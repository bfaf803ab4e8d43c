"""``anon audit``: the history of every run, and the proof that it was not changed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from anon_airflow.audit import AuditStore, RecordedRun
from anon_airflow.audit.evidence import UNPROVEN, WRONG
from anon_airflow.commands.output import json_option, print_json, print_table
from anon_airflow.keys.ring import RETIRED, KeyRing
from anon_airflow.run.home import Home, private_folder
from anon_airflow.run.sweep import closed_in, originals
from anon_core.errors import InvalidInputError
from anon_core.publishing.release import SLUG

MAX_SHOWN = 5
"""At most so many problems are printed; `anon audit export` marks every row."""

DIGEST_SHOWN = 12
"""So many characters of a receipt's digest are shown; `--json` has all of it."""


def audit_store() -> AuditStore:
    """Open the existing audit store, also one that was tampered with; commands never create one."""
    home = Home.find()
    if home.audit_url is None and not (home.root / "audit.db").exists():
        raise InvalidInputError(
            f"there is no audit store in {home.root} yet; set ANON_HOME (or ANON_AUDIT_URL) if yours is elsewhere"
        )
    ring = KeyRing.load(private_folder(home.root), create=False)
    return AuditStore.open(home.audit_url, home.root, ring, create=False)


def _end(store: AuditStore, wrong: Sequence[str], unproven: Iterable[str] = ()) -> None:
    """Print on stderr what is wrong with the rows shown, and exit with 1 if anything is."""
    if keys := sorted(set(unproven)):
        click.echo(
            f"anon: not proven, because key {', '.join(keys)} is not here: name a file with it in {RETIRED}", err=True
        )
    problems = [*(f"the tables: {what}" for what in store.schema_problems), *wrong]
    for sentence in problems[:MAX_SHOWN]:
        click.echo(f"anon: NOT INTACT: {sentence}", err=True)
    if len(problems) > MAX_SHOWN:
        click.echo(f"anon: and {len(problems) - MAX_SHOWN:,} more problems", err=True)
    if problems:
        click.echo("anon: the audit store was tampered with or is damaged: run `anon audit verify`", err=True)
        raise click.exceptions.Exit(1)


def _printable(text: object) -> str:
    """Escape text for a terminal: control characters that an intruder put into the database must not reach it."""
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in str(text))


@click.group(short_help="The record of all runs, and its proof.")
def audit() -> None:
    """List, show, verify and export the record of all runs: what was published, and what was refused.

    The commands also show a store that was tampered with. Exit code 1: some of the rows shown are not intact.
    """


@audit.command("list")
@click.option("--dataset", help="Only this dataset.")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="Newest runs shown.")
@json_option
def list_runs(dataset: str | None, limit: int, as_json: bool) -> None:
    """List runs, the newest first, with their verdicts; runs that have not ended, or were killed, are `open`."""
    with audit_store() as store:
        runs = store.runs(dataset, limit)
        if as_json:
            print_json({"runs": [asdict(run) for run in runs]})
        else:
            print_table(
                f"{len(runs)} runs",
                ["started", "dataset", "verdict", "by", "version", "run"],
                [
                    [
                        _printable(cell or "")
                        for cell in (r.started[:19], r.dataset, _verdict(r), r.by, r.version, r.run_id)
                    ]
                    for r in runs
                ],
            )
        _end(store, [what for r in runs for what in r.wrong], [key for r in runs for key in r.unproven])


def _verdict(run: RecordedRun) -> str:
    shown = f"{run.verdict} (Airflow: {run.airflow})" if run.airflow else run.verdict
    return f"{shown} (not intact)" if run.wrong else shown


@audit.command()
@click.argument("run_id", metavar="ID")
@click.option("--summary", is_flag=True, help="Only the summary, not every row on record.")
@json_option
def show(run_id: str, summary: bool, as_json: bool) -> None:
    """Show one run: ID is a run id, a version, or the name of a dataset for its latest run."""
    with audit_store() as store:
        found = store.find_run(run_id)
        if found is None:
            raise InvalidInputError(f"no run, version or dataset called {run_id!r}; see `anon audit list`")
        run, rows = found
        report = _report_of(run)
        if as_json:
            print_json(
                {
                    "run_id": run.run_id,
                    "dataset": run.dataset,
                    "verdict": run.verdict,
                    "wrong": run.wrong,
                    "rows": rows,
                    "report": _read_report(report),
                }
            )
        elif not (_summarised(report, rows["withdrawals"]) and summary):
            print_table(
                f"on record for {_printable(run.run_id)}",
                ["entry", "at", "what", "details"],
                [[number, at, table, _printable(line)] for number, at, table, line in _lines(rows)],
                right=[0],
            )
        _end(store, run.wrong, run.unproven)


def _report_of(run: RecordedRun) -> Path | None:
    """Return where the internal report of a run is; None without one, or for a name that no dataset can have."""
    from anon_airflow.run.context import folder_name

    if not SLUG.fullmatch(run.dataset):
        return None
    path = Home.find().notes / run.dataset / folder_name(run.run_id) / "internal-report.json"
    return path if path.exists() else None


def _read_report(path: Path | None) -> Any:
    try:
        return json.loads(path.read_bytes()) if path else None
    except (OSError, ValueError):
        click.echo(f"anon: {path} cannot be read or is damaged", err=True)
        return None


def _summarised(path: Path | None, withdrawals: Sequence[Mapping[str, Any]]) -> bool:
    """Print the summary of a run, if it has a report that can be read; return whether it was printed."""
    from anon_airflow.run.summary import original_lines, summary_lines

    report = _read_report(path)
    if report is None:
        return False
    try:
        lines = [*summary_lines(report, withdrawals), *original_lines(Home.find())]
    except (LookupError, TypeError, ValueError, AttributeError):
        click.echo(f"anon: {path} is not a report of a run", err=True)
        return False
    for line in lines:
        click.echo(_printable(line))
    return True


def _lines(rows: Mapping[str, Sequence[dict[str, Any]]]) -> list[tuple[int, str, str, str]]:
    """
    Return the record of a run in the order of the chain: number of the entry, time, table, and content.

    An outcome names the verb that it ends. Checks are left out, except those that are not intact.
    """
    verbs = {row["id"]: row["verb"] for row in rows["intents"]}
    found = []
    for table, listed in rows.items():
        for row in listed:
            if table == "checks" and WRONG not in row:
                continue
            shown = row
            if table == "outcomes":
                shown = {"verb": verbs.get(row["intent_id"]), **row}
            if table == "receipts":
                shown = {"receipt": row["digest"][:DIGEST_SHOWN], **row}
            found.append((row["id"], _printable(row["at"][:19]), table, _line(shown)))
    return sorted(found)


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
    from anon_airflow.approval.request import pending_questions

    with audit_store() as store:
        listed = pending_questions(store, dataset)
        if as_json:
            print_json({"pending": listed})
        else:
            print_table(
                f"{len(listed)} waiting for approval",
                ["since", "dataset", "who may approve", "receipt", "run"],
                [
                    [
                        _printable(cell)
                        for cell in (
                            one["since"][:19],
                            one["dataset"],
                            ", ".join(one["users"]) or "any user",
                            one["receipt"],
                            one["run_id"],
                        )
                    ]
                    for one in listed
                ],
            )
        wrong = [f"the question of run {one['run_id']}: {what}" for one in listed for what in one.get(WRONG, ())]
        _end(store, wrong, [str(one[UNPROVEN]) for one in listed if UNPROVEN in one])


@audit.command()
@click.option(
    "--anchor",
    "anchors",
    type=click.Path(path_type=Path, exists=True),
    multiple=True,
    help="A manifest.json or tombstone.json of a portal, a folder of them, or a dataset as JSON from the portal's "
    "API: shows if the end of the chain was cut off. May be repeated.",
)
@json_option
def verify(anchors: tuple[Path, ...], as_json: bool) -> None:
    """Verify that no row was changed, removed or added by hand; if one was, exit code 1 and the first broken link.

    The chain alone does not show that its newest rows were cut off. An older manifest or tombstone of a portal shows
    it: give it with --anchor. Name retired keys in ANON_RETIRED_KEYS_FILE. Originals that are still in the staging
    area are listed too.
    """
    from anon_airflow.commands.anchors import read_anchors

    given = read_anchors(anchors)
    with audit_store() as store:
        found = store.verify(*given.heads)
        lost = given.not_on_record(store) if found.broken_seq is None else []
        left = originals(Home.find(), closed_in(store))
    ok = found.ok and not lost
    if as_json:
        print_json({**asdict(found), "ok": ok, "not_on_record": lost, "originals": list(map(asdict, left))})
    elif found.broken_seq is None:
        anchored = f"; {given.sentence} in it" if given.heads else ""
        click.echo(f"{found.entries:,} entries, unbroken; head {found.head.seq} {found.head.mac[:12]}{anchored}")
        for number, use in enumerate(found.keys, 1):
            retired = "" if number == len(found.keys) else f" to {found.keys[number].from_seq - 1}, then retired"
            click.echo(f"  key {use.key_id}: from link {use.from_seq}{retired}")
        for intent in found.open_intents:
            what = f"{intent.verb} of {intent.dataset} since {intent.at[:19]} ({intent.run_id})"
            click.echo(f"  open: {_printable(what)}")
        if found.open_intents:
            click.echo(
                "  open work still runs, waits for its next step, or was killed. Work that was killed stays open on "
                "record and needs no repair: run it again if its release is missing"
            )
    else:
        click.echo(f"BROKEN at entry {found.broken_seq}: {_printable(found.reason)}", err=True)
    if not as_json:
        for problem in found.schema:
            click.echo(f"CHANGED TABLES: {_printable(problem)}", err=True)
        for sentence in lost:
            click.echo(f"NOT ON RECORD: {sentence}", err=True)
        for one in left:
            click.echo(f"  {_printable(one.sentence)}")
    raise click.exceptions.Exit(0 if ok else 1)


@audit.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, with all entries in a list.")
def export(as_json: bool) -> None:
    """Print every entry in order, one JSON object per line; the key `wrong` says what is not intact."""
    wrong: list[str] = []
    unproven: set[str] = set()
    listed = []
    with audit_store() as store:
        for entry in store.export():
            if WRONG in entry:
                wrong.append(str(entry[WRONG]))
            if UNPROVEN in entry:
                unproven.add(str(entry[UNPROVEN]))
            if as_json:
                listed.append(entry)
            else:
                click.echo(json.dumps(entry, ensure_ascii=False, sort_keys=True))
        if as_json:
            print_json({"entries": listed})
        _end(store, wrong, unproven)
