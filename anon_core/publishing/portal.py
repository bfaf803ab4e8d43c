"""What a portal is: a member of ``PORTALS``, found by the key that stands in the section ``portal``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Self

from anon_core.publishing.release import Published, Release
from anon_core.spec import PortalSettings, Publication

Connect = Callable[[str, str], Mapping[str, Any]]
"""
Return the fields of a connection by its id, named as Airflow names them (``conn_type``, ``host``, ``port``, ``schema``,
``login``, ``password``, ``extra``). The second text is how such a connection is written, for the message where there is
none.
"""


class Portal(ABC):
    """
    A place where releases are read by others; the steps know no more of it than this.

    The module of a portal imports what it works with inside its functions: every parse of a DAG file imports it.
    """

    settings: ClassVar[type[PortalSettings]]
    draft: ClassVar[str | None] = None
    """How a first publication file names it; None for a portal that has to be set up before."""
    location_key: ClassVar[str] = "location"
    """Under which name the audit store notes where a release went."""
    anchor_form: ClassVar[str | None] = None
    """The form, beside manifests and tombstones, in which :meth:`tombstones_in` reads what the portal holds."""

    @classmethod
    @abstractmethod
    def opened(
        cls,
        settings: Any,
        *,
        connect: Connect,
        progress: Callable[[str], None] | None = None,
        publication: Publication | None = None,
    ) -> Self:
        """
        Return the portal that resolved settings name.

        ``publication`` is what is to be published; without it, releases are looked at or withdrawn only.

        :raises InvalidInputError: its connection does not lead to a server.
        """

    @abstractmethod
    def check(self) -> None:
        """
        Try, before hours of work, what publishing will need.

        :raises InvalidInputError: something that is written in the publication file will not do.
        :raises StorageError: the portal does not answer, or does not take what it will have to take.
        """

    @abstractmethod
    def publish(self, release: Release) -> Published:
        """Put a release on the portal, whole or not at all; the same bytes twice are one version."""

    @abstractmethod
    def withdraw(
        self,
        dataset: str,
        version: str | None,
        reason: str,
        at: str,
        *,
        words_only: bool = False,
        audit: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        """
        Take a version off the portal, or all of them, kept ones included; return those that were taken off.

        The same data cannot be published again, with any metadata; after ``words_only`` it can, with other words.
        ``audit``, the head of the audit chain, stands in the tombstone: an anchor, which shows if the withdrawal is cut
        off from the chain.
        """

    @abstractmethod
    def versions(self, dataset: str) -> list[dict[str, Any]]:
        """The manifests of a dataset, newest first."""

    def check_is_where(self, locations: Iterable[str]) -> None:  # noqa: B027 - Only a connection can lead elsewhere.
        """
        Refuse to be another place than the one that releases were sent to: what is not here is not gone there.

        :raises InvalidInputError: a connection leads elsewhere by now.
        """

    @classmethod
    def settings_of_location(cls, location: str) -> dict[str, Any] | None:
        """Return the settings of a portal by where a release went, for records of versions that noted no more."""
        return None

    @classmethod
    def tombstones_in(cls, document: Mapping[str, Any]) -> list[dict[str, Any]] | None:
        """
        Return what a document of the portal says of withdrawals: ``dataset``, ``version`` and ``audit`` of each.

        None for a document that is none of this portal's. Manifests and tombstones as such need no reading here.
        """
        return None
