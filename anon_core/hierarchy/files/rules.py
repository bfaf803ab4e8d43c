"""
Hierarchies as rules, ``{a, b} => c`` (bampoulidis2019): how they are written.

One rule per line; ``{a, b => c}``, the paper's other spelling, means the same. A value or label with a comma, a brace
or ``=>`` in it stands in double quotes. An interval on the left takes in numbers: ``[18, 30) => young adults``; without
an end it goes on for ever: ``[65, )``. Lines that begin with ``#`` are comments. ``level 2`` or a line of dashes begins
the next level; ``level 2: provinces`` also gives it a name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from anon_core.files.name_rules import fault_of_name
from anon_core.hierarchy.files.texts import LINE_END
from anon_core.hierarchy.ranges import RANGE, Range, range_in

Item = str | Range

_LEVEL = re.compile(r"#?\s*level\s+([0-9]{1,9})\s*(?::(.*))?", re.IGNORECASE)
_DASHES = re.compile(r"--+")
_QUOTED = re.compile(r'((?:^|[{,]|=>)\s*)"((?:[^"]|"")*)"')
_QUOTED_ITEM = re.compile(r'\s*"((?:[^"]|"")*)"\s*(?=,|$)')
_RANGE_ITEM = re.compile(rf"\s*{RANGE.pattern}\s*(?=,|$)")
_BARE_ITEM = re.compile(r"[^,]*")
_IN_QUOTES = re.compile(r'"(?:[^"]|"")*"')
_ARROW = re.compile(r"\s=>(?:\s|$)")
_SHAPE = "write {a, b} => c"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What becomes what: ``items`` are values, labels of the level below, or intervals."""

    line: int
    level: int
    items: tuple[Item, ...]
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """
    The rules of a file in their order, and the names that levels were given.

    ``marked``: some line begins a level, so the levels of the rules are as they stand. ``problems`` tells what is not a
    rule, by line.
    """

    rules: list[Rule]
    titles: dict[int, str]
    marked: bool
    problems: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """What stands left inside the braces, and the label on the right."""

    left: str
    label: str


def are_rules(text: str) -> bool:
    """
    Whether a file holds rules rather than lines, by its first line that is neither blank nor a comment nor a level.

    So it does if every line has an arrow between blanks and outside quotes: these are rules that lack their braces.

    >>> are_rules("# level 1\\n{a, b} => c"), are_rules("a;=>b;*"), are_rules('"{a} => b";c')
    (True, False, False)
    >>> are_rules("a => c\\nb => c"), are_rules("a => c\\nb;c"), are_rules('a;"b => c"')
    (True, False, False)
    """
    lines = (line.strip() for line in LINE_END.split(text))
    content = (line for line in lines if line and not _is_marking(line) and not line.startswith("#"))
    first = next(content, "")
    if is_like_a_rule(first) or "=>" not in first:
        return is_like_a_rule(first)
    others = list(content)
    if not first.startswith('"') and any(map(is_like_a_rule, others)):
        return True
    return all(_ARROW.search(_IN_QUOTES.sub('""', line)) for line in (first, *others))


def is_like_a_rule(line: str) -> bool:
    """Whether a line begins and goes on like a rule; a cell that does so by chance stands in quotes."""
    return line.lstrip()[:1] in ("{", "[", "(") and "=>" in line


def _is_marking(line: str) -> bool:
    return bool(_LEVEL.fullmatch(line) or _DASHES.fullmatch(line))


def parse_rules(text: str) -> Rules:
    """
    Read the rules of a file, and everything that is not one.

    >>> parse_rules("{a, b} => c\\nlevel 2\\n[18, 30) => young").problems
    []
    >>> parse_rules('{a, } => c\\n{a => }\\na;b\\nlevel 4').problems[0]
    'line 1 has nothing between two commas'
    """
    rules: list[Rule] = []
    titles: dict[int, str] = {}
    problems: list[str] = []
    level, used, marked = 1, False, False
    for number, line in enumerate(map(str.strip, LINE_END.split(text)), 1):
        if marking := _LEVEL.fullmatch(line):
            # A level may be marked twice before its first rule: by dashes and by its number.
            level, used, marked = level + used, False, True
            if int(marking[1]) != level:
                problems.append(f"line {number} begins level {int(marking[1])} where level {level} should begin")
            if title := (marking[2] or "").strip():
                titles[level] = title
                if fault := fault_of_name(title):  # It stands on the release's page.
                    problems.append(f"line {number} gives a level a name that {fault}")
        elif _DASHES.fullmatch(line):
            level, used, marked = level + used, False, True
        elif line and not line.startswith("#"):
            used = True
            if rule := _rule(line, number, level, problems):
                rules.append(rule)
    return Rules(rules=rules, titles=titles, marked=marked, problems=problems)


def _rule(line: str, number: int, level: int, problems: list[str]) -> Rule | None:
    """Return the rule on a line; None, and the reasons among the problems, if there is none."""
    sides = _sides(line, number, problems)
    if sides is None:
        return None
    items = list(_items(sides.left)) if sides.left.strip() else []
    wrong = []
    if not items:
        wrong.append(f"line {number} has nothing on the left side: {_SHAPE}")
    if not sides.label:
        wrong.append(f"line {number} has nothing on the right side: {_SHAPE}")
    if None in items:
        wrong.append(f"line {number} has nothing between two commas")
    if any(isinstance(item, Range) and item.is_empty for item in items):
        wrong.append(f"line {number} has an interval that covers nothing")
    problems += wrong
    known = tuple(item for item in items if item is not None)
    return None if wrong else Rule(line=number, level=level, items=known, label=sides.label)


def _sides(line: str, number: int, problems: list[str]) -> _Sides | None:
    """Return the sides of a rule; None, and the reason among the problems, if they cannot be told."""
    # Inside quotes no sign means anything, so they are blanked out for finding the signs.
    bare = _QUOTED.sub(lambda match: match[1] + '"' + "_" * len(match[2]) + '"', line)
    at = bare.find("=>")
    if at < 0:
        both = "; a file has rules or lines such as value;label, not both" if ";" in line else ""
        problems.append(f"line {number} is no rule: {_SHAPE}{both}")
        return None
    left, right = line[:at].strip(), line[at + 2 :].strip()
    low, high = bare[:at].strip(), bare[at + 2 :].strip()
    if low.startswith("{") and low.endswith("}"):
        left, low = left[1:-1], low[1:-1]
    elif low.startswith("{") and high.endswith("}"):
        left, low, right, high = left[1:], low[1:], right[:-1].strip(), high[:-1]
    elif not range_in(left):
        what = "no rule" if low.startswith(("{", "[", "(")) else "a rule without braces"
        problems.append(f"line {number} is {what}: {_SHAPE}, or [18, 30) => c for numbers")
        return None
    if re.search("[{}]|=>", low + high):
        problems.append(f"line {number} has a brace or a second => inside a value: put the value in double quotes")
        return None
    quoted = _QUOTED_ITEM.fullmatch(right)
    return _Sides(left=left, label=quoted[1].replace('""', '"') if quoted else right)


def _items(text: str) -> Iterator[Item | None]:
    """Return what stands between commas; None where nothing does. The empty text is written as two quotes."""
    at = 0
    while at <= len(text):
        if match := _QUOTED_ITEM.match(text, at):
            yield match[1].replace('""', '"')
        elif match := _RANGE_ITEM.match(text, at):
            yield range_in(match[0]) or match[0].strip()
        else:
            match = _BARE_ITEM.match(text, at)
            yield (match[0].strip() if match else "") or None
        at = (match.end() if match else at) + 1
