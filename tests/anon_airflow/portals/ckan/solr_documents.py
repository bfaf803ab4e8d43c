"""The documents that CKAN has indexed, in a dictionary, and what CKAN asks of them."""

from __future__ import annotations

import json
import re
import threading
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.anon_airflow.portals.ckan.solr_query import Fits, Query, words
from tests.anon_airflow.portals.ckan.solr_schema import BadQueryError, Document, Schema

Parameters = Mapping[str, Sequence[str]]


class Documents:
    """An index without an index: every question looks at every document."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._lock = threading.RLock()
        self._documents: dict[str, Document] = {}

    def update(self, body: bytes) -> None:
        """Do what pysolr sends: JSON documents, or XML that adds, deletes or commits."""
        with self._lock:
            if body.lstrip().startswith(b"["):
                for document in json.loads(body):
                    self._put({name: _texts(value) for name, value in document.items() if value is not None})
                return
            root = ET.fromstring(body)
            if root.tag == "add":
                for document in root.iter("doc"):
                    fields: dict[str, list[str]] = {}
                    for one in document.findall("field"):
                        fields.setdefault(str(one.get("name")), []).append(one.text or "")
                    self._put(fields)
            elif root.tag == "delete":
                self._delete(root)
            elif root.tag not in ("commit", "optimize"):
                raise BadQueryError(f"<{root.tag}> is not known")

    def _put(self, fields: Mapping[str, Sequence[str]]) -> None:
        document = {name: self.schema.convert(name, values) for name, values in fields.items() if values}
        self._documents[document[self.schema.key]] = document

    def _delete(self, root: ET.Element) -> None:
        for one in root:
            if one.tag == "id":
                self._documents.pop(str(one.text), None)
            else:
                fits = Query(str(one.text), self.schema).read()
                self._documents = {key: found for key, found in self._documents.items() if not fits(found)}

    def select(self, parameters: Parameters) -> dict[str, Any]:
        """Answer a search, with facets if they are asked for."""
        fits = list(self._conditions(parameters))
        with self._lock:
            hits = [one for one in self._documents.values() if all(each(one) for each in fits)]
        _sort(hits, _first(parameters, "sort"))
        start, rows = int(_first(parameters, "start", "0")), int(_first(parameters, "rows", "10"))
        names = re.split(r"[\s,]+", " ".join(parameters.get("fl", ["*"])).strip())
        shown = [
            one if "*" in names else {name: one[name] for name in names if name in one}
            for one in hits[start : start + rows]
        ]
        answer: dict[str, Any] = {
            "responseHeader": {"status": 0, "QTime": 0},
            "response": {"numFound": len(hits), "start": start, "numFoundExact": True, "docs": shown},
        }
        if _first(parameters, "facet", "false") == "true":
            facets = dict(self._facets(hits, parameters))
            answer["facet_counts"] = {"facet_queries": {}, "facet_fields": facets, "facet_ranges": {}}
        return answer

    def _conditions(self, parameters: Parameters) -> Iterator[Fits]:
        text, kind = _first(parameters, "q", "*:*"), _first(parameters, "defType")
        default, operator = _first(parameters, "df", "text"), _first(parameters, "q.op", "OR")
        if text != "*:*" and (kind == "dismax" or (kind == "edismax" and ":" not in text)):
            yield self._plain_words(text)
        else:
            yield Query(text, self.schema, default, operator).read()
        for one in parameters.get("fq", []):
            condition = re.sub(r"^\{!tag=\w+\}", "", one)
            if condition.startswith("{!"):
                raise BadQueryError("local parameters are not known")
            if condition.strip():
                yield Query(condition, self.schema, default, operator).read()

    def _plain_words(self, text: str) -> Fits:
        """What people type into the search box: the beginnings of words, and phrases in quotes."""
        phrases = [f" {' '.join(words(one))} " for one in re.findall(r'"([^"]*)"', text)]
        wanted = words(re.sub(r'"[^"]*"', " ", text))

        def fits(document: Document) -> bool:
            texts = [f" {' '.join(words(value))} " for value in self.schema.values(document, "text")]
            there = {word for one in texts for word in one.split()}
            found = all(any(word.startswith(one) for word in there) for one in wanted)
            return found and all(any(phrase in one for one in texts) for phrase in phrases)

        return fits

    def _facets(self, hits: Sequence[Document], parameters: Parameters) -> Iterator[tuple[str, list[Any]]]:
        least, most = int(_first(parameters, "facet.mincount", "0")), int(_first(parameters, "facet.limit", "100"))
        for one in parameters.get("facet.field", []):
            name = re.sub(r"^\{!ex=\w+\}", "", one)
            counts = Counter(value for hit in hits for value in {str(each) for each in self.schema.values(hit, name)})
            found = [pair for pair in counts.items() if pair[1] >= least and pair[0]]
            found.sort(key=lambda pair: (-pair[1], pair[0]))
            yield name, [part for pair in (found if most < 0 else found[:most]) for part in pair]


def _sort(hits: list[Document], order: str) -> None:
    for part in reversed([one.strip() for one in order.split(",") if one.strip()]):
        name, _, direction = part.rpartition(" ")
        if direction not in ("asc", "desc"):
            raise BadQueryError(f"{part!r} says not whether up or down")
        if name not in ("score", "views_recent") and not name.startswith("bool("):
            hits.sort(key=lambda hit, name=name: str(hit.get(name, "")).lower(), reverse=direction == "desc")


def _first(parameters: Parameters, name: str, default: str = "") -> str:
    return next(iter(parameters.get(name, [])), default)


def _texts(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
