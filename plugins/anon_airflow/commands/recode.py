"""``anon recode``: a table changed as little as possible until its policy holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from anon_airflow.commands.floors import below_site_policy, print_below
from anon_airflow.commands.output import (
    Stopwatch,
    check_picture,
    check_table_output,
    force_option,
    json_option,
    names_in,
    print_json,
    source_reading,
    table_options,
    write_table,
)
from anon_airflow.commands.recode_output import RecodedTable, as_document, print_recoded
from anon_airflow.commands.search_options import check_known, plot_option
from anon_core.errors import InternalError, InvalidInputError
from anon_core.registry import METHODS
from anon_core.spec import Mode, Role
from anon_core.spec.recode import MOST_SWEEPS

if TYPE_CHECKING:
    from anon_core.engines.engine import Engine
    from anon_core.recode.freeform_problem import FreeformProblem
    from anon_core.report.judgement import Judgement
    from anon_core.report.question import Question
    from anon_core.report.recoding import RecodedPublication
    from anon_core.spec import PartialPublication, Recode
    from anon_core.table import ReadOptions, Table

MOST_SWEPT = 20


class Sizes(click.ParamType):  # type: ignore[type-arg]  # Generic only in some versions of click.
    """Several k with commas between them."""

    name = "2,3,5"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        """Refuse what is no whole number of at least 2, and more of them than anybody looks at."""
        try:
            sizes = tuple(sorted({int(one) for one in names_in(value)}))
        except ValueError:
            sizes = ()
        if not sizes or sizes[0] < 2 or len(sizes) > MOST_SWEPT:
            self.fail(f"give up to {MOST_SWEPT} whole numbers from 2 on, such as 2,3,5,10", param, ctx)
        return sizes


@click.command(short_help="TABLE changed as little as possible until its policy holds.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--spec", required=True, type=click.Path(path_type=Path), help="The publication file: columns, policy.")
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the recoded table here, .csv or .parquet.",
)
@force_option
@click.option(
    "--keep-order",
    is_flag=True,
    help="Rows stay in the order of TABLE, for `anon check --same-order`. It links back: a release never keeps it.",
)
@click.option("--method", type=click.Choice(METHODS.keys()), help="In place of recode.method of the file.")
@click.option("--mode", type=click.Choice([mode.value for mode in Mode]), help="In place of recode.mode of the file.")
@click.option(
    "--improve",
    type=click.IntRange(min=0, max=MOST_SWEEPS),
    metavar="N",
    help="In place of recode.improve of the file.",
)
@click.option("--seed", type=click.IntRange(min=0), metavar="N", help="In place of recode.seed of the file.")
@click.option("-k", "k", type=click.IntRange(min=2), metavar="N", help="In place of privacy.k, which may be missing.")
@click.option("--sweep-k", "sweep", type=Sizes(), metavar="2,3,5", help="Also recode for these k: what each costs.")
@plot_option("class sizes before and after, what is left of every column and, with --sweep-k, for every k")
@table_options
@json_option
def recode(
    table: Path,
    spec: Path,
    output: Path,
    force: bool,
    keep_order: bool,
    sweep: tuple[int, ...] | None,
    plot: Path | None,
    reading: ReadOptions,
    as_json: bool,
    **options: Any,
) -> None:
    """Recode TABLE as a publication file says, its quasi-identifiers, and tell what that did and cost.

    Only published columns are written, the rows sorted by them. The file needs nothing but `columns` and `privacy`.
    --method, --mode, --improve, --seed and -k count in place of what it says, to try things without editing it.
    Columns of TABLE that it does not declare are left out. Method freeform recodes guarded columns too.

    Exit code 1, and nothing is written, if the method cannot reach what it promises. Whatever else the policy requires
    is checked too and told, but does not keep the table from being written: `singletons`, `none` and the modes `paper`
    and `link` promise less than k rows in every class. Nothing is published; `anon run` does that, and refuses what
    fails a check.
    """
    from anon_core.engines.engine import engine_named
    from anon_core.engines.formulas import formula_safe
    from anon_core.recode.sweep import sweep_k
    from anon_core.report.originals import prepared_original
    from anon_core.report.question import Question
    from anon_core.report.recoding import recode_publication
    from anon_core.spec import load_spec

    publication = as_called(load_spec(spec, partial=True), sweep=sweep, **options)
    question = Question.of(publication)
    read = (table, spec, *publication.files)
    check_table_output(output, force=force, sources=read)
    if plot is not None:
        check_picture(plot, sources=(*read, output))
    source = _read(table, publication, reading)
    content = prepared_original(source, publication)
    counted = _counted(content, publication, engine_named(publication.engine, source=table))
    rows = counted.engine
    watch = Stopwatch()
    recoded = recode_publication(publication, rows, keep_order=keep_order, progress=watch.steps)
    recoding, released = recoded.recoding, recoded.released
    done = RecodedTable(
        table=table,
        output=output,
        keep_order=keep_order,
        question=question,
        recoding=recoding,
        judged=_judged(recoded, question, _guarded(recoded, rows)),
        dropped=source.rows - content.rows,
        rows_capped=content.rows - rows.rows,
        people_capped=counted.people_capped,
        left_out=tuple(name for name in source.names if name not in publication.columns),
        sweep=sweep_k(recoded.task, sweep or (), known=recoding, progress=watch.steps),
    )
    escaped = publication.csv.escape_formulas
    write_table(formula_safe(released, keep_order=keep_order) if escaped else released, output)
    if plot:
        _draw(plot, done, publication)
    below = below_site_policy(question, done.judged.assessment.k.rows, datetime.now(UTC).date())
    if as_json:
        print_json({**as_document(done), "below_site_policy": below})
    else:
        print_recoded(done)
        print_below(below)


def _read(table: Path, publication: PartialPublication, reading: ReadOptions) -> Table:
    """Read TABLE as carefully as what a run publishes: a stray quote could swallow somebody's row into a cell."""
    from anon_core.table import read

    content = read(table, replace(source_reading(publication, reading), line_breaks=False, headless_from=1))
    unused = (Role.IDENTIFIER, Role.DROP)
    check_known(content, [name for name, column in publication.columns.items() if column.role not in unused])
    return content


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counted:
    """The engine that counts a table, and how many people have more rows than allowed, whose others are left out."""

    engine: Engine
    people_capped: int = 0


