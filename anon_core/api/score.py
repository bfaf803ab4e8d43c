"""How much each column of a table helps to single rows out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import partial
from typing import Any, ClassVar, Literal

from anon_core.api.shown import Shown, rows_or_people
from anon_core.api.sources import Names, TableLike, names_of, rows_of, searched_names
from anon_core.detection import Progress
from anon_core.detection.searched_columns import searched_columns
from anon_core.detection.unique_columns import unique_column_combinations
from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.measures.sensitivity.scores import Scores, score_columns
from anon_core.measures.sensitivity.sweeps import Sweep, sweep_adversary, sweep_rows
from anon_core.table.masking import mask as masked_table

DEFAULT_PROBABILITY = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored(Scores, Shown):
    """
    The score of every column; see :class:`~anon_core.measures.sensitivity.scores.Scores` for the figures.

    ``before`` has the scores before cells were masked, ``sweep`` those of samples or limits, if the call has them.
    Where a ``unit`` tells people apart, they were counted.
    """

    FIELDS: ClassVar[Mapping[str, str]] = {
        "column": "string",
        "sensitivity": "double",
        "exact": "double",
        "cardinality": "int64",
        "unique_share": "double",
        "entropy": "double",
    }

    before: Scores | None = None
    sweep: Sweep | None = None
    unit: tuple[str, ...] = ()

    @property
    def heading(self) -> str:
        return f"{rows_or_people(self.rows, self.unit)}: how much each column helps to single rows out"

    def records(self) -> list[dict[str, Any]]:
        """Return the columns in the order of the table."""
        return [
            {"column": one.name} | {name: getattr(one, name) for name in list(self.FIELDS)[1:]} for one in self.columns
        ]


def score(
    source: TableLike,
    *,
    columns: Names | None = None,
    exclude: Names = (),
    probability: float | Mapping[str, float] = DEFAULT_PROBABILITY,
    max_size: int | None = None,
    approximate: float = 0.0,
    ignore_duplicates: bool = False,
    mask: Mapping[str, int] | None = None,
    sweep: Literal["rows", "adversary"] | None = None,
    seed: int = 0,
    unit: Names | None = None,
    progress: Progress | None = None,
) -> Scored:
    """
    Score each column by how much it helps an outsider who knows each column with a ``probability``.

    The sensitivity of a column bounds the probability that the outsider knows it together with the rest of some set on
    which every row is unique; `exact` is the probability itself. Columns that a mapping of probabilities does not name
    have 0.5. ``mask`` hides so many last characters of a column and scores again. ``sweep`` also scores samples of
    rows, or limits of what the outsider knows. For the other arguments see :func:`uccs`; with a ``unit`` shares and
    entropy count people, too.

    :raises UnknownColumnError: a column is not in the table, or not among those that are scored.
    :raises InvalidInputError: nothing is left to score, or a figure is out of its range.
    :raises TableError: the table cannot be read.
    """
    if sweep not in (None, "rows", "adversary"):
        raise InvalidInputError("sweep= is `rows` or `adversary`")
    rows, people = rows_of(source), names_of(unit)
    if people and sweep == "rows":
        raise InvalidInputError("sweep= draws rows, not people; leave unit= out, or sweep over the `adversary`")
    names = searched_columns(rows.table.names, searched_names(columns), names_of(exclude), people)
    table = rows.table.select(names)
    reveal, masks = _reveal(probability, names), _masks(mask, names)
    collected = rows.counted(table, people)
    scored = rows.counted(masked_table(table, masks), people) if masks else collected
    limits: dict[str, Any] = {
        "max_size": max_size,
        "approximate": approximate,
        "ignore_duplicates": ignore_duplicates,
    }
    search = partial(unique_column_combinations, progress=progress)
    before = None
    if masks:
        before = score_columns(collected, search(collected.people(names), **limits), reveal, seed=seed)
    unique = search(scored.people(names), **limits)
    found = score_columns(scored, unique, reveal, seed=seed)
    swept = None
    if sweep == "rows":
        swept = sweep_rows(scored, reveal, search=search, **limits, seed=seed)
    elif sweep == "adversary":
        swept = sweep_adversary(scored.names, unique, reveal)
    own = {one.name: getattr(found, one.name) for one in fields(Scores)}
    return Scored(**own, before=before, sweep=swept, unit=people)


def _reveal(probability: float | Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """Return how likely each column is known."""
    if not isinstance(probability, Mapping):
        return dict.fromkeys(names, float(probability))
    _check_known(probability, names)
    return {name: float(probability.get(name, DEFAULT_PROBABILITY)) for name in names}


def _masks(mask: Mapping[str, int] | None, names: tuple[str, ...]) -> dict[str, int]:
    masks = dict(mask or {})
    _check_known(masks, names)
    if wrong := [name for name, width in masks.items() if isinstance(width, bool) or width < 1]:
        raise InvalidInputError(f"mask= hides at least 1 character; correct {', '.join(wrong)}")
    return masks


def _check_known(given: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if unknown := [name for name in given if name not in names]:
        raise UnknownColumnError(unknown, names)
