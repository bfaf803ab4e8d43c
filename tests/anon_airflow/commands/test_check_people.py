"""``anon check`` where people are counted in place of rows: who is who, with and without a pairing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.anon_airflow.commands.check_specs import SPEC, spec_with
from tests.faults.anon_process import anon


def test_people_are_counted_in_place_of_rows(tmp_path, home):
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("who,sex\nann,f\nann,f\nbea,f\ncem,m\ncem,m\n")
    after.write_text("sex\nf\nf\nf\nm\nm\n")
    rows = anon("check", after, "--quasi", "sex", "-k", "2", "--original", before, "--same-order", "--json", home=home)
    assert rows.json["k"]["exact"] == 2
    people = anon("check", after, "--quasi", "sex", "-k", "2", "--original", before, "--same-order", "--unit", "who",
                  "--json", home=home)  # fmt: skip
    assert people.json["k"] == {"exact": 1, "link": 1, "source": 1, "concealment": None}
    assert people.json["rows"] == 3
    unpaired = anon("check", after, "--quasi", "sex", "--original", before, "--unit", "who", home=home)
    assert unpaired.code == 2
    assert "without knowing which row became which" in unpaired.err


VISITS = "p,sex,age,country,ill\nann,f,20,AT,flu\nann,f,20,AT,cold\nbea,f,20,AT,flu\ncem,m,20,GR,flu\n"
UNPAIRED = "to count people beside the original, it must be known which row became which: --same-order or --key COLUMN"


@pytest.fixture
def visits(tmp_path) -> tuple[Path, Path]:
    """A released table that tells its people apart, in another order than its original and without the last row."""
    head, *rows = VISITS.splitlines()
    after, before = tmp_path / "visits.csv", tmp_path / "before_visits.csv"
    after.write_text("\n".join([head, *rows[2::-1]]) + "\n")
    before.write_text(VISITS)
    return after, before


def test_without_a_pairing_people_are_counted_in_the_released_table_only(home, visits):
    after, before = visits
    asked = ("check", after, "--quasi", "sex,age,country", "-k", "2", "--unit", "p", "--original", before)
    ended = anon(*asked, "--json", home=home)
    assert ended.code == 0, ended.err
    shown = ended.json
    assert (shown["rows"], shown["k"]) == (2, {"exact": 2, "link": None, "source": None, "concealment": None})
    assert shown["beside_original"] == {
        "paired": False,
        "rows_before": 4,
        "rows_removed": 1,
        "rows_below_k": {"exact": 0, "link": None, "source": None, "concealment": None},
        "reason": UNPAIRED,
        "concealment_reason": UNPAIRED,
    }
    assert shown["utility"]["loss"] > 0
    text = anon(*asked, home=home)
    assert "the four k's of people; which row was made from which is not known; rows removed: 1" in text.out
    assert f"link, source and concealment: not measured; {UNPAIRED}" in text.out


def test_people_too_few_fail_without_a_pairing_and_so_does_a_table_of_something_else(home, visits):
    after, before = visits
    asked = ("check", after, "--quasi", "sex,age,country", "--unit", "p", "--original", before, "--json")
    few = anon(*asked, "-k", "3", home=home)
    assert few.code == 1, "three rows of two people"
    assert few.json["k"]["exact"] == 2
    after.write_text(after.read_text() + "cem,m,20,GR,flu\n" * 2 + "ann,m,20,GR,flu\n")
    other = anon(*asked, "-k", "2", home=home)
    assert other.code == 1
    assert [check["name"] for check in other.json["checks"] if not check["passed"]] == ["made_from_original"]


def test_the_link_k_of_people_is_refused_without_a_pairing(tmp_path, home, visits):
    after, before = visits
    spec = spec_with(tmp_path, "{k: 2, k_means: link}", SPEC.replace("id: {role: id", "p: {role: id"))
    ended = anon("check", after, "--spec", spec, "--unit", "p", "--original", before, home=home)
    assert ended.code == 2
    assert f"`k_means: link` cannot be checked: {UNPAIRED}" in ended.err


@pytest.mark.parametrize("text", ["sex\nf\nf\n", "p,sex\n1,f\n2,f\n"], ids=["no unit", "units of its own making"])
def test_people_whom_only_a_pairing_tells_are_refused_without_one(home, visits, text):
    after, before = visits
    after.write_text(text)
    ended = anon("check", after, "--quasi", "sex", "-k", "2", "--unit", "p", "--original", before, home=home)
    assert ended.code == 2
    assert "people cannot be counted without knowing which row became which" in ended.err


def test_the_picture_of_people_without_a_pairing_is_not_of_the_rows_before(tmp_path, home, visits):
    after, before = visits
    asked = ("check", after, "--quasi", "sex,age,country", "-k", "2", "--unit", "p", "--original", before)
    assert anon(*asked, "--plot", tmp_path / "p.svg", home=home).code == 0
    assert "<svg" in (tmp_path / "p.svg").read_text()


def test_units_are_those_of_the_original_whatever_the_release_says(tmp_path, home):
    """Found by attack: a release that told its own units apart passed beside k's of 1."""
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("id,p,a\n1,u,x\n2,u,x\n3,u,x\n")
    after.write_text("id,p,a\n1,1,x\n2,2,x\n3,3,x\n")
    beside = ("--original", before, "--key", "id", "--unit", "p")
    ended = anon("check", after, "--quasi", "a", "-k", "3", *beside, "--json", home=home)
    assert ended.code == 1
    assert ended.json["k"] == {"exact": 1, "link": 1, "source": 1, "concealment": None}


