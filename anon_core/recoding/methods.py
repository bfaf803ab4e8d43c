"""Runs the method of a publication on its distinct tuples, and counts the result anew."""

from __future__ import annotations

from anon_core.errors import InvalidInputError, PolicyNotMetError
from anon_core.recoding.beside_others import error_with_others
from anon_core.recoding.compliance import PlanMeasurements, hold_to_promise
from anon_core.recoding.method import Progress, RecodingMethod
from anon_core.recoding.task import Recoding, Task
from anon_core.wording import counted


def recode(task: Task, *, progress: Progress | None = None) -> Recoding:
    """
    Recode the quasi-identifiers as ``task.settings.method`` says.

    What a method promises is counted again from the classes that would be published. ``none`` promises nothing, and
    ``singletons`` only few singletons: the gate, or `anon check`, decides about such a table.

    :raises PolicyNotMetError: the method cannot keep what it promises, or leaves a freeform attack that the policy
        forbids.
    :raises InvalidInputError: no installed package brings the method, the task lacks something that it needs, or values
        are guarded against freeform attacks and people have several rows.
    :raises InternalError: a search has returned a plan that it must not return.
    """
    method: RecodingMethod = task.settings.member
    _refuse_freeform_by_people(task)
    _refuse_k_above_people(task)
    _refuse_too_many_rows_per_person(task)
    if method.needs_quasi_identifiers and not task.frequencies.names:
        return Recoding.unchanged(task, "There is no quasi-identifier")
    _refuse_out_of_reach(task, method)
    try:
        recoding = method.recode(task, progress=progress)
        if not method.checks_plans:
            hold_to_promise(method, PlanMeasurements(task, recoding.plan))
    except PolicyNotMetError as error:
        raise error_with_others(task, error) from None
    return recoding


def _refuse_freeform_by_people(task: Task) -> None:
    freeform = task.freeform is not None or task.settings.method == "freeform"
    if freeform and task.people is not None:
        raise InvalidInputError(
            "`privacy.freeform` cannot count people yet, and one person has several rows: remove it, with "
            "`method: freeform` if that is set, or give every person one row"
        )


def _refuse_k_above_people(task: Task) -> None:
    rows, people = task.frequencies.rows, task.counted
    if task.k > people:
        raise PolicyNotMetError(
            goal=f"k {task.k}",
            reached=people,
            rows_at_risk=rows,
            rows=rows,
            advice="no class can be larger than the table, which has "
            f"{counted(people, 'row' if task.people is None else 'person')}: lower privacy.k or publish this dataset "
            "less often",
        )


def _refuse_too_many_rows_per_person(task: Task) -> None:
    """Refuse at once what the gate would refuse later: no method leaves out single rows, `stage` does that before."""
    most = task.policy.max_rows_per_person
    if most is None or task.people is None:
        return
    each = task.people.rows_of_each
    above = each > most
    if above.any():
        raise PolicyNotMetError(
            goal=f"at most {counted(most, 'row')} per person",
            reached=int(each.max()),
            rows_at_risk=int(each[above].sum()),
            rows=task.frequencies.rows,
            advice=f"{counted(int(above.sum()), 'person')} with more: leave their other rows out before (`stage` and "
            "`anon recode` do), or raise privacy.max_rows_per_person",
        )


def _refuse_out_of_reach(task: Task, method: RecodingMethod) -> None:
    """
    Refuse, before any search, a model that the whole table as one class does not keep: then no classes of it can.

    The table may keep a model without some of its rows. So where rows may be removed, only models are checked that a
    class still keeps after any merge.

    :raises PolicyNotMetError: no recoding can keep a model that the method promises.
    """
    wanted = [
        model
        for model in task.requirements.others
        if method.promises(task, model.key)
        and (model.absorbing or not task.allowed)
        and (task.people is None or model.column is None)  # Where people are counted, smaller classes may keep it.
    ]
    classes = [(model, task.requirements.all_rows(model)) for model in wanted]
    failing = [(model, whole) for model, whole in classes if not model.safe(whole).all()]
    if failing:
        rows = task.frequencies.rows
        raise PolicyNotMetError(
            goal=" and ".join(model.goal for model, _ in failing),
            reached="none",
            rows_at_risk=rows,
            rows=rows,
            advice="; ".join(model.out_of_reach(whole) for model, whole in failing),
        )
