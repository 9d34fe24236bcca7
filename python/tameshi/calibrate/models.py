"""Device models for fitting: start values, and parameters that no load determines."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from typing import Any

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
from tameshi.calibrate.volumes import shape_of, volumes
from tameshi.core import compiled
from tameshi.core.data import PROFILES
from tameshi.core.reasons import reason
from tameshi.study.file import read_text

# Drives with modelled internals: a profile of the project supplies what no load determines.


def _template(name: str) -> dict[str, Any]:
    path = PROFILES / "devices" / f"{name}.toml"
    return dict(tomllib.loads(read_text(path, "a device profile"))["device"])


def _leaves(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return a profile's table with its values as undetermined leaves."""
    return {
        key: (value["value"], "") if "value" in value else _leaves(value)
        for key, value in tree.items()
    }


def _set(table: dict[str, Any], key: str, value: Any) -> None:
    *path, last = key.split(".")
    for part in path:
        table = table[part]
    table[last] = (value, key)


Free = tuple[str, str, float, float]
"""Fitted value: its place, its unit, and the profile's bounds in ns or per second; for a factor,
the bounds of each scaled time."""

FREE_OF_FLASH: Sequence[Free] = (
    ("nand.read_time", "factor", 2e3, 1e6),
    ("nand.program_time", "factor", 40e3, 20e6),
    ("controller.read_overhead", "time", 500, 400e3),
    ("controller.write_overhead", "time", 500, 400e3),
    ("controller.read_rate", "rate", 20e3, 15e6),
    ("controller.write_rate", "rate", 20e3, 15e6),
    ("link.read_rate", "rate", 100e6, 80e9),
    ("link.write_rate", "rate", 100e6, 80e9),
)
FREE_OF_HARD_DISK: Sequence[Free] = (
    ("seek_average", "time", 200e3, 100e6),
    ("command_overhead", "time", 10e3, 5e6),
    ("media_rate", "rate", 2e6, 1e9),
)


def _free(base: Mapping[str, Any], key: str, unit: str, least: float, most: float) -> Parameter:
    """Return a parameter within a factor of 15 of the template's, and within its bounds."""
    if unit == "factor":
        times = _times(base, key)
        least, most, start = least / min(times), most / max(times), 1.0
    else:
        start = _number(_value(base, key), unit)
    return bounded(key, unit, start, (15, 15), (least, most))


def _times(base: Mapping[str, Any], key: str) -> list[int]:
    return [compiled.nanoseconds(each) for each in _value(base, key)]


def _text(value: float, unit: str) -> str:
    return time_text(value) if unit == "time" else rate_text(value)


def flash(cells: Sequence[Cell], capacity: int | None, template: str = "nvme-tlc-3.84tb") -> Model:
    """Return a flash drive shaped like a profile of the project: times, rates and the link are
    free."""
    base = _template(template)["flash"]
    device_capacity = _whole(cells, capacity, template, base)
    share = min(device_capacity.size_bytes / compiled.size_bytes(_value(base, "capacity")), 1.0)
    pages = max(round(_value(base, "nand.pages_per_block") * share), FEWEST_PAGES)
    parameters = [_free(base, *each) for each in FREE_OF_FLASH]

    def build(values: Values) -> dict[str, Any]:
        table = _leaves(base)
        table["nand"]["pages_per_block"] = (pages, "")
        for key, unit, *_ in FREE_OF_FLASH:
            if unit == "factor":
                _set(table, key, [time_text(each * values[key]) for each in _times(base, key)])
            else:
                _set(table, key, _text(values[key], unit))
        table["capacity"] = (f"{device_capacity.size_bytes} B", "")
        # The template's own link; its lanes may be too slow for the fitted rate.
        table["link"].pop("pcie", None)
        table.get("power", {}).pop("thermal", None)
        return table

    undetermined = (
        reason("needs_overwriting", "over_provisioning, cleaning, erase_time"),
        reason("only_products", "channels, dies, planes"),
        reason("no_wear", "endurance_cycles, read_retry, power, thermal"),
        reason("only_link_rates", "lanes, generation"),
        reason("needs_power_cuts", "power_loss_protection"),
        *device_capacity.undetermined,
    )
    sources = {
        "capacity": device_capacity.source,
        "pages_per_block": PAGES.format(template=template),
    }
    return Model("flash", "flash", parameters, build, undetermined, sources)


