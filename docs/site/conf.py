"""Settings of Sphinx. The site loads nothing from outside, works without a network and from a folder on a disk."""

from __future__ import annotations

import re
from pathlib import Path

_INIT = (Path(__file__).resolve().parents[2] / "anon_core/__init__.py").read_text(encoding="utf-8")

project = "anonflow"
author = "the authors of anonflow"
copyright = "the authors of anonflow, Apache-2.0"  # noqa: A001 - Sphinx calls it so.
release = version = re.search(r'^__version__ = "(.+)"', _INIT, re.MULTILINE)[1]  # type: ignore[index]
language = "en"

extensions = ["myst_parser"]
myst_heading_anchors = 4  # The anchors that git forges make, so that a link to a heading holds in both places.
myst_links_external_new_tab = False
nitpicky = True

html_theme = "pydata_sphinx_theme"
html_title = f"anonflow {release}"
html_static_path = ["static"]
html_css_files = ["anonflow.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_use_index = False
html_domain_indices = False
html_theme_options = {
    "logo": {"text": "anonflow"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "show_nav_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
