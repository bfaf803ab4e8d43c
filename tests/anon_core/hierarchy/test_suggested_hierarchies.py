"""First hierarchies: they fit the values, cover them all, and load."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.suggest import suggested
from anon_core.measures.profile import type_of
from anon_core.spec import Hierarchy
from anon_core.table import Column
from tests.properties.tables import Cell, table_of


def column_of(cells: list[Cell]) -> Column:
    return table_of(["c"], [(cell,) for cell in cells]).column("c")


def hierarchy(cells: list[Cell], kind: str | None = None) -> Hierarchy:
    column = column_of(cells)
    return suggested(column, kind=kind, type_of_values=type_of(column.domain))


@pytest.mark.parametrize(
    ("cells", "kind", "wanted"),
    [
        ([str(n) for n in range(17, 91)], "age", {"intervals": (5, 10, 20)}),
        ([str(n) for n in range(1920, 2010)], "year of birth", {"intervals": (5, 10, 20)}),
        ([str(n) for n in range(1920, 2010)], "date of birth", {"intervals": (5, 10, 20)}),
        ([str(n) for n in range(0, 100_000, 100)], None, {"intervals": (10000, 50000)}),
        ([str(n) for n in range(0, 1_200_000, 1000)], None, {"intervals": (100_000, 500_000, 1_000_000)}),
        ([f"{n / 1000}" for n in range(1500)], None, {"intervals": (0.1, 0.5, 1)}),
        ([f"{n / 10**8:.8f}" for n in range(1500)], None, {"intervals": (1e-6, 5e-6, 1e-5)}),
        (["0"] * 990 + [str(n) for n in range(0, 100_000, 10_000)], None, {"intervals": (10_000, 50_000)}),
        (["1", "2", "3", "4"], None, {"root": "*"}),
        ([str(n) for n in range(10)], None, {"intervals": (2,)}),
        (["7"] * 5, None, {"root": "*"}),
        (["45.7372", "45.7401", "45.7403"], "coordinate", {"intervals": (0.01, 0.1, 1)}),
        (["45.7372, 7.3205"], "coordinate", {"root": "*"}),
        (["01069", "80331"], "postcode", {"prefix": (4, 3, 2, 1)}),
        (["01069", "80331"], None, {"prefix": (4, 3, 2, 1)}),
        (["1010", "8010"], "postcode", {"prefix": (3, 2, 1)}),
        (["1010", None, None, None], "postcode", {"prefix": (3, 2, 1)}),
        (["SW1A 1AA", "EC1A 1BB"], "postcode", {"prefix": (4, 3, 2, 1)}),
        (["1", "2"], "postcode", {"root": "*"}),
        (["1957-04-12", "2001-12-31"], "date of birth", {"date": ("month", "year", "decade")}),
        (["2019-04-12 10:00", "2020-12-31T00:00:00Z"], "date of an event", {"date": ("month", "quarter", "year")}),
        (["1950-04-12", "2020-12-31"], None, {"date": ("month", "year", "decade")}),
        (["19570412", "20011231"], "date of birth", {"prefix": (6, 4, 3)}),
        (["12.04.1957", "31.12.2001"], "date of birth", {"date": ("month", "year", "decade")}),
        (["12/04/2018", "31/12/2019"], None, {"date": ("month", "quarter", "year")}),
        (["12/04/1957", "11/12/2001"], "date of birth", {"root": "*"}),
        (["12.04.1957", "30.02.2001"], "date of birth", {"root": "*"}),
        ([f"{n / 1000}".replace(".", ",") for n in range(1500)], None, {"intervals": (0.1, 0.5, 1)}),
        ([f"{n},{n}00" for n in range(1, 9)], None, {"root": "*"}),
        (["45,7372", "45,7401", "45,7403"], "coordinate", {"intervals": (0.01, 0.1, 1)}),
        (["2019-02-30", "2019-02-28"], None, {"root": "*"}),
        (["0000-01-01"], None, {"root": "*"}),
        (["1e400", "1", "2", "3", "4", "5", "6"], None, {"root": "*"}),
        (["1e999999999", "1", "2", "3", "4", "5", "6"], None, {"root": "*"}),
        (["9" * 400, "1", "2", "3", "4", "5", "6"], None, {"root": "*"}),
        (["red", "green"], None, {"root": "*"}),
        ([None], None, {"root": "*"}),
    ],
)  # fmt: skip
def test_a_hierarchy_fits_what_the_column_is(cells: list[Cell], kind: str | None, wanted: dict[str, object]) -> None:
    found = hierarchy(cells, kind)
    assert {
        key: value for key, value in found.model_dump().items() if value is not None and key != "unmapped"
    } == wanted


DAYS = [f"{1 + n % 28:02}/{1 + n % 12:02}/{1930 + n % 80}" for n in range(190)]
AMOUNTS = [f"{n},{n % 100:02}" for n in range(190)]


@pytest.mark.parametrize(
    ("cells", "kind", "wanted"),
    [
        ([*DAYS, *["1970"] * 10], "date of birth", {"date": ("month", "year", "decade")}),
        ([*DAYS, "30/02/1970", "1970-01-01", None, None], None, {"date": ("month", "year", "decade")}),
        ([f"20{n % 5 + 10}-01-{n % 28 + 1:02}" for n in range(100)] + ["2010-02-30"], None,
         {"date": ("month", "quarter", "year")}),
        ([*AMOUNTS, "n.a."], None, {"intervals": (20, 100)}),
        ([*(str(n) for n in range(18, 90)), "?"], "age", {"intervals": (5, 10, 20)}),
        ([*(str(n) for n in range(18, 90)), " 18 ", "1_000"], "age", {"intervals": (5, 10, 20)}),
    ],
)  # fmt: skip
def test_a_few_values_of_another_form_are_suppressed(
    cells: list[Cell], kind: str | None, wanted: dict[str, object]
) -> None:
    found = hierarchy(cells, kind)
    assert found.unmapped == "suppress"
    assert {key: value for key, value in found.model_dump().items() if value is not None} == {
        **wanted, "unmapped": "suppress",
    }  # fmt: skip
    column = column_of(cells)
    unmapped = ladder(column, found, Path()).unmapped[column.codes]
    assert unmapped.sum() <= 0.05 * sum(cell is not None for cell in cells)


def test_more_than_a_twentieth_of_another_form_leaves_the_root_only() -> None:
    assert hierarchy([*DAYS, *["1970"] * 11]).root == "*"


def test_codes_with_a_few_others_among_them_lose_their_last_characters_and_none_is_suppressed() -> None:
    found = hierarchy([*(f"0{n}" for n in range(1000, 1100)), "x"])
    assert (found.prefix, found.unmapped) == ((4, 3, 2, 1), "error")


WITHOUT_PANDAS = """
import sys
import numpy as np
from anon_core.hierarchy.suggest import suggested
from anon_core.table import Column
from anon_core.table.arrays import texts