def _whole(
    cells: Sequence[Cell], known: int | None, template: str, base: Mapping[str, Any]
) -> Capacity:
    used = max(cell.size_bytes for cell in cells)
    return capacity_of(known, used, (template, compiled.size_bytes(_value(base, "capacity"))))


FEWEST_PAGES = 16
"""Least number of pages in a profile."""
PAGES = "not determined by the measurement; as many blocks as profile {template} has, or more"
MOST_CYLINDERS, MOST_HEADS = 10_000_000, 64
"""Upper bounds of a profile: slower tracks would not hold its capacity."""
CYLINDERS = "follow from capacity, revolution and media_rate, with the heads of profile {template}"


def hard_disk(
    cells: Sequence[Cell],
    capacity: int | None,
    revolution_ms: float,
    template: str = "sas-15k-146gb",
) -> Model:
    """Return a hard disk of a given speed: seeks, rate and overhead are free."""
    base = _template(template)["hdd"]
    device_capacity = _whole(cells, capacity, template, base)
    heads = compiled.size_bytes(_value(base, "capacity")) / _track(base) / _value(base, "cylinders")
    slowest = (
        1.01 * device_capacity.size_bytes / (MOST_CYLINDERS * MOST_HEADS * revolution_ms / 1e3)
    )
    parameters = [
        _free(base, key, unit, max(least, slowest) if key == "media_rate" else least, most)
        for key, unit, least, most in FREE_OF_HARD_DISK
    ]

    def build(values: Values) -> dict[str, Any]:
        table = _leaves(base)
        for key, unit, *_ in FREE_OF_HARD_DISK:
            _set(table, key, _text(values[key], unit))
        least = min(_number(_value(base, "seek_min"), "time"), values["seek_average"])
        table["seek_min"] = (time_text(least), "")
        table["revolution"] = (time_text(revolution_ms * 1e6), "revolution")
        table["capacity"] = (f"{device_capacity.size_bytes} B", "")
        track = values["media_rate"] * revolution_ms / 1e3
        cylinders = round(device_capacity.size_bytes / track / heads)
        table["cylinders"] = (min(max(cylinders, 1), MOST_CYLINDERS), "")
        table.pop("zones", None)
        return table

    undetermined = (
        reason("one_stretch", "seek_min, cylinders, zones"),
        reason("only_tail", "queue_depth, age_limit"),
        *device_capacity.undetermined,
    )
    name = f"hdd at {60_000 / revolution_ms:.0f}/min"
    sources = {"capacity": device_capacity.source, "cylinders": CYLINDERS.format(template=template)}
    return Model(name, "hdd", parameters, build, undetermined, sources)


def _track(base: Mapping[str, Any]) -> float:
    """Return the bytes under a head per revolution."""
    rate = _number(_value(base, "media_rate"), "rate")
    return rate * _number(_value(base, "revolution"), "time") / NS


def _value(tree: Mapping[str, Any], key: str) -> Any:
    for part in key.split("."):
        tree = tree[part]
    return tree["value"]


def _number(text: str, unit: str) -> float:
    if unit == "time":
        return float(max(compiled.nanoseconds(text), 1))
    return float(text.split("/")[0].replace("_", ""))


REVOLUTIONS_MS = (4.0, 6.0, 60_000 / 7200, 60_000 / 5400)
SLOW_NS = 1_500_000
"""Median random read below which the device has no disk arm."""
FAST_NS = 15_000
"""Median random read below which the device is not flash."""
LEAST_FLASH = 8_000_000_000
"""Capacity below which the template's dies leave no room for spare blocks."""


def candidates(cells: Sequence[Cell], capacity: int | None, only: str | None) -> list[Model]:
    """Return the models whose physics the latencies at rest allow.

    `capacity` is the device's size in bytes, if known. Start values and shapes come from cells that
    are not held out.
    """
    cells = [cell for cell in cells if not cell.held_out]
    models = volumes(cells, capacity)
    shape = shape_of([cell for cell in cells if cell.pattern == "random"], "read")
    typical = shape.median_ns if shape else None
    rested = typical is not None and any(cell.depth == 1 for cell in cells)
    if only == "hdd" or (only is None and rested and typical and typical >= SLOW_NS):
        models += [hard_disk(cells, capacity, each) for each in REVOLUTIONS_MS]
    large = capacity is None or capacity >= LEAST_FLASH
    fast = rested and typical and FAST_NS <= typical < SLOW_NS
    if only == "flash" or (only is None and fast and large):
        models.append(flash(cells, capacity))
    return [model for model in models if only is None or model.kind == only]
