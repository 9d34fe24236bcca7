"""Device models that can be fitted: their parameters, how to begin, and what no load here tells."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import nnls

from tameshi import _core
from tameshi.calibrate.cells import Cell
from tameshi.paths import PROFILES
from tameshi.study import read_text

NS = 1_000_000_000
Values = Mapping[str, float]
Leaf = tuple[Any, str]
"""A profile's value, and the parameter that sets it; empty: nothing here tells it."""


@dataclass(frozen=True)
class Parameter:
    """One number that is fitted, always above zero."""

    key: str
    """Its place in the profile, below the model."""
    unit: str
    """`time` (ns), `rate` (1/s) or `factor` (of a whole distribution or list)."""
    start: float
    low: float
    high: float


@dataclass(frozen=True)
class Model:
    """A kind of device with some of its values free."""

    name: str
    kind: str
    """The model's key in a profile."""
    parameters: Sequence[Parameter]
    build: Callable[[Values], dict[str, Any]]
    """The model's table for given parameters: values as `Leaf`, at their keys."""
    untold: Sequence[str] = field(default_factory=tuple)
    """What these cells cannot tell, whatever the fit."""

    def device(self, values: Values) -> dict[str, Any]:
        """The device as a profile has it, without real sources."""
        return {self.kind: _sourced(self.build(values))}


