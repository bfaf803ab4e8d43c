"""Freeform anonymity [Wang2009]_: any value of any column may be what an adversary sees, or wants to know.

Wang, Xu, Fu, Wong: FF-anonymity: when quasi-identifiers are missing, 2009. The paper prints no algorithm; how breaches
are found without the cube over all levels of all columns is told in :mod:`~anon_core.measures.freeform.breaches`.
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
