"""The wheel as people install it: alone, with the extra that draws, and with the gate but without Airflow."""

from __future__ import annotations

import email
import json
import zipfile
from pathlib import Path

import pytest

from anon_core.extras import EXTRAS
from tests.packaging.environments import ROOT, Environment, build_wheel, environment_with
from tests.packaging.inputs import PUBLISHED, TABLE, write_inputs, write_spec

pytestmark = pytest.mark.wheel

NEED_GATE = (
    ("run", "people.yaml"),
    ("run", "--help"),
    ("audit", "list"),
    ("approval", "withdraw", "run", "--reason", "because"),
    ("withdraw", "people", "--reason", "because"),
    ("sweep",),
)
WITHOUT_EXTRAS = (
    (("profile", TABLE), "600 rows"),
    (("detect", TABLE, "--max-size", "2"), "chosen as quasi-identifiers"),
    (("select", TABLE, "--columns", "born,town"), "chosen as quasi-identifiers: born, town"),
    (("uccs", TABLE), "minimal unique sets"),
    (("score", TABLE, "--exclude", "id"), "average sensitivity"),
    (("decompose", TABLE, "--column", "zip", "--widths", "3,3", "--names", "area,street"), "leave one out"),
    (("hierarchy", "build", TABLE, "--column", "born", "--intervals", "10,20", "--output", "h.csv"), "wrote h.csv"),
    (("hierarchy", "check", "h.csv", "--table", TABLE, "--column", "born"), "40 of 40 values covered"),
    (("recode", TABLE, "--spec", "people.yaml", "--output", "out.csv"), "wrote out.csv"),
    (("check", "out.csv", "--spec", "people.yaml", "--original", TABLE), "checks hold"),
    (("check", PUBLISHED, "--quasi", "born,town"), "2 of 2 checks hold"),
    (("init", TABLE), "wrote people-draft.yaml"),
    (("policy", "show"), "no site policy is on record yet"),
    (("compile",), " compiled, 0 kept from before"),
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def base(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(wheel, tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def plots(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(wheel, tmp_path_factory.mktemp("plots"), "plots")


@pytest.fixture(scope="module")
def gate(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Environment:
    return environment_with(wheel, tmp_path_factory.mktemp("gate"), "gate")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_inputs(tmp_path)


def test_every_file_of_both_packages_is_in_the_wheel_and_nothing_else(wheel: Path) -> None:
    packages = (ROOT / "anon_core", ROOT / "plugins/anon_airflow", ROOT / "plugins/anon_plugin.py")
    files = [file for one in packages for file in (one.rglob("*") if one.is_dir() else [one]) if file.is_file()]
    wanted = {
        str(file.relative_to(ROOT)).removeprefix("plugins/")
        for file in files
        if "__pycache__" not in file.parts and not file.name.startswith(".")
    }
    with zipfile.ZipFile(wheel) as content:
        names = {name for name in content.namelist() if ".dist-info/" not in name}
    assert names == wanted
    assert {"anon_core/py.typed", "anon_airflow/py.typed", "anon_airflow/portals/folder/templates/style.html"} <= names


def test_the_metadata_says_what_it_is_and_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        (name,) = (name for name in content.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(content.read(name))
    assert metadata["License-Expression"] == "Apache-2.0"
    classifiers = metadata.get_all("Classifier", [])
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11", "Framework :: Apache Airflow"} <= {
        *classifiers
    }
    assert any(one.startswith("Development Status") for one in classifiers)
    assert sorted(metadata.get_all("Provides-Extra", [])) == sorted([*EXTRAS, "all"])
    assert "/" not in "".join(metadata.get_all("Requires-Dist", [])), "an address got in"


def test_without_extras_nothing_heavy_comes_along(base: Environment, tmp_path: Path) -> None:
    heavy = {"apache-airflow", "great-expectations", "rdflib", "matplotlib", "pandas", "sqlalchemy", "httpx"}
    assert not heavy & base.packages()
    found = base.python(
        "from importlib.util import find_spec as find\n"
        f"print([name for name in {sorted(name for names in EXTRAS.values() for name in names)} if find(name)])",
        tmp_path,
    )
    assert (found.code, found.out.strip()) == (0, "[]"), found.err


def test_every_command_on_a_table_works_without_extras(base: Environment, folder: Path) -> None:
    for arguments, said in WITHOUT_EXTRAS:
        more = ("--dataset", "people-draft") if arguments[0] == "init" else ()
        ended = base.anon(*arguments, *more, folder=folder)
        assert (ended.code, ended.err.count("Traceback")) == (0, 0), (arguments, ended)
        assert said in ended.out, (arguments, ended)
    ended = base.anon("freeform", TABLE, "--spec", "guarded.yaml", folder=folder)
    assert (ended.code, "3 attacks on 3 rows" in ended.out) == (1, True), ended
    rows = (folder / "out.csv").read_text().splitlines()
    assert rows[0] == '"born","town","disease"'
    assert len(rows) > 500


def test_every_page_of_the_help_is_there_without_extras(base: Environment, folder: Path) -> None:
    listed = base.anon("--help", folder=folder)
    assert listed.code == 0, listed.err
    assert listed.out.count("Needs the extra `gate`, which is not installed.") == len({one[0] for one in NEED_GATE})
    for command in ("init", "profile", "detect", "hierarchy", "recode", "check", "freeform", "policy"):
        assert base.anon(command, "--help", folder=folder).code == 0


def test_floors_of_the_site_policy_are_told_without_the_gate(base: Environment, folder: Path) -> None:
    spec = (folder / "people.yaml").read_text()
    (folder / "low.yaml").write_text(spec.replace("k: 5", "k: 2"))
    recoded = base.anon("recode", TABLE, "--spec", "low.yaml", "--output", "low.csv", "--json", folder=folder)
    checked = base.anon("check", "low.csv", "--spec", "low.yaml", "--original", TABLE, "--json", folder=folder)
    for ended in (recoded, checked):
        assert any("privacy.k" in sentence for sentence in json.loads(ended.out)["below_site_policy"]), ended
    assert not json.loads(base.anon("check", "low.csv", "--spec", "people.yaml", "--json", folder=folder).out)[
        "below_site_policy"
    ]
    (folder / "strict.yaml").write_text("owner: the owner of the tests\nk: 6\n")
    strict = {"ANON_POLICY": str(folder / "strict.yaml")}
    told = base.anon("check", PUBLISHED, "--quasi", "born,town", "-k", "5", folder=folder, **strict)
    assert "below the site policy, so `anon run` would refuse it" in told.out, told


@pytest.mark.parametrize("arguments", NEED_GATE, ids=lambda one: " ".join(one[:2]))
def test_a_command_that_needs_the_gate_says_so(base: Environment, folder: Path, arguments: tuple[str, ...]) -> None:
    ended = base.anon(*arguments, folder=folder)
    assert (ended.code, ended.out) == (2, "")
    (sentence,) = ended.err.splitlines()
    assert sentence.startswith(f"anon: `anon {arguments[0]}` needs the extra `gate`, of which great_expectations, ")
    assert sentence.endswith(" are not installed: pip install 'anonflow[gate]'")


def test_a_policy_is_not_adopted_without_the_gate(base: Environment, folder: Path) -> None:
    ended = base.anon("policy", "adopt", "--reason", "we agreed on it", folder=folder)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.splitlines()[-1].endswith("pip install 'anonflow[gate]'")


def test_a_picture_is_refused_before_any_work_without_matplotlib(base: Environment, folder: Path) -> None:
    ended = base.anon("detect", "there-is-no-such-table.csv", "--plot", "picture.svg", folder=folder)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == (
        "anon: --plot needs the extra `plots`, of which matplotlib is not installed: pip install 'anonflow[plots]'\n"
    )


def test_entry_points_import_airflow_in_airflow_only(base: Environment, tmp_path: Path) -> None:
    ended = base.python(
        "from importlib.metadata import entry_points as of\n"
        "(provider,), (plugin,) = of(group='apache_airflow_provider'), of(group='airflow.plugins')\n"
        "print(provider.load()()['package-name'], plugin.value)",
        tmp_path,
    )
    assert (ended.code, ended.out.strip()) == (0, "anonflow anon_plugin:AnonflowPlugin"), ended.err


def test_the_extra_plots_draws(plots: Environment, folder: Path) -> None:
    assert not {"apache-airflow", "great-expectations", "rdflib"} & plots.packages()
    ended = plots.anon("detect", TABLE, "--max-size", "2", "--plot", "picture.svg", folder=folder)
    assert ended.code == 0, ended.err
    assert "<svg" in (folder / "picture.svg").read_text()


def test_the_gate_publishes_to_a_folder_without_airflow(gate: Environment, folder: Path) -> None:
    assert not {"apache-airflow", "httpx", "matplotlib"} & gate.packages()
    ended = gate.anon("run", "people.yaml", folder=folder)
    assert (ended.code, "PUBLISHED" in ended.out) == (0, True), ended
    assert (folder / "portal/people/index.html").exists()
    assert gate.anon("audit", "verify", folder=folder).code == 0


def test_with_the_gate_alone_ckan_postgresql_and_pictures_name_their_extra(gate: Environment, folder: Path) -> None:
    write_spec(folder / "ckan.yaml", portal="{ckan: {connection: open_data, organization: province}}")
    ckan = {"conn_type": "ckan", "host": "http://127.0.0.1:1", "password": "token"}
    tried = (
        ("ckan", gate.anon("run", "ckan.yaml", folder=folder, AIRFLOW_CONN_OPEN_DATA=json.dumps(ckan))),
        ("postgres", gate.anon("audit", "list", folder=folder, ANON_AUDIT_URL="postgresql+pg8000://u:p@127.0.0.1:1/d")),
        ("plots", gate.anon("detect", TABLE, "--plot", "picture.svg", folder=folder)),
    )
    for extra, ended in tried:
        assert ended.code == 2, ended
        assert ended.err.splitlines()[-1].endswith(f"is not installed: pip install 'anonflow[{extra}]'"), ended
