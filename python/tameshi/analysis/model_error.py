"""Model error of simulated databases: an interval on each simulated figure.

The interval excludes sampling error. It reaches as far as nine tenths of the known figures of the
same kind are off (`database_error`). Families without any have a prior
(`data/evidence/uncertainty.toml`). See docs/predictions.md for the method.
"""

from __future__ import annotations

import csv
import functools
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis import database_error
from tameshi.analysis.database_error import ALONE, KEY, ODDS, family_of, odds, off_of
from tameshi.analysis.database_facts import Facts
from tameshi.analysis.evidence import named, quantile
from tameshi.analysis.published import QUANTILE
from tameshi.analysis.stats.estimates import Estimate, ModelInterval
from tameshi.core import compiled
from tameshi.core.data import EVIDENCE
from tameshi.core.spec_types import RunSpec

TABLE = EVIDENCE / "databases.csv"
COLUMNS = (
    *("source", "profile", "workload", "storage", "clients", "data_bytes", "pool_bytes"),
    *("metric", "reference", "ours", "unit", "note", "fitted", "invalid"),
)
WHOLE_STUDY = "as a whole study"
"""Note of a row that `calibration.csv` holds as well."""
INSIDE_POOL, INSIDE_CLIENTS = 2.0, 2.0
"""Largest factors between a question and a validated figure inside the validated range."""
REPEATED = 0.04
"""Error of a known figure, as a logarithm: published figures of one experiment differ among
themselves by 2 to 4 % (docs/predictions.md)."""
MEAN = ".mean"
MOVING = ("all.", "read.", "write.")
TIMES = {
    "crash": ("away_ns", "recovery_ns"),
    "restart": ("shutdown_ns", "away_ns", "recovery_ns"),
    "pool_loaded": ("for_ns",),
    "outage": ("first_success_ns", "recovered_ns"),
}
"""Times of each kind of event that have a model error; those of an outage count from its start."""
DOWN = ("away_ns", "first_success_ns", "recovered_ns")
"""Times that include the downtime set by the study (`down`), which has no model error."""
BLOWS = ("crash", "restart")
LIVES = ("life_years", "life_years_retried")


@dataclass(frozen=True)
class Validated:
    """Known figure next to ours."""

    source: str
    facts: Facts
    metric: str
    reference: float
    ours: float
    unit: str
    note: str
    fitted: str = ""
    """Parameters fitted to this figure; it is then no evidence for others."""
    invalid: str = ""
    """Reason why the measurement does not count as evidence."""

    @property
    def family(self) -> str:
        """Family of the metric."""
        return family_of(self.metric, self.facts.workload)

    @property
    def off(self) -> float:
        """Error of our figure, as of `off_of`."""
        return off_of(self.family, self.reference, self.ours)


@dataclass(frozen=True)
class Open:
    """Parameter uncertainty of a family, inside the validated range and outside it."""

    parameters: float
    outside: float
    because: str


@functools.cache
def validated() -> Sequence[Validated]:
    """Return every row of `data/evidence/databases.csv`."""
    if not TABLE.exists():
        return ()
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Validated:
    clients, data, pool = (int(row[key]) for key in ("clients", "data_bytes", "pool_bytes"))
    facts = Facts(row["profile"], row["workload"], row["storage"], clients, data, pool)
    ends = float(row["reference"]), float(row["ours"])
    values = (row[key] for key in ("unit", "note", "fitted", "invalid"))
    return Validated(row["source"], facts, row["metric"], *ends, *values)


@functools.cache
def left_open() -> Mapping[str, Open]:
    """Return the parameter uncertainty of each family."""
    table = tomllib.loads((EVIDENCE / "uncertainty.toml").read_text(encoding="utf-8"))
    return {
        family: Open(_share(bounds["parameters"]), _share(bounds["outside"]), bounds["because"])
        for family, bounds in table["database"].items()
    }


def _share(written: str) -> float:
    return float(written.removesuffix("%")) / 100


def with_model(estimates: Iterable[Estimate], facts: Facts | None) -> list[Estimate]:
    """Return the estimates of a simulated database with their model error.

    In open loop, no rate exceeds the arrival rate.
    """
    if facts is None:
        return list(estimates)
    modelled = []
    for each in estimates:
        model = interval(each.metric, each.value, facts)
        if model and each.at_most is not None:
            model = replace(model, high=min(model.high, each.at_most))
        modelled.append(replace(each, model=model))
    return modelled


def down_ns(event: Mapping[str, Any], spec: RunSpec, events: Iterable[Mapping[str, Any]]) -> int:
    """Return the part of an event's time that the study itself sets."""
    if "down_ns" in event:
        return int(event["down_ns"])
    if event["kind"] in BLOWS:
        staged = (spec.events or {})[event["event"]]
        how = staged.kill or staged.restart or staged.failover
        return compiled.nanoseconds(how.down or "0 ns") if how and event.get("back", True) else 0
    if event["kind"] != "outage":
        return 0
    begin, end = (event["outage"][key] for key in ("first_error_ns", "first_success_ns"))
    blows = [e for e in events if e["kind"] in BLOWS and begin <= e["t_ns"] < (end or math.inf)]
    return sum(down_ns(blow, spec, ()) for blow in blows)


