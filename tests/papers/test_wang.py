"""Wang, Xu, Fu and Wong 2009: the examples of the paper."""

from __future__ import annotations

from pathlib import Path

import pytest

from anon_core.engines.arrow import ArrowEngine
from anon_core.hierarchy.taxonomy import taxonomy
from anon_core.measures.freeform import Definition, FreeformCheck, GuardedColumn, check_freeform, guarded
from anon_core.policy import Belief, Freeform, Guard, PartialPolicy, Sensitivity
from anon_core.recoding.freeform.search import recode_freeform
from anon_core.recoding.freeform_problem import FreeformProblem
from anon_core.recoding.task import Task
from anon_core.spec import Hierarchy, PartialPublication, Recode
from anon_core.table import Table
from tests.properties.tables import table_of

NAMES = ("Sex", "Income", "Disease")
# Figure 1 is a picture: the rows are ours, the attacks are the paper's.
T1 = [
    ("F", "190K", "Flu"),
    ("F", "160K", "AIDS"),
    ("F", "120K", "E.Coli"),
    ("F", "90K", "TB"),
    ("F", "40K", "E.Coli"),
    ("F", "30K", "E.Coli"),
    ("M", "190K", "AIDS"),
    ("M", "160K", "AIDS"),
    ("M", "120K", "E.Coli"),
    ("M", "90K", "E.Coli"),
    ("M", "40K", "Flu"),
    ("M", "30K", "Flu"),
]
DISEASES = "Flu;VI\nAIDS;VI\nE.Coli;BI\nTB;BI\n"
INCOMES = "190K;High\n160K;High\n120K;Middle\n90K;Middle\n40K;Low\n30K;Low\n"
GS1, GS2 = ("AIDS", "TB"), ("AIDS", "BI")
BY_BRACKET = Belief(belief={"default": 0}, boost=1)
POLICY = Freeform(
    sigma_o=1,
    sigma_t=0.5,
    columns={"Income": Guard(guard=("High", "Middle", "Low"), observability=BY_BRACKET), "Disease": Guard(guard=GS1)},
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "diseases.csv").write_text(DISEASES)
    (tmp_path / "incomes.csv").write_text(INCOMES)
    return tmp_path


def judged(folder: Path, name: str, guard: Guard) -> GuardedColumn:
    file = {"Income": "incomes.csv", "Disease": "diseases.csv"}[name]
    return guarded(taxonomy(table_of(NAMES, T1).column(name), Hierarchy(file=file), folder), guard, 1)


def by_label(column: GuardedColumn, values: object) -> dict[str | None, float]:
    return dict(zip(column.taxonomy.labels, values.tolist(), strict=True))  # type: ignore[attr-defined]


def task_of(folder: Path) -> Task:
    publication = PartialPublication.model_validate(
        {
            "columns": {
                "Sex": {"role": "quasi"},
                "Income": {"role": "sensitive", "hierarchy": {"file": str(folder / "incomes.csv")}},
                "Disease": {"role": "sensitive", "hierarchy": {"file": str(folder / "diseases.csv")}},
            },
            "recode": {"method": "freeform"},
        }
    )
    table: Table = table_of(NAMES, T1)
    task = Task.of_table(publication, PartialPolicy(k=2, freeform=POLICY), ArrowEngine(table=table))
    assert task.settings == Recode(method="freeform")
    return task


def told(problem: FreeformProblem, check: FreeformCheck) -> dict[str, tuple[list[str | None], str | None, int]]:
    """What is seen and inferred by the worst attack on every column, and in how many rows."""
    found = {}
    for one in check.columns:
        assert one.attack is not None
        at = problem.frequencies.names.index(one.column)
        labels = [column.taxonomy.labels for column in problem.columns]
        seen = [labels[i][label] for i, label in enumerate(one.attack.observed) if label >= 0]
        found[one.column] = (seen, labels[at][one.attack.target], one.attack.rows)
    return found


