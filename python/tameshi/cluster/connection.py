"""Connection to a Dask cluster: an address, one that is started here, or the caller's client."""

from __future__ import annotations

import json
import logging
import re
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import IO, TYPE_CHECKING, Any

from tameshi.cluster.local import QUIET
from tameshi.core.errors import BadInput, RunFailed
from tameshi.core.spec_types import World

if TYPE_CHECKING:
    from tameshi.cluster.collector import Cluster
    from tameshi.cluster.fleet import Fleet

OPTION = "--cluster"
LOCAL = "local"
ACCEPTED = ("local, which starts one here", "tcp://HOST:PORT or tls://HOST:PORT of a scheduler")
ADDRESS = re.compile(
    r"(?:tcp|tls)://(?P<host>[^:\[\]\s/]+|\[[0-9A-Fa-f:.%]+\]):(?P<port>[0-9]{1,5})"
)
ANSWER_S = 5.0
"""Time in which a scheduler's port must accept a connection."""
RECONNECT_S = 60.0
"""Time in which a scheduler must be back after its connection is lost."""
WORKERS_S = 30.0
"""Time in which the first worker must be there."""
POLL_S = 0.2
END_S = 10.0
LAST_WORDS = 300
LOUD = ("distributed", "tornado")
"""Libraries that log to the terminal."""


def check(asked: Any, worlds: Sequence[World], hosts: Collection[str] = ()) -> None:
    """Raise `BadInput` unless a named cluster can exist, Dask is installed, and runs go to it.

    `hosts`: those that measure.
    """
    if asked is None:
        return
    if World.simulated not in worlds and not hosts:
        raise BadInput(
            "only simulated runs go to a cluster",
            where=OPTION,
            found=", ".join(world.value for world in worlds),
            accepted=["--world simulated, the default"],
        )
    if isinstance(asked, str) and asked != LOCAL and not ADDRESS.fullmatch(asked):
        message = "this names no cluster"
        raise BadInput(message, where=OPTION, found=asked, accepted=ACCEPTED)
    _require_library(OPTION)


def check_address(address: str) -> None:
    """Raise `BadInput` unless this may be a scheduler's address, and Dask is installed."""
    if not ADDRESS.fullmatch(address):
        raise BadInput("this names no scheduler", found=address, accepted=ACCEPTED[1:])
    _require_library("tameshi worker")


def _require_library(where: str) -> None:
    try:
        import distributed  # noqa: F401
    except ModuleNotFoundError:
        raise BadInput(
            "this needs the library distributed, which is not installed",
            where=where,
            hint="Install it with: pip install 'tameshi[cluster]'.",
        ) from None


def fleet_of(cluster: Cluster | None, storage: Mapping[str, Mapping[str, str]]) -> Fleet | None:
    """Return the hosts that measure, by the paths that are bound on each; None without any."""
    if cluster is None or not storage:
        return None
    from tameshi.cluster.fleet import Fleet

    return Fleet(cluster.client, storage)


@contextmanager
def connected(asked: Any, workers: int) -> Iterator[Cluster | None]:
    """Connect to a cluster; raise `BadInput` if it cannot make runs.

    `asked`, which passed `check`: `local`, which starts that many workers here, an address, or a
    client, which stays open; None is no cluster.
    """
    if asked is None:
        yield None
        return
    if not isinstance(asked, str):
        yield _joined(asked)
        return
    if asked == LOCAL:
        with started(workers) as address, _client(address) as client:
            yield _joined(client)
    else:
        with _client(asked) as client:
            yield _joined(client)


def _joined(client: Any) -> Cluster:
    """Return the cluster of a client, once a worker is there that can make runs."""
    from tameshi.cluster.collector import Cluster
    from tameshi.cluster.members import Members

    address = client.scheduler.address
    members, until_s = Members(client), time.monotonic() + WORKERS_S
    refused = members.refresh()
    while members.is_empty and time.monotonic() < until_s:
        time.sleep(POLL_S)
        refused += members.refresh()
    if members.is_empty:
        raise BadInput(
            "no worker is connected to this scheduler",
            where=OPTION,
            found=address,
            hint=f"Start workers where Tameshi is installed: dask worker {address}.",
        )
    if not members.usable:
        message = "no worker of this cluster can make runs"
        raise BadInput(message, where=OPTION, found="; ".join(refused))
    return Cluster(client, members, refused)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    import dask
    from distributed import Client

    found = ADDRESS.fullmatch(address)
    assert found
    with _quiet(), dask.config.set(QUIET):
        try:
            # Dask itself tries for as long as it would to connect again.
            host, port = found["host"].strip("[]"), int(found["port"])
            socket.create_connection((host, port), ANSWER_S).close()
            client = Client(address, timeout=RECONNECT_S, set_as_default=False, name="tameshi")
        except (OSError, OverflowError):
            raise BadInput(
                "no scheduler answers here",
                where=OPTION,
                found=address,
                hint="Start one with: dask scheduler. Or name another, or --cluster local.",
            ) from None
        except (ImportError, TypeError, ValueError) as error:
            hint = "Encryption is set up by Dask's own configuration: distributed.comm.tls."
            message = "Dask cannot connect"
            raise BadInput(
                message, where=OPTION, found=" ".join(str(error).split()), hint=hint
            ) from None
        try:
            yield client
        finally:
            with suppress(OSError, RuntimeError):
                client.close(timeout=END_S)


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Dask's log off the terminal: the collector reports what matters."""
    names = [name for name in logging.root.manager.loggerDict if name.split(".")[0] in LOUD]
    before = {name: logging.getLogger(name).level for name in names}
    for name, level in before.items():
        if level != logging.NOTSET:
            logging.getLogger(name).setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


@contextmanager
def started(workers: int) -> Iterator[str]:
    """Start a cluster on this machine; yield its address."""
    with tempfile.TemporaryFile() as log:
        process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "tameshi.cluster.local", str(workers)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        assert process.stdin and process.stdout
        try:
            line = process.stdout.readline()
            if not line:
                raise RunFailed(
                    "the cluster on this machine did not start",
                    where=OPTION,
                    found=_last_words(log),
                    hint="Without a cluster, --jobs runs as much at the same time.",
                )
            yield str(json.loads(line)["address"])
        finally:
            process.stdin.close()
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            process.stdout.close()


def _last_words(log: IO[bytes]) -> str:
    log.seek(0)
    text = log.read().decode("utf-8", "replace")
    return " ".join(text.split())[-LAST_WORDS:]
