"""Everything public of a release is counted again from the release alone, or is rounded; every claim holds.

Thirty random releases are published, with people of one row and of several. A reader then has the files of the portal
and nothing else; the source is read only to see that what is claimed of people is so.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from anon_airflow.portals.ckan.metadata import package_fields
from anon_airflow.portals.ckan.requests import Sent
from anon_airflow.portals.ckan.resources import ResourceRole, described
from anon_airflow.portals.folder.pages import dataset_page
from anon_core.engines.arrow import ArrowEngine
from anon_core.models import MODELS, PolicyContext, Subject, required
from anon_core.policy import IDENTIFYING, Policy
from anon_core.publishing.release import Distribution, Release
from anon_core.table import read
from tests.anon_airflow.portals.random_releases import (
    QUASI,
    Random,
    classes_of,
    covers,
    level_of,
)


def test_there_are_releases_of_all_kinds_or_the_others_show_nothing(releases: list[Random]) -> None:
    kinds = Counter(
        (one.report["people"]["counted"], one.policy["k_means"], one.report["rows"]["removed"] > 0) for one in releases
    )
    least = len(releases) // 15
    assert sum(count for (counted, _, _), count in kinds.items() if counted == "people") >= 2 * least
    assert sum(count for (_, means, _), count in kinds.items() if means == "link") >= least
    assert (
        sum(count for (counted, means, _), count in kinds.items() if (counted, means) == ("rows", "exact")) >= 2 * least
    )


def test_figures_of_rows_are_those_that_a_reader_counts_in_the_files(releases: list[Random]) -> None:
    for one in releases:
        report, rows = one.report, one.rows
        privacy, sizes = report["privacy"], [len(rows) for rows in classes_of(one.rows).values()]
        assert report["rows"]["published"] == len(rows)
        if report["people"]["counted"] == "people":
            assert privacy["k"] == {"exact": None}
            assert (privacy["singletons"], privacy["risk"], privacy["sensitive"]) == (None, None, [])
            continue
        assert privacy["k"]["exact"] == (None if one.policy["k_means"] == "link" else min(sizes))
        assert privacy["singletons"] == sizes.count(1)
        assert privacy["risk"]["highest"] == pytest.approx(1 / min(sizes))
        assert privacy["risk"]["average"] == pytest.approx(len(sizes) / len(rows))
        for below in privacy["risk"]["below"]:
            assert below["rows"] == sum(size for size in sizes if size < below["limit"])
        for told in privacy["sensitive"]:
            counts = [Counter(row[told["name"]] for row in rows) for rows in classes_of(rows).values()]
            assert told["distinct_l"] == min(map(len, counts))
            assert told["largest_share"] == pytest.approx(max(max(c.values()) / c.total() for c in counts))


def test_levels_and_detail_are_told_by_labels_alone(releases: list[Random]) -> None:
    for one in releases:
        rows, report = one.rows, one.report
        columns = {column["name"]: column for column in report["recoding"]["columns"]}
        assert set(columns) == set(rows[0])
        for name, column in columns.items():
            expected = Counter(level_of(name, row[name]) if name in QUASI else 0 for row in rows)
            assert {level["level"]: level["rows"] for level in column["levels"]} == dict(expected), name
        coarse = [sum(level_of(name, row[name]) > 0 for name in QUASI) for row in rows]
        empty = [all(row[name] in ("*", "any") for name in QUASI) for row in rows]
        assert report["detail"] == {
            "rows_coarser_share": pytest.approx(sum(map(bool, coarse)) / len(rows)),
            "cells_coarser_share": pytest.approx(sum(coarse) / (len(rows) * len(columns))),
            "rows_without_detail": sum(empty),
            "columns_without_detail": [
                name for name in columns if name in QUASI and all(row[name] in ("*", "any") for row in rows)
            ],
        }


def test_counts_of_what_is_not_in_the_files_are_rounded(releases: list[Random]) -> None:
    for one in releases:
        report, step = one.report, max(one.policy["k"], 5)
        assert report["rows"]["rounded_to"] == step
        gone = len(one.collected) - len(one.rows)
        removed, dropped, capped = (report["rows"][name] for name in ("removed", "dropped", "capped"))
        assert (capped is None) == (one.policy["max_rows_per_person"] is None)
        assert removed % step == dropped % step == (capped or 0) % step == 0
        told = removed + dropped + (capped or 0)
        assert told <= gone < told + (2 if capped is None else 3) * step
        if (people := report["people"]["published"]) is not None:
            assert people % step == 0
            assert people <= len({person for _, person in one.people_of_rows}) < people + step
        alone = report["people"]["alone"]
        assert (alone is None) == (people is None)
        if alone is not None:
            whose: dict[tuple[str | None, ...], set[str | None]] = {}
            for row, person in one.people_of_rows:
                whose.setdefault(tuple(row.values()), set()).add(person)
            groups: dict[str, set[tuple[str | None, ...]]] = {}
            for row, person in one.people_of_rows:
                if person is not None:
                    groups.setdefault(person, set()).add(tuple(row[name] for name in QUASI))
            alike = Counter(frozenset(found) for found in groups.values())
            few = sum(times for times in alike.values() if times < one.policy["k"])
            assert report["people"]["row_sets"] <= few < report["people"]["row_sets"] + step
            assert alone % step == 0
            lonely = [found - {None} for found in whose.values() if len(found - {None}) <= 1]
            assert alone <= len(set().union(*lonely)) + lonely.count(set()) < alone + step


def test_checks_tell_what_their_model_finds_in_the_release_alone_or_their_promise(releases: list[Random]) -> None:
    for one in releases:
        engine = ArrowEngine(table=read(one.files["people.csv"]))
        subject = Subject(names=engine.names, rows=engine.count)
        policy = Policy.model_validate(one.policy)
        context = PolicyContext(policy=policy, quasi_identifiers=QUASI, k=policy.k, today=date(2026, 1, 1))
        again = {each.name: each.measured(subject) for each in required(context) if type(each.model).of_bytes}
        counts = one.report["people"]["counted"]
        for check in one.report["privacy"]["checks"]:
            key = check["name"].partition("(")[0]
            if check["name"] in again and counts == "rows":
                found = again[check["name"]]
                assert (check["observed"], check["message"]) == (found.observed, found.sentence)
            elif key in MODELS or key in ("link_k", "source_k", "personal_names"):
                key = {"personal_names": "personal_patterns"}.get(key, key)
                told = counts == "rows" and key in MODELS and MODELS.get(key).of_bytes
                assert (check["observed"] is not None) == told
                assert told or check["message"].endswith(": holds")
                assert told or not set(re.findall(r"\d+", check["message"])) - numbers_of_policy(one), check["message"]


def numbers_of_policy(one: Random) -> set[str]:
    """Every number that a publication file has, as sentences have it."""

    def numbers(value: Any) -> set[str]:
        if isinstance(value, dict):
            return set().union(*map(numbers, value.values())) if value else set()
        if isinstance(value, (list, tuple)):
            return set().union(*map(numbers, value)) if value else set()
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            return set()
        return set(re.findall(r"\d+", f"{value:g}")) | set(re.findall(r"\d+", f"{100 * value:g}"))

    identifying = set(re.findall(r"\d+", f"{IDENTIFYING:g}"))
    return numbers(one.policy) | identifying | {"0", "2"}


def test_nothing_that_was_tried_or_counted_beside_the_originals_is_public(releases: list[Random]) -> None:
    private = ("why", "candidates", "seq", "rows_changed", "cells_changed", "concealment", "nue", "wnue", "restored")
    for one in releases:
        for name in ("report.json", "manifest.json", "datapackage.json"):
            keys = keys_of(json.loads(one.files[name].read_bytes()))
            assert not keys & set(private), name
        assert "How this was chosen" not in one.page


def keys_of(document: Any) -> set[str]:
    if isinstance(document, dict):
        return set(document) | set().union(set(), *map(keys_of, document.values()))
    return set().union(set(), *map(keys_of, document)) if isinstance(document, list) else set()


def privacy_section(page: str) -> str:
    """The words of the section about privacy, without tags."""
    section = page[page.index('id="privacy"') : page.index("</section>", page.index('id="privacy"'))]
    return " ".join(re.sub(r"<[^>]+>", " ", section).split())


def test_every_number_about_privacy_on_the_page_is_counted_again_or_rounded(releases: list[Random]) -> None:
    for one in releases:
        report, step = one.report, one.report["rows"]["rounded_to"]
        sizes = [len(rows) for rows in classes_of(one.rows).values()]
        allowed = numbers_of_policy(one) | {str(min(sizes)), str(sizes.count(1)), str(step)}
        for rounded in (
            report["rows"]["removed"],
            report["rows"]["dropped"],
            report["people"]["published"],
            report["people"]["alone"],
            report["people"]["row_sets"],
            report["rows"]["capped"],
        ):
            if rounded:
                allowed |= {str(rounded), str(rounded + step - 1)}
        checks = {check["name"]: check for check in report["privacy"]["checks"]}
        for told in report["privacy"]["sensitive"]:
            same = [group for group in classes_of(one.rows).values() if len({row[told["name"]] for row in group}) == 1]
            assert checks[f"homogeneity({told['name']})"]["observed"] == sum(map(len, same))
            allowed.add(str(sum(map(len, same))))
            allowed |= {str(told["distinct_l"]), *re.findall(r"\d+", f"{100 * told['largest_share']:.1f}")}
        if report["people"]["counted"] == "rows":
            alone = sum(times == 1 for times in Counter(tuple(row.values()) for row in one.rows).values())
            for digits in (0, 1, 2):
                allowed |= set(re.findall(r"\d+", f"{100 * alone / len(one.rows):.{digits}f}"))
        numbers = set(re.findall(r"\d+", privacy_section(one.page)))
        assert not numbers - allowed, (numbers - allowed, privacy_section(one.page))


def claimed(one: Random) -> tuple[int, str]:
    """How many rows or people the page says that every group has."""
    ((told, noun),) = re.findall(
        r"Every group has (?:rows of )?at least (\d+) (rows|people)", privacy_section(one.page)
    )
    return int(told), noun


def test_every_group_has_as_many_rows_as_the_page_says(releases: list[Random]) -> None:
    for one in releases:
        if one.report["people"]["counted"] == "rows" and one.policy["k_means"] == "exact":
            assert claimed(one) == (min(map(len, classes_of(one.rows).values())), "rows")


def test_every_group_has_rows_of_as_many_people_as_the_page_says(releases: list[Random]) -> None:
    for one in releases:
        if one.report["people"]["counted"] == "people":
            people: dict[Any, set[str | None]] = {}
            for row, person in one.people_of_rows:
                people.setdefault(tuple(row[name] for name in QUASI), set()).add(person)
            assert set(people) == set(classes_of(one.rows))
            assert claimed(one) == (one.policy["k"], "people")
            assert min(len(found - {None}) or 1 for found in people.values()) >= one.policy["k"]


def test_the_page_says_of_people_no_more_than_the_rule(releases: list[Random]) -> None:
    for one in releases:
        if one.report["people"]["counted"] == "people":
            assert claimed(one) == (one.policy["k"], "people")
            assert "A person may have several rows" in one.page


def test_every_person_may_have_as_many_rows_as_the_page_of_a_link_release_says(releases: list[Random]) -> None:
    for one in releases:
        words = privacy_section(one.page)
        if one.policy["k_means"] != "link":
            assert "may be theirs" not in words
            continue
        rows = one.rows
        (link,) = re.findall(r"at least (\d+) rows may be theirs", words)
        (source,) = re.findall(r"may belong to at least (\d+) people", words)
        assert int(link) == int(source) == one.policy["k"]
        dropped = one.missing == "drop"
        people = [row for row in one.collected if not (dropped and None in (row[name] for name in QUASI))]
        may = [[all(covers(name, row[name], person[name]) for name in QUASI) for row in rows] for person in people]
        assert all(sum(found) >= int(link) for found in may if any(found))
        assert all(sum(found[at] for found in may) >= int(source) for at in range(len(rows)))


def test_the_sets_that_were_searched_leave_no_more_alone_than_the_page_says(releases: list[Random]) -> None:
    for one in releases:
        searched = one.report["privacy"]["published_uniqueness"]
        rows, most = one.rows, searched["max_share"] * len(one.rows)
        for size in range(1, searched["max_size"] + 1):
            for names in combinations(searched["columns"], size):
                if not set(names) <= set(searched["protected"]) and one.report["people"]["counted"] == "rows":
                    alone = Counter(tuple(row[name] for name in names) for row in rows)
                    assert sum(count == 1 for count in alone.values()) <= most


def test_whether_a_group_shares_a_value_is_told_as_it_is(releases: list[Random]) -> None:
    for one in releases:
        words = privacy_section(one.page)
        for name in ("illness", "points"):
            shared = any(len({row[name] for row in rows}) == 1 for rows in classes_of(one.rows).values())
            if one.report["people"]["counted"] == "rows":
                assert (f"all rows have the same value of {name} :" in words) == shared
            elif shared and not any(f"({name}" in check["name"] for check in one.report["privacy"]["checks"]):
                assert "all people of a group may share one value" in words


def test_what_was_not_measured_is_named_and_nothing_more_is_promised(releases: list[Random]) -> None:
    for one in releases:
        words = privacy_section(one.page)
        for named in (
            "deFinetti",
            "is in this table at all",
            "surely is not",
            "households",
            "other datasets",
            "before",
        ):
            assert named in words.partition("Not measured")[2], named
        for untrue in ("cannot tell which", "singles anybody out", "stands out", "look alike"):
            assert untrue not in one.page
        if one.report["people"]["rows_are_people"]:
            verified = {True: "no identifier in the source contradicts", False: "not verifiable", None: "not verified"}
            said = verified[one.report["people"]["verifiable"]]
            assert "states that every row is another person" in words and said in words
        else:
            assert "states that every row" not in words


def test_what_ckan_is_told_says_of_the_files_what_is_in_them(releases: list[Random]) -> None:
    for one in releases:
        manifest = json.loads(one.files["manifest.json"].read_bytes())
        files = [
            Distribution(
                name=each["name"],
                path=one.files[each["name"]],
                media_type=each["media_type"],
                sha256=each["sha256"],
                bytes=each["bytes"],
                rows=each["rows"],
            )
            for each in manifest["distributions"]
        ]
        release = Release(
            dataset="people",
            title=manifest["title"],
            version=manifest["version"],
            period=manifest["period"],
            distributions=tuple(files),
            report=one.report,
            metadata=manifest["metadata"],
            manifest={},
            content_digest=manifest["content_digest"],
        )
        fields = package_fields(release, None, None, manifest)
        assert not re.findall(r"\d", str(fields["notes"]))
        package = {"id": "ed5381c2-bbb7-4b94-9142-784a60074e32", "name": "people", "resources": []}
        for each in files:
            content = each.path.read_bytes()
            assert (hashlib.sha256(content).hexdigest(), len(content)) == (each.sha256, each.bytes)
            sent = Sent(
                name=each.name, path=each.path, media_type=each.media_type, sha256=each.sha256, bytes=each.bytes
            )
            words = described(package, ResourceRole.CURRENT, manifest, sent)["description"]
            assert words.startswith(f"The table, {len(one.rows):,} rows, as ")
        report = described(
            package,
            ResourceRole.CURRENT,
            manifest,
            Sent(name="report.json", path=Path("report.json"), media_type="application/json", sha256="", bytes=1),
        )
        assert report["description"].startswith("Which checks were made before publication, what was not")


@pytest.mark.parametrize(
    ("verifiable", "said"),
    [
        (True, "no identifier in the source contradicts it"),
        (False, "this is not verifiable, because the source has no identifier that could contradict it"),
        (None, "this was not verified"),
    ],
)
def test_a_claim_that_rows_are_people_is_called_what_it_is(
    releases: list[Random], verifiable: bool | None, said: str
) -> None:
    one = next(one for one in releases if one.report["people"]["rows_are_people"])
    report = one.report
    report["people"] |= {
        "verifiable": verifiable,
        "answered": [{"reason": "one card per person", "by": "A. Rossi", "until": "2027-01-01", "column": None}],
    }
    manifest = json.loads(one.files["manifest.json"].read_bytes())
    words = privacy_section(dataset_page([(manifest, report)], [], {}, None))
    assert "states that every row is another person" in words and said in words
    others = {"no identifier in the source contradicts", "not verifiable", "was not verified"}
    assert sum(other in words for other in others) == 1
    assert "one card per person (A. Rossi, until 1 January 2027)" in words
