"""No measure depends on the order of rows and columns, nor on what columns, values and labels are called."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.hierarchy.ladder import Ladder
from anon_core.measures.classes import ClassMeasure
from anon_core.measures.diversity.closeness import t_closeness
from anon_core.measures.diversity.diversity import (
    alpha_anonymity,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)
from anon_core.measures.linkage.four_ks import four_k, k_anonymity
from anon_core.measures.risk.attackers import risk
from anon_core.measures.risk.population import population_uniqueness
from anon_core.measures.risk.rows_by_size import rows_by_size
from anon_core.measures.risk.value_risk import rows_at_risk_by_value
from anon_core.measures.utility import utility
from anon_core.policy import Distance
from tests.properties.persons import PERSON
from tests.properties.releases import Released, releases
from tests.properties.sensitive import Question, questions
from tests.properties.tables import Cell, Row, Small, ladders_for

SOME = settings(max_examples=100, deadline=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Renaming:
    """The old columns in their new order, their new names, the new name of every text of each, and the rows."""

    order: tuple[str, ...]
    columns: Mapping[str, str]
    texts: Mapping[str, Mapping[Cell, Cell]]
    rows: tuple[int, ...]

    def names(self, columns: Iterable[str]) -> tuple[str, ...]:
        return tuple(self.columns[name] for name in columns)

    def row(self, names: tuple[str, ...], row: Row) -> Row:
        cells = dict(zip(names, row, strict=True))
        return tuple(self.texts[name][cells[name]] for name in self.order)

    def small(self, small: Small) -> Small:
        rows = [self.row(small.names, small.rows[n]) for n in self.rows]
        return Small(names=self.names(self.order), rows=tuple(rows))

    def ladder(self, ladder: Ladder, before: Small, after: Small) -> Ladder:
        """The same tree over the new names, whose codes are others, for a domain is sorted."""
        texts, name = self.texts[ladder.column], self.columns[ladder.column]
        old = {texts[value]: code for code, value in enumerate(domain(before, ladder.column))}
        codes = np.array([old[value] for value in domain(after, name)])
        labels = [texts[label] for label in ladder.labels.to_pylist()]
        place = np.argsort([label or "" for label in labels])
        moved = np.argsort(place)
        return replace(
            ladder,
            column=name,
            labels=pa.array([labels[at] for at in place], pa.string()),
            maps=moved[ladder.maps[:, codes]].astype(np.int32),
            unmapped=ladder.unmapped[codes],
        )


def domain(small: Small, column: str) -> list[Cell]:
    return small.table.column(column).domain.to_pylist()


def drawn(data: st.DataObject, small: Small, *, ladders: Iterable[Ladder] = (), gap_is_a_name: bool = True) -> Renaming:
    """
    Any renaming; with ``gap_is_a_name`` gaps get one too, and some value may become a gap.

    Hierarchies know a gap from a value, so where there are any a gap stays one.
    """
    texts = {name: {row[0] for row in small.project([name])} for name in small.names}
    for ladder in ladders:
        texts[ladder.column] |= set(ladder.labels.to_pylist())
    renamed: dict[str, dict[Cell, Cell]] = {}
    for name, some in texts.items():
        may_change = gap_is_a_name and name != PERSON  # A row of nobody known is never a person's.
        known = sorted((text for text in some if may_change or text is not None), key=str)
        spelled: list[Cell] = [f"text {n}" for n in range(len(known))]
        if may_change and known and data.draw(st.booleans()):
            spelled[0] = None
        renamed[name] = dict(zip(known, data.draw(st.permutations(spelled)), strict=True))
        renamed[name].setdefault(None, None if not may_change else "no gap")
    columns = data.draw(st.permutations([f"column {n}" for n in range(len(small.names))]))
    return Renaming(
        order=tuple(data.draw(st.permutations(small.names))),
        columns=dict(zip(small.names, columns, strict=True)),
        texts=renamed,
        rows=tuple(data.draw(st.permutations(range(len(small.rows))))),
    )


def asked_again(question: Question, how: Renaming) -> Question:
    return Question(
        small=how.small(question.small),
        quasi=how.names(name for name in how.order if name in question.quasi),
        sensitive=how.columns[question.sensitive],
        unit=None if question.unit is None else how.columns[question.unit],
    )


def same(one: ClassMeasure, other: ClassMeasure) -> None:
    """All but the last digits of what the worst class has."""
    assert one.observed == pytest.approx(other.observed)
    assert replace(one, observed=None) == replace(other, observed=None)


@SOME
@given(question=questions(), data=st.data())
def test_k_risk_and_population(question: Question, data: st.DataObject) -> None:
    again = asked_again(question, drawn(data, question.small))
    fraction = data.draw(st.sampled_from([None, 0.01, 0.4, 1.0]))
    (first, second) = (
        [
            k_anonymity(one.frequencies, one.quasi, k=3),
            risk(one.frequencies, one.quasi, k=3, max_risk=0.3, sampling_fraction=fraction),
            population_uniqueness(one.frequencies, one.quasi, sampling_fraction=fraction),
        ]
        for one in (question, again)
    )
    assert first == second


@SOME
@given(question=questions(), data=st.data(), k=st.integers(1, 5))
def test_rows_at_risk_by_value_and_by_the_size_of_their_class(question: Question, data: st.DataObject, k: int) -> None:
    how = drawn(data, question.small)
    again = asked_again(question, how)
    column = data.draw(st.sampled_from([*question.quasi, question.sensitive]))
    one = rows_at_risk_by_value(question.frequencies, question.quasi, column, k=k)
    other = rows_at_risk_by_value(again.frequencies, again.quasi, how.columns[column], k=k)
    by_value = [
        dict(zip(found.values.to_pylist(), zip(found.safe.tolist(), found.at_risk.tolist(), strict=True), strict=True))
        for found in (one, other)
    ]
    assert {how.texts[column][value]: rows for value, rows in by_value[0].items()} == by_value[1]
    sizes = [rows_by_size(each.frequencies, each.quasi) for each in (question, again)]
    assert sizes[0].sizes.tolist() == sizes[1].sizes.tolist()
    assert sizes[0].rows.tolist() == sizes[1].rows.tolist()
    assert (sizes[0].classes, sizes[0].counted) == (sizes[1].classes, sizes[1].counted)


@SOME
@given(question=questions(), data=st.data())
def test_diversity_and_closeness(question: Question, data: st.DataObject) -> None:
    one, other = question.classes, asked_again(question, drawn(data, question.small)).classes
    same(distinct_diversity(one, l=2), distinct_diversity(other, l=2))
    same(entropy_diversity(one, l=1.7), entropy_diversity(other, l=1.7))
    same(recursive_diversity(one, c=1, l=2), recursive_diversity(other, c=1, l=2))
    same(alpha_anonymity(one, alpha=0.5, k=2), alpha_anonymity(other, alpha=0.5, k=2))
    same(t_closeness(one, t=0.31), t_closeness(other, t=0.31))


@SOME
@given(question=questions(values=("1", "2", "10", "-3.5", None)), data=st.data())
def test_ordered_closeness_for_names_that_keep_their_order(question: Question, data: st.DataObject) -> None:
    how = drawn(data, question.small)
    kept = {cell: cell for (cell,) in question.small.project([question.sensitive])}
    again = asked_again(question, replace(how, texts={**how.texts, question.sensitive: kept}))
    one, other = (t_closeness(each.classes, t=0.31, distance=Distance.ORDERED) for each in (question, again))
    same(one, other)


@SOME
@given(question=questions(max_columns=3), data=st.data())
def test_hierarchical_closeness(question: Question, data: st.DataObject) -> None:
    column = Small(names=(question.sensitive,), rows=tuple(question.small.project([question.sensitive])))
    (ladder,) = data.draw(ladders_for(column))
    how = drawn(data, question.small, ladders=[ladder], gap_is_a_name=False)
    again = asked_again(question, how)
    moved = how.ladder(ladder, question.small, again.small)
    same(
        t_closeness(question.classes, t=0.31, distance=Distance.HIERARCHICAL, ladder=ladder),
        t_closeness(again.classes, t=0.31, distance=Distance.HIERARCHICAL, ladder=moved),
    )


def released_again(released: Released, how: Renaming) -> Released:
    small = how.small(released.small)
    by_name = {ladder.column: ladder for ladder in released.ladders}
    published = [released.published[n] for n in how.rows]
    return Released(
        small=small,
        ladders=tuple(how.ladder(by_name[name], released.small, small) for name in how.order),
        published=tuple(None if row is None else how.row(released.small.names, row) for row in published),
        units=tuple(released.units[n] for n in how.rows),
    )


@SOME
@given(released=releases(), data=st.data(), paired=st.booleans())
def test_the_four_k(released: Released, data: st.DataObject, paired: bool) -> None:
    again = released_again(released, drawn(data, released.small, ladders=released.ladders, gap_is_a_name=False))
    unit = paired and data.draw(st.booleans())
    one, other = (four_k(each.compared(paired=paired, unit=unit), k=2) for each in (released, again))
    assert one == other


@SOME
@given(released=releases(), data=st.data(), paired=st.booleans())
def test_utility(released: Released, data: st.DataObject, paired: bool) -> None:
    how = drawn(data, released.small, ladders=released.ladders, gap_is_a_name=False)
    again = released_again(released, how)
    unit = paired and data.draw(st.booleans())
    weights = {name: 1 / (1 + at) for at, name in enumerate(released.small.names)}
    one = utility(released.compared(paired=paired, unit=unit), weights, k=2)
    heavy = {how.columns[name]: weight for name, weight in weights.items()}
    other = utility(again.compared(paired=paired, unit=unit), heavy, k=2)
    assert figures(asdict(other)) == pytest.approx(figures(asdict(one), how.columns), abs=1e-9)


def figures(tree: dict[str, Any], names: Mapping[str, str] | None = None) -> dict[tuple[str, ...], Any]:
    """All figures by their path, with the columns called as they are now."""
    found: dict[tuple[str, ...], Any] = {}
    for key, value in tree.items():
        path = (names or {}).get(key, key)
        if isinstance(value, dict):
            found |= {(path, *rest): leaf for rest, leaf in figures(value, names).items()}
        else:
            found[(path,)] = value
    return found
