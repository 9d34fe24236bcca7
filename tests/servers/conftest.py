"""Places that a server's own user can reach, and databases made once and copied for each test."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fake import PROGRAM, FakeProduct

from tameshi import guard
from tameshi.servers.catalog import PRODUCTS
from tameshi.servers.private import PrivateServer, prepare_directory
from tameshi.servers.shape import Product
from tameshi.spec_types import Engine

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


@pytest.fixture(scope="session")
def made() -> Iterator[Path]:
    """A folder for this session that every user may reach."""
    folder = Path(tempfile.mkdtemp(prefix="tameshi-test-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture
def ground(made: Path) -> Iterator[Path]:
    """The same for one test, with a run folder in it."""
    folder = Path(tempfile.mkdtemp(dir=made))
    folder.chmod(0o755)
    guard.claim_folder(folder / "run")
    yield folder
    shutil.rmtree(folder)


@dataclass
class Maker:
    """Makes instances with a database in it, and takes them down when the test ends."""

    made: Path
    ground: Path
    stack: ExitStack
    templates: dict[str, Path] = field(default_factory=dict)

    def server(self, name: str, path: Path | None = None, **settings: object) -> PrivateServer:
        """A server with a database, not started."""
        server = self.bare(name, path, **settings)
        template = self._template(name)
        subprocess.run(
            ["cp", "-a", "--reflink=auto", f"{template}/.", str(server.home.data)], check=True
        )
        return server

    def bare(self, name: str, path: Path | None = None, **settings: object) -> PrivateServer:
        """A server on an empty data directory."""
        product = product_of(name)
        directory = self.stack.enter_context(
            prepare_directory(path or self.ground / name, product, SIZE)
        )
        program = PROGRAM if name == "fake" else None
        log = self.ground / "run" / "server.log"
        server = PrivateServer(
            product, engine_of(name, **settings), directory, log, program=program
        )
        self.stack.callback(server.kill)
        return server

    def _template(self, name: str) -> Path:
        if name not in self.templates:
            server = self.bare(name, self.made / f"template-{name}")
            server.initialise()
            self.templates[name] = server.home.data
        return self.templates[name]


@pytest.fixture(scope="session")
def templates() -> dict[str, Path]:
    return {}


@pytest.fixture
def make(made: Path, ground: Path, templates: dict[str, Path]) -> Iterator[Maker]:
    with ExitStack() as stack:
        yield Maker(made, ground, stack, templates)


Make = Callable[..., PrivateServer]
