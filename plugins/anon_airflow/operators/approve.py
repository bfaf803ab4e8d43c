"""``approve`` as an operator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from airflow.providers.standard.operators.hitl import ApprovalOperator
from airflow.sdk import Param
from airflow.sdk.exceptions import TaskAwaitingInput
from airflow.sdk.execution_time.hitl import upsert_hitl_detail

from anon_airflow.operators.notification import tell
from anon_airflow.operators.publication import failing_for_good, run_of
from anon_core.spec import Event

if TYPE_CHECKING:
    from airflow.sdk import Context

    from anon_airflow.approval.request import Answer

RECEIPT = "receipt"


class ApproveOperator(ApprovalOperator):
    """
    Ask a person whether what passed the gate may be published, and sign the answer.

    What is asked, who may answer and for how long comes from the publication file when the task runs, so nothing of it
    stands in the constructor. Only ``execute_complete`` signs: a task that is marked successful signs nothing.

    :param spec: path of the publication file.
    """

    template_fields: Sequence[str] = ()

    def __init__(self, *, spec: str, **kwargs: Any) -> None:
        super().__init__(subject="May it be published?", fail_on_reject=True, **{**kwargs, "retries": 0})
        self.spec = spec

    def execute(self, context: Context) -> None:
        """
        Put the question on record, show it, and leave the worker until somebody answers.

        The receipt goes with the question as a field of the form, and comes back with the answer: Airflow keeps showing
        the first question of a task that is cleared, and so an answer to that is told from an answer to this.
        """
        from anon_airflow import steps

        with failing_for_good(self.log):
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

        with failing_for_good(self.log):
            result = steps.decide(run_of(self.spec, context), answer_of(event))
        self.log.info("approved: receipt %s", result["receipt"])
        return result


def answer_of(event: dict[str, Any]) -> Answer:
    """Return what Airflow says was answered; whatever is not plainly an approval is a rejection or no answer."""
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
