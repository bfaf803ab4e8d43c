"""Ladders: what a value becomes at each level, and that a label never stands for two different sets of values."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.hierarchy.ladder import Ladder, climb
from tests.properties.tables import WORDS, Cell, paths_for, spelled

Paths = dict[Cell, list[str]]


@st.composite
def drawn(draw: st.DrawFn) -> tuple[list[Cell], Paths, str]:
    """The domain of a column, the paths of a hierarchy that may know more or fewer values than that, and its root."""
    known = draw(st.lists(st.sampled_from([*WORDS, None]), unique=True, min_size=1))
    paths = draw(paths_for(known))
    strangers = draw(st.lists(st.sampled_from(["y", "z"]), unique=True))
    domain = draw(st.lists(st.sampled_from([*known, *strangers]), unique=True, min_size=1))
    gap: list[Cell] = [None] if None in domain else []
    return [*sorted(value for value in domain if value is not None), *gap], paths, draw(st.sampled_from("*a"))


def built(domain: list[Cell], paths: Paths, root: str = "*") -> Ladder:
    depth = len(next(iter(paths.values()), []))
    names = [f"level {n}" for n in range(1, depth + 1)]
    return climb("place", pa.array(domain, pa.string()), dict(paths), [*names, "root"], root)


def levels(ladder: Ladder, code: int) -> list[Cell]:
    return [level[code] for level in spelled(ladder)]


def meaning(domain: list[Cell], paths: Paths, root: str, value: Cell, level: int) -> frozenset[Cell]:
    """Which values stand under the label that a value has at a level; the root covers unknown ones too."""
    own_gap = {None: [None] * len(next(iter(paths.values()), []))} if None in domain and None not in paths else {}
    whole = {known: [known, *path, root] for known, path in {**paths, **own_gap}.items()}
    under = frozenset(known for known in whole if whole[known][level] == whole[value][level])
    is_root = level and all(set(path[level:]) == {root} for path in whole.values())
    return under | {"anything"} if is_root else under


@settings(max_examples=80, deadline=None)
@given(drawn=drawn())
def test_cells_with_one_label_stand_for_one_set_of_values_and_unknown_values_for_all(
    drawn: tuple[list[Cell], Paths, str],
) -> None:
    domain, paths, root = drawn
    ladder = built(domain, paths, root)
    known = [code for code, value in enumerate(domain) if value is None or value in paths]
    labels = spelled(ladder)
    assert ladder.unmapped.tolist() == [code not in known for code in range(len(domain))]
    assert len(set(labels[-1])) == 1, "everything meets at the root"
    for code, value in enumerate(domain):
        if code not in known:
            assert set(levels(ladder, code)) == set(labels[-1])
        elif value is None and None not in paths:
            assert levels(ladder, code)[:-1] == [None] * ladder.height, "a gap stays a gap until the root"
        else:
            assert labels[0][code] == value
    cells = {
        (level, code): (labels[level][code], meaning(domain, paths, root, domain[code], level))
        for level, code in product(range(ladder.height + 1), known)
    }
    for (level, _), (one, values) in cells.items():
        for (other_level, _), (other, other_values) in cells.items():
            if one == other:
                assert values == other_values
            elif level == other_level:
                assert values != other_values, "one label was split"
    assert len(set(ladder.labels.to_pylist())) == len(ladder.labels)


@settings(max_examples=80, deadline=None)
@given(drawn=drawn())
def test_climbing_never_takes_apart_what_was_together(drawn: tuple[list[Cell], Paths, str]) -> None:
    ladder = built(*drawn)
    for level in range(ladder.height):
        above: dict[int, int] = {}
        for low, high in zip(ladder.maps[level].tolist(), ladder.maps[level + 1].tolist(), strict=True):
            assert above.setdefault(low, high) == high


@settings(max_examples=80, deadline=None)
@given(drawn=drawn(), data=st.data())
def test_labels_do_not_change_with_the_values_that_happen_to_be_there(
    drawn: tuple[list[Cell], Paths, str], data: st.DataObject
) -> None:
    domain, paths, root = drawn
    kept = data.draw(st.lists(st.sampled_from(domain), unique=True, min_size=1))
    fewer = [value for value in domain if value in kept or value is None]
    ladder, smaller = built(domain, paths, root), built(fewer, paths, root)
    for code, value in enumerate(fewer):
        assert levels(smaller, code) == levels(ladder, domain.index(value))


@settings(max_examples=80, deadline=None)
@given(drawn=drawn())
def test_loss_is_the_share_of_the_other_values_that_a_label_covers(drawn: tuple[list[Cell], Paths, str]) -> None:
    domain, paths, root = drawn
    ladder = built(domain, paths, root)
    loss = ladder.loss()
    others = len(domain) - 1
    for level, names in enumerate(spelled(ladder)):
        covered = [others if u else names.count(name) - 1 for name, u in zip(names, ladder.unmapped, strict=True)]
        assert loss[level].tolist() == pytest.approx([n / max(others, 1) for n in covered])
    assert (loss[1:] >= loss[:-1]).all(), "more was lost below than above"
    assert (loss[-1] == (1 if len(domain) > 1 else 0)).all()


AOSTA: Paths = {
    "AOSTA": ["AOSTA", "VALLE D'AOSTA"],
    "COGNE": ["AOSTA", "VALLE D'AOSTA"],
    "TORINO": ["TORINO", "PIEMONTE"],
}


def test_the_province_aosta_is_not_the_municipality_aosta() -> None:
    ladder = built(["AOSTA", "COGNE", "TORINO"], AOSTA)
    assert levels(ladder, 0) == ["AOSTA", "AOSTA (level 1)", "VALLE D'AOSTA", "*"]
    assert levels(ladder, 1) == ["COGNE", "AOSTA (level 1)", "VALLE D'AOSTA", "*"]


def test_padding_that_means_the_same_needs_no_tag() -> None:
    assert levels(built(["TORINO"], AOSTA), 0) == ["TORINO", "TORINO", "PIEMONTE", "*"]


def test_a_label_repeated_further_up_with_the_same_meaning_keeps_its_one_tag() -> None:
    paths = {"AOSTA": ["AOSTA", "AOSTA"], "COGNE": ["AOSTA", "AOSTA"], "TORINO": ["X", "Y"]}
    assert levels(built(["COGNE"], paths), 0) == ["COGNE", "AOSTA (level 1)", "AOSTA (level 1)", "*"]


def test_a_tag_keeps_clear_of_a_label_that_looks_like_one() -> None:
    paths = {"AOSTA": ["AOSTA"], "COGNE": ["AOSTA"], "TORINO": ["AOSTA (level 1)"]}
    ladder = built(["AOSTA", "COGNE", "TORINO"], paths)
    assert spelled(ladder)[1] == ["AOSTA (level 1)'", "AOSTA (level 1)'", "AOSTA (level 1)"]


def test_a_star_in_the_data_is_not_the_root() -> None:
    ladder = built(["*", "F", "M"], {"*": [], "F": [], "M": []})
    assert levels(ladder, 0) == ["*", "* (level 1)"]
    assert levels(ladder, 1) == ["F", "* (level 1)"]


def test_the_root_is_never_the_one_value_that_the_hierarchy_knows() -> None:
    ladder = built(["*", "x"], {"*": []})
    assert levels(ladder, 0) == ["*", "* (level 1)"]
    assert levels(ladder, 1) == ["* (level 1)", "* (level 1)"], "an unknown value was published as another one"


def test_a_level_of_stars_alone_is_the_root_already() -> None:
    assert levels(built(["F", "M"], {"F": ["*"], "M": ["*"]}), 0) == ["F", "*", "*"]
    ladder = built(["F", "x"], {"F": ["*", "person"]})
    assert levels(ladder, 0) == ["F", "*", "person", "* (level 3)"], "unless something else comes above it"


def test_a_gap_may_have_a_path_of_its_own() -> None:
    ladder = built(["COGNE", None], {"COGNE": ["AOSTA"], None: ["ABROAD"]})
    assert levels(ladder, 1) == [None, "ABROAD", "*"]
    assert not ladder.unmapped.any()


def test_when_the_hierarchy_knows_no_value_at_all_everything_is_the_root() -> None:
    ladder = built(["x", "y"], {}, root="any")
    assert levels(ladder, 0) == levels(ladder, 1) == ["any", "any"]
    assert ladder.unmapped.all()
