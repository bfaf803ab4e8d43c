"""The registry of a seam: keys without imports, members of other packages, and no key twice."""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

import pytest
from pydantic import ConfigDict, RootModel

from anon_core.errors import InvalidInputError
from anon_core.registry import ENGINES, METHODS, MODELS, PORTALS, SOURCES, Registry
from anon_core.settings import Settings
from anon_core.unknown_keys import types_that_ignore_keys


@pytest.fixture
def other_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Install a package with entry points, as pip would, into a folder of its own."""

    def install(name: str, points: dict[str, str], code: str = "MEMBER = 'a member'\n") -> None:
        module = name.replace("-", "_")
        (tmp_path / f"{module}.py").write_text(code)
        metadata = tmp_path / f"{module}-1.5.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.5\n")
        lines = [f"{key} = {module}:{value}" for key, value in points.items()]
        (metadata / "entry_points.txt").write_text("\n".join(["[anonflow.tests]", *lines]) + "\n")
        importlib.invalidate_caches()

    monkeypatch.syspath_prepend(tmp_path)
    yield install
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def registry() -> Registry:
    return Registry("anonflow.tests", "test member", {"own": "anon_core.wording:counted"})


def test_a_member_of_another_package_is_found_by_its_entry_point(other_package) -> None:
    other_package("a-package", {"theirs": "MEMBER"})
    found = registry()
    assert found.keys() == ("own", "theirs")
    assert "a_package" not in sys.modules
    assert found.get("theirs") == "a member"
    assert (found.provider("theirs").package, found.provider("theirs").version) == ("a-package", "1.5")
    assert found.provider("own").package == "anonflow"


@pytest.mark.parametrize("key", ["own", "theirs"])
def test_a_key_that_two_packages_bring_is_an_error_that_names_both(other_package, key: str) -> None:
    other_package("a-package", {key: "MEMBER"})
    other_package("b-package", {key: "MEMBER"})
    with pytest.raises(InvalidInputError, match=f"two packages bring a test member `{key}`.*uninstall one"):
        registry().keys()


def test_a_key_registered_twice_is_an_error() -> None:
    found = registry()
    found.register("mine", object())
    with pytest.raises(InvalidInputError, match="two packages bring a test member `mine`"):
        found.register("mine", object())
    with pytest.raises(InvalidInputError, match="two packages bring a test member `own`"):
        found.register("own", object())


def test_a_member_may_be_registered_for_the_time_of_a_block() -> None:
    found = registry()
    with found.registered("mine", member := object()):
        assert found.get("mine") is member
    assert found.keys() == ("own",)


def test_a_member_that_is_not_installed_is_named_with_those_that_are() -> None:
    with pytest.raises(InvalidInputError, match=r"no installed package brings the test member `lost`.*one of own"):
        registry().get("lost")
    with pytest.raises(InvalidInputError, match="`lost`"):
        registry().provider("lost")


def test_a_package_that_cannot_be_imported_is_named(other_package) -> None:
    other_package("a-package", {"theirs": "MEMBER"}, code="raise RuntimeError('a secret')\n")
    with pytest.raises(InvalidInputError, match=r"of a-package 1\.5 cannot be imported \(RuntimeError\)") as raised:
        registry().get("theirs")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("seam", [MODELS, METHODS, PORTALS, SOURCES, ENGINES], ids=lambda one: one.group)
def test_our_own_members_can_be_imported(seam: Registry) -> None:
    assert list(seam.members()) == list(seam.keys())


LOOSE = """
from pydantic import BaseModel

class Inner(BaseModel):
    most: int

class MEMBER:
    settings = %s
"""


@pytest.mark.parametrize("settings", ["Inner", "tuple[Inner, ...]", "dict[str, Inner | None]"])
def test_a_member_whose_settings_would_let_a_misspelt_key_pass_is_refused_when_it_is_loaded(
    other_package, settings: str
) -> None:
    other_package("a-package", {"theirs": "MEMBER"}, LOOSE % settings)
    with pytest.raises(InvalidInputError, match=r"`theirs` of a-package 1\.5 .*Inner.*anon_core\.settings\.Settings"):
        registry().get("theirs")


def test_a_member_whose_settings_would_let_a_misspelt_key_pass_cannot_be_registered() -> None:
    class Loose(Settings):
        model_config = ConfigDict(extra="ignore")

    class Outer(Settings):
        inner: Loose | None = None

    class Member:
        settings = Outer

    found = registry()
    with pytest.raises(InvalidInputError, match="Loose, by which its settings are read, would let a misspelt key pass"):
        found.register("mine", Member)
    assert "mine" not in found


def test_settings_of_every_kind_that_reads_keys_are_looked_at() -> None:
    @dataclass
    class Plain:
        most: int

    class Typed(TypedDict):
        most: int

    class Strict(Settings):
        more: dict[str, tuple[int, ...]]

    assert types_that_ignore_keys(Plain | Typed) == ("Plain", "Typed")
    assert types_that_ignore_keys(RootModel[list[Strict]]) == () == types_that_ignore_keys(None)


@pytest.mark.parametrize("found", [MODELS, METHODS, PORTALS, SOURCES], ids=lambda one: one.noun)
def test_our_own_settings_let_no_misspelt_key_pass(found: Registry) -> None:
    loose = [types_that_ignore_keys(getattr(one, "settings", None)) for one in found.members().values()]
    assert loose and not any(loose)
