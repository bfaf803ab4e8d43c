"""``python -m docs.site``: build the documentation site into ``.docs/html``; a warning is an error."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILT = ROOT / ".docs"


def build(built: Path) -> int:
    """Put the sources together, build the site below a folder, and return the exit code of Sphinx."""
    from sphinx.cmd.build import build_main

    from docs.site.assemble import assemble

    source, site = built / "source", built / "html"
    for folder in (source, site):
        shutil.rmtree(folder, ignore_errors=True)
    os.environ.setdefault("AIRFLOW_HOME", str(built / "airflow"))  # The operators import Airflow, which writes there.
    assemble(source)
    options = ["-b", "html", "-W", "--keep-going", "-q", "-c", str(ROOT / "docs/site"), "-d", str(built / "pages")]
    code = build_main([*options, str(source), str(site)])
    for problem in (found := loaded_from_outside(site)):
        print(problem, file=sys.stderr)
    return code or bool(found)


_LOADED = re.compile(
    r"""<(?:script|img|iframe|source|video|audio|embed)\b[^>]*\bsrc=["'](?:https?:)?//[^"']+|"""
    r"""<link\b[^>]*\brel=["'](?:stylesheet|preload|preconnect|icon|modulepreload)["'][^>]*\bhref=["'](?:https?:)?//[^"']+|"""
    r"""(?:url\(|@import\s)\s*["']?(?:https?:)?//[^"')]+"""
)


def loaded_from_outside(site: Path) -> list[str]:
    """Return what a browser would load from elsewhere: scripts, fonts, styles and pictures all come with the site."""
    return [
        f"{file.relative_to(site)} loads from outside: {found[0]}"
        for file in sorted(site.rglob("*"))
        if file.suffix in (".html", ".css")
        for found in _LOADED.finditer(file.read_text(encoding="utf-8"))
    ]


if __name__ == "__main__":
    code = build(BUILT)
    if code == 0:
        print(f"open {BUILT / 'html/index.html'}")
    sys.exit(code)
