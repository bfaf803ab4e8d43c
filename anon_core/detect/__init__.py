"""
Which columns single people out, and what role each column seems to play.

Called, it is :func:`anon_core.api.detect.detect`: ``ac.detect(frame)``.
"""

from collections.abc import Callable

from anon_core.callable_package import make_callable

Progress = Callable[[int], None]
"""Is told how many column sets have been looked at so far; called often, so it should be quick."""

make_callable(__name__)
