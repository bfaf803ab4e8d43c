"""How much information recoding by people keeps, beside an exact search that tries every way, on many small tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings

from anon_core.engines.arrow import ArrowEngine
from anon_core.errors import PolicyNotMetError
from anon_core.hierarchy.ladder import climb
from anon_core.measures.utility.cells import RecodedCells
from anon_core.measures.utility.entropy import entropy
from anon_core.policy import Policy
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Task
from anon_core.spec import Recode
from tests.properties.people import Crowded, crowded, rows_of
from tests.properties.slow_search import Slow, most_information
from tests.properties.tables import table_of

TABLES = 150
MOST_LOST = 0.05
"""Of the information that an exact search keeps, and so of each table."""


def drawn(number: int) -> tuple[Task, Slow] | None:
    """One table of at most seven distinct tuples, whose people have 1 to 6 rows each, near one another or anywhere."""
    random = np.random.default_rng(number)
    values = [f"{first}{second}" for first in "ab" for second in "12"]
    tuples = [tuple(random.choice(values, 2).tolist()) for _ in range(7)]
    persons: list[str] = []
    rows: list[tuple[str, ...]] = []
    for person in range(int(random.integers(4, 13))):
        own = random.choice(7, size=int(random.integers(1, 4)))
        for _ in range(int(random.integers(1, 7))):
            rows.append(tuples[int(random.choice(own))])
            persons.append(f"{person:02}")
    cells = [(*row, person) for row, person in zip(rows, persons, strict=True)]
    table = table_of(["p", "q", "person"], cells)
    ladders = tuple(
        climb(c.name, c.domain, {v: [v[0]] for v in c.domain.to_pylist()}, ["letter", "root"])
        for c in table.columns[:2]
    )
    k, limit = int(random.integers(2, 5)), float(random.choice([0.0, 0.1, 0.2]))
    engine = ArrowEngine(table=table, unit="person")
    weights = {"p": 1.0, "q": 0.5}
    task = Task.of(
        engine.count(["p", "q"]),
        ladders,
        Policy(k=k, suppression_limit=limit),
        weights=weights,
        settings=Recode(method="best"),
        people=engine.people(["p", "q"]),
    )
    if task.people is None:
        return None
    names = [domain.to_pylist() for domain in task.frequencies.domains]
    codes = zip(*(codes.tolist() for codes in task.frequencies.codes), strict=True)
    known = [tuple(names[i][code] for i, code in enumerate(own)) for own in codes]
    behind = tuple(tuple(person for row, person in zip(rows, persons, strict=True) if row == one) for one in known)
    return task, Slow(
        frequencies=task.frequencies, ladders=ladders, behind=behind, weights=weights, k=k, allowed=task.allowed
    )


@pytest.mark.thorough
def test_recoding_by_people_keeps_what_an_exact_search_keeps() -> None:
    shares = []
    for number in range(TABLES):
        pair = drawn(number)
        best = None if pair is None else most_information(pair[1])
        if pair is None or best is None:
            continue
        left = entropy(
            RecodedCells.by(recode(pair[0]).plan), pair[0].by_name
        ).weighted  # Refuses none that can be safe.
        assert left <= best + 1e-9, "the search that tries everything must be the better one"
        assert left >= (1 - MOST_LOST) * best - 1e-9, f"table {number}: {left:.4f} of {best:.4f} that can be kept"
        shares.append(1.0 if best < 1e-9 else left / best)
    figures = f"{len(shares)} tables, {1 - np.mean(shares):.4f} lost on average, {1 - np.min(shares):.4f} at most, "
    figures += f"{np.mean(np.array(shares) > 1 - 1e-9):.0%} as good as exact"
    print(figures)
    assert len(shares) > TABLES / 2, figures
    assert np.mean(np.array(shares) > 1 - 1e-9) > 0.95, figures


@settings(max_examples=60, deadline=None)
@given(problem=crowded(max_rows=18))
def test_every_table_of_a_few_tuples_that_can_be_made_safe_is_and_loses_least(problem: Crowded) -> None:
    task = replace(problem.task, settings=Recode(method="prioritised", improve=0, nue_weight=0.0))
    if task.people is None or len(task.frequencies.weights) > 6:
        return
    behind = tuple(
        tuple(person for row, person in zip(problem.small.rows, problem.persons, strict=True) if row == one)
        for one in rows_of(task.frequencies)
    )
    best = most_information(
        Slow(
            frequencies=task.frequencies,
            ladders=task.ladders,
            behind=behind,
            weights=task.by_name,
            k=task.k,
            allowed=task.allowed,
        )
    )
    try:
        left = entropy(RecodedCells.by(recode(task).plan), task.by_name).weighted
    except PolicyNotMetError:
        assert best is None
    else:
        assert best is not None and left == pytest.approx(best, abs=1e-9)
