"""The template of a source, such as ``source.file``: only templates that give a short text for every period.

Airflow fills the template in before any code of ours runs, and ``anon run`` does the same. So this module checks the
template when the publication file is read. Allowed are dates of the period, their parts, formats and shifts. No
expression may repeat or pad a text, or read anything else. Each expression has a kind (:class:`Kind`), and each kind
has a few operations, so that what is not listed cannot be written at all.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from anon_core.spec.paths import path_problem

if TYPE_CHECKING:
    from jinja2 import nodes

MAX_TEMPLATE_LENGTH = 500
"""Characters of a template."""
_MAX_DEPTH = 12
_MAX_BRACKETS = 20
_MAX_NUMBER = 100_000
_MARKS = re.compile(r"\{[{%#]")


class Kind(StrEnum):
    """The kind of the result of an expression."""

    DATE = "a date"
    TEXT = "a text"
    NUMBER = "a number"
    DURATION = "a duration"


_NAMES = dict.fromkeys(("data_interval_start", "data_interval_end", "logical_date"), Kind.DATE) | dict.fromkeys(
    ("ds", "ds_nodash", "ts", "ts_nodash", "ts_nodash_with_tz"), Kind.TEXT
)
_DATE_FILTERS = ("ds", "ds_nodash", "ts", "ts_nodash", "ts_nodash_with_tz")
_TEXT_FILTERS = ("lower", "upper")
_PARTS = ("year", "month", "day", "hour", "minute", "second", "quarter", "day_of_year", "week_of_year")
_SHIFTS = ("years", "months", "weeks", "days", "hours", "minutes", "seconds")
_FIELDS = ("year", "month", "day", "hour", "minute", "second", "microsecond")
_UNITS = ("second", "minute", "hour", "day", "week", "month", "year", "decade", "century")
_MACROS = ("ds_add", "ds_format", "timedelta")
_TEXT_METHODS = ("strftime", "format", "isoformat", "to_date_string", "to_datetime_string", "to_iso8601_string")
_DATE_METHODS = ("add", "subtract", "replace", "start_of", "end_of", "in_timezone", "date")
# A width such as `%900d` would pad the text; directives that are not listed depend on the machine.
_DIRECTIVES = re.compile(r"(?:[^%]|%-?[YymdHMSfjGVuwUWaAbBpIzZ%])*", re.DOTALL)
_ZONE = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{0,30}(?:/[A-Za-z][A-Za-z0-9_+-]{0,30}){0,2}")

ALLOWED = (
    f"allowed in `{{{{ }}}}` are {', '.join(_NAMES)}; of a date: {', '.join(_PARTS)}, "
    f"{', '.join(f'{name}()' for name in (*_TEXT_METHODS, *_DATE_METHODS))}; the filters "
    f"{', '.join((*_DATE_FILTERS, *_TEXT_FILTERS))}; {', '.join(f'macros.{name}()' for name in _MACROS)}; and + - ~ "
    '(docs/publication-file.md, "Templates")'
)


class _RefusedError(Exception):
    """Something in the template is not allowed."""


def is_template(text: str) -> bool:
    """Whether a text has a part to fill in."""
    return _MARKS.search(text) is not None


def static_part(text: str) -> str:
    """
    Return the text before the first part that is filled in.

    >>> static_part("in/{{ ds }}/people.csv"), static_part("in/people.csv")
    ('in/', 'in/people.csv')
    """
    return _MARKS.split(text, maxsplit=1)[0]


def template_problem(text: str) -> str | None:
    """
    Return why a text cannot be filled in safely, or None.

    >>> template_problem("in/{{ data_interval_start | ds }}.csv") is None
    True
    >>> str(template_problem("{{ 'x' * 10 ** 9 }}")).partition(";")[0]
    'the template has `*`, which is not allowed'
    """
    if problem := path_problem(text):
        return problem
    if not is_template(text):
        return None
    if len(text) > MAX_TEMPLATE_LENGTH:
        return f"a template may have {MAX_TEMPLATE_LENGTH} characters, it has {len(text):,}"
    if sum(map(text.count, "([")) > _MAX_BRACKETS:  # Each takes a dozen nested calls to parse.
        return f"a template may have {_MAX_BRACKETS} opening brackets"
    # A scheduler parses every publication file often: only a file with a template needs this import.
    from jinja2 import Environment, TemplateSyntaxError, nodes

    try:
        parsed = Environment(autoescape=False).parse(text)  # noqa: S701 - A path, not a page; it is not rendered here.
        for statement in parsed.body:
            if not isinstance(statement, nodes.Output):
                raise _RefusedError(f"a statement (`{{% {type(statement).__name__.lower()} %}}`)")
            for part in statement.nodes:
                if not isinstance(part, nodes.TemplateData) and _kind(part, 0) is Kind.DURATION:
                    raise _RefusedError("a duration as a part of the path")
    except TemplateSyntaxError as error:
        return f"is not a template: {str(error.message)[:200]}; {ALLOWED}"
    except (RecursionError, ValueError, OverflowError, MemoryError):
        return f"is not a template that can be read; {ALLOWED}"
    except _RefusedError as error:
        return f"the template has {error}, which is not allowed; {ALLOWED}"
    return None


def _kind(node: nodes.Node, depth: int) -> Kind:
    """
    Return the kind of the result of an expression.

    :raises _RefusedError: the expression, or a part of it, is not allowed.
    """
    from jinja2 import nodes

    if depth > _MAX_DEPTH:
        raise _RefusedError(f"more than {_MAX_DEPTH} operations within each other")
    match node:
        case nodes.Const():
            return _constant(node.value)
        case nodes.Neg() if isinstance(node.node, nodes.Const):
            return _number(node)
        case nodes.Name() if node.name in _NAMES:
            return _NAMES[node.name]
        case nodes.Name():
            raise _RefusedError(f"the name `{node.name[:40]}`")
        case nodes.Add() | nodes.Sub():
            return _sum(node, depth)
        case nodes.Concat():
            if Kind.DURATION in [_kind(one, depth + 1) for one in node.nodes]:
                raise _RefusedError("`~` with a duration")
            return Kind.TEXT
        case nodes.Filter():
            return _filtered(node, depth)
        case nodes.Call():
            return _called(node, depth)
        case nodes.Getattr() if node.attr in _PARTS:
            return _of_date(node.node, f".{node.attr}", depth) and Kind.NUMBER
        case nodes.Getattr():
            raise _RefusedError(f"`.{node.attr[:40]}`")
    operator = {"Mul": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**"}.get(type(node).__name__)
    raise _RefusedError(f"`{operator}`" if operator else f"an expression of the kind {type(node).__name__}")


def _constant(value: Any) -> Kind:
    if isinstance(value, str):
        return Kind.TEXT
    if isinstance(value, int) and not isinstance(value, bool) and value <= _MAX_NUMBER:
        return Kind.NUMBER
    raise _RefusedError(f"a constant that is neither a text nor a whole number up to {_MAX_NUMBER:,}")


def _number(node: nodes.Node) -> Kind:
    """Accept a whole number that is written out, with or without a minus."""
    from jinja2 import nodes

    inner = node.node if isinstance(node, nodes.Neg) else node
    if not isinstance(inner, nodes.Const) or _constant(inner.value) is not Kind.NUMBER:
        raise _RefusedError("an argument that should be a whole number and is not")
    return Kind.NUMBER


def _sum(node: nodes.Add | nodes.Sub, depth: int) -> Kind:
    left, right = _kind(node.left, depth + 1), _kind(node.right, depth + 1)
    if (left, right) == (Kind.DATE, Kind.DURATION):
        return Kind.DATE
    if left is right is Kind.NUMBER or (left is right is Kind.TEXT and node.operator == "+"):
        return left
    raise _RefusedError(f"`{node.operator}` between {left} and {right}")


def _of_date(node: nodes.Node, what: str, depth: int) -> Kind:
    """Accept a date only: `format` of a text would be Python's own, which pads to any length."""
    if (kind := _kind(node, depth + 1)) is not Kind.DATE:
        raise _RefusedError(f"`{what}` of {kind}")
    return Kind.DATE


