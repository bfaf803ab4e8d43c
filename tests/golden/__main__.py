"""Write down what is decided about every case, for later versions to be held against."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import tests.conftest  # noqa: F401 - It names the site policy of the tests.
from tests.golden.cases import CASES, decided

found = {}
for name, case in CASES.items():
    with tempfile.TemporaryDirectory() as folder:
        found[name] = decided(Path(folder), case)
    print(name, found[name].get("gate", {}).get("passed"), flush=True)
Path(__file__).with_name("decisions.json").write_text(json.dumps(found, indent=1, sort_keys=True) + "\n")
