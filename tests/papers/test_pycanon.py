"""k, l, t and alpha against pycanon 1.3.6 where it follows the definitions, and against brute force where it does not.

It does not:

- with a gap in a quasi-identifier, whose rows pandas' ``groupby`` drops: k, l and t are those of fewer rows;
- for entropy l-diversity, cut to a whole number after rounding, so that three equally frequent values may have l=2;
- for recursive (c,l)-diversity, where it sorts counts from the *smallest*: r_1 is then the rarest value, and a class
  with one dominant value looks good. c is also rounded up.

Its t-closeness is the ordered distance for columns of numbers and the equal distance for all others.
"""

from __future__ import annotations

from collections import Counter
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from anon_core.frequency import FrequencyTable
from anon_core.measures.classes import SensitiveClasses, sensitive_classes
from anon_core.measures.diversity.closeness import t_closeness
from anon_core.measures.diversity.diversity import (
    alpha_anonymity,
    distinct_diversity,
    entropy_diversity,
    recursive_diversity,
)
from anon_core.measures.linkage.four_ks import k_anonymity
from anon_core.policy import Distance
from anon_core.table import Table, read
from tests.properties.tables import Row, table_of

pycanon: Any = pytest.importorskip("pycanon.anonymity", reason="make test installs it")
pandas: Any = pytest.importorskip("pandas")
pytestmark = pytest.mark.filterwarnings("ignore::Warning:pycanon")

# pycanon needs seconds where there are many classes and many values: these are chosen to be done in ten.
ADULT = [
    (["sex"], "salary-class"),
    (["sex"], "native-country"),
    (["race", "sex"], "workclass"),
    (["race", "sex"], "age"),
    (["education"], "occupation"),
    (["sex", "race", "marital-status"], "salary-class"),
    (["age"], "salary-class"),
]


def frame(table: Table) -> Any:
    """The same rows as pandas has them."""
    columns = {column.name: column.domain.to_pylist() for column in table.columns}
    return pandas.DataFrame(
        {column.name: [columns[column.name][code] for code in column.codes] for column in table.columns}
    )


def counted(rows: Any, quasi: list[str], sensitive: str) -> list[Counter[Any]]:
    """The counts of the sensitive values of every class, by plain counting."""
    found: dict[Row, Counter[Any]] = {}
    for row in rows[[*quasi, sensitive]].itertuples(index=False):
        found.setdefault(tuple(row[:-1]), Counter())[row[-1]] += 1
    return list(found.values())


def perplexity(counts: Counter[Any]) -> float:
    return exp(-sum(n / counts.total() * log(n / counts.total()) for n in counts.values()))


def agrees(table: Table, rows: Any, quasi: list[str], sensitive: str) -> None:
    frequencies = FrequencyTable.of(table, [*quasi, sensitive])
    classes = sensitive_classes(frequencies, quasi, sensitive)
    alpha = alpha_anonymity(classes, alpha=0.5)
    assert pycanon.alpha_k_anonymity(rows, quasi, [sensitive]) == (alpha.observed, alpha.k)
    assert pycanon.k_anonymity(rows, quasi) == k_anonymity(frequencies, quasi).k == alpha.k
    assert pycanon.l_diversity(rows, quasi, [sensitive]) == distinct_diversity(classes, l=2).observed
    by_hand = counted(rows, quasi, sensitive)
    entropy = entropy_diversity(classes, l=2).observed
    assert entropy == pytest.approx(min(map(perplexity, by_hand)))
    if entropy != int(entropy):
        assert pycanon.entropy_l_diversity(rows, quasi, [sensitive]) == int(entropy)
    numeric = pandas.api.types.is_numeric_dtype(rows[sensitive])
    distance = Distance.ORDERED if numeric else Distance.EQUAL
    if len(np.unique(rows[sensitive])) > 1:
        assert pycanon.t_closeness(rows, quasi, [sensitive]) == pytest.approx(
            t_closeness(classes, t=0.1, distance=distance).observed, abs=1e-12
        )


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> Table:
    return read(reference_data / "adult_arx" / "adult.csv")


