"""Personal data in what is called sensitive, and generalised cells that other published columns give back."""

from __future__ import annotations

import hashlib
import random
import re
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from anon_core.table import read
from tests.attacks.attacker import Columns, Release, Rows, publication, refused

YEARS = ("1950", "1960", "1970", "1980")


def test_a_hash_of_a_tax_code_is_refused(tmp_path: Path) -> None:
    """Who has a list of tax codes hashes them all: a hash is a name, as long as it is one person's."""
    hashes = [hashlib.sha256(f"RSSMRA{at:05}".encode()).hexdigest() for at in range(400)]
    rows = [(YEARS[at % 4], hashes[at]) for at in range(400)]
    said = refused(publication(tmp_path / "a", rows, {"year": "quasi", "code": "sensitive"}))
    assert "100.0% of the values of code occur once" in said
    assert "400 rows have a value of code that fewer than 5 share" in said and "4 of 400 allowed" in said
    again = [("id", *row) for row in rows]
    again = [(f"P{at % 400:04}", *again[at % 400][1:]) for at in range(1200)]
    columns: Columns = {"person": "identifier", "year": "quasi", "code": "sensitive"}
    said = refused(publication(tmp_path / "b", again, columns, unit="person"))
    assert "400 people have a value of code that fewer than 5 share" in said


@pytest.mark.parametrize("role", ["sensitive", "other"])
def test_notes_with_three_hundred_addresses_are_refused(tmp_path: Path, role: str) -> None:
    draw = random.Random(300)
    notes = [f"called back, see anna.rossi{at}@example.org" for at in range(300)]
    notes += [draw.choice(("nothing", "called", "wrote")) for _ in range(3700)]
    rows = [(YEARS[at % 4], note) for at, note in enumerate(notes)]
    accept = {"columns": ["notes"], "reason": "a list of contacts", "by": "A. Rossi", "until": "2999-12-31"}
    limits = {"max_share": 1.0, "max_share_alone": 1.0, "accept": [accept] if role == "other" else []}
    said = refused(publication(tmp_path, rows, {"year": "quasi", "notes": role}, published_uniqueness=limits))
    assert re.search(r"notes.*e-mail address", said) and "300" in said and "@" not in said, said
