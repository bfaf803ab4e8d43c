"""What a recoding method promises, held against the table that it made."""

from __future__ import annotations

from anon_core.models import Subject
from anon_core.recode.compliance import broken, models_of_classes
from anon_core.recode.method import ALONE, K, Promise, RecodingMethod
from anon_core.recode.task import Task
from anon_core.report.judgement import Judgement
from anon_core.report.question import Question
from anon_core.waivers import waiver_of


def unkept(task: Task, question: Question, judged: Judgement) -> list[str]:
    """
    Return the names of the promises that a table does not keep; if there is one, that is a bug of the method.

    What is waived no method promises. k is held as the method means it, which may be otherwise than the policy does.
    """
    policy, names, checks = question.policy, question.quasi_identifiers, list(judged.checks)
    method: RecodingMethod = task.settings.member
    promise = method.promised_k(task.settings, policy)
    if promise is not Promise.of_policy(policy):
        four = judged.assessment.four
        subject = Subject(
            names=names,
            rows=judged.frequencies.project,
            comparison=judged.comparison,
            _found={question.k: four} if four else {},
        )
        own = [one for one in models_of_classes(policy, names, question.k, promise) if one.key in (*K, ALONE)]
        checks = [one for one in checks if one.model not in (*K, ALONE)] + [one.measured(subject) for one in own]
    promised = [one for one in checks if not waiver_of(policy, one.name, one.column)]
    return [one.name for one in broken(task, method, promised)]
