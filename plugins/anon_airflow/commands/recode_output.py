"""The output of ``anon recode``: one JSON object, or a few readable tables. Never a value of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.check_output import check_document, how_many_hold, print_checks, print_four
from anon_airflow.commands.output import percent, print_table, several

if TYPE_CHECKING:
    from anon_core.recoding.sweep import SweptK
    from anon_core.recoding.task import Candidate, Recoding
    from anon_core.report.criteria import Criteria
    from anon_core.report.judgement import Judgement

MAX_CANDIDATES = 20
"""At most so many candidates are printed; --json has all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecodedTable:
    """
    A recoded table, with everything that the output shows.

    ``dropped`` rows had a gap in a quasi-identifier; ``rows_capped`` rows of ``people_capped`` people were more than
    one person may have; ``left_out`` columns are not declared.
    """

    table: Path
    output: Path
    keep_order: bool
    criteria: Criteria
    recoding: Recoding
    judged: Judgement
    dropped: int
    rows_capped: int
    people_capped: int
    left_out: tuple[str, ...]
    sweep: tuple[SweptK, ...]


def as_document(done: RecodedTable) -> dict[str, Any]:
    """Return everything that was done and measured; of ``rows`` that were recoded, ``rows_removed`` are not written."""
    from anon_core.report.measured import measured_note, utility_note
    from anon_core.report.recoding import levels_note

    plan, assessment = done.recoding.plan, done.judged.assessment
    measured = measured_note(done.criteria.quasi_identifiers, assessment)
    return {
        "method": done.recoding.method,
        "why": done.recoding.why,
        "optimal": done.recoding.optimal,
        "output": str(done.output),
        "rows": plan.frequencies.rows,
        "rows_dropped": done.dropped,
        "rows_capped": done.rows_capped,
        "people_capped": done.people_capped,
        "rows_written": measured["rows"],
        "rows_changed": plan.rows_changed,
        "rows_removed": plan.rows_removed,
        "cells_changed": plan.cells_changed,
        "levels": {ladder.column: levels_note(plan, i) for i, ladder in enumerate(plan.ladders)},
        "k": measured["k"],
        "k_required": done.criteria.k,
        "singletons": measured["singletons"],
        "classes": measured["classes"],
        "rows_below_k": measured["rows_below"],
        "utility": utility_note(assessment.utility) if assessment.utility else None,
        "candidates": [asdict(candidate) for candidate in done.recoding.candidates],
        "holds": done.judged.holds,
        "checks": [check_document(check) for check in done.judged.checks],
        "sweep": [asdict(swept) for swept in done.sweep],
        "columns_left_out": list(done.left_out),
    }


def print_recoded(done: RecodedTable) -> None:
    """Print the chosen recoding and why, its changes, how safe and how useful the result is, and failed checks."""
    plan, recoding = done.recoding.plan, done.recoding
    best = {True: "; by that measure no recoding is better", False: "; a better recoding may exist", None: ""}
    counted = f", people told apart by {', '.join(done.criteria.unit)}" if done.criteria.unit else ", not people"
    click.echo(f"{done.table.name}: {several(plan.frequencies.rows, 'row')}{counted}; method {recoding.method}")
    click.echo(f"{recoding.why}{best[recoding.optimal]}")
    if len(recoding.candidates) > 1:
        _print_candidates(recoding.candidates)
    _print_columns(done)
    if four := done.judged.assessment.four:
        counted = done.criteria.counted
        alone = several(done.judged.assessment.k.singletons, "row" if counted == "rows" else "person")
        title = f"\nthe four k's; {alone} alone in their class (singletons)"
        print_four(title, four, below=f"{counted} below {done.criteria.k}")
        if four.reason:
            click.echo(f"concealment: {four.reason}")
    if done.sweep:
        _print_sweep(done.sweep)
    print_checks("\nwhat the policy requires", done.judged.checks)
    _print_end(done)


def _shown(candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates to print, always with the chosen one."""
    first = list(candidates[:MAX_CANDIDATES])
    later = [candidate for candidate in candidates[MAX_CANDIDATES:] if candidate.elected]
    return first[: MAX_CANDIDATES - len(later)] + later


def _print_candidates(candidates: Sequence[Candidate]) -> None:
    shown = _shown(candidates)
    cut = f", {len(shown)} of {len(candidates)}" if len(shown) < len(candidates) else ""
    print_table(
        f"\nwhat was tried{cut}",
        ["method", "alone", "k", "changed", "removed", "distinct", "left (NUE)", "by priority (wNUE)", "candidate", ""],
        [
            [
                one.method,
                one.singletons,
                one.k,
                one.rows_changed,
                one.rows_removed,
                one.distinct,
                one.nue,
                one.wnue,
                one.name,
                "chosen" if one.elected else one.reason,
            ]
            for one in shown
        ],
        right=range(1, 8),
    )


def _print_columns(done: RecodedTable) -> None:
    from anon_core.report.recoding import levels_note

    plan, utility = done.recoding.plan, done.judged.assessment.utility
    cells = plan.cells_changed
    written = plan.frequencies.rows - plan.rows_removed
    left = utility.entropy.by_column if utility and utility.entropy else {}
    print_table(
        "\nwhat was changed",
        ["column", "cells changed", "share", "left (NUE)", "loss", "rows at each level"],
        [
            [
                name,
                cells[name],
                percent(cells[name] / max(written, 1)),
                left.get(name),
                utility.loss.by_column.get(name) if utility else None,
                "; ".join(f"{level['name']} {level['rows']:,}" for level in levels_note(plan, i)),
            ]
            for i, name in enumerate(plan.frequencies.names)
        ],
        right=range(1, 5),
    )
    if utility:
        weighted = f", by priority {utility.entropy.weighted:.4f} (wNUE)" if utility.entropy else ""
        nue = f"{utility.entropy.overall:.4f} (NUE){weighted}; " if utility.entropy else ""
        click.echo(f"information left: {nue}loss {utility.loss.overall:.4f}")


def _print_sweep(sweep: Sequence[SweptK]) -> None:
    print_table(
        "\ninformation left for every k",
        ["k", "left (NUE)", "by priority (wNUE)", "rows removed", ""],
        [[one.k, one.nue, one.wnue, one.rows_removed, one.reason] for one in sweep],
        right=range(4),
    )


def _print_end(done: RecodedTable) -> None:
    plan, checks = done.recoding.plan, done.judged.checks
    failed = [check.name for check in checks if not check.holds]
    click.echo(
        f"\n{how_many_hold(checks)}"
        + (f"; `anon run` would refuse this, because of: {', '.join(failed)}" if failed else "")
    )
    if done.left_out:
        click.echo(f"not declared, so left out: {', '.join(done.left_out)}")
    if done.dropped:
        click.echo(f"dropped because of a gap in a quasi-identifier: {several(done.dropped, 'row')}")
    if done.rows_capped:
        of = several(done.people_capped, "person")
        click.echo(f"left out because of privacy.max_rows_per_person: {several(done.rows_capped, 'row')} of {of}")
    click.echo(
        f"wrote {done.output}: {several(plan.frequencies.rows - plan.rows_removed, 'row')} "
        f"({plan.rows_changed:,} changed, {plan.rows_removed:,} removed)"
    )
    if done.keep_order:
        pairs = (
            f"without the {plan.rows_removed:,} removed, so `anon check --same-order` cannot pair them "
            "(a privacy.suppression_limit of 0 removes none)"
            if plan.rows_removed
            else "and `anon check --original TABLE --same-order` compares them one by one"
        )
        click.echo(f"rows are in the order of the source, {pairs}. Do not publish this file")
