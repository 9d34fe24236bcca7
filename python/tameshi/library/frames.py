"""Frames of plans, results and records, in polars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from tameshi.core import compiled
from tameshi.core.spec_types import Plan
from tameshi.record.cell_files import level_columns as levels_of
from tameshi.record.store import SealedRun

Row = dict[str, Any]
NANOSECONDS = 1e9
RAMP = "ramp"
RUN = ("world", "repetition")
"""Columns of every frame of records before the levels; an axis of such a name has a prefix."""


def plan_frame(plan: Plan) -> pl.DataFrame:
    """Return a row per run."""
    fixed = ("repetition", "seed", "phases")
    return _frame(
        {
            **levels_of(run.cell, fixed),
            "repetition": run.repetition,
            "seed": run.seed,
            "phases": [phase.name for phase in run.phases],
        }
        for run in plan.runs
    )


CELL = ("world", "phase", "verdict", "reasons", "complete", "partial", "failed")


def cells_frame(cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row per cell: levels, verdict with codes of its reasons, numbers of runs."""
    rows = [
        {
            "world": cell["world"],
            "phase": cell["phase"],
            **levels_of(cell["levels"], CELL),
            "verdict": cell["verdict"]["level"],
            "reasons": [reason["code"] for reason in cell["verdict"]["reasons"]],
            **cell["runs"],
        }
        for cell in cells
    ]
    return _frame(rows, {"reasons": pl.List(pl.String)})


ESTIMATE = {
    "window": pl.String,
    "subject": pl.String,
    "metric": pl.String,
    "unit": pl.String,
    "value": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "runs": pl.Int64,
    "model_low": pl.Float64,
    "model_high": pl.Float64,
    "verdict": pl.String,
}


