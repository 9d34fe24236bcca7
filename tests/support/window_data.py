"""Recorded windows with known counters, for tests of estimates."""

import math

from tameshi.analysis.stats.estimates import WindowData


def window(repetition: int, *, reads: float = 100, writes: float = 0, level: float = 1.0):
    """Return 24 intervals of 1 s with `reads` and `writes` each, latencies around `level` ms."""
    waves = [1 + 0.05 * math.sin(1.7 * place + repetition) for place in range(24)]
    counters = {
        "read.count": [reads * wave for wave in waves],
        "read.bytes": [4096 * reads * wave for wave in waves],
        "read.latency_sum": [reads * level * 1e6] * 24,
        "write.count": [writes] * 24,
        "write.bytes": [4096 * writes] * 24,
        "write.latency_sum": [writes * 1e6] * 24,
    }
    quantiles = [[0.5, level * 1e6], [0.99, level * 3e6], [0.999, level * 5e6]]
    latency = {"max": level * 9e6, "standard_deviation": level * 1e6, "quantiles": quantiles}
    latencies = {"read": latency} | ({"write": latency} if writes else {})
    return WindowData(24 * 10**9, [10**9] * 24, counters, latencies, repetition)
