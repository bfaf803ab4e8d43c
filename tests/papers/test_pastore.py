"""Pastore, Pellegrino, Scarano 2020, on the driver licences of Valle d'Aosta.

Numbers are singletons, rows changed and distinct tuples with levels kept apart: a province never equals a municipality.
Where the paper prints others, its own definition was followed.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from anon_core.detection.singletons import detect
from anon_core.frequency import FrequencyTable
from anon_core.hierarchy.ladder import Ladder, climb
from anon_core.measures.linkage.four_ks import k_anonymity
from anon_core.policy import Policy
from anon_core.recoding.singletons import SingletonColumns
from anon_core.recoding.singletons.search import recode_singletons
from anon_core.recoding.task import Candidate, Recoding, Task
from anon_core.spec import Intervals, Recode, Replace, Years
from anon_core.table import Table, read

pytestmark = pytest.mark.reference

QUASI = ("anno_nascita", "sesso", "comune_residenza")

# What is generalised: singletons, rows changed, distinct tuples. S: sex, M: municipality, Y: year of birth.
TABLE_1 = {
    "S_loc": ("sesso local", 1_264, 1_684, 8_964),
    "M_loc": ("comune_residenza local", 4, 1_684, 7_657),
    "S,M_loc": ("sesso local, comune_residenza local", 1, 1_684, 7_575),
    "S": ("sesso global", 621, 87_464, 5_166),
    "M": ("comune_residenza global", 4, 87_464, 167),
    "Y_ran": ("anno_nascita global", 198, 87_464, 2_739),
    "S,Y_ran": ("anno_nascita global, sesso global", 70, 87_464, 1_442),
    "S,M": ("sesso global, comune_residenza global", 1, 87_464, 85),
    "M,Y_ran": ("anno_nascita global, comune_residenza global", 0, 87_464, 43),
    "S,M,Y_ran": ("anno_nascita global, sesso global, comune_residenza global", 0, 87_464, 22),
}


@pytest.fixture(scope="module")
def licences(reference_data: Path) -> Table:
    return read(reference_data / "driver_licences_valle_aosta.csv.gz")


@pytest.fixture(scope="module")
def complete(licences: Table) -> Table:
    """The rows without a gap in the quasi-identifiers, as the paper has them."""
    gaps = np.logical_or.reduce([licences.column(name).gaps for name in QUASI])
    return licences.keep(~gaps)


def ladders(complete: Table) -> list[Ladder]:
    """Year: to the root; sex: to the root; municipality: to its province."""
    rows = complete.select(["comune_residenza", "provincia_residenza"]).to_arrow()
    province = dict(zip(rows["comune_residenza"].to_pylist(), rows["provincia_residenza"].to_pylist(), strict=True))
    built = []
    for name in QUASI:
        domain = complete.column(name).domain
        towns = name == "comune_residenza"
        paths = {value: [province[value]] if towns else [] for value in domain.to_pylist()}
        built.append(climb(name, domain, paths, [*(["province"] if towns else []), "suppressed"]))
    return built


def recoded(complete: Table, replace: Replace, *, k: int = 2) -> Recoding:
    years = Years(column="anno_nascita", intervals=Intervals.DISTINCT, size=4, replace=replace)
    return solve(complete, SingletonColumns(columns=("sesso", "comune_residenza"), years=years), Policy(k=k))


def solve(complete: Table, given: SingletonColumns, policy: Policy) -> Recoding:
    settings = Recode(method="singletons", singletons=given)
    return recode_singletons(Task.of(FrequencyTable.of(complete, QUASI), ladders(complete), policy, settings=settings))


def by_method(recoding: Recoding, method: str) -> list[Candidate]:
    return [candidate for candidate in recoding.candidates if candidate.method == method]


@pytest.fixture(scope="module")
def recoding(complete: Table) -> Recoding:
    return recoded(complete, Replace.RANGE)


def test_the_table_as_collected(licences: Table, complete: Table) -> None:
    frequencies = FrequencyTable.of(complete, QUASI)
    assert (licences.rows, complete.rows, licences.rows - complete.rows) == (87_642, 87_464, 178)
    assert (frequencies.singletons, frequencies.tuples) == (1_684, 9_174)


@pytest.mark.parametrize("case", TABLE_1)
def test_the_recodings_of_table_1(recoding: Recoding, case: str) -> None:
    name, singletons, changed, distinct = TABLE_1[case]
    (found,) = [candidate for candidate in by_method(recoding, "singletons") if candidate.name == name]
    assert (found.singletons, found.rows_changed, found.distinct) == (singletons, changed, distinct)


def test_every_combination_is_tried_and_the_one_that_changes_fewest_rows_without_singletons_elected(
    recoding: Recoding,
) -> None:
    tried = by_method(recoding, "singletons")
    assert len(tried) == 3 * 3 * 2 - 1
    (elected,) = [candidate for candidate in recoding.candidates if candidate.elected]
    assert elected.singletons == 0
    assert elected.rows_changed == min(c.rows_changed for c in tried if c.singletons == 0)
    assert recoding.plan.released().singletons == 0


def test_the_mean_in_place_of_the_interval_gives_the_same_counts(complete: Table, recoding: Recoding) -> None:
    """The paper prints others, for intervals of other widths; a bijection changes no count."""
    means = recoded(complete, Replace.MEAN)
    assert [(c.singletons, c.distinct) for c in means.candidates] == [
        (c.singletons, c.distinct) for c in recoding.candidates
    ]


def test_local_recoding_of_singletons_leaves_small_classes(complete: Table) -> None:
    given = SingletonColumns(columns=("comune_residenza",))
    recoding = solve(complete, given, Policy(k=2, suppression_limit=0.001))
    assert recoding.plan.rows_removed == 4
    (local,) = [c for c in recoding.candidates if c.name == "comune_residenza local"]
    assert (local.elected, local.k) == (True, 2)
    below = k_anonymity(recoding.plan.released(), QUASI, k=5).rows_below
    assert below / complete.rows == pytest.approx(0.095, abs=0.0005)


def test_plain_k_anonymity_changes_nearly_all_rows_and_drops_the_singletons(recoding: Recoding) -> None:
    """The paper's comparison: of every set generalised everywhere it drops the singletons of Table 1 (k=2)."""
    compared = {c.name: c for c in by_method(recoding, "k-anonymity")}
    globally = {name: singletons for name, singletons, *_ in TABLE_1.values() if "local" not in name}
    assert {name: c.rows_removed for name, c in compared.items()} == globally
    assert all(c.rows_changed + c.rows_removed == 87_464 and not c.elected for c in compared.values())
    (local,) = [c for c in by_method(recoding, "singletons") if c.name == "comune_residenza local"]
    assert local.rows_changed < 0.02 * 87_464


