"""Reference studies of drives: repeatable, and equal to the recorded figures."""

import csv
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from command import digests, tameshi
from validation import PAGES, predictions

from tameshi import guard
from tameshi.analysis.results import results
from tameshi.core import compiled
from tameshi.core.data import STUDIES
from tameshi.core.toml_text import inline
from tameshi.record import store
from tameshi.study.file import StudyFile, plan

KEPT: dict[str, dict[str, list[str]]] = {
    "flash-card-review": {
        "drive": ["nytro-blp4-400g"],
        "host": ["windows"],
        "over_provisioning": ["high_performance"],
    },
    "nvme-stripe": {},
    "drive-spec-table": {"storage": ["sas_disk", "fc_array"]},
    "sr-iov": {},
    "drive-aging": {"channels": ["14p1"], "age": ["beyond"]},
    "flash-card-tails": {"drive": ["es3000-800g"]},
    "hot-drive": {},
    "slc-cache": {},
    "commit-cost": {"drive": ["optane", "consumer_nvme"]},
    "queue-priorities": {},
}
"""Studies, and the levels of their axes in the short test."""
REPRODUCE = ("drive-aging", "drive-spec-table", "flash-card-review", "nvme-stripe", "sr-iov")
"""Studies with published figures."""
SHORT = {"ramp": "1 ms", "until": {"time": "4 ms"}}


def smaller(name: str) -> StudyFile:
    """Return a study with fewer levels, shorter phases and a small part of its flash."""
    document = tomllib.loads((STUDIES / f"{name}.toml").read_text(encoding="utf-8"))
    for axis, levels in KEPT[name].items():
        document["axis"][axis] = {level: document["axis"][axis][level] for level in levels}
    document["phase"] = {phase: {**each, **SHORT} for phase, each in document["phase"].items()}
    if name == "nvme-stripe":
        document["axis"]["drives"]["levels"], document["axis"]["jobs"]["levels"] = [2], [4, 64]
        document["phase"]["bandwidth"]["until"] = {"time": "120 ms"}
    for test in document["axis"].get("test", {}).values():
        test["phase"] = {phase: {**each, **SHORT} for phase, each in test["phase"].items()}
    for storage in document["storage"].values():
        if "scale" in storage:
            storage["scale"] = 256
        if "written" in storage:
            storage["written"] = "once"
    for each in document["axis"].get("drive", {}).values():
        if "storage" in each:
            each["storage"]["card"]["scale"] = 256
        each.pop("phase", None)
    if name == "slc-cache":
        del document["axis"]["pause"], document["phase"]["pause"]
    if name == "hot-drive":
        document["phase"] = {
            k: {**v, "until": {"time": "60 ms"}} for k, v in document["phase"].items()
        }
    if name == "drive-spec-table":
        document["phase"] = {
            k: {**v, "until": {"time": "40 ms"}} for k, v in document["phase"].items()
        }
        document["storage"] = {name: document["storage"][name] for name in ("disk", "array")}
    if name == "drive-aging":
        document["event"]["dark"]["at"] = "2 ms"
    document["run"]["interval"] = "1 ms"
    document.pop("quick", None)
    for told in ("answer", "japanese"):
        document.pop(told, None)
    document["published"] = [
        figure
        for figure in document.get("published", [])
        if all(str(level) in levels_of(document, axis) for axis, level in figure["cell"].items())
    ]
    return StudyFile(name, STUDIES / f"{name}.toml", as_toml(document))


def levels_of(expected: dict[str, Any], axis: str) -> list[str]:
    """Return the levels of an axis, as labels."""
    each = expected["axis"][axis]
    return [str(level) for level in each.get("levels", each)]


def as_toml(value: dict[str, Any]) -> str:
    """Return a document with each table on one line."""
    return "\n".join(f"{json.dumps(key)} = {inline(each)}" for key, each in value.items())


