"""The output of ``anon check``: one JSON object, or a few readable tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.argument_words import as_options, called
from anon_airflow.commands.output import percent, print_table, several

if TYPE_CHECKING:
    from anon_core.measures.linkage.four_ks import FourK
    from anon_core.measures.utility import Utility
    from anon_core.models import Measurement
    from anon_core.report.criteria import Criteria
    from anon_core.report.judgement import Judgement


def as_document(judged: Judgement, not_checked: Sequence[str]) -> dict[str, Any]:
    """Return everything that was measured; figures that need the original are null without it."""
    from anon_core.report.measured import measured_note, utility_note

    assessment, comparison = judged.assessment, judged.comparison
    measured, four = measured_note((), assessment), assessment.four
    return {
        "rows": measured["rows"],
        "k": measured["k"],
        "singletons": measured["singletons"],
        "classes": measured["classes"],
        "rows_below_k": measured["rows_below"],
        "checks": [check_document(check) for check in judged.checks],
        "not_checked": list(not_checked),
        "beside_original": None
        if four is None or comparison is None
        else {
            "paired": four.paired,
            "rows_before": comparison.before.rows,
            "rows_removed": four.removed,
            "rows_below_k": four.rows_below,
            "reason": _with_options(four.unmeasured),
            "concealment_reason": _with_options(four.unmeasured or four.reason),
        },
        "risk": measured["risk"],
        "sensitive": measured["sensitive"],
        "utility": None if assessment.utility is None else utility_note(assessment.utility),
    }


def _with_options(reason: str | None) -> str | None:
    """Return a reason of the core, with the options of the running command in place of arguments."""
    return None if reason is None else as_options(reason, called())


def check_document(check: Measurement) -> dict[str, Any]:
    """Return a measurement for the JSON of commands."""
    document = asdict(check)
    document["about"] = document.pop("sentence")
    return document


def print_judgement(name: str, criteria: Criteria, judged: Judgement, not_checked: Sequence[str]) -> None:
    """Print the checks, then the figures of the table."""
    measured = judged.assessment.k
    people = f"people, told apart by {', '.join(criteria.unit)} (rows without a value there add no person)"
    counted = people if criteria.unit else "rows, not people"
    classes = "1 class" if measured.classes == 1 else f"{measured.classes:,} classes"
    print_checks(
        f"{name}: {measured.rows:,} {counted}, {classes} of {', '.join(criteria.quasi_identifiers)}", judged.checks
    )
    if not_checked:
        click.echo(f"not checked: {', '.join(not_checked)}")
    if judged.assessment.four:
        _print_what_the_four_mean(criteria, judged.assessment.four)
    _print_risk(criteria, judged)
    if judged.assessment.sensitive:
        print_table(
            "\nsensitive columns, worst class",
            ["column", "distinct l", "entropy l", "largest share", "t equal", "t ordered"],
            [
                [one.name, one.distinct_l, one.entropy_l, one.largest_share, one.t_equal, one.t_ordered]
                for one in judged.assessment.sensitive
            ],
            right=(1, 2, 3, 4, 5),
        )
        for one in judged.assessment.sensitive:
            click.echo(f"in the worst class {percent(one.largest_share)} have the same value of {one.name}")
    if judged.assessment.utility:
        _print_utility(judged.assessment.utility)
    failed = [check.name for check in judged.checks if not check.holds]
    click.echo(f"\n{how_many_hold(judged.checks)}" + (f"; not: {', '.join(failed)}" if failed else ""))


def how_many_hold(checks: Sequence[Measurement]) -> str:
    """Return how many checks hold, and which failed checks are waived."""
    checks = [check for check in checks if check.counts_as_check]
    waived = [f"{check.name} by {check.waived_by}" for check in checks if check.waived_by]
    counted = [check for check in checks if check.counts_as_check]
    held = f"{sum(check.passed for check in counted)} of {several(len(counted), 'check')} hold"
    return held + (f", waived: {', '.join(waived)}" if waived else "")


def print_checks(title: str, checks: Sequence[Measurement]) -> None:
    """Print the checks: observed and required values."""
    print_table(
        title,
        ["check", "holds", "observed", "required", "about"],
        [
            [
                check.name,
                "waived" if check.waived_by else check.passed if check.counts_as_check else "",
                "none" if check.observed is None else check.observed,
                "nothing" if check.required is None and check.measured else check.required,
                check.sentence,
            ]
            for check in checks
        ],
    )


def print_four(title: str, four: FourK, *, below: str, meanings: Mapping[str, str] | None = None) -> None:
    """Print the four k's and how many rows or people are ``below`` the required k, with ``meanings`` if given."""
    rows = [[name, getattr(four, name), four.rows_below[name]] for name in ("exact", "link", "source", "concealment")]
    if meanings is None:
        print_table(title, ["k", "value", below], rows, right=(1, 2))
    else:
        with_meanings = [[*row, meanings[row[0]]] for row in rows]
        print_table(title, ["k", "value", below, "meaning"], with_meanings, right=(1, 2))


