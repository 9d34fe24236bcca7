"""Write docs/gallery.md: question, answer, picture and running time of each ready study.

    python scripts/gallery.py [STUDY …] [--results FOLDER] [--render] [--list]

Runs each named study (all by default) in the simulated world, takes the first line of its answer
and a picture of its first plot by headless Chromium, and writes the page from the package's
gallery.json, which `tameshi studies` shows too. `--render` reads results that are there already and
keeps their times; `--list` writes the page.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

from tameshi.core.data import GALLERY, STUDIES
from tameshi.report.study import terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.study.file import plan, read_study
from tameshi.study.ready import duration

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "gallery.md"
IMAGES = ROOT / "docs" / "images" / "gallery"
WIDTH, HEIGHT = 900, 1200
MEASURED_ONLY = {"document"}
"""Studies of servers without a model."""
QUICK = {"pts-div"}
"""Studies that take hours: answer and time are of `--quick`."""
HEAD = """# Gallery of ready studies

<!-- made by `python scripts/gallery.py` -->

Each study runs by its name: `tameshi run NAME`. Answers are of the simulated world. Times are
processor time, report included; runs of a study use all processors. `tameshi studies` lists them on
the terminal; `tameshi init MINE --like NAME` copies one to change it.
"""


def run(study: str, results: Path, seconds: float | None) -> dict[str, Any]:
    """Run a study and return its answer and processor time; raises if a run fails.

    With `seconds` from before, finished runs are read instead of made again.
    """
    folder = results / study
    command = [sys.executable, "-m", "tameshi", "run", study, "--out", str(folder)]
    command += ["--quick"] if study in QUICK else []
    command += ["--fresh"] if seconds is None else []
    before_s = processor_time_s()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    taken_s = processor_time_s() - before_s if seconds is None else seconds
    found = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    answer = terminal_summary(ReportInputs(found))[0]
    picture(folder / "report.html", IMAGES / f"{study}.png")
    quick = {"quick": True} if study in QUICK else {}
    return {"seconds": round(taken_s), **quick, "answer": answer}


def planned(study: str) -> dict[str, Any]:
    """Return the upper bound on the time of a study that only real servers can run."""
    time_ns = plan(read_study(Path(study)), "measured", quick=False).time_ns_at_most
    return {"planned_s": round((time_ns or 0) / 1e9), "world": "measured"}


def processor_time_s() -> float:
    """Processor time of all ended children, user and system, in seconds."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


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
        if known is None:
            continue
        if "planned_s" in known:
            parts.append("Measured only: no model serves this program.\n")
            continue
        quick = " (with `--quick`)" if known.get("quick") else ""
        parts.append(f"{known['answer']}\n\nTakes {duration(known['seconds'])}{quick}.\n")
        if (IMAGES / f"{path.stem}.png").exists():
            parts.append(f"![First plot of {path.stem}](images/gallery/{path.stem}.png)\n")
    return "\n".join(parts)


def main() -> None:
    """Run what is asked for, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY")
    parser.add_argument("--results", type=Path, default=Path("tameshi-results/gallery"))
    parser.add_argument("--render", action="store_true", help="make no run again")
    parser.add_argument("--list", action="store_true", help="write the page only")
    asked = parser.parse_args()
    kept = json.loads(GALLERY.read_text(encoding="utf-8")) if GALLERY.exists() else {}
    kept |= {study: planned(study) for study in MEASURED_ONLY}
    every = sorted({path.stem for path in STUDIES.glob("*.toml")} - MEASURED_ONLY)
    for study in () if asked.list else asked.studies or every:
        seconds = kept[study]["seconds"] if asked.render else None
        kept[study] = run(study, asked.results, seconds)
        print(f"{study}: {kept[study]['seconds']} s", flush=True)
        GALLERY.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(kept), encoding="utf-8")


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C.UTF-8")
    main()
