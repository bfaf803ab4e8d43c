"""Classes that a recoding may make: what a model looks at to say which of them are safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anon_core.frequency import FrequencyTable
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.kernels import Integers
    from anon_core.score.classes import SensitiveClasses

__all__ = ["Classes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """
    Some classes: the rows of each, and how often each value of a sensitive column occurs in it.

    ``ladders`` are those of sensitive columns whose hierarchy is needed. Class ``group[i]`` has the tuple ``tuples[i]``
    of ``frequencies``, the table as collected. ``folder`` is where files that a publication names lie.
    """

    sizes: Integers
    frequencies: FrequencyTable
    tuples: Integers
    group: Integers
    sensitive: SensitiveClasses | None = None
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
    folder: Path | None = None

    def total(self, counts: Integers) -> Integers:
        """Return the sum over each class of what is counted of every tuple."""
        from anon_core import kernels

        return kernels.weigh(self.group, len(self.sizes), counts[self.tuples])
