"""Effect of the capacity scale on results: one card at 1/n of its capacity, through the CLI.

    python -m bench.capacity_scale [--write] [SCALE …]

The ES3000 1.2 TB card in the steady state: 4 KiB random writes with 256 outstanding, then 8 KiB, 70
% reads, with 64 outstanding, long enough for some hundred thousand requests each. Scale 1 is the
whole card: 3 GB of memory and some minutes. `--write` writes docs/validation/capacity-scale.md.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "validation" / "capacity-scale.md"
SCALES = (1, 8, 32, 64, 128, 256)
STUDY = """
title = "Does the capacity scale change results?"
question = "From which capacity scale on do results no longer change?"
[axis.scale]
set = "storage.card.scale"
levels = [SCALES]
[storage.card]
device = "es3000-1.2t"
written = "steady"
[workload.stream.writes]
read = "0 %"
queue_depth = 256
[workload.stream.mixed]
read = "70 %"
block_size = "8 KiB"
queue_depth = 64
[phase.writes]
workload = ["stream.writes"]
ramp = "2 s"
until.time = "6 s"
[phase.mixed]
workload = ["stream.mixed"]
ramp = "1 s"
until.time = "4 s"
[run]
interval = "100 ms"
seed = 20261121
"""
MEASURES = {
    "iops": ("IOPS", 1.0),
    "latency.mean": ("mean, µs", 1e3),
    "latency.p50": ("p50, µs", 1e3),
    "latency.p99": ("p99, µs", 1e3),
    "latency.p999": ("p99.9, µs", 1e3),
    "latency.stddev": ("standard deviation, µs", 1e3),
    "latency.max": ("longest, µs", 1e3),
}
"""Figures of each operation: heading, and unit."""
TABLES = (("writes", "write"), ("mixed", "read"), ("mixed", "write"))
NAMES = {
    ("writes", "write"): "4 KiB random writes, 256 outstanding",
    ("mixed", "read"): "Reads of 8 KiB, 70/30, 64 outstanding",
    ("mixed", "write"): "Writes of 8 KiB, 70/30, 64 outstanding",
}
Found = Mapping[tuple[int, str, str], tuple[float, int | None]]
"""Value and number of operations, by scale, phase and metric."""


def run(scales: Sequence[int]) -> Found:
    """Run a study with one cell per scale, in sequence to save memory."""
    with tempfile.TemporaryDirectory() as scratch:
        study, out = Path(scratch) / "capacity-scale.toml", Path(scratch) / "out"
        study.write_text(STUDY.replace("SCALES", ", ".join(map(str, scales))), "utf-8")
        words = ["run", str(study), "--out", str(out), "--jobs", "1"]
        command = [sys.executable, "-m", "tameshi", *words]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        cells = json.loads((out / "results.json").read_text("utf-8"))["cells"]
    return dict(_found(cells))


def _found(
    cells: Sequence[Mapping[str, Any]],
) -> Iterator[tuple[tuple[int, str, str], tuple[float, int | None]]]:
    for cell in cells:
        scale = int(cell["levels"]["scale"])
        for estimate in cell["estimates"]:
            place = (scale, cell["phase"], estimate["metric"])
            yield place, (estimate["value"], estimate.get("operations"))


def table(found: Found, phase: str, operation: str) -> Iterator[str]:
    """Return the table of one operation: a row per scale, each value with its change against the
    first row."""
    yield f"## {NAMES[phase, operation]}"
    yield ""
    yield "| n | I/Os | " + " | ".join(heading for heading, _ in MEASURES.values()) + " |"
    yield "|---|" + "---:|" * (len(MEASURES) + 1)
    scales = sorted({scale for scale, *_ in found})
    for scale in scales:
        count = found[scale, phase, f"{operation}.latency.max"][1] or 0
        cells = [str(scale), f"{count:,}"]
        for measure, (_, unit) in MEASURES.items():
            value, first = (
                found[each, phase, f"{operation}.{measure}"][0] for each in (scale, scales[0])
            )
            change = f" ({100 * (value / first - 1):+.1f} %)" if scale != scales[0] else ""
            cells.append(f"{value / unit:,.4g}{change}" if unit > 1 else f"{value:,.0f}{change}")
        yield "| " + " | ".join(cells) + " |"
    yield ""


def largest(found: Found, measures: Sequence[str], most: int) -> float:
    """Return the largest relative change of some figures against the least scale, up to a scale."""
    scales = sorted({scale for scale, *_ in found})
    changes = [
        abs(
            found[scale, phase, f"{op}.{measure}"][0]
            / found[scales[0], phase, f"{op}.{measure}"][0]
            - 1
        )
        for scale in scales[1:]
        if scale <= most
        for phase, op in TABLES
        for measure in measures
    ]
    return max(changes, default=0.0)


def page(found: Found) -> str:
    """Return the page."""
    scales = sorted({scale for scale, *_ in found})
    first, last = scales[0], scales[-1]
    parts = {
        "rates": ("iops",),
        "means": ("latency.mean",),
        "medians": ("latency.p50",),
        "p99": ("latency.p99",),
        "p99.9": ("latency.p999",),
        "standard deviations": ("latency.stddev",),
        "maxima": ("latency.max",),
    }
    result = [f"| {name} | {100 * largest(found, m, last):.1f} % |" for name, m in parts.items()]
    lines = [
        "# Does the capacity scale change results?",
        "",
        "<!-- written by `python -m bench.capacity_scale --write` -->",
        "",
        "The ES3000 1.2 TB card in the steady state, simulated at one n-th of its capacity,",
        f"through the command line. In parentheses: the change against n = {first}"
        + (", the whole card." if first == 1 else ", the least that was run."),
        "",
        f"The largest change of any of the values below, at any n up to {last}:",
        "",
        "| of | at most |",
        "|---|---:|",
        *result,
        "",
        *(line for place in TABLES for line in table(found, *place)),
        "Rates, means and medians do not hang on the scale: any of those tried serves for them.",
        "Tails of writes that saturate the drive do: at a part of the capacity dies take turns to",
        "erase, and those of a whole block do at once. Where tails matter, ask for `scale = 1`.",
        "",
        "One drive and two loads were tried. A study that states no scale takes the largest power",
        "of two that leaves each block of its drive four pages and the storage 1 GiB, but 256 at",
        "most; spec, results.json and report say which, and the report of a study that asks for",
        "more says that nothing was shown there. Maxima and standard deviations at a scale are",
        "marked in reports, with the number of I/Os they were taken over: a maximum grows with",
        "that number, and both may hang on how much is erased at a time. Those of four whole cards",
        "are in the ready study `flash-card-tails`.",
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Run, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scales", nargs="*", type=int, metavar="SCALE")
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = page(run(arguments.scales or SCALES))
    Console().print(text, markup=False, soft_wrap=True)
    if arguments.write:
        PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
