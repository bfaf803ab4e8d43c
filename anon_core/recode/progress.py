"""How long searches tell where they are."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, int, int], None]
"""Called with what is counted (such as `level combinations`), how many are done, and of how many at most."""
