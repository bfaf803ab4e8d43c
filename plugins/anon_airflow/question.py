"""What an approver reads before deciding: counts, names of columns and digests, as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from anon_airflow.approval import Rows
from anon_airflow.run import Run

__all__ = ["question_text"]


def question_text(run: Run, rows: Rows, receipt: str) -> str:
    """Return the question in Markdown, from the notes that the steps left and from the audit store."""
    return "\n".join(_lines(run, rows, receipt))


def _lines(run: Run, rows: Rows, receipt: str) -> Iterator[str]:
    policy = run.publication.privacy
    recoded, gated = run.noted("recode"), run.noted("gate")
    after = recoded["after"]
    smallest = min((one["observed"] for one in gated["checks"] if one["name"] == "k_anonymity"), default="no classes")
    published = max((file["rows"] for file in gated["distributions"]), default=0)
    passed = sum(check["passed"] for check in gated["checks"])
    yield f"**{_plain(run.publication.title)}** ({_code(run.dataset)}), period {run.period or 'none'}."
    yield ""
    yield "| | required | measured |"
    yield "| --- | --- | --- |"
    yield f"| k, rows in the smallest class | {policy.k} | {smallest} |"
    yield f"| rows that stand alone | at most {policy.singletons} | {after['singletons']} |"
    yield f"| rows removed | at most {policy.suppression_limit:.2%} | {recoded['rows_removed']:,} |"
    yield f"| rows published | | {published:,} |"
    yield f"| checks of the gate that hold | {len(gated['checks'])} | {passed} |"
    yield ""
    yield "What was generalised:"
    yield ""
    yield from _generalised(recoded["recoding"]["columns"])
    yield ""
    yield from _answered_for(rows)
    yield f"Receipt {_code(receipt)}"
    yield ""
    yield (
        "Approving signs this receipt, and nothing else can be published by it. If this run was cleared and asks "
        "again, Airflow goes on showing its first question: the newest is in the log of the task, and "
        "`anon audit pending` names its receipt."
    )


def _generalised(columns: list[dict[str, Any]]) -> Iterator[str]:
    changed = [column for column in columns if column["cells_changed"]]
    for column in changed:
        levels = ", ".join(f"{_plain(level['name'])}: {level['rows']:,} rows" for level in column["levels"])
        yield f"- {_code(column['name'])}, {column['cells_changed']:,} cells ({levels})"
    if not changed:
        yield "- nothing"


def _answered_for(rows: Rows) -> Iterator[str]:
    """Yield what a person answers for although a check speaks against it, as the newest gate has put it on record."""
    start = max((intent["id"] for intent in rows["intents"] if intent["verb"] == "run"), default=0)
    listed = [waiver for waiver in rows["waivers"] if waiver["id"] > start]
    if listed:
        yield "Accepted by name:"
        yield ""
        for waiver in listed:
            columns = ", ".join(map(_code, waiver["columns"] or []))
            until = f", until {waiver['until']}" if waiver["until"] else ""
            what = f"{_plain(waiver['check_name'])}{f' ({columns})' if columns else ''}"
            yield f"- {what}: {_plain(waiver['reason'])} ({_plain(waiver['person'])}{until})"
        yield ""


def _code(text: str) -> str:
    return "`" + " ".join(text.split()).replace("`", "'").replace("|", "/") + "`"


def _plain(text: str) -> str:
    """Return a text that Markdown has nothing to do with: no link, no picture, no heading."""
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>#|!" else sign for sign in " ".join(str(text).split()))