def _print_what_the_four_mean(criteria: Criteria, four: FourK) -> None:
    known = "known" if four.paired else "not known"
    meanings = {
        "exact": "smallest class",
        "link": "published rows that may be a person's, at least",
        "source": "people whose row a published row may be, at least",
        "concealment": (not four.unmeasured and four.reason) or "as link, without rows that must be other people's",
    }
    removed = f"{'rows ' if four.unmeasured else ''}removed: {four.removed:,}"
    print_four(
        f"\nthe four k's of {criteria.counted}; which row was made from which is {known}; {removed}",
        four,
        below=f"{criteria.counted} below {criteria.k}",
        meanings=meanings,
    )
    if four.unmeasured:
        click.echo(f"link, source and concealment: not measured; {_with_options(four.unmeasured)}")


def _print_risk(criteria: Criteria, judged: Judgement) -> None:
    risk, population = judged.assessment.risk, judged.assessment.population
    sampled = population.sampling_fraction is not None
    attackers = {"prosecutor": risk.prosecutor, **({"journalist": risk.journalist} if sampled else {})}
    print_table(
        f"\nrisk that a person's row is found; {risk.basis}",
        ["attacker", "highest", "average", *(f"{criteria.counted} above {at.limit:g}" for at in risk.prosecutor.above)],
        [
            [name, attack.highest, attack.average, *(at.rows for at in attack.above)]
            for name, attack in attackers.items()
        ]
        + ([["marketer", None, risk.marketer, *([None] * len(risk.prosecutor.above))]] if sampled else []),
        right=tuple(range(1, 3 + len(risk.prosecutor.above))),
    )
    small = ", ".join(f"{at.rows:,} ({percent(at.share)}) below {at.limit:g}" for at in risk.below)
    click.echo(f"{criteria.counted} in small classes: {small}")
    if population.reason:
        click.echo(f"alone in the population: {population.reason}")
    reasons = {one.reason for one in population.estimates if one.uniques is None}
    if len(reasons) == 1 and all(one.uniques is None for one in population.estimates):
        click.echo(f"alone in the population of {population.population:,}: {reasons.pop()}")
        return
    for one in population.estimates:
        chosen = " (chosen)" if one == population.elected else ""
        figure = "none" if one.uniques is None else f"{one.uniques:,.0f} ({percent(one.share or 0.0)})"
        said = f"{figure}: {one.reason}" if one.reason else figure
        click.echo(f"alone in the population of {population.population:,}, {one.estimator.value}{chosen}: {said}")


def _print_utility(utility: Utility) -> None:
    from anon_core.report.measured import utility_note

    document = utility_note(utility)
    entropy = document["nue_by_column"] or {}
    print_table(
        "\nhow useful each column still is" + (f" (NUE and changes: {utility.reason})" if utility.reason else ""),
        ["column", "information left (NUE)", "loss", "total variation"],
        [
            [name, entropy.get(name), lost, utility.marginals.by_column[name]]
            for name, lost in document["loss_by_column"].items()
        ],
        right=(1, 2, 3),
    )
    figures = [
        ("information left (NUE)", document["nue"]),
        ("by priority (wNUE)", document["wnue"]),
        ("loss", document["loss"]),
        ("discernibility", document["discernibility"]),
        ("average class size", document["average_class_size"]),
        ("rows changed", document["rows_changed_share"]),
        ("cells changed", document["cells_changed_share"]),
    ]
    click.echo(", ".join(f"{name} {_figure(value)}" for name, value in figures if value is not None))
    for columns, errors in (("one column", utility.queries.one_column), ("two columns", utility.queries.two_columns)):
        if errors:
            beyond = f"not useful: counts by {columns} are off by more than they are, by"
            off = beyond if errors.mean > 1 else f"counts by {columns} are off by"
            click.echo(
                f"{off} {percent(errors.mean)} on average, {percent(errors.median)} in the median, "
                f"{percent(errors.p95)} at the 95th percentile ({errors.queries:,} of {errors.groups:,} groups)"
            )


def _figure(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"
