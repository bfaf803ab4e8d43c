"""The gate counts people by a witness: it says what the core says, and refuses a witness that is not theirs."""

from __future__ import annotations

import hashlib
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import yaml
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from anon_airflow.gate import measurement
from anon_airflow.gate.witness import RejectedWitness, Witness, check_witness
from anon_core.engines.arrow import ArrowEngine
from anon_core.publishing.distribution import write_csv, write_parquet
from anon_core.report.criteria import Criteria
from anon_core.report.judgement import judge_recoding
from anon_core.report.recoding import recode_publication
from anon_core.spec import Publication, load_spec
from anon_core.table import Table
from tests.faults.publications import LENIENT
from tests.properties.judged import figures
from tests.properties.persons import PERSON, members, persons, projected
from tests.properties.tables import Cell, Row, table_of

TODAY = date(2026, 11, 18)
NAMES = ("town", "sex", "illness", "office")
CELLS = (
    st.sampled_from(["A", "B", None]),
    st.sampled_from("FM"),
    st.sampled_from(["flu", "cold", "gout"]),
    st.sampled_from("XY"),
)
SHARES = st.sampled_from([0.1, 0.3, 0.5, 0.8, 1.0])
SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much]


@st.composite
def policies(draw: st.DrawFn) -> dict[str, Any]:
    found: dict[str, Any] = {"k": draw(st.integers(2, 4)), "suppression_limit": 1.0}
    if draw(st.booleans()):
        found["l_diversity"] = [{"column": "illness", "l": 2, "kind": draw(st.sampled_from(["distinct", "entropy"]))}]
    if draw(st.booleans()):
        found["t_closeness"] = [{"column": "illness", "t": draw(SHARES)}]
    if draw(st.booleans()):
        found["alpha"] = [{"column": "illness", "alpha": draw(SHARES)}]
    if draw(st.booleans()):
        found["max_risk"] = draw(st.sampled_from([0.5, 0.8]))
    if draw(st.booleans()):
        found["max_rows_per_person"] = draw(st.integers(1, 6))
    if draw(st.booleans()):
        found["k_means"] = "link"
    found["singletons"] = draw(st.integers(0, 2))
    found["published_uniqueness"] = {**LENIENT, "max_share_alone": draw(SHARES)}
    return found


def publication(folder: Path, policy: dict[str, Any], method: str = "none") -> Publication:
    content = {
        "dataset": "people",
        "title": "People",
        "source": {"file": "people.csv"},
        "columns": {
            "whose": {"role": "identifier"},
            "town": {"role": "quasi", "hierarchy": {"root": "any"}},
            "sex": {"role": "quasi", "hierarchy": {"root": "any"}},
            "illness": {"role": "sensitive"},
            "office": {"role": "other"},
        },
        "privacy": policy,
        "recode": {"method": method},
        "unit": "whose",
        "reviewed": {"by": "Ada", "on": "2026-01-02"},
        "portal": {"folder": "portal"},
    }
    path = folder / "people.yaml"
    path.write_text(yaml.safe_dump(content))
    return load_spec(path)


@st.composite
def crowds(draw: st.DrawFn) -> tuple[list[Row], list[Cell]]:
    rows = draw(st.lists(st.tuples(*CELLS), min_size=4, max_size=24))
    return rows, draw(persons(len(rows)))


A_FEW_PEOPLE = (
    [("A", "F", "flu", "X")] * 10 + [("B", "F", "flu", "X")] * 2 + [("B", "M", "flu", "X"), ("B", "M", "flu", "Y")] * 2,
    [None] * 5 + ["p05"] * 5 + ["p10"] * 6,
)
"""Two people and nobody known: of rows every class has two, of people one."""


