"""Ratios between the cells of a study: levels, phases and worlds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tameshi.analysis import model_ratio, unknown
from tameshi.analysis.stats import ratios
from tameshi.analysis.stats.estimates import RESOLUTION, of_phase
from tameshi.analysis.stats.intervals import Interval, digits

RATIO_SUFFIXES = (
    *(".iops", ".bandwidth", ".rate", ".mean", ".p50", ".p99", ".p999"),
    *("_rate", "_bandwidth", ".tpmc"),
)
PERCENTILE_SUFFIXES = (".p50", ".p99", ".p999")


def ratios_between(
    axes: Sequence[Mapping[str, Any]], cells: Sequence[Mapping[str, Any]]
) -> Iterable[dict[str, Any]]:
    """Return ratios of each level, phase and world to the first of its kind, all else equal."""
    index = {_key(cell["world"], cell["phase"], cell["levels"]): cell for cell in cells}
    first_world = cells[0]["world"] if cells else ""
    for place, cell in enumerate(cells):
        for axis in axes:
            first = axis["levels"][0]
            if cell["levels"].get(axis["name"], first) != first:
                levels = {**cell["levels"], axis["name"]: first}
                yield from _ratios_of(cell, index.get(_key(cell["world"], cell["phase"], levels)))
        for subject, base in _first_phases(cells[:place], cell).items():
            yield from _ratios_of(cell, base, subject)
        if cell["world"] != first_world:
            yield from _ratios_of(cell, index.get(_key(first_world, cell["phase"], cell["levels"])))


def _key(world: str, phase: str, levels: Mapping[str, str]) -> tuple[Any, ...]:
    return (world, phase, tuple(levels.items()))


def _first_phases(
    earlier: Sequence[Mapping[str, Any]], cell: Mapping[str, Any]
) -> dict[str, Mapping[str, Any]]:
    """Return by stream the first other phase with it, at the same levels and world."""
    first: dict[str, Mapping[str, Any]] = {}
    for other in earlier:
        same = other["world"] == cell["world"] and other["levels"] == cell["levels"]
        if same and other["phase"] != cell["phase"]:
            for estimate in other["estimates"]:
                first.setdefault(estimate["subject"], other)
    return first


def _ratios_of(
    cell: Mapping[str, Any], base: Mapping[str, Any] | None, subject: str | None = None
) -> Iterable[dict[str, Any]]:
    """Yield ratios of every metric that both cells have, or of one subject's."""
    if base is None:
        return
    below = {(e["subject"], e["metric"]): e for e in of_phase(base)}
    for above in of_phase(cell):
        other = below.get((above["subject"], above["metric"]))
        listed = above["metric"].endswith(RATIO_SUFFIXES) and subject in (None, above["subject"])
        if other is None or not listed:
            continue
        rough = RESOLUTION if above["metric"].endswith(PERCENTILE_SUFFIXES) else 0.0
        paired = cell["world"] == base["world"]
        value, sampling = ratios.ratio(_side(above), _side(other), paired=paired, resolution=rough)
        tried = unknown.of_ratio(unknown.read(above), unknown.read(other))
        if value is not None:
            yield {
                "metric": above["metric"],
                "subject": above["subject"],
                "phase": cell["phase"],
                "numerator": _place(cell, base),
                "denominator": _place(base, cell),
                "value": digits(value),
                "sampling": sampling.as_json(),
                "model": model_ratio.of_figures(above, other),
                **({"unknown": [asdict(each) for each in tried]} if tried else {}),
            }


def _place(cell: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return the place of a side of a ratio; its phase only if the sides differ in it."""
    phase = {"phase": cell["phase"]} if cell["phase"] != other["phase"] else {}
    return {"world": cell["world"], **phase, "levels": cell["levels"]}


def _side(estimate: Mapping[str, Any]) -> ratios.Side:
    by_repetition = {int(run): value for run, value in estimate["by_repetition"].items()}
    sampling = Interval(**estimate["sampling"])
    return ratios.Side(estimate["value"], sampling, by_repetition, estimate.get("at_most"))
