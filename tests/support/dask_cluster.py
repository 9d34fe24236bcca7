"""Dask cluster of processes, as an operator starts it: a scheduler, and workers to kill."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

HOST = "127.0.0.1"
START_S = 60.0


def free_port() -> int:
    """Return a port of the loopback address that nothing uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class DaskCluster:
    """Scheduler with a lasting address, and workers of one thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.port = free_port()
        self.address = f"tcp://{HOST}:{self.port}"
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        """Start the scheduler, again if it was killed, and wait until it answers."""
        words = ["dask_scheduler", f"--port={self.port}", f"--dashboard-address={HOST}:0"]
        self.scheduler = self._start(words)
        until_s = time.monotonic() + START_S
        while time.monotonic() < until_s:
            with suppress(OSError), socket.create_connection((HOST, self.port), 1):
                return
            assert self.scheduler.poll() is None, self.log()
            time.sleep(0.05)
        raise AssertionError(self.log())

    def start_worker(self, preload: Path | None = None) -> subprocess.Popen[bytes]:
        """Start a worker; `preload` is a script that it executes first."""
        words = ["dask_worker", self.address, "--nthreads=1", "--no-nanny", "--no-dashboard"]
        words += [f"--local-directory={self.folder}"]
        words += [f"--preload={preload}"] if preload else []
        self.workers.append(self._start(words))
        return self.workers[-1]

    def wait_for_workers(self, number: int) -> None:
        """Wait until this many workers are connected."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=START_S)

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "dask.log").open("ab") as log:
            return subprocess.Popen(
                [sys.executable, "-m", f"distributed.cli.{words[0]}", f"--host={HOST}", *words[1:]],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def kill_scheduler(self) -> None:
        """Kill the scheduler with SIGKILL."""
        assert self.scheduler
        kill(self.scheduler)

    def close(self) -> None:
        """Kill all that still runs."""
        for process in (self.scheduler, *self.workers):
            if process and process.poll() is None:
                kill(process)

    def log(self) -> str:
        """Return the log of all processes."""
        return (self.folder / "dask.log").read_text(errors="replace")


def kill(process: subprocess.Popen[bytes]) -> None:
    """Kill a process with SIGKILL and wait for its end."""
    os.kill(process.pid, signal.SIGKILL)
    process.wait()


@contextmanager
def dask_cluster(folder: Path, workers: int) -> Iterator[DaskCluster]:
    """Run a cluster; its processes end with the block."""
    folder.mkdir(exist_ok=True)
    cluster = DaskCluster(folder)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        if workers:
            cluster.wait_for_workers(workers)
        yield cluster
    finally:
        cluster.close()
