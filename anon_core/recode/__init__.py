"""
Ways to change a table until the policy holds, as little as possible.

Called, it is :func:`anon_core.api.recode.recode`: ``ac.recode(frame, spec)``.
"""

from anon_core.callable_package import make_callable

make_callable(__name__)
