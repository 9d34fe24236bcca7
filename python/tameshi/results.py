"""results.json: from a study's sealed runs to cells, estimates and ratios. A pure function of the records."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from tameshi import _core
from tameshi.paths import ROOT
from tameshi.spec_types import PhaseSpec, Summary
from tameshi.stats import intervals
from tameshi.stats.estimates import Estimate, WindowData, estimates
from tameshi.store import SealedRun, worst

RESULTS_VERSION = 1
"""Form of results.json; history: 1, the first."""
RATIO_SUFFIXES = (".iops", "commit.rate", ".latency.mean")
CALIBRATION = ROOT / "published" / "calibration.csv"


@dataclass(frozen=True)
class Stretch:
    """Part of a phase that estimates are taken over, in ns from t0."""

    name: str
    begin_ns: int
    end_ns: int
    steady: bool


@dataclass(frozen=True)
class Cell:
    """One phase at one combination of levels in one world, and its runs."""

    world: str
    phase: str
    levels: Mapping[str, str]
    index: int
    spec: PhaseSpec
    runs: Sequence[SealedRun]


def results(study: Summary, runs: Sequence[SealedRun]) -> dict[str, Any]:
    """The machine interface of a study, as docs/records.md describes it."""
    asked = {figure.window for figure in study.published or () if figure.window}
    frames = {run.folder: _Frames(run) for run in runs if run.outcome["status"] != "failed"}
    cells = [_cell(study, cell, frames, asked) for cell in _cells(runs)]
    axes = [
        {"name": axis.name, "varies": axis.varies.value, "levels": axis.levels}
        for axis in study.axes
    ]
    return {
        "schema_version": RESULTS_VERSION,
        "study": {"name": study.name, "title": study.title, "question": study.question},
        "axes": axes,
        "cells": cells,
        "ratios": list(_ratios(axes, cells)),
        "published": _published(study, cells),
        "verdict": worst(cell["verdict"] for cell in cells),
    }


class _Frames:
    """A run's series by stream and its latencies, read once."""

    def __init__(self, run: SealedRun) -> None:
        load = run.series().filter(pl.col("source") == "load")
        self.by_stream = {str(key[0]): frame for key, frame in load.group_by("subject")}
        self.latencies = run.latencies()


def _cells(runs: Sequence[SealedRun]) -> list[Cell]:
    cells: dict[tuple[Any, ...], Cell] = {}
    for run in runs:
        for index, phase in enumerate(run.spec.phases):
            levels = {**run.spec.cell, **phase.levels}
            key = (run.spec.world.value, phase.name, tuple(levels.items()))
            fresh = Cell(run.spec.world.value, phase.name, levels, index, phase, [])
            cells.setdefault(key, fresh).runs.append(run)  # type: ignore[attr-defined]
    return list(cells.values())


def _cell(
    study: Summary, cell: Cell, frames: Mapping[Any, _Frames], asked: set[str]
) -> dict[str, Any]:
    statuses = [run.outcome["status"] for run in cell.runs]
    usable = [run for run in cell.runs if run.outcome["status"] == "complete"]
    usable = usable or [run for run in cell.runs if run.outcome["status"] == "partial"]
    found: list[dict[str, Any]] = []
    stretches = [_stretches(study, cell, run, asked) for run in usable]
    usable = [run for run, s in zip(usable, stretches, strict=True) if s]
    stretches = [s for s in stretches if s]
    for number, stretch in enumerate(stretches[0] if stretches else []):
        for stream in cell.spec.streams:
            data = [
                _window(frames[run.folder], cell.index, stream.name, s[number])
                for run, s in zip(usable, stretches, strict=True)
            ]
            found += [_as_json(stretch.name, e) for e in estimates(stream.name, data)]
    return {
        "world": cell.world,
        "phase": cell.phase,
        "levels": dict(cell.levels),
        "runs": {status: statuses.count(status) for status in ("complete", "partial", "failed")},
        "verdict": worst(run.outcome["verdict"] for run in cell.runs),
        "estimates": found,
    }


def _stretches(study: Summary, cell: Cell, run: SealedRun, asked: set[str]) -> list[Stretch]:
    """The phase's steady part, the windows that the study defines in it, and `all` where it is asked for."""
    window = next((w for w in run.outcome["windows"] if w["phase"] == cell.index), None)
    if window is None or window["end_ns"] <= window["begin_ns"]:
        return []
    begin, end = window["phase_begin_ns"], window["end_ns"]
    stretches = [Stretch(cell.phase, window["begin_ns"], end, steady=True)]
    if "all" in asked:
        stretches.append(Stretch("all", begin, end, steady=False))
    for name, defined in (study.windows or {}).items():
        if defined.phase in (None, cell.phase):
            first = begin + _nanoseconds(defined.from_, 0)
            last = min(begin + _nanoseconds(defined.to, end - begin), end)
            stretches.append(Stretch(name, first, last, steady=False))
    return [stretch for stretch in stretches if stretch.end_ns > stretch.begin_ns]


