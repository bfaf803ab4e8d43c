"""Publications of one small register under many policies, and everything that is decided about each of them."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from anon_core.errors import ComplianceError
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import csv_text, write_publication

TOWNS = [
    ("Alba", "North", "all"),
    ("Bria", "North", "all"),
    ("Cusa", "North", "all"),
    ("Elva", "South", "all"),
    ("Fara", "South", "all"),
]
ILLNESSES = [("flu", "common"), ("cold", "common"), ("gout", "rare"), ("AIDS", "rare")]
COLUMNS: dict[str, Any] = {
    "id": {"role": "identifier"},
    "born": {"role": "quasi", "priority": 1, "hierarchy": {"intervals": [5, 10, 20]}},
    "town": {"role": "quasi", "priority": 2, "hierarchy": {"file": "hierarchies/towns.csv"}},
    "sex": {"role": "quasi", "priority": 3, "hierarchy": {"root": "any"}},
    "illness": {"role": "sensitive"},
    "points": {"role": "sensitive", "type": "integer"},
    "office": {"role": "other"},
}
CLIMBED = {**COLUMNS, "illness": {"role": "sensitive", "hierarchy": {"file": "hierarchies/illnesses.csv"}}}
SEED = 20261118
OF_ONE_FILE = ("unchanged",)
"""Checks of bytes: what they observe is another digest for every file."""
SAFE = {"method": "prioritised", "mode": "safe"}
FREEFORM = {"sigma_o": 0.6, "sigma_t": 0.6, "columns": {"illness": {"guard": ["AIDS"]}}}
UNTIL = {"reason": "a reason for tests", "by": "Anna", "until": "2099-12-31"}
CLAIMED = {"rows_are_people": UNTIL}
"""Fifty birth years in 600 rows repeat like numbers of people; here they are none."""

CASES: dict[str, dict[str, Any]] = {
    "global": {"recode": {"method": "global"}},
    "global, by information left": {"recode": {"method": "global", "utility": "nue"}},
    "safe": {"recode": SAFE},
    "link": {"recode": {"method": "prioritised", "mode": "link"}, "privacy": {"k_means": "link"}},
    "paper": {"recode": {"method": "prioritised", "mode": "paper"}, "privacy": {"k_means": "link"}},
    "singletons, refused": {"recode": {"method": "singletons", "singletons": {"columns": ["town", "sex"]}}},
    "none, refused": {"recode": {"method": "none"}},
    "best": {"recode": {"method": "best"}},
    "distinct l": {"recode": SAFE, "privacy": {"l_diversity": [{"column": "illness", "l": 2}]}},
    "entropy and recursive l": {
        "recode": {"method": "global"},
        "privacy": {
            "l_diversity": [
                {"column": "illness", "l": 1.5, "kind": "entropy"},
                {"column": "points", "l": 2, "c": 4, "kind": "recursive"},
            ]
        },
    },
    "t by three distances": {
        "columns": CLIMBED,
        "recode": {"method": "global"},
        "privacy": {
            "t_closeness": [
                {"column": "illness", "t": 0.6},
                {"column": "illness", "t": 0.6, "distance": "hierarchical"},
                {"column": "points", "t": 0.5, "distance": "ordered"},
            ]
        },
    },
    "alpha and risk": {
        "recode": SAFE,
        "privacy": {"alpha": [{"column": "illness", "alpha": 0.9}], "max_risk": 0.12},
    },
    "freeform, then k": {
        "columns": {**CLIMBED, "born": {"role": "drop"}},
        "unit": CLAIMED,
        "recode": {"method": "freeform", "then": "prioritised"},
        "privacy": {"freeform": FREEFORM},
    },
    "freeform, unreached and waived": {
        "columns": {**CLIMBED, "born": {"role": "drop"}},
        "unit": CLAIMED,
        "recode": {"method": "global"},
        "privacy": {"freeform": {**FREEFORM, "sigma_t": 0.1}, "waivers": [{"check": "freeform", **UNTIL}]},
    },
    "sensitivity": {
        "recode": {"method": "global"},
        "privacy": {"max_sensitivity": 0.9},
        "detect": {"max_size": 5, "approximate": 0.2, "ignore_duplicates": True},
    },
    "a set of columns is accepted": {
        "recode": {"method": "global"},
        "privacy": {
            "published_uniqueness": {
                "max_size": 1,
                "accept": [{"columns": ["born", "town", "sex", "office"], **UNTIL}],
            },
        },
        "offices": 400,
    },
    "no quasi-identifiers": {
        "recode": {"method": "none"},
        "unit": CLAIMED,
        "columns": {**COLUMNS, "born": {"role": "drop"}, "town": {"role": "drop"}, "sex": {"role": "drop"}},
    },
    "missing cells are dropped": {"recode": {"method": "global"}, "missing": "drop", "gaps": 0.05},
    "missing cells are a category": {"recode": SAFE, "gaps": 0.05},
}


def people(offices: int, gaps: float) -> list[tuple[str, ...]]:
    """People whose birth year, town and sex single many of them out; some have cells left empty."""
    draw = random.Random(SEED)

    def some(value: str) -> str:
        return "" if draw.random() < gaps else value

    return [
        (
            f"P{number:06}",
            some(str(draw.randint(1950, 1999))),
            some(draw.choice(TOWNS)[0]),
            some(draw.choice("FM")),
            draw.choices([name for name, _ in ILLNESSES], [10, 6, 3, 1])[0],
            str(draw.randint(1, 9)),
            f"office {draw.randrange(offices)}" if offices > 1 else "the office",
        )
        for number in range(600)
    ]


def publication(folder: Path, case: Mapping[str, Any]) -> Path:
    """Write the publication of a case and return its file."""
    changes = {"columns": COLUMNS, **case}
    rows = people(changes.pop("offices", 1), changes.pop("gaps", 0.0))
    privacy = {"k": 5, "suppression_limit": 0.05, **changes.pop("privacy", {})}
    spec = write_publication(
        folder,
        source=csv_text(rows, tuple(COLUMNS)),
        towns=TOWNS,
        privacy=privacy,
        **{"detect": {"max_size": 3}, **changes},
    )
    lines = "".join(f"{name};{kind};any illness\n" for name, kind in ILLNESSES)
    (folder / "include/hierarchies/illnesses.csv").write_text(lines)
    return spec


def decided(folder: Path, case: Mapping[str, Any]) -> dict[str, Any]:
    """
    Return what is decided about a case, and by whom.

    That is the released bytes; by name of the check what the gate and ``anon check`` observed, required and concluded;
    how the gate ended; and what recoding has measured of its own result.
    """
    spec = publication(folder, case)
    run = run_of(spec, folder / "home")
    try:
        take(run, "stage", "detect", "score", "recode")
    except ComplianceError as error:
        return {"recoding": type(error).__name__}
    release = run.staging / "release"
    kept = folder / "released.csv"
    kept.write_bytes((release / "people.csv").read_bytes())
    found = {
        "csv": hashlib.sha256(kept.read_bytes()).hexdigest(),
        "parquet": _digest(release / "people.parquet"),
        "recoding": _measured(run.noted("recode")),
    }
    try:
        take(run, "gate")
        passed = True
    except ComplianceError:
        passed = False
    found["gate"] = {"passed": passed, "checks": by_name(run.noted("gate")["checks"])}
    original = folder / "include/samples/people.csv"
    checked = anon("check", kept, "--spec", spec, "--original", original, "--json", home=folder / "home")
    found["check"] = {"code": checked.code, "checks": by_name(checked.json["checks"]) if checked.code < 2 else {}}
    return json.loads(json.dumps(found))


def by_name(checks: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Return what was observed, required and concluded by name of the check; the same for every file."""
    found: dict[str, list[Any]] = {}
    for check in checks:
        figures = ("observed", "required") if check["name"] not in OF_ONE_FILE else ()
        told = [*(_rounded(check[figure]) for figure in figures), check["passed"]]
        assert found.setdefault(check["name"], told) == told, check["name"]
    return found


def _measured(note: dict[str, Any]) -> dict[str, Any]:
    wanted = ("rows_removed", "after", "utility", "unique_rows_published", "optimal")
    return _rounded({name: note[name] for name in wanted})


def _rounded(value: Any) -> Any:
    """Return figures with ten digits: sums of floats may differ in their last ones."""
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _digest(path: Path) -> str:
    """Return a digest of the cells and types of a Parquet file: its bytes name the version that wrote it."""
    table = pq.read_table(path)
    return hashlib.sha256(repr([str(table.schema), table.to_pylist()]).encode()).hexdigest()
