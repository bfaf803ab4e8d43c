"""The pages of the folder portal as people meet them: in a real browser, on a desk and on a phone."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.anon_airflow.portals.browser.shown_site import METADATA, WITHDRAWN

pytestmark = pytest.mark.browser

Picture = Callable[[str], Path]
PAGES = {"index": "/index.html", "dataset": "/licences/index.html", "small": "/dogs/index.html"}

# The contrast of every text with what is behind it, by the formula of WCAG 2.
CONTRAST = """
const light = (c) => {
  const f = c.map((v) => { v /= 255; return v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4; });
  return .2126 * f[0] + .7152 * f[1] + .0722 * f[2]; };
const parts = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
const behind = (e) => { for (; e; e = e.parentElement) { const c = parts(getComputedStyle(e).backgroundColor);
  if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
const found = [];
for (const e of document.querySelectorAll("body *")) {
  const own = Array.from(e.childNodes).some((n) => n.nodeType === 3 && n.textContent.trim());
  if (!own || !e.getClientRects().length || ["SCRIPT", "STYLE"].includes(e.tagName)) continue;
  const style = getComputedStyle(e), svg = e.namespaceURI.includes("svg");
  const [a, b] = [light(parts(svg ? style.fill : style.color).slice(0, 3)), light(behind(e))];
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  if (ratio < 4.5) found.push([e.tagName, e.textContent.trim().slice(0, 40), ratio]);
}
return found;
"""
NAMELESS = """
return Array.from(document.querySelectorAll("a, button, input, svg[role=img], table th, [role=region]")).filter((e) =>
  !(e.getAttribute("aria-label") || e.textContent.trim() || e.getAttribute("aria-labelledby") ||
    (e.labels && e.labels.length))).map((e) => e.outerHTML.slice(0, 100));
"""


def complaints(browser: Any) -> list[str]:
    """What the console says: a blocked script or a file that is not there, anything."""
    return [f"{entry['level']}: {entry['message']}" for entry in browser.get_log("browser")]


def shown(browser: Any) -> list[str]:
    """The titles of the datasets that the index shows."""
    titles = browser.find_elements("css selector", "#datasets > li h2")
    return [title.text for title in titles if title.is_displayed()]


def search(browser: Any, words: str) -> list[str]:
    box = browser.find_element("id", "search")
    box.clear()
    box.send_keys(words)
    return shown(browser)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_fits_its_screen_and_the_console_is_silent(
    browser: Any, site: str, width: str, picture: Picture, page: str
) -> None:
    browser.get(site + PAGES[page])
    # Not `innerWidth`: a phone shrinks a page that is too wide, and says that it is as wide as the page.
    page_wide, screen = browser.execute_script(
        "const e = document.documentElement; return [e.scrollWidth, e.clientWidth]"
    )
    assert page_wide <= screen == (1280 if width == "desk" else 360)
    assert complaints(browser) == []
    assert picture(f"{page}-{width}").stat().st_size > 10_000


@pytest.mark.parametrize("page", PAGES)
def test_every_text_stands_out_and_everything_to_use_has_a_name(browser: Any, site: str, width: str, page: str) -> None:
    browser.get(site + PAGES[page])
    assert browser.execute_script(CONTRAST) == []
    assert browser.execute_script(NAMELESS) == []


@pytest.mark.parametrize("page", PAGES)
def test_in_the_dark_every_text_stands_out_too(browser: Any, site: str, picture: Picture, page: str) -> None:
    dark = {"features": [{"name": "prefers-color-scheme", "value": "dark"}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", dark)
    try:
        browser.get(site + PAGES[page])
        assert browser.execute_script(CONTRAST) == []
        picture(f"{page}-dark")
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_the_index_lists_datasets_and_a_search_narrows_them(browser: Any, site: str, picture: Picture) -> None:
    browser.get(f"{site}/index.html")
    both = ["Dog owners – città", "Driver licences"]
    assert shown(browser) == both
    assert search(browser, "licen") == ["Driver licences"]
    assert search(browser, "CITTA") == ["Dog owners – città"]
    assert search(browser, "residence points") == ["Driver licences"]  # What columns mean is searched as well.
    assert "1 of 2 datasets" in browser.find_element("id", "found").text
    picture("search")
    assert search(browser, "nothing of the kind") == []
    assert search(browser, " ") == both
    assert complaints(browser) == []


def test_a_keyword_leads_to_a_search(browser: Any, site: str) -> None:
    browser.get(f"{site}/licences/index.html")
    browser.find_element("link text", "mobilità").click()
    assert shown(browser) == ["Driver licences"]
    assert browser.find_element("id", "search").get_attribute("value") == "mobilità"


def test_without_scripts_every_dataset_is_listed_and_no_search_is_offered(browser: Any, site: str) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(f"{site}/index.html")
        assert len(shown(browser)) == 2
        assert not browser.find_element("id", "search").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_the_keyboard_alone_suffices(browser: Any, site: str) -> None:
    browser.get(f"{site}/index.html")
    reached = []
    for _ in range(4):
        browser.switch_to.active_element.send_keys("\ue004")
        reached.append(browser.switch_to.active_element)
    assert reached[0].get_attribute("textContent") == "Go to the content"
    assert reached[1].get_attribute("id") == "search"
    reached[1].send_keys("dog")
    reached[1].send_keys("\ue004")
    browser.switch_to.active_element.send_keys("\ue007")
    assert browser.title == "Dog owners – città"


def test_the_dataset_page_says_what_is_in_it_and_how_people_are_protected(browser: Any, site: str) -> None:
    browser.get(f"{site}/licences/index.html")
    text = browser.find_element("tag name", "main").text
    said = ["Creative Commons Attribution 4.0", "Town of residence", "integer", "k-anonymity", "The first rows"]
    assert [words for words in [*said, METADATA["contact"], WITHDRAWN] if words not in text] == []
    assert browser.find_element("css selector", "header .lead").text == METADATA["description"]
    headings = [each.text for each in browser.find_elements("tag name", "h2")]
    assert headings[:3] == ["Downloads", "How people in this data are protected", "In pictures"]
    assert len(browser.find_elements("css selector", "svg[role=img]")) == 3
    rows = browser.find_elements("css selector", "table.data tbody tr")
    assert len(rows) == 10


def test_every_link_of_every_page_leads_somewhere(browser: Any, site: str, portal: Path) -> None:
    pages = sorted(path.relative_to(portal) for path in portal.rglob("*.html") if "latest" not in path.parts)
    assert len(pages) == 4
    for page in pages:
        browser.get(f"{site}/{page}")
        for link in browser.find_elements("css selector", "a[href], link[href]"):
            address = str(link.get_attribute("href")).partition("#")[0].partition("?")[0]
            if address.startswith(site):
                assert (portal / address.removeprefix(f"{site}/")).exists(), (page, address)
        assert complaints(browser) == []


def test_a_download_has_the_bytes_that_the_page_promises(browser: Any, site: str, portal: Path) -> None:
    browser.get(f"{site}/licences/index.html")
    browser.execute_cdp_cmd(
        "Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(browser.downloads)}
    )
    browser.find_element("css selector", "a[download][href$='.csv']").click()
    target = browser.downloads / "licences.csv"
    for _ in range(100):
        if target.exists() and not list(browser.downloads.glob("*.crdownload")):
            break
        time.sleep(0.1)
    manifest = json.loads((portal / "licences/latest/manifest.json").read_bytes())
    promised = {each["name"]: each["sha256"] for each in manifest["distributions"]}
    digest = hashlib.sha256(target.read_bytes()).hexdigest()
    assert digest == promised["licences.csv"]
    assert digest in browser.find_element("tag name", "main").text


def test_every_version_can_be_downloaded_and_a_withdrawn_one_says_so(
    browser: Any, site: str, picture: Picture, width: str
) -> None:
    browser.get(f"{site}/licences/index.html")
    rows = browser.find_elements("css selector", "[aria-labelledby=versions] tbody tr")
    files = "a[href$='.csv'], a[href$='.parquet']"
    assert [len(row.find_elements("css selector", files)) for row in rows] == [2, 2, 2, 0]
    rows[3].find_element("tag name", "a").click()
    text = browser.find_element("tag name", "body").text
    assert "This version is no longer available." in text
    assert WITHDRAWN in text
    picture(f"withdrawn-{width}")
    assert complaints(browser) == []
    browser.find_element("link text", "To the dataset").click()
    assert browser.title == "Driver licences"


def test_nothing_is_asked_of_another_machine(browser: Any, site: str) -> None:
    for page in PAGES.values():
        browser.get(site + page)
        asked = browser.execute_script("return performance.getEntriesByType('resource').map((e) => e.name)")
        assert [name for name in asked if not name.startswith((site, "data:"))] == []


def test_a_script_that_somebody_smuggles_in_does_not_run(browser: Any, site: str) -> None:
    browser.get(f"{site}/licences/index.html")
    ran = browser.execute_script(
        "const s = document.createElement('script'); s.textContent = 'window.smuggled = 1';"
        "document.body.appendChild(s); return window.smuggled === 1"
    )
    assert not ran
    assert any("Content Security Policy" in said for said in complaints(browser))
