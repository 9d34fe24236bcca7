"""Device models that can be fitted: where each begins, and what no load here tells."""

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


Free = tuple[str, str, float, float]
"""A value that is fitted: its place, its unit, and the least and the most that a profile takes, in
ns or per second; of a factor, what each of the times that it stretches may be."""

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
    """What may come out a fifteenth of the template's, or 15 times as much, within its bounds."""
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
    """A flash drive shaped like a profile of the project: times, rates and the link are free."""
    base = _template(template)["flash"]
    whole = _whole(cells, capacity, template, base)
    share = min(whole.size_bytes / compiled.size_bytes(_value(base, "capacity")), 1.0)
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
        table["capacity"] = (f"{whole.size_bytes} B", "")
        # The template's own; its lanes may not carry what was found.
        table["link"].pop("pcie", None)
        table.get("power", {}).pop("thermal", None)
        return table

    untold = (
        reason("needs_overwriting", "over_provisioning, cleaning, erase_time"),
        reason("only_products", "channels, dies, planes"),
        reason("no_wear", "endurance_cycles, read_retry, power, thermal"),
        reason("only_link_rates", "lanes, generation"),
        reason("needs_power_cuts", "power_loss_protection"),
        *whole.untold,
    )
    sources = {"capacity": whole.source, "pages_per_block": PAGES.format(template=template)}
    return Model("flash", "flash", parameters, build, untold, sources)


def _whole(
    cells: Sequence[Cell], known: int | None, template: str, base: Mapping[str, Any]
) -> Capacity:
    used = max(cell.size_bytes for cell in cells)
    return capacity_of(known, used, (template, compiled.size_bytes(_value(base, "capacity"))))


FEWEST_PAGES = 16
"""That a profile takes."""
PAGES = "not told by what was measured; as many blocks as profile {template} has, or more"
MOST_CYLINDERS, MOST_HEADS = 10_000_000, 64
"""That a profile takes: on slower tracks its capacity would not lie."""
CYLINDERS = "follow from capacity, revolution and media_rate, with the heads of profile {template}"


def hard_disk(
    cells: Sequence[Cell],
    capacity: int | None,
    revolution_ms: float,
    template: str = "sas-15k-146gb",
) -> Model:
    """A hard disk of a given speed: seeks, rate and overhead are free."""
    base = _template(template)["hdd"]
    whole = _whole(cells, capacity, template, base)
    heads = compiled.size_bytes(_value(base, "capacity")) / _track(base) / _value(base, "cylinders")
    slowest = 1.01 * whole.size_bytes / (MOST_CYLINDERS * MOST_HEADS * revolution_ms / 1e3)
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
        table["capacity"] = (f"{whole.size_bytes} B", "")
        track = values["media_rate"] * revolution_ms / 1e3
        cylinders = round(whole.size_bytes / track / heads)
        table["cylinders"] = (min(max(cylinders, 1), MOST_CYLINDERS), "")
        table.pop("zones", None)
        return table

    untold = (
        reason("one_stretch", "seek_min, cylinders, zones"),
        reason("only_tail", "queue_depth, age_limit"),
        *whole.untold,
    )
    name = f"hdd at {60_000 / revolution_ms:.0f}/min"
    sources = {"capacity": whole.source, "cylinders": CYLINDERS.format(template=template)}
    return Model(name, "hdd", parameters, build, untold, sources)


def _track(base: Mapping[str, Any]) -> float:
    """Bytes that pass under a head in a revolution."""
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
"""A random read whose median is below this came from no disk arm."""
FAST_NS = 15_000
"""One below this came from no flash."""
LEAST_FLASH = 8_000_000_000
"""Bytes below which a drive of the template's dies has no room for its blocks in reserve."""


def candidates(cells: Sequence[Cell], capacity: int | None, only: str | None) -> list[Model]:
    """The models worth fitting: those whose physics the latencies at rest allow.

    `capacity` are the device's bytes, where they are known.
    Start values and shapes come from the cells that are not held out.
    """
    cells = [cell for cell in cells if not cell.held_out]
    found = volumes(cells, capacity)
    shape = shape_of([cell for cell in cells if cell.pattern == "random"], "read")
    typical = shape.median_ns if shape else None
    rested = typical is not None and any(cell.depth == 1 for cell in cells)
    if only == "hdd" or (only is None and rested and typical and typical >= SLOW_NS):
        found += [hard_disk(cells, capacity, each) for each in REVOLUTIONS_MS]
    large = capacity is None or capacity >= LEAST_FLASH
    fast = rested and typical and FAST_NS <= typical < SLOW_NS
    if only == "flash" or (only is None and fast and large):
        found.append(flash(cells, capacity))
    return [model for model in found if only is None or model.kind == only]
