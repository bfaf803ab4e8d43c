"""The sections of a publication file other than ``columns``, ``privacy`` and ``recode``, one model each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from anon_core.files.yaml_lines import plain
from anon_core.registry import ANY_ENGINE, ENGINES
from anon_core.settings import (
    AS_MAPPING,
    AS_VALUE,
    EITHER_SHAPE,
    Filled,
    Flag,
    Names,
    Settings,
    Share,
    Text,
    Whole,
    quoted,
)
from anon_core.spec.patterns import MAX_PATTERN_LENGTH, search_problem
from anon_core.spec.written import misspelt

MAX_WAYS = 1_000_000
"""In how many ways an expression may match a cell of a hundred characters."""
_CELL_LENGTH = 100
_JSON_SCHEMA = "expect_column_values_to_match_json_schema"


def argument_problem(kind: str, arguments: Mapping[str, Any]) -> str | None:
    """
    Return why an expectation with these arguments could run code or take for ever, or None.

    Great Expectations evaluates some texts: a ``row_condition`` as Python code by pandas, ``$PARAMETER`` as a formula.
    It hands regular expressions to pandas, which matches them in linear time (RE2) or, depending on what is in the
    cells, by trying every way (Python). So the file may have only expressions with few ways to match.
    """
    if found := next((key for key in _keys(arguments) if key.startswith("$")), None):
        return f"`{found[:40]}` would be evaluated as a formula or an address; write the value itself"
    if isinstance(arguments.get("row_condition"), str) or arguments.get("condition_parser") is not None:
        return "`row_condition` would be run as a program; remove it, and `condition_parser`"
    if kind == _JSON_SCHEMA and {"pattern", "patternProperties"} & set(_keys(arguments)):
        return "matching the `pattern` of a JSON schema may never end; use expect_column_values_to_match_regex"
    written = arguments.get("regex_list") if "regex_list" in arguments else [arguments.get("regex")]
    for one in written if isinstance(written, list) else []:
        if isinstance(one, str) and (problem := _regex_problem(one)):
            return f"the regular expression {problem}"
    return None


def _keys(value: Any) -> Iterable[str]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


def _regex_problem(pattern: str) -> str | None:
    if len(pattern) > MAX_PATTERN_LENGTH:
        return f"has {len(pattern):,} characters, and may have {MAX_PATTERN_LENGTH:,}"
    if problem := search_problem(pattern):
        return problem
    if _ways(_parsed(pattern)) > MAX_WAYS:
        return (
            "may match in too many ways, so matching may never end: repeat nothing that has a repetition or `|` in it, "
            "and use at most three `*` or `+`"
        )
    return None


def _parsed(pattern: str) -> Any:
    # Python has no public way to read an expression without compiling it.
    return re._parser.parse(pattern)  # type: ignore[attr-defined]


def _ways(parsed: Any) -> float:
    """Return in how many ways a parsed expression may be tried on a cell, at least."""
    ways = 1.0
    for operation, argument in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, inner = argument
            times = min(int(most), _CELL_LENGTH)
            ways *= (max(times - int(least), 0) + 1) * min(_ways(inner), MAX_WAYS + 1) ** min(times, 50)
        elif name == "SUBPATTERN":
            ways *= _ways(argument[-1])
        elif name == "BRANCH":
            ways *= sum(map(_ways, argument[1]))
        if ways > MAX_WAYS:
            return ways
    return ways


_USUAL_WAIT = "7d"
_LONGEST_WAIT = 365 * 86400
_PRESETS = ("@hourly", "@daily", "@weekly", "@monthly", "@quarterly", "@yearly", "@once", "@continuous")
_CRON_ATOM = r"(?:\*|\?|L|[0-9]{1,2}|[A-Za-z]{3})"
_CRON_ITEM = rf"{_CRON_ATOM}(?:-{_CRON_ATOM})?(?:/[0-9]{{1,4}})?(?:#[1-5L])?"
_CRON_FIELD = re.compile(rf"{_CRON_ITEM}(?:,{_CRON_ITEM})*")
_CRON_LIMITS = (59, 23, 31, 12, 7, 59)


class Missing(StrEnum):
    """What a missing value means."""

    CATEGORY = "category"
    DROP = "drop"
    WILDCARD = "wildcard"


def _slug(value: str) -> str:
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", value) or len(value) > 80:
        raise ValueError(
            "should be lower-case letters, digits and single hyphens, at most 80, such as `driver-licences`, "
            f"not {quoted(value)}"
        )
    return value


def _schedule(value: str) -> str:
    fields = value.split()
    if value in _PRESETS or (len(fields) in (5, 6) and all(map(_cron_field, fields, _CRON_LIMITS))):
        return value
    raise ValueError(
        f"should be a cron expression such as `0 6 1 * *`, one of {', '.join(_PRESETS)}, {{asset: uri}} or null, "
        f"not {quoted(value)}"
    )


def _cron_field(text: str, limit: int) -> bool:
    bounds = re.findall(r"(?<![/#0-9])[0-9]+", text)
    return bool(_CRON_FIELD.fullmatch(text)) and all(int(bound) <= limit for bound in bounds)


def _engine(value: str) -> str:
    if meant := None if value == ANY_ENGINE or value in ENGINES else misspelt(value, (ANY_ENGINE, *ENGINES.keys())):
        raise ValueError(f"there is no engine {quoted(value)}; did you mean `{meant}`?")
    return value


def _expectation(value: str) -> str:
    if not re.fullmatch(r"expect_[a-z0-9_]+", value):
        raise ValueError(f"should be the name of an expectation, such as `expect_column_to_exist`, not {quoted(value)}")
    return value


def _arguments(value: Any) -> Any:
    arguments = plain(value)
    if isinstance(arguments, dict) and (endless := [str(key) for key, one in arguments.items() if _endless(one)]):
        raise ValueError(f"should have finite numbers: {', '.join(map(quoted, endless))} is or holds `.nan` or `.inf`")
    return arguments


def _endless(value: Any) -> bool:
    """Whether something is or holds a number that is none, or that has no end: JSON, and so a suite, has neither."""
    if isinstance(value, dict):
        return any(map(_endless, (*value, *value.values())))
    if isinstance(value, list):
        return any(map(_endless, value))
    return isinstance(value, float) and not math.isfinite(value)


def _users(names: tuple[str, ...]) -> tuple[str, ...]:
    if any(not name.strip() or name != name.strip() for name in names):
        raise ValueError("should name people as Airflow knows them, without spaces around them")
    return names


def _duration(value: str) -> str:
    written = re.fullmatch(r"([1-9][0-9]{0,7})([smhd])", value)
    if not written or _seconds(value) > _LONGEST_WAIT:
        raise ValueError(
            f"should be a whole number with s, m, h or d, such as `12h` or `7d`, at most 365d, not {quoted(value)}"
        )
    return value


def _seconds(duration: str) -> int:
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[duration[-1]]


class Asset(Settings):
    """A schedule that follows an Airflow asset."""

    asset: Filled


class AirflowSettings(Settings):
    """What Airflow is told about the DAG."""

    owner: Filled = "open-data"
    retries: Annotated[Whole, Field(ge=0, le=100)] = 2
    pool: Filled | None = None
    # Airflow's database has no room for larger numbers, and would fail for all DAGs of the file.
    max_active_runs: Annotated[Whole, Field(ge=1, le=100)] = 1
    tags: tuple[Text, ...] = ()
    deadline: Text | None = None
    notify: tuple[Text, ...] = ()


class Detect(Settings):
    """How to search for column sets that single people out."""

    max_size: Annotated[Whole, Field(ge=1)] = 4
    approximate: Annotated[Share, Field(lt=1)] | None = None
    ignore_duplicates: Flag = False
    reveal_probability: Annotated[
        Annotated[Share, AS_VALUE] | Annotated[dict[str, Share], AS_MAPPING], EITHER_SHAPE
    ] = 0.5

    def probability_of(self, column: str) -> float:
        """Return the probability that an outsider knows a column; 0.5 where nothing is said."""
        if isinstance(self.reveal_probability, dict):
            return self.reveal_probability.get(column, self.reveal_probability.get("default", 0.5))
        return self.reveal_probability


class Expectation(Settings):
    """A stock expectation that the released rows must also meet."""

    type: Annotated[Text, AfterValidator(_expectation)]
    kwargs: Annotated[dict[str, Any], BeforeValidator(_arguments)] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        if problem := argument_problem(self.type, self.kwargs):
            raise ValueError(problem)
        return self


class Approval(Settings):
    """
    Whether a person has to approve a release, and who.

    Without ``users`` anybody may who can answer in Airflow. ``four_eyes``: not whoever triggered the run or last
    changed the publication file. ``timeout`` is how long the question stands.
    """

    required: Flag = False
    users: Annotated[Names, AfterValidator(_users)] = ()
    four_eyes: Flag = False
    timeout: Annotated[Text, AfterValidator(_duration)] | None = None

    @property
    def wait(self) -> timedelta:
        """How long the question stands: ``timeout``, or seven days."""
        return timedelta(seconds=_seconds(self.timeout or _USUAL_WAIT))


class Csv(Settings):
    """How the released files are written; ``escape_formulas``: no cell that a spreadsheet would run."""

    escape_formulas: Flag = False


class Metadata(Settings):
    """What a catalogue says about the dataset."""

    description: Text | None = None
    publisher: Text | None = None
    licence: Text | None = None
    keywords: tuple[Text, ...] = ()
    frequency: Text | None = None
    contact: Text | None = None
    language: Text = "en"
    theme: Text | None = None


EngineKey = Annotated[Filled, AfterValidator(_engine)]
Slug = Annotated[Text, AfterValidator(_slug)]
Schedule = Annotated[
    Annotated[Annotated[Text, AfterValidator(_schedule)], AS_VALUE] | Annotated[Asset, AS_MAPPING], EITHER_SHAPE
]
