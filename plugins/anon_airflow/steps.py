"""The steps of a run, one plain function each. Airflow's operators and ``anon run`` only call them.

Every step can be repeated: it reads what it needs from the run's private folders and the audit store, and a second call
leaves the same result as the first. Steps return counts, names of columns and addresses, never a cell.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from functools import partial

from anon_airflow.approval.request import Answer, Question, refuse_unapproved
from anon_airflow.approval.request import ask as open_question
from anon_airflow.approval.request import decide as close_question
from anon_airflow.audit.history import STAGE
from anon_airflow.gate.files import digest_of
from anon_airflow.gate.waivers import exceptions_note, put_on_record
from anon_airflow.gate.witness import STAGED, Witness
from anon_airflow.informing_steps import Result, detect, score
from anon_airflow.keys.signing import fresh_nonce
from anon_airflow.portals.choice import portal_of
from anon_airflow.portals.overlap import SOURCE_TEXT, check_portal_place
from anon_airflow.release.build import (
    NOTED,
    build_public_report,
    commitments_of,
    keep,
    kept_witness,
    release_files,
    suite_problems,
)
from anon_airflow.release.publish import refuse_withdrawn_version, send
from anon_airflow.run.context import Run
from anon_airflow.run.guard import step
from anon_airflow.run.home import private_folder, wipe
from anon_airflow.run.last_known import remember
from anon_airflow.run.lease import make_staging
from anon_airflow.run.progress import Progress, say, throttled
from anon_airflow.run.record import begin, clock_reasons, close_run, note_mismatches
from anon_airflow.run.site_policy import commitment, policy_of_run
from anon_airflow.run.sweep import closed_in, sweep
from anon_airflow.sources.staging import (
    ORIGINAL,
    SURPLUS,
    check_same_spec,
    read_source,
    source_of,
    staged_original,
    staged_rows,
    staging_is_gone,
)
from anon_core import __version__
from anon_core.errors import RefusedError
from anon_core.site import smallest_table

__all__ = ["ask", "decide", "detect", "gate", "publish", "recode", "record", "score", "stage"]


@step
def stage(run: Run, source_text: str, progress: Progress | None = None) -> Result:
    """
    Read the source, check it against the publication file, and write the needed columns to the private staging area.

    ``source_text`` is the template of the source, filled in for the period.
    Identifiers and dropped columns are never written there. `stage` also finds, before any long work, every problem
    that would stop a later step: a portal that cannot be written, a hierarchy with holes, a search that would not end,
    a waiver that has ended.
    """
    from anon_core.detection.search_size import check_column_sets
    from anon_core.hierarchy.coarsen import check_levels
    from anon_core.publishing.distribution import write_parquet

    publication = run.publication
    _sweep(run, progress)
    found = begin(run, _today())
    remember(run)
    for mismatch in note_mismatches(run):
        say(progress, f"WARNING: {mismatch}")
    source = source_of(publication, source_text, run.connect)
    source.check()
    check_portal_place(run, source_text)
    publication.check_files()
    check_levels(publication)
    portal_of(run, progress).check()
    for left_by_an_earlier_attempt in (run.staging, run.gated, run.notes):
        wipe(left_by_an_earlier_attempt)
    say(progress, f"reading {source.name}")
    collected = read_source(publication, source)
    table = collected.table
    if few := smallest_table(publication.privacy.k, collected.people, found.policy):
        raise RefusedError("stage", [few])
    gated = (len(publication.searched), publication.privacy.published_uniqueness.max_size)
    check_column_sets(
        {
            "detect.max_size": (len(publication.published), publication.detect.max_size),
            "privacy.published_uniqueness.max_size": gated,
        }
    )
    with run.audit() as audit:
        intent = audit.intend(run_id=run.run_id, dataset=run.dataset, verb=STAGE, actor=run.actor)
        make_staging(run)
        write_parquet(table, run.staging / ORIGINAL)
        if (surplus := collected.surplus) is not None:
            write_parquet(surplus, run.staging / SURPLUS)
        note = {
            **collected.counts,
            "columns": len(publication.published),
            "surplus_sha256": digest_of(run.staging / SURPLUS)[0] if surplus else None,
            "sha256": digest_of(run.staging / ORIGINAL)[0],
            "spec_digest": publication.digest(),
        }
        audit.close(intent, "done", **note)
    run.note("stage", {**note, SOURCE_TEXT: source_text})
    if publication.keep_staging:
        stay = f"the originals stay in {run.staging} until the next run of {run.dataset}, or until `anon sweep --kept`"
        say(progress, f"keep_staging is on: {stay}")
    return {"uri": (run.staging / ORIGINAL).as_uri(), **note}


@step
def recode(run: Run, progress: Progress | None = None) -> Result:
    """Recode the quasi-identifiers until the policy holds, and write every file that would be published."""
    from anon_core.engines.formulas import formula_safe
    from anon_core.publishing.distribution import write_csv, write_parquet
    from anon_core.report.recoding import recode_publication, recoding_note, types_note

    publication, rows = run.publication, staged_rows(run)
    quasi = publication.quasi_identifiers
    say(progress, f"recoding {rows.count(quasi).tuples:,} distinct tuples of {', '.join(quasi)}")
    telling = partial(throttled(progress), "recoding: {1:,} of at most {2:,} {0}")
    recoded = recode_publication(publication, rows, progress=telling)
    recoding, released = recoded.recoding, recoded.released
    folder = run.staging / "release"
    wipe(folder)
    private_folder(folder)
    say(progress, f"writing {released.rows:,} rows")
    if recoded.witness is not None:  # Without a witness the gate refuses.
        write_parquet(recoded.witness, run.staging / STAGED)
    written = formula_safe(released) if publication.csv.escape_formulas else released
    write_csv(written, folder / f"{run.dataset}.csv")
    write_parquet(written, folder / f"{run.dataset}.parquet")
    say(progress, "measuring how safe and how useful it is")
    note = recoding_note(recoded, types_note(written))
    note["unique_rows_published"] = rows.of(written).count(written.names).singletons
    note["people"] = recoded.engine.people(()).rows
    noted = run.note("recode", note)
    with run.audit() as audit:
        audit.append(
            "recodings",
            run_id=run.run_id,
            dataset=run.dataset,
            method=recoding.method,
            rows_changed=note["recoding"]["rows_changed"],
            rows_removed=note["rows_removed"],
            details={"utility": note["utility"], "optimal": note["optimal"], NOTED: noted},
        )
    return {
        "uri": folder.as_uri(),
        "method": recoding.method,
        "rows": released.rows,
        "rows_changed": note["recoding"]["rows_changed"],
        "rows_removed": note["rows_removed"],
        "k": note["after"]["k"]["exact"],
        "singletons": note["after"]["singletons"],
    }


@step
def gate(run: Run, progress: Progress | None = None) -> Result:
    """
    Measure every file that would be published; sign a receipt for these bytes, or refuse.

    The gate always removes the staging area when it ends. Files that passed are kept in a folder of their own.
    """
    from anon_airflow.gate import receipt as receipts
    from anon_airflow.gate.measurement import measure

    if not run.staging.exists() and run.gated.exists():
        with run.audit() as audit:
            if run.history(audit).receipt:  # The gate was killed after it had signed: nothing is left to do.
                return {"verdict": "passed", "already": True}
    try:
        with run.audit() as audit:
            history = run.history(audit)
            if not run.staging.exists():
                raise staging_is_gone(run)
            site = policy_of_run(run, audit, history).policy
        staged, day = history.staged, history.day(_today())
        check_same_spec(run, staged["spec_digest"])
        files = sorted((run.staging / "release").glob("[!.]*"))
        if not files:
            raise RefusedError(
                "gate", ["there is nothing to measure: `recode` wrote no file; clear the run from `stage`"]
            )
        witness = Witness(path=run.staging / STAGED, unit=staged["unit"])
        say(progress, f"measuring {len(files)} files")
        verdict = measure(
            run.publication,
            files,
            rows_before=staged["rows"],
            today=day,
            original=staged_original(run, staged["sha256"], staged.get("surplus_sha256")),
            witness=witness,
            site=site,
            people=staged["people"],
        )
        answered = exceptions_note(run.publication, verdict, day, site)
        nonce = fresh_nonce()
        run.note("gate", {**verdict.to_dict(), "suite": verdict.suite, "nonce": nonce, **answered})
        with run.audit() as audit:
            for check in verdict.checks:
                audit.append(
                    "checks",
                    run_id=run.run_id,
                    dataset=run.dataset,
                    distribution=check.distribution,
                    name=check.name,
                    passed=check.passed,
                    observed=check.observed,
                    required=check.required,
                )
            put_on_record(run, audit)
        if not verdict.passed or verdict.vouched:
            reasons = [*verdict.reasons, *clock_reasons(run, history, _today())]
            raise RefusedError("gate", reasons or ["what needs the originals was not measured beside them"])
        keep(run, files, verdict.suite, witness, nonce)
        report = build_public_report(run, verdict, answered, history)
        with run.audit() as audit:
            receipt = receipts.issue(
                run.signing_key(),
                dataset=run.dataset,
                run_id=run.run_id,
                commitments=commitments_of(run, verdict, witness.unit),
                site_policy=commitment(history),
                distributions=[*verdict.distributions, report],
                models=verdict.models,
                checks=verdict.evaluated,
                anonflow_version=__version__,
            )
            audit.append(
                "receipts", run_id=run.run_id, dataset=run.dataset, digest=receipt.digest, body=receipt.to_json()
            )
        return {
            "verdict": "passed",
            "checks": sum(check.counts_as_check for check in verdict.checks),
            "receipt": receipt.digest,
        }
    except BaseException:  # Interrupts too: gated files without a receipt are never published.
        wipe(run.gated)
        raise
    finally:
        if not run.publication.keep_staging:
            wipe(run.staging)


@step
def ask(run: Run) -> Question:
    """Ask for approval of the files that the newest receipt covers; the question goes on record before it is shown."""
    return open_question(run)


@step
def decide(run: Run, answer: Answer) -> Result:
    """Sign a person's answer and put it on record. Any answer but a valid approval ends as a refusal."""
    return close_question(run, answer)


