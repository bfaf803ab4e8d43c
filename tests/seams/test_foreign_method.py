"""A recoding method of another package: read, run, tried by `best`, held to its promise, and missed when it is gone."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from anon_airflow.cli import anon
from anon_core.errors import InternalError, InvalidInputError, PolicyNotMetError
from anon_core.policy import LDiversityEntry, Policy
from anon_core.recoding.compliance import PlanMeasurements, shortfalls
from anon_core.recoding.methods import recode
from anon_core.recoding.task import Recoding, Task
from anon_core.registry import METHODS
from anon_core.spec import Recode
from tests.anon_core.spec.spec_files import changed, folder, load, problems
from tests.papers.adult import read_adult, task_of
from tests.properties.required import Problem, holds
from tests.properties.required import problems as tables
from tests.seams.mondrian import Mondrian, MondrianSettings

KEY = "mondrian"
__all__ = ["folder"]

WORDS = {"method": KEY, KEY: {"cuts": "median", "depth": 3}}


@pytest.fixture
def installed() -> Iterator[None]:
    with METHODS.registered(KEY, Mondrian):
        yield


def with_method(task: Task, **words: object) -> Task:
    return task.with_settings(**{"method": KEY, "improve": 0, **words})


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    problem=st.one_of(tables(), tables(diverse=True)),
    words=st.builds(MondrianSettings, cuts=st.sampled_from(["levels", "median"]), depth=st.integers(0, 3) | st.none()),
)
def test_its_classes_keep_k_and_diversity_counted_by_hand(
    installed: None, problem: Problem, words: MondrianSettings
) -> None:
    try:
        plan = recode(with_method(problem.task, **{KEY: words})).plan
    except PolicyNotMetError:
        return
    found = plan.frequencies
    values = [domain.take(codes).to_pylist() for codes, domain in zip(found.codes, found.domains, strict=True)]
    at = {row: number for number, row in enumerate(zip(*values, strict=True))}
    labels = [plan.released_codes(column).tolist() for column in range(len(found.names))]
    classes = defaultdict(list)
    for row, secret in zip(problem.small.rows, problem.secrets, strict=True):
        classes[tuple(own[at[row]] for own in labels)].append(secret)
    assert not plan.removed.any()
    assert min(map(len, classes.values())) >= problem.task.k
    assert all(holds(one, own, problem.secrets) for one in problem.required for own in classes.values())


@pytest.mark.reference
def test_it_reaches_k_and_diversity_on_a_real_table(installed: None, reference_data: Path) -> None:
    adult = read_adult(reference_data)
    quasi = tuple(name for name in adult.names if name != "occupation")
    policy = Policy(k=5, suppression_limit=0.02, l_diversity=(LDiversityEntry(column="occupation", l=3),))
    task = task_of(adult, reference_data, policy, Recode(method=KEY), quasi=quasi)
    recoding = recode(task)
    assert shortfalls(task, recoding.plan) == []
    assert recoding.plan.released().tuples > 100


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(problem=st.one_of(tables(), tables(diverse=True)))
def test_best_tries_it_and_elects_nothing_that_costs_more(installed: None, problem: Problem) -> None:
    try:
        recoding = recode(with_method(problem.task, method="best"))
    except PolicyNotMetError:
        return
    (own,) = [one for one in recoding.candidates if one.method == KEY]
    assert shortfalls(problem.task, recoding.plan) == []
    try:
        recode(with_method(problem.task))
    except PolicyNotMetError:
        assert own.reason
    else:
        (elected,) = [one for one in recoding.candidates if one.elected]
        assert own.elected or own.reason
        assert problem.task.settings.utility.value != "wnue" or (elected.wnue or 0) >= (own.wnue or 0) - 1e-9


class Careless(Mondrian):
    """It promises what Mondrian promises, and changes nothing."""

    def recode(self, task: Task, **others: object) -> Recoding:
        return Recoding.unchanged(task, "")


class Astray(Mondrian):
    """Its plan is for a table of its own."""

    def recode(self, task: Task, **others: object) -> Recoding:
        every = replace(task.frequencies, weights=np.full_like(task.frequencies.weights, 1000))
        return Recoding.unchanged(replace(task, frequencies=every), "")


def small_task() -> Task:
    from tests.properties.test_best_recoding import small_task as task

    return task()


@pytest.mark.parametrize(("method", "words"), [(Careless, r"recoding \(k 2 not reached"), (Astray, "another table")])
@pytest.mark.parametrize("asked", [KEY, "best"])
def test_one_that_breaks_its_promise_is_refused_as_a_bug_of_that_method(
    method: type[Mondrian], words: str, asked: str
) -> None:
    with METHODS.registered(KEY, method), pytest.raises(InternalError, match=rf"{words}.*recode\.mondrian"):
        recode(with_method(small_task(), method=asked))


def test_the_bug_is_told_with_the_package_that_brings_the_method() -> None:
    with (
        METHODS.registered(KEY, Careless),
        pytest.raises(InternalError, match=r"recode\.mondrian.*a bug in tests\.seams"),
    ):
        recode(with_method(small_task()))


def test_a_plan_is_counted_once_whoever_asks(installed: None, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: Counter[int] = Counter()
    begin = PlanMeasurements.__init__

    def counting(self: PlanMeasurements, task: Task, plan: object) -> None:
        counted[id(plan)] += 1
        kept.append(plan)
        begin(self, task, plan)  # type: ignore[arg-type]

    kept: list[object] = []
    monkeypatch.setattr(PlanMeasurements, "__init__", counting)
    recoding = recode(with_method(small_task(), method="best"))
    assert counted[id(recoding.plan)] == 1
    assert len(counted) == 4  # singletons, global, prioritised and Mondrian


def test_its_settings_are_read_from_its_own_section(installed: None, folder: Path) -> None:
    loaded = load(folder, changed(recode=WORDS))
    assert loaded.recode.section(KEY) == MondrianSettings(cuts="median", depth=3)
    found = problems(folder, changed(recode={"method": KEY, KEY: {"cuts": "median", "depht": 3, "seed": 1}}))
    assert "did you mean `depth`?" in found[f"recode.{KEY}.depht"][1]
    assert found[f"recode.{KEY}.seed"][0] > 1
    assert "say how deep" in found[f"recode.{KEY}.depth"][1]


def test_its_section_stands_in_no_file_that_asks_for_another_method(installed: None, folder: Path) -> None:
    found = problems(folder, changed(recode={"method": "global", KEY: {"depth": 1}}))
    assert "belongs to `method: mondrian`" in found[f"recode.{KEY}"][1]
    load(folder, changed(recode={"method": "best", KEY: {"depth": 1}}))


def test_it_needs_a_quasi_identifier_like_every_method(installed: None, folder: Path) -> None:
    found = problems(folder, changed(columns={"points": {"role": "other"}}, recode={"method": KEY}))
    assert "at least one column of role quasi" in found["recode.method"][1]


def test_a_file_for_a_method_that_is_not_installed_loads_and_is_refused_when_recoded(folder: Path) -> None:
    loaded = load(folder, changed(recode=WORDS))
    (unread,) = loaded.recode.unread
    assert unread.content == WORDS[KEY]
    message = "recode.method: no installed package brings the recoding method `mondrian`; install the one that does"
    with pytest.raises(InvalidInputError, match=message):
        recode(replace(small_task(), settings=loaded.recode))
    with pytest.raises(InvalidInputError, match=message):
        _ = loaded.required_of_recoding
    with METHODS.registered(KEY, Mondrian):
        assert load(folder, changed(recode=WORDS)).digest() != load(folder, changed()).digest()


@pytest.mark.parametrize("recode", [{"method": "globall"}, {"method": "global", KEY: {"depth": 1}}, {"method": "A b"}])
def test_a_slip_and_a_section_of_nothing_stay_errors_at_loading(folder: Path, recode: object) -> None:
    assert problems(folder, changed(recode=recode))


def test_a_method_whose_package_cannot_be_imported_is_a_problem_of_the_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    point = EntryPoint(name=KEY, value="not_there:Method", group=METHODS.group)
    monkeypatch.setitem(METHODS.__dict__, "_installed", {KEY: point})
    found = problems(folder, changed(recode={"method": KEY}))
    assert "`mondrian` of not_there:Method unknown cannot be imported" in found[""][1]
    load(folder, changed(recode={"method": "singletons", "singletons": {"columns": ["sex"]}}))


TABLE = "age,sex\n" + "".join(f"{age},{sex}\n" for age in (21, 22, 33, 34) for sex in "ffmm")
SPEC = """\
columns:
  age: {role: quasi, hierarchy: {intervals: [10]}}
  sex: {role: quasi}
