"""Classes that a recoding may make: what a model looks at to say which of them are safe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from anon_core.hierarchy.ladder import Ladder
    from anon_core.kernels import Integers
    from anon_core.score.classes import SensitiveClasses

__all__ = ["Classes"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes:
    """
    Some classes: the rows of each, and how often each value of a sensitive column occurs in it.

    ``ladders`` are those of sensitive columns whose hierarchy is needed.
    """

    sizes: Integers
    sensitive: SensitiveClasses | None = None
    ladders: Mapping[str, Ladder] = field(default_factory=dict)
