"""Profiles of round 2's drives and hosts: a class profile, changed by what a data sheet states.

One rule turns every sheet into parameters (`from_sheet`); what a sheet leaves open stays as in the
class.
"""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from typing import Any

from tameshi.core.data import PROFILES
from tameshi.core.toml_text import inline
from validation.round2 import ROUND2

FILES = {"devices": ROUND2 / "drives.toml", "hosts": ROUND2 / "hosts.toml"}
ROOTS = {"devices": "device", "hosts": "host"}
UNIT = 4096
DIE_GIB = 32
"""Flash of a die where an entry names no `die`: 256 Gbit."""
LINK_BOUND = 0.9
"""Share of the link's rate from which sequential writes are taken to be limited by the link."""
Change = tuple[Any, ...]
"""Value, its source, and the ids of the known figures that it was fitted on, if it was."""


def extra() -> dict[str, list[tuple[str, str, str]]]:
    """Name, file and text of every profile of round 2, by kind."""
    return {
        kind: [(name, str(file), text(kind, name)) for name in entries(kind)]
        for kind, file in FILES.items()
    }


@functools.cache
def entries(kind: str) -> Mapping[str, Mapping[str, Any]]:
    """The entries of a kind of profile, by name."""
    return tomllib.loads(FILES[kind].read_text(encoding="utf-8"))


def text(kind: str, name: str) -> str:
    """A profile as TOML."""
    entry, root = entries(kind)[name], ROOTS[kind]
    like = entry["like"]
    base = tomllib.loads((PROFILES / kind / f"{like}.toml").read_text(encoding="utf-8"))
    model = base[root]
    if kind == "devices":
        (model,) = model.values()
        model.pop("power", None)  # A sheet's few figures would not fit the class's energies.
        model.get("controller", {}).pop("transfer_rate", None)  # The shared path's, from the sheet.
    for key in entry.get("remove", ()):
        drop(model, key)
    for key, change in entry.get("change", {}).items():
        put(model, key, *change)
    for key, change in from_sheet(model, entry).items() if "sheet" in entry else ():
        put(model, key, *change)
    base["description"] = f"{name}: {like} with the figures of a data sheet"
    return toml(base)


def from_sheet(model: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Change]:
    """Parameters by key that an entry's data sheet sets, with the source of each."""
    sheet = entry["sheet"]
    source = sheet["source"]
    given: dict[str, Any] = {"capacity": f"{sheet['capacity']} GB"}
    if "rpm" in sheet:
        given |= {
            "revolution": f"{round(60e9 / sheet['rpm'])} ns",
            "seek_average": f"{sheet['seek_ms']} ms",
            "media_rate": f"{sheet['rate'] * 1_000_000} /s",
        }
    elif "limit_iops" in sheet:
        given |= {
            "limit.command_rate": f"{sheet['limit_iops']} /s",
            "limit.byte_rate": f"{sheet['limit'] * 1_000_000} /s",
        }
    else:
        given |= {
            "link.read_rate": f"{sheet['read'] * 1_000_000} /s",
            "link.write_rate": f"{sheet['write'] * 1_000_000} /s",
        }
    changes = {key: (value, source) for key, value in given.items()}
    if "controller" in model:
        changes |= flash(model, sheet, entry.get("die", DIE_GIB) * 2**30)
        for key in ("read_rate", "write_rate"):
            changes[f"controller.shared_path.{key}"] = changes[f"link.{key}"]
    return changes


