"""The summary of a run, made from its internal report: what `anon run` prints at its end."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from anon_airflow.gate.waivers import accepted_words
from anon_airflow.run.home import Home
from anon_airflow.run.sweep import closed_in_home, originals
from anon_core.models.measurement import counts_as_check
from anon_core.report.meant_k import meant_k

SHOWN = 3
"""At most this many sets or columns are named."""
_WITHOUT = {
    "detect": "what singles people out in the source was not searched",
    "score": "how sensitive its columns are was not measured",
}
"""What is missing in a report if a step that only informs has failed."""
_STEPS = {"recode": "recoding", "stage": "staging"}
"""The activity of a step that refused; other names of what refused are used as they are."""


def print_summary(report: Path, home: Home) -> None:
    """Print the summary of a run from its internal report, and the originals of any run that are still there."""
    for line in summary_lines(json.loads(report.read_bytes())):
        click.echo(line)
    for line in original_lines(home):
        click.echo(line)


def original_lines(home: Home) -> Iterator[str]:
    """Yield a line for each run whose originals are still in the staging area, with the reason."""
    with closed_in_home(home) as closed:
        for one in originals(home, closed):
            yield f"  still there         {one.sentence}"


def summary_lines(report: dict[str, Any], withdrawals: Sequence[Mapping[str, Any]] = ()) -> Iterator[str]:
    """Yield what happened: rows, what singles people out, figures before and after, the verdict, and addresses."""
    period = f", period {report['period']}" if report["period"] else ""
    yield f"{report['title']} ({report['dataset']}{period})"
    if staged := report["staged"]:
        dropped = f", {staged['rows_dropped']:,} dropped because of gaps" if staged["rows_dropped"] else ""
        people = f", of {staged['people']:,} people" if staged["unit"] else ", each counted as a person"
        yield f"  rows read           {staged['rows']:,}{people}{dropped}"
        if staged.get("rows_capped"):
            several = f"{staged['people_capped']:,} people with more rows than allowed"
            yield f"  rows left out       {staged['rows_capped']:,} of {several}"
        if staged["rows_without_person"]:
            yield f"  no person known     {staged['rows_without_person']:,} rows, which add no person to a class"
    for failed in report.get("steps_failed", ()):
        yield f"  WARNING             {_WITHOUT[failed['step']]}: `{failed['step']}` failed ({failed['reason']})"
    if (detection := report["detection"]) and report["before"]:
        yield f"  quasi-identifiers   {', '.join(report['before']['columns']) or 'none'} (declared)"
        identifiers = detection["identifiers"]
        alone = "identify everyone" if staged and staged["unit"] else "identify every row"
        for names in identifiers[:SHOWN]:
            yield f"  {alone:<20}{', '.join(names)}"
        if len(identifiers) > SHOWN:
            yield f"                      and {len(identifiers) - SHOWN:,} more sets"
    if detection and (best := detection["best"]):
        noun = "people" if staged and staged["unit"] else "rows"
        # Without these words the line would contradict the lines above: those sets identify everyone.
        among = ", the most of all sets that do not identify everyone" if detection["identifiers"] else ""
        yield (
            f"  found in the data   {', '.join(best['columns'])} single out {best['singletons']:,} {noun} "
            f"({best['share']:.1%}{among}); sets up to {detection['max_size']} columns searched"
        )
    if scores := report["scores"]:
        yield f"  most sensitive      {_most_sensitive(scores)}"
    before, after = report["before"], report["after"]
    if before and after and before["columns"]:
        yield f"  people alone        {before['singletons']:,} before, {after['singletons']:,} after (singletons)"
        yield from _k(report, before, after)
        yield f"  risk, on average    {_risk(before)} before, {_risk(after)} after"
    if recoding := report["recoding"]:
        yield f"  recoding            {recoding['method']}: " + "; ".join(_levels(recoding["columns"]))
    if report["utility"] and before and before["columns"]:
        yield f"  information left    {_left(report['utility'])}"
    if report["version"] and after:
        published = max(file["rows"] for file in report["distributions"])
        yield f"  rows published      {published:,} ({staged['rows'] - published:,} removed by recoding)"
        yield "  not assessed        earlier releases of it, and other datasets about the same people"
        if report["unique_rows_published"]:
            alone = f"{report['unique_rows_published']:,} over all published columns, the sensitive ones included"
            yield f"  unique rows         {alone}"
    yield from _answered_for(report)
    yield from _approval(report)
    if withdrawals:
        yield f"  verdict             {_withdrawn(withdrawals[-1])}"
        yield f"  before that         {_verdict(report)}"
    else:
        yield f"  verdict             {_verdict(report)}"
    for reason in report["reasons"]:
        yield f"                      - {reason}"
    if report["page"]:
        yield f"  release page        {report['page']}"


def _k(report: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> Iterator[str]:
    """Yield each k that the policy means. In the table as collected, and in old reports, it is the smallest class."""
    first = before["k"]["exact"]
    for k in meant_k(report.get("k_means", "exact"), report.get("k_required"), after["k"]):
        now = "not measured" if k.measured is None else f"{k.measured:,}"
        name = f"{k.name} (smallest class)" if k.kind == "exact" else k.name
        yield f"  {name:<20}{first:,} before, {now} after"


def _approval(report: dict[str, Any]) -> Iterator[str]:
    """Yield the decisions about approval; reports of earlier versions have none."""
    if report.get("approval_required") or report.get("approvals"):
        for one in report["approvals"]:
            yield f"  approval            {one['decision']} by {one['person']}, {one['at'][:19]}"
        if not report["approvals"]:
            yield "  approval            requested, not decided yet"


def _most_sensitive(scores: dict[str, Any]) -> str:
    if scores["average"] is None:
        return f"not defined: {scores['reason'].split(';')[0]}"
    first = sorted(scores["columns"], key=lambda column: -column["sensitivity"])[:SHOWN]
    if first and not first[0]["sensitivity"]:
        return "no column: no set of columns that was searched makes every row unique; larger sets may"
    named = ", ".join(f"{column['name']} {column['sensitivity']:.3f}" for column in first)
    return f"{named}; on average {scores['average']:.3f}"


def _risk(measured: dict[str, Any]) -> str:
    return f"{measured['risk']['prosecutor']['average']:.2%}"


def _left(utility: dict[str, Any]) -> str:
    """Return how useful the table still is: information left (entropy), and how far counts made from it are off."""
    off = [
        _off(columns, utility[key]["mean"])
        for columns, key in (("one column", "query_error_one_column"), ("two", "query_error_two_columns"))
        if utility[key]
    ]
    if utility["nue"] is None:
        return "; ".join(off)
    return "; ".join([f"{utility['nue']:.1%} (NUE), {utility['wnue']:.1%} by priority", *off])


def _off(columns: str, mean: float) -> str:
    """
    Return how far counts are off. If the error is larger than the counts, they are not useful.

    >>> _off("two", 0.075)
    'counts by two are off by 7.5% on average'
    >>> _off("one column", 2.472)
    'not useful: counts by one column are off by more than they are'
    """
    if mean > 1:
        return f"not useful: counts by {columns} are off by more than they are"
    return f"counts by {columns} are off by {mean:.1%} on average"


def _levels(columns: list[dict[str, Any]]) -> Iterator[str]:
    for column in columns:
        if column["role"] == "quasi" or column["cells_changed"]:
            yield f"{column['name']} {' / '.join(level['name'] for level in column['levels'])}"


def _answered_for(report: dict[str, Any]) -> Iterator[str]:
    """Yield acceptances, waivers and raised limits, and whether they were needed; earlier reports do not have them."""
    listed = [("accepted", accepted_words(one), one) for one in report.get("accepted", ())]
    listed += [("waived", one["check"], one) for one in report.get("waivers", ())]
    listed += [("raised", f"{one['limit']} to {one['value']}", one) for one in report.get("raised", ())]
    for word, what, one in listed:
        needed = {True: "needed", False: "not needed", None: "not measured"}[one["needed"]]
        yield f"  {word:<20}{what}: {one['reason']} ({one['by']}, until {one['until']}; {needed})"


def _withdrawn(row: Mapping[str, Any]) -> str:
    reason = " ".join(row["reason"].split())
    return f"WITHDRAWN on {row['at'][:19]} by {row['person']}: {reason} (version {row['version']})"


def _verdict(report: dict[str, Any]) -> str:
    counted = [one for one in report["checks"] if counts_as_check(passed=one["passed"], required=one["required"])]
    passed = sum(check["passed"] for check in counted)
    waived = sum(bool(check.get("waived_by")) for check in counted)
    checks = f"{passed} of {len(counted)} checks hold" if counted else "before any check"
    checks += f", {waived} waived" if waived else ""
    match report["outcome"]:
        case "published":
            return f"PUBLISHED as version {report['version']} ({checks})"
        case "unchanged":
            return f"UNCHANGED: version {report['version']} already holds exactly these bytes ({checks})"
        case "refused":
            by = _STEPS.get(report["refused_by"], f"the {report['refused_by']}")
            return f"REFUSED by {by} ({checks}); nothing was published"
        case _:
            return "FAILED before a verdict; nothing was published"
