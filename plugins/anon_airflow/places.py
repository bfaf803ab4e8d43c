"""Which portal: from what a publication file says now, or from what was put on record when a release was sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anon_airflow.telling import Progress
from anon_core.errors import InternalError
from anon_core.spec import Publication

if TYPE_CHECKING:
    from anon_airflow.portals.portal import Portal

__all__ = ["portal_at", "settings_of", "settings_on_record"]

Settings = dict[str, Any]


def settings_of(publication: Publication) -> Settings:
    """What the publication file says about its portal, in a form that is put on record; never a secret."""
    settings = publication.portal.model_dump(mode="json", exclude_none=True)
    if publication.portal.folder is not None:
        settings["folder"] = str(publication.resolve(publication.portal.folder))
    return settings


def settings_on_record(details: Mapping[str, Any]) -> Settings | None:
    """Where a release was sent, by the details of its row; earlier versions noted only the folder of the release."""
    if isinstance(details.get("portal"), dict):
        return dict(details["portal"])
    folder = details.get("folder")
    return {"folder": str(Path(folder).parents[2])} if isinstance(folder, str) else None


def portal_at(settings: Mapping[str, Any], locations: Iterable[str] = (), progress: Progress | None = None) -> Portal:
    """
    Return a portal by its settings, to look at releases there or to take them off.

    ``locations`` are where releases were sent to, by the record.

    :raises InvalidInputError: the connection of a CKAN is not known here, or leads to another CKAN by now.
    """
    if ckan := settings.get("ckan"):
        from anon_airflow.portals.ckan_portal import CkanPortal
        from anon_airflow.portals.ckan_server import from_environment
        from anon_airflow.portals.ckan_settings import Settings as Place

        place = Place(organization=ckan["organization"], dataset="")
        portal = CkanPortal(from_environment(ckan["connection"]), place, progress=progress)
        portal.check_is_where(locations)
        return portal
    if folder := settings.get("folder"):
        from anon_airflow.portals.folder import FolderPortal

        return FolderPortal(Path(folder), keep=settings.get("keep"))
    raise InternalError("unchecked portal", "places.portal_at")
