"""Model error of simulated drives: a 90 % interval on each figure of a stream, and on ratios.

One rule: the interval reaches as far as nine tenths of the known figures of the same kind are off
(`data/evidence/drives.csv`), each experiment with the same weight. Ratios have evidence of their
own: pairs of known figures of one experiment that differ in the drive alone, or in the load alone.
See docs/predictions.md.
"""

from __future__ import annotations

import csv
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.database_facts import drive_of
from tameshi.analysis.evidence import Offs, digest, is_enough, named, quantile
from tameshi.analysis.stats.estimates import Estimate, ModelInterval
from tameshi.core.data import EVIDENCE
from tameshi.core.spec_types import StorageSpec

TABLE = EVIDENCE / "drives.csv"
COLUMNS = ("id", "experiment", "drive", "storage", "load", "metric", "reference", "ours")
RATE, LATENCY, TAIL = "rate", "latency", "tail"
DRIVE, LOAD = "drive", "load"
"""Difference between the two figures of a ratio."""


@dataclass(frozen=True)
class Known:
    """Known figure of a drive next to ours."""

    experiment: str
    drive: str
    storage: str
    load: str
    metric: str
    reference: float
    ours: float

    @property
    def off(self) -> float:
        """Logarithm of ours over the known value."""
        return math.log(self.ours / self.reference)


def family_of(metric: str) -> str | None:
    """Return the family of a stream's metric; None for one without a model error."""
    statistic = metric.rpartition(".")[2]
    if ".latency." in metric and statistic != "sd":
        upper = statistic == "max" or (statistic[:1] == "p" and statistic not in ("p05", "p50"))
        return TAIL if upper else LATENCY
    return RATE if statistic in ("iops", "bandwidth", "rate") else None


@functools.cache
def known() -> Sequence[Known]:
    """Return every row of `data/evidence/drives.csv`."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Known:
    experiment, drive, storage, load, metric = (row[key] for key in COLUMNS[1:6])
    return Known(
        experiment, drive, storage, load, metric, float(row["reference"]), float(row["ours"])
    )


def with_model(estimates: Iterable[Estimate], storage: StorageSpec) -> list[Estimate]:
    """Return the estimates of a simulated stream with their model error.

    Only drives of a kind that is validated have one: not the drive without costs (`null`).
    """
    node = storage.model.model_dump(mode="json", by_alias=True) if storage.model else None
    drive = drive_of(node)
    if drive not in {each.drive for each in known()}:
        return list(estimates)
    storage_digest = digest([node, storage.scale])
    return [replace(each, model=interval(each, storage_digest, drive)) for each in estimates]


def interval(estimate: Estimate, storage: str, drive: str) -> ModelInterval | None:
    """Return the 90 % interval of a figure; None for a metric without evidence."""
    family = family_of(estimate.metric)
    if family is None or estimate.value <= 0:
        return None
    chosen, inside = evidence(family, drive)
    off = _width(chosen)
    high = estimate.value * math.exp(off)
    high = high if estimate.at_most is None else min(high, estimate.at_most)
    on = named(each.experiment for each in chosen)
    of = {"drive": drive, "storage": storage}
    return ModelInterval(estimate.value * math.exp(-off), high, on, inside, of=of)


def width(family: str, drive: str, without: str = "") -> tuple[float, bool]:
    """Return the half-width of a kind of figure as a logarithm, and whether drives of this kind
    suffice for it.

    `without`: an experiment that is left out.
    """
    chosen, inside = evidence(family, drive, without)
    return _width(chosen), inside


def _width(chosen: Iterable[Known]) -> float:
    return quantile([(each.experiment, abs(each.off)) for each in chosen])


def evidence(family: str, drive: str, without: str = "") -> tuple[list[Known], bool]:
    """Return the figures that bound a kind of figure: those of this kind of drive, and True, or
    those of all kinds where experiments are few."""
    of_family = [k for k in known() if family_of(k.metric) == family and k.experiment != without]
    same = [each for each in of_family if each.drive == drive]
    inside = is_enough(each.experiment for each in same)
    return (same if inside else of_family), inside


def pairs(family: str, change: str) -> Offs:
    """Return the errors of ratios of two known figures of an experiment, the same metric of both,
    that differ in the drive alone or in the load alone."""
    found = []
    of_family = [each for each in known() if family_of(each.metric) == family]
    for one, other in itertools.combinations(of_family, 2):
        alike = (one.experiment, one.metric) == (other.experiment, other.metric)
        differing = [
            what
            for what, differs in (
                (DRIVE, one.storage != other.storage),
                (LOAD, one.load != other.load),
            )
            if differs
        ]
        if alike and differing == [change]:
            found.append((one.experiment, abs(one.off - other.off)))
    return found


def of_ratio(
    metric: str, ratio: float, top: Mapping[str, Any], bottom: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return the 90 % interval of a ratio of two figures by their models; None if one is of no
    drive, or for a metric without evidence."""
    family = family_of(metric)
    if family is None or ratio <= 0 or not (top.get("drive") and bottom.get("drive")):
        return None
    off = ratio_width(family, LOAD if top["storage"] == bottom["storage"] else DRIVE)
    return ratio * math.exp(-off), ratio * math.exp(off)


@functools.cache
def ratio_width(family: str, change: str, without: str = "") -> float:
    """Return the half-width of a ratio as a logarithm; pairs of rates stand for a family with too
    few."""
    for of in (family, RATE):
        found = [pair for pair in pairs(of, change) if pair[0] != without]
        if is_enough(experiment for experiment, _ in found):
            break
    return quantile(found)
