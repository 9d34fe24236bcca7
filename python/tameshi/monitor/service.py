"""HTTP service of metrics: address, port, and what it serves."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tameshi.core.data import DASHBOARD
from tameshi.core.errors import BadInput
from tameshi.run.display import Display

if TYPE_CHECKING:
    from tameshi.monitor.exposition import Exposition

OPTION = "--metrics"
LOOPBACK = "127.0.0.1"
MOST_PORT = 65535
ACCEPTED = ("PORT, on the loopback address", "ADDRESS:PORT", "[IPv6]:PORT")
ADDRESS = re.compile(r"(?:(?P<host>[^:\[\]\s]+|\[[0-9A-Fa-f:.]+\]):)?(?P<port>[0-9]+)")


@dataclass
class Service:
    """Metrics that are served until `close`."""

    url: str
    exposition: Exposition
    _server: Any

    def watch(self, shown: Display) -> Display:
        """Return a display that also feeds the metrics."""
        from tameshi.monitor.exposition import WatchedDisplay

        return WatchedDisplay(shown, self.exposition)

    def close(self) -> None:
        """Serve no more."""
        self._server.shutdown()
        self._server.server_close()

    @property
    def lines(self) -> list[str]:
        """Return where the metrics and the dashboard are."""
        return [f"Metrics: {self.url}", f"  Grafana dashboard: {DASHBOARD}"]


Watch = Callable[[Display], Display]


def serve(asked: str) -> Service:
    """Serve metrics at `[ADDRESS:]PORT`; raise `BadInput` if that is impossible.

    Port 0 takes a free port.
    """
    host, port = parsed(asked)
    try:
        from prometheus_client import CollectorRegistry, start_http_server
    except ModuleNotFoundError:
        raise BadInput(
            "this needs the library prometheus-client, which is not installed",
            where=OPTION,
            hint="Install it with: pip install 'tameshi[metrics]'.",
        ) from None
    from tameshi.monitor.exposition import Exposition

    exposition = Exposition()
    registry = CollectorRegistry(auto_describe=False)
    registry.register(exposition)
    try:
        server, _ = start_http_server(port, host, registry)
    except OSError as error:
        message = f"metrics can't be served: {(error.strerror or str(error)).lower()}"
        hint = "Name another port; port 0 takes a free one."
        raise BadInput(message, where=OPTION, found=asked, accepted=ACCEPTED, hint=hint) from None
    shown = f"[{host}]" if ":" in host else host
    return Service(f"http://{shown}:{server.server_port}/metrics", exposition, server)


def parsed(asked: str) -> tuple[str, int]:
    """Return address and port; raise `BadInput` for anything else."""
    found = ADDRESS.fullmatch(asked)
    if not found or int(found["port"]) > MOST_PORT:
        message = "this is no address to serve metrics at"
        raise BadInput(message, where=OPTION, found=asked, accepted=ACCEPTED)
    return (found["host"] or LOOPBACK).strip("[]"), int(found["port"])
