"""Commands that are given a table count rows, and say that these are not people, until people are told apart."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.faults.anon_process import anon

ROWS = [(f"p{n // 3}", "Alba" if n < 6 else "Elva", "FM"[n % 2], "abcd"[n % 4]) for n in range(12)]
QUASI = ("--quasi", "town,sex")


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("\n".join(",".join(row) for row in [("person", "town", "sex", "visit"), *ROWS]) + "\n")
    return path


def spec_of(folder: Path, **changes: object) -> Path:
    content = {
        "columns": {
            "person": {"role": "identifier"},
            "town": {"role": "quasi"},
            "sex": {"role": "quasi"},
            "visit": {"role": "sensitive"},
        },
        "privacy": {"k": 2, "published_uniqueness": {"max_share_with_sensitive": 1.0}},
        **changes,
    }
    path = folder / "visits.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


@pytest.mark.parametrize(
    "words",
    [
        ("profile",),
        ("detect", "--exclude", "person"),
        ("select", "--columns", "town,sex"),
        ("uccs", "--exclude", "person"),
        ("score", "--exclude", "person"),
        ("check", *QUASI),
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_counts_rows_says_that_they_are_not_people(
    tmp_path: Path, visits: Path, words: tuple[str, ...]
) -> None:
    ended = anon(words[0], visits, *words[1:], home=tmp_path / "home")
    assert "12 rows, not people" in ended.out, ended.err


def test_recoding_says_what_it_counts(tmp_path: Path, visits: Path) -> None:
    out = tmp_path / "out.csv"
    rows = anon("recode", visits, "--spec", spec_of(tmp_path), "--output", out, home=tmp_path / "home")
    assert rows.out.startswith("visits.csv: 12 rows, not people; method global")
    spec = spec_of(tmp_path, unit="person")
    people = anon("recode", visits, "--spec", spec, "--output", out, "--force", home=tmp_path / "home")
    assert people.out.startswith("visits.csv: 12 rows, people told apart by person; method global")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("detect",), "visits.csv: 4 people"),
        (("check", *QUASI, "-k", "2"), "visits.csv: 4 people, told apart by person"),
    ],
    ids=["detect", "check"],
)
def test_with_a_unit_it_counts_people(tmp_path: Path, visits: Path, words: tuple[str, ...], said: str) -> None:
    ended = anon(words[0], visits, *words[1:], "--unit", "person", home=tmp_path / "home")
    assert said in ended.out, ended.err
    assert "not people" not in ended.out


def test_freeform_anonymity_with_several_rows_of_a_person_is_refused_with_what_to_do(
    tmp_path: Path, visits: Path
) -> None:
    content = {"k": 2, "freeform": {"sigma_o": 1, "sigma_t": 0.5, "columns": {"visit": {"guard": ["a"]}}}}
    columns = {
        "person": {"role": "identifier"},
        "town": {"role": "quasi"},
        "sex": {"role": "quasi"},
        "visit": {"role": "sensitive", "hierarchy": {"root": "any"}},
    }
    content["published_uniqueness"] = {"max_share_with_sensitive": 1.0}
    spec = spec_of(tmp_path, unit="person", privacy=content, columns=columns, recode={"method": "freeform"})
    ended = anon("recode", visits, "--spec", spec, "--output", tmp_path / "out.csv", home=tmp_path / "home")
    assert ended.code != 0
    assert "`privacy.freeform` cannot count people yet, and one person has several rows: remove it" in ended.err
