"""Evidence of the model error of simulated databases: known figures of the same kind beside ours.

`data/evidence/database-errors.csv` has figures of published experiments, and of a real server on
served drives. Ratios have evidence of their own: pairs of figures of one experiment that differ in
one thing alone, the storage, say. See docs/predictions.md.
"""

from __future__ import annotations

import csv
import functools
import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis import drive_error
from tameshi.analysis.database_facts import CHANGES, Facts, changes
from tameshi.analysis.evidence import Offs, is_enough, quantile
from tameshi.core.data import EVIDENCE

TABLE = EVIDENCE / "database-errors.csv"
OF_FACTS = (
    *("profile", "workload", "storage", "clients", "data_bytes", "pool_bytes"),
    *("node", "settings"),
)
COLUMNS = ("id", "experiment", *OF_FACTS, "metric", "reference", "ours")
RATE, TAIL, LATENCY = "rate", "tail", "latency"
FAMILIES = {
    RATE: ("statement.rate", "transaction.rate", "transaction.tpmc"),
    LATENCY: ("transaction.latency.",),
    "hit_ratio": ("server.hit_ratio",),
    "share": ("server.time_",),
    "outage": ("outage.",),
    "life": ("drive.life",),
    "reads": ("server.read", "server.page_read", "disk.read"),
    "writes": ("server.",),
    "documents": (),
}
"""Families of metrics by name prefix; the first match counts. Upper percentiles are a `tail`."""
DOCUMENTS = "documents"
"""Workload of a document store, and the family of all its figures except drive life."""
ALONE = ("outage", "life", DOCUMENTS)
"""Families without evidence."""
ODDS = ("hit_ratio", "share")
"""Shares: their error is a factor on the odds."""
MIDDLE = (".mean", ".p05", ".p50", ".sd")
"""Statistics of a latency that are no tail."""
PAIRED = (RATE, LATENCY, "reads", "writes")
"""Families whose ratios have evidence."""
KEY = "database"
"""Name of a figure's facts in results.json."""


@dataclass(frozen=True)
class Known:
    """Known figure of a database next to ours."""

    experiment: str
    facts: Facts
    metric: str
    reference: float
    ours: float

    @property
    def family(self) -> str:
        """Family of the metric."""
        return family_of(self.metric, self.facts.workload)

    @property
    def off(self) -> float:
        """Error of our figure, as of `off_of`."""
        return off_of(self.family, self.reference, self.ours)


def family_of(metric: str, workload: str = "") -> str:
    """Return the family of a metric; every database metric has one."""
    beginnings = ((family, of) for family, names in FAMILIES.items() for of in names)
    match = next((family for family, of in beginnings if metric.startswith(of)), "writes")
    if match == LATENCY and not metric.endswith(MIDDLE):
        match = TAIL
    return DOCUMENTS if workload == DOCUMENTS and match not in ALONE else match


def off_of(family: str, reference: float, ours: float) -> float:
    """Return the error of a figure: logarithm of ours over the known one for rates and times,
    difference of log odds for shares."""
    if family in ODDS:
        return odds(ours) - odds(reference)
    return math.log(ours / reference)


def odds(share: float) -> float:
    """Return the log odds of a share, kept off 0 and 1."""
    kept = min(max(share, 1e-6), 1 - 1e-6)
    return math.log(kept / (1 - kept))


@functools.cache
def known() -> Sequence[Known]:
    """Return every row of `data/evidence/database-errors.csv`."""
    with TABLE.open(newline="", encoding="utf-8") as file:
        return tuple(_row(row) for row in csv.DictReader(file))


def _row(row: Mapping[str, str]) -> Known:
    words = {key: row[key] for key in ("profile", "workload", "storage", "node", "settings")}
    numbers = {key: int(row[key]) for key in ("clients", "data_bytes", "pool_bytes")}
    facts = Facts(**words, **numbers)  # type: ignore[arg-type]
    ends = float(row["reference"]), float(row["ours"])
    return Known(row["experiment"], facts, row["metric"], *ends)


def evidence(
    family: str, workload: str, without: str = "", *, slow_syncs: bool = False
) -> tuple[list[Known], Offs]:
    """Return the figures that bound one of a family, and how far each is off.

    Those of the same program if three experiments have some, else of all programs, else rates
    besides; besides tails, those of drives. `without`: an experiment that is left out. Figures with
    slow syncs (`Facts.has_slow_syncs`) count for such ones alone.
    """
    rows = [
        each
        for each in known()
        if each.experiment != without and (slow_syncs or not each.facts.has_slow_syncs)
    ]
    of_family = [each for each in rows if each.family == family]
    word = workload.partition(" ")[0]
    same = [each for each in of_family if each.facts.workload.partition(" ")[0] == word]
    for chosen in (same, of_family):
        if is_enough(each.experiment for each in chosen):
            return chosen, offs(chosen)
    if family == TAIL:
        of_drives = [k for k in drive_error.known() if drive_error.family_of(k.metric) == TAIL]
        kept = [(k.experiment, abs(k.off)) for k in of_drives if k.experiment != without]
        return of_family, [*offs(of_family), *kept]
    chosen = of_family + [each for each in rows if each.family == RATE and family != RATE]
    return chosen, offs(chosen)


def offs(rows: Sequence[Known]) -> Offs:
    """Return how far each figure is off, with its experiment."""
    return [(each.experiment, abs(each.off)) for each in rows]


@functools.cache
def pairs(family: str, change: str) -> Offs:
    """Return the errors of ratios of two known figures of an experiment, the same metric of both,
    that differ in one thing alone."""
    found = []
    of_family = [each for each in known() if each.family == family]
    for one, other in itertools.combinations(of_family, 2):
        alike = (one.experiment, one.metric) == (other.experiment, other.metric)
        if alike and changes(one.facts.key, other.facts.key) == [change]:
            found.append((one.experiment, abs(one.off - other.off)))
    return found


@functools.cache
def ratio_width(family: str, change: str, without: str = "") -> float:
    """Return the half-width of a ratio as a logarithm: of pairs of this family that differ in the
    same, else of rates, else of rates that differ in any one thing."""

    def kept(of: str, *differing: str) -> Offs:
        of_changes = itertools.chain(*(pairs(of, each) for each in differing))
        return [pair for pair in of_changes if pair[0] != without]

    widening = (kept(family, change), kept(RATE, change), kept(RATE, *CHANGES))
    enough = (found for found in widening if is_enough(experiment for experiment, _ in found))
    return quantile(next(enough, widening[-1]))


def of_ratio(
    metric: str, ratio: float, top: Mapping[str, Any], bottom: Mapping[str, Any]
) -> tuple[float, float] | None:
    """Return the 90 % interval of a ratio of two figures by their models.

    None if they are not of one server and program, or do not differ; and of a family without
    evidence on ratios.
    """
    family, above, below = family_of(metric), top.get(KEY), bottom.get(KEY)
    if family not in PAIRED or ratio <= 0 or not above or not below:
        return None
    differing = changes(above, below)
    if not differing:
        return None
    off = math.hypot(*(ratio_width(family, change) for change in differing))
    return ratio * math.exp(-off), ratio * math.exp(off)
