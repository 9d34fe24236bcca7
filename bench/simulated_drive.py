"""Simulator cost per I/O: a flash drive against a bare map-and-reclaim loop, in CPU time.

    python -m bench.simulated_drive [KIND …] [--pairs 3] [--large-pairs 1] [--sizes 32 512]
        [--write]

Both process the same requests on the same amount of flash and over-provisioning: random reads of 4
KiB, writes to an erased drive, steady writes with garbage collection, and 70 % reads during such
writes. The loop (`crates/sim/examples/bare_flash.rs`) draws a block and looks it up, or writes it
and reclaims. The drive is a TLC NVMe profile at a capacity scale with 256 outstanding, run by
`tameshi run`, and writes its complete record: histograms, series, latency parts and digest. *Timed*
is the loop with minimal time and record: the same number outstanding in the simulator's event
queue, one histogram of latencies, the digest's hash. *By hand* is the arithmetic of one drive's
read on its own (`crates/sim/examples/read_by_hand.rs`). The `null` device shows the cost of load,
virtual time and record alone. Processor time is the worker's from start to end of the measured
phase (earlier writes are laid out in the phase before), and the loop's. A pair runs each once, in
alternating order; a ratio is a geometric mean over pairs, with a 95 % interval from three pairs on.
Each kind is compared with the fastest simulator measured under a similar load. That simulator
finished steady writes only on 2 GiB of flash with 28 % spare and one outstanding, so this kind is
measured there as well. `--write` writes docs/validation/simulated-drive.md.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean, stdev

import psutil
from rich.console import Console
from rich.table import Table
from scipy.stats import t as student

from tameshi.core.data import PROFILES

ROOT = Path(__file__).resolve().parents[1]
PROFILE = "nvme-tlc-3.84tb"
FLASH_GIB = 4096
"""Simulated flash of the whole drive: 3.84 TB and 14.5 % spare."""
SIZES_GIB = (32, 512)
"""GiB of simulated flash: powers of two; the larger one shows the memory per GiB."""
DEPTH = 256
KINDS = {
    "reads": ("100 %", "once", 20),
    "fresh-writes": ("0 %", "never", 7),
    "steady-writes": ("0 %", "steady", 8),
    "steady-mix": ("70 %", "steady", 12),
}
"""Share of reads, previous writes, millions of I/Os; fresh writes fit on 32 GiB."""


@dataclass(frozen=True)
class Peer:
    """Requests per second of the fastest peer under a load on one core, and that load."""

    rate: int
    load: str


PEERS = {
    "reads": Peer(38_000, "reads of its bundled workload, no garbage collection"),
    "fresh-writes": Peer(31_100, "random writes of 4 KiB, 256 outstanding, 512 GiB of flash"),
    "steady-writes": Peer(
        87_900,
        "random writes of 4 KiB with garbage collection, one outstanding (with 256: 87,400, "
        "of which 255 never completed), 2 GiB of flash, 28 % of it spare",
    ),
    "steady-mix": Peer(
        29_000, "70/30 of 8 KiB with garbage collection, 64 outstanding, 32 GiB of flash"
    ),
}
"""MQSim in the shared research notes on storage simulators, *MQSim, measured*: rows `bundled
workload.xml`, `def_w4k_fresh`, `gc_w4k_qd256` and the one below it, `pre_mix8k`."""
BAR = 50
"""Goal: this multiple of the peer's rate."""
SHARE = 0.5
"""Goal: this share of the bare loop's speed."""
PEERED = "steady-writes"
"""Kind measured at the peer on a drive of its own size, in GiB:"""
PEER_GIB = 2
PEER_VALUES = {
    "capacity": '"1474 MiB"',
    "over_provisioning": '"38.9 %"',
    "page": '"4 KiB"',
    "pages_per_block": "256",
    "planes": "1",
    "data_channels": "8",
    "parity_channels": "0",
    "dies_per_channel": "1",
    "size": '"6 MiB"',
}
"""The peer's flash: 2 GiB in 8 channels of one die, 256 blocks each; 28 % of all is spare. Its
eight dies can program at most a buffer of 6 MiB on the capacitors."""
STUDY = """
title = "What a simulated I/O costs"
question = "What does a simulated I/O cost?"
[storage.disk]
device = "DEVICE"
EXTRA
[workload.stream.s]
queue_depth = DEPTH
read = "READ"
[phase.before]
workload = ["stream.s"]
until = { amount = "BEFORE B" }
[phase.measured]
workload = ["stream.s"]
until = { amount = "AMOUNT B" }
[run]
interval = "INTERVAL"
"""


