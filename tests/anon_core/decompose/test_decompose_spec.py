"""Decomposed columns in a publication file: what the parts are, and what is refused with its line."""

from __future__ import annotations

import copy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core.errors import SpecError
from anon_core.models import PolicyContext
from anon_core.spec import Part, Publication, Role, load_spec
from anon_core.spec.patterns import groups_of, pattern_problem

ZIP: dict[str, Any] = {
    "role": "quasi",
    "priority": 4,
    "hierarchy": {"prefix": [2, 1]},
    "description": "where they live",
    "decompose": {"widths": [2, 3], "names": ["state", "local"]},
}
SPEC: dict[str, Any] = {
    "dataset": "zips",
    "title": "Zips",
    "source": {"file": "z.csv"},
    "columns": {
        "id": {"role": "identifier"},
        "sex": {"role": "quasi", "priority": 1, "hierarchy": {"root": "any"}},
        "zip": ZIP,
        "points": {"role": "other"},
    },
    "privacy": {"k": 2},
    "unit": "row",
    "reviewed": {"by": "Ada", "on": "2026-01-02"},
    "portal": {"folder": "portal"},
}


def written(
    rule: dict[str, Any] | None = None, column: dict[str, Any] | None = None, **sections: Any
) -> dict[str, Any]:
    """The publication with another rule; a key that is None is left out."""
    spec = copy.deepcopy(SPEC) | sections
    zip_code = spec["columns"]["zip"] | (column or {})
    zip_code["decompose"] = zip_code["decompose"] | (rule or {})
    spec["columns"]["zip"] = zip_code
    for place in (zip_code, zip_code["decompose"]):
        for key in [key for key, value in place.items() if value is None]:
            del place[key]
    return spec


def load(folder: Path, spec: dict[str, Any]) -> Publication:
    path = folder / "zips.yaml"
    path.write_text(yaml.safe_dump(spec, sort_keys=False))
    return load_spec(path)


def refused(folder: Path, spec: dict[str, Any]) -> dict[str, str]:
    with pytest.raises(SpecError) as caught:
        load(folder, spec)
    return {problem.where: problem.what for problem in caught.value.problems}


def test_parts_are_quasi_identifiers_in_the_place_of_their_column(tmp_path: Path) -> None:
    loaded = load(tmp_path, written())
    assert list(loaded.columns) == ["id", "sex", "zip", "points"]
    assert list(loaded.effective_columns) == ["id", "sex", "state", "local", "points"]
    assert loaded.quasi_identifiers == ("sex", "state", "local")
    assert loaded.published == loaded.searched == ("sex", "state", "local", "points")
    context = PolicyContext(
        policy=loaded.privacy, quasi_identifiers=loaded.quasi_identifiers, k=2, today=date.min, publication=loaded
    )
    assert context.larger_sets == (("sex", "state", "local", "points"),)
    assert loaded.names_with_role(Role.IDENTIFIER) == ("id",)
    assert loaded.priority_weights == {"sex": 1.0, "state": 0.5, "local": 0.5}


def test_a_part_says_what_it_is_part_of(tmp_path: Path) -> None:
    part = load(tmp_path, written()).effective_columns["state"]
    assert isinstance(part, Part)
    assert (part.part_of, part.role, part.description) == ("zip", Role.QUASI, "part of zip: where they live")
    assert part.withheld is None


def test_only_published_parts_are_columns(tmp_path: Path) -> None:
    assert load(tmp_path, written({"publish": ["state"]})).quasi_identifiers == ("sex", "state")


