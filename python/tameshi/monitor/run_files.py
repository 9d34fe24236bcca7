"""Files of a running run, read as they grow: sums of counters, last states, histograms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from pathlib import Path

from tameshi.core import compiled
from tameshi.record.events import whole_lines

NANOSECONDS = 1e9
BOUNDS_NS = (*(d * 10**power for power in range(3, 10) for d in (1, 2, 5)), 10**10)
"""Upper bounds of latency buckets: 1 µs to 10 s."""

Key = tuple[str, str]
"""Metric and subject; or stream and operation."""


class Buckets:
    """Latency histogram in a few buckets."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_NS) + 1)
        self.sum_s = 0.0

    def add(self, latency_ns: int, count: int) -> None:
        """Count operations of a latency."""
        self.counts[bisect_left(BOUNDS_NS, latency_ns)] += count
        self.sum_s += latency_ns * count / NANOSECONDS

    def cumulative(self) -> list[tuple[str, float]]:
        """Return the buckets as OpenMetrics wants them: upper bound in s, operations up to it."""
        listed, total = [], 0
        for bound_ns, count in zip(BOUNDS_NS, self.counts, strict=False):
            total += count
            listed.append((f"{bound_ns / NANOSECONDS:g}", float(total)))
        return [*listed, ("+Inf", float(total + self.counts[-1]))]


class RunFiles:
    """Content of a run's files so far."""

    def __init__(self, folder: Path, kinds: Mapping[str, str]) -> None:
        self.folder = folder
        self._kinds = kinds
        self._read: dict[Path, int] = {}
        self.counters: dict[Key, float] = {}
        self.states: dict[Key, float] = {}
        self.latencies: dict[Key, Buckets] = {}

    def catch_up(self) -> None:
        """Read the lines that were added since the last call."""
        for path in sorted(self.folder.glob("series/*.csv")):
            for line in self._added(path).splitlines():
                self._take_row(line)
        for path in sorted(self.folder.glob("histograms/*.hlog")):
            if added := self._added(path):
                self._take_histograms(added)

    def _added(self, path: Path) -> str:
        """Return the whole lines after those read before; nothing of a file that is gone."""
        begin = self._read.get(path, 0)
        try:
            with path.open("rb") as file:
                file.seek(begin)
                text = file.read().decode(errors="replace")
        except FileNotFoundError:
            return ""
        added = whole_lines(text)
        self._read[path] = begin + len(added.encode())
        return added

    def _take_row(self, line: str) -> None:
        # The subject may hold commas, the other columns none.
        parts = line.split(",", 2)
        subject, metric, value = parts[2].rsplit(",", 2) if len(parts) > 2 else ("", "", "")
        kind = self._kinds.get(metric)
        if kind is None:
            return
        if kind == "counter":
            key = (metric, subject)
            self.counters[key] = self.counters.get(key, 0.0) + float(value)
        else:
            self.states[metric, subject] = float(value)

    def _take_histograms(self, text: str) -> None:
        for interval in compiled.histogram_intervals(text):
            _, _, stream, operation = interval["tag"].split("/")
            buckets = self.latencies.setdefault((stream, operation), Buckets())
            for latency_ns, count in interval["counts"]:
                buckets.add(latency_ns, count)
