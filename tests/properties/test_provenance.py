"""Whether released rows are those that were collected, against matching them one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.engines.arrow import ArrowEngine
from anon_core.measures.linkage.provenance import provenance
from tests.properties.releases import UNIT, Released, releases
from tests.properties.tables import Cell, Row, table_of

Said = tuple[Row, Row, Cell, Cell]
"""What a witness says of a row: its labels, its values, whose it is, and a cell that is released as collected."""


def strangers(collected: Sequence[tuple[Row, Cell, Cell]], said: Sequence[Said]) -> int:
    """Take every row that is said to be one from those collected, and count those that are not there any more."""
    left = Counter(collected)
    lacking = 0
    for _, values, whose, cell in said:
        if left[values, whose, cell]:
            left[values, whose, cell] -= 1
        else:
            lacking += 1
    return lacking


@settings(max_examples=300, deadline=None)
@given(released=releases(max_rows=5), data=st.data())
def test_a_row_is_believed_if_it_was_collected_like_that_of_that_person(
    released: Released, data: st.DataObject
) -> None:
    names = released.small.names
    rows = zip(released.small.rows, released.published, released.units, strict=True)
    said: list[Said] = [(labels, values, unit, values[0]) for values, labels, unit in rows if labels is not None]
    at = data.draw(st.integers(0, len(said) - 1))
    labels, values, unit, cell = said[at]
    other = data.draw(st.sampled_from(released.small.rows))
    said += {
        "nothing": [],
        "another person": [(labels, values, data.draw(st.sampled_from("uvwx")), cell)],
        "another value": [(labels, other, unit, cell)],
        "another cell": [(labels, values, unit, data.draw(st.sampled_from(["a", "b", "c", None])))],
        "twice": [said[at]],
    }[how := data.draw(st.sampled_from(["nothing", "another person", "another value", "another cell", "twice"]))]
    if how not in ("nothing", "twice") and data.draw(st.booleans()):
        del said[at]
    collected = [(row, whose, row[0]) for row, whose in zip(released.small.rows, released.units, strict=True)]
    before = table_of([*names, UNIT, "as"], [(*row, whose, own) for row, whose, own in collected])
    beside = {name: f"{name} as collected" for name in names}
    witness = table_of(
        [*names, UNIT, "as", *beside.values()], [(*shown, whose, own, *was) for shown, was, whose, own in said]
    )
    found = provenance(
        ArrowEngine(table=before), ArrowEngine(table=witness), released.ladders, beside=beside, equal=[UNIT, "as"]
    )
    assert found.strangers == strangers(collected, said)
    assert found.uncovered == sum(not released.covers(shown, was) for shown, was, _, _ in said)
