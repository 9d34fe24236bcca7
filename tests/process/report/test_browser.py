"""Page in headless Chromium: offline, silent, drawn, and usable by keyboard."""

from __future__ import annotations

import base64
import copy
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import failover_results
import first_look
import pytest
import storage_results

from tameshi.report.failovers import failovers_page
from tameshi.report.study import plot_tables, render
from tameshi.report.view.inputs import ReportInputs

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
pytestmark = pytest.mark.skipif(not (CHROMIUM and DRIVER), reason="no Chromium here")

selenium = pytest.importorskip("selenium")
from selenium import webdriver  # noqa: E402
from selenium.webdriver.chrome.service import Service  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --window-size=1200,900 --allow-file-access"
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in FLAGS.split():
        options.add_argument(flag)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    yield driver
    driver.quit()


DRAWN = "return document.documentElement.dataset.drawn"
ON_PHONE = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True}


def wait_until_drawn(browser: webdriver.Chrome) -> None:
    """Wait for the last plot."""
    WebDriverWait(browser, 20).until(lambda _: browser.execute_script(DRAWN) == "yes")


def open_page(
    browser: webdriver.Chrome, path: Path, lang: str, *, scripts: bool = True
) -> list[str]:
    """Open a fresh report and return every requested address."""
    path.write_text(render(first_look.inputs(first_look.blemished()), lang), encoding="utf-8")
    browser.get_log("browser")
    browser.get_log("performance")
    browser.get(path.as_uri())
    if scripts:
        wait_until_drawn(browser)
    events = (json.loads(e["message"])["message"] for e in browser.get_log("performance"))
    return [
        event["params"]["request"]["url"]
        for event in events
        if event["method"] == "Network.requestWillBeSent"
    ]


@pytest.mark.slow("Chromium draws a whole report")
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_page_draws_without_network(browser: webdriver.Chrome, tmp_path: Path, lang: str) -> None:
    path = tmp_path / f"{lang}.html"
    asked = open_page(browser, path, lang)
    assert browser.execute_script("return document.documentElement.dataset.ready") == "yes"
    assert [url for url in asked if not url.startswith("data:")] == [path.as_uri()]
    fetched = browser.execute_script(
        "return performance.getEntriesByType('resource').map((e) => e.name)"
    )
    assert [name for name in fetched if not name.startswith("data:")] == []
    assert browser.get_log("browser") == []
    drawn = browser.execute_script(
        "return [...document.querySelectorAll('.plot')].map("
        "(p) => p.querySelectorAll('.trace, .bars .point').length)"
    )
    assert len(drawn) == 8 and all(drawn)
    browser.save_screenshot(str(tmp_path / f"{lang}.png"))
    assert (tmp_path / f"{lang}.png").stat().st_size > 20_000


@pytest.mark.slow("Chromium follows each key")
def test_keyboard_reaches_results_and_theme(browser: webdriver.Chrome, tmp_path: Path) -> None:
    open_page(browser, tmp_path / "keys.html", "en")
    focused = "return document.activeElement.textContent"
    background = "return getComputedStyle(document.documentElement).backgroundColor"
    axis = "return getComputedStyle(document.querySelector('.plot .xtick text')).fill"

    def press(key: str) -> None:
        browser.switch_to.active_element.send_keys(key)

    press(Keys.TAB)
    assert browser.execute_script(focused) == "Skip to the results"
    press(Keys.TAB)
    assert browser.execute_script(focused) == "Dark theme"
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    assert browser.execute_script(outline) == "solid"
    before = [browser.execute_script(script) for script in (background, axis)]
    press(Keys.ENTER)
    wait_until_drawn(browser)
    after = [browser.execute_script(script) for script in (background, axis)]
    assert before[0] != after[0] and before[1] != after[1]
    assert browser.execute_script(focused) == "Light theme"
    press(Keys.SPACE)
    wait_until_drawn(browser)
    assert [browser.execute_script(script) for script in (background, axis)] == before


@pytest.mark.slow("Chromium prints a report")
def test_print_layout_is_light_and_complete(browser: webdriver.Chrome, tmp_path: Path) -> None:
    open_page(browser, tmp_path / "print.html", "en")
    browser.execute_script("document.getElementById('theme').click()")
    browser.execute_script(
        "addEventListener('beforeprint', () => { window.printed = ["
        "document.documentElement.dataset.theme,"
        "document.querySelectorAll('details:not([open])').length] })"
    )
    pdf = browser.execute_cdp_cmd("Page.printToPDF", {"preferCSSPageSize": True})
    assert base64.b64decode(pdf["data"]).startswith(b"%PDF")
    assert browser.execute_script("return window.printed") == ["light", 0]
    assert browser.execute_script("return document.documentElement.dataset.theme") == "dark"


