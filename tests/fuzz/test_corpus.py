"""Every input in the corpus, once more through the oracle, without Atheris: what was found once must not come back."""

from __future__ import annotations

import pytest

from tests.fuzz.oracle import FindingError
from tests.fuzz.target import MODULES, corpus, target


@pytest.mark.parametrize("name", MODULES)
def test_no_input_of_the_corpus_is_a_finding(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ANON_HOME", str(tmp_path / "home"))
    found = {}
    for path in corpus(name):
        try:
            target(name).try_bytes(path.read_bytes(), tmp_path)
        except FindingError as finding:
            found[path.name] = f"{finding.signature}\n{finding.details[-1500:]}"
    assert not found, "\n".join(f"{file}: {what}" for file, what in found.items())


@pytest.mark.parametrize("name", MODULES)
def test_every_target_has_a_corpus(name):
    sizes = [path.stat().st_size for path in corpus(name)]
    assert sizes, "there is something to begin with"
    assert sum(sizes) < 100_000, "and it is small"
