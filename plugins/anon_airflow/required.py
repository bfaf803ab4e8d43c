"""What a publication requires of its release, as expectations: the policy translated, check by check.

Nothing here imports Great Expectations, so a DAG may render a suite while it is parsed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from anon_core.check_names import names_of_policy
from anon_core.policy import IDENTIFYING, Distance, KMeans

if TYPE_CHECKING:
    from anon_core.policy import Freeform
    from anon_core.spec import Publication

NOTHING = "*"
"""What a cell says that says nothing any more, unless its hierarchy has another word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Required:
    """
    One expectation: its registered type, its arguments, and the name that its check has in verdicts and reports.

    ``beside_original`` says that it needs the table as collected, which is gone once the gate has ended.
    """

    type: str
    name: str
    kwargs: Mapping[str, Any]
    beside_original: bool = False


def required(publication: Publication, *, rows_before: int, today: date, original: str | None) -> Iterator[Required]:
    """
    Yield what a publication requires.

    A dataset without quasi-identifiers has no k to hold, so published uniqueness is checked over all of its columns.
    Acceptances that ended before ``today`` are left out. ``original`` is the sha256 of the table as collected.

    :raises HierarchyError: a hierarchy file that a check needs cannot be read.
    """
    published = list(publication.published)
    yield Required(type="expect_no_undeclared_column", name="no_undeclared_column", kwargs={"columns": published})
    yield from _types(publication)
    if publication.quasi_identifiers:
        yield from _anonymity(publication, original)
    yield from _classes(publication)
    yield from _uniqueness(publication, today)
    yield _suppression(publication, rows_before)
    if publication.privacy.freeform:
        yield _freeform(publication, publication.privacy.freeform)


def _types(publication: Publication) -> Iterator[Required]:
    columns = publication.effective_columns
    types = {name: kind.value for name in publication.published if (kind := columns[name].type) is not None}
    if types:
        kwargs = {"columns": list(types), "types": list(types.values())}
        yield Required(type="expect_declared_types", name="declared_types", kwargs=kwargs)


def _anonymity(publication: Publication, original: str | None) -> Iterator[Required]:
    """
    Yield the k that the policy means, and singletons.

    Where link k is meant, rows alone in their class are no fault by themselves: they are checked only if the policy
    names a number.
    """
    privacy, quasi = publication.privacy, list(publication.quasi_identifiers)
    exact = privacy.k_means is KMeans.EXACT
    if exact or "singletons" in privacy.model_fields_set:
        kwargs = {"columns": quasi, "max_singletons": privacy.singletons}
        yield Required(type="expect_no_singletons", name="no_singletons", kwargs=kwargs)
    if exact:
        yield Required(type="expect_k_anonymity", name="k_anonymity", kwargs={"columns": quasi, "k": privacy.k})
    else:
        hierarchies = {name: _hierarchy(publication, name) for name in quasi}
        for means in ("link", "source"):
            yield Required(
                type="expect_k_anonymity_beside_original",
                name=f"{means}_k",
                kwargs={
                    "columns": quasi,
                    "k": privacy.k,
                    "means": means,
                    "original": f"sha256:{original}",
                    "hierarchies": hierarchies,
                },
                beside_original=True,
            )


def _hierarchy(publication: Publication, name: str) -> dict[str, Any]:
    """Return a hierarchy as a suite has it, by the words of the file; a hierarchy file with its sha256."""
    column = publication.effective_columns[name]
    if column.hierarchy is None:
        written: dict[str, Any] = {"root": NOTHING}
    else:
        written = column.hierarchy.model_dump(mode="json", exclude_defaults=True)
    if "file" in written:
        written["sha256"] = publication.file_digest(f"columns.{name}.hierarchy.file", written["file"])
    if column.withheld is not None:
        written["withheld"] = column.withheld
    singletons = publication.recode.singletons
    if singletons and singletons.years and singletons.years.column == name:
        written["groups"] = True
    return written


