"""An attacker infers no guarded value from values that can be observed."""

from __future__ import annotations

from typing import ClassVar

from anon_airflow.expectations.arguments import AnyNumber, ColumnNames, Guards, Hierarchies, Share
from anon_airflow.expectations.model_expectation import ModelExpectation
from anon_core.models.freeform import NoFreeformBreach
from anon_core.models.model import PrivacyModel


class ExpectNoFreeformBreach(ModelExpectation):
    """
    Expect no freeform attack with a threat above ``sigma_t`` (extended Definition 3.4 of Wang 2009).

    ``hierarchies`` has for every column a file, relative to the folder of :func:`hierarchies_in`, with its sha256, or
    the label of its root; ``guards`` has the guarded values, as in the publication file. After local recoding labels of
    several levels occur together, so all quasi-identifiers are placed in their hierarchies too.
    """

    columns: ColumnNames
    hierarchies: Hierarchies
    guards: Guards
    sigma_o: AnyNumber
    sigma_t: Share

    model: ClassVar[type[PrivacyModel]] = NoFreeformBreach
