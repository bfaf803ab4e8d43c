"""A portal and a source that this module brings: a publication runs through both, and no other file knows them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import astuple
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar, Self

import pytest
from click.testing import CliRunner

from anon_airflow.cli import anon as commands
from anon_airflow.operators.dag_docs import dag_docs
from anon_airflow.portals.manifest import manifest_of, report_bytes
from anon_airflow.run.context import Run
from anon_airflow.run.local import run_all
from anon_airflow.run.summary import summary_lines
from anon_core.errors import InvalidInputError, SpecError, TableError
from anon_core.publishing.portal import Portal
from anon_core.publishing.release import Published, Release, check_release
from anon_core.publishing.source import Source
from anon_core.registry import PORTALS, SOURCES
from anon_core.settings import Filled, Settings
from anon_core.spec import PortalSettings, SourceSettings, load_spec
from anon_core.table import Table
from tests.faults.publications import NAMES, people, write_publication

START = datetime(2026, 10, 1, tzinfo=UTC)


class Office(Settings):
    address: Filled
    connection: Filled


class PostSettings(PortalSettings):
    post: Office
    window: Filled | None = None

    @property
    def shown_folder(self) -> Path | None:
        return Path(self.window) if self.window else None


class PostOffice(Portal):
    """Releases go by post; what was sent is known by the address."""

    settings: ClassVar[type[PortalSettings]] = PostSettings
    sent: ClassVar[dict[str, dict[str, dict[str, Any]]]] = {}
    opened_with: ClassVar[list[str]] = []

    def __init__(self, address: str) -> None:
        self.address = address

    @classmethod
    def opened(cls, settings: PostSettings, *, connect: Any, **_: Any) -> Self:
        cls.opened_with.append(str(connect(settings.post.connection, "post://...")["password"]))
        return cls(settings.post.address)

    def check(self) -> None:
        if self.address == "nowhere":
            raise InvalidInputError("nobody lives at this address; correct portal.post.address")

    def publish(self, release: Release) -> Published:
        check_release(release)
        manifest = manifest_of(release, release.version, 1)
        report_bytes(release, manifest)
        files = {each.name: each.path.read_bytes() for each in release.distributions}
        self.sent.setdefault(self.address, {})[release.version] = {"manifest": manifest, "files": files}
        page = f"post://{self.address}/{release.dataset}"
        return Published(
            status="published",
            version=release.version,
            location=f"{page}/{release.version}",
            page=page,
            manifest=manifest,
        )

    def withdraw(
        self,
        dataset: str,
        version: str | None,
        reason: str,
        at: str,
        *,
        words_only: bool = False,
        audit: Mapping[str, Any] | None = None,
    ) -> tuple[str, ...]:
        there = self.sent.get(self.address, {})
        gone = tuple(name for name in sorted(there) if version in (None, name))
        for name in gone:
            del there[name]
        return gone

    def versions(self, dataset: str) -> list[dict[str, Any]]:
        return [one["manifest"] for one in self.sent.get(self.address, {}).values()]


class LedgerSettings(SourceSettings):
    ledger: Filled
    pages: int = 400

    @property
    def template(self) -> str:
        return self.ledger


class Ledger(Source):
    """A table that is made up for its period."""

    settings: ClassVar[type[SourceSettings]] = LedgerSettings
    names: ClassVar[tuple[str, ...]] = NAMES
    read_for: ClassVar[list[str]] = []

    @property
    def name(self) -> str:
        return f"the ledger {self.text}"

    def check(self) -> None:
        if not self.text.startswith("people "):
            raise InvalidInputError("there is no such ledger; correct source.ledger")

    def read(self) -> Table:
        import pyarrow as pa

        from anon_core.table import from_arrow

        self.read_for.append(self.text)
        columns = zip(*people(self.section.pages), strict=True)
        return from_arrow(pa.table({name: list(one) for name, one in zip(self.names, columns, strict=True)}))


POST = {"post": {"address": "town", "connection": "stamps"}, "keep": 3}
LEDGER = {"ledger": "people {{ ds }}"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("AIRFLOW_CONN_STAMPS", '{"conn_type": "post", "password": "a stamp"}')
    monkeypatch.setattr(PostOffice, "sent", {})
    monkeypatch.setattr(PostOffice, "opened_with", [])
    monkeypatch.setattr(Ledger, "read_for", [])
    return tmp_path / "home"


@pytest.fixture
def installed(home: Path) -> Iterator[None]:
    with ExitStack() as stack:
        stack.enter_context(PORTALS.registered("post", PostOffice))
        stack.enter_context(SOURCES.registered("ledger", Ledger))
        yield


def publication_file(folder: Path, **changes: Any) -> Path:
    return write_publication(folder, **{"portal": POST, "source_section": LEDGER, **changes})


def anon(*arguments: object) -> Any:
    return CliRunner().invoke(commands, list(map(str, arguments)))


def published(spec: Path) -> dict[str, Any]:
    result = run_all(load_spec(spec), start=START, end=None)
    assert result["published"], result
    return result


@pytest.mark.usefixtures("installed")
def test_a_table_goes_from_a_foreign_source_to_a_foreign_portal(tmp_path: Path) -> None:
    result = published(publication_file(tmp_path))
    (there,) = PostOffice.sent["town"].values()
    assert Ledger.read_for == ["people 2026-10-01"]
    assert set(PostOffice.opened_with) == {"a stamp"}
    assert there["files"]["people.csv"].startswith(b'"born","town","sex","points"\r\n')
    assert set(there["manifest"]["audit"]) == {"mac"}
    assert (result["release"], result["page"]) == (there["manifest"]["version"], "post://town/people")


@pytest.mark.usefixtures("installed")
def test_the_audit_store_and_the_summary_show_a_foreign_release(tmp_path: Path) -> None:
    result = published(publication_file(tmp_path))
    summary = "\n".join(summary_lines(json.loads(Path(result["report"]).read_bytes())))
    assert "post://town/people" in summary
    (run,) = json.loads(anon("audit", "list", "--json").output)["runs"]
    shown = json.loads(anon("audit", "show", run["run_id"], "--json").output)
    (row,) = shown["rows"]["publications"]
    assert (row["portal"], row["location"]) == ("post", "post://town/people")
    assert row["details"]["location"] == f"post://town/people/{result['release']}"
    assert row["details"]["portal"] == POST
    assert anon("audit", "verify").exit_code == 0


@pytest.mark.usefixtures("installed")
def test_a_release_is_withdrawn_from_a_foreign_portal(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    version = published(spec)["release"]
    ended = anon("withdraw", version, "--reason", "a mistake", "--json")
    assert json.loads(ended.stdout)["withdrawn"] == [version]
    assert PostOffice.sent["town"] == {}
    assert run_all(load_spec(spec), start=START, end=None)["verdict"] == "refused"


@pytest.mark.usefixtures("home")
def test_a_withdrawal_from_a_portal_that_is_no_longer_installed_says_what_to_install(tmp_path: Path) -> None:
    with PORTALS.registered("post", PostOffice):
        version = published(write_publication(tmp_path, portal=POST))["release"]
    ended = anon("withdraw", version, "--reason", "a mistake")
    assert isinstance(ended.exception, InvalidInputError)
    assert "no installed package brings the portal `post`; install the one that does" in str(ended.exception)
    assert version in PostOffice.sent["town"]


@pytest.mark.usefixtures("installed")
def test_what_a_member_checks_stops_the_run_before_the_table_is_read(tmp_path: Path) -> None:
    spec = publication_file(tmp_path, portal={"post": {**POST["post"], "address": "nowhere"}})
    with pytest.raises(InvalidInputError, match=r"correct portal\.post\.address"):
        run_all(load_spec(spec), start=START, end=None)
    spec = publication_file(tmp_path, source_section={"ledger": "nobody"})
    with pytest.raises(InvalidInputError, match=r"correct source\.ledger"):
        run_all(load_spec(spec), start=START, end=None)
    assert Ledger.read_for == []


@pytest.mark.usefixtures("installed")
def test_the_columns_and_rows_of_any_source_are_compared_with_what_is_declared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = publication_file(tmp_path, source_section={**LEDGER, "pages": 3})
    (reason,) = run_all(load_spec(spec), start=START, end=None)["reasons"]
    assert "k 5 not reached: best 3" in reason
    monkeypatch.setattr(Ledger, "names", (*NAMES[:-1], "remarks"))
    with pytest.raises(TableError, match=r"^the ledger people 2026-10-01: .*declared but absent: notes"):
        run_all(load_spec(publication_file(tmp_path)), start=START, end=None)


@pytest.mark.usefixtures("installed")
def test_a_foreign_portal_on_this_machine_may_not_show_what_is_private(tmp_path: Path) -> None:
    samples = str(tmp_path / "include/samples")
    with pytest.raises(SpecError, match=r"portal\.post: .*/samples is the folder of the source"):
        load_spec(write_publication(tmp_path, portal={**POST, "window": samples}))
    spec = publication_file(tmp_path, portal={**POST, "window": str(tmp_path / "home")})
    with pytest.raises(InvalidInputError, match=r"portal\.post of people\.yaml: .*the home of anonflow"):
        run_all(load_spec(spec), start=START, end=None)


@pytest.mark.usefixtures("installed")
def test_problems_in_the_settings_of_a_foreign_member_have_their_lines(tmp_path: Path) -> None:
    spec = publication_file(tmp_path, portal={"post": {"address": "town", "conection": "x"}, "keep": 0})
    with pytest.raises(SpecError) as raised:
        load_spec(spec)
    lines = spec.read_text().splitlines()
    found = {where: (lines[line - 1].strip(), what) for line, where, what in map(astuple, raised.value.problems)}
    assert found == {
        "portal.post.connection": ("post:", "is required"),
        "portal.post.conection": ("conection: x", "unknown key `conection`; did you mean `connection`?"),
        "portal.keep": ("keep: 0", "should be at least 1, not `0`"),
    }


ABSENT = {
    "portal.post: no installed package brings the portal `post`; install the one that does, or use one of folder, ckan",
    "source.ledger: no installed package brings the source `ledger`; install the one that does, or use one of file",
}


@pytest.mark.usefixtures("home")
def test_a_file_whose_members_are_not_installed_is_read_and_shown_and_refused_by_what_runs(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    publication = load_spec(spec)
    assert set(publication.unread) == ABSENT
    assert publication.source_template == ""
    assert dag_docs(publication).count("**It does not run here**: ") == 2
    for refused in (lambda: run_all(publication, start=START, end=None), lambda: Run.of(spec, "manual__1")):
        with pytest.raises(InvalidInputError, match=r"^people\.yaml cannot run here: ") as raised:
            refused()
        assert all(sentence in str(raised.value) for sentence in ABSENT)


@pytest.mark.usefixtures("home")
def test_commands_that_are_given_their_table_need_no_member(tmp_path: Path) -> None:
    spec = publication_file(tmp_path)
    table = tmp_path / "include/samples/people.csv"
    assert anon("check", table, "--spec", spec, "--json").exit_code == 1  # Read, and found unsafe.
    ended = anon("run", spec, "--period", "2026-10-01")
    assert "install the one that does" in str(ended.exception)


@pytest.mark.parametrize(
    ("section", "written", "meant"),
    [
        ("portal", {"foldr": "portal"}, "folder"),
        ("portal", {"ckann": POST["post"]}, "ckan"),
        ("source", {"fil": "a.csv"}, "file"),
    ],
)
def test_a_misspelt_key_is_refused_with_its_line(tmp_path: Path, section: str, written: Any, meant: str) -> None:
    name = "source_section" if section == "source" else section
    spec = write_publication(tmp_path, **{name: written})
    with pytest.raises(SpecError) as raised:
        load_spec(spec)
    (key,) = written
    (found,) = [one for one in raised.value.problems if one.where == f"{section}.{key}"]
    assert f"did you mean `{meant}`?" in found.what
    assert spec.read_text().splitlines()[found.line - 1].strip().startswith(f"{key}:")


def test_two_portals_at_once_are_refused_and_one_that_is_off_is_none(tmp_path: Path) -> None:
    with PORTALS.registered("post", PostOffice):
        with pytest.raises(SpecError, match="portal: names `folder` and `post`; it needs exactly one of them"):
            load_spec(write_publication(tmp_path, portal={"folder": "portal", **POST}))
        assert load_spec(write_publication(tmp_path, portal={"folder": "portal", "post": None})).unread == ()


def test_reading_a_file_imports_nothing_heavy_whatever_its_portal(tmp_path: Path) -> None:
    folder = write_publication(tmp_path / "a")
    ckan = write_publication(tmp_path / "b", portal={"ckan": {"connection": "town", "organization": "town"}})
    code = (
        "import sys; from pathlib import Path; from anon_core.spec import load_spec\n"
        "for path in sys.argv[1:]: load_spec(Path(path))\n"
        "print(*{'numpy', 'pyarrow', 'pandas', 'great_expectations', 'numba', 'httpx', 'rdflib'} & {*sys.modules})"
    )
    ended = subprocess.run([sys.executable, "-c", code, folder, ckan], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == ""


def test_a_package_that_is_broken_is_a_problem_of_the_section_and_not_of_all_files(tmp_path: Path) -> None:
    spec = write_publication(tmp_path, portal={"broken": "here"})
    with PORTALS.registered("broken", object()), pytest.raises(SpecError) as raised:
        load_spec(spec)
    (problem,) = raised.value.problems
    assert (problem.where, problem.what) == ("portal", "a package that brings a portal fails (AttributeError)")