def estimates_frame(cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row per estimate of each cell, with its 95 % interval and its model error."""
    taken = ("world", "phase", *ESTIMATE)
    rows = [
        {
            "world": cell["world"],
            "phase": cell["phase"],
            **levels_of(cell["levels"], taken),
            **_estimate(estimate),
            "verdict": cell["verdict"]["level"],
        }
        for cell in cells
        for estimate in cell["estimates"]
    ]
    return _frame(rows, ESTIMATE)


def _estimate(estimate: Mapping[str, Any]) -> Row:
    sampling, model = estimate["sampling"] or {}, estimate["model"] or {}
    return {
        **{key: estimate[key] for key in ("window", "subject", "metric", "unit", "value")},
        **{key: sampling.get(key) for key in ("low", "high", "runs")},
        "model_low": model.get("low"),
        "model_high": model.get("high"),
    }


PUBLISHED = {
    "metric": pl.String,
    "subject": pl.String,
    "window": pl.String,
    "unit": pl.String,
    "published": pl.Float64,
    "value": pl.Float64,
    "model_low": pl.Float64,
    "model_high": pl.Float64,
    "ratio": pl.Float64,
}


def published_frame(figures: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row per published figure: its value, ours with the model's interval, the ratio."""
    taken = ("id", "phase", *PUBLISHED)
    rows = [
        {
            **{key: figure[key] for key in ("id", "phase")},
            **levels_of(figure["cell"], taken),
            **{key: figure[key] for key in ("metric", "subject", "window", "unit", "published")},
            "value": figure["predicted"],
            "model_low": figure["low"],
            "model_high": figure["high"],
            "ratio": _ratio(figure["predicted"], figure["published"]),
        }
        for figure in figures
    ]
    return _frame(rows, {"id": pl.String, "phase": pl.String, **PUBLISHED})


def _ratio(value: float | None, base: float | None) -> float | None:
    return None if value is None or not base else value / base


SERIES = ("source", "subject", "metric", "t_s", "dt_s", "value")


def series_frame(runs: Iterable[SealedRun], metric: str | None) -> pl.DataFrame:
    """Return every recorded interval of each run; `t_s` is its end, from the run's begin."""
    frames = []
    for run in runs:
        frame = run.series()
        if metric is not None:
            frame = frame.filter(pl.col("metric") == metric)
        seconds = [
            (pl.col("t_ns") / NANOSECONDS).alias("t_s"),
            (pl.col("dt_ns") / NANOSECONDS).alias("dt_s"),
        ]
        columns = [_column(name, value) for name, value in _of_run(run, SERIES).items()]
        frames.append(frame.select(*columns, "source", "subject", "metric", *seconds, "value"))
    return pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame()


def _column(name: str, value: str | int) -> pl.Expr:
    """Return a column with one value."""
    return pl.lit(value, pl.Int64 if isinstance(value, int) else pl.String).alias(name)


HISTOGRAM = ("phase", "part", "stream", "operation", "latency_ns", "count")


def histogram_frame(runs: Iterable[SealedRun], operation: str | None) -> pl.DataFrame:
    """Return the latency histogram of each run's streams: lower bound of a bucket, and count.

    Ramps are left out. `part`: steady, or a round of phases in rounds.
    """
    return _frame(row for run in runs for row in _buckets(run, operation))


def _buckets(run: SealedRun, operation: str | None) -> Iterator[Row]:
    """Yield the buckets of a run, summed over its intervals, in order."""
    counts: dict[str, Counter[int]] = {}
    for log in run.interval_logs():
        for interval in compiled.histogram_intervals(log):
            of_tag = counts.setdefault(interval["tag"], Counter())
            for latency_ns, count in interval["counts"]:
                of_tag[latency_ns] += count
    of_run = _of_run(run, HISTOGRAM)
    for tag, of_tag in counts.items():
        number, part, stream, kind = tag.split("/")
        if part == RAMP or operation not in (None, kind):
            continue
        phase = run.spec.phases[int(number)].name
        place = {"phase": phase, "part": part, "stream": stream, "operation": kind}
        for latency_ns, count in sorted(of_tag.items()):
            yield {**of_run, **place, "latency_ns": latency_ns, "count": count}


def _of_run(run: SealedRun, others: Sequence[str]) -> Row:
    """Return world, levels across runs, and repetition."""
    levels = levels_of(run.spec.cell, (*RUN, *others))
    return {"world": run.spec.world.value, **levels, "repetition": run.spec.repetition}


JUDGED = ("metric", "subject", "unit", "better", "a", "b", "ratio", "outcome", "why", "firm")


def comparison_frame(cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row per judged metric of each common cell: values, ratio, outcome and its basis."""
    taken = ("phase", "world_a", "world_b", *JUDGED, "low", "high")
    rows = [
        {
            "phase": cell["phase"],
            **levels_of(cell["levels"], taken),
            "world_a": cell["world"]["a"],
            "world_b": cell["world"]["b"],
            **{key: judgement[key] for key in JUDGED},
            "low": judgement["sampling"]["low"],
            "high": judgement["sampling"]["high"],
        }
        for cell in cells
        for judgement in cell["judgements"]
    ]
    return _frame(rows)


def fit_frame(cells: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return a row per cell of a calibration: rates with the measured interval, relative error."""
    rows = [
        {
            "cell": cell["cell"],
            "held_out": cell["held_out"],
            "measured": cell["measured"]["rate"],
            "low": cell["measured"].get("low"),
            "high": cell["measured"].get("high"),
            "simulated": cell["simulated"]["rate"],
            "error": cell["error"],
        }
        for cell in cells
    ]
    rates = ("measured", "low", "high", "simulated", "error")
    return _frame(rows, dict.fromkeys(rates, pl.Float64))


def _frame(rows: Iterable[Row], schema: Mapping[str, Any] | None = None) -> pl.DataFrame:
    """Return rows as a frame with the columns of all of them; absent values are null."""
    listed = list(rows)
    columns = list(dict.fromkeys(name for row in listed for name in row))
    if not listed:
        return pl.DataFrame(schema=schema)
    return pl.DataFrame(
        {name: [row.get(name) for row in listed] for name in columns},
        schema_overrides={k: v for k, v in (schema or {}).items() if k in columns},
        strict=False,
    )
