"""What an approver reads before deciding: counts, names of columns and digests, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anon_airflow.markdown_text import code, plain
from anon_core.report.meant_k import meant_k

Part = Mapping[str, Any]


def question_text(report: Part, receipt: str) -> str:
    """Return the question in Markdown, from the public report that the receipt of that digest covers."""
    return "\n".join(_lines(report, receipt))


def _lines(report: Part, receipt: str) -> Iterator[str]:
    privacy = report["privacy"]
    yield f"**{plain(report['title'])}** ({code(report['dataset'])}), period {plain(report['period'] or 'none')}."
    yield ""
    yield "| | required | measured |"
    yield "| --- | --- | --- |"
    for k in meant_k(privacy["k_means"], privacy["k_required"], privacy["k"]):
        measured = "no classes" if k.measured is None else f"{k.measured:,}"
        yield f"| {k.name}, {k.meaning} | {k.required:,} | {measured} |"
    yield from _rows(report)
    yield from _checks(privacy["checks"])
    yield ""
    yield "What was generalised:"
    yield ""
    yield from _generalised(report["recoding"]["columns"])
    yield ""
    yield from _waived(privacy["checks"])
    yield from _answered_for(privacy)
    yield f"Receipt {code(receipt)}"
    yield ""
    yield (
        "Approving signs this receipt, and nothing else can be published by it. If this run was cleared and asks "
        "again, Airflow goes on showing its first question: the newest is in the log of the task, and "
        "`anon audit pending` names its receipt."
    )


def _rows(report: Part) -> Iterator[str]:
    """Yield what became of the rows; those that stand alone only where their number is limited."""
    checks, rows = report["privacy"]["checks"], report["rows"]
    alone = [check for check in checks if check["name"] == "no_singletons"]
    if alone:
        worst = max(check["observed"] for check in alone)
        yield f"| rows that stand alone | at most {alone[0]['required']:,} | {worst:,} |"
    limit = report["privacy"]["suppression_limit"]
    yield f"| rows removed, or that say nothing any more | at most {limit:.2%} | {_suppressed(checks, rows)} |"
    if rows["dropped"]:
        yield f"| rows dropped for their gaps | | {rows['dropped']:,} |"
    yield f"| rows published | | {rows['published']:,} |"


def _suppressed(checks: Sequence[Part], rows: Part) -> str:
    """Say how many rows are gone, and how many are there but say nothing: the gate measured their share together."""
    shares = [check["observed"] for check in checks if check["name"] == "rows_suppressed_at_most"]
    before = rows["published"] + rows["removed"]
    silent = round(max(shares) * before) - rows["removed"]
    return f"{rows['removed']:,} removed, {silent:,} say nothing any more"


def _checks(checks: Sequence[Part]) -> Iterator[str]:
    passed, waived = sum(check["passed"] for check in checks), sum(bool(check["waived_by"]) for check in checks)
    yield f"| checks of the gate that hold | {len(checks)} | {passed} |"
    if waived:
        yield f"| checks that do not hold and are waived | | {waived} |"


def _generalised(columns: Sequence[Part]) -> Iterator[str]:
    changed = [column for column in columns if column["cells_changed"]]
    for column in changed:
        levels = ", ".join(f"{plain(level['name'])}: {level['rows']:,} rows" for level in column["levels"])
        yield f"- {code(column['name'])}, {column['cells_changed']:,} cells ({levels})"
    if not changed:
        yield "- nothing"


def _waived(checks: Sequence[Part]) -> Iterator[str]:
    """Yield every check that does not hold, once for all files where the same was measured."""
    listed = dict.fromkeys(
        (check["name"], check["observed"], check["required"], check["waived_by"])
        for check in checks
        if not check["passed"]
    )
    if listed:
        yield "Checks that do not hold, and are waived:"
        yield ""
        for name, observed, required, person in listed:
            yield (
                f"- {plain(name)}: measured {_figure(observed)}, required {_figure(required)}; waived by "
                f"{plain(person or 'nobody')}"
            )
        yield ""


def _answered_for(privacy: Part) -> Iterator[str]:
    """Yield what people answer for although a check speaks, or could speak, against it."""
    listed = [(f"published_uniqueness ({', '.join(one['columns'])})", one) for one in privacy["accepted"]]
    listed += [(one["check"], one) for one in privacy["waivers"]]
    if listed:
        yield "Accepted or waived by name:"
        yield ""
        for what, one in listed:
            needed = "needed" if one["needed"] else "not needed"
            yield f"- {plain(what)}: {plain(one['reason'])} ({plain(one['by'])}, until {one['until']}; {needed})"
        yield ""


def _figure(value: object) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else plain(str(value))
