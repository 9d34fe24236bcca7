"""Folder for private servers, shared by the system tests of runs."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest


@pytest.fixture
def place() -> Iterator[Path]:
    """Make a folder that the servers' users may enter."""
    with TemporaryDirectory(prefix="tameshi-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
