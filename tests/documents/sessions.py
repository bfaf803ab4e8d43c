"""
The sessions of the documents: commands, run one after the other in a folder of their own, and what they print.

A file that a page shows with ``cat`` is written as shown, unless a command before made it. ``...`` stands for text that
is left out. ``python -m tests.documents.sessions`` runs the pages and writes what is printed now into them.
"""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("commands", "decompose", "detection", "freeform", "hierarchies", "measures", "recoding")
"""The pages whose sessions need nothing but a table; those of other pages need Airflow, a CKAN or a clock."""
_BLOCK = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"^\[exit code (\d+)\]\n", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Step:
    """A command as the page writes it, and what the page shows below it."""

    command: str
    shown: str

    @property
    def code(self) -> int | None:
        """The exit code that the page shows, if it does."""
        found = _CODE.search(self.shown)
        return int(found[1]) if found else None

    @property
    def text(self) -> str:
        """What is shown of the output."""
        return _CODE.sub("", self.shown)


def sessions(page: str) -> list[str]:
    """Return the sessions of a page."""
    return _BLOCK.findall(page)


def steps(session: str) -> Iterator[Step]:
    """Yield the commands of a session; one may go on after a backslash, or until the end of a text that it is given."""
    for part in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        last = 0
        while lines[last].endswith("\\"):
            last += 1
        if given := re.search(r"<<'(\w+)'$", lines[last]):
            last = lines.index(given[1])
        yield Step("\n".join(lines[: last + 1]), "\n".join(lines[last + 1 :]))


def matches(shown: str, printed: str) -> bool:
    """Whether a command prints what a page shows; `...` stands for any text."""
    pattern = "".join(".*" if part == "..." else re.escape(part) for part in re.split(r"(\.\.\.)", shown.rstrip()))
    return re.fullmatch(pattern, _bare(printed), re.DOTALL) is not None


def _bare(printed: str) -> str:
    return "\n".join(line.rstrip() for line in printed.rstrip().splitlines())


@dataclass(frozen=True, slots=True)
class Shell:
    """A folder in which commands run; they find ``anon``, and no setting of anonflow from outside."""

    folder: Path

    def run(self, step: Step) -> tuple[str, int]:
        """Return what a command prints, and its exit code."""
        command = step.command.split("  #")[0]
        if (file := re.fullmatch(r"cat (\S+)", command)) and not (self.folder / file[1]).exists():
            (self.folder / file[1]).write_text(step.text, encoding="utf-8")
            return step.text, 0
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ANON_")}
        environment |= {
            "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}",
            "COLUMNS": "200",
            "NO_COLOR": "1",
            "ANON_HOME": str(self.folder / "home"),
        }
        if "--show-values" in command:
            return self._on_a_terminal(command, environment)
        ran = subprocess.run(["bash", "-c", command], cwd=self.folder, env=environment, text=True, capture_output=True)
        return ran.stdout or (ran.stderr if ran.returncode else ""), ran.returncode

    def _on_a_terminal(self, command: str, environment: dict[str, str]) -> tuple[str, int]:
        ours, theirs = pty.openpty()
        ends = {
            "stdin": theirs,
            "stdout": theirs,
            "stderr": theirs,
        }  # Values are shown on stderr, if that is a terminal.
        started = subprocess.Popen(["bash", "-c", command], cwd=self.folder, env=environment, **ends)
        os.close(theirs)
        printed = b""
        try:
            while chunk := os.read(ours, 65536):
                printed += chunk
        except OSError:  # How Linux says that a terminal was closed.
            pass
        os.close(ours)
        return printed.decode().replace("\r\n", "\n"), started.wait()


def folder_for(page: str, folder: Path) -> Shell:
    """Return a folder with what the commands of a page start from: the samples and hierarchies of the repository."""
    if "include/" in page:
        shutil.copytree(ROOT / "include", folder / "include", ignore=shutil.ignore_patterns("portal", "*.parquet"))
        sample = folder / "include/samples/driver_licences.csv"
        if not sample.exists():
            made = [sys.executable, "include/samples/driver_licences.py", "--rows", "100000", "--output", str(sample)]
            subprocess.run(made, cwd=folder, check=True, capture_output=True)
    if "adult.csv.gz" in page and (data := reference_data()):
        shutil.copy(data / "adult.csv.gz", folder)
    return Shell(folder)


def reference_data() -> Path | None:
    """Return the folder of the reference tables, if there is one with Adult."""
    data = Path(os.environ.get("ANON_REFERENCE_DATA", "/nowhere"))
    return data if (data / "adult.csv.gz").exists() else None


def mended(page: str, shell: Shell) -> str:
    """Return a page in which every command shows what it prints now; what is shown with `...` stays if it fits."""

    def again(block: re.Match[str]) -> str:
        parts = []
        for step in steps(block[1]):
            printed, code = shell.run(step)
            kept = matches(step.text, printed)
            shown = step.text if kept else _bare(printed) + "\n" * bool(printed.strip())
            if "..." in step.text and not kept:
                shown += f"THE PAGE LEFT SOMETHING OUT, SHORTEN THIS\n{step.text}"
            parts.append(f"$ {step.command}\n{shown}" + (f"[exit code {code}]\n" if step.code is not None else ""))
        return f"```console\n{''.join(parts)}```"

    return _BLOCK.sub(again, page)


if __name__ == "__main__":
    import tempfile

    for name in sys.argv[1:] or PAGES:
        file = ROOT / f"docs/{name}.md"
        before = file.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            file.write_text(mended(before, folder_for(before, Path(folder))), encoding="utf-8")
        print(f"{name}: {'changed' if file.read_text(encoding='utf-8') != before else 'as it was'}")
