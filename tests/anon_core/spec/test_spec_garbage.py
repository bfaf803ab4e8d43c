"""What is no publication file at all is one clear error, whatever it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from anon_core.errors import SpecError
from anon_core.spec import Role, load_spec
from tests.anon_core.spec.spec_files import FULL, MINIMAL, folder, load, problems

__all__ = ["folder"]


# Ten million values in eight lines.
BOMB = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{new}: &{new} [{', '.join(['*' + old] * 10)}]\n" for old, new in zip("abcdefg", "bcdefgh", strict=True)
)


def test_a_key_written_twice_is_a_problem(folder: Path) -> None:
    found = problems(folder, MINIMAL.replace("  points:", "  sex:") + "title: Again\n")
    assert found["columns.sex"] == (8, "the key `sex` is written twice, first on line 7")
    assert found["title"] == (13, "the key `title` is written twice, first on line 2")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, "empty"),
        ("# nothing\n", 1, "empty"),
        ("---\n", 1, "empty"),
        ("- a\n- b\n", 1, "should be a mapping"),
        ("just words\n", 1, "should be a mapping"),
        ("a: 1\nb:\n\tc: 2\n", 3, "tabs"),
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ('a: 1\nb: "open\n', 3, "starts on line 2"),
        ("a: b: c\n", 1, "not valid YAML"),
        ("a: 1\nb: \x07\n", 2, "control characters"),
        ("a: 1\n---\nb: 2\n", 2, "second YAML document"),
        ("a: *nothing\n", 1, "no anchor"),
        ("a: &a [*a]\n", 1, "no anchor"),
        ("[" * 100_000, 1, "levels deep"),
        (BOMB, 1, "aliases written out"),
        ("a: " + "x" * 1_000_001, 1, "beyond the limit of 1,000,000 bytes"),
    ],
)
def test_a_text_that_is_no_specification_is_one_problem(folder: Path, text: str, line: int, words: str) -> None:
    ((where, (found, what)),) = problems(folder, text).items()
    assert (where, found) == ("", line)
    assert words in what


def test_tags_and_merges_are_refused_but_anchors_work(folder: Path) -> None:
    anchored = MINIMAL.replace("{role: other}", "&other {role: other}").replace(
        "id: {role: identifier}", "id: &x {role: identifier}"
    )
    text = anchored.replace("privacy:", "  notes: *other\nprivacy:")
    assert load(folder, text).columns["notes"].role is Role.OTHER
    found = problems(folder, "<<: {a: 1}\n" + MINIMAL.replace("Driver licences", "!!python/name:os.system x"))
    assert "remove it" in found[""][1]


def test_a_file_that_cannot_be_read_is_a_specification_error(folder: Path) -> None:
    with pytest.raises(SpecError, match="No such file"):
        load_spec(folder / "gone.yaml")
    with pytest.raises(SpecError, match="cannot be read"):
        load_spec(folder)
    latin = folder / "latin.yaml"
    latin.write_bytes(b"dataset: a\ntitle: caf\xe9\n")
    with pytest.raises(SpecError, match=r"latin\.yaml:2: the file is not UTF-8"):
        load_spec(latin)


WORDS = st.sampled_from(
    [
        "dataset", "title", "schedule", "airflow", "source", "file", "columns", "a", "b", "role", "quasi", "sensitive",
        "other", "drop", "priority", "hierarchy", "intervals", "prefix", "date", "root", "unmapped", "detect",
        "reveal_probability", "default", "privacy", "k", "l_diversity", "column", "alpha", "freeform",
        "published_uniqueness", "accept", "until", "recode", "method", "singletons", "global", "none", "years", "size",
        "decompose", "expectations", "type", "kwargs", "portal", "folder", "ckan", "improve", "unit", "<value>",
        "<mapping>", "no", "2019", "2027-12-31", "1.5",
    ]
)  # fmt: skip


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=6),
    max_leaves=30,
)


def only_specification_errors(folder: Path, raw: bytes) -> None:
    file = folder / "garbage.yaml"
    file.write_bytes(raw)
    for partial in (True, False):
        try:
            load_spec(file, partial=True) if partial else load_spec(file)
        except SpecError as error:
            assert error.problems
            assert str(error)


@given(raw=st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace")))
@settings(max_examples=150, deadline=None)
def test_garbage_is_only_ever_a_specification_error(tmp_path_factory: pytest.TempPathFactory, raw: bytes) -> None:
    only_specification_errors(tmp_path_factory.getbasetemp(), raw)


@given(
    sections=st.dictionaries(WORDS, VALUES, max_size=8), start=st.sampled_from(["", MINIMAL, FULL]), deep=st.booleans()
)
@settings(max_examples=300, deadline=None)
def test_a_wild_specification_is_only_ever_a_specification_error(
    tmp_path_factory: pytest.TempPathFactory, sections: dict[str, Any], start: str, deep: bool
) -> None:
    content = (yaml.safe_load(start) or {}) if start else {}
    for key, value in sections.items():
        nested = content.get(key)
        if deep and isinstance(nested, dict) and isinstance(value, dict):
            nested.update(value)
        else:
            content[key] = value
    only_specification_errors(tmp_path_factory.getbasetemp(), yaml.safe_dump(content).encode())


@given(text=st.text(alphabet="ab:-[]{}&*!|>'\"%@`#?,\n\t ~<=0.", max_size=60))
@settings(max_examples=300, deadline=None)
def test_odd_yaml_is_only_ever_a_specification_error(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    only_specification_errors(tmp_path_factory.getbasetemp(), (MINIMAL + text).encode())
