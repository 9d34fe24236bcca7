"""Volume models for fitting: a server with latencies, optional rounds, and limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import geometric_mean
from typing import Any

import numpy as np
from scipy.optimize import nnls

from tameshi.calibrate.cells import Cell
from tameshi.calibrate.parameters import (
    NS,
    Capacity,
    Model,
    Parameter,
    Values,
    bounded,
    capacity_of,
    rate_text,
    time_text,
)
from tameshi.core.reasons import Reason, reason

SHARES = (
    *(0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95),
    *(0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0),
)
TYPICAL_NS, LONGEST_NS, COMMAND_NS = (1e3, 200e6), 60e9, (50, 100e6)
"""Bounds in a profile: least (if any) and greatest median latency; greatest latency; the same two
for the time of a command and for the extra time after a flush or alone. Measurements of a stuck
disk are clipped to these, and the fit reports the error."""
TRANSFER = (1e6, 250e9)
"""Bounds in a profile on a volume's bytes per second."""
COMMANDS, BYTES = (1.0, 1e8), (2e5, 250e9)
"""Bounds in a profile on a volume's limits: commands and bytes per second."""
LENGTHS = (1.002 * (1 << 9), 0.998 * (1 << 20))
"""Bounds on bytes per command at which both limits are equal, with room for rounding to four
digits."""
MOST_SERVICE = 0.9
"""Largest share of service in the median at rest: the rest is latency."""


@dataclass(frozen=True)
class Shape:
    """Latencies at rest: points relative to their median."""

    points: Sequence[tuple[float, float]]
    median_ns: float


@dataclass(frozen=True)
class VolumeFacts:
    """Facts derived from cells before any fit."""

    known: Sequence[str]
    """Kinds of operations in pure cells."""
    shapes: Mapping[str, Shape]
    flush: Sequence[tuple[float, float]]
    after_flush: float | None
    """Extra time of a write after a sync in ns; None without such a cell."""
    alone: Mapping[str, float]
    """Extra time of a round of one over its share of larger rounds in ns, by kind."""
    capacity: Capacity
    depth: int


def volumes(cells: Sequence[Cell], capacity: int | None) -> list[Model]:
    """Return volume models: a server with latencies, with or without rounds, and limits."""
    shapes = {kind: shape_of(cells, kind) for kind in ("read", "write")}
    known = {kind: shape for kind, shape in shapes.items() if shape}
    if not known:
        return []
    first = next(iter(known.values()))
    facts = VolumeFacts(
        tuple(known),
        {kind: known.get(kind, first) for kind in shapes},
        _flush_points(cells),
        _after_flush(cells),
        {kind: longer for kind in known if (longer := _longer_alone(cells, kind)) is not None},
        capacity_of(capacity, max(cell.size_bytes for cell in cells)),
        max(cell.depth for cell in cells),
    )
    undetermined = _undetermined(cells, facts)
    models = []
    for name in VARIANTS:
        if AFTER_FLUSH in name and facts.after_flush is None:
            continue
        if ALONE in name and not facts.alone:
            continue
        parameters = [p for kind in known for p in _service(cells, kind, facts, name)]
        if LIMITS in name:
            parameters += _limits(cells)
        if facts.flush:
            parameters.append(Parameter("flush", "factor", 1.0, 0.02, 10.0))
        if AFTER_FLUSH in name and facts.after_flush:
            parameters.append(
                bounded("after_flush", "time", facts.after_flush, (20, 20), COMMAND_NS)
            )
        if ALONE in name:
            parameters += [
                bounded(f"{kind}.alone", "time", longer, (20, 20), COMMAND_NS)
                for kind, longer in facts.alone.items()
            ]
        sources = {"capacity": facts.capacity.source}
        models.append(
            Model(name, "volume", parameters, _volume(name, facts), undetermined, sources)
        )
    return models


