"""An internal report as a person wants to read it at the end of a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from anon_airflow.home import Home
from anon_airflow.sweep import closed_in_home, originals
from anon_core.report.meant_k import meant_k

SHOWN = 3
"""So many sets or columns are named."""
_WITHOUT = {
    "detect": "nobody looked for what singles people out in the source",
    "score": "nobody scored how sensitive its columns are",
}
"""What a report lacks without a step that only informs."""


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
    """Yield what happened: rows, what singles people out, before and after, the verdict, and where to look."""
    period = f", period {report['period']}" if report["period"] else ""
    yield f"{report['title']} ({report['dataset']}{period})"
    if staged := report["staged"]:
        dropped = f", {staged['rows_dropped']:,} dropped for their gaps" if staged["rows_dropped"] else ""
        yield f"  rows read           {staged['rows']:,}{dropped}"
        if staged["rows_sharing_identifiers"]:
            sharing = f"{staged['rows_sharing_identifiers']:,} rows have their identifiers in common with another row"
            yield f"  WARNING             {sharing}: k counts rows, not people"
    for failed in report.get("steps_failed", ()):
        yield f"  WARNING             {_WITHOUT[failed['step']]}: `{failed['step']}` failed ({failed['reason']})"
    if (detection := report["detection"]) and report["before"]:
        yield f"  quasi-identifiers   {', '.join(report['before']['columns']) or 'none'} (declared)"
        identifiers = detection["identifiers"]
        for names in identifiers[:SHOWN]:
            yield f"  identify every row  {', '.join(names)}"
        if len(identifiers) > SHOWN:
            yield f"                      and {len(identifiers) - SHOWN:,} more sets"
    if detection and (best := detection["best"]):
        yield (
            f"  found in the data   {', '.join(best['columns'])} single out {best['singletons']:,} rows "
            f"({best['share']:.1%}); sets up to {detection['max_size']} columns searched"
        )
    if scores := report["scores"]:
        yield f"  most sensitive      {_most_sensitive(scores)}"
    before, after = report["before"], report["after"]
    if before and after and before["columns"]:
        yield f"  singletons          {before['singletons']:,} before, {after['singletons']:,} after"
        yield from _k(report, before, after)
        yield f"  risk, on average    {_risk(before)} before, {_risk(after)} after"
    if recoding := report["recoding"]:
        yield f"  recoding            {recoding['method']}: " + "; ".join(_levels(recoding["columns"]))
    if report["utility"] and before and before["columns"]:
        yield f"  information left    {_left(report['utility'])}"
    if report["version"] and after:
        yield f"  rows published      {after['rows']:,} ({staged['rows'] - after['rows']:,} removed by recoding)"
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
    """Yield the k that is meant; in a table as collected every k is the smallest class. Earlier reports mean that."""
    first = before["k"]["exact"]
    for k in meant_k(report.get("k_means", "exact"), report.get("k_required"), after["k"]):
        now = "not measured" if k.measured is None else f"{k.measured:,}"
        name = f"{k.name} (smallest class)" if k.kind == "exact" else k.name
        yield f"  {name:<20}{first:,} before, {now} after"


def _approval(report: dict[str, Any]) -> Iterator[str]:
    """Yield who decided what; a report of an earlier version knows nothing of it."""
    if report.get("approval_required") or report.get("approvals"):
        for one in report["approvals"]:
            yield f"  approval            {one['decision']} by {one['person']}, {one['at'][:19]}"
        if not report["approvals"]:
            yield "  approval            asked for, and nobody has decided"


def _most_sensitive(scores: dict[str, Any]) -> str:
    if scores["average"] is None:
        return f"not defined: {scores['reason'].split(';')[0]}"
    first = sorted(scores["columns"], key=lambda column: -column["sensitivity"])[:SHOWN]
    named = ", ".join(f"{column['name']} {column['sensitivity']:.3f}" for column in first)
    return f"{named}; on average {scores['average']:.3f}"


def _risk(measured: dict[str, Any]) -> str:
    return f"{measured['risk']['prosecutor']['average']:.2%}"


def _left(utility: dict[str, Any]) -> str:
    """Say how useful the table still is: entropy, and how far counts made from it are off."""
    off = [
        f"counts by {columns} are off by {utility[key]['mean']:.1%} on average"
        for columns, key in (("one column", "query_error_one_column"), ("two", "query_error_two_columns"))
        if utility[key]
    ]
    entropy = [f"{utility['nue']:.1%} (NUE), {utility['wnue']:.1%} by priority"] if utility["nue"] is not None else []
    return "; ".join([*entropy, *off])


def _levels(columns: list[dict[str, Any]]) -> Iterator[str]:
    for column in columns:
        if column["role"] == "quasi" or column["cells_changed"]:
            yield f"{column['name']} {' / '.join(level['name'] for level in column['levels'])}"


def _answered_for(report: dict[str, Any]) -> Iterator[str]:
    """Yield what people answered for, and whether it made a difference; reports of earlier versions do not have it."""
    listed = [("accepted", ", ".join(one["columns"]), one) for one in report.get("accepted", ())]
    listed += [("waived", one["check"], one) for one in report.get("waivers", ())]
    for word, what, one in listed:
        needed = {True: "needed", False: "not needed", None: "not measured"}[one["needed"]]
        yield f"  {word:<20}{what}: {one['reason']} ({one['by']}, until {one['until']}; {needed})"


def _withdrawn(row: Mapping[str, Any]) -> str:
    reason = " ".join(row["reason"].split())
    return f"WITHDRAWN on {row['at'][:19]} by {row['person']}: {reason} (version {row['version']})"


def _verdict(report: dict[str, Any]) -> str:
    passed = sum(check["passed"] for check in report["checks"])
    waived = sum(bool(check.get("waived_by")) for check in report["checks"])
    checks = f"{passed} of {len(report['checks'])} checks hold" if report["checks"] else "before any check"
    checks += f", {waived} waived" if waived else ""
    match report["outcome"]:
        case "published":
            return f"PUBLISHED as version {report['version']} ({checks})"
        case "unchanged":
            return f"UNCHANGED: version {report['version']} holds these very bytes already ({checks})"
        case "refused":
            return f"REFUSED by the {report['refused_by']} ({checks}); nothing was published"
        case _:
            return "FAILED before a verdict; nothing was published"
