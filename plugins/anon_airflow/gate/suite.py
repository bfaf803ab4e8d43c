"""The suite of a publication: all requirements of the gate, as a JSON document in the format of Great Expectations.

This module does not import Great Expectations, so a DAG file can render a suite when it is parsed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from anon_airflow.gate.required_expectations import expectation_type, required
from anon_airflow.gate.waivers import excused_stock
from anon_core.files.storage import digest
from anon_core.models import Need
from anon_core.policy import KMeans
from anon_core.role import Role

if TYPE_CHECKING:
    from anon_core.models import Requirement
    from anon_core.policy import Waiver
    from anon_core.spec import Publication

FREQUENCIES = "frequencies"
"""Evaluated on the distinct rows of a file and their counts: all of our own expectations."""
ROWS = "rows"
"""Evaluated on the rows of a file, with every cell as text."""
NUMBERS = "numbers"
"""Evaluated on the rows of a file, with columns of numbers as numbers."""

UNMEASURED = ("earlier_releases",)
"""Requirements that a policy can have but no expectation measures yet."""


def render_suite(
    publication: Publication,
    *,
    rows_before: int,
    today: date,
    original: str | None = None,
    unit: str | None = None,
    paired: bool = False,
) -> dict[str, Any]:
    """
    Return the suite of a publication: the same specification, rows, original and day give the same document.

    ``original`` is the sha256 of the table as collected, for checks that compare a release with it, ``unit`` the column
    that tells people apart if they have several rows; ``paired``: a witness says what each row was made from. The suite
    names a hierarchy file as the publication file does, with its sha256. Acceptances and waivers that ended before
    ``today`` are left out; other waivers are in the ``meta`` of the check that they excuse.

    :raises HierarchyError: a hierarchy file that a check needs cannot be read.
    """
    weight = weight_column(publication.published)
    asked = required(publication, rows_before=rows_before, today=today, original=original, unit=unit, paired=paired)
    return {
        "name": publication.dataset,
        "expectations": [
            *(_own_entry(one, weight, unit, one.waiver(publication.privacy, today)) for one in asked),
            *excused_stock(
                [_entry(e.type, e.kwargs, _view(e.type, e.kwargs), e.type) for e in publication.expectations],
                publication.privacy,
                today,
            ),
        ],
        "meta": {"rendered_by": "anonflow"},
    }


def mandatory(
    publication: Publication, today: date, *, unit: str | None = None, paired: bool = False
) -> dict[str, int]:
    """
    Return the expectations that a suite of this publication must have, and how many of each.

    This repeats the rendering on purpose: if one of the two forgets an expectation, the other detects it.
    """
    privacy = publication.privacy
    exact, linked, people = 0, 0, unit is not None
    if publication.quasi_identifiers:
        exact, linked = (1, 0) if privacy.k_means is KMeans.EXACT else (0, 2)
    others = bool(publication.judged_others(today))
    sensitive = len(publication.names_with_role(Role.SENSITIVE))
    wanted = {
        "expect_no_undeclared_column": 1,
        "expect_declared_types": any(column.type for column in publication.columns.values()),
        "expect_no_singletons": exact or (linked and "singletons" in privacy.model_fields_set),
        "expect_k_anonymity": exact,
        "expect_k_anonymity_beside_original": linked,
        "expect_l_diversity": len(privacy.l_diversity),
        "expect_t_closeness": len(privacy.t_closeness),
        "expect_alpha_anonymity": len(privacy.alpha),
        "expect_common_values": people and len({one.column for one in privacy.l_diversity if one.kind == "distinct"}),
        "expect_half_of_class": people and bool(publication.quasi_identifiers),
        "expect_row_sets": people and bool(publication.quasi_identifiers),
        "expect_max_rows_per_person": people and privacy.max_rows_per_person is not None,
        "expect_risk_below": privacy.max_risk is not None,
        "expect_sensitivity_below": privacy.max_sensitivity is not None,
        "expect_joint_classes": others and not linked,
        "expect_joint_beside_original": linked if others else 0,
        "expect_sensitive_alone": bool(sensitive),
        "expect_unique_with_sensitive": bool(sensitive),
        "expect_homogeneity": sensitive if publication.quasi_identifiers else 0,
        "expect_no_published_identifier": bool(publication.as_collected(today)),
        "expect_published_uniqueness": 1,
        "expect_restored_values": paired and bool(publication.quasi_identifiers),
        "expect_personal_patterns": 2,
        "expect_removal": paired and bool(publication.quasi_identifiers),
        "expect_rows_suppressed_at_most": 1,
        "expect_no_freeform_breach": privacy.freeform is not None,
    }
    for key, asked in (privacy.model_extra or {}).items():
        kind = expectation_type(key)
        wanted[kind] = wanted.get(kind, 0) + (len(asked) if isinstance(asked, (list, tuple)) else 1)
    return {kind: int(times) for kind, times in wanted.items() if times}


def unmeasured(publication: Publication) -> list[str]:
    """Return the requirements of a policy that no expectation measures; they must not count as met."""
    privacy = publication.privacy
    return [f"privacy.{name}" for name in UNMEASURED if getattr(privacy, name, None)]


def suite_digest(suite: Mapping[str, Any]) -> str:
    """Return the sha256 of the suite, independent of the order of its keys."""
    text = json.dumps(suite, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return digest(text)


def weight_column(columns: Sequence[str]) -> str:
    """
    Return a name for the weights that no published column has.

    >>> weight_column(["sex", "rows"])
    'rows_'
    """
    name = "rows"
    while name in columns:
        name += "_"
    return name


def _own_entry(requirement: Requirement, weight: str, unit: str | None, waiver: Waiver | None) -> dict[str, Any]:
    model = requirement.model
    kwargs = {**model.arguments(), "weight_column": weight}
    if unit is not None and model.counts_people:
        kwargs["unit_column"] = unit
    beside = bool(model.needs & (Need.ORIGINAL | Need.PAIRING))
    entry = _entry(expectation_type(model.key), kwargs, FREQUENCIES, requirement.name, beside)
    entry["meta"]["model"] = model.key
    entry["meta"]["paired"] = Need.PAIRING in model.needs
    return entry if waiver is None else {**entry, "meta": {**entry["meta"], "waiver": waiver.model_dump(mode="json")}}


def _entry(
    kind: str, kwargs: Mapping[str, Any], runs_on: str, name: str, beside_original: bool = False
) -> dict[str, Any]:
    meta = {"runs_on": runs_on, "name": name, "beside_original": beside_original}
    return {"type": kind, "kwargs": _plain(dict(kwargs)), "meta": meta}


def _plain(value: Any) -> Any:
    """Return YAML data as JSON data: dates become text, tuples lists."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_plain(item) for item in value]
        return sorted(items, key=repr) if isinstance(value, (set, frozenset)) else items
    return value.isoformat() if isinstance(value, (date, datetime)) else value


def _view(kind: str, kwargs: Mapping[str, Any]) -> str:
    """
    Return whether an expectation of Great Expectations sees text or numbers: numbers if an argument is a number.

    Lengths of text, and ``mostly``, are numbers too, but need cells as text.
    """
    if "value_lengths" in kind:
        return ROWS
    compared = [value for name, value in kwargs.items() if name != "mostly"]
    return NUMBERS if "greater_than" in kind or any(map(_has_number, compared)) else ROWS


def _has_number(value: Any) -> bool:
    if isinstance(value, Mapping):
        return any(map(_has_number, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(_has_number, value))
    return isinstance(value, (int, float)) and not isinstance(value, bool)
