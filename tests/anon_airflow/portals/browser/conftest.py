"""A real browser, without a screen, on a portal that the real steps have published."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.anon_airflow.portals.browser.shown_site import served, write_site

OUTPUT = Path(os.environ.get("ANON_TEST_OUTPUT") or Path(__file__).resolve().parents[4] / ".test-output") / "browser"
"""Where pictures of the pages are kept, for people to look at."""
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-prefers-reduced-motion",  # Or a click comes while the page still scrolls to its target.
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def portal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_site(tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="session")
def site(portal: Path) -> Iterator[str]:
    with served(portal) as address:
        yield address


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Chromium, driven by selenium; it downloads into the folder `downloads` that it is given."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    driver = shutil.which("chromedriver")
    if not chromium or not driver:
        pytest.skip("no Chromium here: install `chromium` and `chromium-driver` to look at the pages in a browser")
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed: make install")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    folder = tmp_path_factory.mktemp("downloads")
    options.add_experimental_option("prefs", {"download.default_directory": str(folder)})
    opened = webdriver.Chrome(options=options, service=webdriver.ChromeService(driver))
    opened.downloads = folder
    try:
        yield opened
    finally:
        opened.quit()


@pytest.fixture
def picture(browser: Any) -> Callable[[str], Path]:
    """Keep a picture of the whole page that the browser shows."""

    def keep(name: str) -> Path:
        OUTPUT.mkdir(parents=True, exist_ok=True)
        size = browser.get_window_size()
        height = browser.execute_script("return document.documentElement.scrollHeight")
        width = browser.execute_script("return window.innerWidth")
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": min(height, 12_000), "deviceScaleFactor": 1, "mobile": False},
        )
        path = OUTPUT / f"{name}.png"
        assert browser.save_screenshot(str(path)), size
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        return path

    return keep


@pytest.fixture(params=[(1280, 900), (360, 740)], ids=["desk", "phone"])
def width(browser: Any, request: pytest.FixtureRequest) -> Iterator[str]:
    """The browser as wide as a screen on a desk, or as a phone."""
    wide, high = request.param
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": wide, "height": high, "deviceScaleFactor": 1, "mobile": wide < 500},
    )
    yield "desk" if wide > 500 else "phone"
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
