"""Files in, dictionary codes out: the only reader of CSV and Parquet in the product.

Everything is read as text and nothing is inferred, so no two different cells are ever merged: ``01`` is not ``1``, and
``NA`` is a word unless the caller lists it as missing. The gate rereads releases through the same function. A gap is
``null`` in Arrow and the last code of its column.

**Large files** are cut into cells by compiled loops, in threads, and only codes and distinct cells are kept; small ones
are parsed by pyarrow, without loading numba. Both give the same table, or the same refusal.

**Parquet types** become the text that Arrow's CSV writer gives them, so the CSV that pyarrow writes of a typed table is
the same table. Other writers (pandas: ``True``, ``1.0``, ``2019-05-15`` for a midnight) give other texts; as long as
they give different values different texts, every count is the same.

======================== ===================================================================================
type                     text
======================== ===================================================================================
integers, decimals       their digits; a decimal with all digits of its scale: ``1.50``
floats                   the shortest text that reads back to the same bits: ``1``, ``0.1``, ``1e+20``, ``inf``;
                         NaN is a gap; ``-0`` is not ``0``, for every CSV writer writes the sign
booleans                 ``true``, ``false``
dates                    ``2019-05-15``
timestamps               ``2019-05-15 00:00:00.000``, with the digits of their unit; with a time zone, local time
                         and offset: ``2019-05-15 00:00:00.000+0200``, or ``Z`` for UTC
times, durations         ``10:30:00.000``; a count of the unit
texts, dictionaries      as they are; Unicode is not normalised: a composed and a decomposed letter are two values
null                     a gap
======================== ===================================================================================

Lists, structs, maps, bytes and extension types are refused by the name of their column.
"""

from anon_core.table.column import Codes, Column, Mask
from anon_core.table.model import Table, from_arrow
from anon_core.table.numbering import number_used
from anon_core.table.options import RELEASED, ReadOptions
from anon_core.table.reading import read

__all__ = ["RELEASED", "Codes", "Column", "Mask", "ReadOptions", "Table", "from_arrow", "number_used", "read"]
