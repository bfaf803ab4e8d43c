"""Open the portal of a publication, by its publication file or by the record of a release that was sent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from anon_airflow.run.connections import from_environment
from anon_airflow.run.context import Run
from anon_airflow.run.progress import Progress
from anon_core.errors import InvalidInputError
from anon_core.publishing.portal import Portal
from anon_core.registry import PORTALS
from anon_core.spec import PortalSettings, Publication
from anon_core.spec.member_sections import key_in, member_of

Record = dict[str, Any]


def settings_of(publication: Publication) -> PortalSettings:
    """
    Return the portal settings of a publication file, with absolute paths.

    :raises InvalidInputError: no installed package has that portal.
    """
    if not isinstance(publication.portal, PortalSettings):
        raise publication.portal.refuse()
    return publication.portal.resolved(publication.root)


def record_of(publication: Publication) -> Record:
    """Return the portal settings of a publication file as they go on record; they never hold a secret."""
    return settings_of(publication).model_dump(mode="json", exclude_none=True)


def portal_of(run: Run, progress: Progress | None = None) -> Portal:
    """
    Return the portal that the publication file names.

    :raises InvalidInputError: no installed package has it, or its connection does not name a server.
    """
    settings = settings_of(run.publication)
    portal: Portal = member_of(PORTALS, settings).opened(
        settings, connect=run.connect, progress=progress, publication=run.publication
    )
    return portal


def settings_on_record(details: Mapping[str, Any]) -> Record | None:
    """Return the settings of the portal that a release was sent to; rows of earlier versions hold only its location."""
    if isinstance(details.get("portal"), dict):
        return dict(details["portal"])
    for portal in PORTALS.members().values():
        location = details.get(portal.location_key)
        if isinstance(location, str) and (settings := portal.settings_of_location(location)):
            return dict(settings)
    return None


def portal_in_words(record: Mapping[str, Any]) -> str:
    """
    Return a short description of a portal from its settings on record.

    >>> portal_in_words({"folder": "/srv/portal", "keep": 3})
    'folder /srv/portal'
    >>> portal_in_words({"ckan": {"connection": "town", "organization": "parks", "datastore": False}})
    'ckan (connection town, organization parks)'
    """
    key = _key_of(record)
    settings = record.get(key)
    if isinstance(settings, Mapping):
        texts = ", ".join(f"{name} {value}" for name, value in settings.items() if isinstance(value, str))
        return f"{key} ({texts})" if texts else key
    return f"{key} {settings}"


def portal_on_record(record: Mapping[str, Any], progress: Progress | None = None) -> Portal:
    """
    Return a portal from its settings on record, to read or withdraw releases there.

    :raises InvalidInputError: no installed package has it, its settings have changed, or its connection is not known
        here.
    """
    key = _key_of(record)
    member = PORTALS.get(key)
    try:
        settings = member.settings.model_validate(record)
    except ValidationError as error:
        where = ", ".join(sorted({".".join(map(str, one["loc"])) for one in error.errors(include_input=False)}))
        raise InvalidInputError(
            f"a release was sent to the portal `{key}`, and the installed version of that portal cannot read its "
            f"settings on record ({where}); install the version that published it"
        ) from None
    portal: Portal = member.opened(settings, connect=from_environment, progress=progress)
    return portal


def _key_of(record: Mapping[str, Any]) -> str:
    return key_in(PORTALS, record) or next((name for name in record if name != "keep"), "")
