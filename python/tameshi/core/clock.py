"""Clock of runs: the monotonic clock, divided by K in slow motion.

A run in slow motion has a time of its own, slowed time: a second of it takes K seconds of the wall.
The compiled core divides in the same way, so all processes of a run read the same time.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass

_PLACES = 63
_THOUSAND = 1000


@dataclass(frozen=True)
class Clock:
    """Monotonic clock in slowed time; `slow` is K, to three decimals."""

    slow: float = 1.0

    def now_ns(self) -> int:
        """Return the time."""
        return self.slowed_ns(time.monotonic_ns())

    def slowed_ns(self, wall_ns: int) -> int:
        """Return the slowed time of a time of the wall, a reading or a span."""
        thousandths = int(self.slow * _THOUSAND + 0.5)
        return wall_ns * ((_THOUSAND << _PLACES) // thousandths) >> _PLACES

    def wall_seconds(self, slowed_ns: float) -> float:
        """Return the seconds of the wall that a span of slowed time takes."""
        return slowed_ns * self.slow / 1e9

    def wait(self, event: threading.Event, slowed_ns: float) -> bool:
        """Wait for an event at most this long; return whether it is set."""
        return event.wait(self.wall_seconds(max(slowed_ns, 0)))


WALL = Clock()
"""Clock without slow motion."""
