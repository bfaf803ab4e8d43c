"""Nothing public has a plain digest of anything private, and what a release is follows from what is public of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
import yaml

from anon_airflow.run.site_policy import DIGEST, NONCE
from tests.anon_airflow.run.step_runs import UNTIL_GATE, rows, run_of, take
from tests.faults.publications import TOWNS, bytes_below, csv_text, files_below, people, portal_of, write_publication


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def people_of_several_rows() -> list[tuple[str, ...]]:
    return [tuple(person) for person in people(300) for _ in range(2)]


def digests_within(document: Any) -> Iterable[str]:
    """Every string of 64 hexadecimal digits in a document."""
    if isinstance(document, dict):
        for value in document.values():
            yield from digests_within(value)
    elif isinstance(document, list):
        for value in document:
            yield from digests_within(value)
    elif isinstance(document, str) and len(document) == 64 and set(document) <= set("0123456789abcdef"):
        yield document


def test_whoever_has_a_private_thing_finds_its_digest_nowhere_in_public_nor_in_the_receipt(tmp_path: Path) -> None:
    """Tried: each private file while it is there, as bytes and as text, and every digest that notes and record keep."""
    spec = write_publication(tmp_path, source=csv_text(people_of_several_rows()), unit="id")
    run = run_of(spec, tmp_path / "home", period="2026-01")
    private: dict[str, str] = {}

    def keep(folder: Path) -> None:
        private.update({sha256(path.read_bytes()): str(path.relative_to(tmp_path)) for path in files_below(folder)})

    keep(tmp_path / "include")
    take(run, "stage", "recode")
    keep(tmp_path / "home")
    take(run, "gate")
    keep(tmp_path / "home" / "gated")
    keep(tmp_path / "home" / "runs")
    publication, notes = run.publication, files_below(tmp_path / "home" / "runs")
    private |= {publication.digest(): "publication file", publication.reviewed_digest(): "what was reviewed"}
    for path in notes:
        if path.suffix == ".json":
            private.update(dict.fromkeys(digests_within(json.loads(path.read_bytes())), path.name))
    for intent in rows(run)["intents"]:
        private.update(dict.fromkeys(digests_within(dict(intent)), "audit store"))
    (receipt,) = [row["body"] for row in rows(run)["receipts"]]
    take(run, "publish", "record")
    keep(tmp_path / "home" / "runs")
    public = bytes_below(portal_of(spec))
    published = {sha256(content) for content in public.values()}  # Anybody computes these.
    assert sum("gated" in what for what in private.values()) >= 4, "suite, witness and nonce are private files"
    assert any(path.endswith("manifest.json") for path in public)
    for found, what in private.items():
        if found not in published and found != sha256(b""):
            assert found not in receipt, what
            assert not [path for path, content in public.items() if found.encode() in content], what


def test_what_is_committed_to_can_be_shown_by_who_has_the_nonce(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    run = run_of(spec, tmp_path / "home", period="2026-01")
    take(run, *UNTIL_GATE)
    nonce = json.loads((run.notes / "gate.json").read_bytes())["nonce"]
    take(run, "publish")
    manifest = json.loads(next(portal_of(spec).glob("people/versions/*/manifest.json")).read_bytes())
    named = json.dumps([nonce, "publication_file", run.publication.digest()], separators=(",", ":"))
    assert len(nonce) == 64 and manifest["publication_file"] == sha256(named.encode())
    (details,) = [row["details"] for row in rows(run)["intents"] if NONCE in row["details"]]
    assert len(details[NONCE]) == 64 and manifest["site_policy"] != details[DIGEST]


def test_two_runs_commit_to_the_same_file_with_other_nonces(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    for period in ("2026-01", "2026-02"):
        take(run_of(spec, tmp_path / "home", period, period=period), *UNTIL_GATE, "publish")
    manifests = portal_of(spec).glob("people/versions/*/manifest.json")
    found = [json.loads(manifest.read_bytes()) for manifest in manifests]
    assert len({one["publication_file"] for one in found}) == len({one["site_policy"] for one in found}) == 2
    assert len({one["content_digest"] for one in found}) == 1, "the same files, and the same is said of them"


def edited(spec: Path, **sections: Any) -> None:
    content = yaml.safe_load(spec.read_text())
    spec.write_text(yaml.safe_dump(content | sections, sort_keys=False))


def more_towns(spec: Path) -> None:
    towns = "".join(";".join(town) + "\n" for town in [*TOWNS, ("Zibido", "SOUTH")])
    (spec.parent.parent / "hierarchies/towns.csv").write_text(towns)


UNSEEN: dict[str, Callable[[Path], None]] = {
    "who has read it": lambda spec: edited(spec, reviewed={"by": "Bob", "on": "2026-03-04"}),
    "how many versions stay": lambda spec: edited(spec, portal={"folder": "portal", "keep": 3}),
    "a town where no published person lives": more_towns,
}
SEEN: dict[str, Callable[[Path], None]] = {
    "title": lambda spec: edited(spec, title="Another title"),
    "metadata": lambda spec: edited(spec, metadata={"publisher": "The town"}),
    "what k is": lambda spec: edited(
        spec, privacy={**yaml.safe_load(spec.read_text())["privacy"], "k": 4}, recode={"method": "global"}
    ),
    "what is allowed": lambda spec: edited(
        spec, privacy={**yaml.safe_load(spec.read_text())["privacy"], "suppression_limit": 0.04}
    ),
    "what a column is": lambda spec: edited(
        spec,
        columns={**(columns := yaml.safe_load(spec.read_text())["columns"])}
        | {"points": {**columns["points"], "description": "Points left"}},
    ),
}


@pytest.mark.parametrize("what", [*UNSEEN, *SEEN])
def test_a_version_is_another_where_something_public_is_another_and_only_there(tmp_path: Path, what: str) -> None:
    spec = write_publication(tmp_path, privacy={"k": 5, "suppression_limit": 0.05})
    first = take(run_of(spec, tmp_path / "home", "one", period="2026-01"), *UNTIL_GATE, "publish")
    (UNSEEN | SEEN)[what](spec)
    if what != "who has read it":
        edited(spec, reviewed={"by": "Ada", "on": "2026-05-05"})
    second = take(run_of(spec, tmp_path / "home", "two", period="2026-01"), *UNTIL_GATE, "publish")
    assert (first["status"], second["status"]) == ("published", "unchanged" if what in UNSEEN else "published")
    assert (first["version"] == second["version"]) == (what in UNSEEN)
