"""How far the model of a database may be off: an interval on each simulated figure of one.

It is not what chance does to a run, and never joined with it. It comes from what was validated
(`data/evidence/databases.csv`: ours beside published or measured figures) and from what the
parameters leave open (`data/evidence/uncertainty.toml`); docs/predictions.md has the method.
"""

from __future__ import annotations

import csv
import functools
import math
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tameshi.analysis.published import QUANTILE
from tameshi.analysis.stats.estimates import Estimate, ModelInterval
from tameshi.core import compiled
from tameshi.core.data import EVIDENCE
from tameshi.core.spec_types import PhaseSpec, RunSpec
from tameshi.study import least

TABLE = EVIDENCE / "databases.csv"
COLUMNS = (
    *("source", "profile", "workload", "storage", "clients", "data_bytes", "pool_bytes"),
    *("metric", "reference", "ours", "unit", "note", "fitted", "invalid"),
)
WHOLE_STUDY = "as a whole study"
"""Note of a row that `calibration.csv` has as well."""
WAREHOUSE_BYTES = 100_800_000
"""Of TPC-C's tables and indexes in tpcc-mysql's manner after loading: 8 GB are 80 warehouses, 24 GB
240, as 1000 are known to be 100 GB."""
FOREIGN_KEY_BYTES = 12_600_000
"""Of them the indexes of its foreign keys, which the specification's manner doesn't have."""
OLTP_ROW_BYTES = 245
"""A row of sysbench's tables with its page's free sixteenth and its entry in the index."""
ROOM_IN_PAGE, PAGE_BYTES, ROW_EXTRA_BYTES = 15_240, 16_384, 32
NEAR_POOL = 4.0
"""Figures with a pool so many times larger or smaller, as shares of the data, are comparable."""
INSIDE_POOL, INSIDE_CLIENTS = 2.0, 2.0
"""So near a figure that was validated a question must lie to be inside: as factors."""
MOST_NAMED = 4
MEAN = ".mean"
MOVING = ("all.", "read.", "write.")
NOTHING = "nothing"
FAMILIES = {
    "rate": ("statement.rate", "transaction.rate", "transaction.tpmc"),
    "latency": ("transaction.latency.",),
    "hit_ratio": ("server.hit_ratio",),
    "share": ("server.time_",),
    "outage": ("outage.",),
    "life": ("drive.life",),
    "reads": ("server.read", "server.page_read", "disk.read"),
    "writes": ("server.",),
    "documents": (),
}
"""Families of metrics by the beginnings of their names; the first that fits."""
DOCUMENTS = "documents"
"""The workload of a document store, and the family of all its figures but a drive's life."""
ALONE = ("outage", "life", DOCUMENTS)
"""Families that no other's evidence stands in for."""
TIMES = {
    "crash": ("away_ns", "recovery_ns"),
    "restart": ("shutdown_ns", "away_ns", "recovery_ns"),
    "pool_loaded": ("for_ns",),
    "outage": ("first_success_ns", "recovered_ns"),
}
"""By kind of event, its times that the model may be off in; an outage's run from its begin."""
DOWN = ("away_ns", "first_success_ns", "recovered_ns")
"""Those of them that hold what a study sets (`down`), in which no model is off."""
BLOWS = ("crash", "restart")
LIVES = ("life_years", "life_years_retried")
MODELS = ("hdd", "flash", "xpoint", "volume", "null")
ODDS = ("hit_ratio", "share")
"""Shares of a whole: there the odds are so many times larger or smaller."""


@dataclass(frozen=True)
class Facts:
    """What a simulated database was."""

    profile: str
    workload: str
    storage: str
    clients: int
    data_bytes: int
    pool_bytes: int

    @property
    def pool_share(self) -> float:
        """Of the data that the pool holds, at most all of it."""
        return min(self.pool_bytes / self.data_bytes, 1.0)


@dataclass(frozen=True)
class Validated:
    """A figure that is known, and ours."""

    source: str
    facts: Facts
    metric: str
    reference: float
    ours: float
    unit: str
    note: str
    fitted: str = ""
    """What of the model was fitted on it: then it shows nothing about others."""
    invalid: str = ""
    """Why what was measured does not count: then it shows nothing."""

    @property
    def family(self) -> str:
        """The family of its metric."""
        return family_of(self.metric, self.facts.workload)

    @property
    def off(self) -> float:
        """How far ours is off: of rates and times the ratio's logarithm, of shares the odds'."""
        if self.family in ODDS:
            return _odds(self.ours) - _odds(self.reference)
        return math.log(self.ours / self.reference)


