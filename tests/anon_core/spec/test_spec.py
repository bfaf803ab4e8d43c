"""The publication file: what is accepted, and that everything wrong is said at once, with its line."""

from __future__ import annotations

import datetime
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_core import policy, spec
from anon_core.errors import HierarchyError, SpecError
from anon_core.spec import HierarchyKind, Missing, Publication, Role, load_spec
from anon_core.spec.checks import NOT_BUILT
from tests.anon_core.spec.spec_files import FULL, MINIMAL, changed, folder, load, problems, with_column

__all__ = ["folder"]


def test_a_minimal_file_has_safe_defaults(folder: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert isinstance(loaded, Publication)
    assert (loaded.dataset, loaded.dag_id, loaded.schedule) == ("driver-licences", "publish_driver_licences", None)
    assert (loaded.airflow.owner, loaded.airflow.retries, loaded.airflow.pool) == ("open-data", 2, None)
    assert (loaded.airflow.max_active_runs, loaded.airflow.tags) == (1, ())
    assert loaded.privacy.published_uniqueness.max_size == 3
    assert (loaded.privacy.published_uniqueness.max_share, loaded.privacy.suppression_limit) == (0.0, 0.0)
    assert (loaded.recode.method, loaded.missing) == ("global", Missing.CATEGORY)
    assert (loaded.source.delimiter, loaded.source.encoding, loaded.source.missing_words) == ("auto", "utf-8", ("",))
    assert loaded.metadata.language == "en"


def test_columns_are_known_by_role_in_the_order_of_the_file(folder: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert loaded.quasi_identifiers == ("birth_year", "sex")
    assert loaded.published == ("birth_year", "sex", "points")
    assert loaded.names_with_role(Role.IDENTIFIER) == ("id",)
    assert [loaded.columns[name].hierarchy.kind for name in loaded.quasi_identifiers] == [
        HierarchyKind.INTERVALS,
        HierarchyKind.ROOT,
    ]


def test_paths_start_from_the_folder_that_holds_publications(folder: Path, tmp_path: Path) -> None:
    loaded = load(folder, MINIMAL)
    assert (loaded.root, loaded.resolve("a/b.csv")) == (folder, folder / "a" / "b.csv")
    assert loaded.resolve("/data/b.csv") == Path("/data/b.csv")
    elsewhere = tmp_path / "by_hand.yaml"
    elsewhere.write_text(MINIMAL)
    assert load_spec(elsewhere).root == tmp_path


@pytest.mark.parametrize(
    ("priorities", "weights"),
    [
        ((1, 2), (1.0, 0.5)),
        ((None, None), (1.0, 1.0)),
        ((10, 700), (1.0, 0.5)),
        ((3, 3), (1.0, 1.0)),
        ((4, None), (1.0, 1.0)),
    ],
)
def test_weights_follow_the_rank_of_the_priority(folder: Path, priorities: Any, weights: Any) -> None:
    columns = {
        name: {"role": "quasi", "hierarchy": {"root": "any"}, "priority": own}
        for name, own in zip("ab", priorities, strict=True)
    }
    assert tuple(load(folder, changed(columns=columns)).priority_weights.values()) == weights


def test_a_column_without_a_priority_ranks_with_the_least_important(folder: Path) -> None:
    columns = {
        name: {"role": "quasi", "hierarchy": {"root": "any"}, "priority": own}
        for name, own in (("a", 1), ("b", 2), ("c", None))
    }
    assert load(folder, changed(columns=columns)).priority_weights == {"a": 1.0, "b": 0.5, "c": 0.5}


def test_the_example_of_the_design_lacks_only_what_is_not_built(folder: Path) -> None:
    found = problems(folder, FULL)
    unplaced = [f"columns.{name}.hierarchy" for name in ("birth_year", "issued")]
    assert sorted(found) == sorted(["privacy.earlier_releases", *unplaced])
    assert all(
        ("anon hierarchy build" if where in unplaced else "not supported yet") in found[where][1] for where in found
    )
    assert found["privacy.earlier_releases"][1].endswith("is not supported yet; remove it or set it to null")


def test_the_models_describe_the_whole_schema(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("anon_core.spec.checks.NOT_BUILT", ())
    loaded = load(folder, FULL, partial=True)
    assert loaded.privacy.freeform.columns["licence_category"].guard == ("CE", "DE")
    assert loaded.privacy.waivers[0].until == datetime.date(2026, 12, 31)
    assert loaded.columns["postcode"].decompose.widths == (2, 3)
    assert loaded.detect.approximate == 0.001
    belief = FULL.replace("observability: sensitivity", "observability: {belief: {default: 0, B: 1}, boost: 0.5}")
    guard = load(folder, belief, partial=True).privacy.freeform.columns["licence_category"]
    assert guard.observability.belief == {"default": 0.0, "B": 1.0}


@pytest.mark.parametrize("path", [path for path, refused, _ in NOT_BUILT if refused is None])
@pytest.mark.parametrize("off", ["null", "[]", "{}", "false"])
def test_a_key_that_is_not_built_may_be_written_when_it_is_off(folder: Path, path: str, off: str) -> None:
    content = yaml.safe_load(MINIMAL)
    *sections, key = path.replace("*", "sex").split(".")
    place = content
    for section in sections:
        place = place.setdefault(section, {})
    place[key] = yaml.safe_load(off)
    load(folder, yaml.safe_dump(content, sort_keys=False))


@pytest.mark.parametrize("iterations", ["auto", "0", "500"])
def test_the_improvement_search_takes_auto_or_a_number_of_iterations(folder: Path, iterations: str) -> None:
    recode = load(folder, MINIMAL + f"recode: {{method: prioritised, improve: {iterations}}}\n").recode
    assert str(recode.improve) == iterations


@pytest.mark.parametrize("iterations", ["-1", "1.5", "fast", "true"])
def test_anything_else_is_no_number_of_iterations(folder: Path, iterations: str) -> None:
    found = problems(folder, MINIMAL + f"recode: {{improve: {iterations}}}\n")
    assert "should be `auto` or a whole number from 0 to 100000" in found["recode.improve"][1]


@pytest.mark.parametrize("mode", ["paper", "link"])
def test_a_mode_that_does_not_reach_exact_k_goes_with_link_k(folder: Path, mode: str) -> None:
    text = MINIMAL + f"recode: {{method: prioritised, mode: {mode}}}\n"
    assert "set `privacy.k_means: link`" in problems(folder, text)["recode.mode"][1]
    assert load(folder, text, partial=True).recode.mode == mode
    linked = text.replace("privacy: {k: 5}", "privacy: {k: 5, k_means: link}")
    assert linked != text
    assert load(folder, linked).recode.mode == mode


def test_the_weight_of_plain_entropy_is_a_share(folder: Path) -> None:
    assert load(folder, MINIMAL).recode.nue_weight == 0.24
    assert load(folder, MINIMAL + "recode: {nue_weight: 0.25}\n").recode.nue_weight == 0.25
    assert "at most 1" in problems(folder, MINIMAL + "recode: {nue_weight: 2}\n")["recode.nue_weight"][1]


@pytest.mark.parametrize("method", ["prioritised", "best"])
def test_priorities_are_given_to_all_quasi_columns_or_to_none(folder: Path, method: str) -> None:
    columns = {
        name: {"role": "quasi", "hierarchy": {"root": "any"}, "priority": own}
        for name, own in (("a", 1), ("b", None), ("c", None))
    }
    found = problems(folder, changed(columns=columns, recode={"method": method}))
    assert set(found) == {"columns.b", "columns.c"}
    assert all("has no `priority`" in what for _, what in found.values())
    load(folder, changed(columns=columns, recode={"method": "global"}))
    columns["a"]["priority"] = None
    load(folder, changed(columns=columns, recode={"method": method}))


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("missing: wildcard", "missing"),
        ("recode: {sticky: true}", "recode.sticky"),
    ],
)
def test_what_is_not_built_is_refused_by_name(folder: Path, text: str, where: str) -> None:
    found = problems(folder, f"{MINIMAL}{text}\n")
    assert found.keys() == {where}
    assert found[where][0] == 13
    assert where in found[where][1]


def test_a_bad_value_in_a_key_that_is_not_built_is_also_reported(folder: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(folder, changed(privacy={"k": 5, "earlier_releases": {"window": 0}}))
    assert [problem.what for problem in caught.value.problems] == [
        "`privacy.earlier_releases` is not supported yet; remove it or set it to null",
        "should be at least 1, not `0`",
    ]


def test_every_problem_is_listed_with_its_line(folder: Path) -> None:
    text = """\
# a comment first
dataset: Driver Licences
titel: Driver licences
source: {file: a.csv, delimiter: ";;", encoding: nonsense}
columns:
  birth_year:
    role: quasi
    hierarchy:
      intervals: [5, 12]
  sex: {role: quasy}
  points: {}
privacy:
  k: 1
  suppression_limit: lots
  published_uniqueness:
    accept:
      - {columns: [points], reason: few points exist, by: me, until: 2027-02-31}
      - {columns: [pionts], reason: few points exist, by: me, until: soon}
keep_staging: yes
"""
    found = problems(folder, text)
    assert {where: line for where, (line, _) in found.items()} == {
        "dataset": 2,
        "titel": 3,
        "title": 2,
        "portal": 2,
        "unit": 2,
        "reviewed": 2,
        "source.delimiter": 4,
        "source.encoding": 4,
        "columns.birth_year.hierarchy.intervals": 9,
        "columns.sex.role": 10,
        "columns.points.role": 11,
        "privacy.k": 13,
        "privacy.suppression_limit": 14,
        "privacy.published_uniqueness.accept[0].until": 17,
        "privacy.published_uniqueness.accept[1].until": 18,
        "privacy.published_uniqueness.accept[1].columns[0]": 18,
        "keep_staging": 19,
    }
    assert found["titel"][1] == "unknown key `titel`; did you mean `title`?"
    assert found["title"][1] == "is required"
    assert found["privacy.k"][1] == "should be at least 2, not `1`"
    assert found["privacy.suppression_limit"][1] == "should be a number, not `lots`"
    assert found["privacy.published_uniqueness.accept[1].columns[0]"][1].endswith("did you mean `points`?")
    assert found["keep_staging"][1] == "should be true or false, not `yes`"


def test_a_partial_file_needs_only_columns(folder: Path) -> None:
    loaded = load(folder, "columns: {sex: {role: quasi}, points: {role: other}}\n", partial=True)
    assert (loaded.dataset, loaded.title, loaded.source, loaded.privacy, loaded.portal) == (None,) * 5
    assert loaded.quasi_identifiers == ("sex",)
    assert load(folder, "columns: {sex: {role: quasi}}\nprivacy: {}\n", partial=True).privacy.k is None
    assert problems(folder, "title: x\n", partial=True) == {"columns": (1, "is required")}


def test_what_a_partial_file_does_say_is_checked(folder: Path) -> None:
    text = "columns: {sex: {role: quasi}}\nprivacy: {k: 1}\nrecode: {method: global}\nportal: {}\n"
    assert problems(folder, text, partial=True).keys() == {"privacy.k", "portal"}


def test_the_digest_follows_the_meaning_and_not_the_spelling(folder: Path) -> None:
    first = load(folder, MINIMAL).digest()
    same = "# note\n" + changed(keep_staging=False, recode={"method": "global"})
    same = "\n".join(reversed(same.split("\nsource:")[0].split("\n"))) + "\nsource:" + same.split("\nsource:")[1]
    assert load(folder, same).digest() == first
    assert load(folder, MINIMAL.replace("k: 5", "k: 6")).digest() != first
    columns = dict(reversed(yaml.safe_load(MINIMAL)["columns"].items()))
    assert load(folder, changed(columns=columns)).digest() != first


def test_the_digest_changes_with_a_hierarchy_file(folder: Path) -> None:
    loaded = load(folder, with_column(role="quasi", hierarchy={"file": "h.csv"}))
    with pytest.raises(HierarchyError, match=r"columns\.extra\.hierarchy\.file: `h\.csv` cannot be read"):
        loaded.digest()
    (folder / "h.csv").write_text("a;b\n")
    first = loaded.digest()
    (folder / "h.csv").write_text("a;c\n")
    assert loaded.digest() != first


def test_loading_imports_nothing_heavy() -> None:
    heavy = "numpy pandas pyarrow numba airflow great_expectations sqlalchemy"
    code = f"import sys, anon_core.spec; print([name for name in {heavy.split()!r} if name in sys.modules])"
    root = Path(spec.__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("module", [policy, spec])
def test_every_public_name_is_there(module: Any) -> None:
    assert list(module.__all__) == sorted(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def test_more_levels_than_anybody_can_tell_apart_are_refused(folder: Path) -> None:
    for hierarchy in ({"prefix": list(range(150, 0, -1))}, {"intervals": [2**n for n in range(120)]}):
        column = yaml.safe_dump({"columns": {"zip": {"role": "quasi", "hierarchy": hierarchy}}})
        (where,) = problems(folder, column, partial=True)
        assert where.startswith("columns.zip.hierarchy")
    assert "to 100000" in problems(folder, MINIMAL + "recode: {improve: 99999999999999}\n")["recode.improve"][1]
