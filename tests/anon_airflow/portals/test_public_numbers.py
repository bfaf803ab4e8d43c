"""Every number on the whole page, and in what machines read, follows from the published files or is named elsewhere."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from html import unescape
from typing import Any

import pytest

from anon_airflow.portals.words import size
from tests.anon_airflow.portals.random_releases import QUASI, Random, classes_of, level_of, several_published
from tests.anon_airflow.portals.test_public_figures import numbers_of_policy

RELEASES = 8
NUMBER = re.compile(r"\d+(?:,\d{3})+|\d+")


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> list[Random]:
    found = several_published(range(1000, 1000 + 5 * RELEASES), RELEASES, tmp_path_factory)
    assert {one.report["people"]["counted"] for one in found} == {"rows", "people"}
    return found


def visible(page: str) -> str:
    """What a reader sees of a page, and what pictures say to who does not see them."""
    spoken = " ".join(re.findall(r'aria-label="([^"]*)"', page))
    for hidden in ("style", "script", "head"):
        page = re.sub(rf"<{hidden}\b.*?</{hidden}>", " ", page, flags=re.DOTALL)
    page = re.sub(r"<code>[0-9a-f]{64}</code>", " ", page)
    return unescape(re.sub(r"<[^>]+>", " ", page) + " " + spoken)


def numbers(text: str) -> set[str]:
    return {found.replace(",", "") for found in NUMBER.findall(text)}


def shares(count: int, of: int) -> set[str]:
    """A share as pages write it, and the words for nearly nothing and nearly all."""
    return numbers(f"{100 * count / of:.1f} {100 * count / of:.0f} 0.1 99.9")


def counted_again(one: Random) -> set[str]:
    """All numbers that follow from the published files, the publication file, or the moment."""
    report, rows = one.report, one.rows
    manifest = json.loads(one.files["manifest.json"].read_bytes())
    step = report["rows"]["rounded_to"]
    found = numbers(f"{manifest['version']} {manifest['published_at']} {report['period']} {manifest['title']}")
    found |= numbers(f"{report['generated_by']} {len(rows)} {step} SHA-256 {min(10, len(rows))}")
    found |= {number.lstrip("0") for number in found} | numbers_of_policy(one)
    for each in manifest["distributions"]:
        found |= numbers(size(one.files[each["name"]].stat().st_size))
    for rounded in (
        report["rows"]["removed"],
        report["rows"]["dropped"],
        report["people"]["published"],
        report["people"]["alone"],
        report["people"]["row_sets"],
        report["rows"]["capped"],
    ):
        assert rounded is None or rounded % step == 0, "an exact count of what is not in the files"
        found |= {str(rounded), str(rounded + step - 1)} if rounded else set()
    levels = {name: Counter(level_of(name, row[name]) for row in rows) for name in QUASI}
    for counts in levels.values():
        found |= {str(count) for count in counts.values()} | shares(counts[0], len(rows))
    found |= numbers("intervals of 5 intervals of 10 intervals of 20 grouped, level 1 of 1 multiples of 2")
    coarse = [sum(level_of(name, row[name]) > 0 for name in QUASI) for row in rows]
    found |= shares(sum(map(bool, coarse)), len(rows)) | shares(sum(coarse), len(rows) * len(rows[0]))
    found.add(str(sum(all(row[name] in ("*", "any") for name in QUASI) for row in rows)))
    for row in rows[:10]:
        found |= numbers(" ".join(cell or "" for cell in row.values()))
    return found | about_classes(one)


def about_classes(one: Random) -> set[str]:
    """What is counted in classes, and over all columns; the sentences of checks are recomputed elsewhere."""
    report, rows = one.report, one.rows
    found = {str(one.policy["k"])}
    if report["people"]["counted"] == "rows":
        sizes = [len(group) for group in classes_of(rows).values()]
        alone = sum(times == 1 for times in Counter(tuple(row.values()) for row in rows).values())
        found |= {str(min(sizes)), str(sizes.count(1))} | shares(alone, len(rows))
        for told in report["privacy"]["sensitive"]:
            groups = [Counter(row[told["name"]] for row in group) for group in classes_of(rows).values()]
            found.add(str(min(map(len, groups))))
            found |= set().union(*(shares(max(group.values()), group.total()) for group in groups))
    return found.union(*(numbers(f"{check['name']} {check['message']}") for check in report["privacy"]["checks"]))


def test_every_number_on_the_whole_page_is_counted_again_from_the_files(releases: list[Random]) -> None:
    for one in releases:
        assert not numbers(visible(one.page)) - counted_again(one), visible(one.page)


def sizes_in(document: Any) -> Iterator[tuple[str, Any]]:
    """Every number in a document, with the key that it stands under."""
    if isinstance(document, dict):
        for key, value in document.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                yield key, value
            else:
                yield from sizes_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from sizes_in(value)


def test_numbers_and_digests_that_machines_read_are_those_of_the_files(releases: list[Random]) -> None:
    for one in releases:
        portal = one.folder
        files = {path.name: path.read_bytes() for path in one.files.values()}
        sizes = {len(content) for content in files.values()}
        digests = {hashlib.sha256(content).hexdigest() for content in files.values()}
        for path in (one.files["manifest.json"], one.files["datapackage.json"], portal / "people" / "changelog.json"):
            for key, value in sizes_in(json.loads(path.read_bytes())):
                allowed = {"bytes": sizes, "rows": {len(one.rows)}, "sequence": {1}}[key]
                assert value in allowed, (path.name, key)
        turtle = (portal / "catalog.ttl").read_text()
        for told in re.findall(r'byteSize "(\d+)"', turtle):
            assert int(told) in sizes
        assert set(re.findall(r"\b[0-9a-f]{64}\b", turtle)) <= digests
        assert not numbers(visible((portal / "index.html").read_text())) - counted_again(one) - {"1"}


def test_a_page_with_one_number_more_would_be_noticed(releases: list[Random]) -> None:
    one = releases[0]
    exact = len(one.collected) + 7919
    assert numbers(visible(one.page.replace("</main>", f"<p>{exact:,} rows were collected</p></main>"))) - (
        counted_again(one)
    ) == {str(exact)}
