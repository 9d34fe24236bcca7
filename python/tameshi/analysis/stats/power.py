"""Power of a load: watts, performance per watt, drive temperature, and capacity.

Judged per cell over the steady window, from the energy of a simulated storage's drives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import MOVING, WindowData
from tameshi.analysis.stats.intervals import digits
from tameshi.core import compiled

ENERGY = "power.energy_nj"
DEGREES = "thermal.millidegrees"
THROTTLED = "thermal.throttled_ns"
DRIVES = "thermal.drives"
NANO = 1e9
MOSTLY = 0.95
"""Least used share of a storage that counts as the whole."""


def power(
    subject: str, runs: Sequence[WindowData], streams: Sequence[Sequence[WindowData]]
) -> dict[str, Any] | None:
    """Return mean power over all windows of all runs, and the performance of `streams` per watt.

    `watts`; `iops_per_watt` and `bandwidth_per_watt` (B/s per W) of reads, writes and trims, the
    latter two None without operations. None if a drive has no power model. With a thermal model,
    also the keys of `_heat`.
    """
    metered = [run for run in runs if run.counters.get(ENERGY)]
    seconds = sum(sum(run.lengths_ns) for run in metered) / NANO
    joules = sum(sum(run.counters[ENERGY]) for run in metered) / NANO
    if not metered or not seconds or not joules:
        return None
    done = {
        kind: sum(
            sum(run.counters.get(f"{operation}.{kind}", ()))
            for stream in streams
            for run in stream
            for operation in MOVING
        )
        for kind in ("count", "bytes")
    }
    return {
        "subject": subject,
        "watts": digits(joules / seconds),
        "iops_per_watt": digits(done["count"] / joules) if done["count"] else None,
        "bandwidth_per_watt": digits(done["bytes"] / joules) if done["bytes"] else None,
        **_heat(metered),
    }


def _heat(runs: Sequence[WindowData]) -> dict[str, Any]:
    """Return `celsius_mean` and `celsius_max` of the warmest drive at interval ends, and
    `throttled`.

    `throttled` is the share of all drives' time with thermal throttling.
    """
    temperatures = [
        (degrees / 1e3, length)
        for run in runs
        for degrees, length in zip(run.counters.get(DEGREES, ()), run.lengths_ns, strict=False)
    ]
    could_be = sum(
        drives * length
        for run in runs
        for drives, length in zip(run.counters.get(DRIVES, ()), run.lengths_ns, strict=False)
    )
    if not temperatures or not could_be:
        return {}
    mean = sum(degrees * length for degrees, length in temperatures) / sum(
        length for _, length in temperatures
    )
    throttled = sum(sum(run.counters.get(THROTTLED, ())) for run in runs)
    return {
        "celsius_mean": digits(mean),
        "celsius_max": digits(max(degrees for degrees, _ in temperatures)),
        "throttled": digits(throttled / could_be),
    }


def held(
    model: Mapping[str, Any], storages: Sequence[tuple[Mapping[str, Any], Any]]
) -> dict[str, int]:
    """Return the capacity of `model`, and the part that the storages on it use.

    `storages`: each with its own model; those on a shared drive use it together.
    """
    capacity = usable_bytes(model)
    used = sum(_used_bytes(own, storage) for own, storage in storages)
    return {
        "capacity_bytes": capacity,
        **({"used_bytes": used} if used < MOSTLY * capacity else {}),
    }


def _used_bytes(model: Mapping[str, Any], storage: Any) -> int:
    """Return the used bytes by a study's `size`, at the storage's real size; without one, all of
    it."""
    size, scale = getattr(storage, "size", None), getattr(storage, "scale", None)
    if not size:
        return usable_bytes(model)
    return compiled.size_bytes(str(getattr(size, "root", size))) * int(scale or 1)


def usable_bytes(model: Mapping[str, Any]) -> int:
    """Return the host-visible bytes of a simulated storage at its real size, whatever its capacity
    scale.

    Includes the remainder that a stripe cuts off at the end of a member, less than a chunk.
    """
    ((kind, node),) = model.items()
    if kind == "device":
        ((_, drive),) = node["device"].items()
        return compiled.size_bytes(drive["capacity"]["value"])
    below = usable_bytes(node["of"])
    if kind == "over_provisioned":
        return int(below * float(str(node["visible"]).removesuffix("%")) / 100)
    if kind == "partition":
        return int(below // node["function"]["functions"])
    members = int(node.get("members", 1))
    data = {"raid0": members, "raid10": members // 2, "raid5": members - 1}
    return below * data.get(kind, 1)
