"""Columns declared harmless, or sensitive, as an attacker uses them: by what is published, and nothing else."""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from anon_core.errors import SpecError
from anon_core.spec import load_spec
from anon_core.table import read
from tests.attacks.attacker import ACCEPTED, Release, Rows, alone, publication, refused

DATA = os.environ.get("ANON_REFERENCE_DATA")


def six_columns(rows: int, values: int) -> Rows:
    draw = random.Random(17)
    return [(str(1950 + at % 4 * 10), *(str(draw.randrange(values)) for _ in range(6))) for at in range(rows)]


SIX = tuple("abcdef")


def test_six_harmless_columns_that_make_nearly_every_row_unique_are_refused(tmp_path: Path) -> None:
    rows = six_columns(4000, 8)
    said = refused(publication(tmp_path, rows, {"year": "quasi", **dict.fromkeys(SIX, "other")}))
    assert alone(rows) > 3800
    assert f"{alone(rows):,} rows are alone" in said and "k-anonymity with all other columns" in said
    assert "are the smallest set without which it holds" in said
    assert "drop these columns, declare them quasi so that they are generalised, or accept them by name" in said


def test_no_share_lifts_the_k_of_other_columns(tmp_path: Path) -> None:
    rows = six_columns(400, 8)
    columns = {"year": "quasi", **dict.fromkeys(SIX, "other")}
    said = refused(publication(tmp_path, rows, columns, published_uniqueness={"max_share": 1.0, "max_size": 1}))
    assert f"{alone(rows):,} rows are alone" in said


