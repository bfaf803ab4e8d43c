"""A table held against everything that a publication file requires, beside its original where there is one."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from anon_core.api.measure import Judged, how_many_hold
from anon_core.api.recode import Recoded
from anon_core.api.sources import Names, TableLike, names_of, rows_of
from anon_core.api.specs import Spec, publication_of, reading_of
from anon_core.errors import InvalidInputError
from anon_core.models import Measurement
from anon_core.registry import ANY_ENGINE
from anon_core.report.assessment import Assessment
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import Judgement, Original, judge
from anon_core.report.table_recoding import judge_released
from anon_core.spec import PartialPublication
from anon_core.table import ReadOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked(Judged):
    """
    What was required of a table and what holds, and where the table stands beside that (``assessment``).

    ``not_checked`` is what the publication file requires and this call could not check. ``unit`` tells people apart;
    without it rows were counted.
    """

    rows: int
    unit: tuple[str, ...]
    measurements: tuple[Measurement, ...]
    not_checked: tuple[str, ...]
    assessment: Assessment = field(repr=False)

    @property
    def heading(self) -> str:
        rest = f"; not checked: {', '.join(self.not_checked)}" if self.not_checked else ""
        return f"{how_many_hold(self.measurements)}; counted: {self.rows:,} {self.counted_whom}{rest}"


def check(
    source: TableLike | Recoded,
    spec: Spec | None = None,
    *,
    quasi: Names | None = None,
    sensitive: Names | None = None,
    k: int | None = None,
    unit: Names | None = None,
    original: TableLike | None = None,
    same_order: bool = False,
    key: str | None = None,
    sampling_fraction: float | None = None,
) -> Checked:
    """
    Hold a table against everything that a publication file requires, or against k over the columns named here.

    What is named here counts in place of what the file says. A recoding knows its original and whose its rows are: it
    is checked with both. A released table alone does not, so its rows are counted unless it has the columns of the
    ``unit``. Beside an ``original`` it is also measured what is left of it; ``same_order`` or a ``key`` column says
    which row became which. ``sampling_fraction`` is the share of the population that the table has.

    :raises UnknownColumnError: a column is not in the table.
    :raises InvalidInputError: there is no quasi-identifier, the original does not fit, or an argument would have no
        effect.
    :raises SpecError: the publication file cannot be used.
    :raises TableError: a table cannot be read.
    """
    _check_arguments(source, original, k, sampling_fraction, key, same_order=same_order)
    publication = _publication(source, spec)
    criteria = Criteria.of(
        publication,
        quasi_identifiers=names_of(quasi),
        sensitive=names_of(sensitive),
        k=k,
        unit=names_of(unit),
        sampling_fraction=sampling_fraction,
    )
    today = datetime.now(UTC).date()
    if isinstance(source, Recoded):
        if quasi is not None or sensitive is not None or unit is not None or sampling_fraction is not None:
            raise InvalidInputError(
                "a recoding is checked by its publication; quasi=, sensitive=, unit= and sampling_fraction= are for "
                "tables: leave them out, or check its .table"
            )
        made = replace(source.made.recoded, publication=publication or source.made.recoded.publication)
        return _checked(judge_released(made, criteria, source.made.rows, today=today), criteria, publication)
    rows = rows_of(
        source,
        ReadOptions(encoding="auto", quoted_missing=False),
        engine=publication.engine if publication else ANY_ENGINE,
    )
    before = None
    if original is not None:
        before = Original(table=rows_of(original, reading_of(publication)).table, same_order=same_order, key=key)
    judged = judge(rows.table, criteria, before, engine=rows.engine, today=today)
    return _checked(judged, criteria, publication, with_original=original is not None)


def not_checked(publication: PartialPublication | None, *, with_original: bool) -> list[str]:
    """Return what a publication file requires and a check does not measure."""
    if publication is None:
        return []
    found = ["expectations (a run checks them)"] if publication.expectations else []
    return found + ([] if with_original else ["rows_suppressed_at_most (needs original=)"])


def _checked(
    judged: Judgement, criteria: Criteria, publication: PartialPublication | None, *, with_original: bool = True
) -> Checked:
    return Checked(
        rows=judged.assessment.k.rows,
        unit=criteria.unit,
        measurements=judged.checks,
        not_checked=tuple(not_checked(publication, with_original=with_original)),
        assessment=judged.assessment,
    )


def _publication(source: TableLike | Recoded, spec: Spec | None) -> PartialPublication | None:
    """
    Return the publication that a table is checked by; of a recoding, one about the same columns and people.

    :raises InvalidInputError: the recoding was made for other columns or people.
    """
    publication = None if spec is None else publication_of(spec)
    if not isinstance(source, Recoded):
        return publication
    made = source.made.recoded.publication
    if publication is None:
        return made
    if (publication.columns, publication.unit, publication.missing) != (made.columns, made.unit, made.missing):
        raise InvalidInputError(
            "the recoding was made by a publication with other columns, unit or gaps; check its .table by this one, "
            "or recode by it"
        )
    return publication


def _check_arguments(
    source: TableLike | Recoded,
    original: TableLike | None,
    k: int | None,
    sampling_fraction: float | None,
    key: str | None,
    *,
    same_order: bool,
) -> None:
    """:raises InvalidInputError: an argument is out of its range, or would have no effect."""
    if same_order and key is not None:
        raise InvalidInputError("same_order= and key= are two ways to pair rows; give one of them")
    if (same_order or key is not None) and original is None:
        raise InvalidInputError("same_order= and key= pair rows with those of original=; give it")
    if isinstance(source, Recoded) and original is not None:
        raise InvalidInputError("a recoding knows its original; leave out original=, or check its .table beside it")
    if k is not None and (isinstance(k, bool) or k < 2):
        raise InvalidInputError("k= is a whole number, at least 2")
    if sampling_fraction is not None and not 0 < sampling_fraction <= 1:
        raise InvalidInputError("sampling_fraction= is a share above 0, up to 1")
