"""Ready sets of failover trials, into docs/validation/pairs-sets.md.

    python -m bench.failover_sets [NAME ...] [--out build/failover-sets] [--write]

Runs `tameshi failover NAME` for each ready set; a run resumes in its folder. `--write` writes the
page from all sets that are there. Needs root and a quiet machine; about 40 min.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
from pathlib import Path

from tameshi.availability import READY
from tameshi.report.failovers import failovers_markdown

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/pairs-sets.md"


def page(out: Path, load: float) -> str:
    """Return the page of the documentation."""
    lines = [
        "# Sets of failover trials, measured",
        "",
        "<!-- written by `python -m bench.failover_sets --write` -->",
        "",
        "[Sets of trials](../pairs-sets.md) on one machine: real servers in hosts, on served",
        f"drives. {os.cpu_count()} processors, Linux {platform.release()}, load average {load:.1f}",
        "at the begin of the last command. Both hosts, clients, drives and link share the",
        "processors.",
    ]
    for name in READY:
        results = out / name / "results.json"
        if results.exists():
            document = json.loads(results.read_text("utf-8"))
            lines += ["", f"## `{name}`", "", failovers_markdown(document).rstrip()]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run the sets, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*READY])
    parser.add_argument("--out", type=Path, default=ROOT / "build/failover-sets")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    for name in arguments.names:
        words = ["failover", name, "--out", str(arguments.out / name)]
        subprocess.run([sys.executable, "-m", "tameshi", *words], check=False)
    if arguments.write:
        PAGE.write_text(page(arguments.out, load), encoding="utf-8")


if __name__ == "__main__":
    main()
