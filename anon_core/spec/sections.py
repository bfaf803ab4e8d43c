"""The sections of a publication file other than ``columns``, ``privacy`` and ``recode``, one model each."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from anon_core.files.yaml_lines import plain
from anon_core.registry import ANY_ENGINE, ENGINES
from anon_core.settings import (
    AS_MAPPING,
    AS_VALUE,
    EITHER_SHAPE,
    Day,
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

MAX_MATCHING_WAYS = 1_000_000
"""An expression may match a cell of a hundred characters in at most so many ways."""
_CELL_CHARACTERS = 100
_JSON_SCHEMA = "expect_column_values_to_match_json_schema"


def argument_problem(kind: str, arguments: Mapping[str, Any]) -> str | None:
    """
    Return why an expectation with these arguments could run code, or never end; None if it could not.

    Great Expectations evaluates some texts: a ``row_condition`` as Python code by pandas, ``$PARAMETER`` as a formula.
    It gives regular expressions to pandas, which matches them in linear time (RE2) or, depending on the cells, by
    backtracking (Python). So the file may have only expressions with few ways to match.
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
    if _ways(_parsed(pattern)) > MAX_MATCHING_WAYS:
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
            times = min(int(most), _CELL_CHARACTERS)
            ways *= (max(times - int(least), 0) + 1) * min(_ways(inner), MAX_MATCHING_WAYS + 1) ** min(times, 50)
        elif name == "SUBPATTERN":
            ways *= _ways(argument[-1])
        elif name == "BRANCH":
            ways *= sum(map(_ways, argument[1]))
        if ways > MAX_MATCHING_WAYS:
            return ways
    return ways


_DEFAULT_WAIT = "7d"
_MAX_WAIT_S = 365 * 86400
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
    """Whether a value is or contains NaN or an infinite number: JSON, and so a suite, cannot hold them."""
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
    if not written or _seconds(value) > _MAX_WAIT_S:
        raise ValueError(
            f"should be a whole number with s, m, h or d, such as `12h` or `7d`, at most 365d, not {quoted(value)}"
        )
    return value


def _seconds(duration: str) -> int:
    return int(duration[:-1]) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[duration[-1]]


def length(duration: str) -> timedelta:
    """Return how long `12h` or `7d` is."""
    return timedelta(seconds=_seconds(duration))


def _import_path(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+", value, re.ASCII) or len(value) > 200:
        raise ValueError(
            "should be where a notifier is imported from, such as "
            f"`airflow.providers.smtp.notifications.smtp.SmtpNotifier`, not {quoted(value)}"
        )
    return value


def _timezone(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_+/-]{1,64}", value) or not _is_timezone(value):
        raise ValueError(f"should be a time zone such as `Europe/Rome`, not {quoted(value)}")
    return value


def _is_timezone(value: str) -> bool:
    try:
        ZoneInfo(value)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True


class Asset(Settings):
    """A schedule that follows an Airflow asset."""

    asset: Filled


class Event(StrEnum):
    """What people are notified of."""

    REFUSED = "refused"
    FAILED = "failed"
    APPROVAL = "approval"
    LATE = "late"
    PUBLISHED = "published"
    WITHDRAWN = "withdrawn"


class Notification(Settings):
    """
    Who is notified of what: a notifier of Airflow by its import path, with its arguments.

    Texts among the arguments are templates of Airflow, with ``anonflow`` beside what a task knows.
    """

    notifier: Annotated[Text, AfterValidator(_import_path)]
    arguments: Annotated[dict[str, Any], BeforeValidator(plain)] = Field(default_factory=dict)
    on: tuple[Event, ...] = (Event.REFUSED, Event.FAILED, Event.APPROVAL, Event.LATE)


class AirflowSettings(Settings):
    """The settings of the DAG in Airflow."""

    owner: Filled = "open-data"
    retries: Annotated[Whole, Field(ge=0, le=100)] = 2
    retry_delay: Annotated[Text, AfterValidator(_duration)] = "5m"
    execution_timeout: Annotated[Text, AfterValidator(_duration)] | None = None
    pool: Filled | None = None
    queue: Filled | None = None
    # Airflow's database cannot store larger numbers, and would fail for all DAGs of the file.
    max_active_runs: Annotated[Whole, Field(ge=1, le=100)] = 1
    tags: tuple[Text, ...] = ()
    timezone: Annotated[Text, AfterValidator(_timezone)] = "UTC"
    start_date: Day | None = None
    catchup: Flag = False
    deadline: Annotated[Text, AfterValidator(_duration)] | None = None
    notify: tuple[Notification, ...] = ()

    def notifications(self, event: Event) -> tuple[Notification, ...]:
        """Return who is notified of an event."""
        return tuple(one for one in self.notify if event in one.on)

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.catchup and self.start_date is None:
            raise ValueError("`catchup` makes up for all periods since `start_date`; write that day too")
        return self


class Detect(Settings):
    """The settings of the search for column sets that single people out."""

    max_size: Annotated[Whole, Field(ge=1)] = 4
    approximate: Annotated[Share, Field(lt=1)] | None = None
    ignore_duplicates: Flag = False
    reveal_probability: Annotated[
        Annotated[Share, AS_VALUE] | Annotated[dict[str, Share], AS_MAPPING], EITHER_SHAPE
    ] = 0.5

    def probability_of(self, column: str) -> float:
        """Return the probability that an outsider knows a column; 0.5 by default."""
        if isinstance(self.reveal_probability, dict):
            return self.reveal_probability.get(column, self.reveal_probability.get("default", 0.5))
        return self.reveal_probability


class Expectation(Settings):
    """An expectation of Great Expectations that the released rows must also meet."""

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

    Without ``users`` every person who can answer in Airflow may approve. With ``four_eyes`` the person who triggered
    the run or last changed the publication file may not. ``timeout`` is how long the question waits for an answer.
    """

    required: Flag = False
    users: Annotated[Names, AfterValidator(_users)] = ()
    four_eyes: Flag = False
    timeout: Annotated[Text, AfterValidator(_duration)] | None = None

    @property
    def wait(self) -> timedelta:
        """How long the question waits for an answer: ``timeout``, or seven days."""
        return length(self.timeout or _DEFAULT_WAIT)


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
