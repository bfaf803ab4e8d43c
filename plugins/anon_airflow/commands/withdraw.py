"""``anon withdraw``: a release is taken off its portal, and a page says that it was there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace

import click

from anon_airflow.commands.output import Stopwatch, json_option, print_json


@click.command(short_help="Take a published release off its portal.")
@click.argument("release", metavar="RELEASE")
@click.option("--reason", required=True, help="Why; it stands on the portal for everybody to read, and on record.")
@click.option("--dataset", help="Where releases of several datasets have this name.")
@click.option(
    "--words-only", is_flag=True, help="Nothing is wrong with the data: it may be published with other words."
)
@json_option
def withdraw(release: str, reason: str, dataset: str | None, words_only: bool, as_json: bool) -> None:
    """Take RELEASE off its portal: a version, a run id, or a dataset for all its versions, kept ones included.

    Other versions of the dataset that hold the same data go with it, from every portal that it was sent to; with
    --words-only only those with the same words as well. Each is printed with the portal that it went off.

    A page in its place says that it was withdrawn, when and why. The audit trail stays. The same data is not published
    again for this dataset, by a retry or by a later run, whatever the publication file says about it by then; with
    --words-only it is, once the file says something else. Withdrawing twice does nothing more.
    """
    from anon_airflow.commands.audit import audit_store
    from anon_airflow.release.withdraw import find_release, retract
    from anon_airflow.run.local import operating_system_user

    if not reason.strip():
        raise click.BadParameter("say why", param_hint="--reason")
    person = operating_system_user()
    with audit_store() as store:
        target = replace(find_release(store, release, dataset), words_only=words_only)
        done = retract(store, target, person=person, reason=reason.strip(), progress=Stopwatch())
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
            f"if a DAG publishes {done.dataset}, it goes on with what is new: pause it if that must not be", err=True
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
