"""Deliberate crashes: of the server alone, and of the machine under it.

A kill proves nothing about storage, since the kernel keeps the server's writes. A power cut drops
data that the file system has not written: see `guard.Volume`.
"""

from __future__ import annotations

from collections.abc import Callable

from tameshi.guard import Volume
from tameshi.servers.private import PrivateServer


def cut_power(volume: Volume, server: PrivateServer, end_clients: Callable[[], None]) -> None:
    """Cut the power under a server with data on `volume`; return with the volume mounted again.

    Acknowledgements after this call do not count: a sync in progress may return as if it had
    worked. The server is then down; `start` recovers it. `end_clients` stops the load: after the
    cut, and before the file system returns, which an embedded database's clients hold open.
    """
    volume.cut()
    server.kill()
    end_clients()
    with server.directory.let_go():
        volume.unmount()
        volume.mount()
