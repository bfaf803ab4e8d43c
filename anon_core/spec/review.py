"""The ``reviewed`` section of a publication file: who has read the draft, and when."""

from __future__ import annotations

import re
from datetime import date, datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, PlainValidator

from anon_core.settings import AS_MAPPING, AS_VALUE, EITHER_SHAPE, Filled, Settings, quoted

_DAY, _MINUTE = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-2][0-9]:[0-5][0-9]"
_AS_TEXT = PlainSerializer(lambda moment: moment.isoformat(), return_type=str)


def _moment(value: Any) -> date:
    if isinstance(value, date):
        return value
    text = str(value)
    try:
        if isinstance(value, str) and re.fullmatch(_DAY, text):
            return date.fromisoformat(text)
        if isinstance(value, str) and re.fullmatch(f"{_DAY}[T ]{_MINUTE}", text):
            return datetime.fromisoformat(text)
    except ValueError:
        pass
    what = "should be a date such as 2027-12-31, or one with the time, 2027-12-31 15:30, that the calendar has"
    raise ValueError(f"{what}, not {quoted(value)}")


class Review(Settings):
    """
    A person has read roles, unit and policy, and answers for them.

    ``on`` is a day, or a minute of a day, so that two reviews on one day can be told apart.
    """

    by: Filled
    on: Annotated[date, PlainValidator(_moment), _AS_TEXT]

    @property
    def day(self) -> date:
        return self.on.date() if isinstance(self.on, datetime) else self.on

    @property
    def moment(self) -> str:
        """The time of the review, as text that sorts by time; a day comes before its minutes."""
        return self.on.isoformat(timespec="minutes") if isinstance(self.on, datetime) else self.on.isoformat()


def _false(value: Any) -> Any:
    if value is not False:
        raise ValueError(
            f"should be `false`, or who has read the file and when, {{by: ..., on: ...}}, not {quoted(value)}"
        )
    return value


ReviewSection = Annotated[
    Annotated[Annotated[Literal[False], BeforeValidator(_false)], AS_VALUE] | Annotated[Review, AS_MAPPING],
    EITHER_SHAPE,
]
"""``false``: the file is a draft, which Airflow shows but does not run."""
