"""Recodes a table in memory as its publication file says, and judges it; the command and the library use it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

from anon_core.engines.engine import Engine
from anon_core.errors import InternalError, InvalidInputError
from anon_core.policy import PartialPolicy
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.method import Progress
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import Judgement, judge_recoding, unkept
from anon_core.report.originals import prepared_original, without_surplus
from anon_core.report.recoding import RecodedPublication, recode_publication
from anon_core.spec import Mode, PartialPublication, Recode
from anon_core.spec.recode import MAX_SWEEPS
from anon_core.table import Table
from anon_core.table.people import fresh_name, person_column


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRecoding:
    """
    A recoded table, and its judgement.

    ``rows`` counts what was recoded. ``rows_dropped`` had a gap in a quasi-identifier; ``rows_capped`` are the rows of
    ``people_capped`` beyond what one person may have; columns in ``left_out`` are not declared.
    """

    criteria: Criteria
    rows: Engine
    recoded: RecodedPublication
    judged: Judgement
    rows_dropped: int
    rows_capped: int
    people_capped: int
    left_out: tuple[str, ...]


def recode_table(
    source: Table,
    publication: PartialPublication,
    *,
    engine: type[Engine],
    today: date,
    keep_order: bool = False,
    progress: Progress | None = None,
) -> TableRecoding:
    """
    Recode a table, and judge the released rows by all requirements of the policy.

    :raises PolicyNotMetError: the method cannot keep what it promises.
    :raises RefusedError: no row would be left.
    :raises InternalError: the released rows do not keep what the method promises.
    :raises InvalidInputError: a column is missing, or cannot be split or coarsened as the file says.
    """
    criteria = Criteria.of(publication)
    content = prepared_original(source, publication)
    counted = _counted(content, publication, engine)
    recoded = recode_publication(publication, counted.engine, keep_order=keep_order, progress=progress)
    judged = judge_released(recoded, criteria, counted.engine, today=today)
    task = recoded.task
    if broken := unkept(task, criteria, judged):
        raise InternalError(f"table that is not what method {task.settings.method} promises", ", ".join(broken))
    return TableRecoding(
        criteria=criteria,
        rows=counted.engine,
        recoded=recoded,
        judged=judged,
        rows_dropped=source.rows - content.rows,
        rows_capped=content.rows - counted.engine.rows,
        people_capped=counted.people_capped,
        left_out=tuple(name for name in source.names if name not in publication.columns),
    )


def judge_released(recoded: RecodedPublication, criteria: Criteria, rows: Engine, *, today: date) -> Judgement:
    """Judge the released rows by all requirements of the policy; ``rows`` counts those that were recoded."""
    return judge_recoding(recoded, criteria, today=today, freeform=_guarded(recoded, rows))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """The engine that counts a table, how many people have more rows than allowed, and how many rows are left out."""

    engine: Engine
    people_capped: int = 0


def _counted(table: Table, publication: PartialPublication, engine: type[Engine]) -> _Counted:
    """
    Return the engine that counts the table, and its people if the publication has columns that tell them apart.

    :raises UnknownColumnError: a column that tells them apart is not in the table.
    """
    if publication.unit is None or not publication.unit.columns:
        return _Counted(engine=engine.of(table))
    name = fresh_name("person", table.names)
    people = person_column(table, publication.unit.columns, name)
    capped = without_surplus(Table(columns=(*table.columns, people), rows=table.rows), publication, name)
    return _Counted(engine=engine.of(capped.kept, unit=name), people_capped=capped.people)


def _guarded(recoded: RecodedPublication, rows: Engine) -> FreeformProblem | None:
    """Return the problem for the search for freeform attacks, also if they are waived and recoding ignored them."""
    publication = recoded.publication
    policy = publication.privacy.freeform if publication.privacy else None
    if recoded.task.freeform is not None or policy is None:
        return recoded.task.freeform
    return FreeformProblem.of_table(publication, policy, rows, publication.priority_weights)


def publication_with(
    publication: PartialPublication,
    *,
    method: str | None = None,
    mode: str | None = None,
    improve: int | None = None,
    seed: int | None = None,
    k: int | None = None,
) -> PartialPublication:
    """
    Return the publication with the arguments of a call in place of what the file says.

    :raises InvalidInputError: there is no k, no quasi-identifier, no section that the method needs, or an argument
        would have no effect.
    """
    _check_range("k", k, 2, None)
    _check_range("improve", improve, 0, MAX_SWEEPS)
    _check_range("seed", seed, 0, None)
    if mode is not None and mode not in list(Mode):
        raise InvalidInputError(f"mode= is one of {', '.join(Mode)}")
    given: dict[str, Any] = {"method": method, "mode": mode and Mode(mode), "improve": improve, "seed": seed}
    named = {key: one for key, one in given.items() if one is not None}
    settings = publication.recode.model_copy(update=named)
    policy = publication.privacy or PartialPolicy()
    called = publication.model_copy(
        update={"recode": settings, "privacy": policy.model_copy(update={"k": k}) if k else policy}
    )
    _check_effect(settings, list(named))
    _check_file(called)
    return called


def _check_range(argument: str, value: int | None, least: int, most: int | None) -> None:
    if value is not None and (isinstance(value, bool) or value < least or (most is not None and value > most)):
        span = f"at least {least}" if most is None else f"from {least} to {most}"
        raise InvalidInputError(f"{argument}= is a whole number, {span}")


def _check_effect(settings: Recode, named: list[str]) -> None:
    """Refuse arguments that would have no effect; `best` chooses the mode itself."""
    heeded = settings.member.heeds(settings)
    if useless := [f"{key}=" for key in named if key != "method" and key not in heeded]:
        mode = f", mode {settings.mode.value}" if "mode" in heeded else ""
        raise InvalidInputError(f"{', '.join(useless)} would have no effect on method {settings.method}{mode}")


def _check_file(publication: PartialPublication) -> None:
    name, settings = publication.file.name or "the publication", publication.recode
    if publication.privacy is None or publication.privacy.k is None:
        raise InvalidInputError(f"{name} has no privacy.k; write `privacy: {{k: 5}}` into it, or give k=5")
    if not publication.quasi_identifiers:
        raise InvalidInputError(f"{name} has no column of role quasi, so there is nothing to recode; declare one")
    priorities = [publication.effective_columns[one].priority for one in publication.quasi_identifiers]
    if settings.member.needs_priorities and None in priorities and any(priorities):
        raise InvalidInputError(
            f"{name} gives a priority to some columns of role quasi and none to {priorities.count(None)}; method "
            f"{settings.method} needs one for all of them, or for none"
        )
    if settings.member.needs_section and settings.section(settings.method) is None:
        raise InvalidInputError(
            f"{name} has no recode.{settings.method}, which method {settings.method} needs; write that section into "
            "the file"
        )
