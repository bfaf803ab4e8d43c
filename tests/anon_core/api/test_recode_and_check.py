"""`recode` and `check`: what the commands make of the same rows, whose rows they are, and no cell told."""

from __future__ import annotations

import json
import pickle
import traceback

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import anon_core as ac
from anon_airflow.cli import anon
from tests.anon_core.api.frames import SPEC, every_kind, people

SECRET = "canary-4711"


@pytest.fixture
def spec(tmp_path):
    path = tmp_path / "people.yaml"
    path.write_text(SPEC)
    return path


def test_a_recoding_is_that_of_the_command_from_every_kind_of_frame(spec, tmp_path):
    kinds, output = every_kind(people(), tmp_path), tmp_path / "out.csv"
    call = ["recode", tmp_path / "t.csv", "--spec", spec, "--output", output, "--json"]
    shown = json.loads(CliRunner().invoke(anon, [*map(str, call)]).stdout)
    written = ac.read(output).to_arrow().to_pydict()
    for frame in kinds.values():
        found = ac.recode(frame, spec)
        assert found.to_arrow().to_pydict() == written
        assert found.holds == shown["holds"]
        assert (found.rows, found.rows_removed, found.method) == (shown["rows"], shown["rows_removed"], shown["method"])
        assert [one.sentence for one in found.measurements] == [one["about"] for one in shown["checks"]]
        assert found.utility.entropy.overall == pytest.approx(shown["utility"]["nue"], abs=1e-6)


def test_a_recoding_is_checked_by_people(spec):
    released = ac.recode(people(), spec)
    checked = ac.check(released, spec)
    assert checked.measurements == released.measurements == ac.check(released).measurements
    assert (checked.unit, checked.counted, checked.holds) == (("person",), "people", released.holds)
    assert checked.rows == len(set(people()["person"].to_pylist()))
    assert ac.check(released, spec, k=1_000).holds is False


def test_a_released_table_alone_does_not_say_whose_its_rows_are(spec):
    released = ac.recode(people(), spec).to_pandas()
    assert ac.check(released, quasi=["age", "sex"], k=3).counted == "rows"
    with pytest.raises(ac.UnknownColumnError, match="person"):
        ac.check(released, spec)


def test_a_table_that_singles_people_out_is_refused(spec):
    with pytest.raises(ac.RefusedError, match="k_anonymity"):
        ac.check(people(), spec).raise_if_unsafe()
    nothing = ac.recode(people(), spec, method="none")
    assert not nothing.holds
    with pytest.raises(ac.RefusedError, match="k_anonymity"):
        nothing.raise_if_unsafe()


def test_a_recoding_does_not_carry_the_original_into_a_file(spec):
    with pytest.raises(ac.InvalidInputError, match="has the original table in it"):
        pickle.dumps(ac.recode(people(), spec))


def test_what_the_call_says_counts_in_place_of_the_file(spec):
    coarser = ac.recode(people(), spec, k=8)
    assert min(coarser.to_pandas().groupby(["age", "sex"]).size()) >= 8
    assert ac.load_spec(spec, partial=True).privacy.k == 3
    assert ac.recode(people(), ac.load_spec(spec, partial=True), k=8).to_arrow() == coarser.to_arrow()


def test_beside_its_original_a_table_is_measured_for_what_is_left(spec):
    kept = ac.recode(people(), spec, keep_order=True, method="none")
    found = ac.check(kept.to_pandas(), quasi=["age", "sex"], original=people(), same_order=True)
    assert found.assessment.utility.entropy.overall == 1.0


REFUSED = [
    ({"same_order": True}, "original="),
    ({"same_order": True, "key": "age", "original": people()}, "two ways"),
    ({"k": 1}, "k= is a whole number"),
    ({"sampling_fraction": 0}, "sampling_fraction="),
    ({"quasi": []}, "quasi="),
    ({"quasi": ["born"]}, "no column named 'born'"),
    ({"spec": {"columns": {}}}, "spec= is of type dict"),
]


@pytest.mark.parametrize(("arguments", "words"), REFUSED)
def test_a_check_that_cannot_be_meant_is_refused(arguments, words):
    with pytest.raises(ac.InvalidInputError, match=words):
        ac.check(people(), **arguments)


def test_what_a_recoding_knows_is_not_given_again(spec, tmp_path):
    released = ac.recode(people(), spec)
    for arguments in ({"unit": "person"}, {"quasi": "age"}, {"sampling_fraction": 0.5}, {"original": people()}):
        with pytest.raises(ac.InvalidInputError, match=r"check its \.table"):
            ac.check(released, spec, **arguments)
    other = tmp_path / "other.yaml"
    other.write_text(SPEC.replace("sex: {role: quasi}", "sex: {role: drop}"))
    with pytest.raises(ac.InvalidInputError, match="other columns"):
        ac.check(released, other)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"k": 1}, "k= is a whole number"),
        ({"improve": -1}, "improve= is a whole number, from 0"),
        ({"mode": "fast"}, "mode= is one of"),
        ({"mode": "link"}, "mode= would have no effect on method global"),
        ({"method": "magic"}, "`magic`"),
    ],
)
def test_a_recoding_that_cannot_be_meant_is_refused(spec, arguments, words):
    with pytest.raises(ac.InvalidInputError, match=words):
        ac.recode(people(), spec, **arguments)


def secret_frame() -> pd.DataFrame:
    frame = people().to_pandas()
    frame.loc[0, ["person", "sex", "disease"]] = SECRET
    return frame


def test_no_result_but_a_released_table_shows_a_cell(spec):
    frame = secret_frame()
    models = (ac.KAnonymity(k=2), ac.LDiversity(l=2), ac.SensitiveAlone(k=3, max_share=0.0), ac.PersonalPatterns)
    measured = ac.measure(frame, *models, quasi=["age", "sex"], sensitive="disease")
    results = [
        ac.profile(frame), ac.detect(frame), ac.select(frame, ["age", "sex"]), ac.uccs(frame), ac.score(frame),
        measured, measured[0], ac.recode(frame, spec, method="none"), ac.check(frame, spec), ac.read(frame),
    ]  # fmt: skip
    for one in results:
        shown = repr(one) + (one._repr_html_() if hasattr(one, "_repr_html_") else "")
        shown += str(one.records()) if hasattr(one, "records") else ""
        assert SECRET not in shown and "gout" not in shown, type(one)


def test_no_error_holds_a_cell(spec, tmp_path):
    frame, levels = secret_frame(), tmp_path / "sexes.csv"
    levels.write_text("value;any\nF;*\nM;*\n")
    narrow = tmp_path / "narrow.yaml"
    narrow.write_text(SPEC.replace("sex: {role: quasi}", "sex: {role: quasi, hierarchy: {file: sexes.csv}}"))
    calls = [
        lambda: ac.recode(frame, narrow),
        lambda: ac.recode(frame, spec, k=500),
        lambda: ac.check(frame, spec).raise_if_unsafe(),
        lambda: ac.check(frame, quasi=["age", "sex"], original=people()),
        lambda: ac.measure(frame, ac.KAnonymity(k=5), quasi="sex").raise_if_unsafe(),
        lambda: ac.recode(pa.table({"person": [SECRET]}), spec),
    ]
    for call in calls:
        with pytest.raises(ac.AnonError) as raised:
            call()
        told = "".join(traceback.format_exception(raised.value, chain=True))
        assert SECRET not in told and SECRET not in repr(raised.value), call
