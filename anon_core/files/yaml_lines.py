"""YAML 1.2 with line numbers: plain values, and the line on which each of them stands.

PyYAML's own constructors read YAML 1.1, where a column called ``no`` becomes false and ``12:30`` a number, and the last
of two equal keys replaces the first without a warning. Here only ``true`` and ``false`` are booleans, keys are text as
written, dates stay text, and every mistake becomes a :class:`~anon_core.errors.Problem` instead of an exception.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import yaml

from anon_core.errors import Problem

Location = tuple[str | int, ...]

# The C parser is ten times faster, and a scheduler parses every publication file again and again.
_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_MAX_DEPTH = 40
# Aliases of aliases can turn a few lines into billions of values; no real file comes near this.
_MAX_VALUES = 100_000
_WORDS = {word: value for text, value in (("true", True), ("false", False), ("null", None))
          for word in (text, text.capitalize(), text.upper())} | {"": None, "~": None}  # fmt: skip
_INT = re.compile(r"[-+]?[0-9]{1,18}|0o[0-7]{1,18}|0x[0-9a-fA-F]{1,15}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


class _WrittenInt(int):
    """A number that remembers its spelling, because where text is wanted ``007`` is not ``7``."""

    text: str


class _WrittenFloat(float):
    """A number that remembers its spelling, because where text is wanted ``1.10`` is not ``1.1``."""

    text: str


@dataclass(slots=True)
class Document:
    """What a YAML text says (``content``), where it says it (``lines``), and what is wrong with its syntax."""

    content: Any = None
    lines: dict[Location, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def line(self, location: Location) -> int:
        """Return the line of a location, or of the closest thing around it that is written down."""
        while location and location not in self.lines:
            location = location[:-1]
        return self.lines.get(location, 1)


@dataclass(slots=True)
class _Node:
    line: int
    value: Any  # a scalar, a list of nodes, or a list of (key, line of the key, node)
    kind: type


class _UnreadableError(Exception):
    """The text cannot be read any further."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.problem = Problem(line, "", what)


def as_text(value: Any) -> Any:
    """Return a number as it was spelled in the file, and anything else unchanged."""
    return value.text if isinstance(value, _WrittenInt | _WrittenFloat) else value


