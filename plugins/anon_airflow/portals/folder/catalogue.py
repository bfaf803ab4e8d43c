"""The catalogue for machines: DCAT-AP 3, as Turtle and as JSON-LD, of every dataset and version on the portal.

All addresses are relative to the file, so the folder can be served from any address, and moved: a program that reads
the catalogue from its address gets absolute ones. Every node has a name, so the same portal gives the same bytes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from anon_airflow.portals.manifest import Manifest, metadata_of
from anon_airflow.portals.vocabulary import (
    LICENCES,
    file_type_of,
    frequency_of,
    language_of,
    media_type_of,
    theme_of,
)
from anon_airflow.portals.words import address, is_email
from anon_core.files.storage import digest

if TYPE_CHECKING:
    from rdflib import Graph, URIRef

TURTLE, JSON_LD = "catalog.ttl", "catalog.jsonld"
PREFIXES = {
    "adms": "http://www.w3.org/ns/adms#",
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "owl": "http://www.w3.org/2002/07/owl#",
    "spdx": "http://spdx.org/rdf/terms#",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
}
_ROOT = "./"


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A dataset for the catalogue: its manifests, newest first, and the changes of each version."""

    manifests: Sequence[Manifest]
    notes: Mapping[str, Sequence[str]]


class _Writer:
    """Adds statements to a graph, with names as people write them: ``dct:title``."""

    def __init__(self) -> None:
        from rdflib import Graph

        self.graph: Graph = Graph()
        for prefix, namespace in PREFIXES.items():
            self.graph.bind(prefix, namespace)

    def name(self, short: str) -> URIRef:
        from rdflib import URIRef

        prefix, _, rest = short.partition(":")
        return URIRef(PREFIXES[prefix] + rest if prefix in PREFIXES else short)

    def add(self, subject: str, what: str, other: str) -> None:
        """Add a relation of a node to another one."""
        self.graph.add((self.name(subject), self.name(what), self.name(other)))

    def node(self, subject: str, kind: str) -> str:
        from rdflib import RDF

        self.graph.add((self.name(subject), RDF.type, self.name(kind)))
        return subject

    def text(self, subject: str, what: str, value: object, language: str | None = None) -> None:
        from rdflib import Literal

        self.graph.add((self.name(subject), self.name(what), Literal(str(value), lang=language)))

    def typed(self, subject: str, what: str, value: object, kind: str) -> None:
        from rdflib import Literal

        literal = Literal(str(value), datatype=self.name(f"xsd:{kind}"))
        self.graph.add((self.name(subject), self.name(what), literal))


def catalogue_graph(datasets: Sequence[Listed]) -> Graph:
    """Return the catalogue as a graph."""
    write = _Writer()
    catalogue = write.node(_ROOT, "dcat:Catalog")
    publishers = {metadata_of(each.manifests[0]).get("publisher") for each in datasets}
    publisher = publishers.pop() if len(publishers) == 1 else None
    write.text(catalogue, "dct:title", "Open data", "en")
    write.text(
        catalogue,
        "dct:description",
        "Data about people; every dataset says what was checked before it was published.",
        "en",
    )
    write.add(catalogue, "dct:publisher", _agent(write, str(publisher or "Open data portal")))
    write.add(catalogue, "foaf:homepage", write.node("index.html", "foaf:Document"))
    write.add(catalogue, "dct:language", str(language_of("en")))
    moments = [manifest["published_at"] for each in datasets for manifest in each.manifests]
    if moments:
        _moment(write, catalogue, "dct:issued", min(moments))
        _moment(write, catalogue, "dct:modified", max(moments))
    for each in datasets:
        write.add(catalogue, "dcat:dataset", _dataset(write, each))
    return write.graph


def serialised(graph: Graph) -> dict[str, bytes]:
    """Return the files of the catalogue by name."""
    turtle = graph.serialize(format="turtle", encoding="utf-8")
    linked = json.loads(graph.serialize(format="json-ld", context=PREFIXES))
    return {
        TURTLE: turtle,
        JSON_LD: json.dumps(_ordered(linked), indent=1, sort_keys=True, ensure_ascii=False).encode(),
    }


def _ordered(value: Any) -> Any:
    """Return the same JSON-LD with its lists sorted: in JSON-LD they are sets, in any order."""
    if isinstance(value, dict):
        return {key: _ordered(one) for key, one in value.items()}
    if isinstance(value, list):
        return sorted(map(_ordered, value), key=lambda one: json.dumps(one, sort_keys=True))
    return value


def _dataset(write: _Writer, listed: Listed) -> str:
    newest = listed.manifests[0]
    dataset = _about(write, f"{newest['dataset']}/", newest)
    write.text(dataset, "dct:identifier", newest["dataset"])
    page = write.node(f"{newest['dataset']}/index.html", "foaf:Document")
    write.add(dataset, "dcat:landingPage", page)
    _moment(write, dataset, "dct:issued", min(each["published_at"] for each in listed.manifests))
    _moment(write, dataset, "dct:modified", max(each["published_at"] for each in listed.manifests))
    for manifest in listed.manifests:
        version = _version(write, manifest, listed.notes.get(manifest["version"], ()))
        write.add(dataset, "dcat:hasVersion", version)
        write.add(version, "dcat:isVersionOf", dataset)
    for distribution in _distributions(write, newest):
        write.add(dataset, "dcat:distribution", distribution)
    return dataset


