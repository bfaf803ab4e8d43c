"""Which columns single people out, and which role each column probably has."""

from collections.abc import Callable

Progress = Callable[[int], None]
"""A function that a search calls with the number of column sets looked at so far; it is called often."""
