"""The searching verbs give what the commands print of the same rows, from every kind of frame, and change nothing."""

from __future__ import annotations

import json
from dataclasses import asdict

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import anon_core as ac
from anon_airflow.cli import anon
from tests.anon_core.api.frames import every_kind, people

CALLS = {
    "profile": ((), {}, ()),
    "detect": ((), {"exclude": "disease", "max_size": 2}, ("--exclude", "disease", "--max-size", "2")),
    "select": ((["age", "sex"],), {"drop_missing": True}, ("--columns", "age,sex", "--drop-missing")),
    "uccs": ((), {"ignore_duplicates": True}, ("--ignore-duplicates",)),
    "score": (
        (),
        {"probability": {"age": 0.9}, "mask": {"person": 1}, "approximate": 0.1, "sweep": "adversary"},
        ("--p", "age=0.9", "--mask", "person=1", "--approximate", "0.1", "--sweep", "adversary"),
    ),
}
BY_PEOPLE = {"exclude": ["disease"], "unit": "person", "drop_missing": True}
OPTIONS_BY_PEOPLE = ("--exclude", "disease", "--unit", "person", "--missing", "drop")


def printed(*arguments):
    ended = CliRunner().invoke(anon, [*map(str, arguments), "--json"])
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def plain(found):
    return json.loads(json.dumps(asdict(found)))


def agree(found, shown):
    """Whether a result says all that a command prints of it; a command has some names of its own."""
    said = plain(found)
    renamed = {"uccs": "sets", "before": "before", "sweep": "sweep"}
    for key, value in shown.items():
        own = said.get(renamed.get(key, key), getattr(found, key, None))
        if isinstance(value, list) and value and isinstance(value[0], dict):
            assert [{name: one[name] for name in one if name in two} for one, two in zip(value, own, strict=True)] == [
                {name: two[name] for name in one if name in two} for one, two in zip(value, own, strict=True)
            ], key
        else:
            assert value == (list(own) if isinstance(own, tuple) else own), key


@pytest.mark.parametrize("verb", CALLS)
def test_a_verb_gives_what_its_command_prints(verb, tmp_path):
    positional, named, options = CALLS[verb]
    kinds = every_kind(people(), tmp_path)
    found = {kind: getattr(ac, verb)(one, *positional, **named) for kind, one in kinds.items()}
    agree(found["pandas"], printed(verb, tmp_path / "t.csv", *options))
    assert all(one == found["csv"] for one in found.values())


def test_detection_by_people_is_that_of_the_command(tmp_path):
    kinds = every_kind(people(), tmp_path)
    agree(ac.detect(kinds["pandas"], **BY_PEOPLE), printed("detect", tmp_path / "t.csv", *OPTIONS_BY_PEOPLE))


def test_rows_of_nobody_known_are_counted():
    table = pa.table({"person": ["a", None, None], "age": [1, 2, 3]})
    assert ac.detect(table, unit="person").rows_unknown == 2
    assert ac.detect(table).rows_unknown == 0


def test_without_pandas_a_result_is_still_one_of_arrow(monkeypatch):
    found = ac.detect(people())
    monkeypatch.setattr("anon_core.api.shown.find_spec", lambda name: None)
    with pytest.raises(ac.InvalidInputError, match="pip install pandas"):
        found.to_pandas()
    assert found.to_arrow().num_rows == len(found.records())


def test_a_sketch_of_a_file_is_that_of_the_command(tmp_path):
    kinds = every_kind(people(), tmp_path)
    agree(ac.profile(kinds["csv"], sketch=True), printed("profile", kinds["csv"], "--sketch"))
    with pytest.raises(ac.InvalidInputError, match="sketch="):
        ac.profile(kinds["pandas"], sketch=True)


@pytest.mark.parametrize("verb", CALLS)
def test_a_frame_stays_as_it_is(verb):
    positional, named, _ = CALLS[verb]
    frame = people().to_pandas()
    before = frame.copy(deep=True)
    getattr(ac, verb)(frame, *positional, **named)
    pd.testing.assert_frame_equal(frame, before)


@pytest.mark.parametrize("verb", CALLS)
def test_a_result_is_a_table_everywhere_and_escaped_in_a_notebook(verb):
    positional, named, _ = CALLS[verb]
    names = {"age": "<b>age", "sex": "sex&", "person": "person", "disease": "disease"}
    table = people().rename_columns([names[one] for one in people().column_names])
    positional = tuple([names[one] for one in given] for given in positional)
    named = {key: {names[k]: v for k, v in one.items()} if isinstance(one, dict) else one for key, one in named.items()}
    found = getattr(ac, verb)(table, *positional, **named)
    assert list(found.to_pandas().columns) == list(found.FIELDS) == found.to_arrow().column_names
    assert len(found.to_pandas()) == len(found.records())
    shown = found._repr_html_()
    assert "<b>age" not in shown and shown.startswith("<table><caption>") and shown.endswith("</table>")
    assert "rows, not people" in shown


REFUSED = [
    ("detect", (), {"columns": []}, "columns= names no column"),
    ("detect", (), {"columns": ["sex", "sex"]}, "columns= has columns named twice: sex"),
    ("uccs", (), {"exclude": ["sex", "sex"]}, "exclude= has columns named twice: sex"),
    ("uccs", (), {"exclude": ["person", "age", "sex", "disease"]}, "no column is left"),
    ("detect", (), {"columns": ["person", "sex"], "unit": "person"}, "person says who is counted"),
    ("detect", (), {"unit": "born"}, "no column named 'born'"),
    ("detect", (), {"max_size": 0}, "at least 1 column"),
    ("select", ([],), {}, "columns= names no column"),
    ("score", (), {"probability": {"born": 0.5}}, "no column named 'born'"),
    ("score", (), {"probability": 1.5}, "probabilit"),
    ("score", (), {"mask": {"age": 0}}, "mask= hides at least 1 character; correct age"),
    ("score", (), {"sweep": "columns"}, "sweep= is"),
    ("uccs", (), {"approximate": 1.0}, "below 1"),
]


@pytest.mark.parametrize(("verb", "positional", "named", "words"), REFUSED)
def test_a_call_that_cannot_be_meant_is_refused(verb, positional, named, words):
    with pytest.raises(ac.InvalidInputError, match=words):
        getattr(ac, verb)(people(), *positional, **named)
