"""A proposed unit: the columns that tell people apart, or that every row is another person, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from anon_core.detection.groups import MAX_GROUP_ROWS, ValueGroups
from anon_core.detection.roles.lexicon import is_numbered
from anon_core.detection.roles.personal_codes import PERSONAL_NUMBER, personal_code
from anon_core.detection.roles.propose import ProposedRole
from anon_core.detection.roles.sampling import sample_of
from anon_core.detection.roles.values import are_codes
from anon_core.detection.unit import SpanningColumn, spanning_columns
from anon_core.role import Role
from anon_core.table import Column, Table
from anon_core.table.people import fresh_name, one_spelling, person_column

_KINDS = (
    frozenset({"tax code", "identity number"}),
    frozenset({PERSONAL_NUMBER}),
    frozenset({"e-mail address", "bank account", "payment card number"}),
    frozenset({"record number", "person"}),
    frozenset({"licence plate", "telephone number", "device number", "company", "case number", "land parcel"}),
)
"""Kinds of columns that tell people apart, the best first. People share names and addresses: these are not here."""
_SURE = 3
"""In the first so many kinds, a value belongs to one person."""
_CODES = _SURE
"""The rank of a column of codes whose name says nothing: that of a record number."""
_NUMBERS = len(_KINDS)
"""The rank of other values that repeat, such as plain numbers: they may be amounts."""
_BIRTH = ("date of birth", "year of birth")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposedUnit:
    """
    The columns that tell people apart, and the reason in counts; no column means that every row is another person.

    ``verifiable`` is False if no column could contradict the proposal. ``spanning`` columns contradict it: a run
    refuses until a person confirms that several people share their values.
    """

    columns: tuple[str, ...]
    reason: str
    verifiable: bool
    spanning: tuple[SpanningColumn, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Witness:
    """A column that may tell people apart, how well its kind does that (0 is best), and how its values repeat."""

    name: str
    rank: int
    groups: ValueGroups


def proposed_unit(table: Table, roles: Mapping[str, ProposedRole]) -> ProposedUnit:
    """
    Propose the unit of a table by its proposed roles.

    It is the best of the columns that are not published and have a value in several rows: a tax or identity code, a
    number of a person, an e-mail address or account, then a record number or other code with a value for every 20 rows,
    and plain numbers last. Of equally good ones it is that with the fewest values, which counts the fewest people.
    Without such a column it is names with a date of birth, if most rows share theirs with others. Else every row is
    another person.

    >>> from anon_core.table import from_arrow
    >>> import pyarrow as pa
    >>> table = from_arrow(pa.table({"tax_code": ["a1", "a1", "b2", "c3"], "case_no": ["1", "2", "3", "4"]}))
    >>> codes = ProposedRole(role=Role.IDENTIFIER, reason="", evidence="name", kind="tax code")
    >>> found = proposed_unit(table, {"tax_code": codes, "case_no": codes})
    >>> found.columns, found.reason
    (('tax_code',), 'a tax code: 4 rows, 3 people, 1.3 rows each, at most 2')
    """
    witnesses = [one for column in table.columns if (one := _witness(column, roles[column.name])) is not None]
    repeating = sorted((one for one in witnesses if _repeats(one)), key=lambda one: (one.rank, one.groups.values))
    sure = min((one for one in witnesses if one.rank < _SURE), key=lambda one: one.rank, default=None)
    if sure and not sure.groups.repeat and repeating and repeating[0].rank >= _SURE:
        reason = f"{_kind(roles[sure.name])}: no value stands in two rows"
        return _proposed(table, roles, (sure.name,), reason)
    if repeating:
        best = repeating[0]
        return _proposed(table, roles, (best.name,), f"{_kind(roles[best.name])}: {_counted(best.groups, table.rows)}")
    named, groups = _named_people(table, roles)
    if named and groups and groups.are_small:
        told = f"names, and homonyms are counted as one person: {_counted(groups, table.rows)}"
        return _proposed(table, roles, named, told)
    able = [one.name for one in witnesses if one.rank not in (_CODES, _NUMBERS)] or list(named)
    why = (
        f"no value of {', '.join(able[:3])} stands in several rows"
        if able
        else "not verifiable: no column tells people apart"
    )
    if able == list(named) and able:
        why = f"most rows have {' with '.join(named)} of their own"
    return _proposed(table, roles, (), why, verifiable=bool(able))


def _witness(column: Column, role: ProposedRole) -> _Witness | None:
    if role.role not in (Role.IDENTIFIER, Role.DROP):
        return None
    groups, kind = ValueGroups.of(one_spelling(column)), personal_code(column)
    if not groups.values or groups.rows * 2 < len(column.codes):
        return None
    if kind is None and role.role is Role.DROP:
        return None
    rank = _rank(column, kind or role.kind)
    return None if rank is None else _Witness(name=column.name, rank=rank, groups=groups)


def _rank(column: Column, kind: str | None) -> int | None:
    """Return how well a kind of column tells people apart (0 is best); None for names, addresses and the like."""
    if kind is None:
        return _CODES if are_codes(sample_of(column)) else _NUMBERS
    if kind == "person" and is_numbered(column.name):
        kind = PERSONAL_NUMBER
    return next((rank for rank, kinds in enumerate(_KINDS) if kind in kinds), None)


def _repeats(witness: _Witness) -> bool:
    """Whether a value occurs in several rows; an uncertain kind also needs a value for every 20 rows."""
    groups = witness.groups
    return groups.repeat and (witness.rank < _SURE or groups.values * MAX_GROUP_ROWS >= groups.rows)


def _named_people(table: Table, roles: Mapping[str, ProposedRole]) -> tuple[tuple[str, ...], ValueGroups | None]:
    """Return the columns with names of people, and one with dates of birth; and how their values repeat together."""
    kinds = {name: role.kind for name, role in roles.items()}
    names = [n for n in table.names if kinds[n] == "personal name" and roles[n].role is Role.IDENTIFIER][:2]
    births = [n for n in table.names if kinds[n] in _BIRTH][:1]
    if not names:
        return (), None
    columns = (*names, *births)
    return columns, ValueGroups.of(person_column(table, columns, fresh_name("person", table.names)))


def _proposed(
    table: Table,
    roles: Mapping[str, ProposedRole],
    columns: Sequence[str],
    reason: str,
    *,
    verifiable: bool = True,
) -> ProposedUnit:
    person = person_column(table, columns, fresh_name("person", table.names)) if columns else None
    spanning = spanning_columns(table, {name: role.role for name, role in roles.items()}, person)
    return ProposedUnit(columns=tuple(columns), reason=reason, verifiable=verifiable, spanning=spanning)


def _kind(role: ProposedRole) -> str:
    if role.kind is None:
        return "it repeats as the number of a person does"
    return f"{'an' if role.kind[0] in 'aeiou' else 'a'} {role.kind}"


def _counted(groups: ValueGroups, rows: int) -> str:
    without = f", {rows - groups.rows:,} rows without one" if rows > groups.rows else ""
    most = int(groups.sizes.max())
    each = groups.rows / groups.values
    return f"{groups.rows:,} rows, {groups.values:,} people, {each:.1f} rows each, at most {most:,}{without}"
