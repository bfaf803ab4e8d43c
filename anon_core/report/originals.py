"""Compares a released table with the table that it was made from, as a publication file describes both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from anon_core.comparison import Comparison, compare
from anon_core.decompose import decompose
from anon_core.detection.preparation import prepare
from anon_core.hierarchy.build import Columns, ladder, ladders
from anon_core.hierarchy.coarsen import coarsen
from anon_core.hierarchy.kinds.published_groups import ladders_leading_to
from anon_core.hierarchy.ladder import ROOT, Ladder
from anon_core.measures.linkage.four_ks import worst_case
from anon_core.recoding.surplus_rows import Capped, cap_rows
from anon_core.spec import Missing, PartialPublication
from anon_core.table import Table


def prepared_original(original: Table, publication: PartialPublication | None) -> Table:
    """
    Return the original as a run would recode it: coded columns split, other columns coarsened, and rows with gaps
    dropped if the file says so.

    :raises InvalidInputError: a column cannot be split or coarsened, or no row is left.
    """
    if publication is None:
        return original
    parts = coarsen(decompose(original, publication), publication)
    drop = publication.missing is Missing.DROP
    return prepare(parts, publication.quasi_identifiers, drop_missing=drop).table


def without_surplus(table: Table, publication: PartialPublication, unit: str) -> Capped:
    """
    Leave out the rows of people beyond `privacy.max_rows_per_person`, as `stage` does; ``unit`` tells them apart.

    The published columns decide which rows stay.
    """
    most = publication.privacy.max_rows_per_person if publication.privacy else None
    published = [name for name in publication.published if name in table.names]
    quasi = [name for name in publication.quasi_identifiers if name in published]
    return cap_rows(table, published, quasi, unit=unit, most=table.rows if most is None else most)


def beside_original(
    original: Table,
    released: Table,
    quasi_identifiers: Sequence[str],
    publication: PartialPublication | None = None,
    *,
    same_order: bool = False,
    key: str | None = None,
    unit: str | None = None,
) -> Comparison:
    """
    Compare a released table with its prepared original.

    Without a publication file a cell must be as collected or ``*``. :func:`~anon_core.comparison.compare` says how rows
    are paired.

    :raises UnknownLabelsError: cells of the released table cannot come from the original.
    :raises InvalidInputError: a column is missing, a hierarchy does not fit, or the rows cannot be paired as asked.
    """
    ways = possible_ladders(original, released, quasi_identifiers, publication)
    compared = [compare(original, released, built, same_order=same_order, key=key, unit=unit) for built in ways]
    return worst_case(compared, k=2, means=("link", "source"))


def possible_ladders(
    original: Columns, released: Columns, columns: Sequence[str], publication: PartialPublication | None
) -> list[tuple[Ladder, ...]]:
    """Return the ladders of all columns; several lists if a column may have been grouped by its own values."""
    declared = [name for name in columns if publication and name in publication.effective_columns]
    grouped = [one.column for one in publication.recode.grouped] if publication else []
    climbing = ladders(publication, original, declared) if publication else {}
    found = []
    for name in columns:
        # Without a hierarchy `*` says nothing, also before recoding.
        own = climbing.get(name) or ladder(original.column(name), None, Path(), withheld=ROOT)
        shown = released.column(name).domain.to_pylist()
        found.append(ladders_leading_to(original.column(name), shown, own) if name in grouped else [own])
    return list(product(*found))