privacy: {k: 4}
recode: {method: mondrian, mondrian: {cuts: levels}}
"""


def test_the_command_recodes_with_it_and_refuses_where_it_is_gone(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text(TABLE)
    (tmp_path / "people.yaml").write_text(SPEC)
    call = ["recode", str(tmp_path / "people.csv"), "--spec", str(tmp_path / "people.yaml")]
    gone = CliRunner().invoke(anon, [*call, "--output", str(tmp_path / "gone.csv")])
    assert isinstance(gone.exception, InvalidInputError)
    assert "no installed package brings the recoding method `mondrian`" in str(gone.exception)
    assert not (tmp_path / "gone.csv").exists()
    with METHODS.registered(KEY, Mondrian):
        done = CliRunner().invoke(anon, [*call, "--output", str(tmp_path / "out.csv")])
        useless = CliRunner().invoke(anon, [*call, "--output", str(tmp_path / "no.csv"), "--mode", "link"])
    assert done.exit_code == 0, done.output
    assert "method mondrian" in done.output
    rows = Counter((tmp_path / "out.csv").read_text().splitlines()[1:])
    assert min(rows.values()) >= 4 and len(rows) > 1
    assert "mode= would have no effect on method mondrian" in str(useless.exception)


def test_methods_are_listed_and_files_read_without_numpy(tmp_path: Path) -> None:
    (tmp_path / "people.yaml").write_text(
        SPEC.replace("mondrian", "singletons").replace("cuts: levels", "columns: [age]")
    )
    code = (
        "import sys; from pathlib import Path; from anon_core.registry import METHODS; from anon_core.spec import "
        f"load_spec; load_spec(Path({str(tmp_path / 'people.yaml')!r}), partial=True); METHODS.members(); "
        "print(sorted({'numpy', 'pyarrow', 'pandas', 'numba'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
