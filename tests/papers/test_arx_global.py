"""Global recoding of Adult, against what ARX reaches with its hierarchies and non-uniform entropy (BASELINE.md)."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.policy import LDiversityEntry, Policy, TClosenessEntry
from anon_core.recoding.compliance import shortfalls
from anon_core.recoding.methods import recode
from anon_core.spec import Recode, UtilityMeasure
from anon_core.table import Table
from tests.papers.adult import read_adult, task_of
from tests.parameters import parameters

pytestmark = pytest.mark.reference

NUE = Recode(method="global", utility=UtilityMeasure.NUE)

# Share of the rows that may be removed, k, and the NUE that ARX reaches.
ARX = [
    (0.0, 2, 0.3204),
    (0.0, 5, 0.2705),
    (0.0, 10, 0.2351),
    (0.02, 2, 0.5820),
    (0.02, 5, 0.4885),
    (0.02, 10, 0.4397),
    (1.0, 2, 0.6427),
    (1.0, 5, 0.5525),
    (1.0, 10, 0.4990),
]


@pytest.fixture(scope="module")
def adult(reference_data: Path) -> Table:
    return read_adult(reference_data)


@pytest.mark.parametrize("reached", parameters(ARX, always=[ARX[1]]), ids=str)
def test_the_entropy_that_arx_reaches_is_reached(
    adult: Table, reference_data: Path, reached: tuple[float, int, float]
) -> None:
    limit, k, entropy = reached
    policy = Policy(k=k, suppression_limit=limit)
    task = task_of(adult, reference_data, policy, NUE)
    recoding = recode(task)
    assert recoding.optimal is True
    assert recoding.candidates[0].nue == pytest.approx(entropy, abs=0.00005)
    assert shortfalls(task, recoding.plan) == []


def test_diversity_is_reached_together_with_k(adult: Table, reference_data: Path) -> None:
    quasi = tuple(name for name in adult.names if name != "occupation")
    diverse = LDiversityEntry(column="occupation", l=3)
    close = TClosenessEntry(column="occupation", t=0.4)
    found = []
    for policy in (
        Policy(k=5, suppression_limit=0.02),
        Policy(k=5, suppression_limit=0.02, l_diversity=(diverse,)),
        Policy(k=5, suppression_limit=0.02, l_diversity=(diverse,), t_closeness=(close,)),
    ):
        task = task_of(adult, reference_data, policy, NUE, quasi=quasi)
        recoding = recode(task)
        assert shortfalls(task, recoding.plan) == []
        found.append(recoding.candidates[0].nue or 0.0)
    assert found == sorted(found, reverse=True)
    assert found[0] > found[2]