def test_a_part_takes_its_own_hierarchy_else_that_of_the_column_unless_it_has_a_lookup(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("28;N\n")
    columns = load(tmp_path, written({"lookup": {"state": "states.csv"}})).effective_columns
    assert columns["state"].hierarchy is None
    assert columns["local"].hierarchy.prefix == (2, 1)
    rule = {"lookup": {"state": "states.csv"}, "hierarchies": {"state": {"root": "anywhere"}}}
    assert load(tmp_path, written(rule)).effective_columns["state"].hierarchy.root == "anywhere"


def test_without_any_hierarchy_the_parts_have_only_a_root(tmp_path: Path) -> None:
    loaded = load(tmp_path, written(column={"hierarchy": None}))
    assert [loaded.effective_columns[part].hierarchy for part in ("state", "local")] == [None, None]


@pytest.mark.parametrize("role", ["identifier", "sensitive", "other", "drop"])
def test_only_a_quasi_column_is_decomposed(tmp_path: Path, role: str) -> None:
    found = refused(tmp_path, written(column={"role": role, "priority": None, "hierarchy": None}))
    assert "only a column of role quasi is decomposed" in found["columns.zip.decompose"]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"widths": None}, "", "needs exactly one of widths, separator, pattern, preset; it has none"),
    ({"separator": "-"}, "", "it has widths and separator"),
    ({"widths": None, "preset": "postcode-mars", "names": None}, ".preset", "should be one of"),
    ({"widths": [2, 3, 1, 1]}, ".names", "one name for each of `widths`"),
    ({"widths": [0, 3]}, ".widths[0]", "at least 1"),
    ({"names": None}, "", "`widths` needs `names`"),
    ({"names": ["a", "a"]}, ".names", "twice"),
    ({"widths": None, "separator": ""}, ".separator", "none of them empty"),
    ({"widths": None, "separator": [1, None]}, ".separator", "none of them empty"),
    ({"widths": None, "separator": ["-", "/"]}, ".separator", "2 parts have 1 separator between them, 2 given"),
    ({"widths": None, "separator": "-", "names": ["a"]}, ".names", "at least two parts"),
    ({"widths": None, "pattern": "(?P<a>x)"}, ".names", "called like its groups"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x"}, ".pattern", "not a regular expression"),
    ({"names": ["a", " "]}, ".names", "every part needs a name"),
    ({"widths": None, "names": None, "pattern": 12}, ".pattern", "has no named group"),
    ({"widths": None, "names": None, "pattern": "xyz"}, ".pattern", "has no named group"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x)(y)"}, ".pattern", "group without a name"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x)(?=y)"}, ".pattern", "linear time"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x)(?<!y)"}, ".pattern", "linear time"),
    ({"widths": None, "names": None, "pattern": r"(?P<a>x)\1"}, ".pattern", "linear time"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x)(?P=a)"}, ".pattern", "linear time"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x++)"}, ".pattern", "linear time"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x{,2})"}, ".pattern", "write `{0,2}` for `{,2}`"),
    ({"widths": None, "names": None, "pattern": r"(?P<a>x)\Z"}, ".pattern", r"invalid escape sequence: \Z"),
    ({"widths": None, "names": None, "pattern": r"(?P<a>\u00e4)"}, ".pattern", r"invalid escape sequence: \u"),
    ({"widths": None, "names": None, "pattern": "(?P<a>x{2000})"}, ".pattern", "invalid repetition size"),
    (
        {"widths": None, "names": None, "preset": "tax-code-it", "publish": ["birth_year", "check"]},
        ".publish[1]",
        "no part is called `check`",
    ),
    ({"widths": None, "names": None, "preset": ["tax-code-it"]}, ".preset", "should be one of"),
    ({"widths": None, "preset": "postcode-de"}, ".names", "all 3 parts of the preset: zone, area, place"),
    ({"region": "IT"}, ".region", "belongs to `preset: telephone`"),
    ({"widths": None, "names": None, "preset": "telephone", "region": "Italy"}, ".region", "two capitals"),
    ({"publish": []}, ".publish", "at least one must be published"),
    ({"publish": ["stat"]}, ".publish[0]", "no part is called `stat`; the parts are `state`, `local`"),
    ({"lookup": {"town": "t.csv"}}, ".lookup.town", "no part is called `town`"),
    ({"hierarchies": {"town": {"root": "x"}}}, ".hierarchies.town", "no part is called `town`"),
    ({"hierarchies": {"state": {"root": "x", "prefix": [1]}}}, ".hierarchies.state", "needs exactly one of"),
    ({"hierarchies": {"state": {}}}, ".hierarchies.state", "needs exactly one of"),
    ({"publish": ["local"], "lookup": {"state": "s.csv"}}, ".lookup.state", "is not published"),
    ({"publish": ["local"], "hierarchies": {"state": {"root": "x"}}}, ".hierarchies.state", "is not published"),
    ({"names": ["state", "sex"]}, "", "its part `sex` is called like a column"),
    ({"names": ["state", "id"]}, "", "its part `id` is called like a column"),
    ({"names": ["state", "zip"]}, "", "its part `zip` is called like a column"),
    ({"unmapped": "ignore"}, ".unmapped", "one of"),
    ({"width": [2]}, ".width", "did you mean `widths`?"),
]


@pytest.mark.parametrize(("rule", "where", "what"), WRONG)
def test_a_wrong_rule_is_told_where_it_stands(tmp_path: Path, rule: dict[str, Any], where: str, what: str) -> None:
    assert what in refused(tmp_path, written(rule))[f"columns.zip.decompose{where}"]


@pytest.mark.parametrize(
    "pattern",
    [
        r"(?P<a>\d{2})(?P<b>[(?=]+)",
        r"(?i)(?P<a>x)(?P<b>y)",
        r"(?P<a>\(\?=)(?P<b>\\1)",
        r"(?P<a>[^]\]+*?]+)(?P<b>(?:x|y)*?)",
        r"(?P<a>a{2})\++(?P<b>x)",
        r"(?P<a>a+[x]+)(?P<b>\{,2}[{,2}])",
    ],
)
def test_what_only_looks_like_lookaround_is_allowed(tmp_path: Path, pattern: str) -> None:
    loaded = load(tmp_path, written({"widths": None, "names": None, "pattern": pattern}))
    assert loaded.quasi_identifiers == ("sex", "a", "b")