@dataclass(frozen=True)
class Drive:
    """Profile file, flash divisor, flash left in GiB, and load."""

    path: Path
    scale: int
    gib: int
    interval: str = "100 ms"
    depth: int = DEPTH

    @property
    def is_peers(self) -> bool:
        """Return whether it has the peer's size."""
        return self.scale == 1


@dataclass(frozen=True)
class Run:
    """Nanoseconds of processor time per I/O, and bytes of memory at the end."""

    ns: float
    memory: int


@dataclass(frozen=True)
class Row:
    """One kind on this much flash: means in ns, and speeds relative to the bare loop."""

    kind: str
    drive: Drive
    bare_ns: float
    timed_ns: float
    drive_ns: float
    ratio: tuple[float, float, float]
    hand_ns: float | None
    """Speed relative to a read by hand."""
    hand_ratio: tuple[float, float, float]
    memory: int


def scaled(gib: int) -> Drive:
    """Return the profile's drive with this much flash."""
    path = PROFILES / "devices" / f"{PROFILE}.toml"
    return Drive(path, FLASH_GIB // gib, gib)


def of_peer(folder: Path, depth: int) -> Drive:
    """Return the profile's drive with the peer's flash; eight dies take long, so intervals are
    longer."""
    text = scaled(PEER_GIB).path.read_text("utf-8")
    for key, value in PEER_VALUES.items():
        text, count = re.subn(rf"(?m)^({key} *= {{ value = )[^,]+", rf"\g<1>{value}", text)
        if count != 1:
            raise RuntimeError(f"{key} is there {count} times")
    path = folder / "peer.toml"
    path.write_text(text, "utf-8")
    return Drive(path, 1, PEER_GIB, "10 s", depth)


def study_text(kind: str, drive: Drive) -> str:
    """Return the study of a kind; amounts follow the scale."""
    read, written, millions = KINDS[kind]
    scale, name = drive.scale, drive.path.stem
    text = STUDY.replace("DEVICE", name).replace("READ", read).replace("DEPTH", str(drive.depth))
    text = text.replace("EXTRA", f'scale = {scale}\nwritten = "{written}"')
    text = text.replace("INTERVAL", drive.interval)
    text = text.replace("BEFORE", str(drive.depth * 4096 * scale))
    return text.replace("AMOUNT", str(millions * 1_000_000 * 4096 * scale))


def null_text(millions: int) -> str:
    """Return the same load on a null device."""
    text = STUDY.replace("DEVICE", "null").replace("READ", "100 %").replace("EXTRA", "")
    text = text.replace("DEPTH", str(DEPTH)).replace("BEFORE", str(DEPTH * 4096))
    text = text.replace("INTERVAL", "100 ms")
    return text.replace("AMOUNT", str(millions * 1_000_000 * 4096))


def simulated(text: str, millions: int, profile: Path | None = None) -> Run:
    """Run a study with one run on its own profile, and watch the worker from outside."""
    with tempfile.TemporaryDirectory() as scratch:
        study, out = Path(scratch) / "speed.toml", Path(scratch) / "out"
        study.write_text(text, "utf-8")
        if profile:
            beside = Path(scratch) / "profiles" / "devices"
            beside.mkdir(parents=True)
            shutil.copy(profile, beside)
        command = [sys.executable, "-m", "tameshi", "run", str(study), "--out", str(out)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as cli:
            begin, end, memory = watch(psutil.Process(cli.pid), out)
            _, errors = cli.communicate()
            if cli.returncode:
                raise RuntimeError(errors.decode())
    return Run((end - begin) * 1e9 / (millions * 1e6), memory)


def watch(cli: psutil.Process, out: Path) -> tuple[float, float, int]:
    """Return the worker's processor time at start and end of the second phase, and its final
    memory."""
    worker: psutil.Process | None = None
    begin: float | None = None
    end, memory = 0.0, 0
    while cli.is_running() and cli.status() != psutil.STATUS_ZOMBIE:
        time.sleep(0.005)
        if worker is None:
            commands = [(child, child.cmdline()) for child in cli.children(recursive=True)]
            workers = [child for child, words in commands if "tameshi.run.worker" in words]
            worker = workers[0] if workers else None
            continue
        events = "".join(path.read_text("utf-8") for path in out.glob("runs/*/events.jsonl"))
        if '"phase_begin","phase":1' not in events:
            continue
        try:
            used = worker.cpu_times()
            memory = max(memory, worker.memory_info().rss)
        except psutil.Error:
            break
        end = used.user + used.system
        begin = end if begin is None else begin
        if '"phase_end","phase":1' in events:
            break
    if begin is None:
        return 0.0, 0.0, 0
    return begin, end, memory


def build(example: str) -> Path:
    """Build an example's program in the same way as the extension."""
    flags = subprocess.check_output([ROOT / "scripts" / "rustflags"], encoding="utf-8")
    flags = f"{os.environ.get('RUSTFLAGS', '')} {flags.strip()}"
    command = ["cargo", "build", "--release", "--quiet", "--locked", "-p", "tameshi-sim"]
    result = [*command, "--example", example, "--message-format", "json"]
    environment = {**os.environ, "RUSTFLAGS": flags}
    lines = subprocess.run(
        result, check=True, capture_output=True, encoding="utf-8", cwd=ROOT, env=environment
    ).stdout
    made = (json.loads(line).get("executable") for line in lines.splitlines())
    return Path(next(path for path in made if path))


def bare(program: Path, kind: str, drive: Drive) -> float:
    """Return ns per I/O of the loop."""
    millions = KINDS[kind.removeprefix("timed-")][2]
    words = [str(program), str(drive.path), str(drive.scale), f"{kind}={millions}"]
    return float(json.loads(subprocess.check_output(words))["ns"])


def by_hand(program: Path, drive: Drive) -> float:
    """Return ns per read of the model's arithmetic on its own."""
    words = [str(program), str(KINDS["reads"][2]), str(drive.scale)]
    return float(json.loads(subprocess.check_output(words))["ns"])


def row(programs: tuple[Path, Path], kind: str, drive: Drive, pairs: int) -> Row:
    """Run all of them in turn; `programs` are the loop and a read by hand."""
    runs: list[Run] = []
    loops: list[float] = []
    timed: list[float] = []
    hand: list[float] = []
    text, millions = study_text(kind, drive), KINDS[kind][2]
    profile = drive.path if drive.is_peers else None
    for pair in range(pairs):
        if pair % 2 == 0:
            loops.append(bare(programs[0], kind, drive))
        runs.append(simulated(text, millions, profile))
        timed.append(bare(programs[0], f"timed-{kind}", drive))
        if kind == "reads":
            hand.append(by_hand(programs[1], drive))
        if pair % 2 == 1:
            loops.append(bare(programs[0], kind, drive))
    return Row(
        kind,
        drive,
        fmean(loops),
        fmean(timed),
        fmean(run.ns for run in runs),
        interval([loop / run.ns for loop, run in zip(loops, runs, strict=True)]),
        fmean(hand) if hand else None,
        interval([loop / ns for loop, ns in zip(loops, hand, strict=True)]) if hand else (0, 0, 0),
        max(run.memory for run in runs),
    )


def interval(ratios: Sequence[float]) -> tuple[float, float, float]:
    """Return the geometric mean of ratios and its 95 % interval; without width for too few."""
    logs = [math.log(ratio) for ratio in ratios]
    middle = fmean(logs)
    half = 0.0
    if len(logs) >= 3:
        half = float(student.ppf(0.975, len(logs) - 1)) * stdev(logs) / math.sqrt(len(logs))
    return math.exp(middle), math.exp(middle - half), math.exp(middle + half)


HEADINGS = [
    *("flash", "load", "bare loop, ns", "timed loop, ns", "drive, ns"),
    *("drive, I/Os per CPU-s", "drive's speed", "timed loop's speed", "times the peer's"),
]


def is_like(each: Row) -> bool:
    """Return whether the peer's load was similar: its steady writes used less flash and one
    outstanding."""
    return each.kind != PEERED or (each.drive.is_peers and each.drive.depth == 1)


def share(ratio: tuple[float, float, float]) -> str:
    """Return a ratio in percent, with its interval if it has one."""
    middle, low, high = (100 * part for part in ratio)
    return f"{middle:.0f} %" + (f" ({low:.0f}–{high:.0f})" if high > low else "")


def cells(each: Row) -> list[str]:
    """Return a row as texts."""
    rate = f"{1e3 / each.drive_ns:.1f} million"
    name = each.kind.replace("-", " ") + (", one at a time" if each.drive.depth == 1 else "")
    costs = [f"{ns:.0f}" for ns in (each.bare_ns, each.timed_ns, each.drive_ns)]
    timed = f"{100 * each.bare_ns / each.timed_ns:.0f} %"
    times = f"{1e9 / each.drive_ns / PEERS[each.kind].rate:.0f}"
    times = times if is_like(each) else f"({times})"
    return [f"{each.drive.gib} GiB", name, *costs, rate, share(each.ratio), timed, times]


def memory_text(rows: Sequence[Row]) -> str:
    """Return a sentence on memory per GiB of flash, from the difference of the sizes."""
    most: dict[int, int] = {}
    for each in rows:
        if not each.drive.is_peers:
            most[each.drive.gib] = max(each.memory, most.get(each.drive.gib, 0))
    if len(most) < 2:
        return "Memory needs both sizes."
    (less, small), (more, large) = sorted(most.items())
    per_gib = (large - small) / (more - less)
    per_unit = per_gib / (1 << 18)
    return (
        f"Memory: {per_gib * 1024 / 2**30:.2f} GiB for each TiB of flash, which is {per_unit:.2f}\n"
        f"bytes for each 4 KiB of it (at most 8 are allowed: `crates/sim/tests/memory.rs`), and\n"
        f"{(small - less * per_gib) / 2**20:.0f} MiB of program (the worker's resident memory at\n"
        "the two sizes)."
    )


def peers_text(rows: Sequence[Row]) -> list[str]:
    """Return sentences on the comparison with the peer, and its unreachable part."""
    bar = 1e9 / (BAR * PEERS[PEERED].rate)
    loops = [
        f"{each.bare_ns:.0f} ns at {each.drive.gib} GiB"
        for each in rows
        if each.kind == PEERED and not each.drive.is_peers
    ]
    return [
        "*Times the peer's* holds a row against MQSim, the fastest simulator of drives that was",
        f"measured (shared research notes), at the like load on one core; the bar is {BAR}.",
        "It was measured once, and this virtual machine is twice as slow on some days as on",
        "others: this column moves with that, shares of the bare loop do not.",
        "",
        "| load | the peer's requests per second | measured at |",
        "|---|---|---|",
        *(
            f"| {kind.replace('-', ' ')} | {each.rate:,} | {each.load} |"
            for kind, each in PEERS.items()
        ),
        "",
        "Its steady writes came to an end on that small drive only: with 32 GiB it aborted, or",
        "stopped with everything stuck, and with more than one outstanding it left some for ever.",
        f"The first row of {PEER_GIB} GiB is the like one: the profile's drive with the peer's",
        "flash (8 channels of one die, 256 blocks of 256 pages of 4 KiB) and its spare, one write",
        "at a time. Other rows of steady writes are in brackets. A map of a few MiB lies in the",
        f"processor's cache, larger ones do not. {BAR} times the peer there would be {bar:.0f} ns",
        "an I/O; the bare loop, which has no time and keeps no record, takes",
        f"{' and '.join(loops)}.",
    ]


def hand_texts(rows: Sequence[Row]) -> list[str]:
    """Return the cost of a read by hand at each size."""
    return [
        f"{line.hand_ns:.0f} ns at {line.drive.gib} GiB "
        f"({share(line.hand_ratio)} of the loop's speed)"
        for line in rows
        if line.hand_ns
    ]


def share_text(rows: Sequence[Row]) -> list[str]:
    """Return a sentence on rows below the wanted share, and the reachable share."""
    large = [each for each in rows if not each.drive.is_peers]
    short = [each for each in large if each.ratio[0] < SHARE]
    names = ", ".join(f"{each.kind.replace('-', ' ')} at {each.drive.gib} GiB" for each in short)
    return [
        f"The bar is {SHARE * 100:.0f} % of the bare loop's speed. "
        + (f"It is missed by: {names}." if short else "Every row reaches it."),
        "How near a read can come is measured beside it: the arithmetic of one drive's read",
        "written out by hand, with a controller's turn, a die, a channel, the link, the parts of",
        "the latency, its histogram and the digest, and without anything else that may be there",
        "(other jobs and drives, programs in the way, wear, limits of power, a buffer; see",
        "`crates/sim/examples/read_by_hand.rs`), in the same turns. It takes",
        " and\n".join(hand_texts(rows)) + ".",
    ]


def page(rows: Sequence[Row], floor: float, pairs: tuple[int, int], sizes: tuple[int, int]) -> str:
    """Return the table as a page of docs/validation; `floor` is the null device, in ns."""
    lines = [
        "# What an I/O costs the simulator",
        "",
        "<!-- written by `python -m bench.simulated_drive --write` -->",
        "",
        f"`{PROFILE}` with {DEPTH} outstanding, where no other number stands, through",
        "`tameshi run`, everything recorded, beside a bare map-and-reclaim loop",
        "over as much flash at the same over-provisioning, which",
        f"has no time and keeps no record; {pairs[0]} alternating pairs at {sizes[0]} GiB,",
        f"{pairs[1]} at {sizes[1]} GiB. Nanoseconds of processor time for an I/O of 4 KiB; the",
        "extension as `pip install` builds it (optimised, assertions on). *Drive's speed* is the",
        "loop's time as a share of the drive's, with a 95 % interval from three pairs on. *Timed*",
        "is the bare loop with the least that time and a record can be: as many outstanding in the",
        "simulator's own queue of events, each completing after a time that depends on where its",
        "data are, its latency in one histogram, its completion in the digest's hash. No drive",
        "that is timed and recorded can be faster than that, whatever it models.",
        "",
        "| " + " | ".join(HEADINGS) + " |",
        "|" + "---|" * len(HEADINGS),
        *("| " + " | ".join(cells(r)) + " |" for r in rows),
        "",
        f"The `null` device, which completes everything at once, takes {floor:.0f} ns: the load,",
        "virtual time, the histogram, the parts of each latency and the digest, without a drive.",
        "",
        *share_text(rows),
        "",
        *peers_text(rows),
        "",
        memory_text(rows),
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure, print, and write on request."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--large-pairs", type=int, default=1)
    parser.add_argument("--sizes", type=int, nargs="+", metavar="GIB", default=SIZES_GIB)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    sizes = (min(arguments.sizes), max(arguments.sizes))
    kinds = arguments.kinds or list(KINDS)
    if arguments.write and (sizes[0] == sizes[1] or arguments.kinds):
        parser.error("the page needs two sizes and every kind")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"{', '.join(sorted(unknown))}: one of {', '.join(KINDS)}")
    pairs = (arguments.pairs, arguments.large_pairs if sizes[1] > sizes[0] else 0)
    console, programs = Console(), (build("bare_flash"), build("read_by_hand"))
    floor = simulated(null_text(20), 20).ns
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        peers = [of_peer(Path(scratch), depth) for depth in (1, DEPTH)]
        planned = [(kind, drive, pairs[0]) for kind in kinds for drive in peers if kind == PEERED]
        for gib, count in zip(sizes, pairs, strict=True):
            planned += [(kind, scaled(gib), count) for kind in kinds if count]
        for kind, drive, count in planned:
            rows.append(row(programs, kind, drive, count))
            console.print(*cells(rows[-1]), sep="  ")
    table = Table(*HEADINGS)
    for found in rows:
        table.add_row(*cells(found))
    console.print(table)
    console.print(f"null device: {floor:.0f} ns")
    console.print("a read by hand:", ", ".join(hand_texts(rows)) or "not measured")
    console.print(memory_text(rows))
    if arguments.write:
        path = ROOT / "docs" / "validation" / "simulated-drive.md"
        path.write_text(page(rows, floor, pairs, sizes), encoding="utf-8")


if __name__ == "__main__":
    main()
