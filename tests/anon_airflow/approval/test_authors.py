"""Who last changed a file: what git says, when nobody can say, and the environment where there is no git."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from anon_airflow.approval.four_eyes import VARIABLE, authors_of, names_of
from tests.anon_airflow.approval.approvals import committed, git

ADA, BEA = "Ada Rossi <ada@example.org>", "Bea Neri <bea@example.org>"
NO_NAMES = {key: value for key, value in os.environ.items() if key != VARIABLE}


@pytest.fixture
def repository(tmp_path) -> Path:
    """A folder with two files, each last changed by somebody else."""
    folder = tmp_path / "include"
    (folder / "publications").mkdir(parents=True)
    (folder / "publications/people.yaml").write_text("dataset: people\n")
    (folder / "towns.csv").write_text("a;b\n")
    committed(tmp_path, ADA)
    (folder / "towns.csv").write_text("a;c\n")
    committed(tmp_path, BEA)
    return folder


def asked(*files: Path, **environ: str):
    return authors_of(files, {**NO_NAMES, **environ})


def test_each_file_has_the_author_of_its_own_last_change(repository):
    assert asked(repository / "publications/people.yaml").people == (ADA,)
    assert asked(repository / "towns.csv").people == (BEA,)
    both = asked(repository / "publications/people.yaml", repository / "towns.csv")
    assert (both.people, both.unknown) == ((ADA, BEA), ())


@pytest.mark.parametrize("hidden", [(), ("update-index", "--assume-unchanged", "include/towns.csv")])
def test_a_change_that_is_not_committed_is_nobodys_whatever_the_environment_says(repository, hidden):
    if hidden:
        git(repository.parent, *hidden)
    (repository / "towns.csv").write_text("a;d\n")
    found = asked(repository / "towns.csv", **{VARIABLE: "carla"})
    assert "towns.csv is not known: it was changed after its last commit; commit it" in found.unknown[0]


def test_a_change_that_is_only_staged_is_nobodys(repository):
    (repository / "towns.csv").write_text("a;d\n")
    git(repository, "add", "towns.csv")
    assert asked(repository / "towns.csv").unknown


@pytest.mark.parametrize("name", ["*.csv", ":!towns.csv", "--all", "-x y.csv", "[a-z]owns.csv", "tòwns\n.csv", "HEAD"])
def test_a_name_is_never_taken_for_a_pattern_or_an_option(repository, name):
    (repository / name).write_text("x\n")
    committed(repository.parent, "Carla Verdi <carla@example.org>")
    (repository / "towns.csv").write_text("a;e\n")
    committed(repository.parent, BEA)
    assert asked(repository / name).people == ("Carla Verdi <carla@example.org>",)


def test_a_file_that_git_does_not_have_is_the_environments(repository):
    new = repository / "new.csv"
    new.write_text("x\n")
    assert VARIABLE in asked(new).unknown[0]
    found = asked(new, **{VARIABLE: " carla , dora@example.org,"})
    assert (found.people, found.unknown) == (("carla", "dora@example.org"), ())


def test_where_there_is_no_repository_the_environment_says_it_or_nobody(tmp_path):
    file = tmp_path / "people.yaml"
    file.write_text("x\n")
    assert "in no git repository" in asked(file).unknown[0]
    assert asked(file, **{VARIABLE: "carla"}).people == ("carla",)
    assert asked(file, **{VARIABLE: " , "}).unknown


def test_where_there_is_no_git_the_environment_says_it_or_nobody(repository, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert "git is not installed" in asked(repository / "towns.csv").unknown[0]


def test_the_environment_cannot_point_git_elsewhere(repository, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    (other / "towns.csv").write_text("a;c\n")
    git(other, "init", "--quiet")
    committed(other, "Mallory <mallory@example.org>")
    assert asked(repository / "towns.csv", GIT_DIR=str(other / ".git")).people == (BEA,)


def test_a_shallow_clone_does_not_know_who_changed_what_before(repository, tmp_path):
    clone = tmp_path / "clone"
    source = f"file://{repository.parent}"
    subprocess.run(["git", "clone", "--quiet", "--depth", "1", source, str(clone)], check=True, capture_output=True)
    found = asked(clone / "include/publications/people.yaml")
    assert "shallow" in found.unknown[0]
    assert asked(clone / "include/publications/people.yaml", **{VARIABLE: "ada"}).people == ("ada",)


def test_of_a_link_both_the_link_and_what_it_leads_to_have_an_author(repository):
    (repository / "linked.csv").symlink_to("towns.csv")
    committed(repository.parent, "Carla Verdi <carla@example.org>")
    assert asked(repository / "linked.csv").people == (BEA, "Carla Verdi <carla@example.org>")
    (repository / "linked.csv").unlink()
    (repository / "linked.csv").symlink_to("publications/people.yaml")
    assert "linked.csv is not known: it was changed" in asked(repository / "linked.csv").unknown[0]


def test_a_git_that_does_not_answer_is_nobodys_word(repository, tmp_path, monkeypatch):
    slow = tmp_path / "bin/git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setattr("anon_airflow.approval.four_eyes._GIT_TIMEOUT_S", 0.2)
    monkeypatch.setenv("PATH", f"{slow.parent}{os.pathsep}{os.environ['PATH']}")
    assert "git does not answer" in asked(repository / "towns.csv").unknown[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ada", ADA),
        ("ADA", ADA),
        ("ada rossi", ADA),
        ("Ada@Example.org", ADA),
        ("ada@elsewhere.example", ADA),
        ("ada", "12345+ada@users.noreply.example"),
    ],
)
def test_people_are_known_by_name_address_and_what_stands_before_the_at(one, other):
    assert names_of(one) & names_of(other)


@pytest.mark.parametrize("other", ["bea", "Rossi", "example.org", "", "@", " <> "])
def test_others_are_not(other):
    assert not names_of(other) & names_of(ADA)
