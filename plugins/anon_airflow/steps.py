"""One plain function per verb. Operators and ``anon run`` are two thin callers of these.

Every step may be run again: it finds what it needs in the run's private folders and the audit store, and doing it twice
leaves what doing it once leaves. Steps return counts, names of columns and addresses, never a cell.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from anon_airflow.guard import step
from anon_airflow.home import private_folder, storage, wipe
from anon_airflow.release import build_public_report, build_release, release_files
from anon_airflow.run import Run
from anon_core import __version__
from anon_core.errors import InternalError, InvalidInputError, RefusedError, TableError
from anon_core.spec import Missing

Progress = Callable[[str], None]
Result = dict[str, Any]

ORIGINAL = "original.parquet"


@step
def stage(run: Run, source_file: str, progress: Progress | None = None) -> Result:
    """
    Read the source, check it against the publication file, and put what will be needed into the private staging area.

    Identifiers and dropped columns never get there. Everything that can be known to go wrong later (an unwritable
    portal, a hierarchy with holes, a k above the number of rows) is found here, before any long work.
    """
    import numpy as np

    from anon_core.distribution import write_parquet
    from anon_core.hierarchy.build import ladders
    from anon_core.table import ReadOptions, read

    publication = run.publication
    with run.audit() as audit:
        if not any(i.run_id == run.run_id and i.verb == "run" for i in audit.open_intents(run.dataset)):
            audit.intend(
                run_id=run.run_id,
                dataset=run.dataset,
                verb="run",
                actor=run.actor,
                spec_digest=publication.digest(),
                details={"period": run.period, "anonflow": __version__},
            )
    _portal(run).check_writable()
    for left_by_an_earlier_attempt in (run.staging, run.gated, run.notes):
        wipe(left_by_an_earlier_attempt)
    path = publication.resolve(source_file)
    source = publication.source
    options = ReadOptions(
        delimiter=source.delimiter, encoding=source.encoding, missing_words=tuple(source.missing_words)
    )
    _say(progress, f"reading {path.name}")
    table = read(path, options)
    _check_columns(run, path, table.names)
    table = table.select([name for name in table.names if name in publication.published])
    dropped = 0
    if publication.missing is Missing.DROP:
        complete = np.ones(table.rows, np.bool_)
        for name in publication.quasi_identifiers:
            complete &= ~table.column(name).gaps
        table, dropped = table.keep(complete), int(np.count_nonzero(~complete))
    if publication.privacy.k > table.rows:
        raise InvalidInputError(
            f"{path.name}: privacy.k is {publication.privacy.k}, but the table has only {table.rows} rows"
            + (f" ({dropped} more were dropped for their gaps)" if dropped else "")
            + "; no class can be that large: lower k or publish this dataset less often"
        )
    ladders(publication, table, publication.quasi_identifiers)
    private_folder(run.staging)
    write_parquet(table, run.staging / ORIGINAL)
    note = {
        "rows": table.rows,
        "rows_dropped": dropped,
        "columns": len(table.names),
        "sha256": _digest(run.staging / ORIGINAL),
    }
    run.note("stage", note)
    return {"uri": (run.staging / ORIGINAL).as_uri(), **note}


@step
def detect(run: Run, progress: Progress | None = None) -> Result:
    """Find the column sets that single people out in the data as collected, and where the quasi-identifiers stand."""
    from anon_core.detect.singletons import detect as search
    from anon_core.frequency import FrequencyTable
    from anon_core.report.recoding import measured_note
    from anon_core.score.linkage import k_anonymity

    table = _staged(run)
    frequencies = FrequencyTable.of(table)
    _say(progress, f"searching {len(table.names)} columns for sets that single people out")
    found = search(frequencies, max_size=run.publication.detect.max_size)
    before = k_anonymity(frequencies, run.publication.quasi_identifiers, k=run.publication.privacy.k)
    run.note("detect", {"detection": asdict(found), "before": measured_note(run.publication, before)})
    best = found.best
    return {
        "rows": found.rows,
        "identifiers": len(found.identifiers),
        "best": list(best.columns) if best else [],
        "best_singletons": best.singletons if best else 0,
        "k_before": before.k,
        "singletons_before": before.singletons,
    }


@step
def score(run: Run, progress: Progress | None = None) -> Result:
    """Score every column: distinct values, entropy, share of unique values, sensitivity."""
    from anon_core.score.profile import profile
    from anon_core.score.sensitivity import sensitivities

    table = _staged(run)
    detection = run.noted("detect")["detection"]
    settings = run.publication.detect
    reveal = {name: settings.probability_of(name) for name in table.names}
    _say(progress, f"scoring {len(table.names)} columns")
    found = sensitivities(table.names, detection["identifiers"], reveal)
    columns = [
        {**asdict(profile(column)), "sensitivity": None if found is None else found[column.name]}
        for column in table.columns
    ]
    average = None if found is None else sum(found.values()) / len(found)
    reason = (
        f"no set of up to {detection['max_size']} columns makes every row unique, so sensitivity is not defined"
        if found is None
        else None
    )
    run.note("score", {"columns": columns, "average": average, "reason": reason})
    return {"columns": len(columns), "average": average, "reason": reason}


@step
def recode(run: Run, progress: Progress | None = None) -> Result:
    """Recode the quasi-identifiers until the policy holds, and write every file that would be published."""
    from anon_core.distribution import write_csv, write_parquet
    from anon_core.engines.arrow import ArrowEngine
    from anon_core.frequency import FrequencyTable
    from anon_core.hierarchy.build import ladders
    from anon_core.recode.methods import recode as search
    from anon_core.report.recoding import recoding_note

    publication = run.publication
    engine = ArrowEngine(table=_staged(run))
    quasi = publication.quasi_identifiers
    frequencies = engine.count(quasi)
    built = ladders(publication, engine.table, quasi)
    _say(progress, f"recoding {frequencies.tuples:,} distinct tuples of {', '.join(quasi)}")

    def on_node(done: int, of: int) -> None:
        if done % 50 == 0:
            _say(progress, f"recoding: {done:,} of at most {of:,} level combinations")

    recoding = search(publication, frequencies, [built[name] for name in quasi], progress=on_node)
    released = engine.apply(recoding.plan, publication.published)
    # The rows are counted again: the plan's word is not taken for what the file will hold.
    planned = sorted(recoding.plan.released().weights.tolist())
    if quasi and sorted(FrequencyTable.of(released, quasi).weights.tolist()) != planned:
        raise InternalError("released classes that differ from the plan", "steps.recode")
    if not released.rows:
        raise RefusedError("recode", ["every row would have to be removed"])
    folder = run.staging / "release"
    wipe(folder)
    private_folder(folder)
    _say(progress, f"writing {released.rows:,} rows")
    write_csv(released, folder / f"{run.dataset}.csv")
    write_parquet(released, folder / f"{run.dataset}.parquet")
    note = recoding_note(publication, recoding)
    run.note("recode", note)
    with run.audit() as audit:
        audit.append(
            "recodings",
            run_id=run.run_id,
            dataset=run.dataset,
            method=recoding.method,
            rows_changed=note["recoding"]["rows_changed"],
            rows_removed=note["rows_removed"],
            details={"utility": note["utility"], "optimal": note["optimal"]},
        )
    return {
        "uri": folder.as_uri(),
        "method": recoding.method,
        "rows": released.rows,
        "rows_changed": note["recoding"]["rows_changed"],
        "rows_removed": note["rows_removed"],
        "k": note["after"]["k"],
        "singletons": note["after"]["singletons"],
    }


@step
def gate(run: Run, progress: Progress | None = None) -> Result:
    """
    Measure every file that would be published; sign a receipt for these bytes, or refuse.

    However it ends, the staging area is gone afterwards; only files that passed are kept, in a folder of their own.
    """
    from anon_airflow import receipt as receipts
    from anon_airflow.gate import measure

    if not run.staging.exists() and run.gated.exists():
        with run.audit() as audit:
            if audit.receipt(run.run_id, run.dataset):  # Killed after the work was done: nothing is left to do.
                return {"verdict": "passed", "already": True}
    try:
        if not run.staging.exists():
            raise _staging_is_gone(run)
        staged = run.noted("stage")
        files = sorted((run.staging / "release").glob("[!.]*"))
        if not files:
            raise RefusedError(
                "gate", ["there is nothing to measure: `recode` has left no file; clear the run from `stage`"]
            )
        _say(progress, f"measuring {len(files)} files")
        verdict = measure(run.publication, files, rows_before=staged["rows"], today=_today())
        run.note("gate", {**verdict.to_dict(), "suite": verdict.suite})
        with run.audit() as audit:
            for check in verdict.checks:
                audit.append(
                    "checks",
                    run_id=run.run_id,
                    dataset=run.dataset,
                    distribution=check.distribution,
                    name=check.name,
                    passed=check.passed,
                    observed=str(check.observed),
                    required=str(check.required),
                )
        if not verdict.passed:
            raise RefusedError("gate", verdict.reasons)
        _keep(run, files)
        report = build_public_report(run, verdict)
        with run.audit() as audit:
            receipt = receipts.issue(
                run.signing_key(),
                dataset=run.dataset,
                run_id=run.run_id,
                spec_digest=run.publication.digest(),
                suite_digest=verdict.suite_digest,
                distributions=[*verdict.distributions, report],
                checks=verdict.evaluated,
                anonflow_version=__version__,
            )
            audit.append(
                "receipts", run_id=run.run_id, dataset=run.dataset, digest=receipt.digest, body=receipt.to_json()
            )
        return {"verdict": "passed", "checks": len(verdict.checks), "receipt": receipt.digest}
    except BaseException:
        wipe(run.gated)  # Without a receipt for them they are of no use to anyone.
        raise
    finally:
        if not run.publication.keep_staging:
            wipe(run.staging)


@step
def publish(run: Run, progress: Progress | None = None) -> Result:
    """
    Run the whole gate again on the files about to be sent, compare them with the receipt, and publish.

    That a task before this one is marked successful means nothing here: without a receipt that was signed for these
    very bytes, this dataset and this publication file, nothing is sent.
    """
    from anon_airflow import receipt as receipts
    from anon_airflow.gate import measure

    with run.audit() as audit:
        body = audit.receipt(run.run_id, run.dataset)
        done = run.attempt(audit)["publications"]
    if body is None:
        raise RefusedError("receipt", [f"run {run.run_id} has no receipt: its gate has not passed"])
    if not run.gated.exists():
        if done:  # A retry after everything was done.
            return {"status": done[-1]["status"], "version": done[-1]["version"], "page": done[-1]["location"]}
        raise RefusedError("receipt", ["the files that passed the gate are gone; clear the run from `stage`"])
    files, report = release_files(run)
    _say(progress, "measuring the files again before they are sent")
    verdict = measure(run.publication, files, rows_before=run.noted("stage")["rows"], today=_today())
    problems = list(verdict.reasons) + receipts.problems(
        receipts.Receipt.from_json(body),
        run.signing_key(),
        dataset=run.dataset,
        run_id=run.run_id,
        spec_digest=run.publication.digest(),
        suite_digest=verdict.suite_digest,
        distributions=[*verdict.distributions, report.measured],
    )
    if problems or not verdict.passed:
        raise RefusedError("receipt", problems or ["the files do not pass the gate again"])
    return _send(run, body, verdict, report, progress)


@step
def record(run: Run) -> Result:
    """Write the internal report, close what is open in the audit store and make sure that no original is left."""
    from anon_airflow.record import close_run

    wipe_leftovers = not run.publication.keep_staging
    try:
        return close_run(run)
    finally:
        if wipe_leftovers:
            wipe(run.staging)


def _check_columns(run: Run, path: Path, names: tuple[str, ...]) -> None:
    """Compare the columns of the file with the declared ones, both ways, and say everything at once."""
    declared = run.publication.columns
    undeclared = [name for name in names if name not in declared]
    absent = [name for name in declared if name not in names]
    if len(names) == 1 and len(declared) > 1:
        raise TableError(
            str(path),
            f"has a single column, {len(declared)} are declared, so its fields are probably separated by another "
            f"character than {run.publication.source.delimiter!r}",
            "set source.delimiter, or `delimiter: auto`",
        )
    if undeclared or absent:
        parts = [f"not declared in {run.publication.file.name}: {', '.join(undeclared)}"] if undeclared else []
        parts += [f"declared but absent: {', '.join(absent)}"] if absent else []
        raise TableError(
            str(path),
            "its columns are not the declared ones (" + "; ".join(parts) + ")",
            "correct `columns` or the export",
        )


def _staged(run: Run) -> Any:
    from anon_core.table import RELEASED, read

    path = run.staging / ORIGINAL
    if not path.exists():
        raise _staging_is_gone(run)
    return read(path, RELEASED)


def _staging_is_gone(run: Run) -> InvalidInputError:
    return InvalidInputError(
        f"the staged table of run {run.run_id} is gone (it is removed when the gate ends); "
        "run `stage` first (in Airflow: clear the run from the task `stage`)"
    )


def _keep(run: Run, files: list[Path]) -> None:
    """Copy the files that passed to where `publish` looks for them, all or none."""
    wipe(run.gated)
    part = run.gated.with_name(f".part-{run.gated.name}")
    wipe(part)
    private_folder(part)
    try:
        with storage("keeping the gated files", part):
            for path in files:
                shutil.copyfile(path, part / path.name)
                (part / path.name).chmod(0o600)
            part.replace(run.gated)
    finally:
        wipe(part)


def _send(run: Run, receipt: str, verdict: Any, report: Any, progress: Progress | None) -> Result:
    release = build_release(run, verdict, report)
    _say(progress, f"publishing version {release.version}")
    with run.audit() as audit:
        intent = audit.intend(
            run_id=run.run_id,
            dataset=run.dataset,
            verb="publish",
            actor=run.actor,
            spec_digest=run.publication.digest(),
            details={"version": release.version},
        )
        head = audit.head()
        release.manifest.update(
            receipt=hashlib.sha256(receipt.encode()).hexdigest(), audit={"seq": head.seq, "mac": head.mac}
        )
        published = _portal(run).publish(release)
        audit.append(
            "releases",
            run_id=run.run_id,
            dataset=run.dataset,
            version=published.version,
            period=run.period,
            rows_in=run.noted("stage")["rows"],
            rows_out=verdict.distributions[0].rows,
            content_digest=release.content_digest,
            spec_digest=run.publication.digest(),
            details={},
        )
        audit.append(
            "publications",
            run_id=run.run_id,
            dataset=run.dataset,
            version=published.version,
            portal="folder",
            status=published.status,
            location=published.page,
            content_digest=release.content_digest,
            details={"folder": published.location},
        )
        audit.close(intent, "done", version=published.version, outcome=published.status)
    wipe(run.gated)
    return {"status": published.status, "version": published.version, "page": published.page}


def _portal(run: Run) -> Any:
    from anon_airflow.portals.folder import FolderPortal

    return FolderPortal(run.publication.resolve(run.publication.portal.folder))


def _digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _today() -> date:
    return datetime.now(UTC).date()


def _say(progress: Progress | None, text: str) -> None:
    if progress:
        progress(text)
