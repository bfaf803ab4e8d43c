"""Build a release for a portal: the gated files, their version and the public report."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anon_airflow.audit import History
from anon_airflow.gate.commitments import Commitment, commit, keep_nonce, kept_nonce
from anon_airflow.gate.files import MeasuredFile, digest_of
from anon_airflow.gate.verdict import Verdict, noted
from anon_airflow.gate.witness import KEPT, Witness, write_kept
from anon_airflow.keys.signing import canonical_json
from anon_airflow.run.context import Run
from anon_airflow.run.home import whole_folder, wipe, write_private
from anon_core import __version__
from anon_core.errors import InternalError, RefusedError
from anon_core.files.storage import digest, sync
from anon_core.policy import KMeans
from anon_core.publishing.distribution import MEDIA_TYPES
from anon_core.publishing.release import Distribution, Release
from anon_core.report import public
from anon_core.report.public_report import PublicReport, PublishedFile, Rows
from anon_core.role import Role

REPORT = "report.json"
SUITE = "suite.json"
"""The suite that the gate evaluated, beside the files that passed it; it is never published."""
PUBLICATION_FILE = "publication_file"
"""The name of the commitment to the publication file and its hierarchies."""
NOTED = "noted"
"""The key in the record of a recoding for the digest of the note of `recode`."""
GENERATOR = f"anonflow {__version__}"
_NOT_CONTENT = {
    *("schema", "kind", "version", "period", "generated_by", "approved", "rows", "people", "privacy", "detail"),
    *("checks", "k", "singletons", "risk", "sensitive", "not_measured"),
}
"""Keys of the public report that do not identify a release: they depend on the day, or follow from the files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFile:
    """The public report beside the gated files, with the digest that the receipt covers."""

    content: dict[str, Any]
    measured: MeasuredFile


def content_digest(report: Mapping[str, Any], metadata: Mapping[str, Any]) -> str:
    """
    Return the digest that identifies a release: of its files and of what is published about them, without the day.

    It is made from public values only, because it is public. Of checks the names and requirements count: what they
    observed follows from the files. An approval, and counts of rows that are not in the files, do not change it.
    """
    content = {key: value for key, value in report.items() if key not in _NOT_CONTENT}
    privacy = {key: value for key, value in report["privacy"].items() if key not in _NOT_CONTENT}
    checks = [[check["name"], check["required"], check["passed"]] for check in report["privacy"]["checks"]]
    people = {key: value for key, value in report["people"].items() if key not in ("published", "alone", "row_sets")}
    return digest(canonical_json([content, privacy, checks, people, dict(metadata)]))


def version_of(run: Run, digest: str) -> str:
    """Return the name of a version: its period, or `manual` for a run without one, and the beginning of its digest."""
    return f"{run.period or 'manual'}.{digest[:8]}"


def build_public_report(run: Run, verdict: Verdict, answered: Mapping[str, Any], history: History) -> MeasuredFile:
    """
    Write the public report beside the gated files and return its digest, which the receipt covers.

    ``answered`` lists acceptances, waivers and raised limits. The notes of `stage` and `recode` must be as on record.

    :raises RefusedError: they are not.
    """
    policy = run.publication.privacy
    staged, recoded = history.staged, _recoded(run, history)
    files = [
        PublishedFile(
            name=file.name,
            media_type=MEDIA_TYPES[Path(file.name).suffix],
            sha256=file.sha256,
            bytes=file.bytes,
            rows=file.rows,
        )
        for file in verdict.distributions
    ]
    report = PublicReport.model_validate(
        {
            "dataset": run.dataset,
            "title": run.publication.title,
            "version": "",
            "period": run.period,
            "generated_by": GENERATOR,
            "approved": run.publication.approval.required,  # If it is missing, `publish` refuses: no reader sees this.
            "rows": Rows(
                published=files[0].rows,
                removed=public.rounded_down(staged["rows"] - files[0].rows, policy.k),
                dropped=public.rounded_down(staged["rows_dropped"], policy.k),
                capped=public.rounded_down(staged.get("rows_capped", 0), policy.k)
                if policy.max_rows_per_person is not None
                else None,
                rounded_to=public.step_of(policy.k),
            ),
            "people": public.people_note(run.publication.unit, staged, recoded["people"], verdict.checks, policy.k),
            "privacy": _privacy(run, verdict, answered, people=staged["unit"] is not None),
            "recoding": {
                "method": run.publication.recode.method,
                "columns": [_column(one, recoded["public_levels"]) for one in recoded["recoding"]["columns"]],
            },
            "detail": recoded["public_detail"],
            "distributions": files,
        }
    )
    said = report.model_dump(mode="json", by_alias=True)
    said["version"] = version_of(run, content_digest(said, _metadata(run)))
    content = json.dumps(said, indent=1, sort_keys=True).encode()
    write_private(run.gated / REPORT, content)
    return MeasuredFile(name=REPORT, sha256=digest(content), bytes=len(content), rows=0)


def _metadata(run: Run) -> dict[str, Any]:
    metadata = run.publication.metadata
    return metadata.model_dump(mode="json", exclude_none=True) if metadata else {}


def _privacy(run: Run, verdict: Verdict, answered: Mapping[str, Any], *, people: bool) -> dict[str, Any]:
    """Return what was required, what can be counted in the published rows, and what was not measured."""
    publication, policy = run.publication, run.publication.privacy
    quasi, exact = publication.quasi_identifiers, policy.k_means is KMeans.EXACT
    if verdict.released is None:
        raise InternalError("a verdict without the rows that it is about", "release")
    sensitive = publication.names_with_role(Role.SENSITIVE)
    checks = public.public_checks(verdict.checks, verdict.suite, people=people)
    return {
        "k_required": policy.k,
        "k_means": str(policy.k_means.value),
        **public.figures_of_release(verdict.released, quasi, sensitive, k=policy.k, people=people, exact=exact),
        "suppression_limit": policy.suppression_limit,
        "published_uniqueness": {
            **policy.published_uniqueness.model_dump(exclude={"accept"}),
            "columns": list(publication.searched),
            "protected": [] if exact else list(quasi),
        },
        "checks": [noted(check) for check, _ in checks],
        "accepted": answered["accepted"],
        "waivers": answered["waivers"],
        "raised": answered["raised"],
        "not_measured": public.not_measured(checks),
    }


