"""Program with a ledger of acknowledged commits on a server that is killed or loses its power."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from making import Maker

from tameshi.core.compiled import Oltp, database_target
from tameshi.core.errors import RunFailed
from tameshi.guard import Volume
from tameshi.servers.crash import cut_power
from tameshi.servers.private import PrivateServer

LOAD = Path(__file__).with_name("crash_load.py")
PATIENCE_SECONDS = 60


@dataclass
class Crashing:
    """Cycles of load, crash, recovery and check; `folder` is not on the crashing volume.

    `pause`: range of the random time in s between the first commits and the crash.
    """

    server: PrivateServer
    program: dict[str, Any]
    folder: Path
    volume: Volume | None = None
    sizes: dict[str, int] | None = None
    pause: tuple[float, float] = (0.05, 1.2)
    cycles: int = 0
    acknowledged: int = 0
    failures: list[str] = field(default_factory=list)

    def spec(self) -> dict[str, Any]:
        return {
            "target": database_target(self.server.address.as_json()),
            "program": self.program,
            "data_seed": 1,
            "seed": self.cycles,
            "interval": "20 ms",
            "phases": [{"name": "run", "ramp": "0 s", "time": "600 s"}],
            "ledger": {"journal": str(self.folder / "journal")},
            "sizes": self.sizes,
        }

    def cycle(self, how: str, chance: random.Random) -> dict[str, Any]:
        """Load for a random time, crash, and restart the server; return the check's findings.

        Raises `RunFailed` if the server does not restart or does not answer.
        """
        self.cycles += 1
        record = self.folder / f"cycle-{self.cycles}"
        for name in ("series", "histograms"):
            (record / name).mkdir(parents=True)
        (self.folder / "journal").mkdir(exist_ok=True)
        before = self._journalled()
        if how == "kill" and self.server.product.embedded:
            self._kill_a_client_process(record, before, chance)
        else:
            self._crash_under_load(record, how, before, chance)
        self.recover()
        found = Oltp(self.spec()).check(fresh=False)
        ledger = found["ledger"]
        assert ledger["acknowledged"] > self.acknowledged, "the load did something before"
        self.acknowledged = ledger["acknowledged"]
        return found

    def recover(self) -> None:
        """Start the server after a crash."""
        self.server.start()

    def _crash_under_load(self, record: Path, how: str, before: int, chance: random.Random) -> None:
        oltp = Oltp(self.spec())
        load = threading.Thread(target=self._execute, args=(oltp, record))
        load.start()
        try:
            self._let_work(before, chance)

            def end() -> None:
                oltp.stop()
                load.join()

            if how == "kill":
                self.server.kill()
            else:
                assert self.volume
                oltp.fail_power()
                cut_power(self.volume, self.server, end)
        finally:
            oltp.stop()
            load.join()

    def _execute(self, oltp: Oltp, record: Path) -> None:
        # The server's death is no failure; a machine too slow to do anything is one.
        with suppress(RunFailed):
            oltp.execute(record, time.monotonic_ns())

    def _kill_a_client_process(self, record: Path, before: int, chance: random.Random) -> None:
        """Kill the client process, in which an embedded database runs."""
        spec = record / "spec.json"
        spec.write_text(json.dumps(self.spec()))
        with subprocess.Popen([sys.executable, str(LOAD), str(spec), str(record)]) as client:
            try:
                self._let_work(before, chance)
            finally:
                client.kill()

    def _let_work(self, before: int, chance: random.Random) -> None:
        """Wait until every client has reported commits, then a random time longer."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while self._journalled() <= before and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(chance.uniform(*self.pause))

    def _journalled(self) -> int:
        """Return the number of acknowledged commits in the clients' journals; the least over
        clients."""
        journals = (self.folder / "journal").glob("client-*.journal")
        return min((path.read_text().count("\na ") for path in journals), default=0)


def crashing(
    make: Maker,
    ground: Path,
    name: str,
    program: dict[str, Any],
    volume: Volume,
    sizes: dict[str, int] | None = None,
    **settings: Any,
) -> Crashing:
    """Run a server on the volume, with a loaded data set that survives any power cut."""
    server = make.server(name, volume.point / "db", program=program, sizes=sizes, **settings)
    server.start()
    volume.sync()
    folder = ground / "load"
    folder.mkdir()
    return Crashing(server, program, folder, volume, sizes)
