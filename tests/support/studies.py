"""Ready studies run within this process, each once per session."""

import fcntl
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import tameshi
from rich.console import Console

from tameshi.core.data import STUDIES
from tameshi.core.spec_types import World
from tameshi.study.bindings import Bindings
from tameshi.study.file import read_study
from tameshi.workflow.execute import conduct
from tameshi.workflow.prepare import prepare

Levels = Mapping[str, str]


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


def simulate_cells(study: Path, folder: Path, cells: Sequence[Levels]) -> None:
    """Simulate some cells of a study at quick size; fail unless all their runs are complete."""
    prepared = prepare(read_study(study), [World.simulated], Bindings(), quick=True, cells=cells)
    done = conduct(prepared, folder, Console(quiet=True), jobs=1, reproduce=[])
    assert done.complete


def covering(cells: Sequence[Levels], *, pairs: bool = True) -> list[Levels]:
    """Return few of these cells that have each pair of levels, or each level (of two axes too)."""
    strength = max(1, min(2, len(cells[0]) - 1)) if pairs else 1

    def combined(cell: Levels) -> set[tuple[tuple[str, str], ...]]:
        return set(itertools.combinations(cell.items(), strength))

    missing = set().union(*map(combined, cells))
    chosen = []
    while missing:
        best = max(cells, key=lambda cell: len(combined(cell) & missing))
        chosen.append(best)
        missing -= combined(best)
    return chosen


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
