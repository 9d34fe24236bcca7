"""Ready studies run within this process, each once per session."""

import fcntl
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import tameshi

from tameshi.core.data import STUDIES


@dataclass(frozen=True)
class Made:
    """Results folder of a study, which no test changes, and its terminal output."""

    folder: Path
    printed: str


def simulate(study: Path, folder: Path, *options: str) -> str:
    """Simulate a study file and return its output; fail unless all its runs are complete."""
    done = tameshi("run", study, "--out", folder, *options)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="session")
def quick_study(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Made]:
    """Simulate a ready study at quick size, once per session."""
    home = tmp_path_factory.getbasetemp()
    shared = (home.parent if "PYTEST_XDIST_WORKER" in os.environ else home) / "quick-studies"
    shared.mkdir(exist_ok=True)

    def made(name: str) -> Made:
        folder, printed = shared / name, shared / f"{name}.txt"
        with (shared / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not printed.exists():
                text = simulate(STUDIES / f"{name}.toml", folder, "--quick")
                printed.write_text(text)
        return Made(folder, printed.read_text())

    return made