def _about(write: _Writer, subject: str, manifest: Manifest) -> str:
    """Add the metadata of a dataset, or of one of its versions."""
    metadata = metadata_of(manifest)
    language = str(metadata.get("language") or "en")
    spoken = language if re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", language) else "en"
    home = f"{manifest['dataset']}/"
    write.node(subject, "dcat:Dataset")
    write.text(subject, "dct:title", manifest["title"], spoken)
    write.text(subject, "dct:description", metadata.get("description") or manifest["title"], spoken)
    write.text(subject, "dcat:version", manifest["version"])
    write.add(subject, "dct:accessRights", "http://publications.europa.eu/resource/authority/access-right/PUBLIC")
    for word in metadata.get("keywords") or ():
        write.text(subject, "dcat:keyword", word, spoken)
    if theme := metadata.get("theme"):
        if known := theme_of(str(theme)):
            write.add(subject, "dcat:theme", known)
        else:
            write.text(subject, "dcat:keyword", theme, spoken)
    for what, found in (
        ("dct:accrualPeriodicity", frequency_of(str(metadata.get("frequency") or ""))),
        ("dct:language", language_of(language)),
    ):
        if found:
            write.add(subject, what, found)
    if metadata.get("publisher"):
        write.add(subject, "dct:publisher", _agent(write, str(metadata["publisher"])))
    if metadata.get("contact"):
        write.add(subject, "dcat:contactPoint", _contact(write, home, metadata))
    _period(write, subject, manifest)
    return subject


def _version(write: _Writer, manifest: Manifest, notes: Sequence[str]) -> str:
    version = _about(write, f"{manifest['dataset']}/versions/{manifest['version']}/", manifest)
    write.text(version, "dct:identifier", f"{manifest['dataset']}/{manifest['version']}")
    _moment(write, version, "dct:issued", manifest["published_at"])
    if notes:
        write.text(version, "adms:versionNotes", " ".join(notes), "en")
    for distribution in _distributions(write, manifest):
        write.add(version, "dcat:distribution", distribution)
    return version


def _distributions(write: _Writer, manifest: Manifest) -> list[str]:
    folder = f"{manifest['dataset']}/versions/{manifest['version']}/"
    found = []
    for file in manifest["distributions"]:
        one = write.node(f"{folder}#{file['name']}", "dcat:Distribution")
        write.text(one, "dct:title", file["name"])
        write.add(one, "dcat:accessURL", f"{manifest['dataset']}/index.html")
        write.add(one, "dcat:downloadURL", folder + file["name"])
        write.typed(one, "dcat:byteSize", file["bytes"], "nonNegativeInteger")
        _moment(write, one, "dct:issued", manifest["published_at"])
        for what, found_address in (
            ("dcat:mediaType", media_type_of(file["media_type"])),
            ("dct:format", file_type_of(file["media_type"])),
            ("dct:license", _licence(write, manifest)),
        ):
            if found_address:
                write.add(one, what, found_address)
        checksum = write.node(f"{folder}#{file['name']}-sha256", "spdx:Checksum")
        write.add(checksum, "spdx:algorithm", "spdx:checksumAlgorithm_sha256")
        write.typed(checksum, "spdx:checksumValue", file["sha256"], "hexBinary")
        write.add(one, "spdx:checksum", checksum)
        found.append(one)
    return found


def _licence(write: _Writer, manifest: Manifest) -> str | None:
    text = str(metadata_of(manifest).get("licence") or "")
    if not text:
        return None
    title, link = LICENCES.get(text, (text, address(text)))
    licence = write.node(link or f"{_ROOT}#licence-{_short(text)}", "dct:LicenseDocument")
    if not link:
        write.text(licence, "dct:title", title)
    return licence


def _agent(write: _Writer, name: str) -> str:
    agent = write.node(f"{_ROOT}#publisher-{_short(name)}", "foaf:Agent")
    write.text(agent, "foaf:name", name)
    return agent


def _contact(write: _Writer, home: str, metadata: Mapping[str, Any]) -> str:
    contact = str(metadata["contact"])
    card = write.node(f"{home}#contact-{_short(contact)}", "vcard:Kind")
    write.text(card, "vcard:fn", metadata.get("publisher") or contact)
    if is_email(contact):
        write.add(card, "vcard:hasEmail", f"mailto:{contact}")
    elif address(contact):
        write.add(card, "vcard:hasURL", contact)
    return card


def _period(write: _Writer, subject: str, manifest: Manifest) -> None:
    """Add the first day of the period; the last day is not known."""
    period = str(manifest["period"] or "")
    kind = {4: "gYear", 7: "gYearMonth", 10: "date"}.get(len(period))
    if kind and re.fullmatch(r"\d{4}(-\d\d){0,2}", period):
        one = write.node(f"{subject}#period", "dct:PeriodOfTime")
        write.typed(one, "dcat:startDate", period, kind)
        write.add(subject, "dct:temporal", one)


def _moment(write: _Writer, subject: str, what: str, moment: str) -> None:
    write.typed(subject, what, moment, "dateTime")


def _short(text: str) -> str:
    return digest(text)[:12]
