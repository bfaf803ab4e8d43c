"""``anon check``: whether a table is k-anonymous."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.output import json_option, names_in, print_json, print_table, table_options

if TYPE_CHECKING:
    from anon_core.table import ReadOptions


@click.command(short_help="Whether TABLE is k-anonymous.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--quasi", metavar="a,b", help="The quasi-identifiers. By default those of --spec.")
@click.option("-k", "k", type=click.IntRange(min=2), help="Smallest class allowed; 5, or privacy.k of --spec.")
@click.option(
    "--spec", type=click.Path(path_type=Path), help="A publication file: check all it requires of columns and k."
)
@click.option("--original", type=click.Path(path_type=Path), help="The table before recoding, for the other three k's.")
@table_options
@json_option
def check(
    table: Path,
    quasi: str | None,
    k: int | None,
    spec: Path | None,
    original: Path | None,
    reading: ReadOptions,
    as_json: bool,
) -> None:
    """Check whether TABLE is k-anonymous over its quasi-identifiers.

    Every combination of their values must occur in at least k rows; a gap is a value like any other. With --spec the
    published columns are also searched for other sets that single people out. Exit code 1 if it is not.
    """
    from anon_core.detect.uniqueness import unaccepted_uniqueness
    from anon_core.errors import NotSupportedYetError
    from anon_core.frequency import FrequencyTable
    from anon_core.score.linkage import k_anonymity
    from anon_core.spec import load_spec
    from anon_core.table import read

    if original is not None:
        raise NotSupportedYetError("anon check --original (link, source and concealment k)")
    publication = load_spec(spec, partial=True) if spec else None
    columns = names_in(quasi) or list(publication.quasi_identifiers if publication else ())
    if not columns:
        raise click.UsageError("name the quasi-identifiers with --quasi a,b, or give a publication file with --spec")
    policy = publication.privacy if publication else None
    wanted = k or (policy.k if policy and policy.k else 5)
    content = read(table, replace(reading, quoted_missing=False))
    measured = k_anonymity(FrequencyTable.of(content, columns), columns, k=wanted)
    allowed = policy.singletons if policy else 0
    checks: list[dict[str, Any]] = [
        {"name": "k_anonymity", "passed": measured.k >= wanted, "observed": measured.k, "required": wanted},
        {
            "name": "no_singletons",
            "passed": measured.singletons <= allowed,
            "observed": measured.singletons,
            "required": allowed,
        },
    ]
    if publication and policy:
        limits = policy.published_uniqueness
        today = datetime.now(UTC).date()
        undeclared = [name for name in content.names if name not in publication.published]
        absent = [name for name in publication.published if name not in content.names]
        found = unaccepted_uniqueness(
            FrequencyTable.of(content, [name for name in publication.searched if name in content.names]),
            max_size=limits.max_size,
            max_share=limits.max_share,
            accepted=[a.columns for a in limits.accept if a.until >= today],
            together=publication.searched_together,
        )
        checks.append(
            {
                "name": "no_undeclared_column",
                "passed": not undeclared and not absent,
                "observed": f"{len(undeclared)} undeclared, {len(absent)} absent",
                "required": 0,
            }
        )
        checks.append(
            {
                "name": "published_uniqueness",
                "passed": not found,
                "observed": [{"columns": list(s.columns), "singletons": s.singletons} for s in found],
                "required": limits.max_share,
            }
        )
    holds = all(each["passed"] for each in checks)
    if as_json:
        print_json(
            {
                "k": {"exact": measured.k},
                "singletons": measured.singletons,
                "classes": measured.classes,
                "rows": measured.rows,
                "rows_below_k": measured.rows_below,
                "checks": checks,
            }
        )
    else:
        print_table(
            f"{table.name}: {measured.rows:,} rows in {measured.classes:,} classes of {', '.join(columns)}; "
            f"{measured.rows_below:,} rows in classes below {wanted}",
            ["check", "holds", "observed", "required"],
            [
                [c["name"], c["passed"], _short(c["observed"]), c["required"]]
                for c in checks
            ],
        )  # fmt: skip
    raise click.exceptions.Exit(0 if holds else 1)


def _short(observed: Any) -> Any:
    if not isinstance(observed, list):
        return observed
    if not observed:
        return "no such set"
    sets = [f"({', '.join(s['columns'])}): {s['singletons']:,}" for s in observed[:5]]
    return "; ".join(sets) + (f" and {len(observed) - 5} more" if len(observed) > 5 else "")
