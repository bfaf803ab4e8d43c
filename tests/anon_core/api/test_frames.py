"""Frames: the same data is the same table from everywhere; what is none is refused by name, without a cell."""

from __future__ import annotations

import datetime
import decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import anon_core as ac
from tests.anon_core.api.frames import Stream, every_kind

SECRET = "canary-4711"
TEXTS = st.none() | st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=4)
COLUMNS = {
    "text": TEXTS,
    "number": st.integers(-(2**40), 2**40),
    "truth": st.booleans(),
    "day": st.none() | st.dates(datetime.date(1700, 1, 1), datetime.date(2250, 1, 1)),
    "amount": st.none() | st.decimals(-999, 999, places=2),
}
SCHEMA = pa.schema(
    {"text": pa.string(), "number": pa.int64(), "truth": pa.bool_(), "day": pa.date32(), "amount": pa.decimal128(9, 2)}
)


def cells(table: ac.Table) -> dict[str, list[str | None]]:
    return table.to_arrow().to_pydict()


@given(rows=st.lists(st.fixed_dictionaries(COLUMNS), min_size=2, max_size=6))
def test_the_same_rows_are_the_same_table_from_everywhere(rows, tmp_path_factory):
    kinds = every_kind(pa.Table.from_pylist(rows, SCHEMA), tmp_path_factory.mktemp("kinds"))
    found = {kind: cells(ac.read(one)) for kind, one in kinds.items()}
    assert all(one == found["parquet"] for one in found.values()), found


@given(numbers=st.lists(st.none() | st.integers(-(2**60), 2**60) | st.floats(), min_size=1, max_size=4))
def test_a_pandas_frame_is_the_parquet_file_that_pandas_writes_of_it(numbers, tmp_path_factory):
    """A whole number in a column with gaps is a float in pandas: 10 ** 10 is ``1e+10`` there."""
    frame = pd.DataFrame({"a": pd.Series(numbers, dtype=float), "b": range(len(numbers))})
    path = tmp_path_factory.mktemp("own") / "t.parquet"
    frame.to_parquet(path)
    assert cells(ac.read(frame)) == cells(ac.read(path))


@pytest.mark.parametrize(
    ("values", "texts"),
    [
        ([1.0, float("nan"), 2.5], ["1", None, "2.5"]),
        (pd.Categorical(["b", None, "a"]), ["b", None, "a"]),
        (pd.Categorical([3, 4, 3]), ["3", "4", "3"]),
        (pd.to_datetime(["2020-07-01", None]), ["2020-07-01 00:00:00.000000", None]),
        (
            pd.to_datetime(["2020-07-01", "2020-01-01", None]).tz_localize("Europe/Rome"),
            ["2020-07-01 00:00:00.000000+0200", "2020-01-01 00:00:00.000000+0100", None],
        ),
        (pd.array([1, None, 3], "Int64"), ["1", None, "3"]),
        (pd.array([True, None, False], "boolean"), ["true", None, "false"]),
        ([decimal.Decimal("1.50"), None, decimal.Decimal("2.25")], ["1.50", None, "2.25"]),
        (np.array(["x", np.nan, ""], dtype=object), ["x", None, None]),
    ],
)  # fmt: skip
def test_a_type_of_pandas_has_its_text(values, texts):
    assert cells(ac.read(pd.DataFrame({"a": values}))) == {"a": texts}


def test_what_polars_exports_is_read():
    # Text as views, and an Enum as a dictionary of them with unsigned indices.
    words = pa.DictionaryArray.from_arrays(pa.array([1, 0, None], pa.uint32()), pa.array(["b", "a"], pa.string_view()))
    table = pa.table({"text": pa.array(["x", None, "y"], pa.string_view()), "enum": words})
    assert cells(ac.read(Stream(table))) == {"text": ["x", None, "y"], "enum": ["a", "b", None]}


def test_an_index_without_a_name_is_no_column():
    frame = pd.DataFrame({"age": [1, 2, 3], "town": ["a", "b", "c"]})
    assert ac.read(frame[frame.age > 1]).names == ("age", "town")
    assert ac.read(frame.set_index(["town", "age"])).names == ("town", "age")


