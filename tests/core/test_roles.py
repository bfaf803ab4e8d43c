"""Figures of a column, and the role that is proposed from them with its reason."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.detect.roles import propose
from anon_core.score.profile import ColumnProfile, profile, type_of
from tests.properties.tables import Cell, table_of


def figures(name: str, cells: list[Cell]) -> ColumnProfile:
    return profile(table_of([name], [(cell,) for cell in cells]).column(name))


def role(name: str, cells: list[Cell]) -> str:
    return propose(figures(name, cells), len(cells)).role


@settings(max_examples=80, deadline=None)
@given(cells=st.lists(st.sampled_from(["a", "b", "c", "1", None]), min_size=1, max_size=20))
def test_the_figures_of_a_column_are_those_of_its_cells(cells: list[Cell]) -> None:
    times = Counter(cells)
    found = figures("c", cells)
    assert found.distinct == len(times.keys() - {None})
    assert found.missing == times[None]
    assert found.unique_share == sum(n == 1 for n in times.values()) / len(cells)
    shares = [n / len(cells) for n in times.values()]
    assert found.entropy == pytest.approx(-sum(share * math.log2(share) for share in shares), abs=1e-9)


def test_a_column_without_rows_has_figures_too() -> None:
    empty = table_of(["c"], [("x",)]).keep(np.array([False])).column("c")
    assert profile(empty) == ColumnProfile(name="c", type="empty", distinct=0, missing=0, entropy=0, unique_share=0)


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        (["1", "-2", "+30", "007"], "integer"),
        (["1", "2.5", ".5", "1e-3"], "decimal"),
        (["2019-05-15", "1900-01-01"], "date"),
        (["2019-05-15 00:00:00", "2019-05-15T10:00Z"], "timestamp"),
        (["true", "False"], "boolean"),
        (["1", "x"], "text"),
        (["2019-05-15", "unknown"], "text"),
        ([None], "empty"),
    ],
)
def test_a_type_is_what_every_value_looks_like(values: list[Cell], kind: str) -> None:
    assert type_of(pa.array(values, pa.string())) == kind


@pytest.mark.parametrize(
    ("name", "proposed"),
    [
        ("id", "identifier"),
        ("Codice Fiscale", "identifier"),
        ("e-mail", "identifier"),
        ("owner_name", "identifier"),
        ("anno_nascita", "quasi"),
        ("Birth Year", "quasi"),
        ("comune_residenza", "quasi"),
        ("sesso", "quasi"),
        ("zip", "quasi"),
        ("punti_patente", "sensitive"),
        ("categoria_patente", "sensitive"),
        ("Disease", "sensitive"),
        # A word inside another word says nothing.
        ("height", "quasi"),
        ("wide", "quasi"),
    ],
)
def test_a_name_says_what_a_column_is(name: str, proposed: str) -> None:
    found = propose(figures(name, ["x", "x", "y", "y"]), 4)
    assert found.role == proposed
    assert found.reason


def test_without_a_telling_name_the_figures_decide_and_in_doubt_it_is_quasi() -> None:
    assert role("c", [str(n) for n in range(100)]) == "identifier"
    assert role("c", [f"{n}.5" for n in range(100)]) == "identifier"
    assert role("reddito", [str(n) for n in range(100)]) == "identifier", "though its name says sensitive"
    assert role("data_nascita", [str(n) for n in range(100)]) == "quasi", "a telling name is a better witness"
    assert role("c", ["x"] * 100) == "other"
    assert role("c", ["x"] * 99 + [None]) == "quasi", "one value or none is two"
    assert role("c", [None] * 100) == "drop"
    assert role("c", ["x", "y"] * 50) == "quasi"
    assert role("c", ["x"]) == "other", "of a single row everything is unique"


def test_a_reason_gives_figures_and_no_value() -> None:
    found = propose(figures("c", [f"CANARY-{n}" for n in range(100)]), 100)
    assert found.reason == "100.0% of its values occur once"
