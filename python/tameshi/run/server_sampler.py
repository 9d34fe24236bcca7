"""Counters of the database server in each interval, on the schedule and clock of the sampler.

They go to `series/server.csv`. The cost of sampling is recorded: its statements are subtracted from
the server's counts, its time and processor time are rows of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from tameshi.core.clock import WALL, Clock
from tameshi.run.sampler import Counters, Reading, Row, Series, own_time
from tameshi.servers.product import Client, ClientError, Counted, Product

SERVER = "server"
OWN = "server-sampler"


class ServerSampler(Series):
    """Sampler of a server through connections from `connect`; it reconnects after a loss.

    While the server is unreachable there are no rows, and `problems` says so.
    """

    def __init__(
        self,
        folder: Path,
        t0_ns: int,
        interval_ns: int,
        product: Product,
        connect: Callable[[], Client],
        database: str = "tameshi",
        clock: Clock = WALL,
    ) -> None:
        super().__init__(folder, SERVER, t0_ns, interval_ns, [SERVER, OWN], clock)
        self._product = product
        self._connect = connect
        self._database = database
        self._client: Client | None = None
        self._looks = 0
        self._look_ns = 0
        self._gauges: dict[str, float] = {}

    def stop(self) -> None:
        """Stop as any series, and close the connection."""
        super().stop()
        self._let_go()

    def _is_wall(self, row: Row) -> bool:
        return row.subject == OWN  # The server's own clock is slowed.

    def _read(self) -> Reading:
        self._gauges = {}
        begin_ns = self._clock.now_ns()
        counted = self._look()
        self._look_ns = self._clock.now_ns() - begin_ns
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
