"""The site policy in commands that work on a TABLE: they report what is below it, and a run refuses that."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from anon_core.report.criteria import Criteria


def below_site_policy(criteria: Criteria, counted: int, today: date) -> list[str]:
    """Return a sentence for each requirement, or property of the table, that is below the site policy."""
    from anon_airflow.run.home import Home
    from anon_airflow.run.site_policy import policy_in_force
    from anon_core.site import smallest_table, undercuts
    from anon_core.waivers import too_far

    site, publication = policy_in_force(Home.find()).policy, criteria.publication
    unit = publication.unit if publication else None
    found = [one.sentence for one in too_far(criteria.policy, today, site.longest_acceptance_days, unit)]
    found += undercuts(publication, site, today, k=criteria.k)
    counted_as = "person" if criteria.unit else "row"
    few = smallest_table(criteria.k, counted, site, counted_as=counted_as)
    return [*found, *([few] if few else [])]


def print_below(found: Sequence[str]) -> None:
    """Print what a run would refuse."""
    for sentence in found:
        click.echo(f"below the site policy, so `anon run` would refuse it: {sentence}")