def _column(noted: Mapping[str, Any], levels: Mapping[str, Any]) -> dict[str, Any]:
    """Return a column for the public report; its levels are found by the published labels alone."""
    kept = {key: noted[key] for key in ("name", "role", "type", "description", "levels")}
    return {**kept, "levels": levels.get(noted["name"], noted["levels"])}


def keep(run: Run, files: list[Path], suite: Mapping[str, Any], witness: Witness, nonce: str) -> None:
    """
    Copy the files that passed the gate, with their private companions, to where `publish` finds them; all or none.

    The companions are the suite, the witness, and the nonce of the receipt's commitments to both.
    """
    wipe(run.gated)
    with whole_folder(run.gated, "keeping the gated files") as part:
        for path in files:
            shutil.copyfile(path, part / path.name)
            (part / path.name).chmod(0o600)
            sync(part / path.name)  # After a crash there must be no receipt without its files.
        if witness.unit is not None:
            write_kept(witness, run.publication, part / KEPT)
            (part / KEPT).chmod(0o600)
            sync(part / KEPT)
        write_private(part / SUITE, json.dumps(suite, indent=1, sort_keys=True).encode())
        keep_nonce(part, nonce)


def _recoded(run: Run, history: History) -> dict[str, Any]:
    recodings = history.attempt["recodings"]
    return run.noted_as("recode", str(recodings[-1]["details"].get(NOTED, "")) if recodings else "")


def release_files(run: Run) -> tuple[list[Path], ReportFile]:
    """
    Return the gated data files, and the report beside them.

    :raises RefusedError: the report is missing or damaged.
    """
    try:
        content = (run.gated / REPORT).read_bytes()
        report = dict(json.loads(content))
    except (FileNotFoundError, ValueError, TypeError):
        changed = f"{REPORT} was changed or removed after the gate; clear the run from `stage`"
        raise RefusedError("receipt", [changed]) from None
    measured = MeasuredFile(name=REPORT, sha256=digest(content), bytes=len(content), rows=0)
    files = sorted(path for path in run.gated.glob("[!.]*") if path.name not in (REPORT, SUITE))
    return files, ReportFile(content=report, measured=measured)


def kept_witness(run: Run, unit: str | None) -> Witness:
    """Return the part of the witness that is kept beside the gated files: a file only if people have several rows."""
    return Witness(path=run.gated / KEPT, unit=unit)


def commitments_of(run: Run, verdict: Verdict, unit: str | None) -> tuple[Commitment, ...]:
    """Commit to the publication file, the suite and the witness by the nonce beside the gated files."""
    private = {"suite": verdict.suite_digest}
    if unit is not None:
        try:
            private["witness"] = digest_of(run.gated / KEPT)[0]
        except OSError:  # It is missing: the measurement reports that, and the receipt will not match.
            private["witness"] = ""
    return (publication_file_commitment(run), *commit(kept_nonce(run.gated), private))


def publication_file_commitment(run: Run) -> Commitment:
    """
    Commit to the publication file and its hierarchies by the nonce beside the gated files.

    A hierarchy may be made from the data, so its plain digest could reveal which values are in it.
    """
    (found,) = commit(kept_nonce(run.gated), {PUBLICATION_FILE: run.publication.digest()})
    return found


def suite_problems(run: Run, rendered: Mapping[str, Any]) -> list[str]:
    """
    Return how the stored suite differs from the suite that was just rendered from the publication file.

    Only the rendered suite is evaluated. But the stored suite documents what a release had to pass, so it must agree.
    """
    again = "clear the run from `stage`"
    try:
        stored = json.loads((run.gated / SUITE).read_bytes())
    except (OSError, ValueError):
        return [f"{SUITE} was removed after the gate, or cannot be read; {again}"]
    if stored == rendered:
        return []
    entries = stored.get("expectations") if isinstance(stored, dict) else None
    left = entries if isinstance(entries, list) else []
    lost = sorted({str(entry["type"]) for entry in rendered["expectations"] if entry not in left})
    what = f"it lacks or differs in {', '.join(lost)}" if lost else "it is not the one of this publication file"
    return [f"{SUITE} was changed after the gate: {what}; {again}"]


def build_release(run: Run, verdict: Verdict, report: ReportFile, site_policy: str) -> Release:
    """Return the release as a portal takes it; ``site_policy`` is the commitment to it."""
    metadata = _metadata(run)
    digest = content_digest(report.content, metadata)
    return Release(
        dataset=run.dataset,
        title=run.publication.title,
        version=version_of(run, digest),
        period=run.period,
        distributions=tuple(
            Distribution(
                name=file.name,
                path=run.gated / file.name,
                media_type=MEDIA_TYPES[Path(file.name).suffix],
                sha256=file.sha256,
                bytes=file.bytes,
                rows=file.rows,
            )
            for file in verdict.distributions
        ),
        report=report.content,
        metadata=metadata,
        manifest={
            "generated_by": GENERATOR,
            PUBLICATION_FILE: publication_file_commitment(run).sha256,
            "report_sha256": report.measured.sha256,
            "site_policy": site_policy,
        },
        content_digest=digest,
    )
