"""Every figure of public reports is one that a test counts again, and what checks found is counted by brute force."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import exp, log
from typing import Any

import pytest

from tests.anon_airflow.portals.random_releases import QUASI, Random, classes_of

Row = dict[str, str | None]

FILES = {"distributions.bytes", "distributions.rows", "rows.published"}
LABELS = {
    "detail.cells_coarser_share",
    "detail.rows_coarser_share",
    "detail.rows_without_detail",
    "recoding.columns.levels.level",
    "recoding.columns.levels.rows",
}
ROUNDED = {"rows.removed", "rows.dropped", "rows.capped", "people.published", "people.alone", "people.row_sets"}
POLICY = {
    "privacy.k_required",
    "privacy.published_uniqueness.max_share",
    "privacy.published_uniqueness.max_share_alone",
    "privacy.published_uniqueness.max_share_with_sensitive",
    "privacy.published_uniqueness.max_size",
    "privacy.suppression_limit",
    "rows.rounded_to",
}
CLASSES = {
    "privacy.k.exact",
    "privacy.singletons",
    "privacy.risk.average",
    "privacy.risk.highest",
    *(f"privacy.risk.{side}.{what}" for side in ("above", "below") for what in ("limit", "rows", "share")),
    *(f"privacy.sensitive.{what}" for what in ("distinct_l", "entropy_l", "largest_share", "t_equal", "t_ordered")),
}
CHECKS = {"privacy.checks.observed", "privacy.checks.required"}


def figures(document: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """Every number of a report, under the keys that lead to it."""
    if isinstance(document, dict):
        for key, value in document.items():
            yield from figures(value, f"{path}.{key}".strip("."))
    elif isinstance(document, list):
        for value in document:
            yield from figures(value, path)
    elif isinstance(document, int | float) and not isinstance(document, bool):
        yield path, document


def test_a_report_has_no_figure_that_no_test_counts_again(releases: list[Random]) -> None:
    """A new figure fails here until it is named, and counted: by its name in this module or `test_public_figures`."""
    known = FILES | LABELS | ROUNDED | POLICY | CLASSES | CHECKS
    found = {path for one in releases for path, _ in figures(one.report)}
    assert found <= known, found - known
    assert len(found) > 25, "or the reports say nothing"


def of_policy(policy: Any) -> set[float]:
    """Every number that a publication file has, and those that hold for every table."""
    return {number for _, number in figures(policy)} | {0, 0.5, 0.95}


def test_where_people_have_several_rows_limits_are_told_as_the_file_has_them(releases: list[Random]) -> None:
    """How many people 1 % of them are would tell how many there are: `sensitive_alone` counts them."""
    limits, counted = 0, 0
    for one in releases:
        if one.report["people"]["counted"] == "rows":
            continue
        for check in one.report["privacy"]["checks"]:
            if isinstance(check["required"], int | float) and check["name"] != "evaluated":
                limits += 1
                assert check["required"] in of_policy(one.policy), check["name"]
            if check["name"] == "sensitive_alone":
                counted += 1
                assert check["required"] == "holds" and check["observed"] is None
    assert limits > 20 and counted > 3


def alone_with_rare_values(rows: Sequence[Row], names: Sequence[str], k: int) -> int:
    """How many rows have a value of one column, or of two, that fewer than k rows share."""
    rare: set[int] = set()
    for size in (1, 2):
        for chosen in combinations(names, size):
            times = Counter(tuple(row[name] for name in chosen) for row in rows)
            rare |= {at for at, row in enumerate(rows) if times[tuple(row[name] for name in chosen)] < k}
    return len(rare)


def values_of(rows: Sequence[Row], name: str) -> list[Counter[str | None]]:
    return [Counter(row[name] for row in group) for group in classes_of(rows).values()]


def entropy_l(values: Counter[str | None]) -> float:
    """The l of entropy l-diversity: e to the entropy of the values."""
    return exp(-sum(n / values.total() * log(n / values.total()) for n in values.values()))


def distances(rows: Sequence[Row], name: str, *, ordered: bool) -> list[float]:
    """How far each class is from the whole table: equal distance, or of ranks, a gap last."""
    whole = Counter(row[name] for row in rows)
    ranks = sorted(whole, key=lambda value: (value is None, value))
    found = []
    for group in values_of(rows, name):
        apart = [group[value] / group.total() - whole[value] / whole.total() for value in ranks]
        if ordered:
            moved = [abs(sum(apart[: at + 1])) for at in range(len(apart))]
            found.append(sum(moved) / max(len(apart) - 1, 1))
        else:
            found.append(sum(map(abs, apart)) / 2)
    return found


def by_hand(one: Random) -> dict[str, float]:
    """What each check of a release of rows has to have observed; nothing but its rows and its policy is read."""
    rows, policy = one.rows, one.policy
    sizes = [len(group) for group in classes_of(rows).values()]
    names = list(rows[0])
    whole = Counter(tuple(row.values()) for row in rows)
    joint = Counter(tuple(row[name] for name in (*QUASI, "shoe")) for row in rows) if "shoe" in names else {}
    found: dict[str, float] = {
        "no_undeclared_column": 0,
        "published_uniqueness": 0,
        "personal_patterns": 0,
        "personal_names": 0,
        "no_singletons": sizes.count(1),
        "k_anonymity": min(sizes),
        "sensitive_alone": alone_with_rare_values(rows, ("illness", "points"), policy["k"]),
        "unique_with_sensitive": sum(times == 1 for times in whole.values()) / len(rows),
        "no_published_identifier": max(
            sum(times == 1 for value, times in Counter(row[name] for row in rows).items() if value is not None)
            / max(sum(row[name] is not None for row in rows), 1)
            for name in names
            if name not in QUASI
        ),
    }
    if joint:
        found["joint_classes"] = min(joint.values())
    for name in ("illness", "points"):
        found[f"homogeneity({name})"] = sum(group.total() for group in values_of(rows, name) if len(group) == 1)
    found["l_diversity(illness)"] = min(map(len, values_of(rows, "illness")))
    found["alpha(illness)"] = max(max(group.values()) / group.total() for group in values_of(rows, "illness"))
    found["t_closeness(points)"] = max(distances(rows, "points", ordered=True))
    return found


def test_what_checks_of_rows_observed_is_what_brute_force_counts_in_the_published_rows(releases: list[Random]) -> None:
    seen: Counter[str] = Counter()
    for one in releases:
        if one.report["people"]["counted"] == "people":
            continue
        expected = by_hand(one)
        for check in one.report["privacy"]["checks"]:
            if isinstance(check["observed"], int | float) and check["name"] != "evaluated":
                name, _, inside = check["name"].partition("(")
                name = f"{name}({inside.partition(',')[0].rstrip(')')})" if inside else name
                assert check["observed"] == pytest.approx(expected[name]), check["name"]
                seen[name] += 1
    assert set(seen) >= {"joint_classes", "sensitive_alone", "unique_with_sensitive", "homogeneity(points)"}
    assert set(seen) >= {"l_diversity(illness)", "alpha(illness)", "t_closeness(points)"}


def test_what_classes_give_away_is_what_brute_force_counts_in_the_published_rows(releases: list[Random]) -> None:
    told = 0
    for one in releases:
        rows, privacy = one.rows, one.report["privacy"]
        for column in privacy["sensitive"]:
            groups = values_of(rows, column["name"])
            assert column["entropy_l"] == pytest.approx(min(map(entropy_l, groups)))
            assert column["t_equal"] == pytest.approx(max(distances(rows, column["name"], ordered=False)))
            assert column["t_ordered"] == pytest.approx(max(distances(rows, column["name"], ordered=True)))
            told += 1
        if privacy["risk"]:
            sizes = [len(group) for group in classes_of(rows).values()]
            for side, holds in (("above", lambda n, limit: 1 / n > limit), ("below", lambda n, limit: n < limit)):
                for one_of in privacy["risk"][side]:
                    counted = sum(size for size in sizes if holds(size, one_of["limit"]))
                    assert (one_of["rows"], one_of["share"]) == (counted, pytest.approx(counted / len(rows)))
    assert told > 10


def test_no_claim_of_a_check_that_counts_people_is_more_than_brute_force_finds(releases: list[Random]) -> None:
    """The witness says whose each row is: what the public is only told to hold, holds."""
    held: Counter[str] = Counter()
    for one in releases:
        if one.report["people"]["counted"] == "rows":
            continue
        policy, names = one.policy, list(one.rows[0])
        checks = {check["name"].partition("(")[0]: check for check in one.report["privacy"]["checks"]}
        for name, columns in (("k_anonymity", QUASI), ("joint_classes", (*QUASI, "shoe"))):
            if name in checks:
                assert min(map(len, people_by(one, columns).values())) >= policy["k"]
                held[name] += 1
        limits = policy["published_uniqueness"]
        everybody = {person for _, person in one.people_of_rows if person is not None}
        lonely = {next(iter(people)) for people in people_by(one, names).values() if len(people) == 1}
        assert len(lonely) <= limits["max_share_with_sensitive"] * len(everybody)
        for people in rows_of_people(one).values():
            assert max(people.values()) == 1 or 2 * max(people.values()) <= sum(people.values())
            held["half_of_class"] += 1
        if (most := policy["max_rows_per_person"]) is not None:
            times = Counter(person for _, person in one.people_of_rows if person is not None)
            assert max(times.values()) <= most
            held["max_rows_per_person"] += 1
    assert min(held[name] for name in ("k_anonymity", "joint_classes", "half_of_class", "max_rows_per_person")) > 0


def people_by(one: Random, columns: Sequence[str]) -> dict[tuple[str | None, ...], set[str]]:
    found: dict[tuple[str | None, ...], set[str]] = defaultdict(set)
    for row, person in one.people_of_rows:
        found[tuple(row[name] for name in columns)] |= {person} - {None}
    return {cells: people or {""} for cells, people in found.items()}


def rows_of_people(one: Random) -> dict[tuple[str | None, ...], Counter[str]]:
    found: dict[tuple[str | None, ...], Counter[str]] = defaultdict(Counter)
    for row, person in one.people_of_rows:
        if person is not None:
            found[tuple(row[name] for name in QUASI)][person] += 1
    return found
