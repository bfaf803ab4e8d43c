"""Any release of a small table, row by row: what each row is published as, or that it is removed."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from anon_core.comparison import Comparison, compare
from anon_core.hierarchy.ladder import Ladder
from anon_core.table import Table
from tests.properties.persons import persons
from tests.properties.tables import Cell, Row, Small, covers, ladders_for, small_tables, spelled, table_of

KEY, UNIT = "key", "unit"


@dataclass(frozen=True, slots=True, kw_only=True)
class Released:
    """A table, the ladders of its columns, what became of every row (None: removed) and whose row it is."""

    small: Small
    ladders: tuple[Ladder, ...]
    published: tuple[Row | None, ...]
    units: tuple[Cell, ...]

    @property
    def original(self) -> Table:
        rows = [(*row, unit, f"{n:02}") for n, (row, unit) in enumerate(zip(self.small.rows, self.units, strict=True))]
        return table_of([*self.small.names, UNIT, KEY], rows)

    @property
    def release(self) -> Table:
        rows = [(*row, f"{n:02}") for n, row in enumerate(self.published) if row is not None]
        return table_of([*self.small.names, KEY], rows)

    @property
    def pairs(self) -> list[tuple[Row, Row, Cell]]:
        """Original, published and unit of every row that is published."""
        rows = zip(self.small.rows, self.published, self.units, strict=True)
        return [(before, after, unit) for before, after, unit in rows if after is not None]

    def compared(self, *, paired: bool, unit: bool = False) -> Comparison:
        return compare(
            self.original, self.release, self.ladders, key=KEY if paired else None, unit=UNIT if unit else None
        )

    def covers(self, after: Row, before: Row) -> bool:
        """Whether a published row covers an original, looked up label by label."""
        domains = [column.domain.to_pylist() for column in self.small.table.columns]
        return all(
            domain.index(cell) in covers(ladder)[label]
            for domain, ladder, label, cell in zip(domains, self.ladders, after, before, strict=True)
        )


@st.composite
def releases(draw: st.DrawFn, *, max_rows: int = 4, removals: bool = True) -> Released:
    """Any level in any cell, any row removed but one."""
    small = draw(small_tables(max_columns=3, max_rows=max_rows))
    ladders = draw(ladders_for(small))
    domains = [column.domain.to_pylist() for column in small.table.columns]
    published: list[Row | None] = []
    for row in small.rows:
        cells = []
        for cell, domain, ladder in zip(row, domains, ladders, strict=True):
            cells.append(spelled(ladder)[draw(st.integers(0, ladder.height))][domain.index(cell)])
        published.append(tuple(cells))
    kept = draw(st.integers(0, len(published) - 1))
    for n in range(len(published)):
        if removals and n != kept and draw(st.integers(0, 4)) == 0:
            published[n] = None
    few = st.lists(st.sampled_from("uvw"), min_size=len(small.rows), max_size=len(small.rows))
    units = draw(st.one_of(persons(len(small.rows)), few))
    return Released(small=small, ladders=ladders, published=tuple(published), units=tuple(units))
