"""What docs/api.md shows is what happens, and it names every public name with its signature."""

from __future__ import annotations

import inspect
import re

import pytest

import anon_core as ac
from tests.anon_core.api.document import EXAMPLE, PAGE, printed_by

DOCUMENT = PAGE.read_text(encoding="utf-8")
EXAMPLES = EXAMPLE.findall(DOCUMENT)
NAMED = re.findall(r"^(?:### |\| )`(\w+)(\([^`]*\))?`", DOCUMENT, re.MULTILINE)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    return printed_by(DOCUMENT, tmp_path_factory.mktemp("examples"))


def test_every_public_name_is_listed_once_and_nothing_else():
    assert sorted(name for name, _ in NAMED) == sorted(ac.__all__)


@pytest.mark.parametrize(("name", "signature"), [one for one in NAMED if one[1]])
def test_a_signature_is_that_of_the_name(name, signature):
    found = inspect.signature(getattr(ac, name))
    bare = [one.replace(annotation=inspect.Parameter.empty) for one in found.parameters.values()]
    assert signature == str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def test_every_verb_and_model_has_its_signature():
    signed = {name for name, signature in NAMED if signature}
    models = {
        name for name in ac.__all__ if inspect.isclass(one := getattr(ac, name)) and issubclass(one, ac.PrivacyModel)
    }
    assert signed == {name for name in ac.__all__ if name.islower()} | models - {"PrivacyModel"}


def test_every_block_of_code_is_an_example_with_its_output():
    assert len(EXAMPLES) == DOCUMENT.count("```python")


@pytest.mark.parametrize("number", range(len(EXAMPLES)))
def test_an_example_prints_what_is_shown(printed, number):
    assert printed[number] == EXAMPLES[number][1]
