"""Points: results.json flattened."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from tameshi.analysis import unknown
from tameshi.analysis.database_error import KEY
from tameshi.analysis.stats.estimates import of_phase

Levels = tuple[tuple[str, str], ...]
Name = tuple[str, ...]
Series = tuple[Levels, str, str]
"""Levels, subject and operation."""

WORLD_ORDER = ("measured", "emulated", "simulated")
LATENCY = "latency."
# Bytes per operation from which bandwidth is the natural figure. Half a byte less, because the
# quotient for 128 KiB requests can round down.
LARGE_TRANSFER = 128 * 1024 - 0.5


@dataclass(frozen=True)
class Point:
    """Estimate with its cell; `measure` is the metric without its operation."""

    world: str
    phase: str
    levels: Levels
    subject: str
    operation: str
    measure: str
    value: float
    low: float | None
    high: float | None
    runs: int
    method: str
    degrees: float | None
    scale: float | None
    operations: int | None
    """Operations behind a standard deviation or a maximum."""
    model: tuple[float, float] | None
    """Model error of a simulated database (90 %)."""
    outside_model: bool
    sound: bool
    """True if its cell's verdict is not invalid."""
    named: bool = False
    """True if its stream is named by what it does."""
    faults: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)
    """Reasons of an invalid cell."""
    by_repetition: Mapping[int, float] = field(default_factory=dict, hash=False)
    tried: tuple[unknown.Tried, ...] = ()
    """Values at other levels of unknown settings."""
    drive: tuple[str, str] | None = None
    """Kind of drive and digest of the storage, of a simulated drive's figure."""
    database: str = ""
    """Facts about a simulated database, as `Facts.key`; empty for other figures."""

    @property
    def drawn_band(self) -> tuple[float, float] | None:
        """Model error as plots draw it: not that of drives, which is one factor for all."""
        return None if self.drive and not self.tried else self.band

    @property
    def told_model(self) -> Mapping[str, Any]:
        """Model error as of results.json."""
        bounds = {"low": self.model[0], "high": self.model[1]} if self.model else {}
        named = {"drive": self.drive[0], "storage": self.drive[1]} if self.drive else {}
        facts = {KEY: self.database} if self.database else {}
        return {**bounds, **named, **facts}

    @property
    def band(self) -> tuple[float, float] | None:
        """Model error with the unknown settings."""
        return unknown.widened(self.value, self.model, self.tried)

    @property
    def of_a_part(self) -> bool:
        """True if it holds only for a drive of reduced capacity."""
        return self.operations is not None and (self.scale or 1) > 1

    @property
    def key(self) -> Series:
        """Levels, subject and operation."""
        return (self.levels, self.subject, self.operation)


@dataclass(frozen=True)
class Axis:
    """Axis of the study with its level labels."""

    name: str
    varies: str
    levels: tuple[str, ...]
    offered: bool = False
    """True if it varies the arrival rate and nothing else."""

    @property
    def numeric(self) -> bool:
        """True if every label is a number, so that a line may join them."""
        return len(self.levels) > 1 and all(number(level) is not None for level in self.levels)


