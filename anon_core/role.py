"""The roles of columns, apart from the publication file: proposing one needs no parser of it."""

from __future__ import annotations

from enum import StrEnum


class Role(StrEnum):
    """What a column is for an attacker who wants to single people out."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"
    DROP = "drop"