def test_a_household_number_declared_other_is_refused_and_named(tmp_path: Path) -> None:
    rows = [(str(1950 + at // 956 * 10), str(at // 2), "x") for at in range(3824)]
    said = refused(publication(tmp_path, rows, {"year": "quasi", "household": "other", "shoe": "other"}))
    assert "smallest class has 2 rows, 5 required over year, household, shoe" in said
    assert "3,824 rows lie in classes below 5, 0 rows are alone; household is the smallest set" in said
    assert "k is 956 without household, 2 without shoe" in said
    without = [(year, shoe) for year, _, shoe in rows]
    assert Release(publication(tmp_path / "b", without, {"year": "quasi", "shoe": "other"})).rows


def test_an_accepted_column_is_named_and_the_page_promises_nothing_of_it(tmp_path: Path) -> None:
    rows = [(str(1950 + at // 956 * 10), str(at // 2), "x") for at in range(3824)]
    accept = [{"columns": ["household"], **ACCEPTED}]
    columns = {"year": "quasi", "household": "other", "shoe": "other"}
    release = Release(publication(tmp_path, rows, columns, published_uniqueness={"accept": accept}))
    assert min(release.groups("year", "shoe").values()) >= 5 > min(release.groups("year", "household").values())
    assert release.report["privacy"]["accepted"][0]["columns"] == ["household"]
    assert "<strong>household</strong>" in release.page and "A. Rossi" in release.page
    assert release.report["privacy"]["accepted"][0]["needed"], "without it the release would have been refused"
    assert "not needed in this version" not in release.page
    assert "singles anybody out" not in release.page and "except for the exceptions below" in release.page


def test_an_acceptance_of_quasi_columns_only_is_an_error(tmp_path: Path) -> None:
    accept = [{"columns": ["year"], **ACCEPTED}]
    spec = publication(tmp_path, [("1", "x")], {"year": "quasi", "a": "other"}, published_uniqueness={"accept": accept})
    with pytest.raises(SpecError, match="names quasi columns only, and k is not to be accepted"):
        load_spec(spec)


def test_sensitive_columns_need_a_stated_share_in_a_file_that_runs(tmp_path: Path) -> None:
    limits = {"max_share_with_sensitive": None}
    spec = publication(tmp_path, [("1", "x")], {"year": "quasi", "ill": "sensitive"}, published_uniqueness=limits)
    with pytest.raises(SpecError, match=r"state `privacy\.published_uniqueness\.max_share_with_sensitive`"):
        load_spec(spec)
    assert load_spec(spec, partial=True).privacy is not None


@pytest.mark.parametrize("limit", [0.01, 1.0])
def test_a_salary_to_the_euro_is_refused(tmp_path: Path, limit: float) -> None:
    draw = random.Random(5)
    rows = [(str(1950 + at % 4 * 10), str(draw.randrange(12_000, 40_000))) for at in range(2000)]
    few = sum(times for times in Counter(row[1] for row in rows).values() if times < 5)
    assert alone([row[1:] for row in rows]) / len(rows) > 0.9
    columns = {"year": "quasi", "salary": "sensitive"}
    said = refused(publication(tmp_path, rows, columns, published_uniqueness={"max_share_alone": limit}))
    assert f"{few:,} rows have a value of salary that fewer than 5 share" in said
    assert f"{20 if limit < 1 else 100} of 2,000 allowed" in said and "rounded, in bands, by month" in said


def test_six_sensitive_columns_that_single_out_together_are_refused(tmp_path: Path) -> None:
    rows, columns = six_columns(4000, 8), {"year": "quasi", **dict.fromkeys(SIX, "sensitive")}
    said = refused(publication(tmp_path, rows, columns, published_uniqueness={"max_share_with_sensitive": 0.25}))
    assert f"{alone(rows):,} rows are alone over all 7 published columns" in said and "25.00% allowed" in said
    assert "make columns coarser or drop one" in said
    pairs = six_columns(4000, 60)
    said = refused(publication(tmp_path / "b", pairs, columns))
    assert "or a pair of values, of 6 columns that fewer than 5 share; 40 of 4,000 allowed" in said


def test_what_is_published_keeps_what_the_report_says(tmp_path: Path) -> None:
    draw = random.Random(3)
    rows = [
        (draw.choice(["1950", "1960"]), draw.choice("xy"), draw.choice("ABCD"), str(draw.randrange(30)))
        for _ in range(3000)
    ]
    columns = {"year": "quasi", "shoe": "other", "category": "sensitive", "points": "sensitive"}
    release = Release(publication(tmp_path, rows, columns))
    assert min(release.groups("year", "shoe").values()) == release.check("joint_classes")["observed"] >= 5
    few: set[int] = set()
    for names in [("category",), ("points",), *combinations(("category", "points"), 2)]:
        groups, at = release.groups(*names), [release.names.index(name) for name in names]
        few |= {i for i, row in enumerate(release.rows) if groups[tuple(row[j] for j in at)] < 5}
    assert len(few) == release.check("sensitive_alone")["observed"] <= 30
    whole = release.check("unique_with_sensitive")
    assert whole["observed"] == pytest.approx(alone(release.rows) / len(release.rows))
    assert f"{100 * whole['observed']:.1f}".removesuffix(".0") in release.page
    homogeneity = release.check("homogeneity(category)")
    assert homogeneity["required"] is None and "measured only" in release.page
    assert release.report["privacy"]["published_uniqueness"]["columns"] == ["year", "shoe"]


@pytest.mark.skipif(not DATA, reason="needs the reference data")
@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_a_real_register_with_dates_is_refused_whatever_share_is_allowed(tmp_path: Path, role: str) -> None:
    register = read(Path(str(DATA)) / "driver_licences_valle_aosta.csv.gz")
    names = ("sesso", "data_rilascio", "data_scadenza", "punti_patente")
    columns = {"sesso": "quasi", **dict.fromkeys(names[1:], role)}
    rows = list(zip(*(c.to_pylist() for c in register.select(names).to_arrow().columns), strict=True))[:20_000]
    spec = publication(tmp_path, rows, columns, published_uniqueness={"max_share": 0.01, "max_share_alone": 1.0})
    said = refused(spec)
    if role == "other":
        assert f"{alone(rows):,} rows are alone" in said and "k-anonymity with all other columns" in said
    else:
        assert "100 of 20,000 allowed" in said and "data_rilascio" in said.partition("most by")[2]
