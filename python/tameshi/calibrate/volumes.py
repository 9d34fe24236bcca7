"""Volumes that can be fitted: a processor behind latencies, in rounds or not, by length, limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import numpy as np
from scipy.optimize import nnls

from tameshi.calibrate.cells import Cell
from tameshi.calibrate.parameters import NS, Model, Parameter, Values, rate_text, time_text

SHARES = (
    *(0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95),
    *(0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0),
)
TYPICAL_NS, LONGEST_NS, COMMAND_NS = 200e6, 60e9, 100e6
"""The longest that a profile lets half of all commands take, any command, and a command's time:
what was measured on a disk that was stuck meanwhile becomes these, and the fit says how far off."""
SLOWEST_BYTE_NS = 1_000
"""The longest that a profile lets a byte take."""
LEAST_COMMANDS, LEAST_BYTES = 1.0, 2e5
"""The least that a profile lets a volume's limit let through in a second."""
MOST_SERVICE = 0.9
"""Share of the median at rest that is service at most: some of it is latency."""


@dataclass(frozen=True)
class Shape:
    """Latencies at rest: points relative to their median."""

    points: Sequence[tuple[float, float]]
    median_ns: float


@dataclass(frozen=True)
class Told:
    """What the cells tell before any fit."""

    known: Sequence[str]
    """Kinds of operations that cells hold alone."""
    shapes: Mapping[str, Shape]
    inner: Mapping[str, Sequence[int]]
    """Lengths that may take a time of their own."""
    flush: Sequence[tuple[float, float]]
    capacity: int
    depth: int


def volumes(cells: Sequence[Cell], capacity: int) -> list[Model]:
    """Volumes: a processor behind latencies or in rounds, each also by length, and limits."""
    shapes = {kind: shape_of(cells, kind) for kind in ("read", "write")}
    known = {kind: shape for kind, shape in shapes.items() if shape}
    if not known:
        return []
    first = next(iter(known.values()))
    told = Told(
        tuple(known),
        {kind: known.get(kind, first) for kind in shapes},
        {kind: _inner_lengths(cells, kind) for kind in known},
        _flush_points(cells),
        capacity,
        max(cell.depth for cell in cells),
    )
    untold = _untold(cells, told)
    found = []
    for name in VARIANTS:
        if BY_LENGTH in name and not any(told.inner.values()):
            continue
        parameters = [p for kind in known for p in _service(cells, kind, told, name)]
        if LIMITS in name:
            parameters += _limits(cells)
        if told.flush:
            parameters.append(Parameter("flush", "factor", 1.0, 0.02, 10.0))
        found.append(Model(name, "volume", parameters, _volume(name, told), untold))
    return found


def _untold(cells: Sequence[Cell], told: Told) -> list[str]:
    untold = [f"parallel: more than {told.depth} requests at a time were not asked for"]
    untold += [
        f"{kind}: the cells hold none alone" for kind in told.shapes if kind not in told.known
    ]
    for kind in told.known:
        depths, lengths = _varied(cells, kind)
        untold += [] if depths else [f"{kind}.command_time: all cells have one depth"]
        untold += [] if lengths else [f"{kind}.transfer_rate: all requests have one length"]
    if not told.flush:
        untold.append("flush: no write was followed by a sync")
    return [*untold, "anything that depends on the place or the age of the data, or on credits"]


ROUNDS, BY_LENGTH, LIMITS = "in rounds", "by length", "with limits"
VARIANTS = (
    "volume",
    f"volume {BY_LENGTH}",
    f"volume {ROUNDS}",
    f"volume {ROUNDS} {BY_LENGTH}",
    f"volume {LIMITS}",
)


