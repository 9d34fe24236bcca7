"""Device models that can be fitted: where each begins, and what no load here tells."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

from tameshi import _core
from tameshi.calibrate.cells import Cell
from tameshi.calibrate.parameters import Model, Parameter, Values, rate_text, time_text
from tameshi.calibrate.volumes import shape_of, volumes
from tameshi.paths import PROFILES
from tameshi.study import read_text

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
