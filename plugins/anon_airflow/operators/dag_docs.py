"""The documentation of a DAG that Airflow shows, made from the publication file."""

from __future__ import annotations

from collections.abc import Iterator

from anon_airflow.approval.markdown import code, fenced, plain
from anon_core.errors import SpecError
from anon_core.report.meant_k import meant_k
from anon_core.spec import Part, Publication


def dag_docs(publication: Publication) -> str:
    """Return the DAG's documentation in Markdown."""
    policy = publication.privacy
    metadata = publication.metadata
    lines = [
        f"# {plain(publication.title)}",
        "",
        plain(metadata.description or ""),
        "",
        f"Publishes {code(publication.dataset)} as {code(publication.file.name)} describes, only if the files to "
        "publish pass the gate.",
        "",
        *(f"**It does not run here**: {plain(reason)}\n" for reason in publication.unread),
        *(
            ["**It is a draft and does not run**: a person has to review it and write `reviewed: {by, on}`.\n"]
            * (not publication.reviewed)
        ),
        *_k(publication),
        f"- **rows that may be removed**: {policy.suppression_limit:.2%}",
        f"- **recoding**: {publication.recode.method}",
        "",
        "| column | role | hierarchy |",
        "| --- | --- | --- |",
    ]
    for name, column in publication.effective_columns.items():
        kind = column.hierarchy.kind.value if column.hierarchy else ""
        part = f", part of {code(column.part_of)}" if isinstance(column, Part) else ""
        lines.append(f"| {code(name)}{part} | {column.role.value} | {kind} |")
    if publication.approval.required:
        who = ", ".join(code(name) for name in publication.approval.users) or "any user who may answer in Airflow"
        eyes = ", except who triggered the run and who last changed the file" if publication.approval.four_eyes else ""
        lines += ["", f"Before `publish` a person has to approve it: {who}{eyes}."]
    lines += [
        "",
        "Marking a failed `gate` successful does not publish: it signs no receipt, so `publish` refuses.",
    ]
    return "\n".join(lines)


def _k(publication: Publication) -> Iterator[str]:
    policy = publication.privacy
    if not publication.quasi_identifiers:
        yield "- others are expected to know none of the columns (no quasi-identifiers), so no k is measured"
        return
    for k in meant_k(policy.k_means.value, policy.k):
        yield f"- **{k.name}**, {k.meaning}: {k.required}"


def broken_docs(error: SpecError) -> str:
    """Return the documentation of the DAG of a broken publication file: its problems."""
    return f"# This publication file cannot be used\n\nNothing is published until it is fixed.\n\n{fenced(str(error))}"
