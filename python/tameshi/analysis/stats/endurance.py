"""What a load does to flash: amplification of writes, effective spare, and how long the cells last.

Judged per cell over the steady window, from what each storage's flash drives wrote and erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.intervals import digits

SECONDS_PER_YEAR = 365.25 * 86400
COUNTED = ("host", "moved", "padded")
"""What is programmed: for the host in whole mapping units, by garbage collection, and left empty by
flushes; bytes."""


@dataclass(frozen=True)
class Worn:
    """How much of its endurance a drive's flash has behind it, and up to where it can be read."""

    behind: float
    extra: float | None
    """What repeated reads add to the endurance, as a share of it; None where they add nothing."""

    @property
    def is_readable(self) -> bool:
        """Whether the profile says that flash so worn holds what is written."""
        return self.behind <= 1 + (self.extra or 0.0)


def worn(model: Mapping[str, Any]) -> Worn | None:
    """Of the flash drive that a simulated storage is made of; None of another drive."""
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
    """What a storage's flash went through over all windows of all runs together.

    `written_bytes` is what all its drives took, an array's copies, parity and rebuilds with it, and
    `stream_written_bytes` what `streams` wrote to the storage, None where none is told.
    `over_provisioning` is spare as a share of the capacity: nominal as built, effective as garbage
    collection finds it (erased flash holds nothing to reclaim, what is not mapped is spare), mean
    of the intervals. `life_years` is how long the programs that are left last at this rate, on the
    whole drive; `life_years_retried` how long with what repeated reads add, None where the profile
    doesn't say that they add something (`retried`). What drives end of an earlier phase's writes is
    no rate of this one's: where nothing `is_written` and nothing is rebuilt, there are neither
    lives nor amplification; and no amplification where nothing comes from outside of the drives,
    as of a channel that a drive rebuilds by itself. None where no flash is.
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
    """Spare as garbage collection finds it, as a share of what is mapped."""

    def whole(part: str) -> int:
        # Of whole numbers nothing is left where there is no spare.
        values = (run.counters.get(f"flash.{part}_bytes", ()) for run in runs)
        return sum(int(value) for of_run in values for value in of_run)

    mapped = whole("mapped")
    spare = whole("physical") - whole("given_up") - whole("erased") - mapped
    return spare / mapped if mapped else None


def _written_by(streams: Sequence[Sequence[WindowData]]) -> int | None:
    written = [_total(run, "write.bytes") for stream in streams for run in stream]
    return int(sum(written)) if written else None


def _total(run: WindowData, metric: str) -> float:
    return float(sum(run.counters.get(metric, ())))


def _mean(runs: Sequence[WindowData], metric: str) -> float:
    """A state at the ends of intervals, in the mean over them."""
    values = [float(value) for run in runs for value in run.counters.get(metric, ())]
    return sum(values) / len(values) if values else 0.0


def _last(runs: Sequence[WindowData], metric: str) -> float:
    """The most that a growing state came to in any run."""
    return max((float(value) for run in runs for value in run.counters.get(metric, ())), default=0)
