"""Dates as they stand in cells, and the parts they climb through: month, quarter, year, decade."""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from enum import Enum

from anon_core.hierarchy.levels import Levels

_DATE = re.compile(
    r"(?:(?P<iso>\d{4}-\d{2}-\d{2})|(?P<dots>\d{1,2}\.\d{1,2}\.\d{4})|(?P<slashes>\d{1,2}(?P<sign>[/-])\d{1,2}(?P=sign)\d{4}))"
    r"(?:[T ].*)?",
    re.DOTALL,
)


class DateForm(Enum):
    """How a column writes its dates. The value is where year, month and day stand."""

    ISO = ("iso", 0, 1, 2)
    DOTS = ("dots", 2, 1, 0)
    DAY_FIRST = ("slashes", 2, 1, 0)
    MONTH_FIRST = ("slashes", 2, 0, 1)
    UNDECIDED = ("slashes",)

    def date_in(self, text: str) -> datetime.date | None:
        """
        Return the date in a cell (a time of day is ignored), or None for what is not one in this form.

        >>> DateForm.ISO.date_in("2019-05-15 10:00"), DateForm.DAY_FIRST.date_in("30/02/2019")
        (datetime.date(2019, 5, 15), None)
        """
        match = _DATE.fullmatch(text)
        if not match or self is DateForm.UNDECIDED or not match[self.value[0]]:
            return None
        parts = [int(part) for part in re.split(r"[-./]", match[self.value[0]])]
        try:
            return datetime.date(*(parts[at] for at in self.value[1:]))
        except ValueError:
            return None

    @property
    def wanted(self) -> str:
        """What is wrong with values that are not dates in this form."""
        if self is DateForm.UNDECIDED:
            return (
                "not dates such as 1949-01-21; of those such as 03/04/2019 the column does not tell whether the "
                "day or the month comes first: write them as 2019-04-03"
            )
        examples = {
            DateForm.ISO: "1949-01-21",
            DateForm.DOTS: "21.01.1949, as most are here",
            DateForm.DAY_FIRST: "21/01/1949, as most are here",
            DateForm.MONTH_FIRST: "01/21/1949, as most are here",
        }
        return f"not dates such as {examples[self]}"


def form_of(values: Iterable[str]) -> DateForm:
    """
    Return the one form that a column's dates are read in: the one that most of its values have, ISO on a tie.

    Dots are day first. Slashes (and dashes before a year) are so if some first part is above 12 and no second one is,
    month first the other way round; where neither can be told, no such value is read as a date.

    >>> form_of(["21/01/1949", "03/04/1950"]), form_of(["03/04/1950"]), form_of(["x", "21.1.1949"])
    (<DateForm.DAY_FIRST: ('slashes', 2, 1, 0)>, <DateForm.UNDECIDED: ('slashes',)>, <DateForm.DOTS: ('dots', 2, 1, 0)>)
    """
    matches = [match for value in values if (match := _DATE.fullmatch(value))]
    kinds = Counter(_kind(match) for match in matches)
    kind = max(("iso", "dots", "slashes"), key=lambda name: kinds[name])
    if kind != "slashes":
        return DateForm.ISO if kind == "iso" else DateForm.DOTS
    pairs = [re.split("[/-]", match["slashes"])[:2] for match in matches if match["slashes"]]
    first, second = (any(int(pair[at]) > 12 for pair in pairs) for at in (0, 1))
    if first == second:
        return DateForm.UNDECIDED
    return DateForm.DAY_FIRST if first else DateForm.MONTH_FIRST


def is_like_a_date(text: str) -> bool:
    """
    Whether a text is written like a date; the day need not exist, and any part may be the month.

    >>> is_like_a_date("03/04/1950"), is_like_a_date("2019-02-30"), is_like_a_date("1950")
    (True, True, False)
    """
    return _DATE.fullmatch(text) is not None


def _kind(match: re.Match[str]) -> str:
    return "iso" if match["iso"] else "dots" if match["dots"] else "slashes"


def by_date(values: Sequence[str], parts: Sequence[str]) -> Levels:
    """
    Return the parts of every date, from fine to coarse; labels are written the same for all forms of dates.

    >>> by_date(["15.05.2019"], ["day", "month", "quarter", "year", "decade"]).paths
    {'15.05.2019': ['2019-05-15', '2019-05', '2019-Q2', '2019', '2010s']}
    """
    form = form_of(values)
    dates = ((value, form.date_in(value)) for value in values)
    return Levels(
        paths={value: [_part(date, part) for part in parts] for value, date in dates if date is not None},
        names=list(parts),
    )


def _part(date: datetime.date, part: str) -> str:
    if part == "decade":
        return f"{date.year // 10:03}0s"
    if part == "quarter":
        return f"{date.year:04}-Q{(date.month + 2) // 3}"
    return date.isoformat()[: {"day": 10, "month": 7, "year": 4}[part]]
