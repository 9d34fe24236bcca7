"""The server's own counters in each interval, on the schedule and clock of the sampler.

They go to `series/server.csv`. What a look costs is stated: its statements are taken off the
server's counts, its time and the sampler's processor time are rows of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tameshi.run.sampler import Counters, Reading, Row, Series, own_time
from tameshi.servers.shape import Client, ClientError, Counted, Product

SERVER = "server"
OWN = "server-sampler"


class ServerSampler(Series):
    """Samples a server through connections that `connect` makes; one lost is made anew.

    While the server can't be reached there are no rows of it, and `problems` says so.
    """

    def __init__(
        self,
        folder: Path,
        t0_ns: int,
        interval_ns: int,
        product: Product,
        connect: Callable[[], Client],
        database: str = "tameshi",
    ) -> None:
        super().__init__(folder, SERVER, t0_ns, interval_ns, [SERVER, OWN])
        self._product = product
        self._connect = connect
        self._database = database
        self._client: Client | None = None
        self._looks = 0
        self._look_ns = 0
        self._gauges: dict[str, float] = {}

    def stop(self) -> None:
        """As any series; the connection is closed."""
        super().stop()
        self._let_go()

    def _read(self) -> Reading:
        self._gauges = {}
        begin_ns = time.monotonic_ns()
        counted = self._look()
        self._look_ns = time.monotonic_ns() - begin_ns
        reading = {OWN: own_time()}
        if counted is not None:
            self._gauges = dict(counted.gauges)
            values = {
                metric: value - self._looks * counted.own.get(metric, 0)
                for metric, value in counted.counters.items()
            }
            self._looks += 1
            reading[SERVER] = Counters(counted.birth, values)
        return reading

    def _look(self) -> Counted | None:
        try:
            if self._client is None:
                self._client = self._connect()
            return self._product.count(self._client, self._database)
        except ClientError as error:
            self._note(f"the server could not be sampled: {error}")
            self._let_go()
            return None

    def _let_go(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _states(self, gained: Sequence[Row]) -> list[Row]:
        rows = [Row(SERVER, metric, value) for metric, value in self._gauges.items()]
        counts = {row.metric: row.value for row in gained if row.subject == SERVER}
        requests = counts.get("server.page_requests", 0)
        if requests:  # without requests there is no ratio
            hits = 1 - counts["server.page_misses"] / requests
            rows.append(Row(SERVER, "server.hit_ratio", hits))
        return [*rows, Row(OWN, "sampler.look_ns", self._look_ns)]
