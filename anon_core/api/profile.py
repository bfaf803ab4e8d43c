"""What each column of a table looks like, and which role it probably plays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from anon_core.api.shown import Shown, rows_or_people
from anon_core.api.sources import TableLike, rows_of
from anon_core.detection.roles import ProposedRole, propose_all, propose_from, sample_of_values
from anon_core.errors import InvalidInputError
from anon_core.hierarchy.suggest import read_as
from anon_core.kernels import Integers
from anon_core.measures.profile import ColumnProfile
from anon_core.measures.profile import profile as figures_of
from anon_core.measures.sketch import sketch as sketched
from anon_core.role import Role
from anon_core.table import ReadOptions, Table
from anon_core.table.streaming import batches


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfiledColumn:
    """
    One column: its figures (see :class:`~anon_core.measures.profile.ColumnProfile`) and a proposed role.

    ``type`` is what hierarchies read it as; ``values_of_another_type`` are not of it, None where that is not known. A
    sketch estimates: ``distinct_error`` and the like are standard errors, None where everything was counted.
    """

    name: str
    type: str
    distinct: int
    missing: int
    entropy: float
    unique_share: float
    values_of_another_type: int | None
    proposed_role: Role
    reason: str
    evidence: str
    kind: str | None
    distinct_error: float | None = None
    unique_share_error: float | None = None
    entropy_error: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile(Shown):
    """The columns of a table, in its order; ``estimated`` where a sketch counted it."""

    FIELDS: ClassVar[Mapping[str, str]] = {
        "name": "string",
        "type": "string",
        "distinct": "int64",
        "missing": "int64",
        "entropy": "double",
        "unique_share": "double",
        "proposed_role": "string",
        "reason": "string",
    }

    rows: int
    columns: tuple[ProfiledColumn, ...]
    estimated: bool

    @property
    def heading(self) -> str:
        return f"{rows_or_people(self.rows, ())}" + (", estimated in one pass" if self.estimated else "")

    def records(self) -> list[dict[str, Any]]:
        """Return the columns in the order of the table."""
        return [{name: getattr(one, name) for name in self.FIELDS} for one in self.columns]


def profile(source: TableLike, *, sketch: bool = False) -> Profile:
    """
    Measure what each column looks like, and propose a role for it.

    With ``sketch`` a file larger than memory is read once, and counts beyond some thousands are estimates.

    :raises InvalidInputError: ``sketch`` is given for a table that is in memory already.
    :raises TableError: the table cannot be read.
    """
    if not sketch:
        return _measured(rows_of(source).table)
    if not isinstance(source, (str, Path)):
        raise InvalidInputError(
            "sketch= is for a file that memory does not hold; this table is in memory: leave it out"
        )
    return sketch_file(Path(source), ReadOptions(encoding="auto"))


def sketch_file(path: Path, options: ReadOptions, progress: Callable[[int], None] | None = None) -> Profile:
    """
    Estimate the profile of a file in one pass; ``progress`` is called with the number of rows read so far.

    :raises TableError: the table cannot be read.
    """

    def read(stream: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        done = 0
        for batch in stream:
            yield batch
            done += batch.num_rows
            if progress:
                progress(done)

    columns, rows = [], 0
    for one in sketched(read(batches(path, options))):
        rows = one.rows
        sample = sample_of_values(one.values, one.weights, whole=not one.distinct_error)
        role = propose_from(sample, one.profile, rows, today=date.today())
        kind = (one.profile.type, None) if one.distinct_error else _kind(one.profile.type, one.values, one.weights)
        columns.append(
            _column(
                one.profile,
                role,
                kind,
                distinct_error=one.distinct_error,
                unique_share_error=one.unique_share_error,
                entropy_error=one.entropy_error,
            )
        )
    return Profile(rows=rows, columns=tuple(columns), estimated=True)


def _measured(table: Table) -> Profile:
    profiles = [figures_of(column) for column in table.columns]
    roles = propose_all(table, profiles, today=date.today())
    columns = []
    for column, figures, role in zip(table.columns, profiles, roles, strict=True):
        rows = np.bincount(column.codes, minlength=len(column.domain))[: figures.distinct]
        columns.append(_column(figures, role, _kind(figures.type, column.domain, rows)))
    return Profile(rows=table.rows, columns=tuple(columns), estimated=False)


def _column(
    figures: ColumnProfile, role: ProposedRole, kind: tuple[str, int | None], **errors: float
) -> ProfiledColumn:
    return ProfiledColumn(
        name=figures.name,
        type=kind[0],
        distinct=figures.distinct,
        missing=figures.missing,
        entropy=figures.entropy,
        unique_share=figures.unique_share,
        values_of_another_type=kind[1],
        proposed_role=role.role,
        reason=role.reason,
        evidence=role.evidence,
        kind=role.kind,
        **errors,
    )


def _kind(kind: str, values: pa.Array, rows: Integers) -> tuple[str, int]:
    """
    Return the type of a column as hierarchies read it, where that is more than text, and how many values are not of it.

    A column of dates with the day first, or of decimal commas, is one for people and for hierarchies.
    """
    fit = read_as(values.drop_null().to_pylist(), rows) if kind == "text" else None
    return (fit.type, int(fit.unfit.sum())) if fit else (kind, 0)
