"""``anon withdraw``: take a release off its portal, and leave a page that says so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json


@click.command(short_help="Take a published release off its portal.")
@click.argument("release", metavar="RELEASE")
@click.option("--reason", required=True, help="Why; it is published on the portal, and on record.")
@click.option("--dataset", help="The dataset, if releases of several datasets have this name.")
@click.option(
    "--words-only",
    is_flag=True,
    help="Only the description is wrong: the same data may be published with another description.",
)
@json_option
def withdraw(release: str, reason: str, dataset: str | None, words_only: bool, as_json: bool) -> None:
    """Take RELEASE off its portal: a version, a run id, or a dataset for all its versions.

    Other versions of the dataset with the same data are withdrawn too, from every portal that they were sent to; with
    --words-only only those that also have the same description. Each is printed with its portal.

    A page in its place says that it was withdrawn, when and why. The audit trail stays. A retry or a later run never
    publishes the same data of this dataset again; with --words-only it does, after the description has changed in the
    publication file. A second withdrawal changes nothing.
    """
    from anon_airflow.commands.audit import audit_store
    from anon_airflow.release.withdraw import find_release, withdraw_release
    from anon_airflow.run.local import operating_system_user

    if not reason.strip():
        raise click.BadParameter("give a reason", param_hint="--reason")
    person = operating_system_user()
    with audit_store() as store:
        target = replace(find_release(store, release, dataset), words_only=words_only)
        done = withdraw_release(store, target, person=person, reason=reason.strip(), progress=Stopwatch())
    if done.withdrawn:
        _notify(done.dataset, done.withdrawn, reason.strip())
    if as_json:
        print_json(
            {
                "withdrawn": list(done.withdrawn),
                "already": list(done.already),
                "dataset": done.dataset,
                "reason": reason.strip(),
                "person": person,
                "at": done.at,
                "off": [asdict(one) for one in done.off],
            }
        )
        return
    for one in done.off:
        click.echo(f"withdrawn: {done.dataset} {one.version} off {one.portal}{' (same data)' if one.same_data else ''}")
    there = {one.version for one in done.off}
    for version in done.withdrawn:
        if version not in there:
            click.echo(f"withdrawn: {done.dataset} {version}, which is on no portal")
    for version in done.already:
        click.echo(f"withdrawn before: {done.dataset} {version}")
    if target.versions is None:
        click.echo(
            f"a DAG that publishes {done.dataset} will publish new data: pause the DAG if you do not want that",
            err=True,
        )


def _notify(dataset: str, versions: Sequence[str], reason: str) -> None:
    """Notify the people whom the publication file named when it last ran."""
    from anon_airflow.run.home import Home
    from anon_airflow.run.last_known import recall_dataset
    from anon_airflow.run.notify import Facts, notify
    from anon_core.spec import Event

    known = recall_dataset(Home.find(), dataset)
    if known is None:
        return
    listed = ", ".join(versions)
    facts = Facts(event=Event.WITHDRAWN, dataset=dataset, title=known.title, version=listed, reasons=[reason])
    notify(known.notifications(Event.WITHDRAWN), facts, {}, lambda text: click.echo(f"anon: {text}", err=True))
