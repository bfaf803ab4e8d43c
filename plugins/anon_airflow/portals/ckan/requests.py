"""The requests to CKAN and its answers: pure functions that do not use the network."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from anon_core.wording import printable

Package = dict[str, Any]
Resource = dict[str, Any]
MAX_MESSAGE_LENGTH = 300
MAX_DEPTH = 50
"""The maximum depth of an answer; a dataset has five levels."""
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
    """Whether this is a dataset as ``package_show`` returns it, in all fields that are used here."""
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
    """Whether this is a table as ``datastore_search`` returns it."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A file to send: its path, and the digest that its bytes must have; ``rows`` if it is a table."""

    name: str
    path: Path
    media_type: str
    sha256: str
    bytes: int
    rows: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """
    One call of an action.

    ``uploads`` maps ids of resources to their files; ``told`` are the fields of resources in the call. ``asks``: the
    call changes nothing. ``shape`` checks the structure of the result of a call that succeeded.
    """

    action: str
    payload: dict[str, Any]
    uploads: dict[str, Sent] = field(default_factory=dict)
    told: tuple[Resource, ...] = ()
    asks: bool = False
    shape: Shape = is_anything

    @property
    def form(self) -> dict[str, str]:
        """The payload as fields of a form: a call with files has to be a form."""
        return {key: value if isinstance(value, str) else json.dumps(value) for key, value in self.payload.items()}

    @property
    def files(self) -> dict[str, Sent]:
        """The files by the names of their fields."""
        return {f"update__resources__{name}__upload": sent for name, sent in self.uploads.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An answer of CKAN."""

    status: int
    result: Any = None
    error: Any = None

    @property
    def ok(self) -> bool:
        return self.status == 200

    @property
    def broken(self) -> bool:
        """The server failed, and may work later."""
        return self.status >= 500

    @property
    def stale(self) -> bool:
        """The dataset has changed since it was read."""
        return self.status == 409 and isinstance(self.error, dict) and "match" in self.error

    @property
    def too_large(self) -> bool:
        """A file is too large. For the rest of a form another limit applies, and the status is 413."""
        return self.status == 409 and "upload" in _keys(self.error)

    @property
    def name_taken(self) -> bool:
        return self.status == 409 and isinstance(self.error, dict) and "name" in self.error

    @property
    def words(self) -> str:
        """The answer in words: CKAN's messages about our metadata; for an error of CKAN itself, only its type."""
        kind = self.error.get("__type", "") if isinstance(self.error, dict) else ""
        message = str(kind) if self.broken else "; ".join(_sentences(self.error))
        return f"HTTP {self.status}" + (f" ({printable(message[:MAX_MESSAGE_LENGTH])})" if message else "")


def read_reply(status: int, body: bytes, shape: Shape = is_anything) -> Reply:
    """
    Read an answer. An answer that is not from CKAN, such as that of a proxy, has a status and no words.

    An answer whose result has another structure than CKAN's is treated in the same way.

    >>> read_reply(409, b'{"success": false, "error": {"__type": "Validation Error", "name": ["taken"]}}').words
    'HTTP 409 (name: taken)'
    >>> read_reply(502, b"<html>Bad Gateway</html>").words
    'HTTP 502'
    >>> read_reply(200, b"<html>Hello</html>").ok
    False
    """
    try:
        content = json.loads(body)
    except (ValueError, RecursionError):
        content = None
    content = None if _too_deep(content) else content
    if isinstance(content, dict) and content.get("success") is True and status == 200 and shape(content.get("result")):
        return Reply(status=status, result=content.get("result"))
    error = content.get("error") if isinstance(content, dict) else content if isinstance(content, str) else None
    # A page with status 200 that is not an answer of the API counts as no answer.
    return Reply(status=502 if status == 200 else status, error=error)


def _too_deep(content: Any) -> bool:
    """Whether an answer is nested deeper than any answer of CKAN; the functions that read it are recursive."""
    level = [content]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for one in level
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _sentences(error: Any, where: str = "") -> list[str]:
    if isinstance(error, dict):
        shown = {key: value for key, value in error.items() if key != "__type"}
        return [one for key, value in shown.items() for one in _sentences(value, "" if key == "message" else str(key))]
    if isinstance(error, list):
        return [one for value in error for one in _sentences(value, where)]
    return [f"{where}: {error}" if where else str(error)] if error else []


def _keys(error: Any) -> set[str]:
    if isinstance(error, dict):
        return set(error).union(*map(_keys, error.values()))
    return set().union(*map(_keys, error)) if isinstance(error, list) else set()


def status() -> Request:
    return Request(action="status_show", payload={}, asks=True, shape=is_mapping)


def whoami() -> Request:
    """Ask for the owner of the token; CKAN answers 404 to a token that it does not know."""
    return Request(action="user_show", payload={}, asks=True, shape=is_mapping)


def own_organizations() -> Request:
    """Ask where the token's owner may create datasets. For a wrong token CKAN returns an empty list, not an error."""
    return Request(
        action="organization_list_for_user",
        payload={"permission": "create_dataset"},
        asks=True,
        shape=lists_mappings,
    )


def organization(name: str) -> Request:
    return Request(action="organization_show", payload={"id": name}, asks=True, shape=is_mapping)


def licences() -> Request:
    return Request(action="license_list", payload={}, asks=True, shape=lists_mappings)


def action_help(action: str) -> Request:
    """Ask whether an action exists."""
    return Request(action="help_show", payload={"name": action}, asks=True)


def show(dataset: str) -> Request:
    return Request(action="package_show", payload={"id": dataset}, asks=True, shape=is_package)


def create(fields: Mapping[str, Any]) -> Request:
    """Ask to create a private dataset."""
    return Request(action="package_create", payload={**fields, "private": True}, shape=is_package)


def revise(package: Package, *, update: Mapping[str, Any], resources: Sequence[Resource] | None = None) -> Request:
    """
    Ask to change a dataset in one call, if it is still as it was read; ``resources`` are all that it should have.

    Lists are replaced as a whole: merging them place by place would keep old entries.
    """
    return _revise(package, {**update, **({} if resources is None else {"resources": list(resources)})}, {}, resources)


def revise_with_files(
    package: Package, *, update: Mapping[str, Any], wanted: Sequence[Resource], uploads: Mapping[str, Sent]
) -> Request:
    """
    Ask to change a dataset with files in one call, if it is still as it was read.

    The call names only resources that are ``wanted``, new or changed: besides the files CKAN accepts at most half a
    megabyte, and years of versions would be more. New resources come last.
    """
    there = {one["id"] for one in package["resources"]}
    said: dict[str, Any] = {f"update__resources__{one['id']}": one for one in wanted if one["id"] in there}
    if new := [one for one in wanted if one["id"] not in there]:
        said["update__resources__extend"] = new
    request = _revise(package, update, said, wanted)
    return replace(request, uploads=dict(uploads))


def _revise(
    package: Package, update: Mapping[str, Any], said: Mapping[str, Any], told: Sequence[Resource] | None
) -> Request:
    return Request(
        action="package_revise",
        payload={
            "match": {"id": package["id"], "metadata_modified": package["metadata_modified"]},
            "filter": [f"-{key}__*" for key, value in update.items() if isinstance(value, list)],
            "update": dict(update),
            **said,
        },
        told=tuple(told or ()),
        shape=is_revision,
    )


def delete_rows(resource_id: str) -> Request:
    """Ask to remove a resource's table from the DataStore: CKAN keeps it after the resource, and all can read it."""
    return Request(action="datastore_delete", payload={"resource_id": resource_id, "force": True})


def create_table(resource_id: str, fields: Sequence[Mapping[str, Any]]) -> Request:
    return Request(
        action="datastore_create", payload={"resource_id": resource_id, "force": True, "fields": list(fields)}
    )


def insert_rows(resource_id: str, records: Sequence[Mapping[str, Any]]) -> Request:
    payload = {"resource_id": resource_id, "force": True, "method": "insert", "records": list(records)}
    return Request(action="datastore_upsert", payload=payload)


def resource(resource_id: str) -> Request:
    return Request(action="resource_show", payload={"id": resource_id}, asks=True, shape=is_mapping)


def show_table(shown: Resource) -> Request:
    """Ask to show a table of the DataStore in CKAN's default views; views that exist already are not made again."""
    payload = {"resource": shown, "create_datastore_views": True}
    return Request(action="resource_create_default_resource_views", payload=payload)


def table(resource_id: str) -> Request:
    """Ask for the number of rows of a table in the DataStore, and for its data dictionary."""
    return Request(
        action="datastore_search", payload={"resource_id": resource_id, "limit": 0}, asks=True, shape=is_table
    )
