"""Releases for the folder portal, and what is found there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from anon_core.publishing.release import Distribution, Release

Maker = Callable[..., Release]


def maker(files: Path) -> Maker:
    """Return what makes a release whose two files hold the given text."""

    def release(
        text: str = "sex,rows\nF,5\n", *, version: str = "v1", period: str | None = None, **changes: Any
    ) -> Release:
        folder = files / "made" / hashlib.sha256(text.encode()).hexdigest()
        folder.mkdir(parents=True, exist_ok=True)
        distributions = []
        for name, media_type in (("people.csv", "text/csv"), ("people.parquet", "application/vnd.apache.parquet")):
            content = f"{text}{'' if name.endswith('csv') else 'PAR1'}".encode()
            (folder / name).write_bytes(content)
            digest = hashlib.sha256(content).hexdigest()
            distributions.append(
                Distribution(
                    name=name, path=folder / name, media_type=media_type, sha256=digest, bytes=len(content), rows=5
                )
            )
        fields: dict[str, Any] = {
            "dataset": "people",
            "title": "People",
            "version": version,
            "period": period,
            "distributions": tuple(distributions),
            "report": {"kind": "public", "privacy": {"k": {"exact": 5}}},
            "metadata": {"publisher": "Town"},
            "manifest": {"audit_head": "abc"},
            "content_digest": hashlib.sha256(f"{text}".encode()).hexdigest(),
        }
        return Release(**(fields | changes))

    return release


def names(root: Path) -> list[str]:
    """Every name under a folder."""
    return sorted(str(each.relative_to(root)) for each in root.rglob("*"))


def newest(root: Path) -> str:
    """The version that ``latest`` leads to."""
    target = (root / "people" / "latest").readlink()
    assert target.parent == Path("versions")
    return target.name


def assert_sound(root: Path) -> list[str]:
    """Every visible version is complete and ``latest`` leads to one; their names."""
    versions = root / "people" / "versions"
    found = sorted(versions.iterdir()) if versions.exists() else []
    for version in found:
        manifest = json.loads((version / "manifest.json").read_bytes())
        assert json.loads((version / "report.json").read_bytes())["kind"] == "public"
        for each in manifest["distributions"]:
            assert hashlib.sha256((version / each["name"]).read_bytes()).hexdigest() == each["sha256"]
    latest = root / "people" / "latest"
    if latest.is_symlink():
        assert (latest / "manifest.json").is_file()
    return [version.name for version in found]
