"""The CKAN section of a publication file, and the check whether that CKAN will accept the dataset."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from anon_airflow.portals.ckan import requests
from anon_airflow.portals.ckan.client import CkanClient
from anon_airflow.portals.ckan.metadata import DATASET, licence_id, metadata_problems, own_extra
from anon_airflow.portals.ckan.requests import Package
from anon_airflow.portals.ckan.server import MAX_NAME_LENGTH
from anon_core.errors import InvalidInputError
from anon_core.settings import Filled, Flag, Settings, Text, quoted
from anon_core.spec import PortalSettings, Publication

MAX_LICENCES = 100
"""Maximum number of licences of a portal that a message lists."""


class Versions(StrEnum):
    """What happens to the previous version on CKAN."""

    REPLACE = "replace"
    KEEP = "keep"


def _connection(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_.-]{1,200}", value):
        raise ValueError(f"should be the id of a connection, of letters, digits and _ . -, not {quoted(value)}")
    return value


class Ckan(Settings):
    """The CKAN; ``datastore``: readers can browse and query the table there, with a data dictionary."""

    connection: Annotated[Text, AfterValidator(_connection)]
    organization: Filled
    versions: Versions = Versions.REPLACE
    datastore: Flag = False


class CkanSettings(PortalSettings):
    """The portal settings of a publication file for CKAN."""

    ckan: Ckan
    folder: None = None
    """The other portal, which a file may set to null; it is part of the digest of a file."""

    @property
    def place(self) -> str:
        """The id of its connection."""
        return self.ckan.connection

    @model_validator(mode="after")
    def _keeps(self) -> Self:
        if self.keep not in (None, 1) and self.ckan.versions is not Versions.KEEP:
            what = ValueError(
                "has no effect, because on this CKAN each version replaces the previous one; set "
                "`portal.ckan.versions: keep`"
            )
            problem = InitErrorDetails(type="value_error", loc=("keep",), input=self.keep, ctx={"error": what})
            raise ValidationError.from_exception_data("portal", [problem])  # With the line of `keep`.
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class CkanPlace:
    """
    The place of a dataset on a CKAN, and its settings there.

    ``keep`` is how many versions stay, None for all; one, if each replaces the previous one. ``columns`` are those of
    the published table if it should be in the DataStore too.
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
    def of(cls, settings: CkanSettings, publication: Publication | None) -> CkanPlace:
        """Return the place of a publication; without one, a place to read or withdraw datasets."""
        ckan = settings.ckan
        if publication is None:
            return cls(organization=ckan.organization, dataset="")
        return cls(
            organization=ckan.organization,
            dataset=publication.dataset,
            kept=ckan.versions is Versions.KEEP,
            keep=settings.keep,
            licence=publication.metadata.licence,
            keywords=publication.metadata.keywords,
            datastore=ckan.datastore,
            columns=publication.published if ckan.datastore else (),
        )


def check(client: CkanClient, place: CkanPlace) -> None:
    """
    Check, before hours of work, all that publishing will need: the token, the organisation, the right, the name.

    :raises InvalidInputError: with all problems.
    :raises PortalError: the portal does not answer.
    """
    reply = client.ask(requests.status())
    if not reply.ok:
        raise InvalidInputError(
            f"{client.server.url} does not answer like a CKAN server ({reply.words}); correct the connection's host"
        )
    problems = [*_rights(client, place), *_names(client, place)]
    if problems:
        raise InvalidInputError(f"{client.server.url} would not accept {place.dataset!r}: " + "; ".join(problems))


def _rights(client: CkanClient, place: CkanPlace) -> Iterator[str]:
    mine = client.ask(requests.own_organizations())
    name = place.organization
    if mine.ok and any(name in (one.get("name"), one.get("id")) for one in mine.result or ()):
        return
    who = client.ask(requests.whoami())
    if not who.ok:  # CKAN treats a wrong token as no token: only this call shows the difference.
        yield "it does not know the token: make one at /user/NAME/api-tokens and store it as the connection's password"
        if client.ask(requests.organization(name)).status == 404:
            yield f"it has no public organisation {name!r}; correct portal.ckan.organization, unless it is hidden"
    elif not client.ask(requests.organization(name)).ok:
        yield f"it has no organisation {name!r}, or none that this token may see; correct portal.ckan.organization"
    else:
        owner = str(who.result.get("name"))[:MAX_NAME_LENGTH]
        yield (
            f"{owner!r}, the owner of this token, may not create datasets in {name!r}; ask an administrator of the "
            "organisation to add that user as an editor"
        )


def _names(client: CkanClient, place: CkanPlace) -> Iterator[str]:
    yield from metadata_problems(place.dataset, place.keywords, place.columns)
    try:
        find_licence(client, place)
    except InvalidInputError as error:
        yield str(error)
    if place.datastore and not client.ask(requests.action_help("datastore_create")).ok:
        yield "it has no DataStore; remove `portal.ckan.datastore`, or ask its administrator to enable the plugin"
    shown = client.ask(requests.show(place.dataset))
    if shown.status == 403:
        yield taken(place, "which this token may not see")
    elif shown.ok and shown.result.get("state") != "deleted" and (why := not_ours(shown.result, place)):
        yield why


def find_licence(client: CkanClient, place: CkanPlace) -> str | None:
    """
    Return the portal's id of the licence. CKAN accepts any text as a licence, so this looks in its list.

    :raises InvalidInputError: the licence is not in the list.
    """
    if not place.licence:
        return None
    reply = client.ask(requests.licences())
    known = reply.result if reply.ok else []
    if found := licence_id(place.licence, known):
        return found
    active = [str(one.get("id"))[:MAX_NAME_LENGTH] for one in known if one.get("status", "active") == "active"]
    names = ", ".join(name for name in active[:MAX_LICENCES] if name.isprintable())
    raise InvalidInputError(f"it has no licence {place.licence!r}; set metadata.licence to one of {names}")


def not_ours(package: Package, place: CkanPlace) -> str | None:
    """Return why anonflow must not change a dataset of this name; None if it may."""
    organization = package.get("organization") or {}
    if place.organization not in (organization.get("name"), organization.get("id")):
        return taken(place, f"of the organisation {organization.get('name')!r}")
    if own_extra(package, DATASET) != place.dataset:
        return taken(place, "that anonflow did not make")
    return None


def taken(place: CkanPlace, by: str) -> str:
    """Return a sentence that a name is taken."""
    return f"the name {place.dataset!r} is already used there by a dataset {by}; rename one of them"