def shape_of(cells: Sequence[Cell], kind: str) -> Shape | None:
    """The latencies of one kind of operation, where least is asked for."""
    pure = [cell for cell in _alone(cells, kind) if cell.operations[kind].quantiles]
    if not pure:
        return None
    least = min(pure, key=lambda cell: (cell.depth, cell.block_bytes, cell.pattern))
    figures = least.operations[kind]
    _, command, byte = _terms(cells, kind)
    service = min(command + byte * least.block_bytes, MOST_SERVICE * _at(figures.quantiles, 0.5))
    listed = [(share, max(value - service, 1.0)) for share, value in figures.quantiles]
    median = _at(listed, 0.5)
    return Shape(_relative(listed, median), median)


def _relative(points: Sequence[tuple[float, float]], median: float) -> list[tuple[float, float]]:
    most = points[-1][0]
    return [(share, _at(points, min(share, most)) / median) for share in SHARES]


def _at(points: Sequence[tuple[float, float]], share: float) -> float:
    """The latency at a share, between listed ones by straight lines."""
    xs, ys = zip(*points, strict=True)
    return float(np.interp(share, xs, ys))


def _alone(cells: Sequence[Cell], kind: str) -> list[Cell]:
    """Cells of one kind of operation alone, without syncs."""
    reads = 1.0 if kind == "read" else 0.0
    return [c for c in cells if c.reads == reads and not c.syncs and c.operations.get(kind)]


def _varied(cells: Sequence[Cell], kind: str) -> tuple[bool, bool]:
    """Whether depths and lengths differ: one depth tells no command's time, one length no rate."""
    alone = _alone(cells, kind)
    return len({cell.depth for cell in alone}) > 1, len({cell.block_bytes for cell in alone}) > 1


def _inner_lengths(cells: Sequence[Cell], kind: str) -> list[int]:
    """Lengths between the shortest, which tells the command's time, and the longest: the rate."""
    depths, _ = _varied(cells, kind)
    return sorted({cell.block_bytes for cell in _alone(cells, kind)})[1:-1] if depths else []


def _terms(cells: Sequence[Cell], kind: str) -> tuple[float, float, float]:
    """Latency, time of a command and of a byte, in ns: a + depth·(b + bytes·c) at the median."""
    depths, lengths = _varied(cells, kind)
    rows, seen = [], []
    for cell in _alone(cells, kind):
        figures = cell.operations[kind]
        typical = figures.quantile(0.5) or figures.mean_ns
        terms = (1.0, cell.depth * depths, cell.depth * cell.block_bytes * lengths)
        rows.append([term / typical for term in terms])
        seen.append(1.0)
    (latency, command, byte), _ = nnls(np.array(rows), np.array(seen))
    return float(latency), float(command), float(byte)


def _service(cells: Sequence[Cell], kind: str, told: Told, name: str) -> list[Parameter]:
    """Start values of one kind's latency and service."""
    shape = told.shapes[kind]
    latency, command, byte = _terms(cells, kind)
    latency = min(max(latency, 0.05 * shape.median_ns), TYPICAL_NS)
    command = min(max(command, 0.005 * shape.median_ns), COMMAND_NS)
    rate = min(max(NS / byte if byte > 0 else 50e9, 2e6), 200e9)
    found = [_time(f"{kind}.latency", latency, 20, TYPICAL_NS)]
    depths, lengths = _varied(cells, kind)
    if LIMITS not in name and depths:
        found.append(_time(f"{kind}.command_time", command, 50, COMMAND_NS))
    if BY_LENGTH in name:
        for length in told.inner[kind]:
            most = float(length * SLOWEST_BYTE_NS)
            start = min(command + length * byte, most)
            found.append(_time(_point_key(kind, length), start, 20, most))
    if LIMITS not in name and lengths:
        key = f"{kind}.transfer_rate"
        found.append(
            Parameter(
                key, "rate", rate, max(rate / 20, NS / SLOWEST_BYTE_NS), min(rate * 20, 250e9)
            )
        )
    return found


def _point_key(kind: str, length: int) -> str:
    return f"{kind}.lengths.{_size_text(length)}"


def _size_text(size: int) -> str:
    return f"{size} B" if size % 1024 else f"{size >> 10} KiB"


