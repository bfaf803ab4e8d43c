"""Make the sample register of driver licences: fictional people with a realistic shape.

::

    python include/samples/driver_licences.py [--rows 100000] [--seed 2019] [--output FILE]

Places, and how large they are next to each other, follow the order of the lines in ``include/hierarchies``. The same
seed gives the same bytes: every draw is a uniform number from PCG64, the one stream NumPy promises to keep.
"""

from __future__ import annotations

import argparse
import csv
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]
Days = NDArray[np.datetime64]
Words = NDArray[np.str_]

HERE = Path(__file__).resolve().parent
HIERARCHIES = HERE.parent / "hierarchies"
HEADER = "id,birth_year,municipality,province,sex,nationality,licence_category,issued,expires,points"
TAKEN_ON = np.datetime64("2019-12-31")  # the day the register was copied: the youngest, born in 2003, are 16
YEARS = (1916, 2003)
HOLDERS_BY_AGE = {16: 0.14, 17: 0.2, 18: 0.5, 20: 0.85, 30: 1.05, 40: 1.35, 52: 1.75, 60: 1.5, 70: 1.15, 80: 0.6}
HOLDERS_BY_AGE |= {86: 0.27, 91: 0.08, 96: 0.016, 103: 0.003}
CATEGORIES = ("AM", "A1", "A2", "A", "B", "BE", "C1", "C", "CE", "D1", "D", "DE")
EARLIEST_AGE = np.array([14, 16, 18, 20, 18, 18, 18, 21, 21, 21, 24, 24])
SHARES = {  # of each category, by who holds it
    "minor": (60, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
    "young": (2, 2, 3, 0, 92, 0.6, 0.4, 0, 0, 0, 0, 0),
    "women": (1, 0.4, 0.3, 2, 94, 0.8, 0.2, 0.4, 0.3, 0.1, 0.4, 0.1),
    "men": (0.7, 0.4, 0.6, 13, 69, 2.2, 0.8, 4, 6.5, 0.3, 2, 0.5),
    "old": (1.5, 0.3, 0, 5, 92, 0.4, 0.2, 0.4, 0.1, 0, 0.1, 0),
}


def first_columns(name: str, columns: int) -> list[Words]:
    """The first columns of a hierarchy file."""
    with (HIERARCHIES / name).open(encoding="utf-8", newline="") as file:
        lines = list(csv.reader(file, delimiter=";"))
    return [np.array([line[column] for line in lines]) for column in range(columns)]


def drawn(uniform: NDArray[np.float64], weights: Sequence[float] | NDArray[np.float64]) -> Codes:
    """Which of the weighted choices each uniform number falls on."""
    ends = np.cumsum(np.asarray(weights, dtype=np.float64))
    return np.minimum(np.searchsorted(ends / ends[-1], uniform, side="right"), len(ends) - 1)


def with_gaps(values: Words, gaps: NDArray[np.bool_]) -> Words:
    """The values, empty where there is a gap."""
    return np.where(gaps, "", values)


def categories_of(age: Codes, male: NDArray[np.bool_], uniform: NDArray[np.float64]) -> Codes:
    """A licence category that fits age and sex: B for people who are too young for the category that was drawn."""
    groups = [age < 18, age < 21, age > 76, male, ~male]
    choices = [drawn(uniform, SHARES[name]) for name in ("minor", "young", "old", "men", "women")]
    category = np.select(groups, choices)
    return np.where(EARLIEST_AGE[category] > age, CATEGORIES.index("B"), category)


def issue_days(birthday: Days, earliest_age: Codes, abroad: NDArray[np.bool_], rng: np.random.Generator) -> Days:
    """Working days from the first birthday that allows the licence: most within months, some decades later."""
    start = birthday + (earliest_age * 365.25).astype("timedelta64[D]")
    room = np.maximum((TAKEN_ON - start).astype(np.int64), 1)
    kind, amount = rng.random(len(birthday)), rng.random(len(birthday))
    prompt = np.where(abroad, 0.2, 0.74)
    days = np.select(
        [kind < prompt, kind < prompt + 0.2], [60 + 300 * amount**1.8, 365 * 8 * amount], 365 * 40 * amount
    )
    late = days >= room
    days[late] = (room * amount)[late]
    day = start + days.astype("timedelta64[D]")
    weekday = (day.astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday; Monday is 0
    friday: Days = np.minimum(day - np.maximum(weekday - 4, 0).astype("timedelta64[D]"), TAKEN_ON)
    return friday


def expiry_days(issued: Days, birthday: Days) -> Days:
    """Renewed until after the copy was taken: 10 years, from age 50 on 5, from 70 on 3, from 80 on 2."""
    birth_year = birthday.astype("datetime64[Y]")
    since_new_year = birthday - birth_year.astype("datetime64[D]")
    year = issued.astype("datetime64[Y]")
    current = issued
    while (ended := current <= TAKEN_ON).any():
        age = (year - birth_year).astype(np.int64)
        validity = np.select([age < 50, age < 70, age < 80], [10, 5, 3], 2)
        year = np.where(ended, year + validity.astype("timedelta64[Y]"), year)
        current = np.where(ended, year.astype("datetime64[D]") + since_new_year, current)
    return current


def points_of(issued: Days, rng: np.random.Generator) -> Codes:
    """20 to begin with, two more for every two clean years up to 30, fewer after offences."""
    held = (TAKEN_ON - issued).astype(np.int64) // 365
    earned = np.minimum(20 + 2 * (held // 2), 30)
    offences = drawn(rng.random(len(issued)), (84, 8, 4.5, 2, 1, 0.5))
    worst = np.array([0, 1, 3, 6, 11, 31])[offences]
    lost = np.ceil(worst * rng.random(len(issued)) ** 0.5)
    left: Codes = np.maximum(earned - lost.astype(np.int64), 0)
    return left


def register(rows: int, seed: int) -> list[Words]:
    """The columns of the register, in the order of the header."""
    rng = np.random.Generator(np.random.PCG64(seed))
    years = np.arange(YEARS[0], YEARS[1] + 1)
    age_weights = np.interp(2019 - years, list(HOLDERS_BY_AGE), list(HOLDERS_BY_AGE.values()))
    birth_year = years[drawn(rng.random(rows), age_weights)]
    age = 2019 - birth_year
    new_year = (birth_year - 1970).astype("datetime64[Y]").astype("datetime64[D]")
    birthday = new_year + (rng.random(rows) * 365).astype("timedelta64[D]")

    towns, provinces = first_columns("municipalities.csv", 2)
    rank = np.arange(1, len(towns) + 1)
    town = drawn(rng.random(rows), (1.2 - (rank / len(towns)) ** 4) / rank**1.1)
    (countries,) = first_columns("nationalities.csv", 1)
    country = drawn(rng.random(rows), [11 * len(countries), *(24 / np.arange(2, len(countries) + 1) ** 1.3)])

    male = rng.random(rows) < np.where(age > 70, 0.63, 0.52)
    category = categories_of(age, male, rng.random(rows))
    issued = issue_days(birthday, EARLIEST_AGE[category], country > 0, rng)
    expires = expiry_days(issued, birthday)
    points = points_of(issued, rng)
    no_town, no_sex, no_country, no_points = (rng.random(rows) < share for share in (0.002, 0.001, 0.01, 0.005))
    number = 10_000_000 + (np.arange(rows, dtype=np.int64) * 48_271_397 + seed) % 90_000_000  # coprime: no id twice
    return [
        number.astype(str),
        birth_year.astype(str),
        with_gaps(towns[town], no_town),
        with_gaps(provinces[town], no_town),
        with_gaps(np.where(male, "M", "F"), no_sex),
        with_gaps(countries[country], no_country),
        np.array(CATEGORIES)[category],
        np.datetime_as_string(issued),
        np.datetime_as_string(expires),
        with_gaps(points.astype(str), no_points),
    ]


def write(columns: Sequence[Words], output: Path) -> None:
    """Write the register whole or not at all; no value holds a comma, a quote or a line break."""
    output.parent.mkdir(parents=True, exist_ok=True)
    part = output.with_name(f".{output.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", newline="") as file:
            file.write(HEADER + "\n")
            file.writelines(",".join(row) + "\n" for row in zip(*(column.tolist() for column in columns), strict=True))
        part.replace(output)
    finally:
        part.unlink(missing_ok=True)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description="Make the sample register of driver licences; all people in it are fictional."
    )
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=2019)
    parser.add_argument("--output", type=Path, default=HERE / "driver_licences.csv")
    options = parser.parse_args(arguments)
    write(register(options.rows, options.seed), options.output)
    print(f"{options.output}: {options.rows:,} fictional people")


if __name__ == "__main__":
    main()
