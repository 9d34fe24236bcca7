"""Outages of storages: a storage that stops serving within a window, or serves nothing in it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats.estimates import OPERATIONS, WindowData

FEWEST_FAILED = 2
"""Least failed commands for a storage without completions to count as stopped."""
ONE_DRIVE = {"device", "partition", "over_provisioned"}
"""Layers of a simulated storage that hold a single drive."""


def dead_for(streams: Sequence[WindowData], gone_ns: int | None = None) -> int | None:
    """Return nanoseconds at a window's end in which its storage completed nothing for any stream.

    None if it served until the end, if it never served, or if too few commands failed after it
    stopped: an idle storage is no outage. `gone_ns`: time from the loss of the last serving member
    to the window's end; the interval around that moment may include earlier completions.
    """
    serving = [stream for stream in streams if any(_completed(stream))]
    if not serving:
        return None
    silent_ns = min(_silent_ns(stream, gone_ns) for stream in serving)
    failed = sum(_failed_within(stream, silent_ns) for stream in streams)
    return silent_ns if silent_ns > 0 and failed >= FEWEST_FAILED else None


def leaves_nothing(failure: Mapping[str, Any], model: Mapping[str, Any]) -> bool:
    """Return whether a `fail` event takes everything that can serve from a simulated storage.

    False for one member of several, and for a storage with a cache, which still serves its content.
    """
    layers = set(_layers(model))
    is_whole = failure["member"] is None and "channel" not in failure
    return "cache" not in layers and (is_whole or layers <= ONE_DRIVE)


def _layers(model: Mapping[str, Any]) -> Iterator[str]:
    ((kind, node),) = model.items()
    yield kind
    if kind != "device":
        yield from _layers(node["of"])


def is_without_figures(streams: Sequence[WindowData]) -> bool:
    """Return whether no stream of a window completed or failed anything."""
    failed = sum(sum(stream.counters.get("load.failed", ())) for stream in streams)
    return bool(streams) and not failed and not any(sum(_completed(each)) for each in streams)


def _completed(stream: WindowData) -> list[float]:
    """Return completed operations per interval."""
    counters = [stream.counters.get(f"{operation}.count") for operation in OPERATIONS]
    recorded = [counter for counter in counters if counter is not None]
    return [sum(each) for each in zip(*recorded, strict=True)]


def _silent_ns(stream: WindowData, gone_ns: int | None) -> int:
    """Return the length of the intervals since the last completion, or since `gone_ns` within
    it."""
    completed = _completed(stream)
    last = max(place for place, count in enumerate(completed) if count)
    silent_ns = sum(stream.lengths_ns[last + 1 :])
    served_ns = silent_ns + stream.lengths_ns[last]
    return gone_ns if gone_ns and silent_ns < gone_ns <= served_ns else silent_ns


def _failed_within(stream: WindowData, last_ns: int) -> float:
    """Return commands that failed in the last `last_ns` nanoseconds."""
    failed, left_ns = 0.0, last_ns
    intervals = zip(stream.lengths_ns, stream.counters.get("load.failed", ()), strict=False)
    for length_ns, count in reversed(list(intervals)):
        if left_ns <= 0:
            break
        failed, left_ns = failed + count, left_ns - length_ns
    return failed