def plain(value: Any) -> Any:
    """Return the value without the spelling of its numbers, for code that must get ordinary Python values."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, _WrittenInt):
        return int(value)
    return float(value) if isinstance(value, _WrittenFloat) else value


def name_of(location: Location) -> str:
    """Spell a location as people do.

    >>> name_of(("privacy", "alpha", 0, "column"))
    'privacy.alpha[0].column'
    """
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")


def parse_yaml(text: str) -> Document:
    """Read one YAML document; it never raises, a text that cannot be read has one problem and no content."""
    document = Document()
    try:
        root = _Composer(text, document.problems).document()
        document.content = _expand(root, (), document, 0)
    except _UnreadableError as stop:
        return Document(problems=[stop.problem])
    except yaml.MarkedYAMLError as error:
        return Document(problems=[_syntax_problem(error, text)])
    except yaml.reader.ReaderError as error:
        line = text.encode()[: error.position].count(b"\n") + 1
        return Document(problems=[Problem(line, "", f"not valid YAML: {error.reason}")])
    except (yaml.YAMLError, ValueError, OverflowError):
        return Document(problems=[Problem(1, "", "not valid YAML")])
    return document


def _syntax_problem(error: yaml.MarkedYAMLError, text: str) -> Problem:
    mark, context = error.problem_mark or error.context_mark, error.context_mark
    line = mark.line + 1 if mark else 1
    what = " ".join(part for part in (error.context, error.problem) if part)
    if context and context.line + 1 != line:
        what += f" (it starts on line {context.line + 1})"
    around = text.split("\n")[line - 1 : line]
    if around and "\t" in around[0][: len(around[0]) - len(around[0].lstrip())]:
        what += "; indent with spaces, not with tabs"
    return Problem(line, "", f"not valid YAML: {what}")


class _Composer:
    """Builds nodes from parser events, because PyYAML's composer recurses without a limit and keeps no key lines."""

    def __init__(self, text: str, problems: list[Problem]) -> None:
        self.events: Iterator[Any] = yaml.parse(text, Loader=_LOADER)
        self.anchors: dict[str, _Node] = {}
        self.problems = problems

    def document(self) -> _Node:
        next(self.events)
        if not isinstance(next(self.events), yaml.DocumentStartEvent):
            raise _UnreadableError(1, "the file is empty")
        root = self.node(next(self.events), 0)
        next(self.events)
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            raise _UnreadableError(
                after.start_mark.line + 1, "a second YAML document starts here; one file describes one dataset"
            )
        return root

    def node(self, event: Any, depth: int) -> _Node:
        line = event.start_mark.line + 1
        if depth > _MAX_DEPTH:
            raise _UnreadableError(line, f"nested more than {_MAX_DEPTH} levels deep")
        if isinstance(event, yaml.AliasEvent):
            # An anchor is known only once its value is complete, so nothing can contain itself.
            if event.anchor not in self.anchors:
                raise _UnreadableError(line, "an alias has no anchor before it")
            return self.anchors[event.anchor]
        if event.tag not in (None, "!", "tag:yaml.org,2002:str"):
            self.problems.append(Problem(line, "", "a tag, a word that begins with `!`, is not supported; remove it"))
        if isinstance(event, yaml.ScalarEvent):
            node = _Node(line, _scalar(event.value) if event.implicit[0] else event.value, str)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = _Node(line, [], list)
            while not isinstance(item := next(self.events), yaml.SequenceEndEvent):
                node.value.append(self.node(item, depth + 1))
        else:
            node = _Node(line, [], dict)
            while not isinstance(key := next(self.events), yaml.MappingEndEvent):
                self.entry(node, key, depth)
        if event.anchor:
            self.anchors[event.anchor] = node
        return node

    def entry(self, mapping: _Node, key: Any, depth: int) -> None:
        line = key.start_mark.line + 1
        key_node = self.node(key, depth + 1)
        value = self.node(next(self.events), depth + 1)
        if not isinstance(key, yaml.ScalarEvent):
            self.problems.append(Problem(line, "", f"a key should be text, not a {_kind(key_node)}"))
        elif key.value == "<<" and key.implicit[0]:
            self.problems.append(Problem(line, "", "merging with `<<` is not supported; write the keys out"))
        else:
            mapping.value.append((key.value, line, value))


def _kind(node: _Node) -> str:
    if node.kind is str:
        return "reference"
    return "list" if node.kind is list else "mapping"


def _scalar(text: str) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if _INT.fullmatch(text):
        number: Any = _WrittenInt(text, 0) if text[:2] in ("0o", "0x") else _WrittenInt(text)
    elif _FLOAT.fullmatch(text) and len(text) < 100:
        number = _WrittenFloat(text.replace(".", "") if "n" in text.lower() else text)  # Python's inf has no dot
    else:
        return text
    number.text = text
    return number


def _expand(node: _Node, location: Location, document: Document, line: int) -> Any:
    """Turn nodes into fresh plain values (an alias becomes a copy) and write down their lines."""
    document.lines[location] = line or node.line
    if len(document.lines) > _MAX_VALUES:
        raise _UnreadableError(node.line, f"the file has more than {_MAX_VALUES} values, aliases written out")
    if len(location) > _MAX_DEPTH:
        raise _UnreadableError(node.line, f"nested more than {_MAX_DEPTH} levels deep")
    if node.kind is list:
        return [_expand(item, (*location, index), document, 0) for index, item in enumerate(node.value)]
    if node.kind is str:
        return node.value
    content: dict[str, Any] = {}
    for key, key_line, value in node.value:
        here = (*location, key)
        if key in content:
            what = f"the key `{key}` is written twice, first on line {document.lines[here]}"
            document.problems.append(Problem(key_line, name_of(here), what))
        else:
            content[key] = _expand(value, here, document, key_line)
    return content
