"""Restored values as recoding measures them of its own result, from the plan."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from typing import Any

import numpy as np
import pytest

from anon_core.engines.arrow import ArrowEngine
from anon_core.hierarchy.ladder import climb
from anon_core.models import PolicyContext, Subject, required
from anon_core.models.restored_values import RestoredValues
from anon_core.plan import RecodingPlan
from anon_core.policy import PartialPolicy
from anon_core.recoding.pairing import pairing_of_plan
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import judge_recoding
from anon_core.report.recoding import RecodedPublication, recode_publication
from anon_core.spec import PartialPublication
from tests.properties.tables import table_of

TOWNS = 12
NAMES = ("town", "sex", "code", "illness")
ACCEPTED = {"columns": ["code"], "reason": "printed in a public list", "by": "A. Rossi", "until": "2999-12-31"}
"""Else a column declared other counts in every class, and recoding does not get as far."""


def recoded(code: str, role: str = "sensitive", **privacy: Any) -> RecodedPublication:
    """People of twelve towns, each too small for k alone, beside a column that knows the towns, or does not."""
    draw = np.random.default_rng(5)
    rows = []
    for number in range(240):
        town = number % TOWNS
        column = {"of the town": f"0{town:03}9", "free": str(draw.integers(0, 40)), "of the province": str(town // 4)}
        rows.append((f"Canary{town}", "FM"[int(draw.integers(0, 2))], column[code], str(draw.integers(0, 5))))
    spec = PartialPublication.model_validate(
        {
            "columns": {
                "town": {"role": "quasi", "hierarchy": {"prefix": [6]}},
                "sex": {"role": "quasi"},
                "code": {"role": role},
                "illness": {"role": "sensitive"},
            },
            "privacy": {"k": 25, "published_uniqueness": {"accept": [ACCEPTED] if role == "other" else []}, **privacy},
            "recode": {"method": "global"},
        }
    )
    return recode_publication(spec, ArrowEngine(table=table_of(NAMES, rows)))


@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_a_towns_code_beside_its_recoded_name_is_refused(role: str) -> None:
    found = recoded("of the town", role).restored
    assert found is not None and not found.passed and found.observed == 240 and found.required == 0
    assert "240 generalised cells restored, 0 allowed: town of 240 rows by code" in found.sentence
    assert "Canary" not in json.dumps([found.sentence, dict(found.counts)])


@pytest.mark.parametrize("code", ["free", "of the province"])
def test_a_column_that_does_not_tell_the_town_is_not(code: str) -> None:
    found = recoded(code).restored
    assert found is not None and found.passed and found.observed == 0


def test_as_many_cells_as_a_policy_allows_may_be_restored() -> None:
    assert recoded("of the town", max_restored=240).restored.passed  # type: ignore[union-attr]
    assert not recoded("of the town", max_restored=239).restored.passed  # type: ignore[union-attr]


def test_the_judgement_of_a_recoding_has_it_and_no_other_has() -> None:
    done = recoded("of the town")
    judged = judge_recoding(done, Criteria.of(done.publication), today=date(2026, 1, 1))
    assert [one.passed for one in judged.checks if one.name == "restored_values"] == [False]
    context = PolicyContext(
        policy=PartialPolicy(k=2),
        quasi_identifiers=("town",),
        k=2,
        today=date(2026, 1, 1),
        publication=done.publication,
    )
    assert "restored_values" not in {one.name for one in required(context)}


def test_people_are_counted_where_a_unit_tells_them_apart() -> None:
    rows = [(f"t{person % 4}", f"c{person % 4}", f"p{person}") for person in range(200)] * 2
    engine = ArrowEngine(table=table_of(("town", "code", "who"), rows))
    towns = engine.column("town").domain
    ladder = climb("town", towns, {value: [] for value in towns.to_pylist()}, ["root"])
    plan = RecodingPlan.unchanged(engine.count(["town"]), [ladder])
    plan = replace(plan, levels=plan.levels + 1)
    pairing = pairing_of_plan(plan, ArrowEngine(table=engine.table, unit="who"), ("town", "code"))
    model = RestoredValues(columns=("town",), limit=0)
    assert model.measured(Subject(names=("town", "code"), rows=engine.count, paired=pairing)).observed == 200


def test_without_a_pairing_nothing_is_measured_and_nothing_has_passed() -> None:
    found = RestoredValues(columns=("town",), limit=0).measured(Subject(names=(), rows=lambda _: pytest.fail("no")))
    assert not found.passed and not found.measured


def test_removed_rows_are_nobodys_others() -> None:
    done = recoded("of the town", suppression_limit=1.0)
    counted = done.restored
    assert counted is not None and counted.counts["hidden"] <= done.released.rows
