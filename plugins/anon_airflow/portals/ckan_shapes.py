"""Whether an answer has the shape that CKAN's answers have; any other is treated as no answer."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from typing import Any

Shape = Callable[[Any], bool]

_TEXTS = ("id", "name", "metadata_modified")
_RESOURCE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9 _-]{0,99}")
_MAX_NAME_LENGTH = 200


def is_anything(_: Any) -> bool:
    return True


def is_mapping(answer: Any) -> bool:
    return isinstance(answer, dict)


def lists_mappings(answer: Any) -> bool:
    return isinstance(answer, list) and all(isinstance(one, dict) for one in answer)


def is_package(answer: Any) -> bool:
    """Whether this is a dataset as ``package_show`` gives it, in all the fields that we read."""
    if not isinstance(answer, dict) or not all(isinstance(answer.get(key), str) for key in _TEXTS):
        return False
    organization = answer.get("organization") or {}
    if not isinstance(organization, dict) or not isinstance(answer.get("version") or "", str):
        return False
    extras, resources = answer.get("extras") or [], answer.get("resources")
    return (
        _is_id(answer["id"])
        and all(_is_name(one) for one in (answer["name"], organization.get("name"), organization.get("id")))
        and isinstance(answer.get("private"), bool)
        and isinstance(answer.get("notes") or "", str)
        and lists_mappings(extras)
        and all(isinstance(one.get("key"), str) and isinstance(one.get("value"), str) for one in extras)
        and isinstance(resources, list)
        and all(isinstance(one, dict) and _RESOURCE_ID.fullmatch(str(one.get("id"))) for one in resources)
    )


def is_revision(answer: Any) -> bool:
    return isinstance(answer, dict) and is_package(answer.get("package"))


def is_table(answer: Any) -> bool:
    """Whether this is a table as ``datastore_search`` gives it."""
    return (
        isinstance(answer, dict)
        and lists_mappings(answer.get("fields"))
        and all("id" in one and isinstance(one.get("info") or {}, dict) for one in answer["fields"])
    )


def _is_name(text: Any) -> bool:
    """Whether it is missing, or a name that a message can show."""
    return text is None or (isinstance(text, str) and len(text) <= _MAX_NAME_LENGTH and text.isprintable())


def _is_id(text: Any) -> bool:
    try:
        return isinstance(text, str) and str(uuid.UUID(text)) == text.lower()
    except ValueError:
        return False
