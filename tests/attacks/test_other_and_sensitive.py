"""Columns declared harmless, or sensitive, as an attacker uses them: by what is published, and nothing else."""

from __future__ import annotations

import csv
import json
import os
import random
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.errors import RefusedError, SpecError
from anon_core.spec import load_spec
from anon_core.table import read
from tests.airflow_side.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import csv_text

Rows = list[tuple[str, ...]]
DATA = os.environ.get("ANON_REFERENCE_DATA")
ACCEPTED = {"reason": "printed in a public list", "by": "A. Rossi", "until": "2999-12-31"}


def publication(folder: Path, rows: Rows, columns: dict[str, str], **privacy: Any) -> Path:
    """Write a publication of some rows; ``columns`` has the role of each."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "x.csv").write_text(csv_text(rows, list(columns)))
    uniqueness = {"max_share_with_sensitive": 1.0, **privacy.pop("published_uniqueness", {})}
    spec = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "x.csv"},
        "columns": {name: {"role": role} for name, role in columns.items()},
        "detect": {"max_size": 1},
        "privacy": {"k": 5, **privacy, "published_uniqueness": uniqueness},
        "recode": {"method": "none"},
        "unit": "row",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return path


def refused(spec: Path) -> str:
    run = run_of(spec, spec.parent / "home")
    with pytest.raises(RefusedError) as caught:
        take(run, *UNTIL_GATE)
    take(run, "record")
    assert not list((spec.parent / "portal").rglob("*.csv")), "an attacker has nothing to read"
    return str(caught.value)


class Release:
    """What anybody can read of a release: its table, its report and its page."""

    def __init__(self, spec: Path) -> None:
        take(run_of(spec, spec.parent / "home"), *UNTIL_GATE, "publish")
        latest = spec.parent / "portal/people/latest"
        with (latest / "people.csv").open() as file:
            self.names, *rows = csv.reader(file)
        self.rows: Rows = [tuple(row) for row in rows]
        self.report = json.loads((latest / "report.json").read_text())
        self.page = (spec.parent / "portal/people/index.html").read_text()

    def groups(self, *names: str) -> Counter[tuple[str, ...]]:
        at = [self.names.index(name) for name in names or self.names]
        return Counter(tuple(row[i] for i in at) for row in self.rows)

    def check(self, name: str) -> dict[str, Any]:
        return next(one for one in self.report["privacy"]["checks"] if one["name"] == name)


def alone(rows: Rows) -> int:
    return sum(times == 1 for times in Counter(rows).values())


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
    assert "singles anybody out" not in release.page and "but for the accepted exceptions below" in release.page


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
    assert "Not searched, because others are not expected to know them: category, points" in release.page


@pytest.mark.skipif(not DATA, reason="needs the reference data")
@pytest.mark.parametrize("role", ["other", "sensitive"])
def test_a_real_register_with_dates_is_refused_whatever_share_is_allowed(tmp_path: Path, role: str) -> None:
    register = read(Path(str(DATA)) / "driver_licences_valle_aosta.csv.gz")
    names = ("sesso", "data_rilascio", "data_scadenza", "punti_patente")
    columns = {"sesso": "quasi", **dict.fromkeys(names[1:], role)}
    rows = list(zip(*(c.to_pylist() for c in register.select(names).to_arrow().columns), strict=True))
    spec = publication(tmp_path, rows, columns, published_uniqueness={"max_share": 0.01, "max_share_alone": 1.0})
    said = refused(spec)
    if role == "other":
        assert f"{alone(rows):,} rows are alone" in said and "k-anonymity with all other columns" in said
    else:
        assert "100 of 87,642 allowed" in said and "most by data_rilascio with data_scadenza" in said
