"""The first publication file: it loads, its ladders cover the table, and it holds names and counts only."""

from __future__ import annotations

import datetime
import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_airflow.commands.init import init
from anon_airflow.draft.text import draft, largest_set, quoted
from anon_core.errors import InvalidInputError
from anon_core.hierarchy.build import ladders
from anon_core.role import Role
from anon_core.spec import Publication, load_spec
from anon_core.table import ReadOptions, Table, read
from tests.properties.tables import Cell, Row, table_of
from tests.properties.tables import small_tables as tables

ROOT = Path(__file__).resolve().parents[3]


def drafted(table: Table, folder: Path, **options: object) -> tuple[str, Publication]:
    settings_ = {"dataset": "people", "source": folder / "people.csv", "delimiter": "auto", "encoding": "utf-8"}
    settings_ |= {"missing_words": [""], "today": datetime.date(2026, 7, 1)}
    text = draft(table, **{**settings_, **options})
    path = folder / "people.yaml"
    path.write_text(text, encoding="utf-8")
    return text, load_spec(path)


def cover(publication: Publication, table: Table) -> None:
    """Build every ladder; it raises where one does not cover its column."""
    ladders(publication, table, [name for name, column in publication.columns.items() if column.role == "quasi"])


NAMES = ["id", "Geburtsdatum", "plz", "Stadt", "income", "issued", "Größe in cm", "mail", "lat", "Bemerkungen", "k"]


def row(n: int) -> Row:
    return (
        str(n),
        f"{1930 + n % 80}-{n % 12 + 1:02}-{n % 28 + 1:02}",
        f"{1000 + n % 90 * 1000:05}",
        ["Dresden", "Köln"][n % 2],
        str(10_000 + n % 97 * 1000),
        f"20{10 + n % 5}-01-01",
        str(150 + n % 49),
        f"canary{n % 50}@example.org",
        f"45.{1000 + n % 150}",
        "canary text",
        "x",
    )


def test_a_few_cells_that_are_no_dates_do_not_cost_the_hierarchy(tmp_path: Path) -> None:
    days = [f"{n % 28 + 1:02}/{n % 12 + 1:02}/{1930 + n % 80}" for n in range(300)]
    table = table_of(["Geburtsdatum", "Stadt"], [(day, "Köln") for day in [*days, "canary", "canary", "1970"]])
    text, publication = drafted(table, tmp_path)
    hierarchy = publication.columns["Geburtsdatum"].hierarchy
    assert hierarchy is not None
    assert (hierarchy.date, hierarchy.unmapped) == (("month", "year", "decade"), "suppress")
    assert "not dates in the form of most: 2 values in 3 rows, published as *" in text
    assert "canary" not in text
    cover(publication, table)


def test_a_draft_loads_and_its_ladders_cover_the_table(tmp_path: Path) -> None:
    table = table_of(NAMES, [row(n) for n in range(300)])
    text, publication = drafted(table, tmp_path)
    cover(publication, table)
    assert {name: str(column.role) for name, column in publication.columns.items()} == {
        "id": "identifier",
        "Geburtsdatum": "quasi",
        "plz": "quasi",
        "Stadt": "quasi",
        "income": "sensitive",
        "issued": "quasi",
        "Größe in cm": "quasi",
        "mail": "identifier",
        "lat": "quasi",
        "Bemerkungen": "drop",
        "k": "other",
    }
    hierarchies = {name: column.hierarchy for name, column in publication.columns.items() if column.hierarchy}
    assert hierarchies["Geburtsdatum"].date == ("month", "year", "decade")
    assert hierarchies["issued"].date == ("month", "quarter", "year")
    assert hierarchies["plz"].prefix == (4, 3, 2, 1)
    assert hierarchies["Stadt"].root == "*"
    assert hierarchies["lat"].intervals == (0.01, 0.1, 1)
    assert hierarchies["Größe in cm"].intervals == (5, 10, 20)
    assert publication.detect.max_size == 4
    assert "canary" not in text
    assert "Dresden" not in text


def test_a_draft_tells_the_reason_of_every_role_and_what_singles_people_out(tmp_path: Path) -> None:
    table = table_of(["id", "born", "sex"], [(str(n), str(1930 + n % 70), "FM"[n % 2]) for n in range(100)])
    text, _ = drafted(table, tmp_path)
    assert '"id": {role: identifier}  # its name says that it is a record number (all languages); 100 distinct' in text
    assert re.search(r'#   "born": 40\.0% of the rows stand alone', text)
    assert re.search(r'# Chosen as quasi-identifiers, .* identify everyone: "born": 40 rows alone, 70 dist', text)
    assert "elected" not in text.lower()
    assert "Identifies every row" not in text


