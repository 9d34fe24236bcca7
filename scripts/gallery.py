"""Write docs/gallery.md: question, answer, picture and running time of each ready study.

    python scripts/gallery.py [STUDY …] [--results FOLDER] [--list]

Runs each named study (all by default) in the simulated world, takes the first line of its answer
and a picture of its first plot by headless Chromium, and writes the page from docs/gallery.json.
`--list` only writes the page. Times are of this machine, one study at a time.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from tameshi.core.data import STUDIES
from tameshi.report.study import terminal_summary
from tameshi.report.view.inputs import ReportInputs

ROOT = Path(__file__).resolve().parents[1]
KEPT, PAGE = ROOT / "docs" / "gallery.json", ROOT / "docs" / "gallery.md"
IMAGES = ROOT / "docs" / "images" / "gallery"
WIDTH, HEIGHT = 900, 1200
MEASURED_ONLY = {"document"}
"""Studies of servers without a model."""
HEAD = """# Gallery of ready studies

<!-- made by `python scripts/gallery.py` -->

Each study runs by its name: `tameshi run NAME`. Answers are of the simulated world. Times are of
two processors, report included. Copy a study from `python/tameshi/data/studies/` to change it.
"""


def run(study: str, results: Path) -> dict[str, Any]:
    """Run a study and return its answer and time; raises if a run fails."""
    folder = results / study
    begin_s = time.monotonic()
    command = [sys.executable, "-m", "tameshi", "run", study, "--out", str(folder), "--fresh"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    seconds = time.monotonic() - begin_s
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    answer = terminal_summary(ReportInputs(found))[0]
    picture(folder / "report.html", IMAGES / f"{study}.png")
    return {"seconds": round(seconds), "answer": answer}


def picture(report: Path, image: Path) -> None:
    """Save the first plot of a report as PNG; no picture if the report has no plot."""
    from selenium import webdriver
    from selenium.webdriver.common.by import By

    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", f"--window-size={WIDTH},{HEIGHT}"):
        options.add_argument(word)
    driver = webdriver.Chrome(options=options)
    try:
        driver.get(report.resolve().as_uri())
        time.sleep(3)  # Plots are drawn when they come into view.
        for plot in driver.find_elements(By.CSS_SELECTOR, "figure"):
            driver.execute_script("arguments[0].scrollIntoView()", plot)
            time.sleep(1)
            image.parent.mkdir(parents=True, exist_ok=True)
            plot.screenshot(str(image))
            return
    finally:
        driver.quit()


def page(kept: dict[str, Any]) -> str:
    """The page, one section for each ready study in alphabetical order."""
    parts = [HEAD]
    for path in sorted(STUDIES.glob("*.toml")):
        study = tomllib.loads(path.read_text(encoding="utf-8"))
        known = kept.get(path.stem)
        parts.append(f"## {path.stem}\n\n*{study['question']}*\n")
        if path.stem in MEASURED_ONLY:
            parts.append("Measured only: no model serves this program.\n")
        if known is None:
            continue
        parts.append(f"{known['answer']}\n\nTakes {duration(known['seconds'])}.\n")
        if (IMAGES / f"{path.stem}.png").exists():
            parts.append(f"![First plot of {path.stem}](images/gallery/{path.stem}.png)\n")
    return "\n".join(parts)


def duration(seconds: int) -> str:
    """Seconds in words."""
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def main() -> None:
    """Run what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--results", type=Path, default=Path("tameshi-results/gallery"))
    parser.add_argument("--list", action="store_true", help="write the page only")
    asked = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    every = sorted({path.stem for path in STUDIES.glob("*.toml")} - MEASURED_ONLY)
    for study in () if asked.list else asked.studies or every:
        kept[study] = run(study, asked.results)
        print(f"{study}: {kept[study]['seconds']} s", flush=True)
        KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    main()