forms = {"integer": "20{}", "decimal": "{}.5", "date": "2019-01-{}", "timestamp": "2019-01-{} 10:00", "text": "{}AB"}
for kind, form in forms.items():
    domain = texts([form.format(n) for n in range(10, 30)])
    column = Column(name="c", codes=np.arange(20, dtype=np.int32), domain=domain)
    found = suggested(column, kind="postcode" if kind == "text" else None, type_of_values=kind)
    mixed = Column(name="c", codes=np.arange(21, dtype=np.int32), domain=texts([*domain.to_pylist(), "zz"]))
    suggested(mixed, kind=None, type_of_values="text")
    print(kind, bool(found.intervals or found.date or found.prefix), "pandas" in sys.modules)
"""


def test_a_hierarchy_is_suggested_without_pandas() -> None:
    ended = subprocess.run([sys.executable, "-c", WITHOUT_PANDAS], check=True, capture_output=True, text=True)
    kinds = ("integer", "decimal", "date", "timestamp", "text")
    assert ended.stdout.splitlines() == [f"{kind} True False" for kind in kinds]


KINDS = st.sampled_from([None, "age", "year of birth", "date of birth", "postcode", "coordinate", "date of an event"])
SAME_KIND = st.one_of(
    st.lists(st.integers(-(10**12), 10**12).map(str), min_size=1, max_size=30),
    st.lists(st.integers(0, 120).map(str), min_size=1, max_size=30),
    st.lists(st.floats(allow_nan=False, allow_infinity=False).map(repr), min_size=1, max_size=30),
    st.lists(st.decimals(-1000, 1000, places=3).map(str), min_size=1, max_size=30),
    st.lists(st.dates().map(str), min_size=1, max_size=30),
    st.lists(st.datetimes().map(str), min_size=1, max_size=30),
    st.lists(st.from_regex(r"[0-9]{4}-[0-3][0-9]-[0-3][0-9]", fullmatch=True), min_size=1, max_size=30),
    st.lists(st.from_regex(r"[0-3][0-9][./][01][0-9][./](19|20)[0-9]{2}", fullmatch=True), min_size=1, max_size=30),
    st.lists(st.from_regex(r"[0-9]{1,3},[0-9]{1,3}", fullmatch=True), min_size=1, max_size=30),
    st.lists(st.from_regex(r"0?[0-9]{4}", fullmatch=True), min_size=1, max_size=30),
    st.lists(st.text(max_size=8), min_size=1, max_size=10),
)


@settings(max_examples=300, deadline=None)
@given(cells=SAME_KIND, kind=KINDS, gap=st.booleans())
def test_whatever_the_values_the_ladder_covers_them_all(cells: list[Cell], kind: str | None, gap: bool) -> None:
    column = column_of([*cells, *[None] * gap])
    found = suggested(column, kind=kind, type_of_values=type_of(column.domain))
    built = ladder(column, found, Path())
    assert not built.unmapped.any()
    assert len(set(built.maps[built.height].tolist())) == 1