@settings(max_examples=20, deadline=None, suppress_health_check=SLOW)
@given(crowd=crowds(), policy=policies())
@example(
    crowd=A_FEW_PEOPLE,
    policy={
        "k": 2,
        "suppression_limit": 1.0,
        "k_means": "link",
        "singletons": 0,
        "published_uniqueness": {**LENIENT, "max_share_alone": 0.1},
    },
)
def test_the_gate_by_a_witness_says_what_the_core_says(
    crowd: tuple[list[Row], list[Cell]], policy: dict[str, Any]
) -> None:
    rows, people = crowd
    each = Counter(person for person in people if person is not None)
    assume(len(each) >= policy["k"] and max(each.values()) <= policy.get("max_rows_per_person", 6))
    table = table_of((*NAMES, PERSON), projected(rows, people))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = publication(folder, policy)
        recoded = recode_publication(spec, ArrowEngine.of(table, unit=PERSON))
        core = {one.name: figures(one) for one in judge_recoding(recoded, Criteria.of(spec), today=TODAY).checks}
        assert recoded.witness is not None
        files = [folder / "people.csv", folder / "people.parquet"]
        write_csv(recoded.released, files[0])
        write_parquet(recoded.released, files[1])
        original, witness = folder / "original.parquet", folder / "witness.parquet"
        write_parquet(table, original)
        write_parquet(recoded.witness, witness)
        verdict = measurement.measure(
            spec,
            files,
            rows_before=table.rows,
            today=TODAY,
            original=measurement.StagedOriginal(
                sha256=hashlib.sha256(original.read_bytes()).hexdigest(),
                frequencies=ArrowEngine.of(table).count(["town", "sex", "office", PERSON]),
                path=original,
            ),
            witness=Witness(path=witness, unit=PERSON),
        )
    gated = {one.name: figures(one) for one in verdict.checks}
    assert gated["witness"][0] and not [one.sentence for one in verdict.checks if one.observed == "not evaluated"]
    core.pop("made_from_original")  # In the gate that is the check `witness`.
    assert set(core) <= set(gated)
    assert {name: gated[name] for name in core} == core
    sets = members([row[:2] for row in rows], people)
    smallest = min(map(len, sets.values()))
    if policy.get("k_means") != "link":
        assert gated["k_anonymity"] == (smallest >= policy["k"], smallest, policy["k"])
        joint = min(map(len, members([(*row[:2], row[3]) for row in rows], people).values()))
        assert gated["joint_classes"] == (joint >= policy["k"], joint, policy["k"])


CHANGES = ("swapped", "shortened", "shifted", "reordered", "doubled", "shuffled rows")


@settings(max_examples=80, deadline=None, suppress_health_check=SLOW)
@given(crowd=crowds(), how=st.sampled_from(CHANGES), data=st.data())
def test_a_witness_is_believed_only_where_its_people_have_these_rows(
    crowd: tuple[list[Row], list[Cell]], how: str, data: st.DataObject
) -> None:
    rows, people = crowd
    assume(len({*people} - {None}) > 1)
    whole = projected(rows, people)
    table = table_of((*NAMES, PERSON), whole)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        spec = publication(folder, {"k": 2, "suppression_limit": 1.0, "published_uniqueness": LENIENT})
        recoded = recode_publication(spec, ArrowEngine.of(table, unit=PERSON))
        assert recoded.witness is not None
        original, witness = folder / "original.parquet", folder / "witness.parquet"
        write_parquet(table, original)
        names, cells = cells_of(recoded.witness)
        whose = names.index(PERSON)
        changed = change(cells, whose, how, data)
        write_parquet(table_of(names, changed), witness)
        released = ArrowEngine.of(recoded.released).count(spec.published)
        heard = check_witness(Witness(path=witness, unit=PERSON), spec, released, original)
    believed = not isinstance(heard, RejectedWitness)
    assert believed == (Counter(changed) == Counter(cells))
    if isinstance(heard, RejectedWitness):
        assert not any(str(person) in heard.sentence for person in people if person is not None)
    elif heard.number is not None:
        assert heard.number == len({person for person in people if person is not None})


def cells_of(table: Table) -> tuple[tuple[str, ...], list[Row]]:
    columns = [one.to_pylist() for one in table.to_arrow().columns]
    return table.names, list(zip(*columns, strict=True))


def change(cells: list[Row], whose: int, how: str, data: st.DataObject) -> list[Row]:
    """Change whose the rows are, or how many there are; shuffled rows are the same rows."""
    owners = [row[whose] for row in cells]
    match how:
        case "swapped":
            one, other = (data.draw(st.integers(0, len(cells) - 1)) for _ in range(2))
            owners[one], owners[other] = owners[other], owners[one]
        case "shifted":
            owners = owners[1:] + owners[:1]
        case "reordered":
            owners = data.draw(st.permutations(owners))
        case "shortened":
            return cells[:-1]
        case "doubled":
            return [*cells, cells[0]]
        case _:
            return data.draw(st.permutations(cells))
    return [(*row[:whose], owner, *row[whose + 1 :]) for row, owner in zip(cells, owners, strict=True)]
