"""The base of all settings that a publication file can have, and the types of their values."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from datetime import date
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StrictBool,
    StrictInt,
    Tag,
    ValidationInfo,
    model_validator,
)

from anon_core.files.yaml_lines import as_text


def number(value: Any) -> int | float:
    """Return a finite number, whole ones as ``int`` so that labels made of them read ``5`` and not ``5.0``."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if not usable:
        raise ValueError(f"should be a number, not {quoted(value)}")
    return int(value) if isinstance(value, int) else float(value)


def quoted(value: Any) -> str:
    """Quote a value of the file in a message, shortened; a specification is not personal data."""
    if isinstance(value, dict | list | tuple):
        return "a mapping" if isinstance(value, dict) else "a list"
    written = {"None": "null", "True": "true", "False": "false"}.get(repr(value)) or str(as_text(value))
    return f"`{written[:40] + '...' if len(written) > 40 else written}`"


MIN_REASON_LETTERS = 10

_UNSEEN = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and symbols that are drawn as nothing: fillers of Hangul, and the empty pattern of Braille."""


def _day(value: Any) -> Any:
    # pydantic would also take a number of seconds, so 20271231 would quietly be a day in 1970.
    if isinstance(value, date) or (isinstance(value, str) and re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", value)):
        return value
    raise ValueError(f"should be a date such as 2027-12-31, not {quoted(value)}")


def _not_blank(value: str) -> str:
    # Letters, numbers, punctuation and symbols are seen; spaces, and what only joins or turns others, are not.
    if not any(unicodedata.category(sign)[0] in "LNPS" and sign not in _UNSEEN for sign in value):
        raise ValueError("should not be empty")
    return value


def _long_enough(value: str) -> str:
    if sum(sign.isalpha() and sign not in _UNSEEN for sign in value) < MIN_REASON_LETTERS:
        raise ValueError(f"should be a reason of at least {MIN_REASON_LETTERS} letters, for those who read it later")
    return value


def _not_empty(value: Any) -> Any:
    if not value:
        raise ValueError("should not be empty")
    return value


def distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    """:raises ValueError: a name is there twice."""
    if twice := sorted(name for name, times in Counter(names).items() if times > 1):
        raise ValueError(f"names {', '.join(map(quoted, twice))} twice")
    return names


def _shape(value: Any) -> str:
    return "<mapping>" if isinstance(value, dict | BaseModel) else "<value>"


Text = Annotated[str, BeforeValidator(as_text)]
Filled = Annotated[Text, AfterValidator(_not_blank)]
Reason = Annotated[Filled, AfterValidator(_long_enough)]
Names = Annotated[tuple[Text, ...], AfterValidator(distinct)]
Flag = StrictBool
Whole = StrictInt
Number = Annotated[int | float, BeforeValidator(number)]
Share = Annotated[float, BeforeValidator(number), Field(ge=0, le=1)]
Day = Annotated[date, BeforeValidator(_day)]

# Not pydantic's `min_length`, which also calls a list empty when its entries are wrong.
NOT_EMPTY = AfterValidator(_not_empty)
# A value that is either a word or a mapping; without these tags pydantic reports the errors of both readings.
EITHER_SHAPE = Discriminator(_shape)
AS_VALUE = Tag("<value>")
AS_MAPPING = Tag("<mapping>")


class Settings(BaseModel):
    """The base of every section: it never changes, and a key it does not know is an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_not_set(cls, value: Any, info: ValidationInfo) -> Any:
        if not isinstance(value, dict):
            return value
        if info.context is not None:
            # So that an unknown key can be compared with the keys that are known at that very place.
            info.context[id(value)] = cls
        return {key: item for key, item in value.items() if item is not None or key not in cls.model_fields}
