"""Address of a pair's service: one socket, which leads to the side that serves."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tameshi import guard
from tameshi.pairs.side import Side
from tameshi.servers.product import Address

_NEXT = "next"


class Service:
    """Link to the Unix socket of the primary, in a folder of Tameshi's.

    Clients run outside of the hosts and always connect by the link, as applications connect by an
    address that moves. Existing connections stay with the server that accepted them.
    """

    def __init__(self, folder: Path) -> None:
        guard.claim_folder(folder)
        self._folder = folder
        self._address: Address | None = None

    @property
    def address(self) -> Address:
        """Return the address for clients, once it leads to a side."""
        assert self._address
        return self._address

    def lead_to(self, side: Side) -> None:
        """Lead new connections to a side, in one step."""
        of_server = side.server.address
        assert of_server.socket
        link, new = self._folder / of_server.socket.name, self._folder / _NEXT
        with suppress(FileNotFoundError):
            new.unlink()
        new.symlink_to(of_server.socket)
        new.replace(link)
        self._address = replace(of_server, socket=link)
