"""Freeform anonymity [Wang2009]_: an adversary may see, or want to know, any value of any column.

Wang, Xu, Fu, Wong: FF-anonymity: when quasi-identifiers are missing, 2009. The paper prints no algorithm.
:mod:`~anon_core.measures.freeform.breaches` explains how we find breaches without the cube over all levels of all
columns.
"""

from anon_core.measures.freeform.breaches import Attack, ColumnBreaches, FreeformCheck, check_freeform, simplest_attacks
from anon_core.measures.freeform.values import Definition, GuardedColumn, guarded, refuse_disarmed

__all__ = [
    "Attack",
    "ColumnBreaches",
    "Definition",
    "FreeformCheck",
    "GuardedColumn",
    "check_freeform",
    "guarded",
    "refuse_disarmed",
    "simplest_attacks",
]