def of_event(event: Mapping[str, Any], facts: Facts | None, down: int = 0) -> dict[str, Any]:
    """Return an event of a simulated database with the model error of its times.

    `down` is the part of the times that the study sets, which has no error.
    """
    if event.get("back") is False:
        # Its times end with the next event, which the study sets.
        return dict(event)
    adjusted, begin = event, 0
    if event["kind"] == "outage":
        adjusted, begin = event["outage"], event["outage"]["first_error_ns"]
    times = {
        key: adjusted[key] - begin for key in TIMES.get(event["kind"], ()) if adjusted.get(key)
    }
    return {**event, **_beside(times, "outage.", facts, dict.fromkeys(DOWN, down))}


def of_life(worn: Mapping[str, Any], facts: Facts | None) -> dict[str, Any]:
    """Return the flash wear of a simulated database with the model error of its life."""
    lives = {key: worn[key] for key in LIVES if worn.get(key)}
    return {**worn, **_beside(lives, "drive.", facts)}


def _beside(
    figures: Mapping[str, float],
    family: str,
    facts: Facts | None,
    certain: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """Return model intervals of figures by key; empty without a simulated database.

    `certain` is the part of a figure without error.
    """
    model = {}
    for key, value in figures.items() if facts else ():
        sure = (certain or {}).get(key, 0)
        bounds = interval(family + key, value - sure, facts) if facts else None
        if bounds:
            model[key] = replace(bounds, low=sure + bounds.low, high=sure + bounds.high).as_json()
    return {"model": model} if model else {}


def interval(metric: str, value: float, facts: Facts) -> ModelInterval | None:
    """Return a 90 % interval around a figure; None at zero, and for a share of 1.

    A figure that the model was fitted to is as uncertain as the fit, and as the figure itself.
    """
    family = family_of(metric, facts.workload)
    if value <= 0 or (family in ODDS and value >= 1):
        return None
    there = fitted_at(metric, facts)
    again = [row for row in there if row.metric == metric and _is_same(row.facts, facts)]
    key = {} if family in ALONE else {KEY: facts.key}
    if again:
        low, high = _bounds(family, value, max(abs(row.off) for row in again) + REPEATED)
        names = named(row.source for row in again)
        return ModelInterval(low, high, names, True, names, key)
    if family in ALONE:
        known = left_open()[family]
        width = QUANTILE * math.hypot(known.parameters, 0.0 if there else known.outside)
        evident, names = False, named(())
    else:
        chosen, offs = database_error.evidence(
            family, facts.workload, slow_syncs=facts.has_slow_syncs
        )
        evident = any(is_inside(each.facts, facts) for each in chosen)
        width, names = quantile(offs), named(experiment for experiment, _ in offs)
    fitted = named(row.source for row in there) if there and not evident else ""
    low, high = _bounds(family, value, width)
    return ModelInterval(low, high, names, evident or bool(there), fitted, key)


def fitted_at(metric: str, facts: Facts) -> list[Validated]:
    """Return known figures of the same kind at this point that the model was fitted to.

    They put the point inside the validated range but say nothing about errors elsewhere. Other
    families and other statistics (a mean for a percentile) do not count.
    """
    kind = _kind(metric, facts.workload)
    alike = (each for each in validated() if _kind(each.metric, each.facts.workload) == kind)
    return [each for each in alike if each.fitted and is_inside(each.facts, facts)]


def _kind(metric: str, workload: str) -> tuple[str, bool, bool]:
    """Return the properties that a figure must share with a fitted one."""
    return family_of(metric, workload), metric.endswith(MEAN), metric.startswith(MOVING)


def is_inside(known: Facts, asked: Facts) -> bool:
    """Return whether a question is within the validated range about a known figure."""
    same = all(
        getattr(known, key) == getattr(asked, key) for key in ("profile", "workload", "storage")
    )
    return (
        same
        and _ratio(known.pool_share, asked.pool_share) <= INSIDE_POOL
        and _ratio(known.clients, asked.clients) <= INSIDE_CLIENTS
    )


def _is_same(known: Facts, asked: Facts) -> bool:
    """Return whether a question is the known cell itself, whatever its exact settings."""
    sizes = zip(
        (known.data_bytes, known.pool_bytes), (asked.data_bytes, asked.pool_bytes), strict=True
    )
    alike = all(_ratio(*both) <= 1 + REPEATED for both in sizes)
    return alike and known.clients == asked.clients and is_inside(known, asked)


def _ratio(one: float, other: float) -> float:
    return max(one, other) / min(one, other)


def _bounds(family: str, value: float, width: float) -> tuple[float, float]:
    if family not in ODDS:
        return value * math.exp(-width), value * math.exp(width)
    low, high = (1 / (1 + math.exp(-(odds(value) + sign * width))) for sign in (-1, 1))
    return low, high
