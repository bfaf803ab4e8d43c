"""Prioritised local recoding [Bampoulidis2019]_."""

from __future__ import annotations

from anon_core.errors import InternalError
from anon_core.recode.outcome import Recoding
from anon_core.recode.progress import Progress
from anon_core.recode.task import Task


def recode_prioritised(task: Task, *, progress: Progress | None = None) -> Recoding:
    """Recode locally, the least important columns first."""
    raise InternalError("prioritised recoding is on its way", "recode.prioritised")
