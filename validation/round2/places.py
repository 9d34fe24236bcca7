"""Places of figures: host, storage, work and load of the run that a figure of round 2 is of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.database_facts import data_bytes
from tameshi.core.compiled import size_bytes
from tameshi.core.spec_types import Published
from tameshi.study.file import StudyFile, plan
from validation.round2 import profiles

PLAIN_HOST = "plain-fio"
"""Host profile of studies of several houses."""
Levels = Mapping[str, str]
Record = Mapping[str, Any]


@dataclass(frozen=True)
class Place:
    """Place and manner in which a figure was measured.

    `domain`: drive or database. `work`: access pattern, or benchmark. `measure`: rate (a mean
    latency is one, too), tail, or a metric of costs. `server`: that of a database. `load`: of a
    drive, requests outstanding as a logarithm to base 2 and share of reads; of a database, pool
    over data and clients, both as such logarithms.
    """

    domain: str
    host: str
    storage: str
    work: str
    measure: str
    load: tuple[float, float]
    server: str = ""

    @property
    def surroundings(self) -> tuple[str, ...]:
        """Return all but server and load."""
        return self.domain, self.host, self.storage, self.work, self.measure


@dataclass(frozen=True)
class PlacedFigure:
    """Figure with its place.

    `other`: place of the cell that a gain compares with. `sign`: -1 where less is faster.
    """

    id: str
    study: str
    sign: int
    place: Place
    other: Place | None


def placed_figures(study: StudyFile) -> Iterator[PlacedFigure]:
    """Yield a study's figures with their places."""
    planned = plan(study, "simulated", quick=False)
    runs = [run.model_dump(mode="json", by_alias=True, exclude_none=True) for run in planned.runs]
    for figure in planned.study.published or ():
        sign, measure = _measure(figure)
        cell = {axis: _word(level) for axis, level in figure.cell.items()}
        derived = figure.model_dump(mode="json", by_alias=True)["derived"]
        against = derived["gain_over"]["cell"] if derived else None
        other = None
        if against:
            levels = {axis: str(level) for axis, level in against.items()}
            other = _place(study.name, runs, cell | levels, figure.phase, measure)
        yield PlacedFigure(
            *(figure.id, study.name, sign),
            place=_place(study.name, runs, cell, figure.phase, measure),
            other=other,
        )


def _word(level: Any) -> str:
    return str(getattr(level, "root", level))


def _measure(figure: Published) -> tuple[int, str]:
    """Return the sign of a figure and its measure."""
    metric, statistic = figure.metric, figure.metric.rpartition(".")[2]
    if metric.startswith("server."):
        return 1, f"{metric} per {figure.per}"
    if ".latency." not in metric:
        return 1, "rate"
    return -1, "rate" if statistic in ("mean", "p50") else "tail"


def _place(
    name: str, runs: Sequence[Record], cell: Levels, phase: str | None, measure: str
) -> Place:
    """Return the place of a cell; `name` is its study's."""
    run, found = next(
        (run, each)
        for run in runs
        for each in run["phases"]
        if phase in (None, each["name"]) and cell.items() <= (run["cell"] | each["levels"]).items()
    )
    host = run["host"]["profile"]
    own = host in profiles.entries("hosts") and host != PLAIN_HOST
    where = (host if own else name, "+".join(sorted(set(_profiles(run["storage"])))))
    if "database" in run:
        ((program, shape),) = found["programs"][0].items()
        (engine,) = run["engines"].values()
        share = size_bytes(engine["buffer_pool"]) / data_bytes(program, shape)
        work = f"{program} {shape['mix']}" if "mix" in shape else program
        load = (math.log2(share), math.log2(shape["clients"]))
        return Place("database", *where, work, measure, load, run["database"]["engine"])
    stream = found["streams"][0]["stream"]
    work = "synced" if "sync" in stream else stream["pattern"]
    share = float(stream["read"].removesuffix("%")) / 100
    outstanding = math.log2(stream["queue_depth"] * stream["jobs"])
    return Place("drive", *where, work, measure, (outstanding, share))


def _profiles(model: Any) -> Iterator[str]:
    """Yield the names of the profiles that a storage is made of."""
    if isinstance(model, Mapping) and isinstance(model.get("profile"), str):
        yield model["profile"]
    elif isinstance(model, Mapping):
        for each in model.values():
            yield from _profiles(each)
    elif isinstance(model, list):
        for each in model:
            yield from _profiles(each)