@dataclass(frozen=True)
class Open:
    """What parameters leave open of a family: inside what was validated, and more beyond."""

    parameters: float
    outside: float
    because: str


def family_of(metric: str, workload: str = "") -> str:
    """The family of a metric; every metric of a database has one."""
    beginnings = ((family, of) for family, names in FAMILIES.items() for of in names)
    found = next((family for family, of in beginnings if metric.startswith(of)), "writes")
    return DOCUMENTS if workload == DOCUMENTS and found not in ALONE else found


@functools.cache
def validated() -> Sequence[Validated]:
    """Every row of `data/evidence/databases.csv`."""
    if not TABLE.exists():
        return ()
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Validated:
    numbers = (int(row[key]) for key in ("clients", "data_bytes", "pool_bytes"))
    facts = Facts(row["profile"], row["workload"], row["storage"], *numbers)
    ends = float(row["reference"]), float(row["ours"])
    told = (row[key] for key in ("unit", "note", "fitted", "invalid"))
    return Validated(row["source"], facts, row["metric"], *ends, *told)


@functools.cache
def left_open() -> Mapping[str, Open]:
    """By family, what the parameters leave open."""
    told = tomllib.loads((EVIDENCE / "uncertainty.toml").read_text(encoding="utf-8"))
    return {
        family: Open(_share(of["parameters"]), _share(of["outside"]), of["because"])
        for family, of in told["database"].items()
    }


def _share(written: str) -> float:
    return float(written.removesuffix("%")) / 100


def facts_of(spec: RunSpec, phase: PhaseSpec) -> Facts | None:
    """What a run's simulated database is in a phase; None where there is none."""
    database = spec.database
    if database is None or database.model is None or not phase.programs:
        return None
    engine = (spec.engines or {})[database.engine]
    ((word, program),) = phase.programs[0].model_dump(mode="json", by_alias=True).items()
    model = database.model.model_dump(mode="json", by_alias=True)["innodb"]
    pool = engine.buffer_pool.root if engine.buffer_pool else model["pool"]["size"]["value"]
    manner = f"{word} {program['manner']}" if program.get("manner") else word
    node = spec.storage[database.storage].model
    return Facts(
        database.profile or database.engine,
        manner,
        drive_of(node.model_dump(mode="json", by_alias=True) if node else None),
        int(program.get("clients") or 1),
        data_bytes(word, program),
        max(compiled.size_bytes(pool), least.POOL),
    )


def data_bytes(word: str, program: Mapping[str, Any]) -> int:
    """The size of a program's data set after loading, as the model lays it out, nearly."""
    if word == "tpcc":
        without = FOREIGN_KEY_BYTES if program.get("manner") != "tpcc-mysql" else 0
        return (WAREHOUSE_BYTES - without) * int(program["warehouses"])
    if word == "oltp":
        return OLTP_ROW_BYTES * int(program["tables"]) * int(program["rows"])
    if word == "key_update":
        row = compiled.size_bytes(program["row_size"]) + ROW_EXTRA_BYTES
        return int(program["rows"]) * PAGE_BYTES // max(ROOM_IN_PAGE // row, 1)
    if word == "scan":
        return compiled.size_bytes(program["size"])
    return 1200 * int(program.get("records") or 1)


def drive_of(node: Any) -> str:
    """The model of the first drive of a storage's tree of devices."""
    if not isinstance(node, Mapping):
        return "unknown"
    for key in node:
        if key in MODELS:
            return str(key)
    return next((found for of in node.values() if (found := drive_of(of)) != "unknown"), "unknown")


def with_model(estimates: Iterable[Estimate], facts: Facts | None) -> list[Estimate]:
    """The estimates of a simulated database with how far the model may be off.

    Of an open loop no rate goes beyond what arrives.
    """
    if facts is None:
        return list(estimates)
    found = []
    for each in estimates:
        model = interval(each.metric, each.value, facts)
        if model and each.at_most is not None:
            model = replace(model, high=min(model.high, each.at_most))
        found.append(replace(each, model=model))
    return found


def down_ns(event: Mapping[str, Any], spec: RunSpec, events: Iterable[Mapping[str, Any]]) -> int:
    """How much of the time that an event took the run's study sets itself."""
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
    """An event of a simulated database with how far its times may be off, from its begin on.

    `down`: what of them the study sets, which is as long as it says.
    """
    if event.get("back") is False:
        # Its times end with what befell the server next, which the study sets.
        return dict(event)
    told, begin = event, 0
    if event["kind"] == "outage":
        told, begin = event["outage"], event["outage"]["first_error_ns"]
    times = {key: told[key] - begin for key in TIMES.get(event["kind"], ()) if told.get(key)}
    return {**event, **_beside(times, "outage.", facts, dict.fromkeys(DOWN, down))}


