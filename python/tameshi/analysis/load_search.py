"""Search of a study for its sustainable load: next rates, and result.

A pure function of the cells of results.json: planning again after an interruption asks for the same
runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tameshi.analysis.stats import load_curve
from tameshi.analysis.stats.estimates import of_phase
from tameshi.core import compiled
from tameshi.core.spec_types import RunSpec, Search, Share, Summary
from tameshi.study.file import longest_ns

RATE_AXIS = "rate"
MAXIMUM = "maximum"
"""Names that the planner gives to the axis of rates and to the closed-loop phase."""
CURVE = "latency.p99"
"""Statistic of a curve without a limit."""

Cells = Sequence[Mapping[str, Any]]
Levels = tuple[tuple[str, str], ...]


def next_rates(study: Summary, cells: Cells, runs: Sequence[RunSpec]) -> dict[Levels, list[float]]:
    """Return every rate (1/s) of each cell of a search in one world, finished ones included.

    `cells` are those of results.json, `runs` the last plan.
    """
    written = study.search
    if written is None:
        return {}
    rates = {}
    for levels, inside in _groups(cells).items():
        maximum = _maximum(written, inside)
        if maximum:
            probes = _probes(written, inside)
            budget = _runs_within(written, runs)
            asked = load_curve.next_rates(_search(written, budget), maximum, probes)
            rates[levels] = sorted({*(probe.rate for probe in probes), *asked})
    return rates


def answers(study: Summary, cells: Cells) -> Iterator[dict[str, Any]]:
    """Yield the results of a search so far, as results.json holds them."""
    written = study.search
    if written is None:
        return
    for world in dict.fromkeys(str(cell["world"]) for cell in cells):
        here = [cell for cell in cells if cell["world"] == world]
        for levels, inside in _groups(here).items():
            maximum = _maximum(written, inside)
            if maximum:
                yield {
                    "world": world,
                    "levels": dict(levels),
                    "stream": written.stream,
                    "metric": _metric(written, inside),
                    "limit_ns": _limit_ns(written),
                    **load_curve.answer(_search(written, None), maximum, _probes(written, inside)),
                }


def _groups(cells: Cells) -> dict[Levels, list[Mapping[str, Any]]]:
    """Return the cells by their levels without the rate."""
    groups: dict[Levels, list[Mapping[str, Any]]] = {}
    for cell in cells:
        levels = tuple((axis, lv) for axis, lv in cell["levels"].items() if axis != RATE_AXIS)
        groups.setdefault(levels, []).append(cell)
    return groups


def _search(written: Search, budget: int | None) -> load_curve.Search:
    return load_curve.Search(
        shares=[_fraction(share) for share in written.shares or ()],
        limit_ns=_limit_ns(written),
        within=_fraction(written.within) if written.within else 0.02,
        runs_at_most=written.runs_at_most or 0,
        budget_runs=budget,
    )


def _fraction(share: Share | str) -> float:
    """Return `95 %` as 0.95."""
    text = share.root if isinstance(share, Share) else share
    return float(text.removesuffix("%")) / 100


def _limit_ns(written: Search) -> int | None:
    return compiled.nanoseconds(written.limit.below) if written.limit else None


def _runs_within(written: Search, runs: Sequence[RunSpec]) -> int | None:
    """Return the number of rates that the budget allows, given the longest run of one rate."""
    if written.budget is None or not runs:
        return None
    repetitions = max(run.repetition for run in runs) + 1
    length_ns = max(longest_ns(run) for run in runs) * repetitions
    return int(compiled.nanoseconds(written.budget) // length_ns) if length_ns else 0


def _estimates(written: Search, cell: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield estimates of the searched stream over the phase's own window."""
    for estimate in of_phase(cell):
        if estimate["subject"] == written.stream:
            yield estimate


def _maximum(written: Search, cells: Cells) -> float:
    """Return operations per second in closed loop; 0 before that phase has run."""
    return sum(
        float(estimate["value"])
        for cell in cells
        if cell["phase"] == MAXIMUM and RATE_AXIS not in cell["levels"]
        for estimate in _estimates(written, cell)
        if estimate["metric"].endswith(".iops") and estimate["value"] is not None
    )


def _metric(written: Search, cells: Cells) -> str:
    """Return the limited latency; without a limit, that of the stream's more frequent operation."""
    if written.limit:
        return written.limit.metric
    rates = {
        estimate["metric"].removesuffix(".iops"): float(estimate["value"] or 0)
        for cell in cells
        for estimate in _estimates(written, cell)
        if estimate["metric"].endswith(".iops")
    }
    return f"{max(sorted(rates), key=lambda operation: rates[operation])}.{CURVE}"


def _probes(written: Search, cells: Cells) -> list[load_curve.Probe]:
    metric = _metric(written, cells)
    return [
        load_curve.Probe(
            float(cell["levels"][RATE_AXIS]),
            float(estimate["value"]),
            estimate["sampling"]["low"],
            estimate["sampling"]["high"],
        )
        for cell in cells
        if RATE_AXIS in cell["levels"]
        for estimate in _estimates(written, cell)
        if estimate["metric"] == metric and estimate["value"] is not None
    ]
