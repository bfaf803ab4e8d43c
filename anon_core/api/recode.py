"""A table recoded as its publication file says, with what that is worth and what it cost."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, NoReturn

from anon_core.api.measure import Judged, how_many_hold
from anon_core.api.sources import TableLike, rows_of
from anon_core.api.specs import Spec, publication_of, reading_of
from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.measures.utility import Utility
from anon_core.models import Measurement
from anon_core.recoding.method import Progress
from anon_core.report.table_recoding import TableRecoding, publication_with, recode_table
from anon_core.role import Role
from anon_core.spec import PartialPublication
from anon_core.table import Table
from anon_core.wording import counted

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recoded(Judged):
    """
    A recoded table, ``measurements`` of all that its policy requires, and the ``utility`` that is left.

    ``rows`` were recoded, ``rows_removed`` of them are not in the ``table``. Before, ``rows_dropped`` were left out for
    gaps and ``rows_capped`` because their person has more than allowed. ``left_out`` are columns that the publication
    does not declare. ``unit`` tells people apart; without it rows were counted. It is shown by its measurements, never
    by its rows. What it was ``made`` from is private, the original table among it, so it cannot be pickled.
    """

    table: Table = field(repr=False)
    measurements: tuple[Measurement, ...]
    utility: Utility | None = field(repr=False)
    method: str
    why: str
    optimal: bool | None
    unit: tuple[str, ...]
    rows: int
    rows_dropped: int
    rows_capped: int
    rows_removed: int
    rows_changed: int
    left_out: tuple[str, ...]
    made: TableRecoding = field(repr=False)

    def __reduce__(self) -> NoReturn:
        raise InvalidInputError("a recoding has the original table in it: save its rows, by to_arrow() or to_pandas()")

    @property
    def heading(self) -> str:
        return (
            f"{self.table.rows:,} of {counted(self.rows, 'row')} released by method {self.method}, "
            f"{how_many_hold(self.measurements)}; counted: {self.counted_whom}"
        )

    def to_arrow(self) -> pa.Table:
        """Return the released rows: texts, gaps as null."""
        return self.table.to_arrow()


def recode(
    source: TableLike,
    spec: Spec,
    *,
    k: int | None = None,
    method: str | None = None,
    mode: str | None = None,
    improve: int | None = None,
    seed: int | None = None,
    keep_order: bool = False,
    progress: Progress | None = None,
) -> Recoded:
    """
    Change a table as little as possible until the policy of its publication file holds.

    ``k``, ``method``, ``mode``, ``improve`` and ``seed`` count in place of what the file says. Only published columns
    are released, and the rows are sorted by them; with ``keep_order`` they stay where they were, which links each row
    to its original. Nothing is published. Some methods promise less than the policy requires: see
    :meth:`Recoded.raise_if_unsafe`.

    :raises PolicyNotMetError: the method cannot keep what it promises.
    :raises RefusedError: every row would have to be removed.
    :raises SpecError: the publication file cannot be used.
    :raises InvalidInputError: the table does not fit the file, or an argument would have no effect.
    """
    publication = publication_with(publication_of(spec), k=k, method=method, mode=mode, improve=improve, seed=seed)
    options = replace(reading_of(publication), line_breaks=False, headless_from=1)
    rows = rows_of(source, options, engine=publication.engine)
    check_declared(rows.table, publication)
    made = recode_table(
        rows.table,
        publication,
        engine=rows.engine,
        today=datetime.now(UTC).date(),
        keep_order=keep_order,
        progress=progress,
    )
    recoding, plan = made.recoded.recoding, made.recoded.recoding.plan
    return Recoded(
        table=made.recoded.released,
        measurements=made.judged.checks,
        utility=made.judged.assessment.utility,
        method=recoding.method,
        why=recoding.why,
        optimal=recoding.optimal,
        unit=made.criteria.unit,
        rows=plan.frequencies.rows,
        rows_dropped=made.rows_dropped,
        rows_capped=made.rows_capped,
        rows_removed=plan.rows_removed,
        rows_changed=plan.rows_changed,
        left_out=made.left_out,
        made=made,
    )


def check_declared(table: Table, publication: PartialPublication) -> None:
    """:raises UnknownColumnError: a column that is published, by the file, is not in the table."""
    unused = (Role.IDENTIFIER, Role.DROP)
    wanted = [name for name, column in publication.columns.items() if column.role not in unused]
    if unknown := [name for name in wanted if name not in table.names]:
        raise UnknownColumnError(unknown, table.names)
