"""A database over time: QPS, hit ratio, reads and writes, with a line for each cell of a study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl

NANOSECONDS = 1e9
QPS, HITS, READS, WRITES = ("statements", "hit_ratio", "reads", "writes")


def database_series(
    runs: Iterable[tuple[str, Sequence[str], Mapping[str, Any], pl.DataFrame]],
) -> Iterator[dict[str, Any]]:
    """The figures' data from the first run of each cell: world, words of the cell, window, series.

    Times run from the begin of the window's phase, its ramp included.
    """
    groups: dict[tuple[str, str, str], dict[str, dict[float, float]]] = {}
    for world, cell, window, series in runs:
        begin, end = window["phase_begin_ns"], window["end_ns"]
        inside = series.filter(pl.col("t_ns") > begin, pl.col("t_ns") - pl.col("dt_ns") < end)
        for quantity, values in _quantities(inside, begin):
            lines = groups.setdefault((world, str(window["name"]), quantity), {})
            if values:
                lines.setdefault(" ".join(cell) or str(window["name"]), values)
    for (world, phase, quantity), lines in groups.items():
        times = sorted({t for values in lines.values() for t in values})
        if times:
            yield {
                "world": world,
                "name": f"{phase}, {quantity}",
                "quantity": quantity,
                "unit_key": "share" if quantity == HITS else "iops",
                "t_s": times,
                "values": {name: [v.get(t) for t in times] for name, v in lines.items()},
            }


def _quantities(series: pl.DataFrame, begin_ns: int) -> Iterator[tuple[str, dict[float, float]]]:
    load, server = (pl.col("source") == source for source in ("load", "server"))
    yield QPS, _rate(series.filter(load), "statement.count", begin_ns)
    told = series.filter(server)
    hits = told.filter(metric="server.hit_ratio")
    yield HITS, {_at(t, begin_ns): v for t, v in hits.select("t_ns", "value").iter_rows()}
    disk = series.filter(pl.col("source") == "sampler")
    for quantity, own, of_disk in (
        (READS, "server.reads", "disk.reads"),
        (WRITES, "server.writes", "disk.writes"),
    ):
        yield quantity, _rate(told, own, begin_ns) or _rate(disk, of_disk, begin_ns)


def _rate(series: pl.DataFrame, metric: str, begin_ns: int) -> dict[float, float]:
    of = (
        series.filter(metric=metric)
        .group_by("t_ns")
        .agg(pl.col("value").sum(), pl.col("dt_ns").max())
    )
    rows = of.sort("t_ns").iter_rows()
    return {_at(t, begin_ns): value / dt * NANOSECONDS for t, value, dt in rows if dt}


def _at(t_ns: int, begin_ns: int) -> float:
    """Seconds, to a tenth: intervals of all cells end on one schedule, looks a little later."""
    return round((t_ns - begin_ns) / NANOSECONDS, 1)
