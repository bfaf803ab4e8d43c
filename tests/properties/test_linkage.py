"""The four k's against brute force over rows and over all perfect matchings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.comparison import Comparison, compare, compare_frequencies
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import BY_PEOPLE, four_k, k_anonymity
from anon_core.plan import RecodingPlan
from tests.properties.persons import everybody, members
from tests.properties.plans import plans
from tests.properties.releases import UNIT, Released, releases
from tests.properties.tables import Cell, Row, Small, small_tables, table_of


def matchable(covered: Sequence[Sequence[bool]], originals: int) -> set[tuple[int, int]] | None:
    """All (original, published) pairs of all ways to give every published row an original of its own; None: no way."""

    @cache
    def ways(j: int, used: int) -> frozenset[tuple[int, int]] | None:
        if j == len(covered):
            return frozenset()
        pairs: set[tuple[int, int]] = set()
        some = False
        for i in range(originals):
            if covered[j][i] and not used >> i & 1 and (rest := ways(j + 1, used | 1 << i)) is not None:
                some, pairs = True, pairs | rest | {(i, j)}
        return frozenset(pairs) if some else None

    found = ways(0, 0)
    return None if found is None else set(found)


@settings(deadline=None)
@given(releases())
def test_the_four_ks_of_known_pairs_are_what_counting_row_by_row_gives(released: Released) -> None:
    pairs = released.pairs
    n = len(pairs)
    covered = [[released.covers(after, before) for before, _, _ in pairs] for _, after, _ in pairs]
    measured = four_k(released.compared(paired=True), k=2)
    assert measured.exact == min(Counter(after for _, after, _ in pairs).values())
    links = [sum(covered[j][i] for j in range(n)) for i in range(n)]
    assert measured.link == min(links)
    sources = [sum(covered[j]) for j in range(n)]
    assert measured.source == min(sources)
    possible = matchable(covered, n)
    assert possible is not None
    hidden = [sum((i, j) in possible for j in range(n)) for i in range(n)]
    assert measured.concealment == min(hidden)
    assert measured.removed == len(released.published) - n
    assert measured.rows_below == {
        "exact": sum(c for c in Counter(after for _, after, _ in pairs).values() if c < 2),
        "link": sum(count < 2 for count in links),
        "source": sum(count < 2 for count in sources),
        "concealment": sum(count < 2 for count in hidden),
    }


@settings(deadline=None)
@given(releases())
def test_the_four_ks_without_pairs_are_what_counting_row_by_row_gives(released: Released) -> None:
    originals, published = released.small.rows, [after for _, after, _ in released.pairs]
    covered = [[released.covers(after, before) for before in originals] for after in published]
    measured = four_k(released.compared(paired=False))
    links = [sum(row[i] for row in covered) for i in range(len(originals))]
    assert measured.link == min(count for count in links if count)
    assert measured.source == min(map(sum, covered))
    possible = matchable(covered, len(originals))
    assert possible is not None
    assert measured.concealment == min(Counter(i for i, _ in possible).values())


def crowd(people: Iterable[Cell]) -> int:
    """How many people rows are: those known, or one where nobody is."""
    some = list(people)
    return len({person for person in some if person is not None}) or min(len(some), 1)


def below(rows: Iterable[tuple[Row, Cell, int]], k: int) -> int:
    """How many people are behind tuples that meet fewer than k; rows of nobody known where a tuple has no other."""
    small = [(key, person) for key, person, met in rows if met < k]
    return len(everybody(members([key for key, _ in small], [person for _, person in small]).values()))


@settings(deadline=None, max_examples=200)
@given(releases(max_rows=12))
def test_units_are_counted_once_however_many_rows_they_have(released: Released) -> None:
    pairs = released.pairs
    n = len(pairs)
    covered = [[released.covers(after, before) for before, _, _ in pairs] for _, after, _ in pairs]
    unit = [person for _, _, person in pairs]
    measured = four_k(released.compared(paired=True, unit=True), k=3)
    assert measured.exact == min(len(some) for some in members([after for _, after, _ in pairs], unit).values())
    links = [crowd(unit[j] for j in range(n) if covered[j][i]) for i in range(n)]
    assert measured.link == min(links)
    before = [(row, person, links[i]) for i, (row, _, person) in enumerate(pairs)]
    assert measured.rows_below["link"] == below(before, 3)
    sources = [crowd(unit[i] for i in range(n) if covered[j][i]) for j in range(n)]
    assert measured.source == min(sources)
    after = [(row, person, sources[j]) for j, (_, row, person) in enumerate(pairs)]
    assert measured.rows_below["source"] == below(after, 3)
    assert (measured.concealment, measured.reason, measured.fits) == (None, BY_PEOPLE, True)


@settings(deadline=None, max_examples=100)
@given(releases(max_rows=12))
def test_people_of_counted_tables_are_behind_what_covers_and_is_covered(released: Released) -> None:
    """Which row became which is not known, and neither is who of one side is who of the other."""
    names = released.small.names
    original = FrequencyTable.of(released.original, [*names], unit=UNIT)
    rows = [(*after, person) for _, after, person in released.pairs]
    published = FrequencyTable.of(table_of([*names, UNIT], rows), [*names], unit=UNIT)
    measured = four_k(compare_frequencies(original, published, released.ladders), k=3)
    everyone = list(zip(released.small.rows, released.units, strict=True))
    links = [crowd(p for _, after, p in released.pairs if released.covers(after, row)) for row, _ in everyone]
    assert measured.link == min(met for met in links if met)
    sources = [crowd(p for row, p in everyone if released.covers(after, row)) for _, after, _ in released.pairs]
    assert measured.source == min(sources)
    assert (measured.concealment, measured.reason) == (None, BY_PEOPLE)


@settings(deadline=None)
@given(plans(), st.booleans())
def test_exact_k_implies_the_other_three(drawn: tuple[Small, RecodingPlan], paired: bool) -> None:
    _, plan = drawn
    if plan.removed.all():
        with pytest.raises(InvalidInputError):
            four_k(Comparison.of_plan(plan))
        return
    comparison = Comparison.of_plan(plan)
    if not paired:
        comparison = Comparison(
            ladders=comparison.ladders, before=comparison.before, after=comparison.after, pairs=None
        )
    measured = four_k(comparison)
    assert measured.concealment is not None
    assert min(measured.link, measured.source, measured.concealment) >= measured.exact
    assert measured.concealment <= measured.link


@settings(deadline=None)
@given(releases(), st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_the_rows_does_not_matter(released: Released, random: object, paired: bool) -> None:
    order = list(range(len(released.small.rows)))
    random.shuffle(order)  # type: ignore[attr-defined]
    shuffled = Released(
        small=Small(names=released.small.names, rows=tuple(released.small.rows[n] for n in order)),
        ladders=released.ladders,
        published=tuple(released.published[n] for n in order),
        units=tuple(released.units[n] for n in order),
    )
    assert four_k(shuffled.compared(paired=paired)) == four_k(released.compared(paired=paired))


@settings(deadline=None)
@given(small_tables())
def test_adding_a_column_never_raises_k(small: Small) -> None:
    frequencies = FrequencyTable.of(small.table)
    names = list(small.names)
    ks = [k_anonymity(frequencies, names[:size]).k for size in range(len(names) + 1)]
    assert ks == sorted(ks, reverse=True)


@settings(deadline=None)
@given(releases(removals=False), st.data())
def test_what_covers_nobody_or_not_its_own_row_is_said_and_never_counted_as_hidden(
    released: Released, data: st.DataObject
) -> None:
    """Rows are exchanged among the published ones, so that some no longer cover what they were made from."""
    order = data.draw(st.permutations(range(len(released.published))))
    swapped = Released(
        small=released.small,
        ladders=released.ladders,
        published=tuple(released.published[n] for n in order),
        units=released.units,
    )
    wrong = sum(not released.covers(after, before) for before, after, _ in swapped.pairs)
    measured = four_k(swapped.compared(paired=True))
    if wrong:
        assert measured.concealment is None
        assert measured.reason is not None
        assert measured.reason.startswith(f"{wrong} of the published rows")
    else:
        assert measured.concealment is not None
    # Nobody who does not know the pairing can tell.
    assert four_k(swapped.compared(paired=False)) == four_k(released.compared(paired=False))


def star(rows: Sequence[Row], published: Sequence[Row]) -> Comparison:
    """Compare tables whose cells are as collected or ``*``."""
    from anon_core.hierarchy.build import ladder

    names = "pqr"[: len(rows[0])]
    original = table_of(names, rows)
    return compare(
        original,
        table_of(names, published),
        [ladder(column, None, None) for column in original.columns],  # type: ignore[arg-type]
    )


def test_the_example_of_bampoulidis_is_found_by_whoever_knows_the_person() -> None:
    """Section 2 of the paper: (m, 20, AT) becomes (*, 20, *), which covers all five people, but only it covers him."""
    before: list[Row] = [("f", "20", "AT"), ("f", "20", "AT"), ("m", "20", "GR"), ("m", "20", "GR"), ("m", "20", "AT")]
    measured = four_k(star(before, [*before[:4], ("*", "20", "*")]))
    assert (measured.exact, measured.link, measured.source, measured.concealment) == (1, 1, 2, 1)


def test_a_release_that_cannot_come_from_the_original_has_no_concealment() -> None:
    measured = four_k(star([("a",), ("b",)], [("a",), ("a",)]))
    assert measured.concealment is None
    assert measured.reason == "the published rows cannot all have been made from different rows of the original"
    more = four_k(star([("a",)], [("a",), ("*",)]))
    assert more.concealment is None


@settings(deadline=None, max_examples=60)
@given(releases(), st.booleans())
def test_too_many_pairs_are_counted_and_not_compared(released: Released, unit: bool) -> None:
    with pytest.MonkeyPatch.context() as patched:
        whole = four_k(released.compared(paired=True, unit=unit), k=3)
        patched.setattr("anon_core.measures.linkage.four_ks.MAX_PAIRS", 0)
        counted = four_k(released.compared(paired=True, unit=unit), k=3)
    assert (counted.exact, counted.link, counted.source) == (whole.exact, whole.link, whole.source)
    assert counted.concealment is None
    assert counted.reason is not None
    assert "at most 0 are compared" in counted.reason
