"""``anon score``: measure how much each column helps to single people out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from anon_airflow.commands.output import (
    Stopwatch,
    json_option,
    print_json,
    print_table,
    several,
)
from anon_airflow.commands.search_options import (
    Probability,
    SearchedTable,
    plot_option,
    say_cost,
    search_options,
    unique_options,
)

if TYPE_CHECKING:
    from anon_core.api.score import Scored


@click.command(short_help="Measure how much each column helps to single people out.")
@search_options
@click.option(
    "--p",
    "probabilities",
    multiple=True,
    metavar="P",
    help="Probability that an outsider knows a column: a number for all columns (default 0.5), or COL=number. May be "
    "repeated.",
)
@unique_options
@click.option(
    "--mask", "masks", multiple=True, metavar="COL=N", help="Also score with the last N characters of COL masked."
)
@click.option(
    "--sweep",
    type=click.Choice(["rows", "adversary"]),
    help="Also score samples of rows, or outsiders who know only so many columns.",
)
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed for all random samples.")
@plot_option("sensitivities, ranks and the sweep")
@json_option
def score(
    searched: SearchedTable,
    probabilities: tuple[str, ...],
    max_size: int | None,
    approximate: float | None,
    ignore_duplicates: bool,
    masks: tuple[str, ...],
    sweep: Literal["rows", "adversary"] | None,
    seed: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure how much each column of TABLE helps to single people out.

    The sensitivity of a column is an upper bound of this probability: an outsider, who knows each column with
    probability P, knows this column and all others of some set on which every row is unique. `exact` is the probability
    itself. --max-size limits how many columns the outsider may know. Three simpler measures, and the ranks by all four,
    are shown too; with --mask also the scores before masking. Prints names and figures only.
    """
    from anon_core.api.score import score as scored

    names = searched.names
    reveal, hidden = _reveal(probabilities, names), _masks(masks, names)
    say_cost(len(names), max_size)
    scores = scored(
        searched.rows,
        columns=names,
        unit=searched.unit,
        probability=reveal,
        max_size=max_size,
        approximate=approximate or 0.0,
        ignore_duplicates=ignore_duplicates,
        mask=hidden,
        sweep=sweep,
        seed=seed,
        progress=Stopwatch().sets,
    )
    if plot:
        from anon_core.report.plots import plot_scores

        plot_scores(scores, plot, before=scores.before, sweep=scores.sweep)
    if as_json:
        asked_for = {"before": bool(hidden), "sweep": sweep is not None}
        print_json({key: value for key, value in asdict(scores).items() if asked_for.get(key, True)})
    else:
        _show(searched, scores, reveal)


def _reveal(words: Sequence[str], names: Sequence[str]) -> dict[str, float]:
    """Return the probability of every column: its own, else the one given for all columns, else 0.5."""
    own: dict[str, float] = {}
    for word in words:
        name, _, number = word.rpartition("=")
        if name:
            _known("--p", name, names)
        if name in own:
            raise click.BadParameter(f"given twice for {name or 'all columns'}", param_hint="--p")
        try:
            own[name] = Probability().convert(number, None, None)
        except click.BadParameter as wrong:
            raise click.BadParameter(wrong.message, param_hint="--p") from None
    return {name: own.get(name, own.get("", 0.5)) for name in names}


def _masks(words: Sequence[str], names: Sequence[str]) -> dict[str, int]:
    """Return for each masked column how many characters are masked."""
    masks: dict[str, int] = {}
    for word in words:
        name, found, number = word.rpartition("=")
        if not found or not number.isascii() or not number.isdigit() or int(number) < 1:
            raise click.BadParameter(f"{word!r} should read column=number of characters", param_hint="--mask")
        _known("--mask", name, names)
        if name in masks:
            raise click.BadParameter(f"{name} is masked twice", param_hint="--mask")
        masks[name] = int(number)
    return masks


def _known(option: str, name: str, names: Sequence[str]) -> None:
    if name not in names:
        raise click.BadParameter(f"no column {name!r} among those to be scored", param_hint=option)


def _show(searched: SearchedTable, scores: Scored, reveal: Mapping[str, float]) -> None:
    before, sweep = scores.before, scores.sweep
    earlier = {column.name: column.sensitivity for column in before.columns} if before else {}
    header = ["column", "sensitivity", "exact", "cardinality", "unique", "entropy", "ranks"]
    rows: list[list[Any]] = [
        [
            column.name,
            column.sensitivity,
            column.exact,
            column.cardinality,
            f"{column.unique_share:.2%}",
            f"{column.entropy:.2f}",
            " ".join("-" if rank is None else str(rank) for rank in column.ranks.values()),
        ]
        for column in sorted(scores.columns, key=lambda column: (-(column.sensitivity or 0), -(column.exact or 0)))
    ]
    if before:
        header.insert(1, "before masking")
        for row in rows:
            row.insert(1, earlier[row[0]])
    print_table(
        f"{searched.file}: {searched.counted(scores.rows)}, {several(scores.unique_sets, 'minimal unique set')}; "
        "ranks by sensitivity, cardinality, unique values, entropy",
        header,
        rows,
        right=tuple(range(1, len(header) - 1)),
    )
    if scores.average is None:
        click.echo(scores.reason)
    else:
        was = f", before masking {before.average:.4f}" if before and before.average is not None else ""
        click.echo(f"average sensitivity {scores.average:.4f}{was}")
    if sum((column.sensitivity or 0) > 0.99 * reveal[column.name] for column in scores.columns) * 2 > len(rows):
        click.echo("for most columns the bound has reached its maximum, P: compare `exact`")
    if scores.exact_error:
        click.echo(
            f"exact comes from {scores.samples:,} samples (seed {scores.seed}): "
            f"off by at most {scores.exact_error:.4f} with 99 % confidence"
        )
    if sweep:
        along = "rows" if sweep.axis == "rows" else "columns that the outsider may know"
        print_table(
            f"average sensitivity by {along}",
            [sweep.axis, "average", "unique sets"],
            [
                [point.at, "none" if point.average is None else point.average, point.unique_sets]
                for point in sweep.points
            ],
            right=(0, 1, 2),
        )
