"""CKAN's own Solr schema: which fields there are, which hold several values, which are text."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Document = dict[str, Any]
_DATE = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)")


class BadQueryError(Exception):
    """Something that this stand-in does not do; it answers 400 and guesses nothing."""


class Schema:
    """The schema file that CKAN ships for Solr."""

    def __init__(self, path: Path) -> None:
        self.raw = path.read_bytes()
        root = ET.fromstring(self.raw)
        self._fields = {str(one.get("name")): one.attrib for one in root.iter("field")}
        dynamic = {str(one.get("name")): one.attrib for one in root.iter("dynamicField")}
        self._dynamic = sorted(dynamic.items(), key=lambda one: -len(one[0]))
        copied = [str(one.get("source")) for one in root.iter("copyField") if one.get("dest") == "text"]
        self._searched = [_pattern(source) for source in copied]
        self.key = str(root.findtext("uniqueKey"))

    def is_text(self, field: str) -> bool:
        """Whether a field is searched by words."""
        return (self._attributes(field) or {}).get("type", "").startswith("text")

    def values(self, document: Document, field: str) -> list[Any]:
        """All values of a field; ``text`` is made of all fields that are copied into it."""
        if field == "text":
            names = [name for name in document if any(pattern.fullmatch(name) for pattern in self._searched)]
        else:
            names = [field] if field in document else []
        found = [document[name] for name in names]
        return [value for one in found for value in (one if isinstance(one, list) else [one])]

    def convert(self, field: str, values: Sequence[str]) -> Any:
        """The values of a field as Solr would store them."""
        attributes = self._attributes(field)
        if attributes is None:
            raise BadQueryError(f"unknown field '{field}'")
        convert = {"date": _date, "int": int, "long": int, "pint": int, "plong": int, "boolean": _flag}
        converted = [convert.get(attributes.get("type", ""), str)(value) for value in values]
        if attributes.get("multiValued") == "true":
            return converted
        if len(converted) > 1:
            raise BadQueryError(f"multiple values for field {field}, which has one")
        return converted[0]

    def _attributes(self, field: str) -> dict[str, str] | None:
        if field in self._fields:
            return self._fields[field]
        return next((found for pattern, found in self._dynamic if _pattern(pattern).fullmatch(field)), None)


def _pattern(glob: str) -> re.Pattern[str]:
    return re.compile(re.escape(glob).replace(r"\*", ".*"))


def _flag(text: str) -> bool:
    return text.lower() == "true"


def _date(text: str) -> str:
    """A date as Solr writes it: UTC, milliseconds only if there are any."""
    found = _DATE.fullmatch(text)
    if not found:
        raise BadQueryError("invalid date")
    moment = datetime.fromisoformat(found[1] + found[3].replace("Z", "+00:00")).astimezone(UTC)
    thousandths = (found[2] or "")[:3].ljust(3, "0") if found[2] else "000"
    return moment.strftime("%Y-%m-%dT%H:%M:%S") + (f".{thousandths}" if thousandths != "000" else "") + "Z"
