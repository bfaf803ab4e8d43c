"""The names of the library: all there, loaded when they are used, and never hidden by a package of the same name."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from importlib import import_module

import pytest

import anon_core as ac
from anon_core import errors
from anon_core.registry import MODELS
from tests.anon_core.api.document import ROOT, python

HEAVY = ("numpy", "pyarrow", "pydantic", "numba", "pandas", "yaml", "scipy")


def test_importing_the_library_imports_nothing_heavy(tmp_path):
    said = python(f"import sys, anon_core; print([one for one in {HEAVY} if one in sys.modules])", tmp_path)
    assert said == "[]\n"


def test_an_error_class_costs_nothing_heavy_either(tmp_path):
    said = python(
        f"import sys, anon_core; anon_core.TableError; print([one for one in {HEAVY} if one in sys.modules])", tmp_path
    )
    assert said == "[]\n"


def test_dir_shows_the_public_names():
    assert dir(ac) == sorted([*ac.__all__, "__version__"])


@pytest.mark.parametrize("name", ac.__all__)
def test_a_public_name_is_there(name):
    assert getattr(ac, name).__doc__


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'anon_core' has no attribute 'measur'"):
        ac.measur  # noqa: B018


def test_editors_and_mypy_see_the_names_that_are_loaded():
    tree = ast.parse((ROOT / "anon_core/__init__.py").read_text())
    seen = {
        alias.name: node.module
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert sorted(seen) == sorted(ac.__all__)
    for name, module in seen.items():
        if name not in ("detect", "recode"):
            assert getattr(ac, name) is getattr(import_module(module), name)


@pytest.mark.parametrize("name", ["detect", "recode"])
def test_a_verb_stays_the_function_whatever_modules_are_imported(name, tmp_path):
    verb = getattr(import_module(f"anon_core.api.{name}"), name)
    assert getattr(ac, name) is verb


def test_every_public_model_is_one_of_the_registry():
    ours = {type_.__name__ for type_ in MODELS.members().values()}
    public = {name for name in ac.__all__ if inspect.isclass(getattr(ac, name)) and name in ours}
    assert len(public) == 15


def test_every_public_error_is_in_the_tree():
    public = {name for name in ac.__all__ if name.endswith("Error")}
    assert all(getattr(ac, name) is getattr(errors, name) and name in errors.__doc__ for name in public)


@pytest.mark.thorough
def test_the_names_are_typed(tmp_path):
    script = tmp_path / "session.py"
    script.write_text(
        "import anon_core as ac\n"
        "reveal_type(ac.measure('t.csv', ac.KAnonymity(k=5), quasi=['age'], unit='person'))\n"
        "reveal_type(ac.measure('t.csv', ac.KAnonymity(k=5), ac.Homogeneity, quasi='age', sensitive='b'))\n"
        "reveal_type(ac.detect('t.csv'))\n"
        "ac.detect('t.csv', max_sice=3)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", str(script)], cwd=ROOT, capture_output=True, text=True
    )
    revealed = [line.rpartition("is ")[2] for line in ended.stdout.splitlines() if "Revealed" in line]
    assert [one.strip('"').rpartition(".")[2] for one in revealed] == ["Measured", "Measurements", "Detected"]
    assert 'Unexpected keyword argument "max_sice"' in ended.stdout
