"""Queue depth sweep on one file: Tameshi against fio, in alternating pairs.

    python -m bench.beside_fio [--most 400] [--seconds 0.4] [--depths 1 …] [--write] [PLACE …]

The default places are a file on a tmpfs of its own (mounted with huge pages, which needs root) and
one in build/. Both programs read at random with direct I/O and io_uring, registered file and
buffers, two requests per submission. On tmpfs, blocks have 4 MiB, at depth 1 and 2 enough for 16
MiB in flight: at 4 KiB the processor is the limit and the cheaper generator wins, which `make
bench` measures elsewhere. Both leave the copying to io_uring, though Tameshi by default reads a
file in memory in place. On tmpfs, readers are pinned to one processor at nice -20: the kernel
copies in its own threads, and their scheduling changes a pair by 10 %. The rest of Tameshi runs on
another processor, since fio does nothing else during so short a run. The small memory pages of a
file or buffer change a run by 20 %, hence huge pages for all: the file by its mount, fio's buffers
by an option for reserved pages, Tameshi's by default.

A pair runs both at one depth in alternating order; the ratio of the means has a 95 % interval over
the pairs. A depth gets at least ten pairs, until the interval is narrow enough (only its width
decides) or after `--most` pairs. Pairs on tmpfs are half as long up to depth 4: fio's time ends
when its queue is empty, and a deep queue of large blocks takes a while. `--write` writes the table
to docs/validation/beside-fio.md and keeps unmeasured rows.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import os
import platform
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import t as student

from tameshi import guard
from tameshi.core.spec_types import World
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.execute import conduct
from tameshi.workflow.prepare import prepare

ROOT = Path(__file__).resolve().parents[1]
DEPTHS = (1, 2, 4, 8, 16, 32)
SIZE_MIB = 512
LEAST_PAIRS = 10
HALF_WIDTH_TMPFS = 0.015
"""Half width of the interval that ends the pairs of a depth; the bar is ±5 %."""
HALF_WIDTH_DISK = 0.03
"""Half width on a disk; the bar is ±10 %."""
SHORT_UP_TO = 4
"""Greatest depth at which a run on tmpfs is half as long."""
HIGHEST_PRIORITY = -20
HUGE_PAGES = Path("/proc/sys/vm/nr_hugepages")
HUGE_PAGES_FOR_FIO = 80
"""Number of 2 MiB pages: the deepest queue of the largest blocks, and reserve."""
HEADER_MIB = 1
"""The ownership header before the payload; fio reads the same bytes."""
CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(["tameshi.workflow.execute"])
ROW = re.compile(r"^\| (tmpfs|disk) \| \d+ \| (\d+) \|.*$", re.MULTILINE)
"""Pattern of a row of the page's table: place and depth."""
STUDY = """
title = "Beside fio"
question = "Do both measure the same?"
[storage.disk]
size = "{size} MiB"
[workload.stream.s]
queue_depth = {depth}
block_size = "{block} KiB"
{processors}
[phase.p]
workload = ["stream.s"]
ramp = "{ramp} ms"
until = {{ time = "{time} ms" }}
"""


@dataclass(frozen=True)
class Row:
    """One depth in one place: mean IOPS of both, their ratio and its 95 % interval."""

    place: str
    on_tmpfs: bool
    pairs: int
    depth: int
    ours: float
    fio: float
    ratio: float
    low: float
    high: float


def on_tmpfs(place: Path) -> bool:
    """Return whether the kernel's copying is measured instead of a device."""
    command = ["stat", "--file-system", "--format=%T", str(place)]
    done = subprocess.run(command, check=True, capture_output=True, encoding="utf-8")
    return done.stdout.strip() == "tmpfs"


@contextmanager
def huge_tmpfs() -> Iterator[Path]:
    """Mount a tmpfs with huge pages for the duration of the block."""
    with tempfile.TemporaryDirectory() as place:
        options = f"huge=always,size={2 * SIZE_MIB}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tameshi", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", "--lazy", place], check=True)


@contextmanager
def huge_buffers() -> Iterator[None]:
    """Reserve huge pages for fio for the duration of the block."""
    before = HUGE_PAGES.read_text(encoding="utf-8")
    HUGE_PAGES.write_text(str(int(before) + HUGE_PAGES_FOR_FIO), encoding="utf-8")
    try:
        yield
    finally:
        HUGE_PAGES.write_text(before, encoding="utf-8")