def test_of_larger_classes_only_the_generalisation_of_sex_needs_the_higher_suppression(complete: Table) -> None:
    compared = {c.name: c for c in by_method(recoded(complete, Replace.RANGE, k=3), "k-anonymity")}
    needs = {name for name, c in compared.items() if "at most 0.05" in str(c.reason)}
    assert needs == {"sesso global"}
    assert all("at most 0.0" in str(c.reason) for c in compared.values())


def test_hand_picked_columns_hide_what_the_date_of_issue_reveals(complete: Table) -> None:
    everything = FrequencyTable.of(complete, [name for name in complete.names if name != "id"])
    shares = [
        everything.project(columns).singletons / complete.rows
        for columns in [QUASI, [*QUASI, "data_rilascio"], everything.names]
    ]
    assert shares == pytest.approx([0.0193, 0.879, 0.9963], abs=0.0005)


def test_detection_finds_worse_sets_than_people_pick_by_hand(complete: Table) -> None:
    everything = FrequencyTable.of(complete, [name for name in complete.names if name != "id"])
    found = detect(everything, max_size=4)
    picked = everything.project([*QUASI, "data_rilascio"]).singletons
    assert found.best is not None
    assert found.best == found.best_by_size[3]
    assert found.best.columns == ("anno_nascita", "comune_residenza", "data_abilitazione_a", "data_scadenza")
    assert found.best.singletons == 86_438 > picked
    assert [best.singletons for best in found.best_by_size] == sorted(best.singletons for best in found.best_by_size)
    assert detect(FrequencyTable.of(complete, QUASI)).best_by_size[2].singletons == 1_684
    assert detect(FrequencyTable.of(complete, ["id", *QUASI])).identifiers == (("id",),)
