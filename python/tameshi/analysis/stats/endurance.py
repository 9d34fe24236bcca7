"""Flash wear under a load: write amplification, effective spare area and life.

Judged per cell over the steady window, from writes and erases of each storage's flash drives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.intervals import digits

SECONDS_PER_YEAR = 365.25 * 86400
COUNTED = ("host", "moved", "padded")
"""Counters of programmed bytes: host writes in mapping units, garbage collection, and padding by
flushes."""


@dataclass(frozen=True)
class Worn:
    """Consumed endurance of a drive's flash, and its limit of readability."""

    behind: float
    extra: float | None
    """Endurance gained by read retry, as a share; None without gain."""

    @property
    def is_readable(self) -> bool:
        """True if, by the profile, flash at this wear holds its data."""
        return self.behind <= 1 + (self.extra or 0.0)


def worn(model: Mapping[str, Any]) -> Worn | None:
    """Return the wear of a simulated storage's flash drive; None for other drives."""
    ((kind, node),) = model.items()
    if kind != "device":
        return worn(node["of"])
    flash = node["device"].get("flash")
    if flash is None:
        return None
    retry = flash.get("read_retry") or {}
    percent = (flash.get("simulated") or {}).get("worn_percent")
    behind = _share(retry.get("worn")) if percent is None else percent / 100
    return Worn(behind or 0.0, _share(retry.get("extra_life")))


def _share(sourced: Mapping[str, Any] | None) -> float | None:
    return float(str(sourced["value"]).removesuffix("%")) / 100 if sourced else None


def endurance(
    subject: str,
    runs: Sequence[WindowData],
    streams: Sequence[Sequence[WindowData]] = (),
    *,
    retried: bool = False,
    is_written: bool = True,
) -> dict[str, Any] | None:
    """Return the flash wear of a storage over all windows of all runs.

    `written_bytes` counts writes to all drives, including an array's copies, parity and rebuilds.
    `stream_written_bytes` counts writes of `streams` to the storage; None if they are not recorded.
    `over_provisioning` is the spare area as a share of the capacity, mean over the intervals:
    nominal as built, effective as garbage collection finds it (erased flash has nothing to reclaim;
    unmapped flash is spare). `life_years` is the remaining life of the whole drive at this program
    rate; `life_years_retried` adds read retry and is None if the profile names no gain (`retried`).
    Writes that finish an earlier phase are no rate of this one: unless the phase writes
    (`is_written`) or rebuilds, there is no life and no amplification. There is no amplification if
    no write comes from outside the drives, as in a drive's internal channel rebuild. None without
    flash.
    """
    physical = _mean(runs, "flash.physical_bytes")
    if not physical:
        return None
    parts = {part: sum(_total(run, f"flash.{part}_bytes") for run in runs) for part in COUNTED}
    programmed = sum(parts.values())
    written = sum(_total(run, "flash.written_bytes") for run in runs)
    is_written = is_written or any(_total(run, "rebuild.bytes") for run in runs)
    seconds = sum(run.length_ns for run in runs) / 1e9
    logical = _mean(runs, "flash.logical_bytes")
    left = _mean(runs, "flash.life_bytes")
    more = _mean(runs, "flash.retry_life_bytes")
    yearly = programmed / seconds * SECONDS_PER_YEAR if seconds and is_written else 0.0
    return {
        "subject": subject,
        "written_bytes": int(written),
        "stream_written_bytes": _written_by(streams),
        **{f"{part}_bytes": int(size) for part, size in parts.items()},
        "write_amplification": digits(programmed / written) if written and is_written else None,
        "over_provisioning": {
            "nominal": digits(physical / logical - 1),
            "effective": digits(_effective(runs)),
        },
        "cycles_mean": digits(_last(runs, "flash.cycles_mean_permille") / 1000),
        "cycles_max": int(_last(runs, "flash.cycles_max")),
        "life_years": digits(left / yearly) if yearly else None,
        "life_years_retried": digits((left + more) / yearly)
        if yearly and (more or retried)
        else None,
    }


def _effective(runs: Sequence[WindowData]) -> float | None:
    """Return the effective spare area, as a share of the mapped flash."""

    def total(part: str) -> int:
        # Integer counts leave no rounding error if there is no spare area.
        values = (run.counters.get(f"flash.{part}_bytes", ()) for run in runs)
        return sum(int(value) for of_run in values for value in of_run)

    mapped = total("mapped")
    spare = total("physical") - total("given_up") - total("erased") - mapped
    return spare / mapped if mapped else None


def _written_by(streams: Sequence[Sequence[WindowData]]) -> int | None:
    written = [_total(run, "write.bytes") for stream in streams for run in stream]
    return int(sum(written)) if written else None


def _total(run: WindowData, metric: str) -> float:
    return float(sum(run.counters.get(metric, ())))


def _mean(runs: Sequence[WindowData], metric: str) -> float:
    """Return the mean of a state at interval ends."""
    values = [float(value) for run in runs for value in run.counters.get(metric, ())]
    return sum(values) / len(values) if values else 0.0


def _last(runs: Sequence[WindowData], metric: str) -> float:
    """Return the maximum of a growing state over the runs."""
    return max((float(value) for run in runs for value in run.counters.get(metric, ())), default=0)
