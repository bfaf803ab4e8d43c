"""What holds of every column and every way to split it, held against brute force over rows."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.decompose import measure_effect, split_column
from anon_core.decompose.splitting import by_separators, by_widths
from anon_core.frequency import FrequencyTable
from anon_core.table import Table
from tests.anon_core.decompose.decomposing import Cell, rule_of, table_of

SIGNS = "12-ä"
CELLS = st.none() | st.text(SIGNS, max_size=5)
COLUMNS = st.lists(CELLS, min_size=1, max_size=12)
NAMES = ("p", "q", "r", "s")
WIDTHS = st.lists(st.integers(1, 3), min_size=1, max_size=3)
SEPARATORS = st.lists(st.sampled_from(["-", "--", "1", "1-"]), min_size=1, max_size=3)


def rules(draw: st.DrawFn) -> dict[str, object]:
    way = draw(st.sampled_from(["widths", "rest", "separator", "separators", "pattern"]))
    if way == "separator":
        return {"separator": draw(st.sampled_from(SIGNS)), "names": list(NAMES[: draw(st.integers(2, 3))])}
    if way == "separators":
        between = draw(SEPARATORS)
        return {"separator": between, "names": list(NAMES[: len(between) + 1])}
    if way == "pattern":
        pattern = draw(st.sampled_from(["(?P<p>1*)(?P<q>.*)", "(?P<p>.)?-(?P<q>.+)", "(?P<p>[12]+)[-ä]*(?P<q>2?)"]))
        return {"pattern": pattern}
    widths = draw(WIDTHS)
    return {"widths": widths, "names": list(NAMES[: len(widths) + (way == "rest")])}


RULES = st.composite(rules)()


def brute_force(value: Cell, rule: dict[str, object]) -> tuple[Cell, ...]:
    """The parts of one value, by trying every way to cut it."""
    names = rule["names"]
    assert isinstance(names, list)
    if value is None:
        return (None,) * len(names)
    cuts = [()] if len(names) == 1 else product(range(len(value) + 1), repeat=2 * (len(names) - 1))
    found = []
    for cut in cuts:
        places = [0, *cut, len(value)]
        if places != sorted(places):
            continue
        parts = [value[a:b] for a, b in zip(places[::2], places[1::2], strict=True)]
        between = [value[a:b] for a, b in zip(places[1:-1:2], places[2:-1:2], strict=True)]
        if "widths" in rule:
            widths = rule["widths"]
            assert isinstance(widths, list)
            lengths = [len(part) for part in parts]
            fits = not any(between) and lengths[: len(widths)] == widths
        else:
            wanted = (
                rule["separator"] if isinstance(rule["separator"], list) else [rule["separator"]] * (len(names) - 1)
            )
            first = all(s not in (part + s)[:-1] for part, s in zip(parts, wanted, strict=False))
            fits = between == wanted and first and wanted[-1] not in parts[-1]
        if fits:
            found.append(tuple(parts))
    assert len(set(found)) <= 1
    fitting = found[0] if found and any(found[0]) else None
    return tuple(part or None for part in fitting) if fitting else ("*",) * len(names)


@settings(max_examples=300, deadline=None)
@given(cells=COLUMNS, rule=RULES.filter(lambda rule: "pattern" not in rule))
def test_every_value_is_split_as_brute_force_splits_it(cells: list[Cell], rule: dict[str, object]) -> None:
    split = split_column(table_of(code=cells).column("code"), rule_of(**rule), Path())
    rows = Table(columns=split.parts, rows=len(cells)).to_arrow().to_pylist()
    assert [tuple(row.values()) for row in rows] == [brute_force(cell, rule) for cell in cells]


@given(value=st.text(SIGNS, max_size=8), widths=WIDTHS, rest=st.booleans())
def test_parts_of_fixed_widths_side_by_side_are_the_value(value: str, widths: list[int], rest: bool) -> None:
    parts = by_widths(value, widths, rest=rest)
    whole = sum(widths)
    assert (parts is not None) == (len(value) == whole or (rest and len(value) > whole))
    if parts is not None:
        assert "".join(parts) == value
        assert [len(part) for part in parts[: len(widths)]] == widths


@given(value=st.text(SIGNS, max_size=8), separators=SEPARATORS)
def test_parts_with_their_separators_between_are_the_value(value: str, separators: list[str]) -> None:
    parts = by_separators(value, separators)
    if parts is not None:
        assert "".join(part + between for part, between in zip(parts, [*separators, ""], strict=True)) == value


@given(parts=st.lists(st.text("12ä", max_size=3), min_size=2, max_size=4))
def test_joined_parts_are_split_again(parts: list[str]) -> None:
    assert by_separators("-".join(parts), ["-"] * (len(parts) - 1)) == tuple(parts)


@settings(max_examples=200, deadline=None)
@given(cells=COLUMNS, rule=RULES.filter(lambda rule: "pattern" not in rule))
def test_all_parts_jointly_tell_apart_exactly_the_values_that_fit(cells: list[Cell], rule: dict[str, object]) -> None:
    """Nothing is lost by splitting: parts side by side are the column again, so they are no protection."""
    split = split_column(table_of(code=cells).column("code"), rule_of(**rule), Path())
    unfit = set(split.column.domain.filter(split.unfit).to_pylist())
    rows = [tuple(row.values()) for row in Table(columns=split.parts, rows=len(cells)).to_arrow().to_pylist()]
    assert len(set(rows)) == len({cell for cell in cells if cell not in unfit}) + bool(unfit)


@settings(max_examples=200, deadline=None)
@given(cells=COLUMNS, rule=RULES, data=st.data())
def test_publishing_fewer_parts_never_singles_out_more(
    cells: list[Cell], rule: dict[str, object], data: st.DataObject
) -> None:
    sexes = data.draw(st.lists(st.sampled_from("FM"), min_size=len(cells), max_size=len(cells)))
    table = table_of(code=cells, sex=sexes)
    every = rule_of(**rule).parts
    some = data.draw(st.sets(st.sampled_from(every), min_size=1).map(sorted))
    fewer = data.draw(st.sets(st.sampled_from(some), min_size=1).map(sorted))
    found = {}
    for published in (list(every), some, fewer):
        split = split_column(table.column("code"), rule_of(**rule, publish=published), Path())
        measured = measure_effect(table, split, ["sex"], count=FrequencyTable.of)
        names = [part.name for part in split.published]
        rows = Table(columns=(*split.published, table.column("sex")), rows=len(cells)).to_arrow()
        counts = Counter(tuple(row.values()) for row in rows.to_pylist())
        alone = measured.effect[1]
        assert (alone.after.distinct, alone.after.outliers) == (len(counts), list(counts.values()).count(1))
        assert alone.before.outliers == list(Counter(zip(cells, sexes, strict=True)).values()).count(1)
        assert all(alone.by_part[name].outliers <= alone.after.outliers for name in names)
        found[len(found)] = [effect.after.outliers for effect in measured.effect]
        assert all(effect.after.outliers <= effect.before.outliers for effect in measured.effect)
    for more, less in ((0, 1), (1, 2)):
        assert all(a >= b for a, b in zip(found[more], found[less], strict=True))