def flash(model: Mapping[str, Any], sheet: Mapping[str, Any], die: int) -> dict[str, Change]:
    """Parameters of a flash drive: command rates, spare, dies and program times.

    Steady writes of 4 KiB by greedy cleaning: write amplification (1 + s) / 2 s at a spare of s.
    """
    source, capacity = sheet["source"], sheet["capacity"] * 1e9
    link, sequential = max(sheet["read"], sheet["write"]), sheet["write"] * 1e6
    bound_by_link = sheet["write"] >= LINK_BOUND * link
    small = sheet["write_iops"] * UNIT
    flash_bytes = 2 ** (int(capacity / 2**30) - 1).bit_length() * 2**30
    spare = flash_bytes / capacity - 1
    because = f"derived: {flash_bytes // 2**30} GiB of flash"
    if spare > 0.6:
        spare, because = 0.145, "engineering prior: the class's, for the flash is no power of two"
    if sheet["steady"]:
        spare = 1 / (2 * sequential / small - 1)
        because = f"derived: sequential and steady writes of {source}"
    changes: dict[str, Change] = {
        "controller.read_rate": (f"{sheet['read_iops']} /s", source),
        "over_provisioning": (f"{100 * spare:.1f} %", because),
    }
    if not sheet["steady"]:
        changes["controller.write_rate"] = (f"{sheet['write_iops']} /s", source)
    if "pcie" in sheet:
        lanes = {"generation": sheet["pcie"], "lanes": 4}
        changes["link.pcie"] = (lanes, source)
    if "slc_cache" in model:
        old = size(model["capacity"]["value"])
        for key in ("slc_cache.size", "idle.erased"):
            value = size(look(model, key)["value"]) * capacity / old
            changes[key] = (f"{value / 1e9:.0f} GB", "derived: the class's share of the capacity")
        return changes | dies(model, capacity / die)
    need = sequential if not sheet["steady"] else max(sequential, small * (1 + spare) / (2 * spare))
    found = dies(model, capacity / die)
    count = found["controller.dies_per_channel"][0] * model["controller"]["data_channels"]["value"]
    stripe = count * model["nand"]["planes"]["value"] * size(model["nand"]["page"]["value"])
    old_times = [float(time.split()[0]) for time in model["nand"]["program_time"]["value"]]
    factor = stripe / need * 1e6 / (sum(old_times) / len(old_times))
    why = f"derived: all dies together program what {source} states of writes"
    if bound_by_link and factor > 1:  # The dies may be faster than what the link carries.
        factor, why = 1, "that of the class: the link limits what the sheet states"
    times = [f"{round(time * factor)} us" for time in old_times]
    return changes | found | {"nand.program_time": (times, why)}


def dies(model: Mapping[str, Any], number: float) -> dict[str, Change]:
    """Return the dies on a channel for a number of dies in all."""
    controller = model["controller"]
    channels = controller["data_channels"]["value"] + controller["parity_channels"]["value"]
    count = max(1, round(number / channels))
    return {"controller.dies_per_channel": (count, "derived: the capacity in dies of its time")}


def size(text: str) -> float:
    """Bytes of a size such as "16 KiB"."""
    number, unit = text.split()
    return (
        float(number)
        * {
            "B": 1,
            "KiB": 2**10,
            "MiB": 2**20,
            "GiB": 2**30,
            "MB": 1e6,
            "GB": 1e9,
            "TB": 1e12,
            "TiB": 2**40,
        }[unit]
    )


def look(table: Mapping[str, Any], key: str) -> Any:
    """Return the value of a dotted key."""
    found: Any = table
    for part in key.split("."):
        found = found[part]
    return found


def fitted_figures() -> set[str]:
    """Ids of the known figures that a parameter of any profile was fitted on."""
    return {
        id_
        for kind in FILES
        for entry in entries(kind).values()
        for change in entry.get("change", {}).values()
        for on in change[2:]
        for id_ in on.split(", ")
    }


def put(table: dict[str, Any], key: str, value: Any, source: str, fitted_on: str = "") -> None:
    """Set the value of a dotted key, with its source and the figures that it was fitted on."""
    *path, last = key.split(".")
    for part in path:
        table = table.setdefault(part, {})
    fitted = {"fitted_on": fitted_on} if fitted_on else {}
    table[last] = {"value": value, "source": source, **fitted}


def drop(table: dict[str, Any], key: str) -> None:
    """Remove a dotted key."""
    *path, last = key.split(".")
    for part in path:
        table = table[part]
    table.pop(last, None)


def toml(table: Mapping[str, Any]) -> str:
    """A table as TOML with inline tables."""
    return "".join(f"{key} = {inline(value)}\n" for key, value in table.items())
