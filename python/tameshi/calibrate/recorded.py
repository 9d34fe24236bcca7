"""Cells from results of `tameshi run`: a study folder, or its results.json."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from tameshi.analysis.imported import is_imported
from tameshi.analysis.results import results
from tameshi.analysis.stats.estimates import of_phase
from tameshi.calibrate.cells import KINDS, SYNC, Cell, Figures
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.core.reasons import Reason, about, reason
from tameshi.core.spec_types import PhaseSpec
from tameshi.record.store import SealedRun
from tameshi.report.words.text import Text
from tameshi.workflow import study_folder

COMMIT = "commit"
LEAST_COUNT = 20
"""Least number of operations of a cell."""
SHOWN = 4
"""Storages named in an error."""


@dataclass
class Recorded:
    """Cells of a study folder."""

    cells: list[Cell]
    environment: Mapping[str, Any]
    left_out: list[Reason] = field(default_factory=list)
    """Reasons of excluded cells; the subject is the cell."""
    capacity: int | None = None
    """Bytes of the device, if known."""
    ignored: list[str] = field(default_factory=list)
    """Options of fio's jobs without bearing on the fit."""


def read_recorded(path: Path) -> Recorded:
    """Return the cells of a study folder in one world: measured if present, else simulated.

    Raises `BadInput` without a study or usable cell, or for several storages.
    """
    folder = path if path.is_dir() else path.parent
    try:
        summary, _ = study_folder.read_summary(folder)
        runs = study_folder.read_runs(folder).runs
    except (BadInput, OSError):
        message = "a results.json alone does not contain the requested workload"
        accepted = ["a folder made by `tameshi run`, or its results.json"]
        raise BadInput(message, where=str(path), accepted=accepted) from None
    usable = [run for run in runs if run.outcome["status"] != "failed"]
    if is_imported(usable):
        message = "these results are imported, and a fit needs the originals"
        accepted = ["fio's JSON results", "a folder made by `tameshi run`"]
        raise BadInput(
            message, where=str(path), found=usable[0].environment["tool"], accepted=accepted
        )
    worlds = {run.spec.world.value for run in usable}
    world = "measured" if "measured" in worlds else "simulated"
    usable = [run for run in usable if run.spec.world.value == world]
    document = results(summary, usable)
    recorded = Recorded([], usable[0].environment if usable else {}, capacity=_capacity(usable))
    latencies = {run.folder: run.latencies() for run in usable}
    devices: dict[str, str] = {}
    for cell in document["cells"]:
        cell_runs = _runs_of(cell, usable)
        excluded = unusable(cell_runs[0][1]) if cell_runs else reason("no_run")
        name = name_of(cell)
        made = None if excluded else _cell(name, cell, cell_runs, latencies)
        if made is None:
            recorded.left_out.append(about(name, excluded or reason("too_few_operations")))
        else:
            recorded.cells.append(made)
            devices.setdefault(_device_of(cell_runs[0]), name)
    if len(devices) > 1:
        raise _several(path, devices)
    if not recorded.cells:
        reasons = in_words(recorded.left_out[:3]) or "no run is complete"
        raise BadInput("no cell here can be fitted", where=str(path), found=reasons)
    return recorded


def _device_of(first_run: tuple[SealedRun, PhaseSpec, int]) -> str:
    """Return the storage of a cell's stream, with the model of a simulated one."""
    run, phase, _ = first_run
    name = phase.streams[0].storage
    model = run.spec.storage[name].model
    return f"{name} ({_made_of(model.model_dump(mode='json', by_alias=True))})" if model else name


def _made_of(model: Mapping[str, Any]) -> str:
    """Return a phrase on a tree of devices: kinds, members and the profile of drives."""
    ((kind, node),) = model.items()
    if kind == "device":
        return str(node["profile"])
    members = f" {node['members']} ×" if "members" in node else ""
    return f"{kind}{members} {_made_of(node['of'])}"


def _several(path: Path, devices: Mapping[str, str]) -> BadInput:
    """Return the error of results of several storages, with the first cell of each."""
    shown = [f"{device} in cell {cell}" for device, cell in list(devices.items())[:SHOWN]]
    message = f"these cells used {len(devices)} storages, and a profile describes one"
    accepted = ["a study of one storage, with one model where it is simulated"]
    return BadInput(message, where=str(path), found="; ".join(shown), accepted=accepted)


