"""Samples of many settings as a frame, for `Study.with_samples`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from tameshi.core.errors import BadInput
from tameshi.study.designs import design

AXIS = "sample"
"""Column of labels, and the axis that they become."""


def samples(
    ranges: Mapping[str, Sequence[Any]],
    number: int,
    *,
    method: str = "latin_hypercube",
    seed: int = 1,
) -> pl.DataFrame:
    """Return a row per sample: its label, and the value of each setting.

    `ranges`: `(low, high)` or `(low, high, "log")` by place, as in
    `{"engine.mysql.buffer_pool": ("1 GiB", "64 GiB", "log")}`. `method`: `latin_hypercube` or
    `sobol`. The same call returns the same samples.
    """
    rows = design(ranges, number, method, seed)
    width = len(str(number))
    labels = [f"s{place:0{width}}" for place in range(1, number + 1)]
    return pl.DataFrame([{AXIS: label, **row} for label, row in zip(labels, rows, strict=True)])


def levels_of_samples(given: pl.DataFrame) -> dict[str, dict[str, Any]]:
    """Return the settings of each sample by its label; raise `BadInput`."""
    where = "tameshi.Study.with_samples"
    if AXIS not in given.columns or given.width < 2 or given.is_empty():
        accepted = [f"a column `{AXIS}` with labels, and a column per setting"]
        message = "this frame holds no samples"
        found = ", ".join(given.columns) or "no column"
        raise BadInput(message, where=where, found=found, accepted=accepted)
    labels = given[AXIS].cast(pl.String)
    if labels.null_count() or labels.is_duplicated().any():
        raise BadInput("each sample has a label of its own", where=where, key=AXIS)
    rows = given.drop(AXIS).to_dicts()
    return {str(label): row for label, row in zip(labels, rows, strict=True)}