@dataclass(frozen=True)
class View:
    """Flattened results of a study, with worlds and phases in order."""

    name: str
    title: str
    question: str
    axes: tuple[Axis, ...]
    worlds: tuple[str, ...]
    phases: tuple[str, ...]
    points: tuple[Point, ...]
    cells: tuple[dict[str, Any], ...]
    ratios: tuple[dict[str, Any], ...]
    published: tuple[dict[str, Any], ...]
    verdict: dict[str, Any]
    searches: tuple[dict[str, Any], ...] = ()
    method: dict[str, Any] | None = None
    asked: dict[str, Any] | None = None
    quick: bool = False
    damaged: tuple[dict[str, Any], ...] = ()
    """Excluded runs whose files differ from their seal."""
    unchecked: int = 0
    """Runs recorded without hashes of their files."""
    left_out: tuple[dict[str, Any], ...] = ()
    """Reasons that name effects which the model leaves out."""
    answer: dict[str, Any] = field(default_factory=dict)
    """The study's choice of comparisons and measures for the answer."""
    japanese: dict[str, Any] = field(default_factory=dict)
    """The study's own words in Japanese."""
    unknown: tuple[dict[str, Any], ...] = ()
    """Unknown settings with their assumed level and their levels."""
    streams: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Streams that are named by what they do, with what is known of it."""
    large: dict[str, Any] | None = None
    """Results of a large study, whose cells are in tables: verdicts, reasons, runs, tables."""

    @cached_property
    def large_transfers(self) -> frozenset[tuple[str, str, Series]]:
        """World, phase and key of streams with large blocks, judged by bandwidth."""
        values: dict[tuple[str, str, Series], dict[str, float]] = {}
        for p in self.points:
            if p.measure in ("iops", "bandwidth"):
                values.setdefault((p.world, p.phase, p.key), {})[p.measure] = p.value
        return frozenset(
            about
            for about, rates in values.items()
            if rates.get("iops") and rates.get("bandwidth", 0.0) / rates["iops"] >= LARGE_TRANSFER
        )

    @cached_property
    def beyond_limits(self) -> frozenset[tuple[str, str, Levels, str]]:
        """World, phase, levels and stream of points that exceed a search's limit."""
        limits = {
            (search["world"], search["stream"], search["metric"]): search["limit_ns"]
            for search in self.searches
            if search["limit_ns"] is not None
        }
        return frozenset(
            (p.world, p.phase, p.levels, p.subject)
            for p in self.points
            if p.value >= limits.get((p.world, p.subject, f"{p.operation}.{p.measure}"), math.inf)
        )

    @cached_property
    def latency_models(self) -> dict[tuple[str, str, Series], tuple[float, float]]:
        """Model errors of latencies as factors, by world, phase and key."""
        return {
            (p.world, p.phase, p.key): (band[0] / p.value, band[1] / p.value)
            for p in self.points
            if (band := p.drawn_band) and p.measure.startswith(LATENCY)
        }

    def in_phase(self, phase: str) -> tuple[Point, ...]:
        """Return the points of one phase without side metrics of databases."""
        return tuple(p for p in self.points if p.phase == phase and not is_side_metric(p))

    def sweep_axis(self, phase: str) -> Axis | None:
        """Return the longest numeric axis of a phase, or None."""
        seen = {(axis, level) for p in self.in_phase(phase) for axis, level in p.levels}
        candidates = [
            a for a in self.axes if a.numeric and sum((a.name, lv) in seen for lv in a.levels) > 1
        ]
        return max(candidates, key=lambda a: len(a.levels), default=None)

    def table_axis(self, phase: str) -> Axis | None:
        """Return the axis that a phase's tables have as rows: the swept one, or the longest of
        several named ones; None if one row suffices."""
        seen = {(axis, level) for p in self.in_phase(phase) for axis, level in p.levels}
        varied = [a for a in self.axes if sum((a.name, level) in seen for level in a.levels) > 1]
        longest = max(varied, key=lambda a: len(a.levels)) if len(varied) > 1 else None
        return self.sweep_axis(phase) or longest


def at_worst(view: View) -> dict[str, int]:
    """Return the number of cells at the study's level, and of all cells."""
    level = view.verdict["level"]
    if view.large:
        counts = view.large["verdicts"]
        return {"bad": counts.get(level, 0), "all": sum(counts.values())}
    bad = sum((cell.get("verdict") or {}).get("level", "valid") == level for cell in view.cells)
    return {"bad": bad, "all": len(view.cells)}


def number(label: str) -> float | None:
    """Return a label's number, or None."""
    try:
        return float(label)
    except ValueError:
        return None


def storage_name(entry: Mapping[str, Any]) -> str:
    """Return the storage of drive figures, or the drive that functions share."""
    return str(entry.get("drive") or str(entry["subject"]).removeprefix("storage."))


