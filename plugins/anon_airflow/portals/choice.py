"""Which portal: from what a publication file says now, or from what was put on record when a release was sent."""

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
    Return what the publication file says about its portal, with whole paths.

    :raises InvalidInputError: no installed package brings that portal.
    """
    if not isinstance(publication.portal, PortalSettings):
        raise publication.portal.refuse()
    return publication.portal.resolved(publication.root)


def record_of(publication: Publication) -> Record:
    """Return what the publication file says about its portal, in a form that is put on record; never a secret."""
    return settings_of(publication).model_dump(mode="json", exclude_none=True)


def portal_of(run: Run, progress: Progress | None = None) -> Portal:
    """
    Return the portal that the publication file names.

    :raises InvalidInputError: no installed package brings it, or its connection does not lead to a server.
    """
    settings = settings_of(run.publication)
    portal: Portal = member_of(PORTALS, settings).opened(
        settings, connect=run.connect, progress=progress, publication=run.publication
    )
    return portal


def settings_on_record(details: Mapping[str, Any]) -> Record | None:
    """Return where a release was sent, by the details of its row; earlier versions noted only its location."""
    if isinstance(details.get("portal"), dict):
        return dict(details["portal"])
    for portal in PORTALS.members().values():
        location = details.get(portal.location_key)
        if isinstance(location, str) and (settings := portal.settings_of_location(location)):
            return dict(settings)
    return None


def portal_in_words(record: Mapping[str, Any]) -> str:
    """
    Return a portal as people tell it from others, by what is on record of it.

    >>> portal_in_words({"folder": "/srv/portal", "keep": 3})
    'folder /srv/portal'
    >>> portal_in_words({"ckan": {"connection": "town", "organization": "parks", "datastore": False}})
    'ckan (connection town, organization parks)'
    """
    key = _key_of(record)
    settings = record.get(key)
    if isinstance(settings, Mapping):
        told = ", ".join(f"{name} {value}" for name, value in settings.items() if isinstance(value, str))
        return f"{key} ({told})" if told else key
    return f"{key} {settings}"


def portal_on_record(record: Mapping[str, Any], progress: Progress | None = None) -> Portal:
    """
    Return a portal by what is on record of it, to look at releases there or to take them off.

    :raises InvalidInputError: no installed package brings it, its settings have changed, or its connection is not known
        here.
    """
    key = _key_of(record)
    member = PORTALS.get(key)
    try:
        settings = member.settings.model_validate(record)
    except ValidationError as error:
        where = ", ".join(sorted({".".join(map(str, one["loc"])) for one in error.errors(include_input=False)}))
        raise InvalidInputError(
            f"a release was sent to the portal `{key}`, whose installed version cannot read what is "
            f"on record of it ({where}); install the version that published it"
        ) from None
    portal: Portal = member.opened(settings, connect=from_environment, progress=progress)
    return portal


def _key_of(record: Mapping[str, Any]) -> str:
    return key_in(PORTALS, record) or next((name for name in record if name != "keep"), "")