def test_example_1_1_the_attacks_on_t1(folder: Path) -> None:
    problem = task_of(folder).freeform
    assert problem is not None
    as_collected = [
        ladder.maps[0][codes] for ladder, codes in zip(problem.ladders, problem.frequencies.codes, strict=True)
    ]
    published = problem.published(as_collected)
    for definition in Definition:
        check = check_freeform(published, problem.columns, problem.sigma_t, definition=definition)
        assert {one.column: (one.breaches, one.rows, one.threat) for one in check.columns} == {
            "Income": (1, 1, 1.0),
            "Disease": (1, 2, 1.0),
        }
        assert told(problem, check) == {
            "Income": (["F", "Flu"], "190K", 1),
            "Disease": (["M", "High"], "AIDS", 2),
        }


def test_example_1_1_flu_and_aids_become_vi_in_t3(folder: Path) -> None:
    task = task_of(folder)
    recoding = recode_freeform(task)
    plan = recoding.plan
    labels = [ladder.labels.to_pylist() for ladder in plan.ladders]
    released = plan.released()
    rows = sorted(tuple(labels[i][codes[n]] for i, codes in enumerate(released.codes)) for n in range(released.tuples))
    generalised = {"Flu": "VI", "AIDS": "VI"}
    assert rows == sorted((sex, income, generalised.get(disease, disease)) for sex, income, disease in T1)
    assert task.freeform is not None
    check = task.freeform.check(plan)
    assert check.holds
    # {F, VI} -> 190K has only 50 % certainty.
    assert {one.column: one.threat for one in check.columns} == {"Income": 0.5, "Disease": 0.5}


def test_example_1_1_t2_loses_more(folder: Path) -> None:
    ours, suppressed = recode_freeform(task_of(folder)).candidates
    assert ours.elected and not suppressed.elected
    assert suppressed.rows_changed == len(T1)
    assert ours.nue is not None and suppressed.nue is not None and ours.nue > suppressed.nue


def test_example_2_1_guarding_sets_name_leaves_and_labels(folder: Path) -> None:
    for guard, leaves in ((GS1, {"AIDS", "TB"}), (GS2, {"AIDS", "E.Coli", "TB"})):
        column = judged(folder, "Disease", Guard(guard=guard))
        values = by_label(column, column.sensitivity)
        assert {name for name in ("Flu", "AIDS", "E.Coli", "TB") if values[name] == 1} == leaves


def test_example_2_2_aggregate_sensitivity(folder: Path) -> None:
    column = judged(folder, "Disease", Guard(guard=GS1))
    assert by_label(column, column.sensitivity) == {
        "AIDS": 1, "TB": 1, "Flu": 0, "E.Coli": 0, "VI": 0.5, "BI": 0.5, "*": 0.5,
    }  # fmt: skip


def test_equation_2_non_aggregate_sensitivity(folder: Path) -> None:
    column = judged(folder, "Disease", Guard(guard=GS2, sensitivity=Sensitivity.NON_AGGREGATE))
    assert by_label(column, column.sensitivity) == {
        "AIDS": 1, "TB": 1, "Flu": 0, "E.Coli": 1, "VI": 1 / 4, "BI": 2 / 4, "*": 3 / 16,
    }  # fmt: skip


def test_example_2_3_observability_by_sensitivity(folder: Path) -> None:
    column = judged(folder, "Disease", Guard(guard=GS1))
    assert by_label(column, column.observability) == {
        "AIDS": 0, "TB": 0, "Flu": 1, "E.Coli": 1, "VI": 1, "BI": 1, "*": 1,
    }  # fmt: skip


def test_a_boost_of_1_lets_brackets_be_observed_and_no_exact_income(folder: Path) -> None:
    column = judged(folder, "Income", POLICY.columns["Income"])
    values = by_label(column, column.observability)
    assert {name for name, value in values.items() if value == 1} == {"High", "Middle", "Low", "*"}
    assert {name for name, value in values.items() if value == 0} == {"190K", "160K", "120K", "90K", "40K", "30K"}