def _filtered(node: nodes.Filter, depth: int) -> Kind:
    wanted = Kind.DATE if node.name in _DATE_FILTERS else Kind.TEXT
    if node.name not in (*_DATE_FILTERS, *_TEXT_FILTERS) or node.node is None:
        raise _RefusedError(f"the filter `{node.name[:40]}`")
    if node.args or node.kwargs or node.dyn_args or node.dyn_kwargs:
        raise _RefusedError(f"an argument of the filter `{node.name}`")
    if (kind := _kind(node.node, depth + 1)) is not wanted:
        raise _RefusedError(f"the filter `{node.name}` of {kind}")
    return Kind.TEXT


def _called(node: nodes.Call, depth: int) -> Kind:
    from jinja2 import nodes

    if not isinstance(node.node, nodes.Getattr) or node.dyn_args or node.dyn_kwargs:
        raise _RefusedError("a call of something else than a method of a date or a macro")
    owner, name = node.node.node, node.node.attr
    if isinstance(owner, nodes.Name) and owner.name == "macros":
        return _macro(name, node, depth)
    if name not in (*_TEXT_METHODS, *_DATE_METHODS):
        raise _RefusedError(f"`.{name[:40]}()`")
    _of_date(owner, f".{name}()", depth)
    given = {one.key: one.value for one in node.kwargs}
    texts = [one.value for one in node.args if isinstance(one, nodes.Const) and isinstance(one.value, str)]
    keys = {"add": _SHIFTS, "subtract": _SHIFTS, "replace": _FIELDS}.get(name, ())
    wanted = 1 if name in ("strftime", "format", "start_of", "end_of", "in_timezone") else 0
    usable = len(node.args) == len(texts) == wanted and set(given) <= set(keys)
    if name in ("start_of", "end_of"):
        usable = usable and texts[0] in _UNITS
    elif name == "in_timezone":
        usable = usable and _ZONE.fullmatch(texts[0]) is not None
    elif name == "strftime":
        usable = usable and _DIRECTIVES.fullmatch(texts[0]) is not None
    if not usable:
        raise _RefusedError(f"`.{name}()` with other arguments than {_arguments(name)}")
    for value in given.values():
        _number(value)
    return Kind.TEXT if name in _TEXT_METHODS else Kind.DATE


