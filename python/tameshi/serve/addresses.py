"""Addresses of NBD: a Unix socket, or TCP on this machine unless another address is named."""

from __future__ import annotations

import ipaddress
import os
import socket
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import BadInput, GuardRefusal

WHERE = "--nbd"
ACCEPTED = ["unix:/PATH", "127.0.0.1:PORT", "[::1]:PORT", "IP:PORT of one interface, named exactly"]
LONGEST_PATH = 107
"""Bytes of the path of a Unix socket."""


@dataclass(frozen=True)
class NbdAddress:
    """Checked address: `text` as the core reads it, `uri` for clients; `path` of a Unix socket."""

    text: str
    uri: str
    path: Path | None = None
    is_local: bool = True


def parse_address(text: str) -> NbdAddress:
    """Return the address of `--nbd`; raise `BadInput` for none, `GuardRefusal` for one in use."""
    if text.startswith("unix:"):
        path = Path(os.path.abspath(text.removeprefix("unix:")))
        _check_socket(path, text)
        return NbdAddress(f"unix:{path}", f"nbd+unix:///?socket={path}", path)
    host, _, port = text.rpartition(":")
    number = int(port) if port.isdecimal() else 0
    if not 0 < number < 1 << 16:
        raise _no_address(text, "this is no address for NBD")
    if host == "localhost":
        host = "127.0.0.1"
    try:
        ip = ipaddress.ip_address(host.removeprefix("[").removesuffix("]"))
    except ValueError:
        raise _no_address(text, "this is no address for NBD: name a host by its number") from None
    if ip.is_unspecified:
        raise _no_address(
            text, "all interfaces at once are refused: clients of NBD give no password"
        )
    host = f"[{ip}]" if ip.version == 6 else str(ip)
    _check_port(str(ip), number, text)
    return NbdAddress(f"{host}:{number}", f"nbd://{host}:{number}", is_local=ip.is_loopback)


def _check_socket(path: Path, text: str) -> None:
    if len(os.fsencode(path)) > LONGEST_PATH:
        raise _no_address(text, f"the path of a socket has at most {LONGEST_PATH} bytes")
    if not path.parent.is_dir():
        raise _no_address(text, f"there is no directory {path.parent}")
    if os.path.lexists(path):
        raise GuardRefusal(
            "there is a file of this name, which Tameshi does not overwrite",
            where=WHERE,
            found=str(path),
            accepted=["a path that does not exist yet"],
        )


def _check_port(host: str, port: int, text: str) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen(1)
        except OSError as error:
            raise _no_address(text, f"nothing can listen here: {error.strerror}") from None


def _no_address(found: str, message: str) -> BadInput:
    return BadInput(message, where=WHERE, found=found, accepted=ACCEPTED)