def _capacity(runs: Sequence[SealedRun]) -> int | None:
    """Return the bytes of the device behind the target, or of the simulated one."""
    targets = [t for run in runs[:1] for t in run.environment.get("targets", {}).values()]
    for target in targets:
        if size := (target.get("device") or {}).get("size_bytes"):
            return int(size)
    storages = [storage for run in runs[:1] for storage in run.spec.storage.values()]
    for storage in storages:
        model = storage.model.model_dump(mode="json") if storage.model else {}
        for drive in ((model.get("device") or {}).get("device") or {}).values():
            if size := (drive or {}).get("capacity"):
                return compiled.size_bytes(size["value"])
    return None


def name_of(cell: Mapping[str, Any]) -> str:
    """Return phase and levels as one name; for the measuring study only the level."""
    levels = " ".join(str(level) for level in cell["levels"].values())
    return f"{cell['phase']} {levels}".strip() if cell["phase"] != "cell" else levels


def _runs_of(
    cell: Mapping[str, Any], runs: Sequence[SealedRun]
) -> list[tuple[SealedRun, PhaseSpec, int]]:
    return [
        (run, phase, index)
        for run in runs
        for index, phase in enumerate(run.spec.phases)
        if phase.name == cell["phase"] and {**run.spec.cell, **phase.levels} == cell["levels"]
    ]


def in_words(left_out: Sequence[Reason]) -> str:
    """Return excluded cells with their reasons, in English."""
    return "; ".join(f"{each['subject']}: {Text().reason(each)}" for each in left_out)


def unusable(phase: PhaseSpec) -> Reason | None:
    """Return why a phase is no cell of one plain stream in closed loop; None if it is one."""
    if len(phase.streams) != 1:
        return reason("concurrent_streams")
    spec = phase.streams[0].stream
    if spec.arrivals not in (None, "closed"):
        return reason("open_loop")
    if spec.access is not None and spec.access.value == "buffered":
        return reason("page_cache")
    if spec.think_time not in (None, "0 ns", "0 s") or spec.duty is not None:
        return reason("paused")
    return None


def _cell(
    name: str,
    result: Mapping[str, Any],
    runs: Sequence[tuple[SealedRun, PhaseSpec, int]],
    latencies: Mapping[Path, Mapping[str, Any]],
) -> Cell | None:
    phase = runs[0][1]
    stream = phase.streams[0]
    fields = stream.stream.model_dump(mode="json", by_alias=True, exclude_unset=True)
    fields.pop("storage", None)
    estimates = {e["metric"]: e for e in of_phase(result)}
    operations = {}
    for kind in (*KINDS, SYNC, COMMIT):
        rate = estimates.get(f"{kind}.iops") or estimates.get(f"{kind}.rate")
        mean = estimates.get(f"{kind}.latency.mean")
        if not rate or not mean or not rate["value"]:
            continue
        tag = f"steady/{stream.name}/{kind}"
        statistics = (latencies[run.folder].get(f"{index}/{tag}") for run, _, index in runs)
        curves = [curve for curve in map(_curve, statistics) if curve]
        operations[kind] = Figures(
            rate["value"],
            mean["value"],
            _together(curves),
            _spread(rate["value"], rate["sampling"]),
        )
    if not any(kind in operations for kind in KINDS):
        return None
    size = compiled.size_bytes(str(runs[0][0].spec.storage[stream.storage].size))
    reasons = result["verdict"]["reasons"] if result["verdict"]["level"] != "valid" else ()
    return Cell(name, fields, size, operations, findings=tuple(reasons))


def _curve(statistics: Mapping[str, Any] | None) -> list[tuple[float, float]]:
    """Return the quantiles of one run, shortest latency first."""
    if not statistics or statistics["count"] < LEAST_COUNT:
        return []
    points = [(float(share), float(value)) for share, value in statistics["quantiles"]]
    return [(0.0, float(statistics["min"])), *points]


def _together(curves: Sequence[Sequence[tuple[float, float]]]) -> list[tuple[float, float]]:
    """Return geometric means over runs, share by share."""
    if not curves:
        return []
    columns = zip(*curves, strict=True)
    return [(c[0][0], geometric_mean([max(value, 1.0) for _, value in c])) for c in columns]


def _spread(value: float, sampling: Mapping[str, Any]) -> float | None:
    low, high = sampling.get("low"), sampling.get("high")
    if not low or not high:
        return None
    return math.log(high / low) / 2 if value else None