def test_missing_words_are_gaps():
    assert cells(ac.read(pd.DataFrame({"a": ["?", "", "x"]}), missing_words="?")) == {"a": [None, "", "x"]}


def test_a_table_that_was_read_is_taken_as_it_is():
    table = ac.read(pa.table({"a": ["x", "x"]}))
    assert ac.read(table) is table
    with pytest.raises(ac.InvalidInputError, match="was read before"):
        ac.read(table, missing_words="x")
    with pytest.raises(ac.InvalidInputError, match="for CSV files"):
        ac.read(pa.table({"a": ["x"]}), delimiter=";")


class Broken(Stream):
    """A stream that fails after a batch, in words of its own."""

    def __arrow_c_stream__(self, requested_schema=None):
        def batches():
            yield self._table.to_batches()[0]
            raise ValueError(SECRET)

        reader = pa.RecordBatchReader.from_batches(self._table.schema, batches())
        return reader.__arrow_c_stream__(requested_schema)


REFUSED = {
    "no rows": (pd.DataFrame({"a": []}), "has no rows"),
    "no rows in Arrow": (pa.table({"a": pa.array([], pa.string())}), "has no rows"),
    "no columns": (pd.DataFrame(), "has no columns"),
    "a series": (pa.chunked_array([[SECRET]]), "is not a table that Arrow can read"),
    "doubled names": (pd.DataFrame([[SECRET, 1]], columns=["a", "a"]), "the name of column 2 is that of one before it"),
    "doubled names in Arrow": (pa.table([[SECRET], [1]], ["a", "a"]), "the name of column 2 is that of one before it"),
    "numbers as names": (pd.DataFrame([[SECRET, 1]]), "the name of column 1, 2 is no text"),
    "levels of names": (pd.DataFrame([[SECRET]], columns=pd.MultiIndex.from_tuples([("a", "b")])), "is no text"),
    "an empty name": (pd.DataFrame({"": [SECRET], "b": [1]}), "the name of column 1 is empty"),
    "a name of two lines": (pd.DataFrame({"a\nb": [SECRET]}), "the name of column 1 has control characters"),
    "mixed types": (pd.DataFrame({"a": [1, SECRET], "b": [1, 2]}), "columns whose cells are of several types: a;"),
    "lists": (pd.DataFrame({"a": [[SECRET], ["x"]], "b": [1, 2]}), "columns of nested or binary type: a;"),
    "structs": (pa.table({"a": [{"b": SECRET}], "c": [1]}), "columns of nested or binary type: a;"),
    "bytes": (pa.table({"a": [SECRET.encode()], "b": [b"x"]}), "columns of nested or binary type: a, b;"),
    "periods": (pd.DataFrame({"a": pd.period_range("2020", "2021", freq="Y")}), "columns of nested or binary type: a;"),
    "an unknown zone": (pa.table({"a": pa.array([1], pa.timestamp("ms", "No/Where"))}), "be written as text: a;"),
    "a stream that ends": (Broken(pa.table({"a": [SECRET]})), "ended before its last row"),
}  # fmt: skip


@pytest.mark.parametrize("frame", REFUSED.values(), ids=REFUSED)
def test_what_is_no_table_is_refused_without_a_cell(frame):
    given, words = frame
    with pytest.raises(ac.TableError) as refused:
        ac.profile(given)
    assert words in str(refused.value)
    error = refused.value
    while error is not None:
        assert SECRET not in f"{error} {error!r} {error.args}"
        error = error.__context__


@pytest.mark.parametrize("given", [{"a": [SECRET]}, [SECRET], None, 7, pd.DataFrame], ids=str)
def test_what_is_no_source_is_refused_by_its_type(given):
    with pytest.raises(ac.InvalidInputError, match="a table is wanted") as refused:
        ac.detect(given)
    assert SECRET not in str(refused.value)


def test_a_path_that_is_not_there_is_refused(tmp_path: Path):
    with pytest.raises(ac.TableError, match="no such file"):
        ac.uccs(tmp_path / "t.csv")
