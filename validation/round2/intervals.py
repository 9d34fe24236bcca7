"""Intervals of round 2's baseline: 90 %, from what the first blind round turned out to be off.

An interval is predicted × exp(±1.645 u); of a gain, the ratio behind it. u is the root mean square
of log(predicted ÷ known) of the first round's first predictions (`revealed-round1.csv`): 0.54 for
13 figures of single cells, 0.38 for two of differences. No percentile was among them: for those u
is a judgement, half as much again as a mean's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from tameshi.analysis.published import QUANTILE

SINGLE, DIFFERENCE, PERCENTILE = 0.54, 0.38, 0.8


def with_interval(figure: Mapping[str, Any]) -> dict[str, Any]:
    """A row of `published` with the interval of its class; without prediction as it is."""
    predicted = figure["predicted"]
    if predicted is None:
        return dict(figure)
    statistic = figure["metric"].rpartition(".")[2]
    if figure["derived"]:
        return {**figure, **gain(predicted)}
    width = QUANTILE * (PERCENTILE if statistic[0] == "p" and statistic[1:].isdigit() else SINGLE)
    return {**figure, "low": predicted / math.exp(width), "high": predicted * math.exp(width)}


def gain(percent: float) -> dict[str, float]:
    """Bounds of a gain in per cent."""
    ratio, width = 1 + percent / 100, math.exp(QUANTILE * DIFFERENCE)
    return {"low": 100 * (ratio / width - 1), "high": 100 * (ratio * width - 1)}
