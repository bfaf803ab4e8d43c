"""The four k's of the paper's own recodings on real tables, against counting by hand."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from anon_core.comparison import Comparison
from anon_core.frequency import FrequencyTable
from anon_core.measures.linkage.four_ks import four_k
from anon_core.plan import RecodingPlan
from anon_core.table import Table
from tests.papers.test_pastore import QUASI, complete, ladders, licences

__all__ = ["complete", "licences"]  # fixtures of pastore2020

pytestmark = pytest.mark.reference


def locally_recoded(complete: Table) -> RecodingPlan:
    """M_loc of pastore2020: the municipality of rows that stand alone becomes its province."""
    frequencies = FrequencyTable.of(complete, QUASI)
    levels = np.zeros((3, frequencies.tuples), np.int8)
    levels[2, frequencies.weights == 1] = 1
    return RecodingPlan(
        frequencies=frequencies,
        ladders=tuple(ladders(complete)),
        levels=levels,
        removed=np.zeros(frequencies.tuples, np.bool_),
    )


def test_local_recoding_of_singletons_hides_less_than_it_seems(complete: Table) -> None:
    """Municipality and province cover by year and sex: link and source can be counted with a dictionary each."""
    comparison = Comparison.of_plan(locally_recoded(complete))
    rows = complete.select([*QUASI, "provincia_residenza"]).to_arrow().to_pylist()
    towns = Counter((row["anno_nascita"], row["sesso"], row["comune_residenza"]) for row in rows)
    kept: Counter[tuple[str, str, str]] = Counter()
    lifted: Counter[tuple[str, str, str]] = Counter()
    people: Counter[tuple[str, str, str]] = Counter()
    for row in rows:
        town = (row["anno_nascita"], row["sesso"], row["comune_residenza"])
        province = (row["anno_nascita"], row["sesso"], row["provincia_residenza"])
        people[province] += 1
        (lifted if towns[town] == 1 else kept)[province if towns[town] == 1 else town] += 1
    below = Counter[str]()
    smallest = Counter(dict.fromkeys(("exact", "link", "source"), len(rows)))
    for row in rows:
        town = (row["anno_nascita"], row["sesso"], row["comune_residenza"])
        province = (row["anno_nascita"], row["sesso"], row["provincia_residenza"])
        alone = towns[town] == 1
        counts = {
            "exact": lifted[province] if alone else kept[town],
            "link": kept[town] + lifted[province],
            "source": people[province] if alone else towns[town],
        }
        for name, count in counts.items():
            below[name] += count < 5
            smallest[name] = min(smallest[name], count)
    for measured in (four_k(comparison, k=5), four_k(replace(comparison, pairs=None), k=5)):
        assert measured.rows_below == {**below, "concealment": measured.rows_below["concealment"]}
        assert {name: getattr(measured, name) for name in smallest} == smallest
        # Nobody is hidden among rows of two kinds here: a town names its own people, and only them.
        assert measured.rows_below["concealment"] == below["exact"]
    assert below == {"exact": 8_276, "link": 102, "source": 8_225}
