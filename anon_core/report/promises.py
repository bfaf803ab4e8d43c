"""What a recoding method promises, held against the table that it made."""

from __future__ import annotations

from anon_core.report.judgement import Judgement
from anon_core.report.question import Question
from anon_core.spec import Method, Mode, Recode
from anon_core.waivers import waiver_of

_EVERY_CLASS = ("k_anonymity", "link_k", "source_k", "l_diversity", "t_closeness", "alpha", "rows_suppressed_at_most")
_NO_BREACH = "no_freeform_breach"


def unkept(settings: Recode, question: Question, judged: Judgement) -> list[str]:
    """
    Return the names of the promises that a table does not keep; if there is one, that is our fault.

    ``none`` promises nothing, ``singletons`` that few rows stand alone, prioritised recoding source k (mode ``paper``)
    or link and source k (``link``). ``freeform`` promises that no freeform attack is a breach, and no k unless that is
    to follow. All others promise whatever the policy requires of every class, and of the number of suppressed rows.
    What is waived no method promises.
    """
    four, k = judged.assessment.four, question.k
    kept: dict[str, bool] = {}
    if settings.method is Method.SINGLETONS:
        kept["singletons"] = judged.assessment.k.singletons <= question.policy.singletons
    elif settings.method is Method.PRIORITISED and settings.mode is not Mode.SAFE:
        kept["source_k"] = four is not None and (four.source or 0) >= k
        if settings.mode is Mode.LINK:
            kept["link_k"] = four is not None and (four.link or 0) >= k
    elif settings.method is not Method.NONE:
        promised: tuple[str, ...] = _EVERY_CLASS
        if settings.method is Method.FREEFORM:
            promised = (_NO_BREACH, *_EVERY_CLASS) if settings.then else (_NO_BREACH,)
        kept = {
            check.name: check.passed
            for check in judged.checks
            if check.name.startswith(promised) and not waiver_of(question.policy, check.name, check.column)
        }
    return [name for name, holds in kept.items() if not holds]
