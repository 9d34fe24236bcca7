"""The page as text: escaping, languages, repeatability."""

from __future__ import annotations

import base64
import gzip
import html
import re
import string
from importlib import resources
from pathlib import Path

import first_look
import pytest
from plotly.offline import get_plotlyjs

from tameshi import guard
from tameshi.core.errors import GuardRefusal
from tameshi.core.reasons import quoted
from tameshi.report.study import render
from tameshi.report.words.text import TEXT
from tameshi.workflow import study_folder

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)> & \"'"


def visible(page: str) -> str:
    """Return visible and audible content: text and labels, without scripts and styles."""
    body = re.sub(r"<(script|style)\b.*?</\1>", " ", page, flags=re.S)
    labels = re.findall(r'(?:aria-label|data-to-dark|data-to-light)="([^"]*)"', body)
    return html.unescape(" ".join([re.sub(r"<[^>]+>", " ", body), *labels, unpacked(page)]))


def unpacked(page: str, element: str = "plot-data") -> str:
    """Return what a script element of the page holds, compressed."""
    found = re.search(rf'<script type="application/gzip" id="{element}">(.*?)</script>', page)
    assert found
    return gzip.decompress(base64.b64decode(found[1])).decode()


def test_hostile_names_stay_text() -> None:
    data = first_look.blemished()
    data["study"] |= {"title": HOSTILE, "question": HOSTILE}
    data["cells"][35]["verdict"]["reasons"] = [quoted(HOSTILE)]
    for cell in data["cells"]:
        if cell["phase"] == "bandwidth":
            cell["levels"] = {"direction": HOSTILE + cell["levels"]["direction"]}
    page = render(first_look.inputs(data))
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("<script") - page.count("<script>") == 2
    assert "&lt;/script&gt;" in page


def test_japanese_page_has_no_english_of_the_table() -> None:
    seen = visible(render(first_look.inputs(first_look.blemished()), "ja"))
    seen = seen.replace(first_look.blemished()["study"]["question"], "")
    left = []
    for key, (english, japanese) in TEXT.items():
        parts = [part for part, *_ in string.Formatter().parse(english)]
        longest = max(parts, key=len, default="").strip()
        if len(longest.split()) > 1 and longest not in japanese and longest in seen:
            left.append((key, longest))
    assert left == []


@pytest.mark.parametrize("asset", ["template.html", "page.js"])
def test_assets_hold_no_words_of_their_own(asset: str) -> None:
    source = resources.files("tameshi.report.render").joinpath(asset).read_text(encoding="utf-8")
    if asset == "page.js":
        assert not re.findall(r'textContent = "', source)
        return
    bare = re.sub(r"\{%.*?%\}|\{\{.*?\}\}", " ", source, flags=re.S)
    bare = re.sub(r"<[^>]+>", " ", bare)
    assert re.findall(r"[A-Za-z]{2,}", bare) == []


def test_tables_have_headings_captions_and_scopes() -> None:
    page = render(first_look.inputs())
    assert page.count("<h1>") == 1
    assert page.count("<table") == page.count("<caption")
    assert all("scope=" in cell for cell in re.findall(r"<th\b[^>]*>", page))
    assert '<html lang="en">' in page and '<html lang="ja">' in render(first_look.inputs(), "ja")


def test_page_is_small() -> None:
    assert len(render(first_look.inputs()).encode()) < 0.9e6


def test_bundle_of_plots_has_version_of_plotly_and_its_licence() -> None:
    """After another plotly is locked, `make plotly` fetches its bundle."""
    page = render(first_look.inputs())
    begin = unpacked(page, "plotly")[:300]
    version = re.search(r"plotly\.js v([\d.]+)", get_plotlyjs()[:300])
    assert version and f"plotly.js (basic - minified) v{version[1]}\n" in begin
    notice = f"<!-- plotly.js (basic - minified) v{version[1]}; Copyright 2012-"
    assert notice in page and "Licensed under the MIT license -->" in page
    licence = (
        resources.files("tameshi.report.render")
        .joinpath("plotly-LICENSE.txt")
        .read_text(encoding="utf-8")
    )
    assert licence.startswith("MIT License") and "Plotly" in licence


def test_same_inputs_give_the_same_page() -> None:
    assert render(first_look.inputs()) == render(first_look.inputs())


def test_report_interrupted_in_rendering_keeps_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    guard.claim_folder(tmp_path)
    path = study_folder.write_html(tmp_path, first_look.inputs(), "en")
    before = path.read_bytes()

    def interrupted(*_: object) -> str:
        assert path.read_bytes() == before
        raise KeyboardInterrupt

    monkeypatch.setattr(study_folder, "render", interrupted)
    with pytest.raises(KeyboardInterrupt):
        study_folder.write_html(tmp_path, first_look.inputs(), "en")
    assert path.read_bytes() == before
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [guard.MARKER, "report.html"]


def test_report_outside_own_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(GuardRefusal):
        study_folder.write_html(tmp_path, first_look.inputs(), "en")
    assert path.read_text() == "old"
