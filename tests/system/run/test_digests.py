"""Digests of every ready study at quick size: they reveal any change of a simulated result.

Of the longest studies, some cells run that together have each pair of levels (of two axes: each
level); `TAMESHI_GRID=full` runs all. `python tests/system/run/test_digests.py` rewrites
tests/digests.json.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from command import tameshi
from studies import Levels, Made, covering, simulate, simulate_cells

from tameshi.core import data
from tameshi.record import store
from tameshi.study.file import plan, read_study

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "tests" / "digests.json"
MEASURED_ONLY = {"document"}
"""Studies of servers without a model."""
STUDIES = sorted(p for p in data.STUDIES.glob("*.toml") if p.stem not in MEASURED_ONLY)
IN_PART = {"array-rebuild", "drive-aging", "drive-spec-table", "flash-card-review", "mirrored-ha"}
"""Studies of more than 20 s, of which some cells run."""


def label(cell: Levels, repetition: int) -> str:
    """Return the name of a run by its cell and repetition."""
    levels = " ".join(f"{axis}={level}" for axis, level in cell.items())
    return f"{levels} #{repetition + 1}".strip()


def digests(folder: Path) -> dict[str, str]:
    """Return the digest of each run in a study's folder, by its cell and repetition."""
    found = {}
    for place in folder.glob("runs/*"):
        run = store.read_run(place)
        assert run
        found[label(run.spec.cell, run.spec.repetition)] = run.outcome["digest"]
    assert len(found) == len(list(folder.glob("runs/*")))
    return dict(sorted(found.items()))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_quick_study_keeps_its_digests(
    study: Path, quick_study: Callable[[str], Made], tmp_path: Path
) -> None:
    kept = json.loads(KEPT.read_text())[study.stem]
    planned = plan(read_study(study), "simulated", quick=True)
    if study.stem not in IN_PART or os.environ.get("TAMESHI_GRID") == "full":
        found = digests(quick_study(study.stem).folder)
    else:
        assert sorted(kept) == sorted(label(run.cell, run.repetition) for run in planned.runs)
        cells = covering([run.cell for run in planned.runs], pairs=False)
        simulate_cells(study, tmp_path / "out", cells)
        found = digests(tmp_path / "out")
        assert len(found) >= len(cells)
        kept = {name: kept[name] for name in found}
    moved = sorted(label for label in kept.keys() | found if kept.get(label) != found.get(label))
    assert moved == [], "write tests/digests.json anew if these results were meant to move"


def test_every_study_has_digests_and_no_other() -> None:
    assert set(json.loads(KEPT.read_text())) == {path.stem for path in STUDIES}


@pytest.mark.parametrize("name", MEASURED_ONLY)
def test_study_without_digests_cannot_be_simulated(name: str, tmp_path: Path) -> None:
    done = tameshi("run", data.STUDIES / f"{name}.toml", "--quick", "--out", tmp_path / "out")
    assert done.returncode == 2
    assert "the simulated world can't run this" in done.stderr


def main() -> None:
    """Write the digests of all studies."""
    found = {}
    with TemporaryDirectory() as name:
        for study in STUDIES:
            simulate(study, Path(name) / study.stem, "--quick")
            found[study.stem] = digests(Path(name) / study.stem)
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
