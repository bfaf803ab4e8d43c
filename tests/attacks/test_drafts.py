"""A draft that is accepted without being read: 2,000 people with five visits each, and their numbers."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from anon_airflow.cli import anon
from anon_core.spec import load_spec
from tests.attacks.attacker import Release, publication, refused
from tests.faults.publications import csv_text

NAMES = ("person", "visit_date", "sex", "year_of_birth", "department", "diagnosis")


def visits(people: int, name: str) -> tuple[str, set[str]]:
    """Return a source of people with five visits each, as text, and the numbers of these people."""
    draw = random.Random(20)
    known = [
        (str(400_000 + number * 7919 % 500_000), draw.choice("FM"), str(draw.randrange(1940, 2005)))
        for number in range(people)
    ]
    rows = [
        (
            number,
            f"2026-{draw.randrange(1, 13):02}-{draw.randrange(1, 29):02}",
            sex,
            born,
            draw.choice(("surgery", "medicine", "eyes")),
            draw.choice(("I10", "E11", "J45", "M54", "K21")),
        )
        for number, sex, born in known
        for _ in range(5)
    ]
    draw.shuffle(rows)
    return csv_text(rows, (name, *NAMES[1:])), {number for number, *_ in known}


def drafted(folder: Path, people: int, name: str) -> tuple[Path, set[str]]:
    text, numbers = visits(people, name)
    (folder / "visits.csv").write_text(text)
    spec = folder / "visits.yaml"
    assert invoke("init", str(folder / "visits.csv"), "--output", str(spec)).exit_code == 0
    return spec, numbers


@pytest.mark.parametrize("name", ["person", "number", "patient_id"])
def test_two_thousand_people_with_five_visits_are_not_published_by_a_draft(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    spec, _ = drafted(tmp_path, 2000, name)
    publication = load_spec(spec)
    assert publication.columns[name].role == "identifier" and publication.unit.columns == (name,)
    ended = invoke("run", str(spec), "--json")
    assert ended.exit_code == 1 and "is a draft" in json.loads(ended.stdout)["reasons"][0]
    assert published(tmp_path) == []


def test_a_reviewed_draft_publishes_no_number_of_a_person_and_classes_of_k_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    spec, numbers = drafted(tmp_path, 60, "person")
    text = spec.read_text().replace("reviewed: false ", "reviewed: {by: Ada, on: 2026-01-02} ")
    text = text.replace("max_share_with_sensitive: 0.25", "max_share_with_sensitive: 0.5")
    spec.write_text(text.replace("method: best", "method: global"))  # Faster, and the roles are those of the draft.
    ended = invoke("run", str(spec), "--json")
    assert json.loads(ended.stdout)["verdict"] == "published", ended.output
    assert "at least <strong>11 people</strong>" in (tmp_path / "portal/visits/index.html").read_text()
    for path in published(tmp_path):
        words = set(path.read_text().replace('"', ",").replace("\n", ",").split(","))
        assert not numbers & words, path.name


@pytest.mark.parametrize("role", ["quasi", "other", "sensitive"])
@pytest.mark.parametrize("name", ["patient_id", "person", "case_no", "number", "Aktenzeichen"])
def test_a_number_of_a_person_that_claims_to_be_harmless_is_refused(tmp_path: Path, name: str, role: str) -> None:
    """Five visits each, k = 5: counted in rows every class would be large enough, and one person's."""
    rows = [(f"{400_000 + at // 5}", "FM"[at // 5 % 2]) for at in range(500)]
    said = refused(publication(tmp_path, rows, {name: role, "sex": "quasi"}))
    assert f"{name} spans units: 500 rows, 100 people; say `unit: {name}`" in said


@pytest.mark.parametrize("name", ["postal_code", "amount", "diagnosis_code"])
def test_a_number_of_something_else_is_no_number_of_a_person(tmp_path: Path, name: str) -> None:
    rows = [(f"{40_000 + at // 10}", "FM"[at // 10 % 2]) for at in range(500)]
    assert Release(publication(tmp_path, rows, {name: "quasi", "sex": "quasi"})).page


def test_a_number_that_no_name_betrays_is_believed_and_readers_are_told_so(tmp_path: Path) -> None:
    """The claim of a reviewer who publishes such a column as quasi stands: docs/privacy.md names it as not promised."""
    rows = [(f"{400_000 + at // 5}", "FM"[at // 5 % 2]) for at in range(500)]
    page = Release(publication(tmp_path, rows, {"card": "quasi", "sex": "quasi"})).page
    assert "The publisher states that every row is another person" in page and "not verifi" in page


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(anon, list(arguments))


def published(folder: Path) -> list[Path]:
    return sorted((folder / "portal").rglob("*.csv"))
