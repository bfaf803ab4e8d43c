"""``approve`` as an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import TaskAwaitingInput
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from anon_airflow.operators.publication import error_policy, run_of
from anon_airflow.run.notify import tell
from anon_core.spec import Event

if TYPE_CHECKING:
    from airflow.sdk import Context

    from anon_airflow.approval.request import Answer

RECEIPT = "receipt"


class ApproveOperator(ApprovalOperator):
    """
    Ask a person whether what passed the gate may be published, and sign the answer.

    The question, the people who may answer and the time limit come from the publication file when the task runs, so
    none of them is an argument of the constructor. Only ``execute_complete`` signs: marking the task successful signs
    nothing.

    :param spec: path of the publication file.
    """

    template_fields: Sequence[str] = ()

    def __init__(self, *, spec: str, **kwargs: Any) -> None:
        super().__init__(subject="May it be published?", fail_on_reject=True, **{**kwargs, "retries": 0})
        self.spec = spec

    def execute(self, context: Context) -> None:
        """
        Put the question on record, show it, and leave the worker until a person answers.

        The receipt is a field of the form, so it comes back with the answer. After a task is cleared, Airflow keeps
        showing its first question; the receipt tells which question an answer belongs to.
        """
        from anon_airflow import steps

        with error_policy(self.log):
            question = steps.ask(run_of(self.spec, context))
        self.log.info("asking for approval of receipt %s\n%s", question.receipt, question.body)
        receipt = Param(
            question.receipt, type="string", title="Receipt", description="What is approved.", source="task"
        )
        upsert_hitl_detail(
            ti_id=context["task_instance"].id,
            options=self.options,
            subject=question.subject,
            body=question.body,
            params={RECEIPT: receipt.serialize()},
            assigned_users=[{"id": name, "name": name} for name in question.users],
        )
        for notifier in self.notifiers:
            notifier(context)
        tell(self.spec, context, Event.APPROVAL, progress=self.log.info)
        raise TaskAwaitingInput(method_name="execute_complete", timeout=question.wait)

    def execute_complete(self, context: Context, event: dict[str, Any]) -> dict[str, Any]:
        """Sign the answer, and only then succeed or fail."""
        from anon_airflow import steps

        with error_policy(self.log):
            result = steps.decide(run_of(self.spec, context), answer_of(event))
        self.log.info("approved: receipt %s", result["receipt"])
        return result


def answer_of(event: dict[str, Any]) -> Answer:
    """Return the answer from Airflow's event. Anything but a clear approval is a rejection, or no answer."""
    from anon_airflow.approval.decision import NOBODY, Outcome
    from anon_airflow.approval.request import Answer

    if "error" in event or event.get("timedout"):
        return Answer(outcome=Outcome.TIMED_OUT)
    user = event.get("responded_by_user") or {}
    approved = event.get("chosen_options") == [ApprovalOperator.APPROVE]
    return Answer(
        outcome=Outcome.APPROVED if approved else Outcome.REJECTED,
        person=str(user.get("name") or user.get("id") or NOBODY),
        user_id=str(user.get("id") or ""),
        receipt=str((event.get("params_input") or {}).get(RECEIPT) or ""),
    )
