"""Does a storage stop serving in the midst of a window, or serve nothing in all of it?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import OPERATIONS, WindowData

FEWEST_FAILED = 2
"""Failed commands without which a storage that completes nothing may have had nothing to do."""
ONE_DRIVE = {"device", "partition", "over_provisioned"}
"""Layers of a simulated storage that hold a single drive."""


def dead_for(streams: Sequence[WindowData], gone_ns: int | None = None) -> int | None:
    """Nanoseconds at a window's end in which its storage completed nothing for any stream.

    None where it served until the end, where it never served, and where too few commands failed
    from then on: what is asked of nobody is not missed. `gone_ns`: how long before the end it lost
    all that could serve, if it did; the interval around that may have completed something before.
    """
    serving = [stream for stream in streams if any(_completed(stream))]
    if not serving:
        return None
    silent_ns = min(_silent_ns(stream, gone_ns) for stream in serving)
    failed = sum(_failed_within(stream, silent_ns) for stream in streams)
    return silent_ns if silent_ns > 0 and failed >= FEWEST_FAILED else None


def leaves_nothing(failure: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    """Whether a `fail` event takes all that could serve from a simulated storage for ever.

    Not if one member of several died, though it may be too much, nor behind a cache, which still
    serves what it holds.
    """
    layers = set(_layers(model))
    whole = failure["member"] is None and "channel" not in failure
    return "cache" not in layers and (whole or layers <= ONE_DRIVE)


def _layers(model: Mapping[str, Any]) -> Iterator[str]:
    ((kind, node),) = model.items()
    yield kind
    if kind != "device":
        yield from _layers(node["of"])


def is_without_figures(streams: Sequence[WindowData]) -> bool:
    """Whether nothing was completed for any stream of a window, and nothing failed either."""
    failed = sum(sum(stream.counters.get("load.failed", ())) for stream in streams)
    return bool(streams) and not failed and not any(sum(_completed(each)) for each in streams)


def _completed(stream: WindowData) -> list[float]:
    """Operations that each interval completed."""
    counters = [stream.counters.get(f"{operation}.count") for operation in OPERATIONS]
    told = [counter for counter in counters if counter is not None]
    return [sum(each) for each in zip(*told, strict=True)]


def _silent_ns(stream: WindowData, gone_ns: int | None) -> int:
    """Length of the intervals since the last that completed anything, or from `gone_ns` in it."""
    completed = _completed(stream)
    last = max(place for place, count in enumerate(completed) if count)
    silent_ns = sum(stream.lengths_ns[last + 1 :])
    served_ns = silent_ns + stream.lengths_ns[last]
    return gone_ns if gone_ns and silent_ns < gone_ns <= served_ns else silent_ns


def _failed_within(stream: WindowData, last_ns: int) -> float:
    """Commands that failed in the intervals of the last so many nanoseconds."""
    failed, left_ns = 0.0, last_ns
    told = zip(stream.lengths_ns, stream.counters.get("load.failed", ()), strict=False)
    for length_ns, count in reversed(list(told)):
        if left_ns <= 0:
            break
        failed, left_ns = failed + count, left_ns - length_ns
    return failed
