"""The ``recode`` section of a publication file: which method recodes the table, and how."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationInfo, model_validator

from anon_core.files.yaml_lines import as_text, plain
from anon_core.registry import METHODS
from anon_core.settings import Flag, Settings, Share, Text, Whole, quoted
from anon_core.spec.written import Unread, did_you_mean, misspelt

MAX_SWEEPS = 100_000
"""More sweeps of the improvement search would take too long, and are a mistake in the file."""


class Mode(StrEnum):
    """What prioritised recoding promises."""

    PAPER = "paper"
    SAFE = "safe"
    LINK = "link"


class Intervals(StrEnum):
    """What ``size`` counts when a numeric column is cut into intervals."""

    ROWS = "rows"
    DISTINCT = "distinct"


class Replace(StrEnum):
    """What stands in the place of a number: its interval, or the interval's mean."""

    RANGE = "range"
    MEAN = "mean"


class UtilityMeasure(StrEnum):
    """The measure by which the best of several recodings is chosen."""

    WNUE = "wnue"
    NUE = "nue"
    LOSS = "loss"
    ROWS = "rows"


class Years(Settings):
    """A numeric column to cut into intervals, such as a year of birth."""

    column: Text
    intervals: Intervals = Intervals.ROWS
    size: Annotated[Whole, Field(ge=1)]
    replace: Replace = Replace.RANGE


def _iterations(value: Any) -> Any:
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_SWEEPS):
        return plain(value)
    raise ValueError(f"should be `auto` or a whole number from 0 to {MAX_SWEEPS}, not {quoted(value)}")


def _method(key: str) -> str:
    """Return the key of a method; one that is not installed is kept, unless it is misspelt or cannot be a key."""
    known, meant = METHODS.keys(), misspelt(key, METHODS)
    if key in known or (not meant and re.fullmatch(r"[a-z][a-z0-9_-]{0,79}", key)):
        return key
    end = f"; did you mean `{meant}`?" if meant else ""
    raise ValueError(f"should be one of {', '.join(known)}, not {quoted(key)}{end}")


class _Section(NamedTuple):
    """The content of a key that is the section of a method, and the method of the file."""

    key: str
    method: str
    content: Any


def _read(section: _Section, info: ValidationInfo) -> Any:
    """Read the section of a method with the settings type of that method."""
    key = section.key
    settings = METHODS.get(key).settings if key in METHODS else None
    if settings is not None:
        return settings.model_validate(section.content, context=info.context)
    if key == section.method and key not in METHODS and not misspelt(key, METHODS):
        return section.content  # It is refused together with the method.
    known = [one for one, member in METHODS.members().items() if member.settings is not None]
    raise ValueError(f"unknown key {quoted(key)}{did_you_mean(key, [*Recode.model_fields, *known])}")


class Recode(Settings):
    """
    How the table is recoded until it keeps the policy; beside these keys methods have sections of their own.

    ``nue_weight`` is the weight of plain NUE beside wNUE in what prioritised recoding minimises.
    """

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, Annotated[Any, PlainValidator(_read)]] = Field(init=False)

    method: Annotated[Text, AfterValidator(_method)] = "global"
    mode: Mode = Mode.SAFE
    improve: Annotated[int | str, BeforeValidator(_iterations)] = "auto"
    seed: Annotated[Whole, Field(ge=0)] = 0
    nue_weight: Share = 0.24
    then: Literal["prioritised"] | None = None
    sticky: Flag = False
    utility: UtilityMeasure = UtilityMeasure.WNUE

    @model_validator(mode="before")
    @classmethod
    def _with_sections(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        method = as_text(value.get("method"))
        return {
            key: item if key in cls.model_fields else _Section(key, method, item)
            for key, item in value.items()
            if item is not None
        }

    def section(self, key: str) -> Any:
        """Return the settings of a method, None where the file has no section for it."""
        return (self.__pydantic_extra__ or {}).get(key)

    @property
    def grouped(self) -> tuple[Years, ...]:
        """The columns that a method may group by their own values, by all sections that the file has."""
        sections = (self.__pydantic_extra__ or {}).values()
        return tuple(one for section in sections for one in getattr(section, "grouped", ()))

    @property
    def member(self) -> Any:
        """
        The recoding method, as its registry has it.

        :raises InvalidInputError: no installed package brings it.
        """
        for absent in self.unread:
            raise absent.refuse()
        return METHODS.get(self.method)()

    @property
    def unread(self) -> tuple[Unread, ...]:
        """The sections of the file for a method that is not installed."""
        if self.method in METHODS:
            return ()
        return (Unread.of(METHODS, self.method, ("recode", "method"), self.section(self.method)),)
