"""``anon approval``: revoke an approval. Approvals are given in Airflow, where people log in."""

from __future__ import annotations

import click

from anon_airflow.commands.output import json_option, print_json
from anon_core.errors import InvalidInputError


@click.group(short_help="Revoke an approval before it is used.")
def approval() -> None:
    """Revoke an approval. Approvals are given in Airflow; `anon audit pending` lists the runs that wait for one."""


@approval.command()
@click.argument("run_id", metavar="RUN")
@click.option("--reason", required=True, help="Why, for the record.")
@click.option("--dataset", help="The dataset, if runs of several datasets have this id.")
@json_option
def revoke(run_id: str, reason: str, dataset: str | None, as_json: bool) -> None:
    """Revoke the approval of RUN, a run id as `anon audit list` shows it, so that it cannot be published.

    Exit code 1 if the revocation is on record but may be too late, 2 if there is no approval, or the run is published
    already.
    """
    from anon_airflow.approval.decision import revoke as sign_revocation
    from anon_airflow.commands.audit import audit_store
    from anon_airflow.keys.signing import SigningKey
    from anon_airflow.run.home import Home, private_folder
    from anon_airflow.run.local import operating_system_user

    if not reason.strip():
        raise click.BadParameter("give a reason", param_hint="--reason")
    person = operating_system_user()
    with audit_store() as store:
        found = sorted({run.dataset for run in store.runs(dataset, None) if run.run_id == run_id})
        if not found:
            raise InvalidInputError(f"no run called {run_id!r}; see `anon audit list`")
        if len(found) > 1:
            raise InvalidInputError(f"{', '.join(found)} all have a run {run_id!r}; name one with --dataset")
        key = SigningKey.load(private_folder(Home.find().root), create=False)
        revocation = sign_revocation(store, key, run_id, found[0], person=person, reason=reason.strip())
    decision = revocation.decision
    if as_json:
        names = ("dataset", "run_id", "receipt", "decision", "person", "reason")
        print_json({**{name: getattr(decision, name) for name in names}, "warning": revocation.warning})
    else:
        click.echo(f"revoked by {person}: {found[0]}, run {run_id}, receipt {decision.receipt[:12]}")
        if revocation.warning:
            click.echo(f"anon: {revocation.warning}", err=True)
    raise click.exceptions.Exit(1 if revocation.warning else 0)
