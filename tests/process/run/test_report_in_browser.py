"""The report of a real study, opened from its folder in headless Chromium."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import tameshi

ROOT = Path(__file__).resolve().parents[3]
CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --virtual-time-budget=20000 --dump-dom"
)


@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
@pytest.mark.parametrize("lang", ["en", "ja"])
def test_the_report_of_the_demo_study_draws_every_plot(tmp_path, lang):
    out = tmp_path / "out"
    study = ROOT / "studies" / "first-look.toml"
    places = ["--world", "measured", f"--on=disk={tmp_path}", "--world", "simulated"]
    done = tameshi("run", study, "--quick", *places, "--out", out, "--lang", lang)
    assert done.returncode == 0, done.stderr
    path = Path(re.search(r"Report: (.*)", done.stdout)[1])
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"<html[^>]*data-ready=\"yes\"", page), "the page's script came to its end"
    assert page.count('class="main-svg"') >= 8
    assert "What does the disk under your feet do" in page
    assert f'lang="{lang}"' in page
