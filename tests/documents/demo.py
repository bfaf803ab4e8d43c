"""``python -m tests.documents.demo LOG``: README.md and docs/summary.md show what the first ``make demo`` printed."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.documents.sessions import ROOT, matches, sessions, steps

PAGES = ("README.md", "docs/summary.md")


def shown_of(page: str) -> str:
    """Return what a page shows of the demonstration."""
    found = [step for session in sessions((ROOT / page).read_text(encoding="utf-8")) for step in steps(session)]
    (demo,) = [step for step in found if step.command == "make demo"]
    return demo.text


def differing(printed: str) -> list[str]:
    """Return the pages that show something else than was printed."""
    return [page for page in PAGES if not matches(shown_of(page), printed)]


if __name__ == "__main__":
    log = Path(sys.argv[1]).read_text(encoding="utf-8")
    if "UNCHANGED" in log:
        print("make demo had run before: not compared with README.md and docs/summary.md")
    elif wrong := differing(log):
        sys.exit(f"{' and '.join(wrong)} show something else than make demo has printed: {sys.argv[1]}")
