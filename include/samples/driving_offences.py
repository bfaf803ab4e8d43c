"""Make the sample of driving offences: several rows for many of the fictional holders of a driver licence.

::

    python include/samples/driving_offences.py [--seed 2019] [--output FILE]

It is made from the register of `driver_licences.py`, which must be there. The same register and seed give the
same bytes.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from driver_licences import HERE, drawn

REGISTER = HERE / "driver_licences.csv"
HEADER = ("holder", "birth_year", "municipality", "sex", "offence", "points_lost")
OFFENCES = {"speeding": 3, "parking": 0, "telephone": 5, "seat belt": 5, "red light": 6, "alcohol": 10}
SHARES = (46, 24, 12, 9, 7, 2)
HOLDERS_BY_OFFENCES = (70, 14, 8, 4, 2, 1, 1)
"""How many holders have no offence, one, two and so on."""


def offences(register: Path, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows, holder by holder."""
    rng = np.random.Generator(np.random.PCG64(seed))
    names = list(OFFENCES)
    with register.open(encoding="utf-8", newline="") as file:
        holders = [(row["id"], row["birth_year"], row["municipality"], row["sex"]) for row in csv.DictReader(file)]
    for holder, times in zip(holders, drawn(rng.random(len(holders)), HOLDERS_BY_OFFENCES).tolist(), strict=True):
        for what in drawn(rng.random(times), SHARES).tolist():
            yield (*holder, names[what], str(OFFENCES[names[what]]))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Make the sample of driving offences; all people in it are fictional.")
    parser.add_argument("--seed", type=int, default=2019)
    parser.add_argument("--output", type=Path, default=HERE / "driving_offences.csv")
    options = parser.parse_args(arguments)
    rows = list(offences(REGISTER, options.seed))
    with options.output.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([HEADER, *rows])
    print(f"{options.output}: {len(rows):,} offences of {len({row[0] for row in rows}):,} fictional people")


if __name__ == "__main__":
    main()
