"""What changed from version to version is said in sentences, each where it is true and nowhere else."""

from __future__ import annotations

from typing import Any

import pytest

from anon_airflow.portals.folder.changelog import changelog_of, changes

Column = dict[str, Any]


def column(name: str, level: str = "as collected") -> Column:
    return {"name": name, "levels": [{"level": 0, "name": "unused", "rows": 0}, {"level": 1, "name": level, "rows": 9}]}


def version(
    period: str | None = "2026-02",
    *,
    rows: int = 9000,
    digest: str = "b",
    columns: tuple[Column, ...] = (column("sex"), column("town")),
    k: int = 5,
    **manifest: Any,
) -> tuple[dict[str, Any], dict[str, Any]]:
    file = {"name": "people.csv", "media_type": "text/csv", "bytes": 1, "rows": rows, "sha256": digest}
    said = {"version": f"v{period}", "period": period, "published_at": f"{period}-02", "title": "People"}
    report = {"privacy": {"k_required": k}, "recoding": {"columns": list(columns)}}
    return {**said, "distributions": [file], "metadata": {"licence": "CC0-1.0"}, **manifest}, report


BEFORE = version("2026-01", digest="a")


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (version(), ["Different rows; as many as before, in the same columns."]),
        (version(digest="a"), ["The files are the same as before."]),
        (version(rows=10_234), ["1,234 more rows: 10,234 in all."]),
        (version(rows=8999), ["Nearly as many rows as before: 8,999 in all."]),
        (
            version("2026-01", rows=9001),
            ["Replaces the version before for the same period.", "Nearly as many rows as before: 9,001 in all."],
        ),
        (
            version(columns=(column("sex"), column("age"))),
            ["New columns: age.", "Columns that are no longer included: town."],
        ),
        (version(columns=(column("sex", "any"), column("town"))), ["sex: any; before: as collected."]),
        (version(k=7), ["The rule now requires groups of at least 7; before: 5."]),
        (version(digest="a", metadata={}), ["The files are the same as before.", "Licence: none; before: CC0-1.0."]),
        (version(title="Persons"), ["The title was People."]),
        (
            version(digest="a", metadata={"licence": "CC0-1.0", "description": "More words"}),
            ["The files are the same as before.", "Described differently: description."],
        ),
    ],
)
def test_what_changed_is_said(now: tuple[dict[str, Any], dict[str, Any]], said: list[str]) -> None:
    assert changes(*now, BEFORE) == said


def test_two_versions_without_a_period_do_not_replace_each_other() -> None:
    assert changes(*version(None, rows=9001), version(None, digest="a")) == [
        "Nearly as many rows as before: 9,001 in all."
    ]


def test_the_first_version_says_so_unless_earlier_ones_are_gone() -> None:
    stone = {
        "version": "v0",
        "period": "2025-12",
        "published_at": "2025-12-02",
        "kind": "expired",
        "reason": "",
        "at": "",
    }
    later = stone | {"period": "2026-09", "published_at": "2026-09-02"}
    for stones, said in (
        ([], "First version."),
        ([later], "First version."),
        ([stone], "The versions before it are no longer available."),
    ):
        entries = changelog_of("people", [version(), BEFORE], stones)["versions"]
        assert entries[1]["changes"] == [said]
        assert [each["status"] for each in entries] == ["available", "available", *("expired" for _ in stones)]
