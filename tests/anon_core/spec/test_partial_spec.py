"""Publication files of commands that are given their table: what only a run refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.errors import SpecError
from anon_core.spec import load_spec

COLUMNS = """columns:
  person: {role: identifier}
  age: {role: quasi}
  illness: {role: sensitive}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "table.yaml"
    path.write_text(text)
    return path


def problems(path: Path) -> list[tuple[str, str]]:
    with pytest.raises(SpecError) as caught:
        load_spec(path, partial=True)
    return [(problem.where, problem.what) for problem in caught.value.problems]


def test_a_hierarchy_of_a_sensitive_column_has_a_use_only_where_closeness_climbs_it(tmp_path: Path) -> None:
    hierarchy = COLUMNS.replace("{role: sensitive}", '{role: sensitive, hierarchy: {root: "*"}}')
    climbed = "privacy: {t_closeness: [{column: illness, t: 0.3, distance: hierarchical}]}\n"
    load_spec(written(tmp_path, hierarchy + climbed), partial=True)
    assert [where for where, _ in problems(written(tmp_path, hierarchy))] == ["columns.illness.hierarchy"]
    ((where, what),) = problems(written(tmp_path, COLUMNS + climbed))
    assert where == "columns.illness"
    assert "needs a hierarchy" in what


def test_diversity_is_asked_of_sensitive_columns(tmp_path: Path) -> None:
    path = written(tmp_path, COLUMNS + "privacy: {l_diversity: [{column: age, l: 2}]}\n")
    assert problems(path) == [
        ("privacy.l_diversity[0].column", "column `age` should have the role sensitive, not quasi")
    ]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("{column: illness, l: 2, kind: recursive}", "`kind: recursive` needs `c`"),
        ("{column: illness, l: 2, c: 3}", "`c` belongs to `kind: recursive`; remove it or set that kind"),
    ],
)
def test_c_and_recursive_go_together_and_what_is_wanting_is_said(tmp_path: Path, entry: str, said: str) -> None:
    path = written(tmp_path, COLUMNS + f"privacy: {{k: 2, l_diversity: [{entry}]}}\n")
    with pytest.raises(SpecError) as caught:
        load_spec(path, partial=True)
    assert [problem.what for problem in caught.value.problems] == [said]