def _macro(name: str, node: nodes.Call, depth: int) -> Kind:
    from jinja2 import nodes

    given = {one.key: one.value for one in node.kwargs}
    if name == "timedelta" and len(node.args) <= 1 and set(given) <= set(_SHIFTS[2:]):
        for value in (*node.args, *given.values()):
            _number(value)
        return Kind.DURATION
    if name in _MACROS and node.args and not given and _kind(node.args[0], depth + 1) is Kind.TEXT:
        rest = node.args[1:]
        if name == "ds_add" and len(rest) == 1 and _number(rest[0]):
            return Kind.TEXT
        formats = [one.value for one in rest if isinstance(one, nodes.Const) and isinstance(one.value, str)]
        if name == "ds_format" and len(rest) == len(formats) == 2 and all(map(_DIRECTIVES.fullmatch, formats)):
            return Kind.TEXT
    if name in _MACROS:
        raise _RefusedError(f"`macros.{name}()` with other arguments than {_arguments(name)}")
    raise _RefusedError(f"`macros.{name[:40]}`")


def _arguments(name: str) -> str:
    """Return in words the arguments of a method or a macro."""
    return {
        "add": f"whole numbers of {', '.join(_SHIFTS)}",
        "subtract": f"whole numbers of {', '.join(_SHIFTS)}",
        "replace": f"whole numbers for {', '.join(_FIELDS)}",
        "start_of": f"one of {', '.join(_UNITS)}",
        "end_of": f"one of {', '.join(_UNITS)}",
        "in_timezone": "a time zone such as 'Europe/Rome'",
        "strftime": "one text with plain directives such as '%Y-%m-%d', without a width",
        "format": "one text such as 'YYYY-MM-DD'",
        "timedelta": f"whole numbers of {', '.join(_SHIFTS[2:])}",
        "ds_add": "a text and a whole number of days",
        "ds_format": "a text and two formats such as '%Y-%m-%d', without a width",
    }.get(name, "none")
