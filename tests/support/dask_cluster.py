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
ROLES = ("SCHEDULER", "WORKER", "CLIENT")


def free_port() -> int:
    """Return a port of the loopback address that nothing uses."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


class DaskCluster:
    """Scheduler with a lasting address, and workers of one thread."""

    def __init__(self, folder: Path, certificate: Path | None = None) -> None:
        """`certificate`: folder of `cert.pem` and `key.pem`, for TLS."""
        self.folder = folder
        self.port = free_port()
        self.address = f"{'tls' if certificate else 'tcp'}://{HOST}:{self.port}"
        self.environment = {**os.environ, "DASK_TEMPORARY_DIRECTORY": str(folder)}
        self.environment |= tls_settings(certificate) if certificate else {}
        self.shared = folder / "shared"
        """Directory that workers name as shared."""
        self.shared.mkdir()
        self.environment["TAMESHI_SHARED"] = str(self.shared)
        self.scheduler: subprocess.Popen[bytes] | None = None
        self.workers: list[subprocess.Popen[bytes]] = []

    def start_scheduler(self) -> None:
        """Start the scheduler, again if it was killed, and wait until it answers."""
        words = ["dask_scheduler", f"--port={self.port}", f"--dashboard-address={HOST}:0"]
        words += [f"--protocol={self.address.partition(':')[0]}"]
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

    def start_host(self, host: str, *allowed: Path) -> subprocess.Popen[bytes]:
        """Start the worker of a host that measures, with the paths that it may use."""
        words = ["worker", self.address, "--host", host]
        words += [word for path in allowed for word in ("--allow", str(path))]
        self.workers.append(self._started([sys.executable, "-m", "tameshi", *words]))
        return self.workers[-1]

    def wait_for_workers(self, number: int) -> None:
        """Wait until this many workers are connected."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=START_S)

    def _start(self, words: list[str]) -> subprocess.Popen[bytes]:
        program = ["-m", f"distributed.cli.{words[0]}", f"--host={HOST}"]
        return self._started([sys.executable, *program, *words[1:]])

    def _started(self, words: list[str]) -> subprocess.Popen[bytes]:
        with (self.folder / "dask.log").open("ab") as log:
            return subprocess.Popen(
                words,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                env=self.environment,
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


def tls_settings(certificate: Path) -> dict[str, str]:
    """Return the environment that sets up Dask's TLS with one certificate for all."""
    places = {f"{who}__{what.upper()}": f"{what}.pem" for who in ROLES for what in ("cert", "key")}
    found = {"CA_FILE": "cert.pem", **places}
    return {f"DASK_DISTRIBUTED__COMM__TLS__{k}": str(certificate / v) for k, v in found.items()}


@contextmanager
def dask_cluster(
    folder: Path, workers: int, certificate: Path | None = None
) -> Iterator[DaskCluster]:
    """Run a cluster; its processes end with the block."""
    folder.mkdir(exist_ok=True)
    cluster = DaskCluster(folder, certificate)
    try:
        cluster.start_scheduler()
        for _ in range(workers):
            cluster.start_worker()
        if workers:
            cluster.wait_for_workers(workers)
        yield cluster
    finally:
        cluster.close()
