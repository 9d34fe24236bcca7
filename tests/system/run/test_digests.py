"""Digests of every ready study at quick size: a change that moves a simulated result shows here.

`python tests/system/run/test_digests.py` writes tests/digests.json anew.
"""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from studies import run_study

from tameshi.errors import StudyError

ROOT = Path(__file__).resolve().parents[3]
KEPT = ROOT / "tests" / "digests.json"
MEASURED_ONLY = {"document"}
"""Studies of servers that have no model."""
STUDIES = sorted(p for p in (ROOT / "studies").glob("*.toml") if p.stem not in MEASURED_ONLY)


def digests(study: Path, folder: Path) -> dict[str, str]:
    """Return the digest of each run of a study, by its cell and repetition."""
    runs = run_study(study, folder, quick=True).runs
    found = {}
    for run in runs:
        cell = " ".join(f"{axis}={level}" for axis, level in run.spec.cell.items())
        found[f"{cell} #{run.spec.repetition + 1}".strip()] = run.outcome["digest"]
    assert len(found) == len(runs)
    return dict(sorted(found.items()))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("study", STUDIES, ids=lambda path: path.stem)
def test_quick_study_keeps_its_digests(study: Path, tmp_path: Path) -> None:
    kept = json.loads(KEPT.read_text())[study.stem]
    found = digests(study, tmp_path / "out")
    moved = sorted(label for label in kept.keys() | found if kept.get(label) != found.get(label))
    assert moved == [], "write tests/digests.json anew if these results were meant to move"


def test_every_study_has_digests_and_no_other() -> None:
    assert sorted(json.loads(KEPT.read_text())) == [path.stem for path in STUDIES]


@pytest.mark.parametrize("name", MEASURED_ONLY)
def test_study_without_digests_cannot_be_simulated(name: str, tmp_path: Path) -> None:
    with pytest.raises(StudyError, match="simulated world can't run this"):
        run_study(ROOT / "studies" / f"{name}.toml", tmp_path / "out", quick=True)


def main() -> None:
    """Write the digests of all studies."""
    with TemporaryDirectory() as folder:
        found = {path.stem: digests(path, Path(folder) / path.stem) for path in STUDIES}
    KEPT.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