def test_of_a_class_that_python_reads_otherwise_nothing_is_said(
    tmp_path: Path, recwarn: pytest.WarningsRecorder
) -> None:
    load(tmp_path, written({"widths": None, "names": None, "pattern": "(?P<a>[[:alpha:]]+)(?P<b>[[:digit:]]+)"}))
    assert [str(warning.message) for warning in recwarn if "set" in str(warning.message)] == []


def test_parts_of_two_columns_must_not_be_called_alike(tmp_path: Path) -> None:
    spec = written()
    spec["columns"]["other_zip"] = ZIP
    assert "called like a part of `zip`" in refused(tmp_path, spec)["columns.other_zip.decompose"]
    spec["columns"]["other_zip"] = ZIP | {"decompose": ZIP["decompose"] | {"names": ["a", "b"]}}
    assert load(tmp_path, spec).quasi_identifiers == ("sex", "state", "local", "a", "b")


def test_a_part_that_is_not_published_may_be_called_like_a_column(tmp_path: Path) -> None:
    loaded = load(tmp_path, written({"names": ["state", "sex"], "publish": ["state"]}))
    assert loaded.quasi_identifiers == ("sex", "state")


ACCEPT = {"reason": "a reason for tests", "by": "b", "until": "2030-01-01"}


@pytest.mark.parametrize(
    ("sections", "where"),
    [
        ({"recode": {"method": "singletons", "singletons": {"columns": ["zip"]}}}, "recode.singletons.columns[0]"),
        (
            {"recode": {"method": "singletons", "singletons": {"years": {"column": "zip", "size": 5}}}},
            "recode.singletons.years.column",
        ),
        ({"detect": {"reveal_probability": {"zip": 0.9}}}, "detect.reveal_probability.zip"),
        (
            {"privacy": {"k": 2, "published_uniqueness": {"accept": [{"columns": ["zip", "points"], **ACCEPT}]}}},
            "privacy.published_uniqueness.accept[0].columns[0]",
        ),
    ],
)
def test_what_names_a_decomposed_column_is_told_its_parts(tmp_path: Path, sections: dict[str, Any], where: str) -> None:
    what = refused(tmp_path, written(**sections))[where]
    assert what == "column `zip` is decomposed, so it is not published; name its parts: `state`, `local`"


def test_parts_are_named_like_any_other_column(tmp_path: Path) -> None:
    uniqueness = {"accept": [{"columns": ["state", "points"], **ACCEPT}]}
    loaded = load(
        tmp_path,
        written(
            recode={"method": "singletons", "singletons": {"columns": ["state"]}},
            detect={"reveal_probability": {"default": 0.5, "local": 0.1}},
            privacy={"k": 2, "published_uniqueness": uniqueness},
        ),
    )
    assert loaded.detect.probability_of("local") == 0.1
    assert loaded.recode.singletons.columns == ("state",)


def test_a_part_that_is_not_published_cannot_be_named(tmp_path: Path) -> None:
    found = refused(tmp_path, written({"publish": ["state"]}, detect={"reveal_probability": {"local": 0.1}}))
    assert "no column `local`" in found["detect.reveal_probability.local"]


def test_recoding_singletons_needs_a_hierarchy_of_the_part(tmp_path: Path) -> None:
    singletons = {"method": "singletons", "singletons": {"columns": ["state"]}}
    found = refused(tmp_path, written(column={"hierarchy": None}, recode=singletons))
    assert "should have the role quasi and a hierarchy" in found["recode.singletons.columns[0]"]


def test_lookups_and_hierarchies_of_parts_are_part_of_the_digest(tmp_path: Path) -> None:
    (tmp_path / "states.csv").write_text("28;N\n")
    (tmp_path / "locals.csv").write_text("496;A\n")
    rule = {"lookup": {"state": "states.csv"}, "hierarchies": {"local": {"file": "locals.csv"}}}
    loaded = load(tmp_path, written(rule))
    seen = [loaded.digest()]
    for file in ("states.csv", "locals.csv"):
        (tmp_path / file).write_text("28;M\n")
        seen.append(loaded.digest())
    assert len(set(seen)) == 3


@pytest.mark.parametrize(
    ("pattern", "what"),
    [
        ("(?P<a>" + "x" * 2_000 + ")", "2,007 characters"),
        ("(?i)(?P<a>" + "[\x01-\U0010fffe]" * 60 + ")", "60 classes"),
        ("(?xi)(?P<a>" + "[\x01-\U0010fffe]" * 60 + ")", "60 classes"),
        ("(?P<a>(?si:" + "[\x01-\U0010fffe]" * 60 + "))", "60 classes"),
    ],
)
def test_a_pattern_that_takes_long_to_compile_is_refused_before_it_is(pattern: str, what: str) -> None:
    assert what in (pattern_problem(pattern) or "")
    assert groups_of(pattern) == ()
    assert pattern_problem("(?i)(?P<a>[a-z]+)") is None
