"""How useful a table still is after recoding.

:func:`utility` measures everything. A search that needs one figure of many plans takes it from
:mod:`~anon_core.score.utility.loss` or :mod:`~anon_core.score.utility.entropy` alone.
"""

from anon_core.score.utility.model import Utility, utility

__all__ = ["Utility", "utility"]