def block_kib(place: Path, depth: int) -> int:
    """Return the block size: large on tmpfs, so that copying dominates and not the generator."""
    return max(4, 16 // depth) * 1024 if on_tmpfs(place) else 4


def half_width(place: Path) -> float:
    """Return the required half width of the interval in a place."""
    return HALF_WIDTH_TMPFS if on_tmpfs(place) else HALF_WIDTH_DISK


def seconds_on(place: Path, depth: int, seconds: float) -> float:
    """Return the duration of a run."""
    return seconds / 2 if on_tmpfs(place) and depth <= SHORT_UP_TO else seconds


def ramp_ms(place: Path) -> int:
    """Return the ramp: on a disk, the queue has to fill."""
    return 50 if on_tmpfs(place) else 200


def last_processor() -> int:
    """Return the processor of the readers on tmpfs."""
    return max(os.sched_getaffinity(0))


def hurry() -> None:
    """Raise the priority of this process."""
    os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)


def keep_to_it() -> None:
    """Pin this process to a processor and raise its priority."""
    os.sched_setaffinity(0, {last_processor()})
    hurry()


def tameshi(study: Path, place: Path, out: Path) -> float:
    """Return IOPS measured by `tameshi run`, with everything recorded."""
    child = CHILDREN.Process(target=_conduct, args=(study, place, out))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"the run of {study} ended with {child.exitcode}")
    [cell] = json.loads((out / "results.json").read_text("utf-8"))["cells"]
    [iops] = (e["value"] for e in cell["estimates"] if e["metric"] == "read.iops")
    return float(iops)


def _conduct(study: Path, place: Path, out: Path) -> None:
    """Run a study without its report, in a child that has already imported everything.

    This keeps the two runs of a pair close together.
    """
    if on_tmpfs(place):
        hurry()
    bindings = Bindings(storage={"disk": place}, backend="io_uring")
    prepared = prepare(read_study(study), [World.measured], bindings, quick=False)
    if out.exists():
        guard.remove_folder(out)
    with open(os.devnull, "w", encoding="utf-8") as quiet:
        done = conduct(prepared, out, Console(file=quiet), jobs=1, reproduce=[])
    if not done.complete:
        raise SystemExit(1)


def fio(place: Path, depth: int, seconds: float) -> float:
    """Return IOPS of fio on the same bytes."""
    options = {
        "name": "p",
        "filename": place / "tameshi-disk.dat",
        "offset": f"{HEADER_MIB}m",
        "size": f"{SIZE_MIB}m",
        "rw": "randread",
        "bs": f"{block_kib(place, depth)}k",
        "direct": 1,
        "ioengine": "io_uring",
        "registerfiles": 1,
        "fixedbufs": 1,
        "iodepth": depth,
        "iodepth_batch_submit": min(depth, 2),
        "norandommap": 1,
        "randrepeat": 0,
        "time_based": 1,
        "runtime": f"{int(seconds * 1000)}ms",
        "ramp_time": f"{ramp_ms(place)}ms",
        "output-format": "json",
        "mem": "mmaphuge" if on_tmpfs(place) else "malloc",
    }
    words = ["--readonly", *(f"--{key}={value}" for key, value in options.items())]
    first = keep_to_it if on_tmpfs(place) else None
    done = subprocess.run(
        ["fio", *words], check=True, capture_output=True, encoding="utf-8", preexec_fn=first
    )
    return float(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]["iops"])


def compare(
    place: Path, depths: Sequence[int], most: int, seconds: float, console: Console
) -> list[Row]:
    """Return the table of one place: pairs per depth until the interval is narrow enough, at most
    `most`."""
    found: dict[int, list[tuple[float, float]]] = {depth: [] for depth in depths}
    lasting = {depth: seconds_on(place, depth, seconds) for depth in depths}
    with ExitStack() as stack:
        if on_tmpfs(place):
            stack.enter_context(huge_buffers())
        scratch = stack.enter_context(tempfile.TemporaryDirectory())
        studies, out = _studies(Path(scratch), place, lasting), Path(scratch) / "out"
        tameshi(studies[depths[0]], place, out)  # lays the file out
        try:
            for pair in track(range(most), f"at most {most} pairs on {place}", console=console):
                wanted = [depth for depth in depths if not enough(place, found[depth])]
                if not wanted:
                    break
                for depth in wanted:
                    theirs = fio(place, depth, lasting[depth]) if pair % 2 else 0.0
                    ours = tameshi(studies[depth], place, out)
                    theirs = theirs or fio(place, depth, lasting[depth])
                    found[depth].append((ours, theirs))
        finally:
            (place / "tameshi-disk.dat").unlink()
    return [_row(place, depth, pairs_of_depth) for depth, pairs_of_depth in found.items()]


