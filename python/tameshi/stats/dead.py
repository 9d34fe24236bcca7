"""Does a storage stop serving in the midst of a window, or serve nothing in all of it?"""

from __future__ import annotations

from collections.abc import Sequence

from tameshi.stats.estimates import OPERATIONS, WindowData

FEWEST_FAILED = 2
"""Failed commands without which a storage that completes nothing may have had nothing to do."""


def dead_for(streams: Sequence[WindowData]) -> int | None:
    """Nanoseconds at a window's end in which its storage completed nothing for any stream.

    None where it served until the end, where it never served, and where too few commands failed
    from then on: what is asked of nobody is not missed.
    """
    serving = [stream for stream in streams if any(_completed(stream))]
    if not serving:
        return None
    silent_ns = min(_silent_ns(stream) for stream in serving)
    failed = sum(_failed_within(stream, silent_ns) for stream in streams)
    return silent_ns if silent_ns > 0 and failed >= FEWEST_FAILED else None


def is_without_figures(streams: Sequence[WindowData]) -> bool:
    """Whether nothing was completed for any stream of a window, and nothing failed either."""
    failed = sum(sum(stream.counters.get("load.failed", ())) for stream in streams)
    return bool(streams) and not failed and not any(sum(_completed(each)) for each in streams)


def _completed(stream: WindowData) -> list[float]:
    """Operations that each interval completed."""
    counters = [stream.counters.get(f"{operation}.count") for operation in OPERATIONS]
    told = [counter for counter in counters if counter is not None]
    return [sum(each) for each in zip(*told, strict=True)]


def _silent_ns(stream: WindowData) -> int:
    """Length of the intervals since the last that completed anything."""
    completed = _completed(stream)
    last = max(place for place, count in enumerate(completed) if count)
    return sum(stream.lengths_ns[last + 1 :])


def _failed_within(stream: WindowData, last_ns: int) -> float:
    """Commands that failed in the last so many nanoseconds."""
    failed, left_ns = 0.0, last_ns
    told = zip(stream.lengths_ns, stream.counters.get("load.failed", ()), strict=False)
    for length_ns, count in reversed(list(told)):
        if length_ns > left_ns:
            break
        failed, left_ns = failed + count, left_ns - length_ns
    return failed
