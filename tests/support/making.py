"""Small private database servers for tests, in places that their users can enter."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zlib import crc32

from fake import PROGRAM, FakeProduct

from tameshi.core.compiled import Oltp, database_target
from tameshi.core.spec_types import Engine
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import PrivateServer, prepare_directory
from tameshi.servers.product import Product

SUPPORT = Path(__file__).parent
SIZE = 8 << 20
SMALL = {
    "mariadb": {"redo_log": "8 MiB", "buffer_pool": "16 MiB"},
    "postgresql": {"redo_log": "64 MiB", "buffer_pool": "16 MiB"},
    "sqlite": {"options": {"journal_mode": "WAL"}},
}
SERVED = ["fake", "mariadb", "postgresql"]
ALL = [*SERVED, "sqlite"]


def product_of(name: str) -> Product:
    return FakeProduct() if name == "fake" else PRODUCTS[name]


def engine_of(name: str, **settings: object) -> Engine:
    return Engine.model_validate(SMALL.get(name, {}) | settings)


@contextmanager
def place_for_all(inside: Path | None = None) -> Iterator[Path]:
    """Make a folder that every user may enter; remove it at the end."""
    folder = Path(tempfile.mkdtemp(prefix="tameshi-test-", dir=inside))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@dataclass
class Maker:
    """Factory of instances with a database, removed when the test ends."""

    made: Path
    ground: Path
    stack: ExitStack
    templates: dict[str, Path] = field(default_factory=dict)

    def server(
        self,
        name: str,
        path: Path | None = None,
        program: dict[str, Any] | None = None,
        sizes: dict[str, int] | None = None,
        slow: float = 1,
        within: Callable[[Sequence[str]], list[str]] = list,
        **settings: object,
    ) -> PrivateServer:
        """Return a stopped server with a database that holds a program's data set."""
        server = self.bare(name, path, slow=slow, within=within, **settings)
        template = self.loaded(name, program, sizes) if program else self._template(name)
        subprocess.run(
            ["cp", "-a", "--reflink=auto", f"{template}/.", str(server.home.data)], check=True
        )
        return server

    def bare(
        self,
        name: str,
        path: Path | None = None,
        slow: float = 1,
        within: Callable[[Sequence[str]], list[str]] = list,
        **settings: object,
    ) -> PrivateServer:
        """Return a server on an empty data directory."""
        product = product_of(name)
        directory = self.stack.enter_context(
            prepare_directory(path or self.ground / name, product, SIZE)
        )
        program = PROGRAM if name == "fake" else None
        log = self.ground / "run" / "server.log"
        server = PrivateServer(
            *(product, engine_of(name, **settings), directory, log),
            program=program,
            slow=slow,
            within=within,
        )
        self.stack.callback(server.kill)
        return server

    def _template(self, name: str) -> Path:
        if name not in self.templates:
            server = self.bare(name, self.made / f"template-{name}")
            server.initialise()
            self.templates[name] = server.home.data
        return self.templates[name]

    def loaded(self, name: str, program: dict[str, Any], sizes: dict[str, int] | None) -> Path:
        """Return the same with a program's data set and an empty ledger, loaded once per
        session."""
        (word,) = program
        key = f"{name}-{word}-{crc32(json.dumps([program, sizes]).encode()):08x}"
        if key not in self.templates:
            # The file stores SQLite's journal mode.
            server = self.server(name, self.made / f"template-{key}")
            server.start()
            spec = {
                "target": database_target(server.address.as_json()),
                "program": program,
                "data_seed": 1,
                "seed": 1,
                "interval": "1 s",
                "ledger": {"journal": "/none"},
                "sizes": sizes,
            }
            Oltp(spec).load()
            server.stop()
            self.templates[key] = server.home.data
        return self.templates[key]