def test_tables_are_present_without_scripts(browser: webdriver.Chrome, tmp_path: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        open_page(browser, tmp_path / "still.html", "en", scripts=False)
        assert "Random read reaches" in browser.page_source
        assert browser.find_element("css selector", "noscript p").is_displayed()
        assert not browser.find_element("id", "theme").is_displayed()
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("lang", ["en", "ja"])
def test_table_of_four_quantities_fits_a_window(
    browser: webdriver.Chrome, tmp_path: Path, lang: str
) -> None:
    data = storage_results.results()
    data["cells"] += [
        cell | {"phase": "more", "windows": {"more": 1.0}}
        for cell in copy.deepcopy(data["cells"])
        if cell["phase"] == "small"
    ]
    for cell in data["cells"]:
        for values in cell["estimates"]:
            ends = {"low": values["value"] * 0.989, "high": values["value"] * 1.011}
            values |= {"window": cell["phase"], "sampling": ends | {"runs": 5}}
    for phase, metric in (("small", "read.iops"), ("large", "read.bandwidth")):
        told = {"id": phase, "phase": phase, "metric": metric, "unit": "", "published": 110e6}
        data["published"].append(data["published"][0] | told)
    path = tmp_path / "comparison.html"
    path.write_text(render(ReportInputs(results=data), lang), encoding="utf-8")
    width = browser.get_window_size()["width"]
    browser.set_window_size(1400, 900)
    browser.get(path.as_uri())
    shown = browser.execute_script(
        "const table = document.getElementById('table-comparison');"
        "return [table.parentElement.scrollWidth - table.parentElement.clientWidth,"
        " table.querySelectorAll('tbody tr:first-child td').length]"
    )
    browser.set_window_size(width, 900)
    assert shown == [0, 12]


@pytest.mark.slow("Chromium draws a whole report")
def test_report_is_usable_within_a_second(browser: webdriver.Chrome, tmp_path: Path) -> None:
    """The best of five: other tests have the processors too."""
    took_ms = []
    for _ in range(5):
        open_page(browser, tmp_path / "quick.html", "en")
        marks = "return performance.getEntriesByName('ready').map((mark) => mark.startTime)"
        took_ms += browser.execute_script(marks)
    assert len(took_ms) == 5 and min(took_ms) < 1000
    assert (tmp_path / "quick.html").stat().st_size < 0.9e6


@pytest.mark.slow("Chromium draws pictures")
def test_each_plot_is_saved_by_a_click(browser: webdriver.Chrome, tmp_path: Path) -> None:
    downloads = {"behavior": "allow", "downloadPath": str(tmp_path / "saved")}
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", downloads)
    open_page(browser, tmp_path / "saving.html", "en")
    inputs = first_look.inputs(first_look.blemished())
    tables = plot_tables(inputs)
    saved = tmp_path / "saved"
    pictures = {name.replace(".csv", ".png") for name in tables}

    def complete() -> set[str]:
        found = {path.name for path in saved.iterdir()} if saved.is_dir() else set()
        return found & {*tables, *pictures}

    for form in ("csv", "png"):
        choices = browser.find_elements("css selector", f"button[data-form={form}]")
        assert len(choices) == 8
        for choice in choices:
            # One at a time: the browser drops some of many downloads at once.
            before = len(complete())
            browser.execute_script("arguments[0].click()", choice)
            WebDriverWait(browser, 20).until(lambda _, before=before: len(complete()) > before)
    assert complete() == {*tables, *pictures}
    for name, table in tables.items():
        assert (saved / name).read_text(encoding="utf-8") == table
    for name in pictures:
        picture = (saved / name).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
    assert browser.get_log("browser") == []


@pytest.mark.slow("Chromium draws a whole report")
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_phone_stacks_worlds_within_its_width(
    browser: webdriver.Chrome, tmp_path: Path, lang: str
) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", ON_PHONE)
    try:
        open_page(browser, tmp_path / "phone.html", lang)
        wide = browser.execute_script(
            "return [document.documentElement.scrollWidth, ...[...document.querySelectorAll("
            "'.plot .main-svg')].map((svg) => svg.getBoundingClientRect().right)]"
        )
        assert len(wide) > 8 and max(wide) <= ON_PHONE["width"]
        lefts = browser.execute_script(
            "return [...document.querySelectorAll('#rate-sweep .nsewdrag')]"
            ".map((panel) => panel.getBoundingClientRect()).map((box) => [box.left, box.top])"
        )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    # Both worlds have their panel, one below the other.
    (left, top), (other_left, other_top) = lefts
    assert abs(left - other_left) < 30 and other_top > top + 100


@pytest.mark.slow("Chromium draws a whole report")
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_failovers_page_fits_a_window_and_a_phone(
    browser: webdriver.Chrome, tmp_path: Path, lang: str
) -> None:
    found = failover_results.document(tmp_path / "set", failover_results.ASKED)
    path = tmp_path / "failovers.html"
    path.write_text(failovers_page(found, lang), encoding="utf-8")
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    width = browser.get_window_size()["width"]
    browser.set_window_size(1400, 900)
    browser.get(path.as_uri())
    wait_until_drawn(browser)
    assert browser.execute_script(wide) == 0
    browser.save_screenshot(str(tmp_path / "wide.png"))
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", ON_PHONE)
    try:
        browser.get(path.as_uri())
        wait_until_drawn(browser)
        assert browser.execute_script(wide) == 0
        browser.save_screenshot(str(tmp_path / "phone.png"))
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.set_window_size(width, 900)
    assert browser.get_log("browser") == []