def freeze(levels: dict[str, Any]) -> Levels:
    """Return a cell's levels as a hashable value."""
    return tuple((str(axis), str(label)) for axis, label in levels.items())


def read_results(results: dict[str, Any]) -> View:
    """Flatten results.json; keys missing from a partial study read as empty."""
    study = results.get("study", {})
    cells = tuple(results.get("cells", []))
    points = tuple(point for cell in cells for point in _points_of(cell))
    streams = _named(results)
    points = tuple(replace(point, named=point.subject in streams) for point in points)
    worlds = unique(results.get("worlds") or (cell["world"] for cell in cells))
    known = {world: i for i, world in enumerate(WORLD_ORDER)}
    return View(
        name=str(study.get("name", "")),
        title=str(study.get("title") or study.get("name", "")),
        question=str(study.get("question") or study.get("title") or study.get("name", "")),
        axes=tuple(
            Axis(
                str(a["name"]),
                str(a.get("varies", "")),
                tuple(str(lv) for lv in a["levels"]),
                bool(a.get("offered")),
            )
            for a in results.get("axes", [])
        ),
        worlds=tuple(sorted(worlds, key=lambda w: known.get(w, len(known)))),
        phases=unique(results.get("phases") or (cell["phase"] for cell in cells)),
        points=points,
        cells=cells,
        ratios=tuple(results.get("ratios", [])),
        published=tuple(results.get("published", [])),
        verdict=results.get("verdict") or {"level": "valid", "reasons": []},
        searches=tuple(results.get("searches", [])),
        method=results.get("method"),
        asked=results.get("asked"),
        quick=bool(study.get("quick")),
        damaged=tuple(results.get("damaged", [])),
        unchecked=int(results.get("unchecked", 0)),
        left_out=tuple(results.get("left_out", [])),
        answer=study.get("answer") or {},
        japanese=study.get("japanese") or {},
        unknown=tuple(results.get("unknown", [])),
        streams=streams,
        large=results if "tables" in results else None,
    )