def carried_out(study: StudyFile, folder: Path, *, quick: bool = False) -> bytes:
    """Run a study in this process; return its results.json."""
    guard.claim_folder(folder)
    planned, runs = plan(study, "simulated", quick=quick), []
    for number, spec in enumerate(planned.runs):
        place = folder / str(number)
        store.begin_run(place, spec, str(number), {})
        compiled.Execution(spec, place).run([], 0, "auto")
        runs.append(store.seal(place))
    assert all(run.outcome["status"] == "complete" for run in runs), runs[0].outcome
    store.write_json(folder / "results.json", results(planned.study, runs))
    return (folder / "results.json").read_bytes()


@pytest.mark.parametrize("name", KEPT)
def test_small_drive_study_repeats_its_results(name: str, tmp_path: Path) -> None:
    study = smaller(name)
    first, second = (carried_out(study, tmp_path / out) for out in "ab")
    assert first == second
    found = json.loads(first)
    assert all(cell["estimates"] for cell in found["cells"])
    values = [e for cell in found["cells"] for e in cell["estimates"] if "operations" in e]
    assert values and all(e["metric"].endswith((".max", ".stddev")) for e in values)


@pytest.mark.soak
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", KEPT)
def test_quick_drive_study_repeats_its_results(name: str, tmp_path: Path) -> None:
    a, b = tmp_path / "a", tmp_path / "b"
    for out, jobs in ((a, "1"), (b, "2")):
        words = ("run", STUDIES / f"{name}.toml", "--quick", "--out", out, "--jobs", jobs)
        done = tameshi(*words)
        assert done.returncode == 0, done.stderr
    assert (a / "results.json").read_bytes() == (b / "results.json").read_bytes()
    assert digests(a) == digests(b)


@pytest.mark.parametrize("seed", [20261121, 1])
def test_host_rate_after_writes_matches_published_for_any_seed(seed: int, tmp_path: Path) -> None:
    document = tomllib.loads((STUDIES / "flash-card-review.toml").read_text(encoding="utf-8"))
    [figure] = [figure for figure in document["published"] if figure["id"] == "S1-0236"]
    document["axis"] = {
        axis: {label: document["axis"][axis][label]} for axis, label in figure["cell"].items()
    }
    quick = document["quick"]["axis"]
    document["quick"]["axis"] = {
        axis: {label: quick[axis][label]} for axis, label in figure["cell"].items() if axis in quick
    }
    # Quick reads end before a time slice does.
    del quick["test"]["four_kib"]["phase"]["reads"]
    document["run"]["seed"], document["published"] = seed, [figure]
    del document["japanese"]
    study = StudyFile("s1-0236", STUDIES / "s1-0236.toml", as_toml(document))
    [found] = json.loads(carried_out(study, tmp_path / "out", quick=True))["published"]
    assert found["published"] == 580_000
    assert found["predicted"] == pytest.approx(found["published"], rel=0.05)


@pytest.mark.soak
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("name", REPRODUCE)
def test_recorded_figures_of_drive_study_are_current(name: str, tmp_path: Path) -> None:
    done = tameshi("predictions", "--only", name, "--folder", tmp_path, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    kept, found = written(PAGES, name), written(tmp_path, name)
    assert found and kept.keys() == found.keys()
    for figure, value in found.items():
        assert kept[figure] == pytest.approx(value, rel=0.001), f"{figure}: tameshi predictions"


def written(folder: Path, study: str) -> dict[str, float]:
    """Return a study's latest recorded figures, known and predicted."""
    with (folder / "calibration.csv").open(newline="", encoding="utf-8") as file:
        known = {
            row["id"]: float(row["ours"]) for row in csv.DictReader(file) if row["study"] == study
        }
    files = [folder / "predictions.csv", *sorted(folder.glob("predictions-[0-9]*.csv"))]
    rows = [row for path in files for row in predictions.read(path) if row.study == study]
    return known | {row.id: float(row.predicted) for row in rows}
