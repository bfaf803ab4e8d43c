"""What is shown of the demonstration is compared with what it prints; here with a log made of the page itself."""

from __future__ import annotations

import pytest

from tests.documents.demo import PAGES, differing, shown_of


def test_both_pages_show_the_same_demonstration() -> None:
    assert differing(shown_of("docs/summary.md")) == []


@pytest.mark.parametrize(
    ("line", "pages"),
    [("  k (smallest class)  1 before, 10 after", [*PAGES]), ("  risk, on average", ["docs/summary.md"])],
)
def test_a_line_that_is_not_what_was_printed_is_found(line: str, pages: list[str]) -> None:
    shown = shown_of("docs/summary.md")
    assert line in shown
    assert differing(shown.replace(line, line + " and more")) == pages