@step
def publish(run: Run, progress: Progress | None = None) -> Result:
    """
    Measure the files again as the gate did, compare them with the receipt, and publish them.

    A user of Airflow can mark any task successful, so this step does not trust the state of earlier tasks. It sends
    nothing without a receipt that was signed for these bytes, this dataset and this publication file; and, if the
    publication file requires approval, nothing without a signed approval of that receipt.
    """
    from anon_airflow.gate import receipt as receipts
    from anon_airflow.gate.measurement import StagedOriginal, measure

    with run.audit() as audit:
        history = run.history(audit)
    stored, done = history.receipt, history.attempt["publications"]
    if stored is None:
        raise RefusedError("receipt", [f"run {run.run_id} has no receipt: its gate has not passed"])
    if not run.gated.exists():
        if done:  # This is a retry after the release was published.
            with run.audit() as audit:
                refuse_withdrawn_version(audit, run.dataset, done[-1]["version"])
            return {"status": done[-1]["status"], "version": done[-1]["version"], "page": done[-1]["location"]}
        raise RefusedError("receipt", ["the files that passed the gate are gone; clear the run from `stage`"])
    with run.audit() as audit:
        site = policy_of_run(run, audit, history).policy
        refuse_unapproved(run, audit)
    files, report = release_files(run)
    say(progress, "measuring the files again before they are sent")
    staged, day = history.staged, history.day(_today())
    # The originals are removed by now: for checks that need them, the receipt counts.
    original = StagedOriginal(sha256=staged["sha256"])
    witness = kept_witness(run, staged["unit"])
    verdict = measure(
        run.publication,
        files,
        rows_before=staged["rows"],
        today=day,
        original=original,
        witness=witness,
        site=site,
        people=staged["people"],
    )
    problems = [*verdict.reasons, *clock_reasons(run, history, _today()), *suite_problems(run, verdict.suite)]
    problems += receipts.problems(
        receipts.Receipt.from_json(stored.body),
        run.key_ring(),
        dataset=run.dataset,
        run_id=run.run_id,
        commitments=commitments_of(run, verdict, staged["unit"]),
        site_policy=commitment(history),
        distributions=[*verdict.distributions, report.measured],
        models=verdict.models,
        checks=verdict.expected,
    )
    if problems or not verdict.passed:
        raise RefusedError("receipt", problems or ["the files do not pass the gate again"])
    say(progress, "publishing")
    return send(run, stored.body, verdict, report, commitment(history), progress)


@step
def record(run: Run) -> Result:
    """Write the internal report, close the run in the audit store and make sure that no original is left."""
    try:
        if not run.publication.keep_staging:
            wipe(run.staging)  # First: the database may answer slowly, and a user may stop the task.
    finally:
        result = close_run(run)
    return result


def _sweep(run: Run, progress: Progress | None) -> None:
    """Remove what dead runs have left, of every dataset, and report it."""
    with run.audit() as audit:
        swept = sweep(run.home, closed_in(audit), dataset=run.dataset)
    for one in swept.removed:
        say(progress, f"removed the originals of run {one.run_id} of {one.dataset}: {one.state}")
    for one in swept.failed:
        say(progress, f"WARNING: {one.sentence}")


def _today() -> date:
    """Return the date by this worker's clock. Decisions use :meth:`History.day`, which never goes back."""
    return datetime.now(UTC).date()
