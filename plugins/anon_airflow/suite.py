"""The suite of a publication: what the gate requires, as a plain JSON document in Great Expectations' own format.

Nothing here imports Great Expectations, so a DAG may render a suite while it is parsed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from anon_airflow.waiving import excused, excused_stock
from anon_core.policy import IDENTIFYING

if TYPE_CHECKING:
    from anon_core.policy import Freeform
    from anon_core.spec import Publication

FREQUENCIES = "frequencies"
"""Runs on the distinct rows of a file and how often each occurs: all of our own expectations."""
ROWS = "rows"
"""Runs on the rows of a file, every cell as text."""
NUMBERS = "numbers"
"""Runs on the rows of a file, columns that hold nothing but numbers as numbers."""

UNMEASURED = ("l_diversity", "t_closeness", "alpha", "max_sensitivity", "max_risk", "earlier_releases")
"""What a policy can require and this suite has no expectation for yet; building one ends with deleting its name."""


def render_suite(publication: Publication, *, rows_before: int, today: date) -> dict[str, Any]:
    """
    Return the suite of a publication: same specification, rows and day, same document.

    A dataset without quasi-identifiers has no k to hold, so its suite checks published uniqueness only, over all
    columns. Acceptances and waivers that ended before ``today`` are left out; other waivers stand in the ``meta`` of
    what they excuse. A hierarchy file stands in it as the publication file has it, with its sha256.

    :raises HierarchyError: a hierarchy file that a check needs cannot be read.
    """
    weight = weight_column(publication.published)
    privacy = publication.privacy
    quasi = list(publication.quasi_identifiers)
    uniqueness = privacy.published_uniqueness
    ours: list[tuple[str, dict[str, Any]]] = [
        ("expect_no_undeclared_column", {"columns": list(publication.published)}),
    ]
    if quasi:
        ours += [
            ("expect_no_singletons", {"columns": quasi, "max_singletons": privacy.singletons}),
            ("expect_k_anonymity", {"columns": quasi, "k": privacy.k}),
        ]
    if named := publication.believed(today):
        ours.append(("expect_no_published_identifier", {"columns": list(named), "share": IDENTIFYING}))
    ours += [
        (
            "expect_published_uniqueness",
            {
                "columns": list(publication.searched),
                "max_size": uniqueness.max_size,
                "max_share": uniqueness.max_share,
                "accepted": sorted(sorted(a.columns) for a in uniqueness.accept if a.until >= today),
                "together": [list(columns) for columns in publication.searched_together],
            },
        ),
        (
            "expect_rows_suppressed_at_most",
            {
                "columns": quasi,
                "roots": [_root_of(publication, name) for name in quasi],
                "rows_before": rows_before,
                "limit": privacy.suppression_limit,
            },
        ),
    ]
    if privacy.freeform:
        ours.append(("expect_no_freeform_breach", _freeform(publication, privacy.freeform)))
    return {
        "name": publication.dataset,
        "expectations": [
            *excused(
                [_entry(k, {**kwargs, "weight_column": weight}, FREQUENCIES) for k, kwargs in ours], privacy, today
            ),
            *excused_stock(
                [_entry(e.type, e.kwargs, _view(e.type, e.kwargs)) for e in publication.expectations], privacy, today
            ),
        ],
        "meta": {"rendered_by": "anonflow"},
    }


def _freeform(publication: Publication, policy: Freeform) -> dict[str, Any]:
    """Return what freeform attacks are measured by: all columns that are generalised, and what is guarded in them."""
    quasi = publication.quasi_identifiers
    columns = [name for name in publication.published if name in quasi or name in policy.columns]
    hierarchies = {}
    for name in columns:
        hierarchy = publication.effective_columns[name].hierarchy
        if hierarchy is not None and hierarchy.file is not None:
            digest = publication.file_digest(f"columns.{name}.hierarchy.file", hierarchy.file)
            hierarchies[name] = {"file": hierarchy.file, "sha256": digest}
        elif hierarchy is None or hierarchy.root is not None:
            hierarchies[name] = {"root": _root_of(publication, name)}
        else:  # The specification refuses it, and so does the metric.
            hierarchies[name] = {str(hierarchy.kind): "made from values"}
    return {
        "columns": columns,
        "hierarchies": hierarchies,
        "guards": {name: guard.model_dump(mode="json") for name, guard in policy.columns.items()},
        "sigma_o": policy.sigma_o,
        "sigma_t": policy.sigma_t,
    }


def _root_of(publication: Publication, name: str) -> str:
    """Return what a cell of a column says when it says nothing any more."""
    hierarchy = publication.effective_columns[name].hierarchy
    return (hierarchy.root if hierarchy else None) or "*"


def mandatory(publication: Publication, today: date) -> list[str]:
    """Return the expectations without which a suite of this publication is not one."""
    over_quasi = ["expect_no_singletons", "expect_k_anonymity"] if publication.quasi_identifiers else []
    return [
        "expect_no_undeclared_column",
        *over_quasi,
        *(["expect_no_published_identifier"] if publication.believed(today) else []),
        "expect_published_uniqueness",
        "expect_rows_suppressed_at_most",
        *(["expect_no_freeform_breach"] if publication.privacy.freeform else []),
    ]


def unmeasured(publication: Publication) -> list[str]:
    """Return the requirements of a policy that no expectation here measures; they must not pass for want of one."""
    privacy = publication.privacy
    found = [f"privacy.{name}" for name in UNMEASURED if getattr(privacy, name, None)]
    return found + (["unit"] if getattr(publication, "unit", None) else [])


def suite_digest(suite: Mapping[str, Any]) -> str:
    """Return the sha256 of the suite, whatever the order of its keys."""
    text = json.dumps(suite, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def weight_column(columns: Sequence[str]) -> str:
    """
    Return a name for the weights that is no published column's.

    >>> weight_column(["sex", "rows"])
    'rows_'
    """
    name = "rows"
    while name in columns:
        name += "_"
    return name


def _entry(kind: str, kwargs: Mapping[str, Any], runs_on: str) -> dict[str, Any]:
    return {"type": kind, "kwargs": _plain(dict(kwargs)), "meta": {"runs_on": runs_on}}


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
    Tell whether a stock expectation sees text or numbers: whoever compares with a number wants numbers.

    Lengths are numbers about text, and ``mostly`` is about rows; both leave cells as text.
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