def _nanoseconds(time: Any, otherwise: int) -> int:
    return otherwise if time is None else _core.nanoseconds(str(getattr(time, "root", time)))


def _window(frames: _Frames, phase: int, stream: str, stretch: Stretch) -> WindowData:
    frame = frames.by_stream.get(stream)
    if frame is None:
        return WindowData(stretch.end_ns - stretch.begin_ns, [], {}, {})
    begins = pl.col("t_ns") - pl.col("dt_ns")
    inside = frame.filter((begins >= stretch.begin_ns) & (pl.col("t_ns") <= stretch.end_ns))
    wide = inside.pivot("metric", index=["t_ns", "dt_ns"], values="value").sort("t_ns").fill_null(0)
    metrics = [name for name in wide.columns if name not in ("t_ns", "dt_ns")]
    prefix = f"{phase}/steady/{stream}/"
    latencies = {
        tag.removeprefix(prefix): value
        for tag, value in frames.latencies.items()
        if stretch.steady and tag.startswith(prefix)
    }
    length = stretch.end_ns - stretch.begin_ns if stretch.steady else int(wide["dt_ns"].sum())
    counters = {name: wide[name].to_list() for name in metrics}
    return WindowData(length, wide["dt_ns"].to_list(), counters, latencies)


def _as_json(window: str, estimate: Estimate) -> dict[str, Any]:
    return {
        "metric": estimate.metric,
        "subject": estimate.subject,
        "window": window,
        "value": estimate.value,
        "unit": estimate.unit,
        "sampling": estimate.sampling.as_json(),
        "model": None,
        "scale": 1,
    }


def _ratios(
    axes: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    """Each level against the first of its axis, all else equal; and each world against the first."""
    index = {_key(cell["world"], cell["phase"], cell["levels"]): cell for cell in cells}
    first_world = cells[0]["world"] if cells else ""
    for cell in cells:
        for axis in axes:
            first = axis["levels"][0]
            if cell["levels"].get(axis["name"], first) != first:
                levels = {**cell["levels"], axis["name"]: first}
                base = index.get(_key(cell["world"], cell["phase"], levels))
                yield from _ratios_of(cell, base)
        if cell["world"] != first_world:
            yield from _ratios_of(cell, index.get(_key(first_world, cell["phase"], cell["levels"])))


def _key(world: str, phase: str, levels: Mapping[str, str]) -> tuple[Any, ...]:
    return (world, phase, tuple(levels.items()))


def _ratios_of(cell: Mapping[str, Any], base: Mapping[str, Any] | None) -> Iterable[dict[str, Any]]:
    below = (
        {(e["subject"], e["metric"]): e for e in base["estimates"] if e["window"] == cell["phase"]}
        if base
        else {}
    )
    for above in cell["estimates"]:
        other = below.get((above["subject"], above["metric"]))
        if not (other and above["window"] == cell["phase"]) or not above["metric"].endswith(
            RATIO_SUFFIXES
        ):
            continue
        if base is None or other["value"] <= 0:
            continue
        bounds = [intervals.Interval(**e["sampling"]) for e in (above, other)]
        interval = intervals.of_ratio(above["value"], bounds[0], other["value"], bounds[1])
        yield {
            "metric": above["metric"],
            "subject": above["subject"],
            "phase": cell["phase"],
            "numerator": {"world": cell["world"], "levels": cell["levels"]},
            "denominator": {"world": base["world"], "levels": base["levels"]},
            "value": above["value"] / other["value"],
            "sampling": interval.as_json(),
        }


def _published(study: Summary, cells: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Published figures beside ours; a figure whose value is not known here stays null."""
    if not study.published:
        return []
    with CALIBRATION.open(newline="", encoding="utf-8") as file:
        known = {row["id"]: row for row in csv.DictReader(file)}
    rows = []
    for figure in study.published:
        cell = dict(figure.cell)
        ours = _predicted(figure.metric, figure.phase, figure.window, cell, cells)
        sampling = ours["sampling"] if ours else {}
        row = known.get(figure.id)
        rows.append(
            {
                "id": figure.id,
                "cell": cell,
                "metric": figure.metric,
                "window": figure.window,
                "unit": row["unit"] if row else None,
                "published": float(row["value"]) if row else None,
                "predicted": ours["value"] if ours else None,
                "low": sampling.get("low"),
                "high": sampling.get("high"),
            }
        )
    return rows


def _predicted(
    metric: str,
    phase: str | None,
    window: str | None,
    levels: Mapping[str, str],
    cells: Sequence[Mapping[str, Any]],
) -> Mapping[str, Any] | None:
    for cell in cells:
        fits = cell["world"] == "simulated" and phase in (None, cell["phase"])
        if fits and all(cell["levels"].get(axis) == level for axis, level in levels.items()):
            for estimate in cell["estimates"]:
                if estimate["metric"] == metric and estimate["window"] == (window or cell["phase"]):
                    return dict(estimate)
    return None
