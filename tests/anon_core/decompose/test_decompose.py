"""A coded column split into parts: widths, separators, patterns, lookups, gaps and what does not fit."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from anon_core.decompose import decompose, measure_effect, split_column
from anon_core.decompose.columns import read_lookup
from anon_core.decompose.splitting import by_pattern
from anon_core.errors import DecomposeError, HierarchyError, InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.build import ladders
from anon_core.spec import load_spec
from anon_core.spec.patterns import pattern_problem
from tests.anon_core.decompose.decomposing import parts_of, rule_of, split_of, table_of

CANARY = "CANARY-7f3a"
STATE = {"widths": [2, 3], "names": ["state", "local"]}


def test_fixed_widths_count_characters_not_bytes() -> None:
    assert parts_of(["28496", "äö123"], **STATE) == [("28", "496"), ("äö", "123")]


def test_one_name_more_than_widths_takes_the_rest() -> None:
    given = {"widths": [2], "names": ["state", "local"]}
    assert parts_of(["28496", "1234567", "12", "1"], **given) == [
        ("28", "496"),
        ("12", "34567"),
        ("12", None),
        ("*", "*"),
    ]


def test_separators_may_differ_from_part_to_part_and_be_longer_than_a_sign() -> None:
    given = {"separator": [" - ", "/"], "names": ["a", "b", "c"]}
    assert parts_of(["x - y/z", "x/y - z", "x - y/z/z"], **given) == [("x", "y", "z"), ("*", "*", "*"), ("*", "*", "*")]


def test_the_number_of_parts_is_fixed() -> None:
    given = {"separator": "-", "names": ["a", "b"]}
    assert parts_of(["1-2", "1-2-3", "12"], **given) == [("1", "2"), ("*", "*"), ("*", "*")]


def test_a_pattern_must_match_the_whole_value() -> None:
    given = {"pattern": r"(?P<country>\d{2})(?P<area>\d{3})"}
    assert parts_of(["39055", "390556", "x39055", "39055\n"], **given) == [("39", "055"), *[("*", "*")] * 3]


def test_an_alternative_at_the_top_of_a_pattern_is_anchored_too() -> None:
    given = {"pattern": r"(?P<a>\d)|(?P<b>[a-z])"}
    assert parts_of(["1", "x", "1x"], **given) == [("1", None), (None, "x"), ("*", "*")]


def test_groups_within_groups_are_parts_in_the_order_they_open() -> None:
    assert parts_of(["39055"], pattern=r"(?P<b>\d(?P<a>\d))(?P<c>\d+)") == [("39", "9", "055")]


def test_a_pattern_that_would_backtrack_for_ever_is_matched_like_any_other() -> None:
    assert parts_of(["a" * 50_000 + "b"], pattern="(?P<word>(?:a+)+)(?P<rest>(?:a|aa)*)") == [("*", "*")]


@pytest.mark.parametrize(
    "pattern",
    [
        "(?P<a>x{2000})",
        "(?P<a>(?:(?:x{100}){100}){100})",
        "(?P<a>x)(?=y)",
        "(?P<a>x)(?<!y)",
        "(?P<a>x)(?P=a)",
        r"(?P<a>x)\1",
        "(?P<a>(?>x))",
        "(?P<a>x++)",
        r"(?P<a>x)\Z",
        r"(?P<a>\u00e4)",
        r"(?P<a>[\b])",
    ],
)
def test_what_linear_time_cannot_match_is_refused_and_no_value_is_quoted(pattern: str) -> None:
    assert pattern_problem(pattern) is not None
    with pytest.raises(InvalidInputError, match="cannot be used") as caught:
        by_pattern([CANARY], pattern)
    assert CANARY not in str(caught.value)


def test_a_gap_is_a_gap_in_every_part() -> None:
    assert parts_of(["28496", None], **STATE) == [("28", "496"), (None, None)]


def test_an_empty_part_is_a_gap_but_a_value_of_separators_only_does_not_fit() -> None:
    given = {"separator": "-", "names": ["a", "b"]}
    assert parts_of(["1-", "-2", "-", ""], **given) == [("1", None), (None, "2"), ("*", "*"), ("*", "*")]


def test_a_lookup_names_codes_and_joins_those_of_one_name(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("28;NORTH\n32;NORTH\n51;SOUTH\n")
    split = split_of(["28496", "32214", "51618", None], tmp_path, **STATE, lookup={"state": "states.csv"})
    assert split.parts[0].domain.to_pylist() == ["NORTH", "SOUTH", None]
    assert parts_of(["32214", None], tmp_path, **STATE, lookup={"state": "states.csv"}) == [
        ("NORTH", "214"),
        (None, None),
    ]


def test_what_does_not_fit_is_counted_by_column_and_never_quoted(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("28;NORTH\n")
    cells = ["28496", "28496", CANARY, CANARY, "2849", "99001", "99002", "98001", None]
    split = split_of(cells, tmp_path, **STATE, lookup={"state": "states.csv"})
    with pytest.raises(DecomposeError) as caught:
        split.check()
    assert caught.value.unfit == {"code": (2, 3)}
    assert caught.value.unnamed == {("code", "state"): (2, 3)}
    for text in (str(caught.value), repr(caught.value), repr(pickle.loads(pickle.dumps(caught.value)))):
        assert CANARY not in text and "99001" not in text
    assert "'code'" in str(caught.value) and "`widths: [2, 3]`" in str(caught.value)
    assert sorted(split.column.domain.filter(split.refused).to_pylist()) == ["2849", "98001", "99001", "99002", CANARY]


def test_with_suppress_what_does_not_fit_says_nothing_and_a_code_without_a_name_only_its_part(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("28;NORTH\n")
    given = {**STATE, "lookup": {"state": "states.csv"}, "unmapped": "suppress"}
    split_of(["28496", CANARY, "99001"], tmp_path, **given).check()
    assert parts_of(["28496", CANARY, "99001"], tmp_path, **given) == [("NORTH", "496"), ("*", "*"), ("*", "001")]


def test_every_fault_of_a_lookup_is_told_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "states.csv"
    path.write_text(f"28;NORTH\n{CANARY}\n\n28;SOUTH\n;EAST\n51;\n1;2;3\n")
    with pytest.raises(HierarchyError) as caught:
        read_lookup(path)
    assert caught.value.problems == (
        "line 2 has 1 cell, not 2: code;name",
        "line 4 repeats the code of line 1",
        "line 5 has no code",
        "line 6 has no name",
        "line 7 has 3 cells, not 2: code;name",
    )
    assert CANARY not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"\xef\xbb\xbf28;NORTH\r\n32;EAST\r\n", {"28": "NORTH", "32": "EAST"}),
        (b'28,"NORTH; all of it"\n32,"EAST, too"\n', {"28": "NORTH; all of it", "32": "EAST, too"}),
        ("28;Südtirol".encode(), {"28": "Südtirol"}),
    ],
)
def test_a_lookup_may_have_a_mark_quotes_and_either_delimiter(
    tmp_path: Path, content: bytes, found: dict[str, str]
) -> None:
    (tmp_path / "states.csv").write_bytes(content)
    assert read_lookup(tmp_path / "states.csv") == found


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe", b'28;"NORTH\n', b"28;NO\0RTH\n"])
def test_a_file_that_is_no_lookup_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "states.csv").write_bytes(content)
    with pytest.raises(HierarchyError):
        read_lookup(tmp_path / "states.csv")


def test_a_lookup_that_is_not_there_or_not_a_text_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("28;N\n32;Südtirol\n".encode("latin-1"))
    for path, said in [
        (tmp_path / "none.csv", "no such lookup file; check the path"),
        (tmp_path, "is a folder; name a file"),
        (tmp_path / "latin.csv", "line 2 cannot be read as UTF-8 text"),
    ]:
        with pytest.raises(HierarchyError) as caught:
            read_lookup(path)
        assert str(caught.value).startswith(f"{path}: {said}")


def test_one_is_counted_as_one() -> None:
    with pytest.raises(DecomposeError, match=r"column 'code': 1 distinct value, 1 row, not of the form `widths"):
        split_of(["28496", "1"], **STATE).check()


def test_published_parts_stand_in_the_place_of_their_column(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "columns:\n"
        "  sex: {role: quasi}\n"
        "  zip: {role: quasi, decompose: {widths: [1, 1, 1], names: [a, b, c], publish: [c, a]}}\n"
        "  age: {role: quasi}\n"
    )
    table = table_of(sex=["F"], zip=["123"], age=["7"])
    found = decompose(table, load_spec(spec, partial=True))
    assert found.to_arrow().to_pylist() == [{"sex": "F", "a": "1", "c": "3", "age": "7"}]
    assert table.names == ("sex", "zip", "age")


def test_all_columns_that_cannot_be_split_are_told_at_once(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    rule = "{{role: quasi, decompose: {{widths: [1, 1], names: [{0}1, {0}2]}}}}"
    spec.write_text("columns:\n" + "".join(f"  {name}: {rule.format(name)}\n" for name in "xyz"))
    with pytest.raises(DecomposeError) as caught:
        decompose(table_of(x=["1", "12"], y=["12", "12"], z=["123", "123"]), load_spec(spec, partial=True))
    assert caught.value.unfit == {"x": (1, 1), "z": (1, 2)}


@pytest.mark.parametrize("hierarchy", ["{prefix: [1]}", "{intervals: [10]}", "{root: any}"])
def test_what_was_suppressed_stands_at_the_root_from_the_beginning(tmp_path: Path, hierarchy: str) -> None:
    spec = tmp_path / "spec.yaml"
    rule = "{widths: [2], names: [a, b], publish: [a], unmapped: suppress}"
    spec.write_text(f"columns:\n  zip: {{role: quasi, hierarchy: {hierarchy}, decompose: {rule}}}\n")
    publication = load_spec(spec, partial=True)
    table = decompose(table_of(zip=["123", "145", "2", "0", None]), publication)
    ladder = ladders(publication, table, ["a"])["a"]
    star = table.column("a").domain.to_pylist().index("*")
    assert ladder.unmapped.nonzero()[0].tolist() == [star]
    labels = ladder.labels.to_pylist()
    root = "any" if "any" in hierarchy else "*"
    assert {labels[code] for code in ladder.maps[:, star]} == {root}
    assert {labels[code] for code in ladder.maps[-1]} == {root}


def test_the_effect_counts_the_parts_jointly_and_one_by_one() -> None:
    """Two parts that are harmless alone and single everybody out together."""
    table = table_of(code=["11", "12", "21", "22"], sex=["F", "F", "M", "M"])
    rule = rule_of(widths=[1, 1], names=["sex", "b"])  # a part may even be called like another column
    found = measure_effect(table, split_column(table.column("code"), rule, Path()), ["sex"], count=FrequencyTable.of)
    assert [(part.name, part.distinct, part.outliers, part.published) for part in found.parts] == [
        ("sex", 2, 0, True),
        ("b", 2, 0, True),
    ]
    alone, with_sex, without = found.effect
    assert (alone.columns, alone.before.outliers, alone.after.outliers) == (("code",), 4, 4)
    assert (alone.by_part["sex"].outliers, alone.by_part["b"].outliers) == (0, 0)
    assert (with_sex.columns, with_sex.by_part["sex"].outliers, with_sex.by_part["b"].outliers) == (
        ("code", "sex"),
        0,
        4,
    )
    assert (without.columns, without.before, without.by_part) == (("sex",), without.after, {})
    assert (without.before.distinct, without.before.outliers) == (2, 0)


def test_too_many_columns_beside_it_are_refused() -> None:
    others = {f"c{n}": ["x"] for n in range(11)}
    table = table_of(code=["12"], **others)
    split = split_column(table.column("code"), rule_of(widths=[1], names=["a", "b"]), Path())
    with pytest.raises(InvalidInputError, match="at most 10"):
        measure_effect(table, split, list(others), count=FrequencyTable.of)
