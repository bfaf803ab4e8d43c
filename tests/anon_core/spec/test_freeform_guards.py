"""Guards that would guard nothing, or not what was meant, are refused."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from anon_core.errors import InvalidInputError
from anon_core.hierarchy.taxonomy import Taxonomy, taxonomy
from anon_core.measures.freeform import guarded, refuse_disarmed
from anon_core.policy import Belief, Freeform, Guard
from anon_core.spec import Hierarchy
from anon_core.table import Column


def tree(folder: Path, lines: str, values: list[str | None]) -> Taxonomy:
    (folder / "tree.csv").write_text(lines)
    column = Column(name="illness", codes=np.arange(len(values), dtype=np.int32), domain=pa.array(values, pa.string()))
    return taxonomy(column, Hierarchy(file="tree.csv"), folder)


def test_a_word_that_is_a_value_and_a_label_above_others_is_refused_as_a_guard(tmp_path: Path) -> None:
    found = tree(tmp_path, "A;G\nB;G\nG;H\nC;H\n", ["A", "B", "C", "G"])
    with pytest.raises(InvalidInputError, match="1 of 1 name a value or label and also a label above others"):
        guarded(found, Guard(guard=("G",)), 1)
    upper = guarded(found, Guard(guard=("G (level 1)",)), 1)
    hidden = {found.labels[at] for at in np.flatnonzero(upper.hidden)}
    assert hidden == {"A", "B", "G (level 1)"}


def test_a_name_that_no_value_or_label_has_is_refused_without_being_told(tmp_path: Path) -> None:
    found = tree(tmp_path, "A;G\nB;G\n", ["A", "B"])
    with pytest.raises(InvalidInputError, match="2 of 3 names found neither") as caught:
        guarded(found, Guard(guard=("A", "Zzz", "Yyy")), 1)
    assert "Zzz" not in str(caught.value)


def test_a_guard_that_guards_nothing_is_refused(tmp_path: Path) -> None:
    found = tree(tmp_path, "A;G\nB;G\n", ["A", "B"])
    guard = Guard(guard=("A",), observability=Belief(belief={"default": 1.0}, boost=0.0))
    with pytest.raises(InvalidInputError, match="so the guard has no effect"):
        refuse_disarmed(guarded(found, guard, 1), guard)


@pytest.mark.parametrize("sigma_o", [0, -1, 1.5, 2])
def test_observability_is_above_0_and_at_most_1(sigma_o: float) -> None:
    with pytest.raises(ValueError, match="sigma_o"):
        Freeform(sigma_o=sigma_o, sigma_t=0.5, columns={"illness": Guard(guard=("A",))})


def test_a_gap_that_the_hierarchy_does_not_know_is_no_leaf(tmp_path: Path) -> None:
    """Else the share of sensitive leaves would fall with a gap that nobody sees in the release any more."""
    known = tree(tmp_path, "A;G\nB;G\n", ["A", "B", None])
    every = guarded(known, Guard(guard=("G",)), 1)
    assert every.sensitivity[known.root] == 1 and every.hidden[known.root]
    gap = known.labels.index(None)
    assert every.sensitivity[gap] == 0 and not every.hidden[gap]
    told = tree(tmp_path, "A;G\nB;G\n;H\n", ["A", "B", None])
    assert guarded(told, Guard(guard=("G",)), 1).sensitivity[told.root] == pytest.approx(2 / 3)
