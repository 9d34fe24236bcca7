"""Documentation site: strict build, nothing from elsewhere, search without a server."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

import tameshi
from tameshi.commands.cli import COMMANDS

LOADING = {"script": "src", "link": "href", "img": "src", "iframe": "src", "source": "src"}
"""Elements whose target a browser loads by itself, with the attribute."""
OF_CSS = re.compile(r"(?:url\(|@import)\s*['\"]?(?!data:)([^'\")]+)")
PHONE = {"width": 420, "height": 900, "deviceScaleFactor": 1, "mobile": True}
ELSEWHERE = re.compile(r"(?:[a-z]+:)?//")


class Loaded(HTMLParser):
    """Targets that a page loads."""

    def __init__(self) -> None:
        super().__init__()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        target = dict(attrs).get(LOADING.get(tag, ""))
        if target:
            self.targets.append(target)


@pytest.fixture(scope="module")
def site(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site; a warning, such as a broken link, fails the build."""
    folder = tmp_path_factory.mktemp("site")
    build = [sys.executable, "-m", "scripts.docsite", folder]
    done = subprocess.run(build, cwd=root, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-4000:]
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu"):
        options.add_argument(argument)
    service = webdriver.ChromeService("/usr/bin/chromedriver")
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def loaded_elsewhere(folder: Path) -> Iterator[str]:
    for path in folder.rglob("*.html"):
        parser = Loaded()
        parser.feed(path.read_text(encoding="utf-8"))
        yield from (f"{path.name}: {t}" for t in parser.targets if ELSEWHERE.match(t))
    for path in folder.rglob("*.css"):
        targets = OF_CSS.findall(path.read_text(encoding="utf-8"))
        yield from (f"{path.name}: {t}" for t in targets if ELSEWHERE.match(t))


@pytest.mark.timeout(300)
def test_pages_load_nothing_from_other_hosts(site: Path) -> None:
    assert len(list(site.rglob("*.html"))) > 130
    assert list(loaded_elsewhere(site)) == []


def test_page_that_loads_from_elsewhere_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<script src="https://x.y/z.js"></script><img src="b.png">')
    (tmp_path / "a.css").write_text("@import '//fonts.x/y'; a { background: url(c.svg) }")
    assert list(loaded_elsewhere(tmp_path)) == ["a.html: https://x.y/z.js", "a.css: //fonts.x/y"]


def test_reference_has_every_command_and_name(site: Path) -> None:
    commands = (site / "docs/reference/command-line.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f">tameshi {name}<" not in commands] == []
    assert "--fail-on" in commands
    library = (site / "docs/reference/python.html").read_text(encoding="utf-8")
    assert [name for name in tameshi.__all__ if f">tm.{name}<" not in library] == []


def test_search_works_from_a_folder(site: Path, browser: webdriver.Chrome) -> None:
    browser.get(f"{(site / 'search.html').as_uri()}?q=checkpoint")
    found = (By.CSS_SELECTOR, "#search-results li a[href*='docs/models/database']")
    WebDriverWait(browser, 20).until(lambda driver: driver.find_elements(*found))


@pytest.mark.parametrize("page", ["index", "docs/questions", "docs/ja", "docs/reference/study"])
def test_page_fits_a_phone(page: str, site: Path, browser: webdriver.Chrome) -> None:
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", PHONE)
    browser.get((site / f"{page}.html").as_uri())
    width = browser.execute_script("return document.documentElement.scrollWidth")
    assert width <= PHONE["width"]
