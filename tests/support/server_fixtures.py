"""Places that a server's user can enter, and databases made once and copied per test."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from making import Maker, place_for_all

from tameshi import guard


@pytest.fixture(scope="session")
def made() -> Iterator[Path]:
    """Make a folder for this session that every user may enter."""
    with place_for_all() as folder:
        yield folder


@pytest.fixture
def ground(made: Path) -> Iterator[Path]:
    """Make the same for one test, with a run folder in it."""
    with place_for_all(made) as folder:
        guard.claim_folder(folder / "run")
        yield folder


@pytest.fixture(scope="session")
def templates() -> dict[str, Path]:
    return {}


@pytest.fixture
def make(made: Path, ground: Path, templates: dict[str, Path]) -> Iterator[Maker]:
    with ExitStack() as stack:
        yield Maker(made, ground, stack, templates)
