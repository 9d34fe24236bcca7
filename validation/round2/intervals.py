"""Intervals of round 2's predictions: 90 %, the report's own where it has one.

Where it has none, and in the baseline, an interval is predicted × exp(±1.645 u); of a gain, the
ratio behind it. u is the root mean square of log(predicted ÷ known) of the first round's first
predictions (`revealed-round1.csv`): 0.54 for 13 figures of single cells, 0.38 for two of
differences. No percentile was among them: for those u is a judgement, half as much again as a
mean's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from tameshi.analysis.published import QUANTILE

SINGLE, DIFFERENCE, PERCENTILE = 0.54, 0.38, 0.8


def with_interval(figure: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A row of `published` with its interval; without prediction as it is."""
    predicted = figure["predicted"]
    if predicted is None:
        return dict(figure)
    bounds = None if figure["derived"] else of_report(figure, cells)
    if bounds:
        return {**figure, "low": predicted * bounds[0], "high": predicted * bounds[1]}
    statistic = figure["metric"].rpartition(".")[2]
    if figure["derived"]:
        return {**figure, **gain(predicted)}
    width = QUANTILE * (PERCENTILE if statistic[0] == "p" and statistic[1:].isdigit() else SINGLE)
    return {**figure, "low": predicted / math.exp(width), "high": predicted * math.exp(width)}


def of_report(
    figure: Mapping[str, Any], cells: Iterable[Mapping[str, Any]]
) -> tuple[float, float] | None:
    """Bounds over the value of the estimate that a figure shows, or of reads among all requests."""
    operation, _, measure = figure["metric"].partition(".")
    metrics = {figure["metric"]} if operation != "all" else {f"read.{measure}", f"write.{measure}"}
    for cell in cells:
        levels = cell["levels"].items() >= figure["cell"].items()
        if not levels or figure["phase"] not in (None, cell["phase"]):
            continue
        for found in cell["estimates"]:
            is_it = found["metric"] in metrics and found["window"] == (
                figure["window"] or cell["phase"]
            )
            model = found.get("model")
            if is_it and model and figure["subject"] in (None, found["subject"]) and found["value"]:
                return model["low"] / found["value"], model["high"] / found["value"]
    return None


def gain(percent: float) -> dict[str, float]:
    """Bounds of a gain in per cent."""
    ratio, width = 1 + percent / 100, math.exp(QUANTILE * DIFFERENCE)
    return {"low": 100 * (ratio / width - 1), "high": 100 * (ratio * width - 1)}
