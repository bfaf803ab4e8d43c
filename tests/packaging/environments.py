"""Fresh virtual environments with the built wheel, as people have it who run ``pip install``."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
_HIDDEN = ("PYTHONPATH", "PYTHONHOME", "ANON_POLICY", "ANON_AUDIT_URL", "AIRFLOW_HOME", "VIRTUAL_ENV")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Environment:
    """A virtual environment; nothing of this checkout is on its path."""

    root: Path

    def python(self, code: str, folder: Path) -> Ended:
        return self._run([self.root / "bin/python", "-c", code], folder)

    def anon(self, *arguments: str, folder: Path, **variables: str) -> Ended:
        return self._run([self.root / "bin/anon", *arguments], folder, **variables)

    def packages(self) -> set[str]:
        """Return the names of what is installed, as they are spelt in the lock."""
        code = "from importlib.metadata import distributions as all; print(*(one.name for one in all()))"
        return {name.lower().replace("_", "-") for name in self.python(code, self.root).out.split()}

    def _run(self, command: Sequence[str | Path], folder: Path, **variables: str) -> Ended:
        environment = {name: value for name, value in os.environ.items() if name not in _HIDDEN}
        environment |= {"ANON_HOME": str(folder / "home"), "COLUMNS": "200", **variables}
        ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=600)
        return Ended(ended.returncode, ended.stdout, ended.stderr)


def build_wheel(folder: Path) -> Path:
    """Build the wheel of this checkout, with nothing fetched from anywhere."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def environment_with(wheel: Path, folder: Path, *extras: str) -> Environment:
    """
    Make an environment with the wheel, the packages it needs and those of some extras, in the versions of the lock.

    uv is faster; pip knows indexes that uv does not. Where neither reaches one, the test fails and says so.
    """
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, capture_output=True)
    python, versions = str(folder / "bin/python"), folder / "versions.txt"
    versions.write_text(_locked_versions())
    wanted = f"anonflow{'[' + ','.join(extras) + ']' if extras else ''} @ {wheel.as_uri()}"
    given = ["--quiet", "--constraint", str(versions), wanted]
    impatient = {**os.environ, "UV_HTTP_TIMEOUT": "10", "UV_HTTP_RETRIES": "1", "UV_LINK_MODE": "copy"}
    uv = [str(Path(sys.executable).with_name("uv")), "pip", "install", "--python", python, *given]
    pip = [python, "-m", "pip", "install", "--disable-pip-version-check", *given]
    if subprocess.run(uv, env=impatient, capture_output=True).returncode != 0:
        ended = subprocess.run(pip, capture_output=True, text=True)
        if ended.returncode != 0:
            pytest.fail(
                "neither uv nor pip could install the wheel; these tests need a package index that pip reaches:\n"
                + "\n".join(ended.stderr.splitlines()[-5:])
            )
    return Environment(folder)


def _locked_versions() -> str:
    """Return the pins of the lock without their hashes: the wheel, which was just built, has none."""
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    return "".join(f"{pin.rstrip(' ')}\n" for pin in re.findall(r"^([a-z0-9][^\\\n]*)", lock, re.MULTILINE))
