"""How fast a release of one gigabyte gets into the folder portal, beside `cp`, and how much memory that takes.

`cp` copies the same files and then waits, as the portal does, until they are on the disk (`cp`, then `sync` of each
file): without, it would only be measured how fast memory is. The portal digests the bytes while it copies them, writes
pages and catalogue, and shows all of it by renames. The two take turns, and each counts by its best run.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from pathlib import Path

from timing import best_of, grown_by

from anon_airflow.portals.folder.portal import FolderPortal
from anon_core.publishing.release import Distribution, Release

GIGABYTE = 1_000_000_000
BLOCK = 8 << 20
FILES = (("people.csv", "text/csv", 0.8), ("people.parquet", "application/vnd.apache.parquet", 0.2))


def release(folder: Path, size: int) -> Release:
    """A release of so many bytes: lines as a CSV has them, and noise as a compressed file has it."""
    distributions = []
    for name, media_type, share in FILES:
        path, digest, left = folder / name, hashlib.sha256(), int(size * share)
        block = b'"1955-1959","Alba","F","17"\r\n' * (BLOCK // 29) if name.endswith("csv") else os.urandom(BLOCK)
        with path.open("wb") as file:
            while left > 0:
                part = block[:left]
                file.write(part)
                digest.update(part)
                left -= len(part)
        size_of = path.stat().st_size
        distributions.append(
            Distribution(
                name=name,
                path=path,
                media_type=media_type,
                sha256=digest.hexdigest(),
                bytes=size_of,
                rows=size_of // 29,
            )
        )
    return Release(
        dataset="people",
        title="People",
        version="v1",
        period="2026-11-01",
        distributions=tuple(distributions),
        report={"kind": "public"},
        metadata={},
        manifest={},
        content_digest="0" * 64,
    )


def copy(files: list[Path], target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    subprocess.run(["cp", *map(str, files), str(target)], check=True)
    subprocess.run(["sync", *[str(target / path.name) for path in files]], check=True)


def publish(sent: Release, target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    FolderPortal(target).publish(sent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bytes", type=int, default=GIGABYTE)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sent = release(folder, options.bytes)
        publish(sent, folder / "portal")  # Loads what it needs, and brings the files into memory for both.
        size = sum(each.bytes for each in sent.distributions)
        files = [each.path for each in sent.distributions]
        turns = [
            (best_of(1, lambda: copy(files, folder / "copy")), best_of(1, lambda: publish(sent, folder / "portal")))
            for _ in range(options.runs)
        ]
        grown = grown_by(lambda: publish(sent, folder / "portal"))
    copying, publishing = (min(seconds) for seconds in zip(*turns, strict=True))
    print(f"{size / 1e9:.1f} GB, Python {platform.python_version()}, {os.cpu_count()} cores, best of {options.runs}")
    print(f"  cp, then sync      {copying:6.2f} s  {size / copying / 1e6:7.0f} MB/s")
    print(f"  folder portal      {publishing:6.2f} s  {size / publishing / 1e6:7.0f} MB/s")
    print(f"  the portal reaches {copying / publishing:.0%} of the speed of cp; at least 60% are wanted")
    print(f"  memory grown by    {grown / 1e6:6.1f} MB")


if __name__ == "__main__":
    main()
