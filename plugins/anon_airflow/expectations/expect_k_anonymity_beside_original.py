"""Link k, source k and concealment: how well people hide from an attacker who knows the originals of all people."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import ColumnName, ColumnNames, Hierarchies, KMeaning, PositiveCount
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.k_beside_original import KBesideOriginal
from anon_core.models.model import PrivacyModel


class ExpectKAnonymityBesideOriginal(ModelExpectation):
    """
    Expect at least ``k`` by one of the meanings that need the originals.

    ``means: link``: at least k published rows may be a person's; ``source``: every published row may be that of k
    people; ``concealment``: link, counting only rows that no comparison of all people with all rows rules out.
    ``original`` names the table as collected: given with ``originals``, or in the same database. ``hierarchies`` has
    for each of ``columns`` how it was generalised, written as in a publication file; a file with its sha256. With
    ``groups: true`` the column may instead have been grouped by its own values, if its labels are ranges; if both are
    possible, the worse counts. Which row was made from which counts as unknown, as in any sorted release. Rows that
    cannot have been made from the original fail.
    """

    columns: ColumnNames
    k: PositiveCount
    means: KMeaning
    original: ColumnName
    hierarchies: Hierarchies

    model: ClassVar[type[PrivacyModel]] = KBesideOriginal