def _counted(table: Table, publication: PartialPublication, engine: type[Engine]) -> _Counted:
    """
    Return the engine that counts the table, and the people behind its rows where the publication tells them apart.

    :raises UnknownColumnError: a column that tells them apart is not in the table.
    """
    from anon_core.report.originals import without_surplus
    from anon_core.table import Table
    from anon_core.table.people import fresh_name, person_column

    if publication.unit is None or not publication.unit.columns:
        return _Counted(engine=engine.of(table))
    name = fresh_name("person", table.names)
    people = person_column(table, publication.unit.columns, name)
    capped = without_surplus(Table(columns=(*table.columns, people), rows=table.rows), publication, name)
    return _Counted(engine=engine.of(capped.kept, unit=name), people_capped=capped.people)


def _guarded(recoded: RecodedPublication, rows: Engine) -> FreeformProblem | None:
    """Return what freeform attacks are looked for by, also where they are waived and the recoding did not mind them."""
    from anon_core.recode.freeform_problem import FreeformProblem

    publication = recoded.publication
    policy = publication.privacy.freeform if publication.privacy else None
    if recoded.task.freeform is not None or policy is None:
        return recoded.task.freeform
    return FreeformProblem.of_table(publication, policy, rows, publication.priority_weights)


def _judged(recoded: RecodedPublication, question: Question, freeform: FreeformProblem | None) -> Judgement:
    """
    Judge the released rows by all that the policy requires.

    :raises InternalError: they do not keep what the method promises.
    """
    from anon_core.report.judgement import judge_recoding, unkept

    task = recoded.task
    judged = judge_recoding(recoded, question, today=datetime.now(UTC).date(), freeform=freeform)
    if broken := unkept(task, question, judged):
        raise InternalError(f"table that is not what method {task.settings.method} promises", ", ".join(broken))
    return judged


def _draw(path: Path, done: RecodedTable, publication: PartialPublication) -> None:
    from anon_core.measures.risk.rows_by_size import rows_by_size
    from anon_core.report.plots import plot_assessment

    before = done.judged.comparison.before if done.judged.comparison else done.recoding.plan.frequencies
    plot_assessment(
        rows_by_size(done.judged.frequencies, done.question.quasi_identifiers),
        path,
        k=done.question.k,
        before=rows_by_size(before, done.question.quasi_identifiers),
        utility=done.judged.assessment.utility,
        weights=publication.priority_weights,
        sweep=done.sweep,
    )
    click.echo(f"drew {path}", err=True)


def as_called(
    publication: PartialPublication,
    *,
    method: str | None = None,
    mode: str | None = None,
    improve: int | None = None,
    seed: int | None = None,
    k: int | None = None,
    sweep: tuple[int, ...] | None = None,
) -> PartialPublication:
    """
    Return the publication with what the call says in place of the file.

    :raises InvalidInputError: there is no k, no quasi-identifier, or nothing for the method to go by.
    :raises UsageError: an option would have no effect.
    """
    from anon_core.policy import PartialPolicy

    given = {"method": method, "mode": mode and Mode(mode), "improve": improve, "seed": seed}
    settings = publication.recode.model_copy(update={key: one for key, one in given.items() if one is not None})
    policy = publication.privacy or PartialPolicy()
    called = publication.model_copy(
        update={"recode": settings, "privacy": policy.model_copy(update={"k": k}) if k else policy}
    )
    _check_effect(settings, [key for key, one in given.items() if one is not None], sweep)
    _check_file(called)
    return called


def _check_effect(settings: Recode, given: Sequence[str], sweep: tuple[int, ...] | None) -> None:
    """Refuse options that would have no effect; `best` chooses the mode itself."""
    heeded = settings.member.heeds(settings)
    if useless := [f"--{key}" for key in given if key != "method" and key not in heeded]:
        mode = f", mode {settings.mode.value}" if "mode" in heeded else ""
        raise click.UsageError(f"{', '.join(useless)} would have no effect on method {settings.method}{mode}")
    if sweep and "k" not in heeded:
        raise click.UsageError(f"method {settings.method} does not heed k, so --sweep-k would show nothing")


def _check_file(publication: PartialPublication) -> None:
    name, settings = publication.file.name, publication.recode
    if publication.privacy is None or publication.privacy.k is None:
        raise InvalidInputError(f"{name} has no privacy.k; write `privacy: {{k: 5}}` into it, or give -k 5")
    if not publication.quasi_identifiers:
        raise InvalidInputError(f"{name} has no column of role quasi, so there is nothing to recode; declare some")
    priorities = [publication.effective_columns[one].priority for one in publication.quasi_identifiers]
    if settings.member.needs_priorities and None in priorities and any(priorities):
        raise InvalidInputError(
            f"{name} gives a priority to some columns of role quasi and none to {priorities.count(None)}; method "
            f"{settings.method} needs one for all of them, or for none"
        )
    if settings.member.needs_section and settings.section(settings.method) is None:
        raise InvalidInputError(
            f"{name} has no recode.{settings.method}, by which method {settings.method} knows what to do; write that "
            "section into it"
        )
