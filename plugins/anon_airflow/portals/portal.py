"""What every portal can do; the steps know no more of one than this."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from anon_core.release import Published, Release


class Portal(Protocol):
    """A place where releases are read by others."""

    def check_writable(self) -> None:
        """Try, before hours of work, what publishing will need."""

    def publish(self, release: Release) -> Published:
        """Put a release on the portal, whole or not at all; the same bytes twice are one version."""

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

    def versions(self, dataset: str) -> list[dict[str, Any]]:
        """The manifests of a dataset, newest first."""
