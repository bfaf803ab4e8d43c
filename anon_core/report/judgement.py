"""Judges a table by a publication file, or by criteria given in its place: measures it, then checks requirements."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date

from anon_core.comparison import Comparison, original_rows
from anon_core.engines.engine import Engine
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.measures.freeform import FreeformCheck
from anon_core.measures.linkage.four_ks import UNPAIRED
from anon_core.models import Measurement, PolicyContext, Subject, required
from anon_core.plan import RecodingPlan
from anon_core.policy import KMeans
from anon_core.recoding.compliance import broken, models_of_classes
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.method import ALONE, K, Promise, RecodingMethod
from anon_core.recoding.people import TuplePeople
from anon_core.recoding.task import Task
from anon_core.report.assessment import Assessment, assess
from anon_core.report.criteria import Criteria
from anon_core.report.freeform import check_release, check_table
from anon_core.report.originals import beside_original, prepared_original, without_surplus
from anon_core.report.recoding import RecodedPublication, compared_by_people
from anon_core.role import Role
from anon_core.table import Column, Table
from anon_core.table.people import fresh_name, person_column
from anon_core.waivers import ended, waiver_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The table before recoding, and how its rows are paired with the released ones: by order, by a key, or not."""

    table: Table
    same_order: bool = False
    key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What was measured, which checks hold, and the data that were measured."""

    assessment: Assessment
    checks: tuple[Measurement, ...]
    frequencies: FrequencyTable
    comparison: Comparison | None

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def judge(
    table: Table,
    criteria: Criteria,
    original: Original | None = None,
    *,
    engine: type[Engine],
    today: date,
    also: Sequence[str] = (),
) -> Judgement:
    """
    Measure a table and check all criteria; the ``engine`` counts it, and also over the columns ``also``.

    The four k's count people if there is a unit; loss and suppression are always counted in rows. Without a pairing the
    units are those of the table itself, and only exact k counts them.

    :raises InvalidInputError: a column is missing, the table is empty, the original does not fit, or units are to be
        counted that only a pairing tells.
    """
    criteria = criteria.of_columns(table.names)
    names, comparison, people, joint, whose = table.names, None, None, None, None
    others = _others_judged(criteria, table.names, today)
    unit = fresh_name("person", [*names, *(original.table.names if original else ())]) if criteria.unit else None
    if original is not None:
        before = _as_staged(original.table, criteria, unit, table.rows)
        table = _with_units(_with_people(table, criteria, unit), before, original, unit)
        comparison = people = _beside(before, table, criteria, original, None)
        if unit and not (comparison.pairs is None and _tells_units(table, before, unit)):
            people = _beside(before, table, criteria, original, unit)
        if others and set(others) <= {*before.names}:
            joint = _beside(before, table, criteria, original, unit if people is not comparison else None, others)
        if unit and people is comparison and unit in before.names:
            whose = engine.of(before, unit=unit).people((*criteria.quasi_identifiers, *others))
    elif unit:
        table = _with_people(table, criteria, unit, required=True)
    counted = dict.fromkeys([*criteria.quasi_identifiers, *criteria.sensitive, *also])
    rows = engine.of(table, unit=unit)
    frequencies = rows.people(list(counted))
    besides = [name for name in (*criteria.unit, original.key if original else None) if name is not None]
    guarded = criteria.publication if criteria.policy.freeform else None
    freeform = check_table(table, guarded, engine) if guarded else None
    assessment = assess(
        frequencies,
        criteria.quasi_identifiers,
        k=criteria.k,
        sensitive=criteria.sensitive,
        max_risk=criteria.policy.max_risk,
        sampling_fraction=criteria.sampling_fraction,
        comparison=comparison,
        people=people,
        weights=criteria.publication.priority_weights if criteria.publication else None,
        counted=criteria.publication.counted_values if criteria.publication else None,
    )
    subject = _subject(rows, criteria, people, joint=joint, besides=besides, freeform=freeform)
    subject = replace(subject, original_people=whose)
    checks = tuple(_measurements(subject, criteria, comparison, today))
    return Judgement(assessment=assessment, checks=checks, frequencies=frequencies, comparison=people)


def judge_recoding(
    recoded: RecodedPublication, criteria: Criteria, *, today: date, freeform: FreeformProblem | None = None
) -> Judgement:
    """
    Judge the result of a recoding, as :func:`judge` does beside the original; it is known which row became which.

    A plan may recode guarded columns beside the quasi-identifiers: then the utility is measured over all of them.
    ``freeform`` says what is guarded; the released rows are searched for its attacks.

    :raises InvalidInputError: a column is missing, or no row is left.
    """
    engine = recoded.engine
    criteria = criteria.of_columns(engine.names)
    plan, people = recoded.recoding.plan, recoded.task.people
    comparison = Comparison.of_plan(plan, criteria.quasi_identifiers)
    linked = criteria.policy.k_means is KMeans.LINK
    others = _others_judged(criteria, engine.names, today) if linked else ()
    subject = _subject(
        engine,
        criteria,
        compared_by_people(plan, criteria.quasi_identifiers, people),
        joint=_joint_of(plan, (*criteria.quasi_identifiers, *others), people) if others else None,
        freeform=check_release(engine, freeform) if freeform else None,
        rows_blanked=comparison.rows_blanked,
    )
    if recoded.pairing is not None:
        subject = replace(subject, paired=recoded.pairing)
    counted = [*criteria.quasi_identifiers, *criteria.sensitive]
    if people is None:
        subject = replace(subject, people=None)  # Every row is another person.
    return Judgement(
        assessment=recoded.assessment,
        checks=tuple(_measurements(subject, criteria, comparison, today)),
        frequencies=(engine.count if people is None else engine.people)(counted),
        comparison=subject.comparison,
    )


def _subject(
    engine: Engine,
    criteria: Criteria,
    people: Comparison | None,
    *,
    joint: Comparison | None = None,
    besides: Sequence[str] = (),
    freeform: FreeformCheck | None = None,
    rows_blanked: int | None = None,
) -> Subject:
    """Return what the models measure: the rows of an engine, and the people if there is a unit."""
    publication = criteria.publication
    published = publication.published if publication else ()
    return Subject(
        names=engine.names,
        besides=tuple(name for name in besides if name in engine.names and name not in published),
        unpublished=(*publication.names_with_role(Role.IDENTIFIER), *publication.names_with_role(Role.DROP))
        if publication
        else (),
        rows=engine.count,
        people=None if engine.unit is None else engine.people,
        comparison=people,
        joint=joint,
        folder=publication.root if publication else None,
        freeform=freeform,
        rows_blanked=rows_blanked,
    )


def _measurements(
    subject: Subject, criteria: Criteria, comparison: Comparison | None, today: date
) -> Iterator[Measurement]:
    """
    Measure all requirements of a table; a check that does not pass may be waived.

    :raises InvalidInputError: the policy means link k, and the original is missing, or the pairing if people count.
    """
    policy = criteria.policy
    if policy.k_means is KMeans.LINK:
        _require_link(subject)
    context = PolicyContext(
        policy=policy,
        quasi_identifiers=criteria.quasi_identifiers,
        k=criteria.k,
        today=today,
        publication=criteria.publication,
        rows_before=comparison.before.rows if comparison else None,
        compared=comparison is not None,
        paired=subject.paired is not None,
        present=tuple(name for name in subject.names if name not in subject.besides),
    )
    for one in required(context):
        yield one.measured(subject).excused(one.waiver(policy, today))
    unit = criteria.publication.unit if criteria.publication else None
    for kind, times in Counter(one.kind for one in ended(policy, today, unit)).items():
        yield Measurement(
            model=kind,
            name=f"{kind}s",
            columns=(),
            passed=False,
            observed=times,
            required=0,
            sentence=f"{kind}s that have ended: have them renewed, or remove them",
        )


def _require_link(subject: Subject) -> None:
    if subject.comparison is None:
        raise InvalidInputError("`k_means: link` needs the original rows; give them as original=")
    if subject.people is not None and subject.comparison.after.units is None:
        raise InvalidInputError(f"`k_means: link` cannot be checked: {UNPAIRED}")


def _others_judged(criteria: Criteria, names: Sequence[str], today: date) -> tuple[str, ...]:
    """Return the columns declared other that are judged beside the original; freeform may recode some of them."""
    policy = criteria.policy
    if criteria.publication is None or (policy.freeform is not None and policy.k_means is not KMeans.LINK):
        return ()
    quasi = criteria.quasi_identifiers
    return tuple(name for name in criteria.publication.judged_others(today) if name in names and name not in quasi)


def _joint_of(plan: RecodingPlan, columns: tuple[str, ...], people: TuplePeople | None) -> Comparison:
    """Compare over the columns that the plan has; the model sees which columns are left out."""
    return compared_by_people(plan, [name for name in columns if name in plan.frequencies.names], people)


def _beside(
    before: Table, table: Table, criteria: Criteria, original: Original, unit: str | None, others: Sequence[str] = ()
) -> Comparison:
    return beside_original(
        before,
        table,
        (*criteria.quasi_identifiers, *others),
        criteria.publication,
        same_order=original.same_order,
        key=original.key,
        unit=unit,
    )


def _as_staged(original: Table, criteria: Criteria, unit: str | None, released: int) -> Table:
    """
    Return the original as a run would have recoded it, with its people if it has the columns of the unit.

    If more rows are ``released`` than would stay after capping, no rows were left out for their person: then all stay.
    """
    prepared = prepared_original(original, criteria.publication)
    before = _with_people(prepared, criteria, unit)
    if unit is None or criteria.publication is None or unit not in before.names:
        return before
    kept = without_surplus(before, criteria.publication, unit).kept
    return before if released > kept.rows else kept


def _with_people(table: Table, criteria: Criteria, name: str | None, *, required: bool = False) -> Table:
    """
    Return a table with a column ``name`` that tells people apart, if the table has the columns of the unit.

    :raises UnknownColumnError: they are required, and the table does not have them.
    """
    if name is None or not (required or set(criteria.unit) <= set(table.names)):
        return table
    return Table(columns=(*table.columns, person_column(table, criteria.unit, name)), rows=table.rows)


def _with_units(table: Table, before: Table, original: Original, unit: str | None) -> Table:
    """Return the table with the unit that each row has in the original; the unit in the release is not used."""
    at = None if unit is None else original_rows(before, table, same_order=original.same_order, key=original.key)
    if unit is None or at is None:
        return table
    whose = before.column(unit)
    others = (column for column in table.columns if column.name != unit)
    return Table(columns=(*others, Column(name=unit, codes=whose.codes[at], domain=whose.domain)), rows=table.rows)


def _tells_units(table: Table, before: Table, unit: str) -> bool:
    """Whether a released table has its own units, and all of them are in the original."""
    if unit not in table.names:
        return False
    told = {value for value in table.column(unit).domain.to_pylist() if value is not None}
    return unit not in before.names or told <= {*before.column(unit).domain.to_pylist()}


def unkept(task: Task, criteria: Criteria, judged: Judgement) -> list[str]:
    """
    Return the names of the promises that a table does not keep; if there is one, the method has a bug.

    No method promises what is waived. The k that counts is the one that the method means, which may differ from the
    policy's.
    """
    policy, names, checks = criteria.policy, criteria.quasi_identifiers, list(judged.checks)
    method: RecodingMethod = task.settings.member
    promise = method.promised_k(task.settings, policy)
    if promise is not Promise.of_policy(policy):
        four = judged.assessment.four
        subject = Subject(
            names=names,
            rows=judged.frequencies.project,
            comparison=judged.comparison,
            _found={criteria.k: four} if four else {},
        )
        own = [one for one in models_of_classes(policy, names, criteria.k, promise) if one.key in (*K, ALONE)]
        checks = [one for one in checks if one.model not in (*K, ALONE)] + [one.measured(subject) for one in own]
    promised = [one for one in checks if not waiver_of(policy, one.name, one.column)]
    return [one.name for one in broken(task, method, promised)]
