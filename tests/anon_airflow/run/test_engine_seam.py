"""An engine of another package: it answers every count of a run, and makes the rows that are released."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import click
import pytest
from click.testing import CliRunner

from anon_airflow.commands.check import check
from anon_airflow.commands.recode import recode
from anon_airflow.run import local
from anon_core.engines.arrow import ArrowEngine
from anon_core.engines.engine import Engine
from anon_core.errors import InvalidInputError
from anon_core.frequency import FrequencyTable
from anon_core.plan import RecodingPlan
from anon_core.registry import ENGINES
from anon_core.spec import load_spec
from anon_core.table import Column, Table
from tests.anon_airflow.run.step_runs import run_of, take
from tests.faults.anon_process import anon
from tests.faults.publications import portal_of, source_of, write_publication


class Recording:
    """Arrow's engine behind a protocol of what it was asked."""

    asked: ClassVar[list[tuple[str, Any]]] = []
    at_work: ClassVar[int] = 0

    def __init__(self, engine: ArrowEngine) -> None:
        self.engine = engine

    @classmethod
    def reads(cls, path: Path) -> bool:
        return path.suffix in (".csv", ".parquet")

    @classmethod
    def open(cls, path: Path, *, unit: str | None = None) -> Self:
        cls.asked.append(("open", path.name))
        return cls(ArrowEngine.open(path, unit=unit))

    @classmethod
    def of(cls, table: Table, *, unit: str | None = None) -> Self:
        return cls(ArrowEngine(table=table, unit=unit))

    @property
    def unit(self) -> str | None:
        return self.engine.unit

    @property
    def names(self) -> tuple[str, ...]:
        return self.engine.names

    @property
    def rows(self) -> int:
        return self.engine.rows

    def column(self, name: str) -> Column:
        return self.engine.column(name)

    def count(self, columns: Sequence[str]) -> FrequencyTable:
        self.asked.append(("count", tuple(columns)))
        Recording.at_work += 1
        try:
            return self.engine.count(columns)
        finally:
            Recording.at_work -= 1

    def people(self, columns: Sequence[str]) -> FrequencyTable:
        self.asked.append(("people", tuple(columns)))
        Recording.at_work += 1
        try:
            return self.engine.people(columns)
        finally:
            Recording.at_work -= 1

    def class_sizes(self, columns: Sequence[str]) -> Mapping[int, int]:
        return self.engine.class_sizes(columns)

    def apply(
        self,
        plan: RecodingPlan,
        published: Sequence[str],
        *,
        keep_order: bool = False,
        beside: Mapping[str, str] | None = None,
    ) -> Table:
        self.asked.append(("apply", tuple(published)))
        return self.engine.apply(plan, published, keep_order=keep_order, beside=beside)


ENGINE: type[Engine] = Recording


@pytest.fixture
def recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, Any]]]:
    """Register the engine; a count that does not come through it is an error."""
    work = FrequencyTable.of

    def count(table: Table, *arguments: Any, **options: Any) -> FrequencyTable:
        assert Recording.at_work, "a count passed the engine by"
        return work(table, *arguments, **options)

    monkeypatch.setattr(Recording, "asked", [])
    with ENGINES.registered("recording", Recording):
        monkeypatch.setattr(FrequencyTable, "of", count)
        yield Recording.asked


def published(folder: Path, monkeypatch: pytest.MonkeyPatch, **changes: Any) -> dict[str, bytes]:
    """Run a whole publication and return the released tables."""
    monkeypatch.setenv("ANON_HOME", str(folder / "home"))
    privacy = {"k": 5, "suppression_limit": 0.1, "k_means": "link", "l_diversity": [{"column": "points", "l": 2}]}
    spec = write_publication(folder, privacy=privacy, **changes)
    assert local.run_all(load_spec(spec), start=None, end=None)["verdict"] == "published"
    latest = portal_of(spec) / "people/latest"
    return {name: (latest / name).read_bytes() for name in ("people.csv", "people.parquet")}


def test_every_count_and_the_release_come_through_the_engine_that_the_file_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recording: list[tuple[str, Any]]
) -> None:
    theirs = published(tmp_path / "theirs", monkeypatch, engine="recording")
    publication = load_spec(tmp_path / "theirs/include/publications/people.yaml")
    quasi, shown = publication.quasi_identifiers, publication.published
    assert [what for kind, what in recording if kind == "open"] == ["original.parquet"] * 4, (
        "recode, detect, score, gate"
    )
    assert [what for kind, what in recording if kind == "apply"] == [shown, shown], "the release, and its witness"
    counts = [what for kind, what in recording if kind == "count"]
    assert quasi in counts
    assert (*quasi, "points") in counts
    assert counts.count(shown) >= 3, "what detect searches, and both files that the gate measures"
    monkeypatch.undo()
    assert theirs == published(tmp_path / "ours", monkeypatch)


@pytest.mark.parametrize("command", [check, recode])
def test_a_command_that_is_given_a_file_asks_its_engine(
    tmp_path: Path, command: click.Command, recording: list[tuple[str, Any]]
) -> None:
    spec = write_publication(tmp_path, engine="recording")
    more = ["--output", str(tmp_path / "out.csv")] if command is recode else []
    CliRunner().invoke(command, [str(source_of(spec)), "--spec", str(spec), *more])
    assert {"count", "people"} & {kind for kind, _ in recording}
    assert ("apply" in {kind for kind, _ in recording}) == (command is recode)


def test_a_file_that_names_an_engine_that_is_not_installed_is_refused_by_what_runs_only(tmp_path: Path) -> None:
    spec = write_publication(tmp_path, engine="duckdb")
    assert load_spec(spec).engine == "duckdb"
    with pytest.raises(InvalidInputError, match="engine: no installed package brings the engine `duckdb`"):
        take(run_of(spec, tmp_path / "home"), "stage")
    ended = anon("recode", source_of(spec), "--spec", spec, "--output", tmp_path / "out.csv", home=tmp_path / "home")
    assert (ended.code, (tmp_path / "out.csv").exists()) == (2, False)
    assert "engine: no installed package brings the engine `duckdb`; install the one that does" in ended.err


def test_a_slip_in_the_name_of_an_engine_is_told_when_the_file_is_read(tmp_path: Path) -> None:
    spec = write_publication(tmp_path, engine="arow")
    ended = anon("run", spec, home=tmp_path / "home")
    assert ended.code == 2
    assert "there is no engine `arow`; did you mean `arrow`?" in ended.err
