"""`python -m validation.quantiles`: latency quantiles of each ready drive, in docs/validation.

One study with every drive profile of the package: random reads and writes of 4 KiB, one and 32 at a
time.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tameshi.commands.consoles import ERR
from tameshi.core.data import PROFILES
from tameshi.core.spec_types import World
from tameshi.core.units import format_value
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile
from tameshi.workflow.execute import conduct
from tameshi.workflow.prepare import prepare
from validation import PAGES
from validation.scoreboard import table

PAGE = PAGES / "quantiles.md"
STATISTICS = ("p50", "p99", "p999", "max")
WITHOUT = ("null", "cloud-volume-1tb")
"""Profiles without a latency of their own, or with that of their setting."""
HEAD = """# Latency quantiles of the ready drives

<!-- written by `python -m validation.quantiles` -->

Random reads and writes of 4 KiB on a drive that was written once, without a host, for two seconds
each. The scoreboard has [known tails beside ours](scoreboard.md).
"""


def study_text(drives: Sequence[str]) -> str:
    """A study of all drives."""
    lines = ["title = 'Quantiles'", "question = 'What are the quantiles of latency?'"]
    lines += ["[axis.drive]"]
    lines += [f"'{drive}' = {{ use.storage = '{drive.replace('.', '_')}' }}" for drive in drives]
    lines += [
        "[axis.test]\nvaries = 'within'",
        "read = {}\nwrite = { workload.stream.small.read = '0 %' }",
        "[axis.depth]\nvaries = 'within'\nset = 'workload.stream.small.queue_depth'",
        "levels = [1, 32]",
        "[storage]",
    ]
    lines += [f"{drive.replace('.', '_')} = {{ device = '{drive}' }}" for drive in drives]
    lines += [
        "[workload.stream.small]\nblock_size = '4 KiB'\nspan = '8 GiB'",
        "[phase.point]\nworkload = ['stream.small']\nramp = '200 ms'\nuntil.time = '2200 ms'",
    ]
    return "\n".join(lines) + "\n"


def results(folder: Path, drives: Sequence[str]) -> dict[str, Any]:
    """Simulate the study; return its results."""
    study = StudyFile("quantiles", folder / "quantiles.toml", study_text(drives), {})
    prepared = prepare(study, [World.simulated], Bindings(), quick=False)
    done = conduct(prepared, folder / "out", ERR, jobs=os.cpu_count() or 1, reproduce=[])
    return done.results


def page(found: Mapping[str, Any]) -> str:
    """The page, with a table for reads and one for writes."""
    parts = [HEAD]
    for operation in ("read", "write"):
        head = ("drive", "depth", *STATISTICS)
        parts += [f"## Random {operation}s\n", table(head, _lines(found, operation))]
    return "\n".join(parts)


def _lines(found: Mapping[str, Any], operation: str) -> Iterator[tuple[str, ...]]:
    for cell in found["cells"]:
        if cell["levels"]["test"] != operation:
            continue
        by_metric = {each["metric"]: each["value"] for each in cell["estimates"]}
        values = [by_metric.get(f"{operation}.latency.{s}") for s in STATISTICS]
        shown = ("" if value is None else format_value("latency", value) for value in values)
        yield (cell["levels"]["drive"], cell["levels"]["depth"], *shown)


def main() -> None:
    """Simulate all drives, and write the page."""
    drives = sorted(p.stem for p in (PROFILES / "devices").glob("*.toml") if p.stem not in WITHOUT)
    with TemporaryDirectory() as folder:
        PAGE.write_text(page(results(Path(folder), drives)), encoding="utf-8")


if __name__ == "__main__":
    main()
