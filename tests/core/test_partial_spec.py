"""Publication files of commands that are given their table: what only a run refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.errors import SpecError
from anon_core.spec import load_spec
from anon_core.spec.checks import NOT_GATED

COLUMNS = """columns:
  person: {role: identifier}
  age: {role: quasi}
  illness: {role: sensitive}
"""
MEASURED = {
    "unit": "unit: person",
    "privacy.k_means": "privacy: {k: 2, k_means: link}",
    "privacy.l_diversity": "privacy: {k: 2, l_diversity: [{column: illness, l: 2}]}",
    "privacy.t_closeness": "privacy: {k: 2, t_closeness: [{column: illness, t: 0.3}]}",
    "privacy.alpha": "privacy: {k: 2, alpha: [{column: illness, alpha: 0.5}]}",
    "privacy.max_risk": "privacy: {k: 2, max_risk: 0.2}",
    "recode.mode": "privacy: {k: 2}\nrecode: {method: prioritised, mode: link}",
}


def written(folder: Path, text: str) -> Path:
    path = folder / "table.yaml"
    path.write_text(text)
    return path


@pytest.mark.parametrize("key", [key for key, _, _ in NOT_GATED])
def test_what_the_gate_cannot_measure_yet_is_refused_in_a_run_and_read_by_commands(tmp_path: Path, key: str) -> None:
    whole = "dataset: d\ntitle: t\nsource: {file: t.csv}\nportal: {folder: p}\n"
    whole += "" if key == "recode.mode" else "recode: {method: none}\n"
    path = written(tmp_path, COLUMNS + MEASURED[key] + "\n" + whole + ("privacy: {k: 2}\n" if key == "unit" else ""))
    load_spec(path, partial=True)
    with pytest.raises(SpecError, match="is not supported yet") as caught:
        load_spec(path)
    assert [problem.where for problem in caught.value.problems] == [key]


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
