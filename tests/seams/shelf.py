"""A portal and a source as another package would bring them: a shelf of folders, and a register that is drawn."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from anon_core.publishing.portal import Portal
from anon_core.publishing.release import Published, Release, check_release
from anon_core.publishing.source import Source
from anon_core.settings import Filled, Whole
from anon_core.spec import PortalSettings, SourceSettings

if TYPE_CHECKING:
    from anon_core.table import Table

NAMES = ("born", "town", "sex", "illness")
TOWNS = {"NORTH": ("Alba", "Bria", "Cusa", "Dosso"), "SOUTH": ("Elva", "Fara", "Gavi", "Issa")}


class ShelfSettings(PortalSettings):
    """What stands in ``portal``: the folder of the shelf."""

    shelf: Filled

    def resolved(self, root: Path) -> Self:
        return self.model_copy(update={"shelf": str(root / self.shelf)})


class Shelf(Portal):
    """Every version is a folder with its files and its report."""

    settings: ClassVar[type[PortalSettings]] = ShelfSettings

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def opened(cls, settings: ShelfSettings, **_: Any) -> Self:
        return cls(Path(settings.shelf))

    def check(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def publish(self, release: Release) -> Published:
        check_release(release)
        place = self.folder / release.dataset / release.version
        place.mkdir(parents=True, exist_ok=True)
        for file in release.distributions:
            shutil.copyfile(file.path, place / file.name)
        manifest = {"dataset": release.dataset, "version": release.version}
        (place / "report.json").write_text(json.dumps(release.report))
        (place / "manifest.json").write_text(json.dumps(manifest))
        return Published(
            status="published", version=release.version, location=str(place), page=str(place), manifest=manifest
        )

    def withdraw(
        self,
        dataset: str,
        version: str | None,
        reason: str,
        at: str,
        *,
        words_only: bool = False,
        audit: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        gone = tuple(sorted(one["version"] for one in self.versions(dataset) if version in (None, one["version"])))
        for one in gone:
            shutil.rmtree(self.folder / dataset / one)
        return gone

    def versions(self, dataset: str) -> list[dict[str, Any]]:
        return [json.loads(path.read_text()) for path in sorted((self.folder / dataset).glob("*/manifest.json"))]


class DrawnSettings(SourceSettings):
    """What stands in ``source``: the period, and how many people are drawn."""

    drawn: Filled
    people: Whole

    @property
    def template(self) -> str:
        return self.drawn


class Drawn(Source):
    """A table that is drawn for its period, always the same."""

    settings: ClassVar[type[SourceSettings]] = DrawnSettings

    @property
    def name(self) -> str:
        return f"the register of {self.text}"

    def read(self) -> Table:
        import pyarrow as pa

        from anon_core.table import from_arrow

        columns = zip(*people(self.section.people), strict=True)
        return from_arrow(pa.table({name: list(one) for name, one in zip(NAMES, columns, strict=True)}))


def people(number: int) -> list[tuple[str, ...]]:
    """People of whom the first few are always the same."""
    draw = random.Random(7)
    towns = [town for province in TOWNS.values() for town in province]
    return [
        (str(draw.randint(1940, 1959)), draw.choice(towns), draw.choice("FM"), draw.choice(("flu", "HIV", "none")))
        for _ in range(number)
    ]
