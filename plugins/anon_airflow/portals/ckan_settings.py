"""What a publication file says about its place on a CKAN, and whether that CKAN will have it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from anon_airflow.portals import ckan_requests as requests
from anon_airflow.portals.ckan_client import CkanClient
from anon_airflow.portals.ckan_metadata import DATASET, licence_id, metadata_problems, own_extra
from anon_airflow.portals.ckan_requests import Package
from anon_airflow.portals.ckan_server import MAX_NAME_LENGTH
from anon_core.errors import InvalidInputError
from anon_core.spec import Publication, Versions

__all__ = ["Settings", "check", "find_licence", "taken"]

MAX_LICENCES = 100
"""How many licences of a portal a message lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """
    Where a dataset stands and how.

    ``keep`` is how many versions stay, None for all; one, if each replaces the one before. ``columns`` are those of the
    published table if it shall be in the DataStore too.
    """

    organization: str
    dataset: str
    kept: bool = False
    keep: int | None = None
    licence: str | None = None
    keywords: tuple[str, ...] = ()
    datastore: bool = False
    columns: tuple[str, ...] = ()

    @classmethod
    def of(cls, publication: Publication) -> Settings:
        """Read a publication file whose portal is a CKAN."""
        ckan, metadata = publication.portal.ckan, publication.metadata
        if ckan is None:
            raise InvalidInputError(f"{publication.file.name} does not publish to a CKAN")
        return cls(
            organization=ckan.organization,
            dataset=publication.dataset,
            kept=ckan.versions is Versions.KEEP,
            keep=publication.portal.keep,
            licence=metadata.licence,
            keywords=metadata.keywords,
            datastore=ckan.datastore,
            columns=publication.published if ckan.datastore else (),
        )


def check(client: CkanClient, settings: Settings) -> None:
    """
    Ask, before hours of work, for all that publishing will need: the token, the organisation, the right, the name.

    :raises InvalidInputError: with everything that is wrong.
    :raises PortalError: the portal does not answer.
    """
    reply = client.ask(requests.status())
    if not reply.ok:
        raise InvalidInputError(
            f"{client.server.url} does not answer as a CKAN does ({reply.words}); correct the host of the connection"
        )
    problems = [*_rights(client, settings), *_names(client, settings)]
    if problems:
        raise InvalidInputError(f"{client.server.url} would not take {settings.dataset!r}: " + "; ".join(problems))


def _rights(client: CkanClient, settings: Settings) -> Iterator[str]:
    mine = client.ask(requests.own_organizations())
    name = settings.organization
    if mine.ok and any(name in (one.get("name"), one.get("id")) for one in mine.result or ()):
        return
    who = client.ask(requests.whoami())
    if not who.ok:  # CKAN takes a wrong token for no token: only who asks for himself learns the difference.
        yield "it does not know the token: make one at /user/NAME/api-tokens and store it as the connection's password"
        if client.ask(requests.organization(name)).status == 404:
            yield f"it shows nobody an organisation {name!r}; correct portal.ckan.organization, unless it is hidden"
    elif not client.ask(requests.organization(name)).ok:
        yield f"it has no organisation {name!r}, or none that this token may see; correct portal.ckan.organization"
    else:
        owner = str(who.result.get("name"))[:MAX_NAME_LENGTH]
        yield (
            f"{owner!r}, whose token this is, may not create datasets in {name!r}; have an "
            "administrator of the organisation add that user as an editor"
        )


def _names(client: CkanClient, settings: Settings) -> Iterator[str]:
    yield from metadata_problems(settings.dataset, settings.keywords, settings.columns)
    try:
        find_licence(client, settings)
    except InvalidInputError as error:
        yield str(error)
    if settings.datastore and not client.ask(requests.action_help("datastore_create")).ok:
        yield "it has no DataStore; remove `portal.ckan.datastore`, or have the plugin enabled"
    shown = client.ask(requests.show(settings.dataset))
    if shown.status == 403:
        yield taken(settings, "which this token may not see")
    elif shown.ok and shown.result.get("state") != "deleted" and (why := not_ours(shown.result, settings)):
        yield why


def find_licence(client: CkanClient, settings: Settings) -> str | None:
    """
    Return what the portal calls the licence; CKAN takes any text for one, so its list is asked for.

    :raises InvalidInputError: it is not on the list.
    """
    if not settings.licence:
        return None
    reply = client.ask(requests.licences())
    known = reply.result if reply.ok else []
    if found := licence_id(settings.licence, known):
        return found
    active = [str(one.get("id"))[:MAX_NAME_LENGTH] for one in known if one.get("status", "active") == "active"]
    names = ", ".join(name for name in active[:MAX_LICENCES] if name.isprintable())
    raise InvalidInputError(f"it has no licence {settings.licence!r}; set metadata.licence to one of {names}")


def not_ours(package: Package, settings: Settings) -> str | None:
    """Say why a dataset of this name is not ours to change; None if it is."""
    organization = package.get("organization") or {}
    if settings.organization not in (organization.get("name"), organization.get("id")):
        return taken(settings, f"of the organisation {organization.get('name')!r}")
    if own_extra(package, DATASET) != settings.dataset:
        return taken(settings, "that anonflow did not make")
    return None


def taken(settings: Settings, by: str) -> str:
    """Say that a name is taken."""
    return f"the name {settings.dataset!r} is taken there by a dataset {by}; rename one of them"
