"""Run time of the reference studies of drives, through the command line, report included.

    python -m bench.studies [--write] [STUDY …]

Each study in full and with --quick: wall-clock seconds, processor seconds including workers, and
the largest memory of one process. `--write` writes docs/validation/studies.md; use a quiet machine,
since the wall clock includes other work.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from tameshi.core import data

ROOT = Path(__file__).resolve().parents[1]
STUDIES = (
    *("flash-card-review", "nvme-stripe", "drive-spec-table", "sr-iov", "drive-aging"),
    "flash-card-tails",
)
BARS = {"--quick": 120.0, "in full": 900.0}
"""Upper bound in seconds on two processors for all of them together."""


@dataclass(frozen=True)
class Row:
    """One study: wall-clock and processor seconds, and bytes of memory."""

    study: str
    how: str
    wall_s: float
    cpu_s: float
    memory: int


def timed(study: str, how: str) -> Row:
    """Run a study and discard its results."""
    with tempfile.TemporaryDirectory() as scratch:
        path = str(data.STUDIES / f"{study}.toml")
        words = [path, "--out", f"{scratch}/out", *([how] if how.startswith("--") else [])]
        begin, before = time.monotonic(), processor_s()
        command = [sys.executable, "-m", "tameshi", "run", *words]
        subprocess.run(command, check=True, capture_output=True)
        wall, cpu = time.monotonic() - begin, processor_s() - before
    # Largest so far: a child's own value is not available.
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    return Row(study, how, wall, cpu, memory)


def processor_s() -> float:
    """Return the processor seconds of children and their descendants."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def page(rows: Sequence[Row]) -> str:
    """Return the page."""
    lines = [
        "# How long the studies of drives take",
        "",
        "<!-- written by `python -m bench.studies --write` -->",
        "",
        f"Through the command line on {os.cpu_count()} processors, report included. *Memory* is",
        "the most that any process had taken by then.",
        "",
        "| study | | by the clock | of processor time | memory |",
        "|---|---|---:|---:|---:|",
    ]
    for row in rows:
        memory = f"{row.memory / 2**20:,.0f} MiB"
        times = f"{row.wall_s:.0f} s | {row.cpu_s:.0f} s"
        lines.append(f"| `{row.study}` | {row.how} | {times} | {memory} |")
    for how, bar in BARS.items():
        mine = [row for row in rows if row.how == how]
        wall, cpu = sum(row.wall_s for row in mine), sum(row.cpu_s for row in mine)
        result = f"**{wall:.0f} s** (at most {bar:.0f}) | {cpu:.0f} s"
        lines.append(f"| all together | {how} | {result} | |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("studies", nargs="*", metavar="STUDY", help=", ".join(STUDIES))
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    studies = arguments.studies or STUDIES
    if unknown := set(studies) - set(STUDIES):
        parser.error(f"{', '.join(sorted(unknown))}: one of {', '.join(STUDIES)}")
    console, rows = Console(), []
    for how in BARS:
        for study in studies:
            rows.append(timed(study, how))
            console.print(rows[-1])
    console.print(page(rows), markup=False, soft_wrap=True)
    if arguments.write:
        path = ROOT / "docs" / "validation" / "studies.md"
        path.write_text(page(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
