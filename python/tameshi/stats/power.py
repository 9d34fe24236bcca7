"""What a load costs in power, what each watt brings, and what a storage holds.

Judged per cell over the steady window, from the energy that the drives of a simulated storage drew.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi import _core
from tameshi.stats.estimates import MOVING, WindowData
from tameshi.stats.intervals import digits

ENERGY = "power.energy_nj"
NANO = 1e9


def power(
    subject: str, runs: Sequence[WindowData], streams: Sequence[Sequence[WindowData]]
) -> dict[str, Any] | None:
    """Mean power over all windows of all runs together, and what `streams` did with it.

    `watts`; `iops_per_watt` and `bandwidth_per_watt` (B/s per W) of reads, writes and trims; the
    latter two None where nothing was done. None where a drive does not say what it draws.
    """
    told = [run for run in runs if run.counters.get(ENERGY)]
    seconds = sum(sum(run.lengths_ns) for run in told) / NANO
    joules = sum(sum(run.counters[ENERGY]) for run in told) / NANO
    if not told or not seconds or not joules:
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
    }


def usable_bytes(model: Mapping[str, Any]) -> int:
    """What a simulated storage holds for its host, at its real size whatever its capacity scale.

    What a stripe cuts off at the end of a member, less than a chunk, is counted in.
    """
    ((kind, node),) = model.items()
    if kind == "device":
        ((_, drive),) = node["device"].items()
        return _core.size_bytes(drive["capacity"]["value"])
    whole = usable_bytes(node["of"])
    if kind == "over_provisioned":
        return int(whole * float(str(node["visible"]).removesuffix("%")) / 100)
    if kind == "partition":
        return int(whole // node["function"]["functions"])
    members = int(node.get("members", 1))
    data = {"raid0": members, "raid10": members // 2, "raid5": members - 1}
    return whole * data.get(kind, 1)