def _sourced(tree: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in tree.items():
        if isinstance(value, tuple):
            found[key] = {"value": value[0], "source": "candidate"}
        else:
            found[key] = _sourced(value)
    return found


def time_text(ns: float) -> str:
    """A time as a profile has it: whole nanoseconds, at most four digits that count."""
    whole = round(ns)
    if whole >= 10_000:
        step = 10 ** (len(str(whole)) - 4)
        whole = round(whole / step) * step
    for unit, worth in (("ms", 1_000_000), ("us", 1_000)):
        if whole >= worth:
            return f"{whole / worth:.6f}".rstrip("0").rstrip(".") + f" {unit}"
    return f"{whole} ns"


def rate_text(per_second: float) -> str:
    """A rate as a profile has it, to four digits that count."""
    whole = max(round(per_second), 1)
    step = 10 ** max(len(str(whole)) - 4, 0)
    return f"{round(whole / step) * step} /s"


# Volumes.

SHARES = (
    *(0.0, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.95),
    *(0.98, 0.99, 0.995, 0.999, 0.9995, 0.9999, 1.0),
)
TYPICAL_NS, LONGEST_NS, COMMAND_NS = 200e6, 60e9, 100e6
"""The longest that a profile lets half of all commands take, any command, and a command's time:
what was measured on a disk that was stuck meanwhile becomes these, and the fit says how far off."""
LEAST_COMMANDS, LEAST_BYTES = 1.0, 2e5
"""The least that a profile lets a volume's limit let through in a second."""
MOST_SERVICE = 0.9
"""Share of the median at rest that is service at most: some of it is latency."""


@dataclass(frozen=True)
class Shape:
    """Latencies at rest: points relative to their median."""

    points: Sequence[tuple[float, float]]
    median_ns: float


def volumes(cells: Sequence[Cell], capacity: int) -> list[Model]:
    """Volumes of three kinds: a processor behind latencies, the same in rounds, and limits."""
    shapes = {kind: shape_of(cells, kind) for kind in ("read", "write")}
    known = {kind: shape for kind, shape in shapes.items() if shape}
    if not known:
        return []
    missing = [kind for kind, shape in shapes.items() if shape is None]
    first = next(iter(known.values()))
    full = {kind: known.get(kind, first) for kind in shapes}
    flush = _flush_points(cells)
    depth = max(cell.depth for cell in cells)
    untold = [f"parallel: more than {depth} requests at a time were not asked for"]
    untold += [f"{kind}: the cells hold none alone" for kind in missing]
    for kind in known:
        depths, lengths = _varied(cells, kind)
        untold += [] if depths else [f"{kind}.command_time: all cells have one depth"]
        untold += [] if lengths else [f"{kind}.transfer_rate: all requests have one length"]
    if not flush:
        untold.append("flush: no write was followed by a sync")
    untold.append("anything that depends on the place or the age of the data, or on credits")
    found = []
    for name in VARIANTS:
        parameters = [p for kind in known for p in _service(cells, kind, full[kind], name)]
        if LIMITS in name:
            parameters += _limits(cells)
        if flush:
            parameters.append(Parameter("flush", "factor", 1.0, 0.1, 10.0))
        build = _volume(name, full, flush, capacity, depth, tuple(known))
        found.append(Model(name, "volume", parameters, build, untold))
    return found


ROUNDS, LIMITS = "in rounds", "with limits"
VARIANTS = ("volume", f"volume {ROUNDS}", f"volume {LIMITS}")


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


def _service(cells: Sequence[Cell], kind: str, shape: Shape, name: str) -> list[Parameter]:
    """Start values of one kind's latency and service."""
    latency, command, byte = _terms(cells, kind)
    latency = min(max(latency, 0.05 * shape.median_ns), TYPICAL_NS)
    command = min(max(command, 0.005 * shape.median_ns), COMMAND_NS)
    rate = min(max(NS / byte if byte > 0 else 50e9, 2e6), 200e9)
    found = [_time(f"{kind}.latency", latency, 20, TYPICAL_NS)]
    depths, lengths = _varied(cells, kind)
    if LIMITS not in name and depths:
        found.append(_time(f"{kind}.command_time", command, 50, COMMAND_NS))
    if LIMITS not in name and lengths:
        key = f"{kind}.transfer_rate"
        found.append(Parameter(key, "rate", rate, rate / 20, min(rate * 20, 250e9)))
    return found


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


def _volume(
    name: str,
    shapes: Mapping[str, Shape],
    flush: Sequence[tuple[float, float]],
    capacity: int,
    depth: int,
    known: Sequence[str],
) -> Callable[[Values], dict[str, Any]]:
    def service(kind: str, values: Values) -> dict[str, Any]:
        told = kind if kind in known else known[0]
        latency = values[f"{told}.latency"]
        points = [(share, relative * latency) for share, relative in shapes[kind].points]
        mark = kind in known
        command = time_text(values.get(f"{told}.command_time", 0.0))
        rate = rate_text(values.get(f"{told}.transfer_rate", 200e9))

        def told_by(key: str) -> str:
            return key if mark and key in values else ""

        table: dict[str, Any] = {
            "latency": (_points(points), told_by(f"{kind}.latency")),
            "command_time": (command, told_by(f"{kind}.command_time")),
            "transfer_rate": (rate, told_by(f"{kind}.transfer_rate")),
        }
        return table

    def build(values: Values) -> dict[str, Any]:
        table: dict[str, Any] = {
            "capacity": (f"{capacity} B", ""),
            "parallel": (max(depth, 1), ""),
        }
        if ROUNDS in name:
            table["rounds"] = (True, "rounds")
        scale = values.get("flush", 1.0)
        points = [(share, ns * scale) for share, ns in flush] or [(0.0, 0.0), (1.0, 0.0)]
        table["flush"] = (_points(points), "flush" if flush else "")
        table["read"], table["write"] = service("read", values), service("write", values)
        if LIMITS in name:
            table["limit"] = {
                key: (rate_text(values[f"limit.{key}"]), f"limit.{key}")
                for key in ("command_rate", "byte_rate")
            }
        return table

    return build


# Drives whose insides are modelled: a profile of the project gives what no load tells.


def _template(name: str) -> dict[str, Any]:
    path = PROFILES / "devices" / f"{name}.toml"
    return dict(tomllib.loads(read_text(path, "a device profile"))["device"])


def _leaves(tree: Mapping[str, Any]) -> dict[str, Any]:
    """A profile's table with its values as leaves that nothing here tells."""
    return {
        key: (value["value"], "") if "value" in value else _leaves(value)
        for key, value in tree.items()
    }


def _set(table: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for part in path:
        table = table[part]
    table[last] = (value, key)


def flash(cells: Sequence[Cell], capacity: int, template: str = "nvme-tlc-3.84tb") -> Model:
    """A flash drive shaped like a profile of the project: times, rates and the link are free."""
    base = _template(template)["flash"]
    span = max(cell.size_bytes for cell in cells)
    whole = max(capacity, span)
    keys = [
        ("nand.read_time", "factor"),
        ("nand.program_time", "factor"),
        ("controller.read_overhead", "time"),
        ("controller.write_overhead", "time"),
        ("controller.read_rate", "rate"),
        ("controller.write_rate", "rate"),
        ("link.read_rate", "rate"),
        ("link.write_rate", "rate"),
    ]
    parameters = []
    for key, unit in keys:
        value = _value(base, key)
        start = 1.0 if unit == "factor" else _number(value, unit)
        parameters.append(Parameter(key, unit, start, start / 15, start * 15))

    def build(values: Values) -> dict[str, Any]:
        table = _leaves(base)
        for key, unit in keys:
            told = _value(base, key)
            if unit == "factor":
                times = [time_text(_core.nanoseconds(each) * values[key]) for each in told]
                _set(table, key, times)
            else:
                text = time_text(values[key]) if unit == "time" else rate_text(values[key])
                _set(table, key, text)
        table["capacity"] = (f"{whole} B", "")
        return table

    untold = (
        "over_provisioning, cleaning and erase_time: garbage collection shows only after about "
        "twice the capacity has been written at random",
        "the number of channels, dies and planes apart from their times: only their products show",
        "endurance_cycles, read retry and power: nothing here wears or weighs the drive",
        "power_loss_protection: that needs power cuts",
    )
    return Model("flash", "flash", parameters, build, untold)


def hard_disk(cells: Sequence[Cell], capacity: int, revolution_ms: float) -> Model:
    """A hard disk of a given speed: seeks, rate and overhead are free."""
    base = _template("sas-15k-146gb")["hdd"]
    whole = max(capacity, max(cell.size_bytes for cell in cells))
    keys = [("seek_average", "time"), ("command_overhead", "time"), ("media_rate", "rate")]
    parameters = []
    for key, unit in keys:
        start = _number(_value(base, key), unit)
        parameters.append(Parameter(key, unit, start, start / 15, start * 15))

    def build(values: Values) -> dict[str, Any]:
        table = _leaves(base)
        for key, unit in keys:
            text = time_text(values[key]) if unit == "time" else rate_text(values[key])
            _set(table, key, text)
        least = min(_number(_value(base, "seek_min"), "time"), values["seek_average"])
        table["seek_min"] = (time_text(least), "")
        table["revolution"] = (time_text(revolution_ms * 1e6), "revolution")
        table["capacity"] = (f"{whole} B", "")
        table.pop("zones", None)
        return table

    untold = (
        "seek_min, cylinders and zones: the cells lie on one stretch of the disk",
        "queue_depth and age_limit: they show in the longest latencies only",
    )
    return Model(f"hdd at {60_000 / revolution_ms:.0f}/min", "hdd", parameters, build, untold)


def _value(tree: Mapping[str, Any], key: str) -> Any:
    for part in key.split("."):
        tree = tree[part]
    return tree["value"]


def _number(text: str, unit: str) -> float:
    if unit == "time":
        return float(max(_core.nanoseconds(text), 1))
    return float(text.split("/")[0].replace("_", ""))


REVOLUTIONS_MS = (4.0, 6.0, 60_000 / 7200, 60_000 / 5400)
SLOW_NS = 1_500_000
"""A random read whose median is below this came from no disk arm."""
FAST_NS = 15_000
"""One below this came from no flash."""


def candidates(cells: Sequence[Cell], capacity: int, only: str | None) -> list[Model]:
    """The models worth fitting: those whose physics the latencies at rest allow.

    Start values and shapes come from the cells that are not held out.
    """
    cells = [cell for cell in cells if not cell.held_out]
    found = volumes(cells, capacity)
    shape = shape_of([cell for cell in cells if cell.pattern == "random"], "read")
    typical = shape.median_ns if shape else None
    rested = typical is not None and any(cell.depth == 1 for cell in cells)
    if only == "hdd" or (only is None and rested and typical and typical >= SLOW_NS):
        found += [hard_disk(cells, capacity, each) for each in REVOLUTIONS_MS]
    if only == "flash" or (only is None and rested and typical and FAST_NS <= typical < SLOW_NS):
        found.append(flash(cells, capacity))
    return [model for model in found if only is None or model.kind == only]
