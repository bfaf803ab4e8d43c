"""The method that a publication asks for, run on its distinct tuples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from anon_core.errors import InternalError
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder
from anon_core.plan import RecodingPlan
from anon_core.recode.lattice import recode_globally
from anon_core.recode.outcome import Recoding
from anon_core.recode.singletons import recode_singletons
from anon_core.spec import Method, Publication

Progress = Callable[[int, int], None]


def recode(
    publication: Publication,
    frequencies: FrequencyTable,
    ladders: Sequence[Ladder],
    *,
    progress: Progress | None = None,
) -> Recoding:
    """
    Recode the quasi-identifiers as ``recode.method`` says.

    :raises PolicyNotMetError: the method cannot keep what it promises; nothing is returned.
    """
    method, policy = publication.recode.method, publication.privacy
    if method is Method.NONE or not frequencies.names:
        return Recoding(
            method=str(Method.NONE.value),
            plan=RecodingPlan.unchanged(frequencies, ladders),
            why="The publication file asks for no recoding"
            if method is Method.NONE
            else "There is no quasi-identifier",
            candidates=(),
            optimal=None,
        )
    if method is Method.SINGLETONS and publication.recode.singletons is not None:
        return recode_singletons(
            frequencies,
            ladders,
            columns=publication.recode.singletons.columns,
            years=publication.recode.singletons.years,
            allowed_singletons=policy.singletons,
            suppression_limit=policy.suppression_limit,
        )
    if method is Method.GLOBAL:
        weights = publication.priority_weights
        return recode_globally(
            frequencies,
            ladders,
            k=policy.k,
            suppression_limit=policy.suppression_limit,
            weights=[weights[name] for name in frequencies.names],
            progress=progress,
        )
    raise InternalError("unchecked recoding method", f"recode.methods ({method})")
