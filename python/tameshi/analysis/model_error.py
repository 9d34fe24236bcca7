"""Model error of simulated databases: an interval on each simulated figure.

The interval excludes sampling error. It combines validated figures (`data/evidence/databases.csv`:
ours and published or measured ones) with the uncertainty of the parameters
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
"""Note of a row that `calibration.csv` holds as well."""
WAREHOUSE_BYTES = 100_800_000
"""Size of a TPC-C warehouse with tpcc-mysql's tables and indexes: 80 warehouses take 8 GB, 240 take
24 GB, 1000 take 100 GB."""
FOREIGN_KEY_BYTES = 12_600_000
"""Part of a warehouse in indexes of foreign keys, which the specification's schema lacks."""
OLTP_ROW_BYTES = 245
"""Size of a sysbench row with its page's free sixteenth and its index entry."""
ROOM_IN_PAGE, PAGE_BYTES, ROW_EXTRA_BYTES = 15_240, 16_384, 32
NEAR_POOL = 4.0
"""Largest factor between the pool shares of comparable figures."""
INSIDE_POOL, INSIDE_CLIENTS = 2.0, 2.0
"""Largest factors between a question and a validated figure inside the validated range."""
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
"""Families of metrics by name prefix; the first match counts."""
DOCUMENTS = "documents"
"""Workload of a document store, and the family of all its figures except drive life."""
ALONE = ("outage", "life", DOCUMENTS)
"""Families without evidence from other families."""
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
MODELS = ("hdd", "flash", "xpoint", "volume", "null")
ODDS = ("hit_ratio", "share")
"""Shares: their error is a factor on the odds."""


@dataclass(frozen=True)
class Facts:
    """Facts about a simulated database."""

    profile: str
    workload: str
    storage: str
    clients: int
    data_bytes: int
    pool_bytes: int

    @property
    def pool_share(self) -> float:
        """Share of the data that the pool holds, at most 1."""
        return min(self.pool_bytes / self.data_bytes, 1.0)


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
        """Error of our figure: logarithm of the ratio for rates and times, difference of log odds
        for shares."""
        if self.family in ODDS:
            return _odds(self.ours) - _odds(self.reference)
        return math.log(self.ours / self.reference)


@dataclass(frozen=True)
class Open:
    """Parameter uncertainty of a family, inside the validated range and outside it."""

    parameters: float
    outside: float
    because: str


def family_of(metric: str, workload: str = "") -> str:
    """Return the family of a metric; every database metric has one."""
    beginnings = ((family, of) for family, names in FAMILIES.items() for of in names)
    match = next((family for family, of in beginnings if metric.startswith(of)), "writes")
    return DOCUMENTS if workload == DOCUMENTS and match not in ALONE else match


@functools.cache
def validated() -> Sequence[Validated]:
    """Return every row of `data/evidence/databases.csv`."""
    if not TABLE.exists():
        return ()
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Validated:
    numbers = (int(row[key]) for key in ("clients", "data_bytes", "pool_bytes"))
    facts = Facts(row["profile"], row["workload"], row["storage"], *numbers)
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


def facts_of(spec: RunSpec, phase: PhaseSpec) -> Facts | None:
    """Return facts about a run's simulated database in a phase; None without one."""
    database = spec.database
    if database is None or database.model is None or not phase.programs:
        return None
    engine = (spec.engines or {})[database.engine]
    ((word, program),) = phase.programs[0].model_dump(mode="json", by_alias=True).items()
    model = database.model.model_dump(mode="json", by_alias=True)["innodb"]
    pool = engine.buffer_pool.root if engine.buffer_pool else model["pool"]["size"]["value"]
    manner = f"{word} {program['manner']}" if program.get("manner") else word

    def drive(storage: str) -> str:
        node = spec.storage[storage].model
        return drive_of(node.model_dump(mode="json", by_alias=True) if node else None)

    # No validated figure has its log on a storage of its own.
    log = f", log on {drive(database.log)}" if database.log else ""
    return Facts(
        database.profile or database.engine,
        manner,
        drive(database.storage) + log,
        int(program.get("clients") or 1),
        data_bytes(word, program),
        max(compiled.size_bytes(pool), least.POOL),
    )


def data_bytes(word: str, program: Mapping[str, Any]) -> int:
    """Return the approximate size of a program's data set after loading."""
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
    """Return the model of the first drive in a storage's device tree."""
    if not isinstance(node, Mapping):
        return "unknown"
    for key in node:
        if key in MODELS:
            return str(key)
    return next(
        (drive for child in node.values() if (drive := drive_of(child)) != "unknown"), "unknown"
    )


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
    """Return a 90 % interval around a figure; None at zero, and for a share of 1."""
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
    near_named, there_named = (named(row.source for row in rows) for rows in (near, there))
    return ModelInterval(low, high, near_named, inside, there_named if there else "")


def comparable(family: str, facts: Facts) -> list[Validated]:
    """Return validated figures of a family with the same workload and nearly the same pool.

    Figures that the model was fitted to, and invalid measurements, are excluded.
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
    """Return known figures of the same kind at this point that the model was fitted to.

    They put the point inside the validated range but say nothing about errors elsewhere. Other
    families and other statistics (a mean for a percentile) do not count.
    """
    kind = _kind(metric, facts.workload)
    alike = (each for each in validated() if _kind(each.metric, each.facts.workload) == kind)
    return [each for each in alike if each.fitted and _inside(each.facts, facts)]


def _kind(metric: str, workload: str) -> tuple[str, bool, bool]:
    """Return the properties that a figure must share with a fitted one."""
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
    """Return the log odds of a share, kept off 0 and 1."""
    kept = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))


def named(sources: Iterable[str]) -> str:
    """Return sources as text, each once; of many, the first."""
    names = list(dict.fromkeys(sources))
    if not names:
        return NOTHING
    more = [f"+{len(names) - MOST_NAMED}"] if len(names) > MOST_NAMED else []
    return "; ".join([*names[:MOST_NAMED], *more])