def _undetermined(cells: Sequence[Cell], facts: VolumeFacts) -> list[Reason]:
    undetermined: list[Reason] = [reason("untested_depth", "parallel", depth=facts.depth)]
    undetermined += [
        reason("never_alone", kind) for kind in facts.shapes if kind not in facts.known
    ]
    for kind in facts.known:
        depths, lengths = _varied(cells, kind)
        undetermined += [] if depths else [reason("one_depth", f"{kind}.command_time")]
        undetermined += [] if lengths else [reason("one_length", f"{kind}.transfer_rate")]
    if not facts.flush:
        undetermined.append(reason("never_synced", "flush"))
    undetermined += facts.capacity.undetermined
    return [*undetermined, reason("data_placement")]


ROUNDS, LIMITS, AFTER_FLUSH = "in rounds", "with limits", "slower after a flush"
ALONE = "slower alone"
VARIANTS = (
    "volume",
    f"volume {ROUNDS}",
    f"volume {ROUNDS}, {AFTER_FLUSH}",
    f"volume {ROUNDS}, {ALONE}",
    f"volume {LIMITS}",
)


def shape_of(cells: Sequence[Cell], kind: str) -> Shape | None:
    """Return the latencies of one kind of operation under the lowest load."""
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
    """Return the latency at a share, interpolated linearly."""
    xs, ys = zip(*points, strict=True)
    return float(np.interp(share, xs, ys))


def _alone(cells: Sequence[Cell], kind: str) -> list[Cell]:
    """Return the pure cells of one kind of operation, without syncs."""
    reads = 1.0 if kind == "read" else 0.0
    return [c for c in cells if c.reads == reads and not c.syncs and c.operations.get(kind)]


def _varied(cells: Sequence[Cell], kind: str) -> tuple[bool, bool]:
    """Return whether depths and lengths vary: one depth determines no command time, one length no
    rate."""
    alone = _alone(cells, kind)
    return len({cell.depth for cell in alone}) > 1, len({cell.block_bytes for cell in alone}) > 1


def _terms(cells: Sequence[Cell], kind: str) -> tuple[float, float, float]:
    """Return latency, time per command and per byte in ns: a + depth·(b + bytes·c) at the
    median."""
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


def _service(cells: Sequence[Cell], kind: str, facts: VolumeFacts, name: str) -> list[Parameter]:
    """Return start values of one kind's latency and service time."""
    shape = facts.shapes[kind]
    latency, command, byte = _terms(cells, kind)
    latency = max(latency, 0.05 * shape.median_ns)
    command = max(command, 0.005 * shape.median_ns)
    rate = min(max(NS / byte if byte > 0 else 50e9, 2e6), 200e9)
    parameters = [bounded(f"{kind}.latency", "time", latency, (20, 20), TYPICAL_NS)]
    depths, lengths = _varied(cells, kind)
    if LIMITS not in name and depths:
        parameters.append(bounded(f"{kind}.command_time", "time", command, (50, 20), COMMAND_NS))
    if LIMITS not in name and lengths:
        parameters.append(bounded(f"{kind}.transfer_rate", "rate", rate, (20, 20), TRANSFER))
    return parameters


def _limits(cells: Sequence[Cell]) -> list[Parameter]:
    commands = max(cell.rate for cell in cells)
    moved = max(cell.rate * cell.block_bytes for cell in cells)
    return [
        bounded("limit.command_rate", "rate", commands, (10, 10), COMMANDS),
        bounded("limit.byte_rate", "rate", moved, (10, 10), BYTES),
    ]


def _flush_points(cells: Sequence[Cell]) -> list[tuple[float, float]]:
    points = [
        cell.operations["sync"]
        for cell in sorted(cells, key=lambda cell: cell.depth)
        if "sync" in cell.operations and cell.operations["sync"].quantiles
    ]
    return [(share, _at(points[0].quantiles, share)) for share in SHARES] if points else []


