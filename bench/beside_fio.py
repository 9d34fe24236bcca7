"""The same depth sweep on the same file, Tameshi beside fio, in alternating pairs.

    python -m bench.beside_fio [--pairs 20] [--seconds 2] [--write] [PLACE …]

Without places: a file on a tmpfs of its own (mounted with huge pages, which takes root) and one in
build/. Both read at random, past the page cache, by io_uring with registered file and buffers,
submitting two at a time. On tmpfs blocks have 4 MiB, at depth 1 and 2 as many as make 16 MiB in
flight: at 4 KiB the processor is the limit, and the cheaper generator simply gets more done, which
`make bench` is about elsewhere. Both leave the copying to io_uring, though by itself Tameshi reads
a file in memory in place. Both keep to one processor there, at nice -20: the
kernel copies in threads of its own, and where the scheduler puts those moves a pair by a tenth;
and which small pages of memory a file happens to get moves a run by a fifth, hence the huge ones. A
pair runs both at one depth, one right after the other, in an order that alternates; the ratio of
the means carries a 95 % interval over the pairs, of which there are four times as many on tmpfs,
half as long. `--write` writes the table to docs/validation/beside-fio.md.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import multiprocessing
import os
import platform
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

from rich.console import Console
from rich.progress import track
from rich.table import Table
from scipy.stats import t as student

ROOT = Path(__file__).resolve().parents[1]
DEPTHS = (1, 2, 4, 8, 16, 32)
SIZE_MIB = 512
HIGHEST_PRIORITY = -20
HEADER_MIB = 1
"""The ownership header before the payload; fio reads the same bytes as we do."""
CHILDREN = multiprocessing.get_context("forkserver")
CHILDREN.set_forkserver_preload(["tameshi.commands.run"])
STUDY = """
title = "Beside fio"
question = "Do both measure the same?"
[storage.disk]
size = "{size} MiB"
[workload.stream.s]
queue_depth = {depth}
block_size = "{block} KiB"
[phase.p]
workload = ["stream.s"]
ramp = "{ramp} ms"
until = {{ time = "{time} ms" }}
"""


@dataclass(frozen=True)
class Row:
    """One depth on one place: mean IOPS of both, their ratio and its 95 % interval."""

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
    """Whether the kernel's copying, and no device, is what is measured."""
    command = ["stat", "--file-system", "--format=%T", str(place)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    return told.stdout.strip() == "tmpfs"


@contextmanager
def huge_tmpfs() -> Iterator[Path]:
    """A tmpfs with huge pages, for as long as it is needed."""
    with tempfile.TemporaryDirectory() as place:
        options = f"huge=always,size={2 * SIZE_MIB}m"
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tameshi", place], check=True)
        try:
            yield Path(place)
        finally:
            subprocess.run(["umount", place], check=True)


def block_kib(place: Path, depth: int) -> int:
    """Block size: so large on tmpfs that copying it, and not the generator, is the work."""
    return max(4, 16 // depth) * 1024 if on_tmpfs(place) else 4


def pairs_on(place: Path, pairs: int) -> int:
    """Four times as many on tmpfs: half as wide an interval is asked for."""
    return 4 * pairs if on_tmpfs(place) else pairs


def seconds_on(place: Path, seconds: float) -> float:
    """Half as long on tmpfs."""
    return seconds / 2 if on_tmpfs(place) else seconds


def ramp_ms(place: Path) -> int:
    """What is left out at a run's begin: on a disk its queue has to fill."""
    return 50 if on_tmpfs(place) else 200


def last_processor() -> int:
    """The one that both keep to on tmpfs."""
    return max(os.sched_getaffinity(0))


def keep_to_it() -> None:
    """This process, to that processor and before what else runs there."""
    os.sched_setaffinity(0, {last_processor()})
    os.setpriority(os.PRIO_PROCESS, 0, HIGHEST_PRIORITY)


def tameshi(study: Path, place: Path, out: Path) -> float:
    """IOPS, through the command line, with everything recorded."""
    options = ["--world", "measured", "--on", f"disk={place}", "--out", str(out)]
    words = ["run", str(study), *options, "--backend", "io_uring", "--fresh", "--keep"]
    child = CHILDREN.Process(target=_command, args=(words, on_tmpfs(place)))
    child.start()
    child.join()
    if child.exitcode:
        raise RuntimeError(f"tameshi {' '.join(words)} ended with {child.exitcode}")
    [cell] = json.loads((out / "results.json").read_text())["cells"]
    [iops] = (e["value"] for e in cell["estimates"] if e["metric"] == "read.iops")
    return float(iops)


def _command(words: list[str], pin: bool) -> None:
    """The command in a child that has imported already, so that a pair stays close together."""
    if pin:
        keep_to_it()
    with open(os.devnull, "w") as quiet, redirect_stdout(quiet), redirect_stderr(quiet):
        importlib.import_module("tameshi.cli").app(words)


def fio(place: Path, depth: int, seconds: float) -> float:
    """IOPS of fio on the same bytes."""
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
    }
    words = ["--readonly", *(f"--{key}={value}" for key, value in options.items())]
    first = keep_to_it if on_tmpfs(place) else None
    done = subprocess.run(
        ["fio", *words], check=True, capture_output=True, text=True, preexec_fn=first
    )
    return float(json.loads(done.stdout[done.stdout.index("{") :])["jobs"][0]["read"]["iops"])


def compare(place: Path, pairs: int, seconds: float, console: Console) -> list[Row]:
    """The table of one place."""
    found: dict[int, list[tuple[float, float]]] = {depth: [] for depth in DEPTHS}
    with tempfile.TemporaryDirectory() as scratch:
        studies, out = _studies(Path(scratch), place, seconds), Path(scratch) / "out"
        tameshi(studies[1], place, out)  # lays the file out
        try:
            for pair in track(range(pairs), f"pairs on {place}", console=console):
                for depth, study in studies.items():
                    theirs = fio(place, depth, seconds) if pair % 2 else 0.0
                    ours = tameshi(study, place, out)
                    found[depth].append((ours, theirs or fio(place, depth, seconds)))
        finally:
            (place / "tameshi-disk.dat").unlink()
    return [_row(place, depth, pairs_of_depth) for depth, pairs_of_depth in found.items()]


def _studies(folder: Path, place: Path, seconds: float) -> dict[int, Path]:
    """A study for each depth."""
    ramp = ramp_ms(place)
    values = {"size": SIZE_MIB, "ramp": ramp}
    values["time"] = int(seconds * 1000) + ramp
    studies = {depth: folder / f"depth-{depth}.toml" for depth in DEPTHS}
    for depth, path in studies.items():
        path.write_text(STUDY.format(**values, depth=depth, block=block_kib(place, depth)))
    return studies


def _row(place: Path, depth: int, pairs: Sequence[tuple[float, float]]) -> Row:
    logs = [math.log(ours / theirs) for ours, theirs in pairs]
    half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    middle = fmean(logs)
    bounds = (math.exp(middle + sign * half) for sign in (0, -1, 1))
    means = (fmean(pair[side] for pair in pairs) for side in (0, 1))
    return Row(str(place), on_tmpfs(place), len(logs), depth, *means, *bounds)


def page(rows: Sequence[Row], seconds: float) -> str:
    """The table as a page of docs/validation."""
    version = subprocess.run(["fio", "--version"], capture_output=True, text=True, check=True)
    lines = [
        "# Beside fio",
        "",
        "<!-- written by `python -m bench.beside_fio --write` -->",
        "",
        f"Random reads of the same {SIZE_MIB} MiB file past the page cache by io_uring,",
        f"registered file and buffers, alternating pairs of {seconds:g} s at each depth,",
        "half as long on tmpfs;",
        f"{version.stdout.strip()}, Linux {platform.release()}. The ratio is the geometric mean",
        "over pairs of Tameshi's IOPS by fio's. On tmpfs blocks have 4 MiB, at depth 1 and 2 as",
        "many as make 16 MiB in flight, so that copying, and not the generator's own cost, is",
        "compared; the file lies in huge pages, and both keep to one processor at nice -20",
        "there. On the disk blocks have 4 KiB.",
        "",
        "| place | pairs | depth | Tameshi IOPS | fio IOPS | ratio | 95 % interval |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        kind = "tmpfs" if row.on_tmpfs else "disk"
        lines.append(
            f"| {kind} | {row.pairs} | {row.depth} | {row.ours:,.0f} | {row.fio:,.0f} "
            f"| {row.ratio:.3f} | {row.low:.3f}–{row.high:.3f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("places", nargs="*", type=Path)
    parser.add_argument("--pairs", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    console = Console()
    rows: list[Row] = []
    with ExitStack() as mounted:
        own = arguments.places or [mounted.enter_context(huge_tmpfs()), ROOT / "build" / "bench"]
        for place in own:
            place.mkdir(parents=True, exist_ok=True)
            pairs = pairs_on(place, arguments.pairs)
            rows += compare(place, pairs, seconds_on(place, arguments.seconds), console)
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
        path.write_text(page(rows, arguments.seconds), encoding="utf-8")


if __name__ == "__main__":
    main()
