"""Perfect matchings of tuples with weights against exhaustive search over rows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.measures.linkage.covering import Covering
from anon_core.measures.linkage.matching import hidden_among, perfect_matching
from tests.properties.test_linkage import matchable


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Who covers whom, with how many rows each; of one pattern at most one tuple covers an original."""

    before: list[int]
    after: list[int]
    edges: Covering


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    before = draw(st.lists(st.integers(1, 2), min_size=1, max_size=5))
    found: list[tuple[int, int, int]] = []
    after: list[int] = []
    for pattern in range(draw(st.integers(1, 4))):
        here = draw(st.integers(1, 2))
        chosen = draw(st.lists(st.integers(-1, here - 1), min_size=len(before), max_size=len(before)))
        found += [(pattern, len(after) + tuple_, i) for i, tuple_ in enumerate(chosen) if tuple_ >= 0]
        after += draw(st.lists(st.integers(1, 2), min_size=here, max_size=here))
    found.sort()
    pattern_of, after_of, before_of = (np.array(column, np.int64) for column in zip(*found or [(0, 0, 0)], strict=True))
    some = slice(0, len(found))
    return Graph(
        before=before,
        after=after,
        edges=Covering(
            before=before_of[some], after=after_of[some], starts=np.flatnonzero(np.diff(pattern_of[some], prepend=-1))
        ),
    )


def as_rows(graph: Graph) -> tuple[list[list[bool]], list[int], list[int]]:
    """The same with every tuple written out as so many rows."""
    d_rows = [i for i, rows in enumerate(graph.before) for _ in range(rows)]
    r_rows = [j for j, rows in enumerate(graph.after) for _ in range(rows)]
    pairs = set(zip(graph.edges.before.tolist(), graph.edges.after.tolist(), strict=True))
    return [[(i, j) in pairs for i in d_rows] for j in r_rows], d_rows, r_rows


@settings(deadline=None, max_examples=400)
@given(graphs())
def test_a_matching_is_found_exactly_where_there_is_one_and_so_are_all_pairs_of_all_matchings(graph: Graph) -> None:
    covered, d_rows, r_rows = as_rows(graph)
    possible = matchable(covered, len(d_rows))
    before, after = np.array(graph.before), np.array(graph.after)
    matched = perfect_matching(graph.edges, before, after)
    assert (matched is None) == (possible is None)
    if matched is None or possible is None:
        return
    assert (matched >= 0).all()
    used, filled = Counter[int](), Counter[int]()
    for i, j, rows in zip(graph.edges.before.tolist(), graph.edges.after.tolist(), matched.tolist(), strict=True):
        used[i] += rows
        filled[j] += rows
    assert [filled[j] for j in range(len(after))] == graph.after
    removed = before - np.array([used[i] for i in range(len(before))])
    assert (removed >= 0).all()
    hidden = hidden_among(graph.edges, matched, len(before), len(after), removed=removed)
    expected = {(d_rows[i], r_rows[j]) for i, j in possible}
    pairs = zip(graph.edges.before.tolist(), graph.edges.after.tolist(), hidden.tolist(), strict=True)
    assert {(i, j) for i, j, inside in pairs if inside} == expected


def test_what_was_taken_too_early_is_given_back() -> None:
    """The first pattern, which covers fewer rows on average, takes the only original that tuple 1 can have."""
    edges = Covering(
        before=np.array([0, 1, 0, 2, 3, 4, 5]),
        after=np.array([0, 0, 1, 2, 2, 2, 2]),
        starts=np.array([0, 2]),
    )
    matched = perfect_matching(edges, np.ones(6, np.int64), np.array([1, 1, 4]))
    assert matched is not None
    assert matched.tolist() == [0, 1, 1, 1, 1, 1, 1]
