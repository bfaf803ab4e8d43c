"""One real Airflow for all slow tests, with publications that pass, that are refused and that break."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.dags.airflow_server import Airflow, running_airflow, until
from tests.faults.publications import COLUMNS, NAMES, TOWNS, csv_text, people, write_publication

PASSES, REFUSED, BREAKS, UNMAPPED = "people", "people-local", "people-breaking", "people-unmapped"
UNINFORMED = "people-uninformed"
"""A publication of which `detect` and `score` fail."""
APPROVAL: dict[str, dict[str, Any]] = {
    "asked-approved": {"users": ["olga", "uwe"]},
    "asked-rejected": {"users": ["olga"], "timeout": "1h"},
    "asked-marked": {},
    "asked-four-eyes": {"four_eyes": True},
    "asked-in-vain": {"timeout": "3s"},
    "asked-again": {},
}
"""Publications that ask for approval, each for the end that it comes to."""
BYPASS = (
    "swap-all",
    "swap-one",
    "suite-emptied",
    "suite-shortened",
    "classes-gone",
    "spec-changed",
    "twice-at-once",
)
"""Publications that wait for approval while somebody tampers with them."""
WEIGHTED = "weighted"
"""A publication with a column that is named like the weights of the gate."""
FOLLOWS = "follower"
"""A publication that runs whenever the one that passes is published."""
STOPPED = "stopped"
"""A publication with a portal of its own, for others to lock."""
DATASETS = (PASSES, REFUSED, BREAKS, UNMAPPED, UNINFORMED, *APPROVAL, *BYPASS, WEIGHTED, FOLLOWS, STOPPED)
CANARIES = ("QanaryIdentifier", "QanaryDropped", "QanaryTown", "QanarySensitive")
AIRFLOW_SETTINGS = {"retries": 0, "owner": "open-data"}

# Steps that fail with cells in the text and in the local variables of the error, as libraries do. They are planted into
# the workers with sitecustomize, for the two publications that have a column called `breaking` or `uninformed`.
SITECUSTOMIZE = textwrap.dedent(
    """
    import importlib.machinery, pathlib, sys

    PLANTED = {
        "anon_core.report.recoding": ("types_note", "breaking", lambda table: table.columns),
        "anon_core.measures.profile": ("profile", "uninformed", lambda column: [column]),
        "anon_core.detection.selective": ("select", "uninformed", lambda frequencies: []),
    }

    class Finder:
        def find_spec(self, name, path=None, target=None):
            if name == "anon_airflow.expectations" and pathlib.Path(__file__).with_name("classes-gone").exists():
                raise ImportError(name)
            if name not in PLANTED:
                return None
            spec = importlib.machinery.PathFinder.find_spec(name, path)
            execute = spec.loader.exec_module
            function, breaking, columns_of = PLANTED[name]

            def exec_module(module):
                execute(module)
                work = getattr(module, function)

                def broken(given, **options):
                    for column in columns_of(given):
                        if column.name == breaking:
                            cells = column.domain.to_pylist()
                            raise ValueError(f"could not convert {cells[0]!r} to float")
                    if breaking in getattr(given, "names", ()):
                        raise ValueError(f"could not convert {given.domains[0][0]} to float")
                    return work(given, **options)

                setattr(module, function, broken)

            spec.loader.exec_module = exec_module
            return spec

    sys.meta_path.insert(0, Finder())
    if "scheduler" in sys.orig_argv:  # Its workers are forked from it, and would import these for every task.
        import great_expectations, pandas, pyarrow.parquet
    """
)


@dataclass(frozen=True)
class Runs:
    """The runs that were triggered when Airflow had started, by dataset, and how they ended."""

    ids: dict[str, str]
    states: dict[str, str]


def dag_of(dataset: str) -> str:
    return "publish_" + dataset.replace("-", "_")


def register() -> str:
    """People, with a canary in cells that must not get out: one row each, which recoding removes or generalises."""
    plain = ["1950", "Alba", "F", "7", "x"]
    rows = [*people(), *[[f"Q{number}", *plain] for number in range(10)]]
    for at, canary in zip((0, 5, 2, 4), CANARIES, strict=True):
        row = [f"Q1{at}", *plain]
        row[at] = canary
        rows.append(row if at != 4 else [row[0], "1850", *row[2:]])
    return csv_text(rows)


def renamed(old: str, new: str) -> tuple[dict[str, Any], str]:
    """The columns and the register with another name for one column."""
    columns = {new if name == old else name: column for name, column in COLUMNS.items()}
    header = ",".join(new if name == old else name for name in NAMES)
    return columns, register().replace(",".join(NAMES), header)


def write_publications(folder: Path) -> Path:
    towns = [*TOWNS, ("QanaryTown", "NORTH")]
    common = {"airflow": AIRFLOW_SETTINGS, "source": register()}
    write_publication(folder, dataset=PASSES, towns=towns, **common)
    write_publication(folder, dataset=FOLLOWS, towns=towns, schedule={"asset": f"anonflow://{PASSES}"}, **common)
    write_publication(folder, dataset=REFUSED, towns=towns, recode={"method": "none"}, **common)
    columns, source = renamed("points", "breaking")
    source = source.replace(",7,x", ",QanarySensitive,x")
    write_publication(folder, dataset=BREAKS, towns=towns, columns=columns, **{**common, "source": source})
    columns, source = renamed("town", "uninformed")
    write_publication(folder, dataset=UNINFORMED, towns=towns, columns=columns, **{**common, "source": source})
    unmapped = {**common, "source": register().replace("QanaryTown", "QanaryNowhere")}
    write_publication(folder, dataset=UNMAPPED, towns=towns, **unmapped)
    for dataset, approval in APPROVAL.items():
        settings = {**AIRFLOW_SETTINGS, "retries": 2}
        asking = {**common, "airflow": settings, "approval": {"required": True, **approval}}
        write_publication(folder, dataset=dataset, towns=towns, **asking)
    for dataset in BYPASS:
        settings = {**AIRFLOW_SETTINGS, "max_active_runs": 2 if dataset == "twice-at-once" else 1}
        waiting = {**common, "airflow": settings, "approval": {"required": True}}
        write_publication(folder, dataset=dataset, towns=towns, **waiting)
    weights, source = renamed("points", "rows")
    unrecoded = {"columns": weights, "recode": {"method": "none"}, "source": source}
    write_publication(folder, dataset=WEIGHTED, towns=towns, **{**common, **unrecoded})
    stopped = {**common, "airflow": {**AIRFLOW_SETTINGS, "retries": 2}, "portal": {"folder": "portal-stopped"}}
    write_publication(folder, dataset=STOPPED, towns=towns, **stopped)
    return folder / "include"


def people_wrote(folder: Path) -> list[Path]:
    """The files that hold canaries because somebody wrote them: sources, a hierarchy, and the step that breaks."""
    include = folder / "include"
    sources = [include / f"samples/{name}.csv" for name in DATASETS]
    return [*sources, include / "hierarchies/towns.csv", folder / "python/sitecustomize.py"]


@pytest.fixture(scope="session")
def airflow(tmp_path_factory) -> Iterator[Airflow]:
    folder = tmp_path_factory.mktemp("real-airflow")
    include = write_publications(folder)
    (folder / "python").mkdir()
    (folder / "python/sitecustomize.py").write_text(SITECUSTOMIZE)
    with running_airflow(folder, include, folder / "python") as airflow:
        yield airflow


@pytest.fixture(scope="session")
def runs(airflow) -> Runs:
    """Trigger every publication once, through the API, and wait until all have ended."""
    datasets = (PASSES, REFUSED, BREAKS, UNMAPPED, UNINFORMED)
    wanted = set(map(dag_of, datasets))
    until(lambda: wanted <= {dag["dag_id"] for dag in airflow.ask("GET", "/api/v2/dags")["dags"]}, 60, "the DAGs")
    ids = {dataset: airflow.trigger(dag_of(dataset)) for dataset in datasets}
    return Runs(ids, {dataset: airflow.wait(dag_of(dataset), run_id) for dataset, run_id in ids.items()})
