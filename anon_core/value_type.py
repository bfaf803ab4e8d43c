"""What the cells of a column read as."""

from __future__ import annotations

from enum import StrEnum


class ValueType(StrEnum):
    """The types that a column can be declared to have; every cell is text, and everything reads as text."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DATE = "date"
    TIMESTAMP = "timestamp"
    BOOLEAN = "boolean"
    TEXT = "text"
