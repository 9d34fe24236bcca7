"""Studies run within this process, by the library's own `conduct`."""

from pathlib import Path

from rich.console import Console

from tameshi.bindings import Bindings
from tameshi.conduct import Conducted, conduct
from tameshi.prepared import prepare
from tameshi.spec_types import World
from tameshi.study import read_study


def run_study(path: Path, folder: Path, *, quick: bool = False) -> Conducted:
    """Simulate a study file and return its runs and results; fails unless all runs are complete."""
    prepared = prepare(read_study(path), [World.simulated], Bindings(), quick=quick)
    done = conduct(prepared, folder, Console(quiet=True), jobs=1, reproduce=())
    assert done.complete, [run.outcome["reason"] for run in done.runs]
    return done