def _classes(publication: Publication) -> Iterator[Required]:
    """Yield what the policy asks of every class; without quasi-identifiers all rows are one."""
    privacy, quasi = publication.privacy, list(publication.quasi_identifiers)
    names = names_of_policy(privacy)
    if privacy.max_risk is not None:
        kwargs = {"columns": quasi, "max_risk": privacy.max_risk}
        yield Required(type="expect_risk_below", name="max_risk", kwargs=kwargs)
    for diverse in privacy.l_diversity:
        kwargs = {"columns": quasi, "sensitive": diverse.column}
        kwargs |= {
            "kind": diverse.kind.value,
            "l": float(diverse.l),
            "c": None if diverse.c is None else float(diverse.c),
        }
        yield Required(type="expect_l_diversity", name=names[diverse], kwargs=kwargs)
    for close in privacy.t_closeness:
        climbed = _hierarchy(publication, close.column) if close.distance is Distance.HIERARCHICAL else None
        kwargs = {"columns": quasi, "sensitive": close.column}
        kwargs |= {"t": close.t, "distance": close.distance.value, "hierarchy": climbed}
        yield Required(type="expect_t_closeness", name=names[close], kwargs=kwargs)
    for rare in privacy.alpha:
        kwargs = {"columns": quasi, "sensitive": rare.column, "alpha": rare.alpha, "k": privacy.k}
        yield Required(type="expect_alpha_anonymity", name=names[rare], kwargs=kwargs)


def _uniqueness(publication: Publication, today: date) -> Iterator[Required]:
    """Yield that no column names people and no set of columns singles them out, beyond what somebody answers for."""
    privacy, detect = publication.privacy, publication.detect
    uniqueness = privacy.published_uniqueness
    if named := publication.as_collected(today):
        kwargs: dict[str, Any] = {"columns": list(named), "share": IDENTIFYING}
        yield Required(type="expect_no_published_identifier", name="no_published_identifier", kwargs=kwargs)
    linked = privacy.k_means is KMeans.LINK and bool(publication.quasi_identifiers)
    kwargs = {
        "columns": list(publication.searched),
        "max_size": uniqueness.max_size,
        "max_share": uniqueness.max_share,
        "accepted": sorted(sorted(a.columns) for a in uniqueness.accept if a.until >= today),
        "together": [list(columns) for columns in publication.searched_together],
        "protected": [list(publication.quasi_identifiers)] if linked else [],
    }
    yield Required(type="expect_published_uniqueness", name="published_uniqueness", kwargs=kwargs)
    if privacy.max_sensitivity is not None:
        kwargs = {
            "columns": list(publication.published),
            "limit": privacy.max_sensitivity,
            "max_size": detect.max_size,
            "approximate": detect.approximate or 0.0,
            "ignore_duplicates": detect.ignore_duplicates,
            "reveal": {name: detect.probability_of(name) for name in publication.published},
        }
        yield Required(type="expect_sensitivity_below", name="max_sensitivity", kwargs=kwargs)


def _suppression(publication: Publication, rows_before: int) -> Required:
    quasi = list(publication.quasi_identifiers)
    kwargs = {
        "columns": quasi,
        "roots": [_roots_of(publication, name) for name in quasi],
        "rows_before": rows_before,
        "limit": publication.privacy.suppression_limit,
    }
    return Required(type="expect_rows_suppressed_at_most", name="rows_suppressed_at_most", kwargs=kwargs)


def _freeform(publication: Publication, policy: Freeform) -> Required:
    """Return what freeform attacks are measured by: all columns that are generalised, and what is guarded in them."""
    quasi = publication.quasi_identifiers
    columns = [name for name in publication.published if name in quasi or name in policy.columns]
    kwargs = {
        "columns": columns,
        "hierarchies": {name: _hierarchy(publication, name) for name in columns},
        "guards": {name: guard.model_dump(mode="json") for name, guard in policy.columns.items()},
        "sigma_o": policy.sigma_o,
        "sigma_t": policy.sigma_t,
    }
    return Required(type="expect_no_freeform_breach", name="no_freeform_breach", kwargs=kwargs)


def _roots_of(publication: Publication, name: str) -> list[str]:
    """
    Return what a cell of a column says when it says nothing any more: the label of the root, and of levels below it on
    which a hierarchy file has one label for everything.
    """
    hierarchy = publication.effective_columns[name].hierarchy
    if hierarchy is None or hierarchy.file is None:
        return [(hierarchy.root if hierarchy else None) or NOTHING]
    from anon_core.hierarchy.files import read_levels

    return [NOTHING, *read_levels(publication.resolve(hierarchy.file)).saying_nothing]
