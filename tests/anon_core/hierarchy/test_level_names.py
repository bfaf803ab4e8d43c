"""Names of the levels of a hierarchy file: those of the publication file, or made from the name of the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.errors import HierarchyError, SpecError
from anon_core.hierarchy.build import ladder
from anon_core.hierarchy.coarsen import check_levels
from anon_core.spec import Hierarchy, load_spec
from tests.properties.tables import table_of

TOWNS = "Alba;North;Land;*\nBria;North;Land;*\nCusa;South;Land;*\n"
SPEC = """
columns:
  town: {{role: quasi, hierarchy: {{{hierarchy}}}}}
  ill: {{role: sensitive}}
privacy: {{k: 2}}
"""


def names_of(folder: Path, hierarchy: Hierarchy) -> tuple[str, ...]:
    """Return the names of the levels of a column of towns."""
    column = table_of(["town"], [("Alba",), ("Cusa",)]).column("town")
    return ladder(column, hierarchy, folder).level_names


def spec_of(folder: Path, hierarchy: str) -> Path:
    (folder / "towns.csv").write_text(TOWNS)
    path = folder / "people.yaml"
    path.write_text(SPEC.format(hierarchy=hierarchy))
    return path


def test_levels_have_the_names_of_the_publication_file(tmp_path: Path) -> None:
    (tmp_path / "towns.csv").write_text(TOWNS)
    found = names_of(tmp_path, Hierarchy(file="towns.csv", levels=("municipality", "province", "region")))
    assert found == ("municipality", "province", "region", "suppressed")


def test_levels_without_names_are_described_by_their_file(tmp_path: Path) -> None:
    (tmp_path / "old_towns.csv").write_text(TOWNS)
    found = names_of(tmp_path, Hierarchy(file="old_towns.csv"))
    assert found == ("as collected", "old towns grouped, level 1 of 2", "old towns grouped, level 2 of 2", "suppressed")


def test_names_of_the_publication_file_replace_those_of_rules(tmp_path: Path) -> None:
    (tmp_path / "towns.rules").write_text("level 1: provinces\n{Alba, Bria} => North\n{Cusa} => South\n")
    assert names_of(tmp_path, Hierarchy(file="towns.rules"))[1] == "provinces"
    assert names_of(tmp_path, Hierarchy(file="towns.rules", levels=("town", "province")))[:2] == ("town", "province")


@pytest.mark.parametrize("names", ["[municipality, province]", "[a, b, c, d]"])
def test_another_number_of_names_than_levels_is_refused_before_the_source_is_read(tmp_path: Path, names: str) -> None:
    publication = load_spec(spec_of(tmp_path, f"file: towns.csv, levels: {names}"), partial=True)
    with pytest.raises(
        HierarchyError, match=r"columns.town.hierarchy.levels: `towns.csv` has 3 levels .* but [24] name"
    ):
        check_levels(publication)
    column = table_of(["town"], [("Alba",)]).column("town")
    with pytest.raises(HierarchyError, match="give one name for each"):
        ladder(column, publication.columns["town"].hierarchy, tmp_path)


@pytest.mark.parametrize(
    ("hierarchy", "why"),
    [
        ("root: any, levels: [town]", "names the levels of a hierarchy file; set `file` too"),
        ("file: towns.csv, levels: [a, b, a]", "twice"),
        ("file: towns.csv, levels: [a, b, suppressed]", "should not have a level named"),
        ("file: towns.csv, levels: []", "should not be empty"),
    ],
)
def test_names_that_cannot_be_used_are_refused_by_their_key(tmp_path: Path, hierarchy: str, why: str) -> None:
    with pytest.raises(SpecError, match=why) as caught:
        load_spec(spec_of(tmp_path, hierarchy), partial=True)
    assert [problem.where for problem in caught.value.problems] == ["columns.town.hierarchy.levels"]


def test_a_sensitive_column_can_be_coarsened_to_a_level_by_its_name(tmp_path: Path) -> None:
    path = spec_of(tmp_path, "root: any")
    path.write_text(
        path.read_text().replace(
            "ill: {role: sensitive}",
            "ill: {role: sensitive, coarsen: {level: LEVEL}, hierarchy: {file: towns.csv, levels: [a, b, c]}}",
        )
    )
    for level in ("b", "1"):
        named = tmp_path / f"{level}.yaml"
        named.write_text(path.read_text().replace("LEVEL", level))
        publication = load_spec(named, partial=True)
        check_levels(publication)
        assert publication.columns["ill"].published_without_recoding == "grouped by b"


def test_a_file_without_names_keeps_its_digest(tmp_path: Path) -> None:
    path = spec_of(tmp_path, "file: towns.csv")
    before = load_spec(path, partial=True).digest()
    assert before == load_spec(spec_of(tmp_path, "file: towns.csv, levels: null"), partial=True).digest()
    changed = load_spec(spec_of(tmp_path, "file: towns.csv, levels: [a, b, c]"), partial=True).digest()
    assert changed != before