def test_a_draft_lists_no_set_that_singles_out_no_more_than_a_smaller_one(tmp_path: Path) -> None:
    """On both columns everyone is alone; a third, and one that follows from another, add nothing."""
    rows = [(str(1950 + n % 20), f"town {n // 20}", f"region {n // 40}", "x") for n in range(100)]
    text, _ = drafted(table_of(["born", "town", "region", "land"], rows), tmp_path)
    listed = re.findall(r"^#   (\".*): (.*)% of the rows stand alone$", text, re.MULTILINE)
    assert listed == [('"born"', "0.0"), ('"born" + "town"', "100.0")]
    (chosen,) = re.findall(r"^# Chosen as quasi-identifiers, .*$", text, re.MULTILINE)
    assert "apart from sets that identify everyone" in chosen and '"town"' not in chosen


def test_a_draft_explains_every_role_in_a_line_and_names_the_document(tmp_path: Path) -> None:
    text, _ = drafted(table_of(["born", "sex"], [(str(n), "FM"[n % 2]) for n in range(30)]), tmp_path)
    explained = re.findall(r"^#   (\w+)  +\w.*: .*published", text, re.MULTILINE)
    assert sorted(explained) == sorted(Role)
    assert "docs/publication-file.md" in text and (ROOT / "docs/publication-file.md").exists()


def test_sets_that_identify_every_row_are_told(tmp_path: Path) -> None:
    rows = [(str(1950 + n % 20), f"town {n // 20}") for n in range(100)]
    text, _ = drafted(table_of(["born", "town"], rows), tmp_path)
    assert '# Identifies every row: "born" + "town"' in text


def test_dates_get_a_date_hierarchy_if_they_exist_and_say_where_the_day_stands(tmp_path: Path) -> None:
    rows = [
        (f"{n % 28 + 1:02}/04/{1930 + n % 80}", f"{n % 12 + 1:02}/04/{1930 + n % 80}", "2019-02-30") for n in range(99)
    ]
    table = table_of(["data_nascita", "data_di_nascita_2", "issued"], rows)
    _, publication = drafted(table, tmp_path)
    cover(publication, table)
    assert publication.columns["data_nascita"].hierarchy.date == ("month", "year", "decade")
    assert publication.columns["data_di_nascita_2"].hierarchy.root == "*"
    assert publication.columns["issued"].hierarchy.root == "*"


def test_a_table_of_which_nothing_could_be_published_is_refused_with_the_reasons(tmp_path: Path) -> None:
    table = table_of(["id", "Cognome"], [(str(n), "Canary") for n in range(30)])
    with pytest.raises(InvalidInputError) as refused:
        drafted(table, tmp_path)
    assert '"Cognome": its name says that it is a personal name (Italian)' in str(refused.value)
    assert "Canary" not in str(refused.value)


PEOPLE = [(town, sex) for town in ("Köln", "Bonn") for sex in "FM" for _ in range(10)]


def csv_of(rows: list[tuple[str, str]]) -> str:
    return "town,sex\n" + "".join(f"{town},{sex}\n" for town, sex in rows)


def test_a_draft_of_a_pattern_names_the_pattern_and_the_encoding_of_its_files(tmp_path: Path) -> None:
    for name, rows in (("one.csv", PEOPLE), ("two.csv", PEOPLE[5:])):
        (tmp_path / name).write_text(csv_of(rows), encoding="cp1252")
    ended = CliRunner().invoke(init, [str(tmp_path / "*.csv"), "--output", str(tmp_path / "people.yaml")])
    assert ended.exit_code == 0, ended.exception
    publication = load_spec(tmp_path / "people.yaml")
    assert publication.source.encoding == "cp1252"
    assert publication.source.file == str(tmp_path / "*.csv")
    assert "made from 75 rows" in (tmp_path / "people.yaml").read_text(encoding="utf-8")


def test_parquet_is_known_by_its_beginning_and_a_table_of_text_called_parquet_is_text(tmp_path: Path) -> None:
    table = table_of(["town", "sex"], list(PEOPLE))
    pq.write_table(table.to_arrow(), tmp_path / "people.csv")
    (tmp_path / "people.parquet").write_text(csv_of(PEOPLE), encoding="cp1252")
    for name, encoding in (("people.csv", "utf-8"), ("people.parquet", "cp1252")):
        _, publication = drafted(table, tmp_path, source=tmp_path / name, encoding="auto")
        assert publication.source.encoding == encoding


