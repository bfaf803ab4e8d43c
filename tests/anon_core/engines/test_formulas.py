"""Cells that a spreadsheet would run are made text, in every file alike, and nothing else changes."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anon_core.engines.formulas import formula_safe, looks_like_a_formula
from anon_core.files.formula_signs import begins_a_formula
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.table import RELEASED, read
from tests.anon_core.spec.spec_files import changed, folder, load, problems
from tests.properties.tables import table_of

__all__ = ["folder"]

RISKY = [
    "=1+1",
    "+cmd",
    "-cmd",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    " =1",
    " \t=1",
    "\u00a0=1",
    "\u200b\ufeff=1",
    "\x00=1",
    "＝1",
    "-5+3",
    "+39 0165 1",
    "=",
    "--1",
    "-1955--1950",
]
PLAIN = ["-5", "+3", "-5.5", "-.5", "1e5", "-1e-5", "a=b", "1955-1959", "<5", "'=1", "", "(=1)", "-3,5"]


@pytest.mark.parametrize("word", RISKY)
def test_what_a_spreadsheet_runs_gets_an_apostrophe(word: str) -> None:
    safe = formula_safe(table_of(["a"], [(word,), ("x",)]))
    assert set(safe.to_arrow()["a"].to_pylist()) == {f"'{word}", "x"}


@pytest.mark.parametrize("word", PLAIN)
def test_numbers_and_plain_words_stay(word: str) -> None:
    table = table_of(["a"], [(word,), (None,)])
    assert formula_safe(table) is table


@given(st.lists(st.tuples(st.none() | st.text("=-+@'a1 "), st.sampled_from("xy")), min_size=1, max_size=20))
def test_nothing_risky_is_left_no_row_is_lost_and_rows_stay_in_order(rows: list[tuple[str | None, str]]) -> None:
    safe = formula_safe(table_of(["a", "b"], sorted(rows, key=lambda row: (row[0] is None, row[0] or "", row[1]))))
    assert not any(looks_like_a_formula(column.domain).any() for column in safe.columns)
    assert safe.rows == len(rows)
    found = [tuple(row.values()) for row in safe.to_arrow().to_pylist()]
    assert found == sorted(found, key=lambda row: (row[0] is None, (row[0] or "").encode(), row[1]))
    assert sum(row[0] is None for row in found) == sum(row[0] is None for row in rows)


def test_both_files_hold_the_same_rows_and_reading_undoes_nothing(tmp_path: Path) -> None:
    safe = formula_safe(table_of(["a", "b"], [("=1", "x"), ("-5", None), (None, "@y")]))
    write_csv(safe, tmp_path / "r.csv")
    write_parquet(safe, tmp_path / "r.parquet")
    texts = [read(tmp_path / name, RELEASED).to_arrow() for name in ("r.csv", "r.parquet")]
    assert texts[0].equals(texts[1])
    assert texts[0]["a"].to_pylist().count("'=1") == 1
    assert isinstance(texts[0], pa.Table)


def test_the_key_is_off_by_default_and_then_leaves_digests_as_they_were(folder: Path) -> None:
    plain, off, on = (
        load(folder, changed(**section))
        for section in ({}, {"csv": {"escape_formulas": False}}, {"csv": {"escape_formulas": True}})
    )
    assert not plain.csv.escape_formulas
    assert plain.digest() == off.digest() != on.digest()


def test_a_column_whose_name_would_be_run_is_refused_where_formulas_are_escaped(folder: Path) -> None:
    for name in ("=sum", " +sum", "\u200b@sum"):
        columns = {"sex": {"role": "quasi", "hierarchy": {"root": "any"}}, name: {"role": "other"}}
        found = problems(folder, changed(columns=columns, csv={"escape_formulas": True}))
        assert ["rename the column" in words for _, words in found.values()] == [True]
        load(folder, changed(columns=columns))


@given(st.text())
def test_names_and_cells_are_judged_alike(text: str) -> None:
    number = re.fullmatch(r" *[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?", text, re.ASCII)
    assert looks_like_a_formula(pa.array([text])).tolist() == [begins_a_formula(text) and not number]


@pytest.mark.parametrize(("portal", "words"), [({"keep": 0}, "at least 1"), ({"keep": "all"}, "whole number")])
def test_how_many_versions_stay_is_a_number_from_one_on(folder: Path, portal: dict[str, object], words: str) -> None:
    found = problems(folder, changed(portal={"folder": "portal", **portal}))
    assert words in found["portal.keep"][1]
