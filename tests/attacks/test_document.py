"""docs/privacy.md names every attack that we know of, and every figure has a test that finds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

HERE = Path(__file__).parent
DOCUMENT = (HERE.parents[1] / "docs/privacy.md").read_text(encoding="utf-8")
TABLE = {
    cells[1].strip(): [cell.strip() for cell in cells[2:5]]
    for line in DOCUMENT.splitlines()
    if line.startswith("| ") and len(cells := line.split("|")) == 6
}
RESISTED = ("linkage", "several rows", "other columns", "sensitive columns", "homogeneity", "similarity", "restored")
RESISTED += ("before coarsening", "personal data", "removal", "inverted digests", "drafts")
MEASURED = ("row sets", "merging (minimality), downcoding", "population uniqueness")
NOT_ASSESSED = ("deFinetti", "presence", "negative disclosure", "groups", "literal differences", "intersection")
NOT_ASSESSED += ("forward, cross and backward", "tracing", "composition", "corruption")


@pytest.mark.parametrize(
    ("attack", "word"),
    [
        *((one, "resisted") for one in RESISTED),
        *((one, "measured") for one in MEASURED),
        *((one, "not assessed") for one in NOT_ASSESSED),
    ],
)
def test_every_attack_is_named_as_resisted_measured_or_not_assessed(attack: str, word: str) -> None:
    (row,) = [row for name, row in TABLE.items() if attack in name]
    assert row[1].startswith(word)


def test_every_figure_names_a_test_module_that_is_there() -> None:
    figures = [row[2] for row in TABLE.values() if re.search(r"\d", row[2]) and "measures.md" not in row[2]]
    assert len(figures) > 8
    for figure in figures:
        modules = re.findall(r"`(test_\w+)`", figure)
        assert modules and all((HERE / f"{module}.py").exists() for module in modules), figure


def test_figures_of_the_register_are_those_that_its_test_wants() -> None:
    """The figures stand in `test_registers.py` too, where the register is attacked."""
    text = (HERE / "test_registers.py").read_text(encoding="utf-8")
    for figure in ("6_798", "276", "836", "19,999"):
        assert figure in text and figure.replace("_", ",") in DOCUMENT