def test_a_row_is_counted_in_the_singular(tmp_path: Path) -> None:
    text, _ = drafted(table_of(["town"], [("x",)] * 2 + [("y",)]), tmp_path)
    assert "1 row alone, 2 distinct" in text


def test_of_many_sets_that_identify_every_row_ten_are_named_and_the_others_counted(tmp_path: Path) -> None:
    rows: list[Row] = [
        (str(x), str(y), *(str((x + step * y) % 5) for step in range(1, 5))) for x in range(5) for y in range(5)
    ]
    text, _ = drafted(table_of(list("abcdef"), rows), tmp_path)
    assert text.count("# Identifies every row: ") == 10
    assert "# Further sets that identify every row: 5\n" in text, "any two of the six columns are one"


def test_a_draft_without_quasi_identifiers_recodes_nothing(tmp_path: Path) -> None:
    _, publication = drafted(table_of(["income"], [(str(n % 10),) for n in range(99)]), tmp_path)
    assert publication.recode.method == "none"


UGLY = ["a: b", "# c", '"quoted"', "é", "{a}", "- a", "😀", "'", "\ufeff",
         "*", "null", "true", "1", "\U000e0001" * 200, "\u200b", "\U000e0001", "y", "\\", "\ud7ff"]  # fmt: skip


@pytest.mark.parametrize("name", UGLY)
def test_any_name_comes_back_as_it_was(tmp_path: Path, name: str) -> None:
    table = table_of([name, "sex"], [(str(n % 7), "FM"[n % 2]) for n in range(70)])
    text, publication = drafted(table, tmp_path)
    assert list(publication.columns) == [name, "sex"]
    cover(publication, table)
    assert len(text.splitlines()) == text.count("\n"), "no name breaks a line where Python or YAML see one"


@settings(max_examples=150, deadline=None)
@given(text=st.text(st.characters(codec="utf-8"), max_size=20))
def test_a_quoted_text_is_one_line_that_yaml_reads_back(text: str) -> None:
    import yaml

    assert len(quoted(text).splitlines()) == 1
    assert yaml.safe_load(f"- {quoted(text)}  # {quoted(text)}") == [text]


@settings(max_examples=60, deadline=None)
@given(small=tables(max_rows=20))
def test_the_draft_of_any_small_table_loads_or_says_why_not(small, tmp_path_factory: pytest.TempPathFactory) -> None:
    table = small.table
    try:
        _, publication = drafted(table, tmp_path_factory.mktemp("draft"))
    except InvalidInputError as refused:
        assert "no column would be left to publish" in str(refused)
        return
    assert set(publication.columns) == set(table.names)
    cover(publication, table)


def test_wide_tables_are_searched_up_to_smaller_sets(tmp_path: Path) -> None:
    assert [largest_set(columns) for columns in (1, 3, 20, 60, 200, 1000)] == [1, 3, 4, 3, 2, 1]
    cells: list[Row] = [tuple(str((n * (c + 3)) % 7) for c in range(60)) for n in range(40)]
    text, publication = drafted(table_of([f"c{n}" for n in range(60)], cells), tmp_path)
    assert publication.detect.max_size == 3
    assert "combinations of levels" in text


def test_gaps_and_missing_words_go_through(tmp_path: Path) -> None:
    cells: list[Cell] = [None, "1", "2", "30", "31", "44", "45"]
    table = table_of(["age", "town"], [(cells[n % 7], None if n % 3 else "x") for n in range(70)])
    text, publication = drafted(table, tmp_path, missing_words=["", "n/a"])
    cover(publication, table)
    assert publication.source.missing_words == ("", "n/a")
    assert "6 distinct, 10 missing" in text


@pytest.mark.reference
@pytest.mark.parametrize("name", ["adult.csv.gz", "driver_licences_valle_aosta.csv.gz", "uccs/german_credit.csv"])
def test_drafts_of_real_tables_load_and_cover_them(reference_data: Path, tmp_path: Path, name: str) -> None:
    table = read(reference_data / name, ReadOptions(delimiter="auto"))
    _, publication = drafted(table, tmp_path, source=reference_data / name)
    cover(publication, table)
    if name.startswith("driver"):
        assert publication.columns["data_rilascio"].hierarchy.date == ("month", "year", "decade")
        assert publication.columns["anno_nascita"].hierarchy.intervals == (5, 10, 20)
    if name.startswith("adult"):
        assert publication.columns["fnlwgt"].hierarchy.intervals == (20_000, 100_000, 200_000)
