"""How the work on hierarchies grows: four times the values should take about four times as long, hostile files too."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa

from anon_core.errors import HierarchyError
from anon_core.hierarchy.columns import ladder_of, rows_of, values_of
from anon_core.hierarchy.files import levels_in
from anon_core.hierarchy.files.writing import text_of
from anon_core.hierarchy.kinds.frequency_groups import by_frequency
from anon_core.hierarchy.kinds.ordered_groups import in_order
from anon_core.hierarchy.kinds.widths import by_intervals
from anon_core.table import Column

FEW, MANY = 25_000, 100_000


def column(values: int) -> Column:
    domain = pa.array(sorted(map(str, range(values))))
    return Column(name="c", codes=np.arange(values, dtype=np.int32), domain=domain)


def refused(text: str) -> None:
    try:
        levels_in(text, "file", "file")
    except HierarchyError:
        return
    raise AssertionError("a faulty hierarchy was read")


def written(values: int) -> None:
    held = column(values)
    text_of(ladder_of(held, in_order(rows_of(held), [5, 50])), held)


WORK: dict[str, Callable[[int], object]] = {
    "intervals": lambda n: by_intervals(values_of(column(n)), [Decimal(5), Decimal(50)]),
    "frequency": lambda n: by_frequency(rows_of(column(n)), [3, 9]),
    "groups, written and read back": written,
    "one rule of many values": lambda n: levels_in("{" + ", ".join(map(str, range(n))) + "} => x", "f", "f"),
    "many rules": lambda n: levels_in("".join(f"{{{v}}} => l{v // 9}\n" for v in range(n)), "f", "f"),
    "many intervals": lambda n: levels_in("".join(f"[{v}, {v + 1}) => l{v // 9}\n" for v in range(n)), "f", "f"),
    "intervals that all overlap": lambda n: refused("".join(f"[0, {v + 1}) => l{v}\n" for v in range(n))),
    "lines in quotes": lambda n: levels_in("".join(f'"{v}";"l{v // 9}"\n' for v in range(n)), "f", "f"),
    "quotes left open": lambda n: refused('"a;b\n' + "".join(f"{v};'\"\n" for v in range(n))),
    "one long cycle": lambda n: refused("".join(f"{v};{(v + 1) % n}\n" for v in range(n))),
    "a chain of rules": lambda n: refused("".join(f"{{{v}}} => {v + 1}\n" for v in range(n))),
    "ragged lines": lambda n: refused("a;b;c\nd;e;f\n" + "".join(f"{v};l\n{v}\n" for v in range(n))),
}


def seconds(work: Callable[[int], object], values: int) -> float:
    began = time.process_time()
    work(values)
    return time.process_time() - began


def main() -> None:
    print(f"Python {platform.python_version()}, pyarrow {pa.__version__}, numpy {np.__version__}")
    print(f"{'work':32} {FEW:>8,} values {MANY:>9,} values   times")
    for name, work in WORK.items():
        work(500)
        few, many = min(seconds(work, FEW) for _ in range(2)), seconds(work, MANY)
        print(f"{name:32} {few:13.3f} s {many:14.3f} s {many / few:7.1f}")


if __name__ == "__main__":
    main()
