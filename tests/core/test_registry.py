"""The registry of a seam: keys without imports, members of other packages, and no key twice."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from anon_core.errors import InvalidInputError
from anon_core.registry import ENGINES, METHODS, MODELS, PORTALS, SOURCES, Registry


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
