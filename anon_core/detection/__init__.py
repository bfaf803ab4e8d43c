"""Which columns single people out, and what role each column seems to play."""

from collections.abc import Callable

Progress = Callable[[int], None]
"""Is told how many column sets have been looked at so far; called often, so it should be quick."""
