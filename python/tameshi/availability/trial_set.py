"""Set of failover trials: each way with each event and each drive, some times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from tameshi.pairs import EVENTS, WAYS
from tameshi.pairs.trial import can_have, check_event

DRIVE = "sata-ssd-480gb"
LINK = "tcp-10gbe"
LISTED = ("name", "ways", "events", "drives", "repetitions")
"""Settings that may change when a set is resumed: they say which trials, not what a trial is."""


@dataclass(frozen=True)
class Trial:
    """One trial of a set; `repetition` counts from 1."""

    way: str
    event: str
    drive: str
    repetition: int

    @property
    def file(self) -> str:
        """Return the name of its file."""
        drive = re.sub(r"[^a-z0-9-]+", "-", self.drive.lower())
        return f"{self.way}.{self.event}.{drive}.{self.repetition}.json"


@dataclass(frozen=True)
class TrialSet:
    """Settings of a set; times in s.

    `name` is that of a ready set, or empty. `warehouses`: TPC-C of this size instead of key updates
    of rows in some tables. `before`: load before the event; `notice`: time from the event to the
    failover; `after`: load after the return of the failed side. `slow_factor`: of the event
    `slow-link`. `processors`, `quota`: shares of hosts, such as `left=50%`, separated by spaces.
    """

    name: str = ""
    ways: tuple[str, ...] = ()
    events: tuple[str, ...] = ("kill",)
    drives: tuple[str, ...] = (DRIVE,)
    repetitions: int = 1
    link: str = LINK
    clients: int = 4
    tables: int = 4
    rows: int = 5000
    row_size: str = "200 B"
    warehouses: int = 0
    buffer_pool: str = "64MiB"
    before: float = 4.0
    notice: float = 0.0
    after: float = 1.5
    slow_factor: float = 100.0
    processors: str = ""
    quota: str = ""
    seed: int = 1

    def trials(self) -> list[Trial]:
        """Return the trials: all once, then all a second time.

        With all ways or all events, those are left out that cannot be; else `BadInput` is raised.
        """
        every = set(self.ways) == set(WAYS) or set(self.events) == set(EVENTS)
        found = []
        for way in self.ways:
            for event in self.events:
                if every and not can_have(WAYS[way], event):
                    continue
                check_event(WAYS[way], event)
                found += [(way, event, drive) for drive in self.drives]
        numbers = range(1, self.repetitions + 1)
        return [Trial(*each, number) for number in numbers for each in found]

    def settings(self) -> dict[str, Any]:
        """Return what a trial depends on, except its own way, event, drive and repetition."""
        return {key: value for key, value in asdict(self).items() if key not in LISTED}

    def seed_of(self, trial: Trial) -> int:
        """Return the seed of a trial's drives and clients."""
        return self.seed + trial.repetition - 1


READY: Mapping[str, TrialSet] = {
    each.name: each
    for each in (
        TrialSet(
            name="failover-ways",
            ways=tuple(WAYS),
            events=("kill", "power-cut", "link-cut"),
            repetitions=3,
        ),
    )
}
"""Sets by their names: `tameshi failover NAME`."""
