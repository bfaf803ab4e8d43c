"""What parsing the DAG file costs, in CPU seconds beyond Airflow's own import, with 1 and with 200 publication files.

Each figure is the median of fresh interpreters: Airflow parses in a new process every time. The target is below 1 s.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
REPEATS = 5
MEASURE = f"""
import time
started = time.process_time()
import airflow.sdk
from airflow.sdk import DAG, Asset, BaseOperator, get_parsing_context
from airflow.sdk.exceptions import AirflowFailException
imported = time.process_time()
import importlib.util
found = importlib.util.spec_from_file_location("publications", {str(ROOT / "dags/publications.py")!r})
module = importlib.util.module_from_spec(found)
found.loader.exec_module(module)
parsed = time.process_time()
dags = sum(name.startswith("publish_") for name in vars(module))
print("MEASURED", imported - started, parsed - imported, dags)
"""


def write_publications(include: Path, count: int) -> None:
    """Write so many copies of the sample's publication file, each with a name of its own."""
    (include / "publications").mkdir(parents=True)
    text = (ROOT / "include/publications/driver-licences.yaml").read_text()
    for number in range(count):
        name = f"dataset-{number}"
        copy = text.replace("dataset: driver-licences ", f"dataset: {name} ")
        (include / "publications" / f"{name}.yaml").write_text(copy)


def measure(include: Path, home: Path, only: str = "") -> tuple[float, float, int]:
    """Return the CPU seconds of Airflow's import and of parsing, and how many DAGs there were."""
    environ = os.environ | {"ANON_INCLUDE": str(include), "AIRFLOW_HOME": str(home)}
    environ |= {"_AIRFLOW_PARSING_CONTEXT_DAG_ID": only} if only else {}
    ended = subprocess.run([sys.executable, "-c", MEASURE], env=environ, capture_output=True, text=True, check=True)
    words = next(line for line in ended.stdout.splitlines() if line.startswith("MEASURED")).split()
    return float(words[1]), float(words[2]), int(words[3])


def main() -> None:
    versions = {name: importlib.metadata.version(name) for name in ("anonflow", "apache-airflow", "pydantic", "PyYAML")}
    print(f"Python {platform.python_version()}, " + ", ".join(f"{name} {number}" for name, number in versions.items()))
    print(f"{os.cpu_count()} cores, median of {REPEATS} processes, CPU seconds\n")
    print(f"{'publication files':28}{'DAGs':>6}{'Airflow import':>16}{'parse':>8}")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "airflow"
        for count, only in ((1, ""), (200, ""), (200, "publish_dataset_7")):
            include = Path(folder) / f"include-{count}{only}"
            write_publications(include, count)
            measured = [measure(include, home, only) for _ in range(REPEATS)]
            base, parse = (statistics.median(each[at] for each in measured) for at in (0, 1))
            label = f"{count}" + (", for a task of one" if only else "")
            print(f"{label:28}{measured[0][2]:>6}{base:>16.2f}{parse:>8.2f}")


if __name__ == "__main__":
    main()