def _time(key: str, start: float, down: float, most: float) -> Parameter:
    """A time that may come out so many times shorter, or 20 times longer up to what there is."""
    return Parameter(key, "time", start, start / down, min(start * 20, most))


def _limits(cells: Sequence[Cell]) -> list[Parameter]:
    commands = max(LEAST_COMMANDS, *(cell.rate for cell in cells))
    moved = max(LEAST_BYTES, *(cell.rate * cell.block_bytes for cell in cells))
    return [
        _rate("limit.command_rate", commands, LEAST_COMMANDS),
        _rate("limit.byte_rate", moved, LEAST_BYTES),
    ]


def _rate(key: str, start: float, least: float) -> Parameter:
    """A rate that may come out ten times higher, or lower down to the least that there is."""
    return Parameter(key, "rate", start, max(start / 10, least), start * 10)


def _flush_points(cells: Sequence[Cell]) -> list[tuple[float, float]]:
    told = [
        cell.operations["sync"]
        for cell in sorted(cells, key=lambda cell: cell.depth)
        if "sync" in cell.operations and cell.operations["sync"].quantiles
    ]
    return [(share, _at(told[0].quantiles, share)) for share in SHARES] if told else []


def _points(points: Sequence[tuple[float, float]]) -> list[dict[str, str]]:
    """A distribution as a profile has it: from 0 % to 100 %, never falling."""
    found: list[dict[str, str]] = []
    highest = 0.0
    for share, ns in points:
        highest = max(highest, min(ns, TYPICAL_NS if share <= 0.5 else LONGEST_NS))
        text = f"{share * 100:.3f}".rstrip("0").rstrip(".")
        found.append({"share": f"{text} %", "time": time_text(highest)})
    found[0]["share"], found[-1]["share"] = "0 %", "100 %"
    return found


def _lengths(command: float, points: Sequence[tuple[int, float]]) -> list[dict[str, str]]:
    """Times of lengths as a profile has them: never below the command's, never falling."""
    times = accumulate((time for _, time in points), max, initial=command)
    return [
        {"length": _size_text(length), "time": time_text(time)}
        for (length, _), time in zip(points, list(times)[1:], strict=True)
    ]


def _volume(name: str, told: Told) -> Callable[[Values], dict[str, Any]]:
    def service(kind: str, values: Values) -> dict[str, Any]:
        of = kind if kind in told.known else told.known[0]

        def leaf(key: str, value: Any) -> tuple[Any, str]:
            """A value, and its parameter if these cells tell it."""
            fitted = any(name.startswith(f"{kind}.{key}") for name in values)
            return value, f"{kind}.{key}" if fitted else ""

        points = [(share, x * values[f"{of}.latency"]) for share, x in told.shapes[kind].points]
        command = values.get(f"{of}.command_time", 0.0)
        table: dict[str, Any] = {
            "latency": leaf("latency", _points(points)),
            "command_time": leaf("command_time", time_text(command)),
            "transfer_rate": leaf(
                "transfer_rate", rate_text(values.get(f"{of}.transfer_rate", 200e9))
            ),
        }
        if BY_LENGTH in name and told.inner[of]:
            times = [(length, values[_point_key(of, length)]) for length in told.inner[of]]
            table["lengths"] = leaf("lengths", _lengths(command, times))
        return table

    def build(values: Values) -> dict[str, Any]:
        table: dict[str, Any] = {
            "capacity": (f"{told.capacity} B", ""),
            "parallel": (max(told.depth, 1), ""),
        }
        if ROUNDS in name:
            table["rounds"] = (True, "rounds")
        scale = values.get("flush", 1.0)
        points = [(share, ns * scale) for share, ns in told.flush] or [(0.0, 0.0), (1.0, 0.0)]
        table["flush"] = (_points(points), "flush" if told.flush else "")
        table["read"], table["write"] = service("read", values), service("write", values)
        if LIMITS in name:
            table["limit"] = {
                key: (rate_text(values[f"limit.{key}"]), f"limit.{key}")
                for key in ("command_rate", "byte_rate")
            }
        return table

    return build
