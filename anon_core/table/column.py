"""One column in memory: codes into its sorted domain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

Codes = np.ndarray[Any, np.dtype[np.int32]]
Mask = np.ndarray[Any, np.dtype[np.bool_]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """
    One column as codes into its sorted domain; where there are gaps, the last domain entry is null.

    Its ``repr`` shows its name only: it gets into logs and tracebacks, and cells must not.
    """

    name: str
    codes: Codes = field(repr=False)
    domain: pa.Array = field(repr=False)

    @property
    def has_gaps(self) -> bool:
        return bool(self.domain.null_count)

    @property
    def gaps(self) -> Mask:
        """Which rows have a gap here."""
        return np.asarray(self.codes == len(self.domain) - 1) if self.has_gaps else np.zeros(len(self.codes), np.bool_)
