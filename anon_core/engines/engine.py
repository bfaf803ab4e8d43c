"""The protocol of the engines, which count the rows of a table and make the rows to publish.

All code that needs a count, or the released rows, calls the engine that it is given, and never reads rows itself. So
the rows need not be in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Self

from anon_core.errors import InvalidInputError
from anon_core.registry import ANY_ENGINE, ENGINES

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.plan import RecodingPlan
    from anon_core.table import Column, Table


class Engine(Protocol):
    """
    The rows of one table; an instance is made by ``open`` or ``of``.

    ``unit`` is the column that tells people apart, and none of the columns of the table; None where every row is
    another person.
    """

    @classmethod
    def reads(cls, path: Path) -> bool:
        """Whether the engine reads such a source; it need not exist yet."""
        ...

    @classmethod
    def open(cls, path: Path, *, unit: str | None = None) -> Self:
        """Take the rows of a file that this product has written, such as the staged table."""
        ...

    @classmethod
    def of(cls, table: Table, *, unit: str | None = None) -> Self:
        """Take the rows of a table in memory."""
        ...

    @property
    def unit(self) -> str | None:
        """The column that tells people apart; None where every row is another person."""
        ...

    @property
    def names(self) -> tuple[str, ...]:
        """The columns but the unit, in the order of the table."""
        ...

    @property
    def rows(self) -> int:
        """How many rows there are."""
        ...

    def column(self, name: str) -> Column:
        """Return one column, for what goes by its values alone: hierarchies and profiles."""
        ...

    def count(self, columns: Sequence[str]) -> FrequencyTable:
        """Return the distinct tuples of some columns with their rows."""
        ...

    def people(self, columns: Sequence[str]) -> FrequencyTable:
        """Return the distinct tuples of some columns with the people behind them: the rows where there is no unit."""
        ...

    def class_sizes(self, columns: Sequence[str]) -> Mapping[int, int]:
        """Return how many classes over some columns there are of each size."""
        ...

    def apply(
        self,
        plan: RecodingPlan,
        published: Sequence[str],
        *,
        keep_order: bool = False,
        beside: Mapping[str, str] | None = None,
    ) -> Table:
        """
        Return the table to publish: these columns only, recoded by the plan, removed rows left out.

        After them stand columns as collected, each under the name that ``beside`` has for it: that table is private.

        Its rows are sorted by its own columns, in the order given: the order of the source, or a row number, would link
        back to the original. With ``keep_order`` they stand as in the source, for comparing row by row; that table is
        not one to publish.

        :raises InternalError: the plan is one for another table.
        """
        ...


def engine_named(key: str = ANY_ENGINE, *, source: Path) -> type[Engine]:
    """
    Return the engine that a publication file asks for; for ``auto``, the first one that reads the source.

    :raises InvalidInputError: no installed package brings it, or it does not read such a source.
    """
    if key != ANY_ENGINE and key not in ENGINES:
        raise InvalidInputError(f"engine: {ENGINES.absent(key)}")
    for one in ENGINES.keys() if key == ANY_ENGINE else (key,):
        engine: type[Engine] = ENGINES.get(one)
        if engine.reads(source):
            return engine
    what = "no installed engine reads" if key == ANY_ENGINE else f"the engine `{key}` does not read"
    raise InvalidInputError(f"engine: {what} {source.name}; install one that does, or name another source")
