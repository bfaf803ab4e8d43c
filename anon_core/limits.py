"""How much of an input is read before it is refused; every limit has a default and an environment variable.

A reader refuses a file that is far too large, or that unpacks to more than memory holds, while it reads. The table of
all limits is in ``docs/limits.md``. A variable is read when the limit is used, never at import.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from anon_core.errors import InvalidInputError
from anon_core.wording import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """How much of something there may be: ``setting`` is the environment variable that replaces ``default``."""

    setting: str
    default: int
    unit: str

    def value(self) -> int:
        """
        Return the limit that is in force now.

        :raises InvalidInputError: the variable is set, but not to a positive whole number.
        """
        text = os.environ.get(self.setting, "").strip()
        if not text:
            return self.default
        # Eighteen digits are more than there is to read, and fit wherever a number of bytes is passed on.
        number = int(text) if text.isascii() and text.isdigit() and len(text) <= 18 else 0
        if number < 1:
            raise InvalidInputError(
                f"the environment variable {self.setting} is not a positive whole number; "
                f"correct it, or remove it for the default of {self.default:,}"
            )
        return number

    def words(self) -> str:
        """
        Return the limit in words.

        >>> COLUMNS.words()
        'the limit of 2,000 columns'
        """
        return f"the limit of {counted(self.value(), self.unit)}"

    @property
    def advice(self) -> str:
        """How to raise it."""
        return f"if it is meant to be so, set the environment variable {self.setting} higher (docs/limits.md)"


COLUMNS = Limit(setting="ANON_MAX_COLUMNS", default=2_000, unit="column")
"""Columns of a table. Searching column sets and drafting a publication file take the time of their pairs."""

COLUMN_SETS = Limit(setting="ANON_MAX_COLUMN_SETS", default=200_000_000, unit="column set")
"""Sets of columns that a scheduled search may come to: 260 columns have so many of up to 4. It is hours of work."""

NAME = Limit(setting="ANON_MAX_NAME_LENGTH", default=255, unit="character")
"""Characters of the name of a column or a level: the longest questions of surveys have some 250, and PostgreSQL takes
63 bytes. A longer name is mostly a row that a stray quote made a name of."""

HEADER = Limit(setting="ANON_MAX_HEADER_LENGTH", default=1 << 20, unit="character")
"""The first row of a CSV file: the names of as many columns as are allowed, at some 500 characters each."""

ROW = Limit(setting="ANON_MAX_ROW_BYTES", default=1 << 24, unit="byte")
"""One row of a CSV file: it has to be in memory at once, several times over."""

CELL = Limit(setting="ANON_MAX_CELL_BYTES", default=1 << 22, unit="byte")
"""One cell, as UTF-8: the border of a municipality fits, a file that a quote has swallowed does not."""

EXPANSION = Limit(setting="ANON_MAX_EXPANSION", default=200, unit="time")
"""How many times its own size a packed file may unpack to: tables unpack to some 5 to 30 times, and zeros to 1,030."""

EXPANSION_FLOOR = Limit(setting="ANON_MAX_EXPANSION_FLOOR_BYTES", default=1 << 26, unit="byte")
"""Up to this size a packed file may unpack however small it is."""

FOOTER = Limit(setting="ANON_MAX_PARQUET_FOOTER_BYTES", default=1 << 25, unit="byte")
"""The description of a Parquet file at its end, which takes many times its size in memory."""

PAGE = Limit(setting="ANON_MAX_PARQUET_PAGE_BYTES", default=1 << 27, unit="byte")
"""One page of a Parquet file, unpacked: it has to be in memory at once. Most writers end a page after one MiB."""

HIERARCHY_FILE = Limit(setting="ANON_MAX_HIERARCHY_BYTES", default=1 << 24, unit="byte")
"""A hierarchy, rules or lookup file, which is read whole: some 400,000 lines."""

PUBLICATION_FILE = Limit(setting="ANON_MAX_PUBLICATION_BYTES", default=1_000_000, unit="byte")
"""A publication file, which is read whole, and by Airflow every few seconds."""

DOCUMENT = Limit(setting="ANON_MAX_DOCUMENT_BYTES", default=1 << 24, unit="byte")
"""A JSON document of a portal: a manifest, a tombstone, a report, or a dataset given as an anchor."""

DOWNLOAD = Limit(setting="ANON_MAX_DOWNLOAD_BYTES", default=1 << 33, unit="byte")
"""A table that is read back from a portal, which says itself how large its files are."""

MAX_MISSING_WORDS = 1_000
MAX_MISSING_CHARACTERS = 20_000
"""Of all missing words together: pyarrow's reader of CSV files crashes at some 300,000."""

ALL = (
    COLUMNS,
    COLUMN_SETS,
    NAME,
    HEADER,
    ROW,
    CELL,
    EXPANSION,
    EXPANSION_FLOOR,
    FOOTER,
    PAGE,
    HIERARCHY_FILE,
    PUBLICATION_FILE,
    DOCUMENT,
    DOWNLOAD,
)


def missing_words_problem(words: Sequence[str]) -> str | None:
    """
    Return why so many words for missing values cannot be looked for, or None.

    >>> missing_words_problem(["", "n/a"]) is None
    True
    """
    if len(words) <= MAX_MISSING_WORDS and sum(map(len, words)) <= MAX_MISSING_CHARACTERS:
        return None
    return (
        f"there are {len(words):,} with {sum(map(len, words)):,} characters; up to {MAX_MISSING_WORDS:,} words with "
        f"{MAX_MISSING_CHARACTERS:,} characters together are looked for"
    )
