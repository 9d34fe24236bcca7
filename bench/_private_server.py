"""A private database server of a benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.spec_types import Engine
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import PrivateServer, prepare_directory


@contextmanager
def served(
    place: Path, product: str, settings: Mapping[str, Any], *, room_bytes: int = 1 << 30
) -> Iterator[PrivateServer]:
    """Run a server with an empty database, removed afterwards; its messages go to `place`/log.

    The server's user must be able to enter `place`.
    """
    logs = place / "log"
    if not logs.exists():
        guard.claim_folder(logs)
    with prepare_directory(place / product, PRODUCTS[product], room_bytes) as directory:
        engine = Engine.model_validate(settings)
        server = PrivateServer(PRODUCTS[product], engine, directory, logs / f"{product}.log")
        try:
            server.initialise()
            server.start()
            yield server
        finally:
            server.kill()
            directory.discard()
