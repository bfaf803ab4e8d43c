"""What a source of tables is: a member of ``SOURCES``, found by the key that stands in the section ``source``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

from anon_core.publishing.portal import Connect
from anon_core.spec import PartialPublication, SourceSettings

if TYPE_CHECKING:
    from anon_core.table import Table


class Source(ABC):
    """
    The table of one publication for one period.

    ``section`` is what its publication file says about it, an instance of ``settings``, and ``text`` the template of
    that, filled in for the period. ``connect`` returns the fields of a connection.
    The module of a source imports what it works with inside its functions: every parse of a DAG file imports it.
    """

    settings: ClassVar[type[SourceSettings]]

    def __init__(self, publication: PartialPublication, section: Any, text: str, connect: Connect) -> None:
        self.publication = publication
        self.section = section
        self.text = text
        self.connect = connect

    @property
    @abstractmethod
    def name(self) -> str:
        """What messages call it; never with a secret."""

    @property
    def address(self) -> str:
        """Where it is, for messages about the table; never with a secret."""
        return self.name

    def check(self) -> None:  # noqa: B027 - Not every source has something to try.
        """
        Try, before any work, what reading will need.

        :raises InvalidInputError: it cannot be read as it is written.
        """

    @abstractmethod
    def read(self) -> Table:
        """
        Return the table as collected, with all its columns.

        :raises TableError: it cannot be read; no message quotes a cell.
        """
