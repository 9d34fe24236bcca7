"""MariaDB on a served drive: its throughput, the drive's lateness under it, and a power cut.

Used by `bench.emulated`. The server keeps both processors busy: its pool is a twelfth of its data,
and sysbench's `oltp_read_write` runs with 8 threads. The data are loaded once, on a disk of this
machine, and copied to each served drive.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tameshi.serve import ask_session

DATA = "BENCH_DATA"
"""Variable of the environment: directory with the loaded data."""
POOL = "48M"
TABLES, ROWS = 4, 600_000
"""550 MiB of data."""
THREADS = 8
WARM_UP_SECONDS = 5
START_SECONDS = 60
OPTIONS = (
    "--no-defaults",
    "--user=root",
    "--skip-networking",
    "--skip-grant-tables",
    "--innodb-flush-method=O_DIRECT",
    "--innodb-log-file-size=256M",
    "--innodb-flush-log-at-trx-commit=1",
)
RATE = re.compile(r"transactions: +\d+ +\(([\d.]+) per sec")


class Server:
    """MariaDB on a data directory; socket and log are elsewhere, so that a cut spares clients."""

    def __init__(self, data: Path, folder: Path, pool: str) -> None:
        self.socket = folder / "socket"
        self._log = (folder / "log").open("ab")
        places = (f"--datadir={data}", f"--socket={self.socket}", f"--pid-file={folder / 'pid'}")
        line = ["mariadbd", *OPTIONS, *places, f"--innodb-buffer-pool-size={pool}"]
        self.process = subprocess.Popen(line, stdout=self._log, stderr=self._log)
        end = time.monotonic() + START_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit(f"mariadbd did not start:\n{(folder / 'log').read_text('utf-8')}")
            time.sleep(0.1)

    def _answers(self) -> bool:
        line = ["mariadb", "--no-defaults", f"--socket={self.socket}", "--execute=select 1"]
        return subprocess.run(line, capture_output=True, check=False).returncode == 0

    def end(self) -> None:
        """Shut down cleanly; a killed server has ended already."""
        self.process.terminate()
        self.process.wait()
        self._log.close()

    def sysbench(self, *words: str) -> list[str]:
        """Return the command line of sysbench on this server."""
        place = (f"--mysql-socket={self.socket}", "--mysql-user=root", "--mysql-db=sbtest")
        size = (f"--tables={TABLES}", f"--table-size={ROWS}", f"--threads={THREADS}")
        return ["sysbench", "oltp_read_write", "--db-driver=mysql", *place, *size, *words]

    def run(self, seconds: int) -> float:
        """Run the load; return its transactions per second."""
        line = self.sysbench(f"--time={seconds}", "run")
        done = subprocess.run(line, capture_output=True, encoding="utf-8", check=True)
        found = RATE.search(done.stdout)
        assert found, done.stdout
        return float(found[1])


@contextmanager
def loaded() -> Iterator[None]:
    """Load the data in a directory that `DATA` names."""
    with tempfile.TemporaryDirectory(prefix="tameshi-bench-") as name:
        folder = Path(name)
        data = folder / "data"
        made = ("--user=root", "--auth-root-authentication-method=normal", f"--datadir={data}")
        install = ["mariadb-install-db", "--no-defaults", *made]
        subprocess.run(install, capture_output=True, check=True)
        server = Server(data, folder, "1G")
        try:
            create = ["mariadb", "--no-defaults", f"--socket={server.socket}"]
            subprocess.run([*create, "--execute=create database sbtest"], check=True)
            subprocess.run(server.sysbench("prepare"), capture_output=True, check=True)
        finally:
            server.end()
        os.environ[DATA] = str(data)
        yield


def database_figures(seconds: int) -> dict[str, float]:
    """Measure a database on the served drive of this process, and a power cut under it."""
    data, drive = Path(os.environ["TAMESHI_MOUNT"], "data"), os.environ["TAMESHI_DRIVE"]
    shutil.copytree(os.environ[DATA], data)
    os.sync()
    with tempfile.TemporaryDirectory(prefix="tameshi-bench-") as folder:
        server = Server(data, Path(folder), POOL)
        server.run(WARM_UP_SECONDS)
        ask_session(["reset"], drive)
        rate = server.run(seconds)
        status = ask_session(["status"], drive)
        kinds = [status["operations"][kind] for kind in ("read", "write")]
        operations = sum(kind["operations"] for kind in kinds)
        load = subprocess.Popen(
            server.sysbench("--time=60", "run"), stdout=subprocess.DEVNULL, stderr=sys.stderr
        )
        time.sleep(2)
        cut = ask_session(["cut"], drive)
        load.terminate()
        load.wait()
        server.end()
    worse = {name: max(kind["late_ns"][name] for kind in kinds) for name in ("p50", "p99", "p999")}
    return {
        "db_rate": rate,
        "db_operations": operations / seconds / 1e3,
        **{f"db_late_{name}": late_ns / 1e3 for name, late_ns in worse.items()},
        "db_mounted": cut["mounted_ns"] / 1e9,
    }
