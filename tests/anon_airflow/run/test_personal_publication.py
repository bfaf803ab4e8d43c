"""Personal data in what would be published shuts the gate, and only an acceptance by name, of today, opens it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from anon_airflow.gate.waivers import exceptions_note
from anon_airflow.run.summary import _verdict
from anon_core.errors import AnonError
from anon_core.models.measurement import counts_as_check
from anon_core.site.policy import SitePolicy, SiteUniqueness
from tests.anon_airflow.gate.gate_publications import COLUMNS, ROWS, TODAY, failed, publication_of, publisher, text_of

MAIL, PHONE = "write to canary.77@example.org, please", "ring +39 0165 777777"


def with_notes(note):
    return [(*row[:3], note if at == 0 else "3") for at, row in enumerate(ROWS)]


@pytest.fixture(name="publish")
def gate_of_a_folder(tmp_path):
    return publisher(tmp_path)


def accept(pattern="email", days=30, **changes):
    one = {"column": "points", "pattern": pattern, "reason": "the office asked for it", "by": "R. Rossi"}
    return {"accept": [{**one, "until": TODAY + timedelta(days=days), **changes}]}


ROLE = {"columns": {**COLUMNS, "points": {"role": "sensitive"}}}
LOOSE = {"published_uniqueness": {"max_share": 1.0}, **ROLE}


@pytest.mark.parametrize("role", ["other", "sensitive", "quasi"])
@pytest.mark.parametrize("note", [MAIL, PHONE])
def test_one_address_in_a_note_shuts_the_gate_whatever_the_role(publish, role, note):
    verdict = publish(with_notes(note), **{**LOOSE, "columns": {**COLUMNS, "points": {"role": role}}})
    assert "personal_patterns" in failed(verdict)
    assert "canary" not in text_of(verdict).lower() and "777777" not in text_of(verdict)
    assert any("points" in reason and "privacy.patterns.accept" in reason for reason in verdict.reasons)


def test_an_acceptance_by_name_opens_it_and_stands_in_the_reports(publish, tmp_path):
    assert publish(with_notes(MAIL), patterns=accept(), **LOOSE).passed
    verdict = publish(with_notes(MAIL), patterns=accept(), **LOOSE)
    policy = publication_of(tmp_path, patterns=accept(), **LOOSE)
    (one,) = exceptions_note(policy, verdict, TODAY)["accepted"]
    assert one["columns"] == ["points"] and one["pattern"] == "email" and one["needed"] is True
    (unused,) = exceptions_note(policy, publish(patterns=accept(), **LOOSE), TODAY)["accepted"]
    assert unused["needed"] is False


@pytest.mark.parametrize(
    ("acceptance", "failing"),
    [
        (accept("telephone"), {"personal_patterns"}),
        (accept(column="category"), {"personal_patterns"}),
        (accept(days=-1), {"acceptance", "personal_patterns"}),
    ],
)
def test_another_acceptance_or_an_ended_one_does_not(publish, acceptance, failing):
    assert failed(publish(with_notes(MAIL), patterns=acceptance, **LOOSE)) == failing


def test_an_acceptance_until_a_day_too_far_ahead_does_not_either(publish):
    site = SitePolicy(k=2, min_people=1, published_uniqueness=SiteUniqueness(max_share=1.0, max_share_alone=1.0))
    notes = with_notes(MAIL)
    assert publish(notes, site=site, patterns=accept(days=366), **LOOSE).passed
    assert failed(publish(notes, site=site, patterns=accept(days=367), **LOOSE)) == {"site_policy"}


@pytest.mark.parametrize(
    ("privacy", "words"),
    [
        ({"waivers": [{"check": "personal_patterns", "reason": "r", "by": "A", "until": TODAY}]}, "accept the pattern"),
        ({"patterns": accept(column="id")}, "is never published: nothing is to be accepted"),
        ({"patterns": accept(column="pointz")}, "did you mean `points`"),
        ({"patterns": accept(reason="because 12345")}, "at least 10 letters"),
        ({"patterns": accept(reason="x" + "\u3164" * 12)}, "at least 10 letters"),
        ({"patterns": accept(pattern="mail")}, "privacy.patterns.accept"),
    ],
)
def test_what_cannot_be_accepted_is_an_error_with_its_line(tmp_path, privacy, words):
    with pytest.raises(AnonError, match=words):
        publication_of(tmp_path, **privacy)


def test_names_of_people_are_told_of_and_counted_among_no_checks(publish):
    names = [f"{first} {last}" for first in ("Anna", "Luca", "Eva") for last in ("Rossi", "Neri")]
    rows = [(*row[:3], names[at % 6]) for at, row in enumerate(ROWS)]
    verdict = publish(rows, **LOOSE)
    (found,) = [one for one in verdict.checks if one.name == "personal_names"]
    assert found.passed and found.required is None and found.observed == 1 and "points (name): 6" in found.sentence
    report = {**verdict.to_dict(), "outcome": "published", "version": "v"}
    counted = sum(counts_as_check(passed=one.passed, required=one.required) for one in verdict.checks)
    assert counted < len(verdict.checks)
    assert f"({counted} of {counted} checks hold)" in _verdict(report)
