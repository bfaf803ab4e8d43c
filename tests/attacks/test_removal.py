"""What removal and coarsening tell: four people of one town, all with HIV, in a table that asks for diversity."""

from __future__ import annotations

from collections import Counter, defaultdict
from math import comb
from pathlib import Path
from typing import Any

import pytest

from anon_core.errors import PolicyNotMetError
from tests.anon_airflow.run.step_runs import run_of, take
from tests.attacks.attacker import Columns, Release, Rows, publication

TOWNS = [("Alba", "North"), ("Bria", "North"), ("Cusa", "South"), ("Dosso", "South")]
COLUMNS: Columns = {
    "person": "identifier",
    "town": {"role": "quasi", "hierarchy": {"file": "towns.csv"}},
    "illness": "sensitive",
}
METHODS: list[dict[str, Any]] = [
    {"method": "global"},
    {"method": "prioritised", "improve": 2},
    {"method": "best", "improve": 2},
]
DIVERSE = {
    "distinct": {"l_diversity": [{"column": "illness", "l": 2}]},
    "entropy": {"l_diversity": [{"column": "illness", "kind": "entropy", "l": 1.5}]},
    "alpha": {"alpha": [{"column": "illness", "alpha": 0.8}]},
}


def residents(rows_of_each: int = 1) -> Rows:
    """Forty people in each of three towns, half of them with HIV, and four in Dosso, all with HIV."""
    found = [(f"c{at}", TOWNS[at % 3][0], "flu" if at % 2 else "HIV") for at in range(120)]
    found += [(f"d{at}", "Dosso", "HIV") for at in range(4)]
    return [row for row in found for _ in range(rows_of_each)]


def policy(recode: dict[str, Any], asked: dict[str, Any], **more: Any) -> dict[str, Any]:
    uniqueness = {"max_share_alone": 1.0}
    more = {"k": 4, "suppression_limit": 0.1, "published_uniqueness": uniqueness, **asked, **more}
    return {"recode": recode, "files": {"towns.csv": TOWNS}, **more}


def attacked(release: Release, rows_of_each: int = 1) -> None:
    """The attacker knows how many people each town has, and looks which of their rows are not there."""
    groups = release.groups("town")
    for town, province in TOWNS:
        lived = rows_of_each * (4 if town == "Dosso" else 40)
        assert sum(groups[label,] for label in (town, province, "*")) >= lived, "nobody's rows are missing"
    illnesses: dict[str, set[str]] = defaultdict(set)
    for town, illness in release.rows:
        illnesses[town].add(illness)
    assert len(release.rows) == 124 * rows_of_each
    assert all(len(found) > 1 for found in illnesses.values()), "what Dosso has is known of no class"
    assert release.internal["removal"]["passed"]


@pytest.mark.parametrize(
    ("recode", "asked"),
    [*((METHODS[0], asked) for asked in DIVERSE), (METHODS[1], "distinct"), (METHODS[2], "distinct")],
    ids=lambda one: one if isinstance(one, str) else one["method"],
)
def test_four_people_of_one_town_who_all_have_hiv_are_merged_and_not_removed(
    tmp_path: Path, recode: dict[str, Any], asked: str
) -> None:
    attacked(Release(publication(tmp_path, residents(), COLUMNS, unit="person", **policy(recode, DIVERSE[asked]))))


def test_nor_are_they_where_each_of_them_has_three_rows(tmp_path: Path) -> None:
    spec = publication(tmp_path, residents(3), COLUMNS, unit="person", **policy(METHODS[0], DIVERSE["distinct"]))
    attacked(Release(spec), 3)


@pytest.mark.parametrize("recode", METHODS[:2], ids=lambda one: one["method"])
def test_where_only_removal_would_help_nothing_is_published(tmp_path: Path, recode: dict[str, Any]) -> None:
    """Of the others nobody has anything but HIV either: no merging makes a class diverse."""
    rows = [(person, town, "HIV") for person, town, _ in residents()]
    spec = publication(tmp_path, rows, COLUMNS, unit="person", **policy(recode, DIVERSE["distinct"]))
    with pytest.raises(PolicyNotMetError):
        take(run_of(spec, tmp_path / "home"), "stage", "recode")


def test_people_in_classes_below_k_may_be_missing_and_that_tells_nothing_of_their_illness(tmp_path: Path) -> None:
    """Three of Dosso are too few for k, whatever they have: the release is the same with any other illness."""
    released = []
    for illness in ("HIV", "flu"):
        rows = [*residents()[:120], *((f"d{at}", "Dosso", illness) for at in range(3))]
        columns = {**COLUMNS, "town": "quasi"}
        spec = publication(tmp_path / illness, rows, columns, unit="person", **policy(METHODS[0], DIVERSE["distinct"]))
        released.append(Release(spec).rows)
    assert released[0] == released[1] and len(released[0]) == 120


def test_a_merged_class_still_tells_something_and_that_is_measured(tmp_path: Path) -> None:
    """
    Minimality (Wong 2007), which merging only weakens: Dosso is coarser because it, or the other town, had one illness.

    The attacker takes all ways to give the published illnesses to the people of both towns, and keeps those in which
    one of the towns lacks diversity: else k alone would have left them apart.
    """
    asked = policy({"method": "prioritised", "improve": 0}, DIVERSE["distinct"])
    release = Release(publication(tmp_path, residents(), COLUMNS, unit="person", **asked))
    label = "South" if ("South",) in release.groups("town") else "*"
    inside = Counter(illness for town, illness in release.rows if town == label)
    everybody, ill = inside.total(), inside["HIV"]
    assert everybody == 44, "Dosso and one other town"
    all_ill, none_ill = comb(everybody - 4, ill - 4), comb(everybody - 4, ill)
    belief = all_ill / (all_ill + none_ill)
    assert ill / everybody == pytest.approx(0.545, abs=0.001) and belief == pytest.approx(0.687, abs=0.001)
    assert " 0 are missing, 4 coarser" in release.internal["removal"]["message"], "said, and not refused"
