"""The catalogue is DCAT-AP by the official shapes, says the same in both forms, and is the same bytes every time."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rdflib import Graph, URIRef
from rdflib.compare import isomorphic
from rdflib.namespace import DCAT, DCTERMS, RDF, XSD

from anon_airflow.portals.folder.portal import FolderPortal
from tests.anon_airflow.portals.folder_releases import Maker, maker

METADATA: dict[str, Any] = {
    "description": "Licences held by residents – only a sample.",
    "publisher": "Città di Alba",
    "licence": "CC-BY-4.0",
    "keywords": ["licences", "mobilità"],
    "frequency": "monthly",
    "contact": "open@alba.example",
    "language": "it",
    "theme": "transport",
}
ODD: dict[str, Any] = {
    "licence": "ask us",
    "publisher": 'The "Office" <of> {data}',
    "contact": "https://alba.example/a{b}|c",
    "frequency": "now and then",
    "language": "klingon!",
    "theme": "licences & more",
}
SPDX = "http://spdx.org/rdf/terms#"


@pytest.fixture
def make(tmp_path: Path) -> Maker:
    return maker(tmp_path)


@pytest.fixture
def root(tmp_path: Path, make: Maker) -> Path:
    """A portal with a dataset of three versions, one withdrawn, and others of which little is said."""
    root = tmp_path / "portal"
    portal = FolderPortal(root)
    for number in (1, 2, 3):
        portal.publish(make(f"row {number}", version=f"v{number}", period=f"2026-0{number}", metadata=METADATA))
    portal.publish(make("other", dataset="places", title="Places", metadata={}))
    portal.publish(make("odd", dataset="odd", title="Odd ones", period="winter", metadata=ODD))
    portal.withdraw("people", "v2", "a mistake", "2026-11-17T10:00:00Z")
    return root


def graph_of(path: Path) -> Graph:
    return Graph().parse(path, publicID="https://data.example/")


@pytest.mark.reference
@pytest.mark.parametrize("form", ["catalog.ttl", "catalog.jsonld"])
@pytest.mark.parametrize("shapes", ["dcatap301_shapes.ttl", "dcatap301_recommended.ttl"])
def test_the_catalogue_conforms_to_the_official_shapes(
    root: Path, reference_data: Path, form: str, shapes: str
) -> None:
    from pyshacl import validate

    conforms, _, text = validate(
        graph_of(root / form), shacl_graph=Graph().parse(reference_data / "dcat_ap" / shapes), allow_warnings=True
    )
    assert conforms, text


@pytest.mark.reference
@pytest.mark.parametrize("removed", [DCTERMS.title, DCTERMS.description, DCAT.accessURL, URIRef(f"{SPDX}algorithm")])
def test_the_shapes_notice_what_is_missing(root: Path, reference_data: Path, removed: URIRef) -> None:
    from pyshacl import validate

    graph = graph_of(root / "catalog.ttl")
    graph.remove((None, removed, None))
    shapes = Graph().parse(reference_data / "dcat_ap" / "dcatap301_shapes.ttl")
    assert not validate(graph, shacl_graph=shapes, allow_warnings=True)[0]


def test_turtle_and_json_ld_say_the_same(root: Path) -> None:
    assert isomorphic(graph_of(root / "catalog.ttl"), graph_of(root / "catalog.jsonld"))


def test_every_address_of_the_portal_leads_to_a_file(root: Path) -> None:
    graph = graph_of(root / "catalog.ttl")
    linked = [*graph.objects(None, DCAT.downloadURL), *graph.objects(None, DCAT.landingPage)]
    assert len(linked) == 8 + 3
    for address in linked:
        assert (root / str(address).removeprefix("https://data.example/")).is_file(), address


def test_a_file_has_its_size_digest_and_kind(root: Path) -> None:
    graph = graph_of(root / "catalog.ttl")
    (one,) = graph.subjects(DCAT.downloadURL, URIRef("https://data.example/people/versions/v3/people.csv"))
    content = (root / "people/versions/v3/people.csv").read_bytes()
    size = graph.value(one, DCAT.byteSize)
    assert (int(str(size)), size.datatype) == (len(content), XSD.nonNegativeInteger)  # type: ignore[union-attr]
    checksum = graph.value(one, URIRef(f"{SPDX}checksum"))
    value = graph.value(checksum, URIRef(f"{SPDX}checksumValue"))
    assert str(value) == hashlib.sha256(content).hexdigest()
    assert str(graph.value(one, DCAT.mediaType)).endswith("/text/csv")
    assert str(graph.value(one, DCTERMS.license)) == "https://creativecommons.org/licenses/by/4.0/"


def test_metadata_is_said_in_the_words_that_catalogues_share(root: Path) -> None:
    graph = graph_of(root / "catalog.ttl")
    people = URIRef("https://data.example/people/")
    shared = "http://publications.europa.eu/resource/authority"
    for what, value in {
        DCTERMS.accrualPeriodicity: f"{shared}/frequency/MONTHLY",
        DCTERMS.language: f"{shared}/language/ITA",
        DCAT.theme: f"{shared}/data-theme/TRAN",
    }.items():
        assert str(graph.value(people, what)) == value
    assert {str(word) for word in graph.objects(people, DCAT.keyword)} == {"licences", "mobilità"}


def test_a_withdrawn_version_is_not_in_the_catalogue_and_the_others_are_versions_of_their_dataset(root: Path) -> None:
    graph = graph_of(root / "catalog.ttl")
    people = URIRef("https://data.example/people/")
    versions = {
        str(graph.value(one, URIRef(f"{DCAT}version"))) for one in graph.objects(people, URIRef(f"{DCAT}hasVersion"))
    }
    assert versions == {"v1", "v3"}
    assert "v2" not in (root / "catalog.ttl").read_text()
    assert len(list(graph.subjects(RDF.type, DCAT.Catalog))) == 1


def test_no_node_is_nameless_so_that_the_bytes_do_not_depend_on_chance(root: Path) -> None:
    again = (
        "import sys; from pathlib import Path; from anon_airflow.portals.folder import shelf\n"
        "from anon_airflow.portals.folder.site import portal_files\n"
        "root = Path(sys.argv[1])\n"
        "shelves = [(shelf.shelf_of(root / name), {}) for name in ('odd', 'people', 'places')]\n"
        "files = portal_files(shelves)\n"
        "sys.stdout.buffer.write(files['catalog.ttl'] + files['catalog.jsonld'])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", again, str(root)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(found) == 1
    assert b"_:" not in found.pop()
