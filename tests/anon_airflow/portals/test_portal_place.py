"""Where a portal folder may be: never around, or inside, what must not be published."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml

from anon_airflow import steps
from anon_airflow.audit import AuditStore
from anon_airflow.portals.folder.portal import FolderPortal
from anon_airflow.portals.overlap import check_portal_place
from anon_airflow.release.withdraw import find_release, withdraw_release
from anon_airflow.run.context import Run
from anon_airflow.run.home import Home
from anon_core.errors import InvalidInputError, RefusedError, SpecError, StorageError
from anon_core.spec import load_spec
from tests.anon_airflow.portals.folder_releases import maker
from tests.anon_airflow.run.step_runs import UNTIL_GATE, run_of, take
from tests.faults.publications import bytes_below, write_publication


def refused(spec: Path, folder: str) -> str | None:
    """Write the portal into a publication file, and return why loading it fails, if it does."""
    content = yaml.safe_load(spec.read_text()) | {"portal": {"folder": folder}}
    spec.write_text(yaml.safe_dump(content, sort_keys=False))
    try:
        load_spec(spec)
    except SpecError as error:
        assert [problem.where for problem in error.problems] == ["portal.folder"]
        assert error.problems[0].line > 1
        return error.problems[0].what
    return None


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    return write_publication(tmp_path)


@pytest.mark.parametrize(
    ("folder", "how", "what"),
    [
        (".", "contains", "include/publications"),
        ("samples", "is", "include/samples"),
        ("samples/", "is", "include/samples"),
        ("samples/../samples", "is", "include/samples"),
        ("../include/./samples", "is", "include/samples"),
        ("..", "contains", "include/publications"),
        ("/", "contains", "include/publications"),
        ("publications", "is", "include/publications"),
        ("publications/portal", "lies inside", "include/publications"),
        ("publications/new/deeper", "lies inside", "include/publications"),
        ("hierarchies", "is", "include/hierarchies"),
        ("hierarchies/portal", "lies inside", "include/hierarchies"),
    ],
)
def test_a_portal_around_or_inside_what_the_file_names_is_refused(spec: Path, folder: str, how: str, what: str) -> None:
    include = spec.parent.parent
    found = refused(spec, folder)
    assert found is not None
    assert f" {how} " in found and str(include.parent / what) in found
    assert os.path.realpath(include / folder) in found and "name a folder" in found
    assert not (include / folder / ".lock").exists()


@pytest.mark.parametrize("folder", ["portal", "samples/portal", "../portal", "new/deeper/portal"])
def test_a_portal_beside_is_fine(spec: Path, folder: str) -> None:
    assert refused(spec, folder) is None


def test_a_table_and_its_publication_file_may_have_the_portal_beside_them(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    for name in ("samples/people.csv", "hierarchies/towns.csv", "publications/people.yaml"):
        shutil.move(tmp_path / "include" / name, tmp_path)
    spec = tmp_path / "people.yaml"
    content = yaml.safe_load(spec.read_text())
    content["source"] = {"file": "./people.csv"}
    content["columns"]["town"]["hierarchy"] = {"file": "towns.csv"}
    spec.write_text(yaml.safe_dump(content))
    assert refused(spec, "./portal") is None
    assert refused(spec, ".") is not None


@pytest.mark.parametrize(
    ("source", "folder", "fine"),
    [
        ("in/*.csv", "in/portal", True),
        ("in/*.csv", "in", False),
        ("in/**/a.csv", "in/portal", False),
        ("in/*/a.csv", "in/x/portal", False),
        ("in/*.csv", "portal", True),
        ("*.csv", "portal", True),
        ("*/a.csv", "portal", False),
        ("in/{{ ds }}/a.csv", "in", False),
        ("in/{{ ds }}/a.csv", "in/portal", True),
        ("in/{{ ds }}.csv", "in", False),
        ("{{ ds }}.csv", "portal", True),
        ("in/a[1].csv", "in/portal", True),
    ],
)
def test_a_pattern_or_a_template_has_a_folder_too(spec: Path, source: str, folder: str, fine: bool) -> None:
    (spec.parent.parent / "in").mkdir()
    (spec.parent.parent / "in/a[1].csv").touch()
    spec.write_text(yaml.safe_dump(yaml.safe_load(spec.read_text()) | {"source": {"file": source}}))
    assert (refused(spec, folder) is None) == fine


def test_links_are_followed_on_both_sides(spec: Path, tmp_path: Path) -> None:
    include = spec.parent.parent
    (include / "link").symlink_to("samples")
    (include / "up").symlink_to(tmp_path)
    assert "is the folder of the source" in (refused(spec, "link") or "")
    assert "contains" in (refused(spec, "up") or "")
    assert refused(spec, "up/elsewhere") is None
    # The source is a link itself: neither the folder that it lies in nor the one that it leads to.
    (tmp_path / "real").mkdir()
    (include / "samples/people.csv").rename(tmp_path / "real/people.csv")
    (include / "samples/people.csv").symlink_to(tmp_path / "real/people.csv")
    assert "is the folder of the source" in (refused(spec, str(tmp_path / "real")) or "")
    assert "is the folder of the source" in (refused(spec, "samples") or "")


def test_a_link_in_a_circle_is_no_bug_of_ours(spec: Path) -> None:
    (spec.parent.parent / "circle").symlink_to("circle")
    assert refused(spec, "circle/portal") is None  # Making the folder fails, with its own error.


def test_two_names_of_one_folder_are_known(spec: Path, tmp_path: Path) -> None:
    """By a bind mount where the machine allows one; there is no other way to have two names without a link."""
    twin = tmp_path / "twin"
    twin.mkdir()
    include = spec.parent.parent
    script = 'mount --bind "$1" "$2" && exec "$3" -c "$4" "$5"'
    code = (
        "import sys; from pathlib import Path; from anon_core.spec.private_folders import *\n"
        "twin, samples = map(Path, sys.argv[1].split('|'))\n"
        "private = [PrivateFolder(what='it', folder=samples)]\n"
        "print(place_problem(twin, private) is not None, place_problem(twin / 'samples', private) is not None)"
    )
    command = ["unshare", "--mount", "--map-root-user", "sh", "-c", script, "sh", str(include), str(twin)]
    ended = subprocess.run(
        [*command, sys.executable, code, f"{twin}|{include / 'samples'}"], capture_output=True, text=True, check=False
    )
    if "not permitted" in ended.stderr or "denied" in ended.stderr:
        pytest.skip("this machine does not allow mounts")
    assert ended.stdout.split() == ["True", "True"], ended.stderr


def reduced(run: Run, folder: Path | str, environ: Mapping[str, str] | None = None) -> str | None:
    portal = run.publication.portal.model_copy(update={"folder": str(folder)})
    publication = run.publication.model_copy(update={"portal": portal})
    publication._file = run.publication.file
    moved = Run(publication=publication, run_id=run.run_id, home=run.home)
    try:
        check_portal_place(moved, "samples/people.csv", environ or {})
    except InvalidInputError as error:
        return str(error)
    return None


def test_the_home_is_private_as_a_whole(spec: Path, tmp_path: Path) -> None:
    home = tmp_path / "private/home"
    run = run_of(spec, home)
    for folder in (home, home / "portal", home.parent, home / "runs/people"):
        assert "ANON_HOME" in (reduced(run, folder) or ""), folder
    assert reduced(run, tmp_path / "private/portal") is None


def test_keys_the_audit_database_and_airflow_are_not_published(spec: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    (place / "linked").mkdir(parents=True)
    (place / "key").touch()
    (tmp_path / "link-to-key").symlink_to(place / "key")
    run = run_of(spec, tmp_path / "home")
    for environ in (
        {"ANON_SIGNING_KEY_FILE": str(place / "key")},
        {"ANON_SIGNING_KEY_FILE": str(tmp_path / "link-to-key")},
        {"ANON_RETIRED_KEYS_FILE": f"{tmp_path / 'other/key'}{os.pathsep}{place / 'key'}"},
        {"AIRFLOW_HOME": str(place)},
    ):
        (name,) = environ
        assert name in (reduced(run, place, environ) or "")
        assert reduced(run, place / "portal", environ) is None
    in_database = Run(
        publication=run.publication, run_id="1", home=Home(tmp_path / "home", f"sqlite:///{place}/audit.db")
    )
    assert "ANON_AUDIT_URL" in (reduced(in_database, place) or "")
    assert reduced(in_database, place / "portal") is None
    on_server = Run(publication=run.publication, run_id="1", home=Home(tmp_path / "home", "postgresql+pg8000://a@b/c"))
    assert reduced(on_server, place) is None


def test_an_include_folder_is_not_published_though_the_publication_file_lies_elsewhere(tmp_path: Path) -> None:
    """A steward tries a file of her own: ANON_INCLUDE is not set, and the include folder is known by what it holds."""
    write_publication(tmp_path)
    include, elsewhere = tmp_path / "include", tmp_path / "elsewhere"
    spec = write_publication(elsewhere)
    own = spec.rename(elsewhere / "own.yaml")
    shutil.copytree(elsewhere / "include/samples", elsewhere / "samples")
    shutil.copytree(elsewhere / "include/hierarchies", elsewhere / "hierarchies")
    run = run_of(own, tmp_path / "home-of-hers/home")
    for folder in (include, include / "publications", include / "publications/x", include / "hierarchies/x"):
        assert "the folder `" in (reduced(run, folder) or ""), folder
    assert "source of people.yaml" in (reduced(run, include / "samples") or "")
    assert reduced(run, include / "portal") is None
    assert reduced(run, tmp_path / "new") is None
    assert reduced(run, tmp_path) is not None
    named = {"ANON_INCLUDE": str(tmp_path / "shared")}
    assert "the folder `publications`" in (reduced(run, tmp_path / "shared", named) or "")
    beside_home = run_of(own, tmp_path / "home")
    assert "the folder `publications`" in (reduced(beside_home, tmp_path / "include") or "")


def test_a_portal_with_a_dataset_that_is_called_publications_is_no_include_folder(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    (tmp_path / "include/portal/publications/versions").mkdir(parents=True)
    assert reduced(run_of(spec, tmp_path / "home"), tmp_path / "include/portal") is None


def test_the_source_of_another_publication_file_is_not_published_either(tmp_path: Path) -> None:
    spec, include = write_publication(tmp_path), tmp_path / "include"
    other = write_publication(tmp_path, dataset="other")
    (include / "elsewhere").mkdir()
    content = yaml.safe_load(other.read_text())
    other.write_text(yaml.safe_dump(content | {"source": {"file": "elsewhere/other.csv"}}))
    (spec.parent / "broken.yaml").write_text("source: [")
    run = run_of(spec, tmp_path / "home")
    assert "other.yaml" in (reduced(run, include / "elsewhere") or "")
    assert reduced(run, include / "elsewhere/portal") is None
    # One that goes on from what is public already does not make the portal private.
    (include / "portal/people/versions/v1").mkdir(parents=True)
    (include / "portal/people/versions/v1/manifest.json").write_text("{}")
    other.write_text(yaml.safe_dump(content | {"source": {"file": "portal/people/versions/v1/people.csv"}}))
    assert reduced(run, include / "portal") is None


def test_stage_refuses_before_anything_is_read_or_written(spec: Path, tmp_path: Path) -> None:
    run = run_of(spec, tmp_path / "home")
    (tmp_path / "include/portal").symlink_to("samples")  # It appears after the file was loaded.
    before = bytes_below(tmp_path / "include")
    with pytest.raises(InvalidInputError, match="is the folder of the source"):
        take(run, "stage")
    assert bytes_below(tmp_path / "include") == before
    assert not run.staging.exists()


def test_a_link_that_appears_before_publish_is_seen(spec: Path, tmp_path: Path) -> None:
    """The source is read by a template, so `publish` knows it only by what `stage` has noted."""
    content = yaml.safe_load(spec.read_text())
    spec.write_text(yaml.safe_dump(content | {"source": {"file": "{{ 'samples' }}/people.csv"}}))
    run = run_of(spec, tmp_path / "home")
    steps.stage(run, "samples/people.csv")
    take(run, *UNTIL_GATE[1:])
    shutil.rmtree(tmp_path / "include/portal")
    (tmp_path / "include/portal").symlink_to("samples")
    before = bytes_below(tmp_path / "include")
    with pytest.raises(InvalidInputError, match="is the folder of the source"):
        take(run, "publish")
    assert bytes_below(tmp_path / "include") == before


def test_what_was_published_in_such_a_place_before_can_be_withdrawn(spec: Path, tmp_path: Path) -> None:
    run = run_of(spec, tmp_path / "home")
    take(run, *UNTIL_GATE, "publish")
    portal = tmp_path / "include/portal"
    # As an earlier version left it: the portal is the folder of the source.
    for each in (tmp_path / "include/samples").iterdir():
        each.rename(portal / each.name)
    (tmp_path / "include/samples").rmdir()
    (tmp_path / "include/samples").symlink_to("portal")
    assert refused(spec, "portal") is not None
    with AuditStore.open(None, run.home.root, run.key_ring()) as store:
        done = withdraw_release(store, find_release(store, "people"), person="p", reason="It was in the wrong place")
    assert len(done.withdrawn) == 1
    assert not list(portal.glob("people/versions/*/people.csv"))
    assert (portal / "people.csv").exists()  # The original is left alone.


@pytest.mark.parametrize("link", ["people", "people/versions", "people/versions/v0", ".lock"])
def test_a_link_inside_the_portal_is_not_written_through(tmp_path: Path, link: str) -> None:
    root, elsewhere = tmp_path / "portal", tmp_path / "elsewhere"
    (root / link).parent.mkdir(parents=True)
    elsewhere.mkdir()
    (root / link).symlink_to(elsewhere / "lock" if link == ".lock" else elsewhere)
    error, words = (StorageError, "symbolic link") if link == ".lock" else (RefusedError, "is a link")
    with pytest.raises(error, match=words):
        FolderPortal(root).publish(maker(tmp_path)())
    assert list(elsewhere.iterdir()) == []


def test_a_portal_folder_that_is_a_link_itself_is_fine(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "portal").symlink_to("disk")
    assert FolderPortal(tmp_path / "portal").publish(maker(tmp_path)()).status == "published"
    assert FolderPortal(tmp_path / "portal").publish(maker(tmp_path)("other\n", version="v2")).status == "published"


@pytest.mark.parametrize("link", ["raw", "t.csv", "home", "people/originals", "all"])
def test_a_link_in_the_portal_to_what_is_private_is_refused(tmp_path: Path, link: str) -> None:
    spec = write_publication(tmp_path)
    samples, portal = tmp_path / "include/samples", tmp_path / "include/portal"
    targets = {
        "raw": samples,
        "t.csv": samples / "people.csv",
        "home": tmp_path / "home/runs",
        "people/originals": samples,
        "all": tmp_path,
    }
    (portal / "people").mkdir(parents=True)
    run = run_of(spec, tmp_path / "home")
    (tmp_path / "home/runs").mkdir(parents=True)
    (tmp_path / "about").mkdir()
    (portal / "about").symlink_to(tmp_path / "about")
    (portal / "people/latest").symlink_to("versions/v1")
    assert reduced(run, portal) is None
    (portal / link).symlink_to(targets[link])
    assert f"{link} leads to" in (reduced(run, portal) or "")


def test_a_source_that_is_a_link_into_the_portal_is_seen_there(tmp_path: Path) -> None:
    spec = write_publication(tmp_path)
    samples, portal, real = (tmp_path / name for name in ("include/samples", "include/portal", "real"))
    real.mkdir()
    portal.mkdir()
    (samples / "people.csv").rename(real / "people.csv")
    (portal / "people.csv").symlink_to(real / "people.csv")
    (samples / "people.csv").symlink_to(portal / "people.csv")
    assert "leads to the folder of the source" in (reduced(run_of(spec, tmp_path / "home"), portal) or "")


def test_the_links_of_a_portal_beside_its_table_are_its_own(tmp_path: Path) -> None:
    """The folder of the source is around the portal: `latest` leads there, too."""
    spec = write_publication(tmp_path)
    take(run_of(spec, tmp_path / "home"), *UNTIL_GATE, "publish", "record")
    own = tmp_path / "include/samples/own.yaml"
    own.write_text(spec.read_text().replace("samples/", "").replace("hierarchies/", "../hierarchies/"))
    shutil.copytree(tmp_path / "include/portal", tmp_path / "include/samples/portal", symlinks=True)
    assert reduced(run_of(own, tmp_path / "home"), tmp_path / "include/samples/portal") is None