def _after_flush(cells: Sequence[Cell]) -> float | None:
    """Return the extra median latency of writes with a sync each, one at a time."""
    medians: dict[tuple[bool, int], list[float]] = {}
    for cell in cells:
        figures = cell.operations.get("write")
        median = figures.quantile(0.5) if figures else None
        if median and cell.depth == 1 and cell.reads == 0.0:
            medians.setdefault((cell.syncs, cell.block_bytes), []).append(median)
    synced = [(each, medians.get((False, size))) for (is_, size), each in medians.items() if is_]
    longer = [geometric_mean(one) - geometric_mean(other) for one, other in synced if other]
    return max(20 * COMMAND_NS[0], *longer) if longer else None


def _longer_alone(cells: Sequence[Cell], kind: str) -> float | None:
    """Return the extra median latency at depth one over the prediction from larger depths."""
    of_kind = _alone(cells, kind)
    several = [cell for cell in of_kind if cell.depth > 1]
    if len({cell.depth for cell in several}) < 2:
        return None
    latency, command, byte = _terms(several, kind)
    longer = [
        median - latency - command - byte * cell.block_bytes
        for cell in of_kind
        if cell.depth == 1 and (median := cell.operations[kind].quantile(0.5))
    ]
    return max(20 * COMMAND_NS[0], sum(longer) / len(longer)) if longer else None


def _points(points: Sequence[tuple[float, float]]) -> list[dict[str, str]]:
    """Return a distribution as a profile has it: from 0 % to 100 %, never falling."""
    rows: list[dict[str, str]] = []
    highest = 0.0
    for share, ns in points:
        highest = max(highest, min(ns, TYPICAL_NS[1] if share <= 0.5 else LONGEST_NS))
        if highest > 0 and share >= 0.5:
            highest = max(highest, TYPICAL_NS[0])
        text = f"{share * 100:.3f}".rstrip("0").rstrip(".")
        rows.append({"share": f"{text} %", "time": time_text(highest)})
    rows[0]["share"], rows[-1]["share"] = "0 %", "100 %"
    return rows


def _volume(name: str, facts: VolumeFacts) -> Callable[[Values], dict[str, Any]]:
    def service(kind: str, values: Values) -> dict[str, Any]:
        source_kind = kind if kind in facts.known else facts.known[0]

        def leaf(key: str, value: Any) -> tuple[Any, str]:
            """Return a value, and its parameter if the cells determine it."""
            return value, f"{kind}.{key}" if f"{kind}.{key}" in values else ""

        points = [
            (share, x * values[f"{source_kind}.latency"]) for share, x in facts.shapes[kind].points
        ]
        command = values.get(f"{source_kind}.command_time", 0.0)
        table: dict[str, Any] = {
            "latency": leaf("latency", _points(points)),
            "command_time": leaf("command_time", time_text(command)),
            "transfer_rate": leaf(
                "transfer_rate", rate_text(values.get(f"{source_kind}.transfer_rate", 200e9))
            ),
        }
        if f"{kind}.alone" in values:
            table["alone"] = leaf("alone", time_text(values[f"{kind}.alone"]))
        return table

    def build(values: Values) -> dict[str, Any]:
        table: dict[str, Any] = {
            "capacity": (f"{facts.capacity.size_bytes} B", ""),
            "parallel": (max(facts.depth, 1), ""),
        }
        if ROUNDS in name:
            table["rounds"] = (True, "rounds")
        scale = values.get("flush", 1.0)
        points = [(share, ns * scale) for share, ns in facts.flush] or [(0.0, 0.0), (1.0, 0.0)]
        table["flush"] = (_points(points), "flush" if facts.flush else "")
        if AFTER_FLUSH in name:
            table["after_flush"] = (time_text(values["after_flush"]), "after_flush")
        table["read"], table["write"] = service("read", values), service("write", values)
        if LIMITS in name:
            commands = round(values["limit.command_rate"])
            length = min(max(values["limit.byte_rate"] / commands, LENGTHS[0]), LENGTHS[1])
            table["limit"] = {
                "command_rate": (rate_text(commands), "limit.command_rate"),
                "byte_rate": (rate_text(commands * length), "limit.byte_rate"),
            }
        return table

    return build