def enough(place: Path, pairs: Sequence[tuple[float, float]]) -> bool:
    """Return whether a depth has an even number of pairs and a narrow enough interval."""
    if len(pairs) < LEAST_PAIRS or len(pairs) % 2:
        return False
    _, half = _log_ratio(pairs)
    return half <= half_width(place)


def _studies(folder: Path, place: Path, lasting: Mapping[int, float]) -> dict[int, Path]:
    """Return a study per depth, by its duration."""
    ramp = ramp_ms(place)
    studies = {depth: folder / f"depth-{depth}.toml" for depth in lasting}
    for depth, path in studies.items():
        values = {"size": SIZE_MIB, "ramp": ramp, "time": int(lasting[depth] * 1000) + ramp}
        kept = f"processors = [{last_processor()}]" if on_tmpfs(place) else ""
        block = block_kib(place, depth)
        path.write_text(STUDY.format(**values, depth=depth, block=block, processors=kept), "utf-8")
    return studies


def _log_ratio(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the mean of the ratio's logarithm, and half its 95 % interval."""
    logs = [math.log(ours / theirs) for ours, theirs in pairs]
    half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    return fmean(logs), half


def _row(place: Path, depth: int, pairs: Sequence[tuple[float, float]]) -> Row:
    middle, half = _log_ratio(pairs)
    bounds = (math.exp(middle + sign * half) for sign in (0, -1, 1))
    means = (fmean(pair[side] for pair in pairs) for side in (0, 1))
    return Row(str(place), on_tmpfs(place), len(pairs), depth, *means, *bounds)


def page(rows: Sequence[Row], seconds: float, before: str) -> str:
    """Return the table as a page of docs/validation; unmeasured rows come from `before`."""
    version = subprocess.run(
        ["fio", "--version"], capture_output=True, encoding="utf-8", check=True
    )
    lines = [
        "# Beside fio",
        "",
        "<!-- written by `python -m bench.beside_fio --write` -->",
        "",
        f"Random reads of the same {SIZE_MIB} MiB file past the page cache by io_uring,",
        f"registered file and buffers, alternating pairs of {seconds:g} s at each depth,",
        f"half as long on tmpfs up to depth {SHORT_UP_TO}, until an interval is narrow enough to",
        f"tell; {version.stdout.strip()}, Linux {platform.release()}.",
        "The ratio is the geometric mean over pairs of Tameshi's IOPS by fio's.",
        "On tmpfs blocks have 4 MiB, at depth 1 and 2 as many as make 16 MiB in flight, so",
        "that copying, and not the generator's own cost, is compared; file and buffers lie in",
        "huge pages (fio's by `--mem=mmaphuge`), and what reads keeps to one processor at",
        "nice -20 there.",
        "On the disk blocks have 4 KiB.",
        "",
        "| place | pairs | depth | Tameshi IOPS | fio IOPS | ratio | 95 % interval |",
        "|---|---|---|---|---|---|---|",
    ]
    table = {found.group(1, 2): found.group() for found in ROW.finditer(before)}
    for row in rows:
        kind = "tmpfs" if row.on_tmpfs else "disk"
        table[kind, str(row.depth)] = (
            f"| {kind} | {row.pairs} | {row.depth} | {row.ours:,.0f} | {row.fio:,.0f} "
            f"| {row.ratio:.3f} | {row.low:.3f}–{row.high:.3f} |"
        )
    return "\n".join([*lines, *table.values()]) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--most", type=int, default=400)
    parser.add_argument("--seconds", type=float, default=0.4)
    parser.add_argument("--depths", nargs="+", type=int, choices=DEPTHS, default=DEPTHS)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    console = Console()
    rows: list[Row] = []
    with ExitStack() as mounted:
        own = arguments.places or [mounted.enter_context(huge_tmpfs()), ROOT / "build" / "bench"]
        for place in own:
            place.mkdir(parents=True, exist_ok=True)
            rows += compare(place, arguments.depths, arguments.most, arguments.seconds, console)
    table = Table("place", "depth", "Tameshi IOPS", "fio IOPS", "ratio", "95 % interval")
    for row in rows:
        interval = f"{row.low:.3f}–{row.high:.3f}"
        table.add_row(
            row.place,
            str(row.depth),
            f"{row.ours:,.0f}",
            f"{row.fio:,.0f}",
            f"{row.ratio:.3f}",
            interval,
        )
    console.print(table)
    if arguments.write:
        path = ROOT / "docs" / "validation" / "beside-fio.md"
        before = path.read_text(encoding="utf-8")
        path.write_text(page(rows, arguments.seconds, before), encoding="utf-8")


if __name__ == "__main__":
    main()