def test_rows_that_cover_nobody_are_no_crash_where_units_are_counted(tmp_path, home):
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("id,p,a\n1,u,x\n2,v,y\n")
    after.write_text("id,a\n1,x\n2,x\n")
    beside = ("--original", before, "--key", "id", "--unit", "p")
    ended = anon("check", after, "--quasi", "a", "-k", "2", *beside, "--json", home=home)
    assert ended.code == 1
    assert [check["name"] for check in ended.json["checks"] if not check["passed"]] == ["made_from_original"]
    assert ended.json["k"] == {"exact": 2, "link": 0, "source": 1, "concealment": None}
    assert ended.json["beside_original"]["concealment_reason"].startswith("1 of the published rows do not cover")


def test_a_person_who_is_singled_out_by_several_rows_is_singled_out(tmp_path, home):
    """Found by attack: sets of columns were searched in rows where people are counted."""
    table = tmp_path / "t.csv"
    table.write_text("p,a,o\n" + "1,x,U\n1,x,U\n" + "".join(f"{n},x,V\n" for n in range(2, 8)))
    spec = tmp_path / "s.yaml"
    spec.write_text("unit: p\ncolumns: {p: {role: identifier}, a: {role: quasi}, o: {role: other}}\nprivacy: {k: 5}\n")
    ended = anon("check", table, "--spec", spec, "--json", home=home)
    failed = {check["name"]: check for check in ended.json["checks"] if not check["passed"]}
    assert set(failed) == {"joint_classes", "published_uniqueness"}, ended.out
    found = failed["published_uniqueness"]
    assert [(one["columns"], one["singletons"]) for one in found["counts"]["offending"]] == [(["o"], 1)]


def test_suppression_counts_rows_where_people_are_counted(tmp_path, home):
    before, after = tmp_path / "b.csv", tmp_path / "a.csv"
    before.write_text("id,p,a\n" + "".join(f"{n},{n // 2},x\n" for n in range(12)))
    after.write_text("id,a\n" + "".join(f"{n},x\n" for n in range(0, 12, 2)))
    spec = tmp_path / "s.yaml"
    spec.write_text("unit: p\ncolumns: {id: {role: drop}, p: {role: identifier}, a: {role: quasi}}\nprivacy: {k: 2}\n")
    ended = anon("check", after, "--spec", spec, "--original", before, "--key", "id", "--json", home=home)
    checks = {check["name"]: check for check in ended.json["checks"]}
    assert checks["rows_suppressed_at_most"]["observed"] == 0.5
    assert not checks["rows_suppressed_at_most"]["passed"]


def test_a_column_that_its_role_keeps_from_publication_is_not_called_undeclared(tmp_path, home):
    table = tmp_path / "t.csv"
    table.write_text("id,a,notes,extra\n" + "".join(f"{n},x,n,V\n" for n in range(6)))
    spec = tmp_path / "s.yaml"
    columns = "{id: {role: identifier}, a: {role: quasi}, notes: {role: drop}, none: {role: drop}}"
    spec.write_text(f"columns: {columns}\nprivacy: {{k: 5}}\n")
    ended = anon("check", table, "--spec", spec, "--json", home=home)
    (found,) = [check for check in ended.json["checks"] if check["name"] == "no_undeclared_column"]
    assert (found["passed"], found["observed"]) == (False, 3)
    assert "2 not to be published by their role (identifier, drop): id, notes: take them out" in found["about"]
    assert "1 undeclared or doubled, at place 4" in found["about"]
    assert (found["counts"]["not_to_be_published"], found["counts"]["undeclared_at"]) == (["id", "notes"], [4])


def test_the_collected_table_is_told_to_generalise_what_is_quasi_already(tmp_path, home):
    table = tmp_path / "t.csv"
    table.write_text("a,b\n" + "".join(f"{n},x\n" for n in range(6)))
    spec = tmp_path / "s.yaml"
    spec.write_text("columns: {a: {role: quasi}, b: {role: quasi}}\nprivacy: {k: 5}\n")
    ended = anon("check", table, "--spec", spec, "--json", home=home)
    (found,) = [check for check in ended.json["checks"] if check["name"] == "published_uniqueness"]
    assert "generalise a further by recoding (quasi already), drop one" in found["about"]
    assert "declare" not in found["about"]


def test_an_undeclared_column_is_told_by_its_place_in_the_file(tmp_path, home):
    table = tmp_path / "t.csv"
    table.write_text("p,a,extra\n" + "".join(f"{n},x,V\n" for n in range(6)))
    spec = tmp_path / "s.yaml"
    spec.write_text("unit: p\ncolumns: {p: {role: identifier}, a: {role: quasi}}\nprivacy: {k: 5}\n")
    ended = anon("check", table, "--spec", spec, "--json", home=home)
    (found,) = [check for check in ended.json["checks"] if check["name"] == "no_undeclared_column"]
    assert not found["passed"]
    assert "1 undeclared or doubled, at place 3" in found["about"]
    assert found["about"].endswith("; not counted, and not to be published: p")
