"""Utility on any small table and plan, against its definitions worked out one row at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from fractions import Fraction
from itertools import combinations, product
from math import log2
from statistics import mean, median
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.comparison import Comparison, compare
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.measures.utility import Utility, utility
from anon_core.measures.utility.cells import RecodedCells, released
from anon_core.measures.utility.entropy import entropy
from anon_core.measures.utility.loss import loss
from anon_core.measures.utility.queries import queries
from anon_core.plan import RecodingPlan
from tests.properties.persons import everybody, members
from tests.properties.plans import expected, plans
from tests.properties.releases import KEY, UNIT, Released, releases
from tests.properties.tables import Cell, Row, Small, covers, ladders_for, small_tables, spelled, table_of

Planned = tuple[Small, RecodingPlan]
FEW = settings(max_examples=60, deadline=None)


def weights_of(small: Small) -> dict[str, float]:
    return {name: 1 / (1 + at) for at, name in enumerate(small.names)}


def measured(planned: Planned, **options: Any) -> Utility:
    small, plan = planned
    return utility(Comparison.of_plan(plan), weights_of(small), **options)


def approx(found: Utility) -> Any:
    """All figures of a result, to be compared without the last digits."""
    return pytest.approx(flat(asdict(found)), abs=1e-9)


def flat(tree: Any, path: str = "") -> dict[str, Any]:
    if isinstance(tree, dict):
        return {key: leaf for name, child in tree.items() for key, leaf in flat(child, f"{path}.{name}").items()}
    return {path: tree}


def level_of(ladder: Ladder, label: Cell) -> int:
    """The lowest level at which a label stands for a value that the hierarchy knows."""
    known = [code for code in range(ladder.maps.shape[1]) if not ladder.unmapped[code]]
    levels = spelled(ladder)
    return min([n for n, level in enumerate(levels) if label in [level[c] for c in known]], default=ladder.height)


def lost_and_most(small: Small, plan: RecodingPlan, at: int) -> tuple[float, float]:
    """The loss of one column and its maximum as BASELINE.md has them, row by row."""
    ladder, words = plan.ladders[at], small.table.columns[at].domain.to_pylist()
    labels = spelled(ladder)

    def value(cell: Cell, level: int) -> object:
        return ("as collected", cell) if level <= 0 else labels[level][words.index(cell)]

    rows = [
        (before[at], ladder.height if after is None else level_of(ladder, after[at]))
        for before, after in expected(small, plan)
    ]
    lost, previous = 0.0, -1
    for level in sorted({level for _, level in rows}):
        inside = [cell for cell, own in rows if own >= level]
        finer = Counter(value(cell, previous) for cell in inside)
        coarser = Counter(value(cell, level) for cell in inside)
        lost -= sum(log2(finer[value(cell, previous)] / coarser[value(cell, level)]) for cell in inside)
        previous = level
    times = Counter(cell for cell, _ in rows)
    return lost, -sum(log2(times[cell] / len(rows)) for cell, _ in rows)


@FEW
@given(planned=plans())
def test_entropy_is_what_its_definition_gives_row_by_row(planned: Planned) -> None:
    small, plan = planned
    parts = {name: lost_and_most(small, plan, at) for at, name in enumerate(small.names)}
    found = entropy(RecodedCells.by(plan), weights_of(small))
    for name, (lost, most) in parts.items():
        assert found.by_column[name] == pytest.approx(1 - lost / most if most > 1e-9 else 1)
    for share, weights in ((found.overall, dict.fromkeys(parts, 1.0)), (found.weighted, weights_of(small))):
        most = sum(weights[name] * part[1] for name, part in parts.items())
        lost = sum(weights[name] * part[0] for name, part in parts.items())
        assert share == pytest.approx(1 - lost / most if most > 1e-9 else 1)
    assert asdict(found) == asdict(measured(planned)).get("entropy")


@FEW
@given(planned=plans())
def test_loss_is_the_share_of_other_values_a_cell_may_stand_for(planned: Planned) -> None:
    small, plan = planned
    found = loss(RecodedCells.by(plan), weights_of(small))
    for at, name in enumerate(small.names):
        reach = covers(plan.ladders[at])
        others = max(plan.ladders[at].maps.shape[1] - 1, 1)
        lost = [1 if row is None else Fraction(len(reach[row[at]]) - 1, others) for _, row in expected(small, plan)]
        assert found.by_column[name] == pytest.approx(float(mean(lost)))
    assert found.overall == pytest.approx(mean(found.by_column.values()))
    weights = weights_of(small)
    wanted = sum(weights[name] * lost for name, lost in found.by_column.items()) / sum(weights.values())
    assert found.weighted == pytest.approx(wanted)


@FEW
@given(planned=plans(), k=st.none() | st.integers(1, 4))
def test_classes_and_changes_are_what_the_published_rows_show(planned: Planned, k: int | None) -> None:
    small, plan = planned
    rows = expected(small, plan)
    published = [after for _, after in rows if after is not None]
    found = measured(planned, k=k)
    classes = Counter(published)
    assert found.classes.classes == len(classes)
    assert found.classes.average == (len(published) / len(classes) if classes else None)
    assert found.classes.normalised == (pytest.approx(len(published) / len(classes) / k) if classes and k else None)
    removed = len(rows) - len(published)
    assert found.classes.discernibility == sum(n * n for n in classes.values()) + removed * len(rows)
    unknown = [{c for n, c in enumerate(words(small, at)) if plan.ladders[at].unmapped[n]} for at in columns(small)]
    changed = [
        [before[at] != after[at] or before[at] in unknown[at] for at in columns(small)]
        for before, after in rows
        if after is not None
    ]
    assert found.changes is not None
    assert found.changes.rows == pytest.approx(sum(map(any, changed)) / max(len(changed), 1))
    assert found.changes.cells == pytest.approx(sum(map(sum, changed)) / max(len(changed) * len(small.names), 1))


def columns(small: Small) -> range:
    return range(len(small.names))


def words(small: Small, at: int) -> list[Cell]:
    return small.table.columns[at].domain.to_pylist()


def guessed(small: Small, plan: RecodingPlan, wanted: Sequence[int]) -> Counter[tuple[int, ...]]:
    """How many rows a reader expects in each group of codes: every published row spread over all that it may be."""
    reach = [covers(ladder) for ladder in plan.ladders]
    published = Counter(tuple(row[at] for at in wanted) for _, row in expected(small, plan) if row is not None)
    total: Counter[tuple[int, ...]] = Counter()
    for labels, times in published.items():
        groups = list(product(*(reach[at][label] for at, label in zip(wanted, labels, strict=True))))
        for group in groups:
            total[group] += Fraction(times, len(groups))
    return total


def true_counts(small: Small, wanted: Sequence[int]) -> Counter[tuple[int, ...]]:
    known = [words(small, at) for at in columns(small)]
    return Counter(tuple(known[at].index(row[at]) for at in wanted) for row in small.rows)


@FEW
@given(planned=plans())
def test_marginals_are_off_by_what_an_even_spread_gets_wrong(planned: Planned) -> None:
    small, plan = planned
    found = measured(planned).marginals
    for at, name in enumerate(small.names):
        true, guess = true_counts(small, [at]), guessed(small, plan, [at])
        published = sum(guess.values())
        wanted = 1.0
        if published:
            codes = range(len(words(small, at)))
            differences = [Fraction(true[(c,)], len(small.rows)) - Fraction(guess[(c,)]) / published for c in codes]
            wanted = float(sum(map(abs, differences)) / 2)
        assert found.by_column[name] == pytest.approx(wanted, abs=1e-12)
    assert found.mean == pytest.approx(mean(found.by_column.values()))
    assert found.worst == max(found.by_column.values())


def errors_of(small: Small, plan: RecodingPlan, size: int) -> list[float]:
    errors = []
    for wanted in combinations(columns(small), size):
        guess = guessed(small, plan, wanted)
        for group, true in true_counts(small, wanted).items():
            errors.append(float(abs(guess[group] - true) / max(true, Fraction(len(small.rows), 1000))))
    return sorted(errors)


@FEW
@given(planned=plans())
def test_queries_are_off_by_what_an_even_spread_gets_wrong(planned: Planned) -> None:
    small, plan = planned
    found = measured(planned, seed=3).queries
    for size, summary in ((1, found.one_column), (2, found.two_columns)):
        errors = errors_of(small, plan, size)
        if not errors:
            assert summary is None
            continue
        assert summary is not None
        assert (summary.groups, summary.queries) == (len(errors), len(errors))
        place = Fraction(95, 100) * (len(errors) - 1)
        low, high = errors[int(place)], errors[min(int(place) + 1, len(errors) - 1)]
        wanted = [mean(errors), median(errors), low + float(place - int(place)) * (high - low)]
        assert [summary.mean, summary.median, summary.p95] == pytest.approx(wanted, abs=1e-12)
    assert (found.sampled, found.seed) == (False, None)


@FEW
@given(planned=plans(), seed=st.integers(0, 9))
def test_a_sample_of_queries_is_drawn_from_all_of_them_and_repeated_by_its_seed(planned: Planned, seed: int) -> None:
    small, plan = planned
    comparison = Comparison.of_plan(plan)
    found = queries(comparison, seed=seed, most=2)
    assert found == queries(comparison, seed=seed, most=2)
    everything = queries(comparison)
    for size, summary, whole in (
        (1, found.one_column, everything.one_column),
        (2, found.two_columns, everything.two_columns),
    ):
        if summary is None or whole is None:
            assert summary is whole is None
            continue
        groups = [len(set(small.project(names))) for names in combinations(small.names, size)]
        assert (summary.groups, summary.queries) == (whole.groups, sum(min(n, 2) for n in groups))
        possible = errors_of(small, plan, size)
        assert possible[0] - 1e-12 <= summary.median <= possible[-1] + 1e-12
    sampled = found.one_column is not None and found.one_column.queries < found.one_column.groups
    sampled |= found.two_columns is not None and found.two_columns.queries < found.two_columns.groups
    assert (found.sampled, found.seed) == (sampled, seed if sampled else None)


@FEW
@given(planned=plans(), data=st.data())
def test_the_order_of_the_rows_does_not_matter(planned: Planned, data: st.DataObject) -> None:
    small, plan = planned
    published = [(before, after) for before, after in expected(small, plan) if after is not None]
    if not published:
        return
    by_name = {ladder.column: ladder for ladder in plan.ladders}

    def compared(rows: Sequence[tuple[Row, Row]]) -> Utility:
        original = table_of(small.names, [before for before, _ in rows])
        kept = [kept_values(by_name[c.name], words(small, at), c.domain) for at, c in enumerate(original.columns)]
        released = table_of(small.names, [after for _, after in rows])
        return utility(compare(original, released, kept, same_order=True), weights_of(small), k=2)

    assert compared(published) == compared(data.draw(st.permutations(published)))


def kept_values(ladder: Ladder, known: list[Cell], domain: pa.Array) -> Ladder:
    """The same ladder for a table that has fewer of the values."""
    at = [known.index(value) for value in domain.to_pylist()]
    return replace(ladder, maps=ladder.maps[:, at], unmapped=ladder.unmapped[at])


@FEW
@given(planned=plans(), data=st.data())
def test_what_values_and_labels_are_called_does_not_matter(planned: Planned, data: st.DataObject) -> None:
    """Other names are other codes, for a domain is sorted; the tree above the values stays as it is."""
    small, plan = planned
    frequencies, ladders, codes = plan.frequencies, [], []
    for ladder, own in zip(plan.ladders, frequencies.codes, strict=True):
        to_value = np.array(data.draw(st.permutations(range(ladder.maps.shape[1]))))
        to_label = np.array(data.draw(st.permutations(range(len(ladder.labels)))))
        maps, unmapped, labels = np.empty_like(ladder.maps), np.empty_like(ladder.unmapped), [""] * len(to_label)
        maps[:, to_value], unmapped[to_value] = to_label[ladder.maps], ladder.unmapped
        for code, place in enumerate(to_label):
            labels[place] = f"label {code}"
        ladders.append(replace(ladder, maps=maps, unmapped=unmapped, labels=pa.array(labels)))
        codes.append(to_value[own])
    order = np.lexsort(codes[::-1])
    renamed = RecodingPlan(
        frequencies=replace(frequencies, codes=tuple(c[order] for c in codes), weights=frequencies.weights[order]),
        ladders=tuple(ladders),
        levels=plan.levels[:, order],
        removed=plan.removed[order],
    )
    assert flat(asdict(measured((small, renamed)))) == approx(measured(planned))


@FEW
@given(planned=plans())
def test_without_the_pairing_only_entropy_and_changes_are_not_known(planned: Planned) -> None:
    small, plan = planned
    comparison = Comparison.of_plan(plan)
    known = utility(comparison, weights_of(small), k=3)
    found = utility(replace(comparison, pairs=None), weights_of(small), k=3)
    assert known.reason is None
    assert found.reason is not None and "not known which row became which" in found.reason
    assert found.entropy is found.changes is None
    assert flat(asdict(found)) == approx(replace(known, entropy=None, changes=None, reason=found.reason))


@FEW
@given(data=st.data())
def test_an_untouched_table_has_lost_nothing_and_one_at_the_roots_everything(data: st.DataObject) -> None:
    small = data.draw(small_tables())
    ladders = data.draw(ladders_for(small, unmapped=False))
    plan = RecodingPlan.unchanged(FrequencyTable.of(small.table), ladders)
    found = measured((small, plan))
    assert found.entropy is not None and found.changes is not None
    assert (found.entropy.overall, found.entropy.weighted, found.loss.overall, found.loss.weighted) == (1, 1, 0, 0)
    assert (found.changes.rows, found.changes.cells, found.marginals.worst) == (0, 0, 0)
    for summary in (found.queries.one_column, found.queries.two_columns):
        assert summary is None or (summary.mean, summary.p95) == (0, 0)
    top = np.array([[ladder.height] * plan.frequencies.tuples for ladder in ladders], np.int8)
    at_roots = measured((small, replace(plan, levels=top)))
    removed = measured((small, replace(plan, removed=~plan.removed)))
    varied = {name for at, name in enumerate(small.names) if len(words(small, at)) > 1}
    for worst in (at_roots, removed):
        assert worst.entropy is not None
        assert worst.entropy.by_column == {name: float(name not in varied) for name in small.names}
        assert worst.entropy.overall == worst.entropy.weighted == (0 if varied else 1)
    assert at_roots.loss.by_column == {name: float(name in varied) for name in small.names}
    assert (removed.loss.overall, removed.marginals.mean) == (1, 1)
    assert (removed.classes.classes, removed.classes.average) == (0, None)


@FEW
@given(planned=plans())
def test_a_unit_in_each_row_changes_nothing(planned: Planned) -> None:
    small, plan = planned
    frequencies = plan.frequencies
    tuples = np.repeat(np.arange(frequencies.tuples), frequencies.weights)
    by_unit = replace(
        plan,
        frequencies=replace(
            frequencies,
            codes=tuple(codes[tuples] for codes in frequencies.codes),
            weights=np.ones(len(tuples), np.int64),
            units=np.arange(1, len(tuples) + 1),
        ),
        levels=plan.levels[:, tuples],
        removed=plan.removed[tuples],
    )
    assert flat(asdict(measured((small, by_unit), k=2))) == approx(measured(planned, k=2))


@settings(max_examples=200, deadline=None)
@given(release=releases(max_rows=8))
def test_people_count_once_for_what_their_rows_were_and_became(release: Released) -> None:
    """Rows of nobody known count where nobody is known to have been one tuple and become one."""
    comparison = compare(release.original, release.release, release.ladders, key=KEY, unit=UNIT)
    found = released(comparison)
    assert isinstance(found, RecodedCells)
    domains = [column.domain.to_pylist() for column in comparison_columns(release)]
    labels = [ladder.labels.to_pylist() for ladder in release.ladders]
    counts: Counter[tuple[Row, Row | None]] = Counter()
    for at, weight in enumerate(found.weights.tolist()):
        before = tuple(words[codes[at]] for words, codes in zip(domains, found.values, strict=True))
        after = tuple(words[codes[at]] for words, codes in zip(labels, found.labels, strict=True))
        counts[before, None if found.removed[at] else after] += weight
    changed = list(zip(release.small.rows, release.published, strict=True))
    gone = everywhere_gone(release)
    of_pairs = members([pair for pair, left in zip(changed, gone, strict=True) if left], kept(release.units, gone))
    assert {key: n for key, n in counts.items() if n} == {key: len(some) for key, some in of_pairs.items()}
    published = [(after, person) for _, after, person in release.pairs]
    classes = members([after for after, _ in published], [person for _, person in published])
    sizes = sorted(map(len, classes.values()))
    assert sorted(comparison.after.class_sizes().tolist()) == sizes
    blank = [(row, person) for row, person in published if says_nothing(release, labels, row)]
    nobody_told = members([row for row, _ in blank], [person for _, person in blank])
    assert comparison.rows_blanked == len(everybody(nobody_told.values()))


def says_nothing(release: Released, labels: Sequence[list[Cell]], row: Row) -> bool:
    columns = zip(release.ladders, labels, row, strict=True)
    return all(ladder.empty[words.index(cell)] for ladder, words, cell in columns)


def comparison_columns(release: Released) -> list[Any]:
    return [release.original.column(name) for name in release.small.names]


def everywhere_gone(release: Released) -> list[bool]:
    """Which rows count: of a person's equal rows a removed one does not, where another one is published."""
    there = {(before, person) for before, _, person in release.pairs}
    rows = zip(release.small.rows, release.published, release.units, strict=True)
    return [after is not None or (before, person) not in there for before, after, person in rows]


def kept(units: Sequence[Cell], chosen: Sequence[bool]) -> list[Cell]:
    return [unit for unit, left in zip(units, chosen, strict=True) if left]
