"""How fast a release gets to a CKAN, beside `curl`, and how much memory that takes.

`curl` uploads the same file as a further resource of the same dataset and downloads it again, for publishing does both:
whatever CKAN answers, what readers get is compared. The two take turns, and each counts by its best run. The CKAN is
that of CKAN_URL and CKAN_TOKEN (of a sysadmin), else one that is booted as for `make test-portal`; it stands on this
machine, so the network is as fast as memory and the server is what takes time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from timing import best_of, grown_by

from anon_core.publishing.release import Release
from tests.anon_airflow.portals.ckan.boot import BootError, booted, packages_folder
from tests.anon_airflow.portals.ckan.portals import Place, Site, distribution, fresh

MEGABYTES = 200


@contextmanager
def some_ckan() -> Iterator[Site]:
    url, token, name = os.environ.get("CKAN_URL"), os.environ.get("CKAN_TOKEN"), fresh("town")
    if url and token:
        site = Site(url=url.rstrip("/"), token=token, organization=name)
        site.call("organization_create", name=name)
        yield site
        return
    with booted(packages_folder()) as server:
        site = Site(url=server.url, token=server.token, organization=name, booted=server)
        site.call("organization_create", name=name)
        yield site


def releases(place: Place, folder: Path, megabytes: int) -> Iterator[Release]:
    """Releases of one large table, each with other bytes: the same ones would not be sent again."""
    number = 0
    while True:
        number += 1
        path = folder / f"{place.dataset}.csv"
        line = f'"1955-1959","Alba","F","{number}"\r\n'.encode()
        with path.open("wb") as file:
            for _ in range(megabytes):
                file.write(line * (1_000_000 // len(line)))
        version, digest = f"v{number}", hashlib.sha256(line).hexdigest()
        files = (distribution(path, "text/csv", rows=1),)
        yield place.release(distributions=files, version=version, content_digest=digest)


def by_curl(site: Site, dataset: str, path: Path) -> None:
    """Upload a file as a further resource, and download it."""
    quiet = ["curl", "-fsS", "-H", f"Authorization: {site.token}"]
    form = ["-F", f"package_id={dataset}", "-F", "name=by curl", "-F", f"upload=@{path}"]
    action = f"{site.url}/api/3/action/resource_create"
    answer = subprocess.run([*quiet, *form, action], capture_output=True, check=True)
    subprocess.run([*quiet, "-o", os.devnull, json.loads(answer.stdout)["result"]["url"]], check=True)


def in_turns(place: Place, release: Release) -> tuple[float, float]:
    """Return the seconds that curl takes for the table of a release, and the portal for the release."""
    path, portal = release.distributions[0].path, place.portal(timeout=300)
    curl = best_of(1, lambda: by_curl(place.site, place.dataset, path))
    return curl, best_of(1, lambda: portal.publish(release))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--megabytes", type=int, default=MEGABYTES)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    try:
        with some_ckan() as site, tempfile.TemporaryDirectory() as name:
            place = Place(site=site, folder=Path(name))
            portal, made = place.portal(timeout=300), releases(place, Path(name), options.megabytes)
            portal.publish(next(made))  # The first creates the dataset, and loads what is needed.
            version = site.call("status_show")["ckan_version"]
            turns = [in_turns(place, next(made)) for _ in range(options.runs)]
            release = next(made)
            grown = grown_by(lambda: portal.publish(release))
            size = release.distributions[0].bytes
    except BootError as error:
        sys.exit(f"not measured: {error}")
    curl, publishing = (min(seconds) for seconds in zip(*turns, strict=True))
    where = f"Python {platform.python_version()}, CKAN {version}, {os.cpu_count()} cores, best of {options.runs}"
    print(f"{size / 1e6:.0f} MB, {where}")
    print(f"  curl, up and down  {curl:6.2f} s  {size / curl / 1e6:7.0f} MB/s")
    print(f"  CKAN portal        {publishing:6.2f} s  {size / publishing / 1e6:7.0f} MB/s")
    print(f"  the portal reaches {curl / publishing:.0%} of the speed of curl")
    print(f"  memory grown by    {grown / 1e6:6.1f} MB")


if __name__ == "__main__":
    main()
