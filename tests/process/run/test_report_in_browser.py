"""Demo study in both worlds, and its report in headless Chromium."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from command import results, tameshi

from tameshi.core.data import STUDIES

ROOT = Path(__file__).resolve().parents[3]
CHROMIUM = shutil.which("chromium")
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync --virtual-time-budget=20000 --dump-dom"
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Run the demo study in both worlds; return results and terminal output."""
    out = tmp_path_factory.mktemp("demo") / "out"
    study = STUDIES / "first-look.toml"
    places = ["--world", "measured", f"--on=disk={out.parent}", "--world", "simulated"]
    done = tameshi("run", study, "--quick", *places, "--out", out)
    assert done.returncode == 0, done.stderr
    return out, done.stdout


@pytest.mark.slow("a study measured in real time")
def test_the_demo_study_runs_in_both_worlds(demo):
    out, printed = demo
    assert len(printed.rstrip().splitlines()[-6:]) == 6
    found = results(out)
    for cell in found["cells"]:
        assert cell["estimates"], cell["phase"]
    assert len(found["cells"]) == 2 * (4 * 3 + 2 + 1 + 1 + 1)


@pytest.mark.slow("Chromium draws a whole report")
@pytest.mark.skipif(not CHROMIUM, reason="no Chromium here")
@pytest.mark.parametrize(
    ("lang", "question"),
    [
        ("en", "What does this disk do at 1 to 256 requests"),
        ("ja", "このディスクは同時要求数1〜256"),
    ],
)
def test_the_report_of_the_demo_study_draws_every_plot(tmp_path, demo, lang, question):
    done = tameshi("report", demo[0], "--lang", lang)
    assert done.returncode == 0, done.stderr
    path = Path(re.search(r"Report: (.*)", done.stdout)[1])
    command = [CHROMIUM, *FLAGS.split(), f"--user-data-dir={tmp_path / 'profile'}", path.as_uri()]
    page = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert re.search(r"<html[^>]*data-ready=\"yes\"", page), "the page's script came to its end"
    assert page.count('class="main-svg"') >= 8
    assert question in page
    assert f'lang="{lang}"' in page
