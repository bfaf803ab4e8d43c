"""Masking the last characters of a column."""

from __future__ import annotations

import pytest

from anon_core.errors import InvalidInputError, UnknownColumnError
from anon_core.table import Table
from anon_core.table.masking import mask
from tests.properties.tables import rows_of, table_of


def column(*values: str | None) -> Table:
    return table_of(["code"], [(value,) for value in values])


def masked(table: Table, count: int) -> list[str | None]:
    return [row[0] for row in rows_of(mask(table, {"code": count}))]


def test_the_last_characters_become_stars() -> None:
    assert masked(column("10115", "20095"), 2) == ["101**", "200**"]


def test_a_shorter_value_becomes_all_stars_and_keeps_its_length() -> None:
    assert masked(column("abc", "ab", "a", ""), 2) == ["a**", "**", "*", ""]


def test_characters_are_code_points_and_not_bytes() -> None:
    assert masked(column("Zürich", "東京都", "a😀"), 1) == ["Züric*", "東京*", "a*"]


def test_gaps_stay_gaps_also_when_there_is_nothing_else() -> None:
    assert masked(column("ab", None), 5) == ["**", None]
    assert masked(column(None, None), 5) == [None, None]


def test_values_that_become_equal_are_one_value_and_codes_follow_the_sorted_domain() -> None:
    result = mask(column("b2", "a1", "b1", "z", None, "*"), {"code": 1}).column("code")
    assert result.domain.to_pylist() == ["*", "a*", "b*", None]
    assert result.codes.tolist() == [2, 1, 2, 0, 3, 0]


def test_an_empty_table_stays_empty() -> None:
    assert mask(column(), {"code": 1}).rows == 0


def test_other_columns_and_the_given_table_are_left_alone() -> None:
    table = table_of(["code", "name"], [("12", "xy"), ("13", "xz")])
    result = mask(table, {"code": 1})
    assert rows_of(result) == [("1*", "xy"), ("1*", "xz")]
    assert rows_of(table) == [("12", "xy"), ("13", "xz")]
    assert result.names == ("code", "name")


def test_fewer_than_one_character_is_refused_with_all_columns() -> None:
    table = table_of(["a", "b", "c"], [("1", "2", "3")])
    with pytest.raises(InvalidInputError, match=r"at least 1 character .*: a, c$"):
        mask(table, {"a": 0, "b": 1, "c": -2})


def test_an_unknown_column_is_refused_by_name() -> None:
    with pytest.raises(UnknownColumnError, match="'town'"):
        mask(column("x"), {"town": 1})