def _named(results: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the streams whose names are of no axis or level, so that a description can replace
    them."""
    taken = {label for axis in results.get("axes", ()) for label in (axis["name"], *axis["levels"])}
    facts = results.get("streams") or {}
    told = ("pattern", "read_share", "block_bytes")
    return {
        name: each
        for name, each in facts.items()
        if name not in taken and any(each[key] is not None for key in told)
    }


def _points_of(cell: dict[str, Any]) -> Iterable[Point]:
    # Estimates over other windows stay in results.json.
    for estimate in of_phase(cell):
        if estimate.get("value") is None:
            continue
        operation, _, measure = str(estimate["metric"]).partition(".")
        sampling = estimate.get("sampling") or {}
        model = estimate.get("model") or {}
        verdict = cell.get("verdict") or {}
        sound = verdict.get("level") != "invalid"
        yield Point(
            world=cell["world"],
            phase=cell["phase"],
            levels=freeze(cell.get("levels", {})),
            subject=str(estimate.get("subject", "")),
            operation=operation,
            measure=measure,
            value=float(estimate["value"]),
            low=sampling.get("low"),
            high=sampling.get("high"),
            runs=int(sampling.get("runs") or 0),
            method=str(sampling.get("method") or ""),
            degrees=sampling.get("degrees"),
            scale=estimate.get("scale"),
            operations=estimate.get("operations"),
            model=(model["low"], model["high"]) if "low" in model else None,
            outside_model=model.get("inside_range") is False,
            sound=sound,
            faults=() if sound else tuple(verdict.get("reasons", ())),
            by_repetition={int(k): v for k, v in estimate.get("by_repetition", {}).items()},
            tried=unknown.read(estimate),
            drive=(model["drive"], model["storage"]) if "drive" in model else None,
            database=model.get(KEY, ""),
        )


SIDE = ("server", "process", "disk", "statement")
"""Operations of side metrics of databases."""


def is_side_metric(point: Point) -> bool:
    """Return whether a point appears only in the database's own tables and in all numbers."""
    rate = point.measure in ("rate", "iops")
    return point.operation in SIDE or (
        point.operation == "transaction"
        and not rate
        and (point.measure.endswith("_rate") or point.measure == "tpmc")
    )


def is_kind(key: Series) -> bool:
    """Return whether a series is one transaction type of a program."""
    return key[2] == "transaction" and "." in key[1]


def unique(items: Iterable[str]) -> tuple[str, ...]:
    """Return the items without repetition, in order of first occurrence."""
    return tuple(dict.fromkeys(items))


def kind_of(measure: str) -> str:
    """Return the format of a measure: `latency`, `bandwidth`, `rate`, `bytes`, `share` or
    `number`."""
    if measure.startswith(LATENCY):
        return "latency"
    if measure in ("iops", "rate", "tpmc") or measure.endswith("_rate"):
        return "rate"
    if measure.endswith("_bytes"):
        return "bytes"
    if measure == "hit_ratio":
        return "share"
    return "bandwidth" if measure.endswith("bandwidth") else "number"


def family_of(measure: str) -> str:
    """Return the family of a measure: `iops` and `rate` share tables and plots."""
    return "rate" if measure in ("iops", "rate") else measure


def without(levels: Levels, axis: Axis | None) -> Levels:
    """Return the levels except that of one axis."""
    return tuple(pair for pair in levels if axis is None or pair[0] != axis.name)


def level_on(levels: Levels, axis: Axis) -> str:
    """Return the label on one axis, or an empty string."""
    return dict(levels).get(axis.name, "")


def lowest_level(axis: Axis) -> str:
    """Return the level that is the smallest number."""
    return min(axis.levels, key=lambda level: number(level) or 0.0)


def series_of(points: Iterable[Point], axis: Axis | None) -> dict[Series, list[Point]]:
    """Return the points of each series along an axis."""
    series: dict[Series, list[Point]] = {}
    for p in points:
        series.setdefault((without(p.levels, axis), p.subject, p.operation), []).append(p)
    return series


def level_words(levels: Levels) -> Name:
    """Return the labels of levels; a number follows its axis."""
    return tuple(
        word
        for axis, label in levels
        for word in ((label,) if number(label) is None else (axis, label))
    )


def series_names(points: Iterable[Point], axis: Axis | None) -> dict[Series, Name]:
    """Return the shortest unique names of a phase's series: levels, stream, operation."""
    by_series = series_of(points, axis)
    keys = list(by_series)
    subjects = len({subject for _, subject, _ in keys}) > 1
    operations = Counter(key[:2] for key in keys)
    names: dict[Series, Name] = {}
    for levels, subject, operation in keys:
        name = level_words(levels)
        if subjects:
            name += (subject,)
        alone = not name and any(p.named for p in by_series[levels, subject, operation])
        if alone:
            name = (subject,)
        if operations[levels, subject] > 1 or not name:
            name += (operation,)
        names[levels, subject, operation] = name
    return names


def only_stream(points: Iterable[Point]) -> str:
    """Return the only stream, if it is named by what it does; else an empty string."""
    subjects = {(p.subject, p.named) for p in points}
    ((subject, named),) = subjects if len(subjects) == 1 else {("", False)}
    return subject if named else ""


def without_parts(points: Iterable[Point]) -> list[Point]:
    """Return the points without writes and syncs of committing streams: a commit is both
    together."""
    listed = list(points)
    committing = {(p.phase, *p.key[:2]) for p in listed if p.operation == "commit"}
    return [p for p in listed if p.operation == "commit" or (p.phase, *p.key[:2]) not in committing]


def moves_large_blocks(view: View, point: Point) -> bool:
    """Return whether the stream's operations are large enough for bandwidth as natural figure."""
    return (point.world, point.phase, point.key) in view.large_transfers
