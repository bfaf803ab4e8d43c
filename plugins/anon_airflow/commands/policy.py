"""``anon policy``: show the site policy in force, and put a change of it on record."""

from __future__ import annotations

from typing import Any

import click

from anon_airflow.commands.output import json_option, print_json, print_table
from anon_airflow.run.site_policy import DIGEST, PolicyInForce, Row


@click.group(short_help="The limits of this site for all publication files.")
def policy() -> None:
    """The site policy: limits that no publication file may undercut.

    ANON_POLICY names its file; else it is in the home. If Airflow's configuration names it ([anonflow] policy), name
    the same file in ANON_POLICY for these commands.
    """


@policy.command()
@json_option
def show(as_json: bool) -> None:
    """Show the site policy in force, its file and digest, and the policy on record.

    Exit code 1 if the policy in force is not the last on record: then every run is refused until `anon policy adopt`.
    """
    from anon_airflow.run.home import Home
    from anon_airflow.run.site_policy import policy_in_force
    from anon_core.site.policy import PEOPLE_PER_K

    found, last = policy_in_force(Home.find()), _on_record()
    holds = last is None or last.get(DIGEST) == found.digest
    if as_json:
        print_json({**_document(found), "on_record": _recorded(last), "holds": holds})
    else:
        settings = found.policy.model_dump(mode="json")
        settings["min_people"] = settings["min_people"] or f"{PEOPLE_PER_K} times k of the publication file"
        settings["portals"] = "all" if settings["portals"] is None else settings["portals"]
        title = f"site policy, by {found.found_by}" + (f", {found.file}" if found.file else "")
        print_table(title, ["key", "floor or limit"], _rows(settings))
        click.echo(f"digest {found.digest}")
        click.echo(_record_line(last, holds=holds))
    raise click.exceptions.Exit(0 if holds else 1)


@policy.command()
@click.option("--reason", required=True, help="Why it is changed, for the record; at least ten letters.")
@click.option("--by", help="The person who answers for it; by default the user of the operating system.")
@json_option
def adopt(reason: str, by: str | None, as_json: bool) -> None:
    """Put the site policy in force on record: from here on all runs use it.

    If it is on record already, nothing is written, and the exit code is 0.
    """
    from pydantic import TypeAdapter, ValidationError

    from anon_airflow.audit import AuditStore
    from anon_airflow.keys.ring import KeyRing
    from anon_airflow.run.home import Home, private_folder
    from anon_airflow.run.local import operating_system_user
    from anon_airflow.run.site_policy import adopt as put_on_record
    from anon_airflow.run.site_policy import last_on_record, policy_in_force
    from anon_core.settings import MIN_REASON_LETTERS, Filled, Reason

    try:
        reason = TypeAdapter(Reason).validate_python(reason.strip())
    except ValidationError:
        what = f"give a reason of at least {MIN_REASON_LETTERS} letters"
        raise click.BadParameter(what, param_hint="--reason") from None
    actor = operating_system_user()
    try:
        by = TypeAdapter(Filled).validate_python(actor if by is None else by.strip())
    except ValidationError:
        raise click.BadParameter("name the person who answers for it", param_hint="--by") from None
    home = Home.find()
    found = policy_in_force(home)
    ring = KeyRing.load(private_folder(home.root))
    with AuditStore.open(home.audit_url, private_folder(home.root), ring) as audit:
        last = last_on_record(audit)
        new = last is None or last.get(DIGEST) != found.digest
        if new:
            put_on_record(audit, found, actor=actor, by=by, reason=reason)
    if as_json:
        print_json({**_document(found), "adopted": new, "by": by, "reason": reason, "before": _recorded(last)})
    else:
        click.echo(f"adopted by {by}: {found.digest}" if new else f"on record already: {found.digest}")


def _on_record() -> Row | None:
    """Return the policy on record; None if there is no audit store yet."""
    from anon_airflow.run.home import Home
    from anon_airflow.run.site_policy import last_on_record

    home = Home.find()
    if home.audit_url is None and not (home.root / "audit.db").exists():
        return None
    from anon_airflow.commands.audit import audit_store  # Needs the extra `gate`; a policy without a store does not.

    with audit_store() as store:
        return last_on_record(store)


def _document(found: PolicyInForce) -> dict[str, Any]:
    return {
        "policy": found.policy.model_dump(mode="json"),
        "found_by": found.found_by,
        "file": str(found.file) if found.file else None,
        "digest": found.digest,
    }


def _recorded(last: Row | None) -> dict[str, Any] | None:
    return {"digest": last.get(DIGEST), "by": last.get("by"), "reason": last.get("reason")} if last else None


def _rows(settings: dict[str, Any], before: str = "") -> list[list[Any]]:
    """Return one row for each limit, with its dotted key."""
    rows: list[list[Any]] = []
    for key, value in settings.items():
        if isinstance(value, dict):
            rows += _rows(value, f"{before}{key}.")
        else:
            shown = ", ".join(value) if isinstance(value, list) else "none" if value is None else str(value)
            rows.append([before + key, shown])
    return rows


def _record_line(last: Row | None, *, holds: bool) -> str:
    if last is None:
        return "no site policy is on record yet: the first run records this one"
    recorded = f"on record: digest {str(last.get(DIGEST))[:12]}, by {last.get('by')}: {last.get('reason')}"
    not_this = "NOT THE POLICY IN FORCE: every run is refused until `anon policy adopt --reason TEXT`"
    return recorded if holds else f"{recorded}\n{not_this}"