def of_life(worn: Mapping[str, Any], facts: Facts | None) -> dict[str, Any]:
    """What a simulated database does to a drive, with how far its life may be off."""
    lives = {key: worn[key] for key in LIVES if worn.get(key)}
    return {**worn, **_beside(lives, "drive.", facts)}


def _beside(
    figures: Mapping[str, float],
    family: str,
    facts: Facts | None,
    certain: Mapping[str, float] | None = None,
) -> dict[str, Any]:
    """The intervals of figures, by key; nothing where no database is simulated.

    `certain`: the part of a figure that is sure.
    """
    model = {}
    for key, value in figures.items() if facts else ():
        sure = (certain or {}).get(key, 0)
        found = interval(family + key, value - sure, facts) if facts else None
        if found:
            model[key] = replace(found, low=sure + found.low, high=sure + found.high).as_json()
    return {"model": model} if model else {}


def interval(metric: str, value: float, facts: Facts) -> ModelInterval | None:
    """A 90 % interval around a figure; None around zero, and where all of a whole is one part."""
    family = family_of(metric, facts.workload)
    if value <= 0 or (family in ODDS and value >= 1):
        return None
    near = comparable(family, facts)
    evident = any(_inside(each.facts, facts) for each in near)
    there = [] if evident else fitted_at(metric, facts)
    inside = evident or bool(there)
    known = left_open()[family]
    error = math.sqrt(sum(each.off**2 for each in near) / len(near)) if near else 0.0
    width = QUANTILE * math.hypot(error, known.parameters, 0.0 if inside else known.outside)
    low, high = _bounds(family, value, width)
    return ModelInterval(low, high, _named(near), inside, _named(there) if there else "")


def comparable(family: str, facts: Facts) -> list[Validated]:
    """What was validated of a family: of the same workload and nearly the same pool, if any.

    What the model was fitted on is no evidence, and an invalid measurement is none.
    """
    evidence = [each for each in validated() if not each.fitted and not each.invalid]
    of_family = [each for each in evidence if each.family == family]
    if not of_family and family not in ALONE:
        of_family = [each for each in evidence if each.family == "rate"]
    word = facts.workload.partition(" ")[0]
    same = [each for each in of_family if each.facts.workload.partition(" ")[0] == word]
    near = [each for each in same if _ratio(each.facts.pool_share, facts.pool_share) <= NEAR_POOL]
    return near or same or of_family


def fitted_at(metric: str, facts: Facts) -> list[Validated]:
    """Known figures like a metric, right there, on which the model was fitted.

    It is held to what was known there, so that it lies inside; of how far it is off elsewhere they
    say nothing, no other family's figures stand in, and no mean stands for a percentile.
    """
    kind = _kind(metric, facts.workload)
    alike = (each for each in validated() if _kind(each.metric, each.facts.workload) == kind)
    return [each for each in alike if each.fitted and _inside(each.facts, facts)]


def _kind(metric: str, workload: str) -> tuple[str, bool, bool]:
    """What a figure must have in common with a fitted one: the last, that requests move data."""
    return family_of(metric, workload), metric.endswith(MEAN), metric.startswith(MOVING)


def _inside(known: Facts, asked: Facts) -> bool:
    same = all(
        getattr(known, key) == getattr(asked, key) for key in ("profile", "workload", "storage")
    )
    return (
        same
        and _ratio(known.pool_share, asked.pool_share) <= INSIDE_POOL
        and _ratio(known.clients, asked.clients) <= INSIDE_CLIENTS
    )


def _ratio(one: float, other: float) -> float:
    return max(one, other) / min(one, other)


def _bounds(family: str, value: float, width: float) -> tuple[float, float]:
    if family not in ODDS:
        return value * math.exp(-width), value * math.exp(width)
    low, high = (1 / (1 + math.exp(-(_odds(value) + sign * width))) for sign in (-1, 1))
    return low, high


def _odds(share: float) -> float:
    """The logarithm of the odds, with shares kept off 0 and 1."""
    kept = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))


def _named(rows: Sequence[Validated]) -> str:
    """On what: the sources, of many the first."""
    names = list(dict.fromkeys(row.source for row in rows))
    if not names:
        return NOTHING
    more = [f"+{len(names) - MOST_NAMED}"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])
