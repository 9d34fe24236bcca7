"""Study files for the tests."""

from collections.abc import Callable
from pathlib import Path

import pytest
from command import SMALL


@pytest.fixture
def study(tmp_path: Path) -> Callable[..., Path]:
    """Write a study file and return its path."""

    def write(text: str = SMALL, name: str = "small.toml") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write
