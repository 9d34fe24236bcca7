"""Crashes on purpose: of the server alone, and of the machine under it.

A kill proves nothing about storage, since the kernel keeps what the server wrote. A power cut
drops what the file system has not written: see `guard.Volume`.
"""

from __future__ import annotations

from collections.abc import Callable

from tameshi.guard import Volume
from tameshi.servers.private import PrivateServer


def cut_power(volume: Volume, server: PrivateServer, end_clients: Callable[[], None]) -> None:
    """Power fails under a server whose data is on `volume`; returns with the volume back.

    What the server acknowledges after this was called counts as never heard: a sync under way may
    return as if it had worked. The server is then down; `start` has it recover. `end_clients` ends
    whoever loads it: after the power has failed, and before the file system comes back, which an
    embedded database's clients hold open.
    """
    volume.cut()
    server.kill()
    end_clients()
    with server.directory.let_go():
        volume.unmount()
        volume.mount()
