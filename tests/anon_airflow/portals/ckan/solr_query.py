"""Lucene's query syntax, as much of it as CKAN writes, read into a function that says whether a document fits."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from tests.anon_airflow.portals.ckan.solr_schema import BadQueryError, Document, Schema

Fits = Callable[[Document], bool]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<open>\()
    | (?P<close>\))
    | (?P<operator>AND\b|OR\b|NOT\b|&&|\|\|)
    | (?P<sign>[+\-!])
    | (?P<field>(?:\*|[A-Za-z_][\w.\-]*))[ ]?:
    | (?P<range>[\[{][^\]}]*?\sTO\s[^\]}]*[\]}])
    | (?P<phrase>"(?:\\.|[^"\\])*")
    | (?P<term>(?:\\.|[^\s()":+!\\\[\]{}]|(?<=\S)[+\-!:])+)
    )(?:\^[\d.]+)?(?:~[\d.]*)?""",
    re.VERBOSE,
)
_RANGE = re.compile(r"[\[{]\s*(\S+)\s+TO\s+(\S+)\s*[\]}]")
_NOW = re.compile(r"NOW(?:/\w+)?((?:[+-]\d+(?:DAY|HOUR|MINUTE|MONTH|YEAR)S?)*)(?:/\w+)?")
_UNITS = {
    "DAY": timedelta(days=1),
    "HOUR": timedelta(hours=1),
    "MINUTE": timedelta(minutes=1),
    "MONTH": timedelta(days=30),
    "YEAR": timedelta(days=365),
}


def words(value: object) -> list[str]:
    """The words of a text, in lower case; no stemming."""
    return re.findall(r"\w+", str(value).lower())


@dataclass
class _Clauses:
    """The clauses of a group: how each of them counts."""

    must: list[tuple[Fits, bool]] = field(default_factory=list)
    should: list[Fits] = field(default_factory=list)
    must_not: list[Fits] = field(default_factory=list)

    def fits(self, document: Document) -> bool:
        if any(one(document) for one in self.must_not) or not all(one(document) for one, _ in self.must):
            return False
        return bool(self.must) or not self.should or any(one(document) for one in self.should)


class Query:
    """A query that is read from left to right, once."""

    def __init__(self, text: str, schema: Schema, default_field: str = "text", operator: str = "AND") -> None:
        self._schema, self._default, self._or = schema, default_field, operator == "OR"
        self._tokens: list[tuple[str, str]] = []
        place = 0
        while text[place:].strip():
            found = _TOKEN.match(text, place)
            if not found or found.end() == place or not found.lastgroup:
                raise BadQueryError(f"cannot read {text[place:]!r}")
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()

    def read(self) -> Fits:
        fits = self._group(self._default)
        if self._tokens:
            raise BadQueryError(f"nothing should follow at {self._tokens[0][1]!r}")
        return fits

    def _next(self) -> tuple[str, str]:
        return self._tokens[0] if self._tokens else ("", "")

    def _group(self, name: str) -> Fits:
        clauses = _Clauses()
        while self._next()[0] not in ("", "close"):
            either, negated, required = self._signs(clauses)
            fits = self._clause(name)
            if negated:
                clauses.must_not.append(fits)
            elif either or (self._or and not required):
                clauses.should.append(fits)
            else:
                clauses.must.append((fits, required))
        return clauses.fits

    def _signs(self, clauses: _Clauses) -> tuple[bool, bool, bool]:
        """Read what stands before a clause: whether it is one of several, negated, required."""
        either = negated = required = False
        while self._next()[0] in ("operator", "sign"):
            _, sign = self._tokens.pop(0)
            if sign in ("OR", "||"):
                either = True
                if clauses.must and not clauses.must[-1][1]:
                    clauses.should.append(clauses.must.pop()[0])
            negated = negated or sign in ("NOT", "-", "!")
            required = required or sign == "+"
        return either, negated, required

    def _clause(self, name: str) -> Fits:
        if self._next()[0] == "field":
            name = self._tokens.pop(0)[1]
        kind, text = self._tokens.pop(0) if self._tokens else ("", "")
        if kind == "open":
            fits = self._group(name)
            if self._next()[0] != "close":
                raise BadQueryError("a bracket is not closed")
            self._tokens.pop(0)
            return fits
        if kind not in ("phrase", "term", "range"):
            raise BadQueryError(f"{text!r} stands where a word should be")
        if name == "*":
            if text != "*":
                raise BadQueryError("only *:* is known of field *")
            return lambda document: True
        return self._range(name, text) if kind == "range" else self._word(name, kind, text)

    def _range(self, name: str, text: str) -> Fits:
        found = _RANGE.match(text)
        if not found:
            raise BadQueryError(f"{text!r} is no range")
        low, high = _moment(found[1]), _moment(found[2])

        def inside(value: str) -> bool:
            above = low == "*" or value > low or (text[0] == "[" and value == low)
            return above and (high == "*" or value < high or (text[-1] == "]" and value == high))

        return lambda document: any(inside(str(value)) for value in self._schema.values(document, name))

    def _word(self, name: str, kind: str, text: str) -> Fits:
        schema, searched = self._schema, self._schema.is_text(name)
        plain = re.sub(r"\\(.)", r"\1", text[1:-1] if kind == "phrase" else text)
        if kind == "term" and ("*" in plain or "?" in plain):
            glob = re.escape(plain.lower() if searched else plain).replace(r"\*", ".*").replace(r"\?", ".")
            pattern = re.compile(glob)
            parts = words if searched else (lambda value: [str(value)])
            return lambda document: any(
                pattern.fullmatch(part) for value in schema.values(document, name) for part in parts(value)
            )
        if searched:
            wanted = f" {' '.join(words(plain))} "
            return lambda document: any(
                wanted in f" {' '.join(words(value))} " for value in schema.values(document, name)
            )
        return lambda document: any(str(value) == plain for value in schema.values(document, name))


def _moment(text: str) -> str:
    """A bound of a range; ``NOW-3DAYS`` and the like become a date."""
    found = _NOW.fullmatch(text)
    if not found:
        return text.strip('"')
    moment = datetime.now(UTC).replace(tzinfo=None)
    for number, unit in re.findall(r"([+-]\d+)(DAY|HOUR|MINUTE|MONTH|YEAR)", found[1]):
        moment += int(number) * _UNITS[unit]
    return moment.isoformat(timespec="milliseconds") + "Z"
