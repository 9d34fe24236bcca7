"""Devices with known parameters, and their cells."""

from dataclasses import replace
from typing import Any

from tameshi.calibrate.cells import Cell, Figures, with_held_out
from tameshi.calibrate.simulate import Simulator

CAPACITY = 64 << 30


def value(each: Any) -> dict[str, Any]:
    return {"value": each, "source": "known"}


def points(*pairs: tuple[float, str]) -> dict[str, Any]:
    return value([{"share": f"{share} %", "time": time} for share, time in pairs])


def volume(
    *, rounds: bool, after_flush: str | None = None, alone: tuple[str, str] | None = None
) -> dict[str, Any]:
    """Return a virtual disk: 11 and 9 us and 1.3 and 2.6 GB/s, with latencies of about 30 and 20
    us."""
    table: dict[str, Any] = {
        "capacity": value("64 GiB"),
        "parallel": value(256),
        "flush": points((0, "300 us"), (50, "400 us"), (100, "600 us")),
        "read": {
            "latency": points((0, "20 us"), (50, "30 us"), (90, "60 us"), (100, "150 us")),
            "command_time": value("11 us"),
            "transfer_rate": value("1300000000 /s"),
        },
        "write": {
            "latency": points((0, "15 us"), (50, "20 us"), (90, "50 us"), (100, "150 us")),
            "command_time": value("9 us"),
            "transfer_rate": value("2600000000 /s"),
        },
    }
    if rounds:
        table["rounds"] = value(True)
    for kind, longer in zip(("read", "write"), alone or (), strict=False):
        table[kind]["alone"] = value(longer)
    if after_flush:
        table["after_flush"] = value(after_flush)
    return {"volume": table}


def cell(reads: int, block_kib: int, depth: int, **more: Any) -> Cell:
    stream = {"read": f"{reads} %", "block_size": f"{block_kib} KiB", "queue_depth": depth, **more}
    name = f"{reads}-{block_kib}-{depth}{'-sync' if more else ''}"
    return Cell(name, stream, 256 << 20, {})


DEPTHS = (1, 2, 4, 8, 16)
"""Depths, of which 2 and 8 are held out: they determine a line and a single request."""
SYNC = {"sync": {"fdatasync": {"every": 1}}, "pattern": "sequential"}
GRID = [
    *(cell(reads, 4, depth) for reads in (100, 0) for depth in (1, 2, 4, 8, 32)),
    *(cell(reads, 128, depth) for reads in (100, 0) for depth in (1, 4, 16)),
    cell(70, 4, 8),
    cell(0, 4, 1, **SYNC),
]


def answered(device: dict[str, Any], cells: list[Cell], operations: int = 20_000) -> list[Cell]:
    """Return the cells with the device's figures, partly held out by the rule."""
    found = Simulator(cells, operations).figures(device)
    result = [replace(c, operations=each) for c, each in zip(cells, found, strict=True)]
    return with_held_out(result)


def slowed(each: Cell, times: float) -> Cell:
    """Return the cell on a device slower by this factor."""
    operations = {
        kind: Figures(f.rate / times, f.mean_ns * times, [(s, v * times) for s, v in f.quantiles])
        for kind, f in each.operations.items()
    }
    return replace(each, operations=operations)
