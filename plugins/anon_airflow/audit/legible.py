"""Stored values in a printable form, also values that an intruder put into the database."""

from __future__ import annotations

from typing import Any


def legible(value: Any) -> Any:
    """
    Return a stored value in a printable form: text and whole numbers as they are, other values described.

    >>> legible("caf\\udce9"), legible(b"\\xff"), legible(None), legible(7)
    ('caf\\\\udce9', '(bytes ff)', '(empty)', 7)
    """
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, int):
        return value
    if value is None:
        return "(empty)"
    if isinstance(value, bytes | memoryview):
        return f"(bytes {bytes(value).hex()})"
    return f"({type(value).__name__} {legible(str(value))})"