@pytest.mark.reference
@pytest.mark.parametrize(("quasi", "sensitive"), ADULT, ids=str)
def test_adult_has_the_k_l_t_and_alpha_that_pycanon_finds(quasi: list[str], sensitive: str, adult: Table) -> None:
    rows = frame(adult)
    agrees(adult, rows.astype({"age": int}) if sensitive == "age" else rows, quasi, sensitive)


@pytest.mark.parametrize("seed", range(25))
def test_small_tables_without_gaps_have_what_pycanon_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = [tuple(map(str, rng.integers(0, (3, 2, 5)))) for _ in range(int(rng.integers(1, 40)))]
    table = table_of(["p", "q", "s"], rows)
    agrees(table, frame(table), ["p", "q"], "s")
    agrees(table, frame(table).astype({"s": int}), ["p"], "s")


def classes_of(rows: list[Row]) -> SensitiveClasses:
    return sensitive_classes(FrequencyTable.of(table_of(["q", "s"], rows)), ["q"], "s")


def test_rows_with_a_gap_count_where_pycanon_drops_them() -> None:
    rows: list[Row] = [("x", "a"), ("x", "b"), ("x", "c"), (None, "a")]
    table = table_of(["q", "s"], rows)
    assert pycanon.k_anonymity(frame(table), ["q"]) == 3
    assert pycanon.l_diversity(frame(table), ["q"], ["s"]) == 3
    assert k_anonymity(FrequencyTable.of(table), ["q"]).k == 1
    assert distinct_diversity(classes_of(rows), l=2).observed == 1


def test_equally_frequent_values_keep_their_number_where_pycanon_cuts_it() -> None:
    cut = []
    for values in range(2, 30):
        rows: list[Row] = [("x", f"{n:02}") for n in range(values)]
        assert entropy_diversity(classes_of(rows), l=values).observed == values
        cut.append(pycanon.entropy_l_diversity(frame(table_of(["q", "s"], rows)), ["q"], ["s"]) < values)
    assert any(cut)


def test_recursive_diversity_starts_from_the_most_frequent_value_where_pycanon_takes_the_rarest() -> None:
    rows: list[Row] = [("x", "a")] * 97 + [("x", "b"), ("x", "c"), ("x", "d")]
    found = recursive_diversity(classes_of(rows), c=2, l=3)
    # By definition 97 < c * (1 + 1) asks for a c above 48.5; pycanon says (1, 4) for this table.
    assert found.observed == 97 / 2
    assert not found.holds
    assert pycanon.recursive_c_l_diversity(frame(table_of(["q", "s"], rows)), ["q"], ["s"]) == (1, 4)
    counts = sorted(Counter(value for _, value in rows).values(), reverse=True)
    assert not counts[0] < 1 * sum(counts[3:])
    assert not recursive_diversity(classes_of(rows), c=1, l=4).holds


def above_all(counts: list[list[int]], least: int) -> int:
    """The whole number above the ratio of every class, counts taken in the order in which they come."""
    return max(each[0] // sum(each[least - 1 :]) + 1 for each in counts)


@pytest.mark.parametrize("seed", range(10))
def test_recursive_diversity_is_pycanons_with_counts_turned_round(seed: int) -> None:
    """pycanon's c is its rule on counts from the smallest; from the largest, the rule gives the c that ours needs."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = [(str(rng.integers(0, 2)), str(rng.integers(0, 4))) for _ in range(60)]
    by_hand = [sorted(counts.values()) for counts in counted(frame(table_of(["q", "s"], rows)), ["q"], "s")]
    least = min(map(len, by_hand))
    theirs = pycanon.recursive_c_l_diversity(frame(table_of(["q", "s"], rows)), ["q"], ["s"])
    assert theirs == (above_all(by_hand, least), least)
    turned = [each[::-1] for each in by_hand]
    found = recursive_diversity(classes_of(rows), c=above_all(turned, least), l=least)
    assert found.holds
    assert found.observed == max(each[0] / sum(each[least - 1 :]) for each in turned)
    assert not recursive_diversity(classes_of(rows), c=found.observed, l=least).holds
