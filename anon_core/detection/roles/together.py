"""Proposes roles for all columns of a table, where one column may change the role of another."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import replace

from anon_core import kernels
from anon_core.detection.roles.lexicon import words_of
from anon_core.detection.roles.propose import Evidence, ProposedRole, propose
from anon_core.detection.roles.term import word_list
from anon_core.measures.profile import ColumnProfile
from anon_core.role import Role
from anon_core.table import Column, Table

COMPANY = "company"
_MIN_DISTINCT = 20
"""With so many distinct values, two columns do not match each other by chance."""
_MAX_COMPARED = 50
"""A column is compared with so many identifiers that have as many values: tables may have thousands of columns."""


def propose_all(table: Table, profiles: Sequence[ColumnProfile], *, today: datetime.date) -> tuple[ProposedRole, ...]:
    """
    Propose a role for each column, then compare the columns.

    If the number of a company is an identifier, its name is one too, and the other way round. A column whose values
    match those of an identifier one to one is an identifier too.
    """
    alone = [propose(c, f, table.rows, today=today) for c, f in zip(table.columns, profiles, strict=True)]
    alone = [_as_company(column.name, role, alone) for column, role in zip(table.columns, alone, strict=True)]
    known = [
        column
        for column, role, figures in zip(table.columns, alone, profiles, strict=True)
        if role.role is Role.IDENTIFIER and figures.distinct >= _MIN_DISTINCT
    ]
    return tuple(
        _as_twin(column, figures, role, known)
        for column, figures, role in zip(table.columns, profiles, alone, strict=True)
    )


def names_company(name: str) -> bool:
    """
    Whether a header names a company and nothing about it.

    >>> names_company("Azienda"), names_company("company"), names_company("company_size")
    (True, True, False)
    """
    words, companies = set(words_of(name)), word_list("companies")
    return not words.isdisjoint(companies) and words <= companies | word_list("numbers") | word_list("codes") | {"id"}


def _as_company(name: str, role: ProposedRole, all_roles: Sequence[ProposedRole]) -> ProposedRole:
    if role.evidence is not Evidence.DEFAULT or not names_company(name):
        return role
    if not any(one.role is Role.IDENTIFIER and one.kind in (COMPANY, "tax code") for one in all_roles):
        return role
    reason = "its name says that it is a company, and another column that tells companies apart is an identifier"
    return ProposedRole(role=Role.IDENTIFIER, reason=reason, evidence=Evidence.NAME, kind=COMPANY)


def _as_twin(column: Column, figures: ColumnProfile, role: ProposedRole, known: Sequence[Column]) -> ProposedRole:
    if role.evidence is not Evidence.DEFAULT or figures.distinct < _MIN_DISTINCT:
        return role
    as_many = [one for one in known if len(one.domain) == len(column.domain)][:_MAX_COMPARED]
    if not any(_goes_with(column, one) for one in as_many):
        return role
    reason = "each of its values goes with one value of a column that is an identifier, and the other way round"
    return replace(role, role=Role.IDENTIFIER, reason=reason, evidence=Evidence.STATISTICS)


def _goes_with(column: Column, other: Column) -> bool:
    """Whether two columns with equally many values tell the same rows apart; a gap is a value of its own."""
    values = len(column.domain)
    return len(kernels.distinct([column.codes, other.codes], [values, values], None).weights) == values
