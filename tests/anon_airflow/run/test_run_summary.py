"""The summary of a run says nothing that another line of it denies."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.faults.anon_process import anon
from tests.faults.publications import COLUMNS, people, write_publication

SUMMARY = (Path(__file__).resolve().parents[3] / "docs/summary.md").read_text(encoding="utf-8")


def line(text: str, beginning: str) -> str:
    (found,) = [one for one in text.splitlines() if one.startswith(f"  {beginning}  ")]
    return found


def test_beside_sets_that_identify_every_row_the_chosen_set_is_said_to_be_of_the_others(tmp_path: Path) -> None:
    columns = {**COLUMNS, "notes": {"role": "other"}}
    text = anon("run", write_publication(tmp_path, columns=columns), home=tmp_path / "home").out
    assert line(text, "identify every row").endswith("  notes")
    assert "%, the most of all sets that do not identify everyone); sets up to 3" in line(text, "found in the data")


def test_where_no_set_identifies_every_row_the_chosen_set_is_simply_the_best(tmp_path: Path) -> None:
    rows = [row for row in people(200) for _ in range(2)]
    word = {"reason": "Every pair of rows is two people", "by": "Ada", "until": "2027-06-30"}
    spec = write_publication(tmp_path, rows, unit={"rows_are_people": word})
    text = anon("run", spec, home=tmp_path / "home").out
    assert "not everyone" not in line(text, "found in the data")


def test_where_people_have_several_rows_the_best_set_singles_out_people(tmp_path: Path) -> None:
    rows = [row for row in people(200) for _ in range(2)]
    text = anon("run", write_publication(tmp_path, rows, unit="id"), home=tmp_path / "home").out
    assert " people (" in line(text, "found in the data")
    published = len((tmp_path / "include/portal/people/latest/people.csv").read_text().splitlines()) - 1
    assert line(text, "rows published").endswith(f"  {published} ({400 - published} removed by recoding)")


def test_a_refusal_by_a_step_is_by_what_the_step_does(tmp_path: Path) -> None:
    spec = write_publication(tmp_path, privacy={"l_diversity": [{"column": "points", "l": 99}]})
    assert "REFUSED by recoding (" in anon("run", spec, home=tmp_path / "home").out


@pytest.mark.parametrize(
    "words",
    [
        "quasi-identifiers",
        "singletons",
        "k (smallest class)",
        "most sensitive",
        "information left",
        "NUE",
        "counts by one column are off by",
        "receipt",
        "informed",
    ],
)
def test_the_page_on_the_summary_says_what_each_line_that_it_shows_means(words: str) -> None:
    shown, table = re.search(r"\$ make demo\n(.*?)```.*\n\| line of the summary (.*?)\n\n", SUMMARY, re.DOTALL).groups()  # type: ignore[union-attr]
    assert words in table
    assert words in shown or words == "receipt"
