"""Engine error: MariaDB for real on emulated drives beside the simulated one, and its bars.

Both worlds run on one model of the drive, so what is left is the engine's error and the host's.
`bench.beside_servers` measures; data/evidence/servers.csv holds the figures. An error is a factor
less one: 0.25 is 25 % too much or 20 % too little. Bars are judged beyond the machine's floor: the
median difference of a cell from its repetition.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import combinations
from pathlib import Path
from statistics import median

from tameshi.core.data import EVIDENCE
from validation import PAGES
from validation.scoreboard import share, table
from validation.server_cells import KNOWN_PATH

TABLE = EVIDENCE / "servers.csv"
PAGE = PAGES / "beside-servers.md"
RATE, NINE_TENTHS = "rate", "nine_tenths"
FIGURES = {
    RATE: "transactions per second",
    "reads": "reads per transaction",
    "writes": "writes per transaction",
    "syncs": "syncs per transaction",
    "pages_written": "pages written per transaction",
    NINE_TENTHS: "time to nine tenths of the final rate",
}
BARS = {RATE: 0.15, "reads": 0.15, "syncs": 0.15, "pages_written": 0.30, NINE_TENTHS: 0.25}
"""Largest median error. Writes have no bar."""
RATIO_BAR = 0.10
NEAR, NEAR_SHARE = 0.25, 0.90
"""Error of a ratio that counts as near, and the share of ratios that has to be."""
LEAST_RATIO = 1.5
"""Least known ratio of two storages that counts."""
LEAST_COUNT = 0.02
"""Least number per transaction that counts, in either world; a smaller one is taken for it."""
WINDOW, TARGET, TAIL = 5, 0.9, 0.25
"""Intervals of a moving mean, the share of the final rate, and the part of a run that is final."""
WORST = 15


@dataclass(frozen=True)
class Row:
    """Figure of a cell in both worlds; a line of servers.csv."""

    storage: str
    load: str
    pool: str
    commit: str
    slow: float
    figure: str
    reference: float
    again: float | None
    """Value of the cell's repetition; None without one."""
    ours: float
    fitted: str = ""
    """Parameter that was fitted to the cell."""
    invalid: str = ""
    """Reasons why the measurement does not count."""

    @property
    def cell(self) -> str:
        """Name of the cell."""
        return "-".join(self.kind(self.storage))

    def kind(self, *first: str) -> tuple[str, ...]:
        """Load and settings, which are those of the same cell on other storages."""
        return (*first, self.load, self.pool, self.commit)

    @property
    def counts(self) -> bool:
        """True if it is evidence: measured soundly, fitted to nothing, and not next to zero."""
        some = self.figure in (RATE, NINE_TENTHS) or max(self.reference, self.ours) >= LEAST_COUNT
        return some and not self.fitted and not self.invalid

    @property
    def factor(self) -> float:
        """Ours as a multiple of the known value."""
        return self._least(self.ours) / self._least(self.reference)

    @property
    def error(self) -> float:
        """Error of ours."""
        return error(self.factor)

    @property
    def noise(self) -> float | None:
        """Difference of the repetition; None without one."""
        if self.again is None:
            return None
        return error(self._least(self.again) / self._least(self.reference))

    def _least(self, value: float) -> float:
        return value if self.figure in (RATE, NINE_TENTHS) else max(value, LEAST_COUNT)


COLUMNS = tuple(each.name for each in fields(Row))


@dataclass(frozen=True)
class Ratio:
    """Rates of two storages under one load; `known` is at least 1.5."""

    kind: tuple[str, ...]
    above: Row
    below: Row

    @property
    def known(self) -> float:
        """Ratio of the real servers."""
        return self.above.reference / self.below.reference

    @property
    def ours(self) -> float:
        """Ratio of the simulated servers."""
        return self.above.ours / self.below.ours

    @property
    def error(self) -> float:
        """Error of ours."""
        return error(self.ours / self.known)

    @property
    def is_wrong_sign(self) -> bool:
        """True if the simulated storages are in the other order."""
        return self.ours < 1

    @property
    def is_of_one_host(self) -> bool:
        """True if both run in the same slow motion, so that nothing but the storage differs."""
        return self.above.slow == self.below.slow


@dataclass(frozen=True)
class Judged:
    """Bar with its value; `allowed` includes the floor, None without a bar."""

    name: str
    number: int
    value: float
    floor: float | None
    bar: float | None
    allowed: float | None
    at_least: bool = False
    is_count: bool = False

    @property
    def is_met(self) -> bool | None:
        """Return whether the bar is met; None without one."""
        if self.allowed is None:
            return None
        return self.value >= self.allowed if self.at_least else self.value <= self.allowed


def error(factor: float) -> float:
    """Return the error of a factor, either way."""
    return math.exp(abs(math.log(factor))) - 1 if factor > 0 else math.inf


def nine_tenths(rates: Sequence[float], interval_s: float) -> float | None:
    """Return the time until a moving mean reaches nine tenths of the final rate.

    `rates` are those of a run's intervals from its begin; None for a run too short or without any.
    """
    tail = rates[-math.floor(len(rates) * TAIL) :] if len(rates) * TAIL >= WINDOW else ()
    if not sum(tail):
        return None
    final = sum(tail) / len(tail)
    for end in range(WINDOW, len(rates) + 1):
        if sum(rates[end - WINDOW : end]) / WINDOW >= TARGET * final:
            return end * interval_s
    return None


def floor_of(rows: Iterable[Row], figure: str) -> float | None:
    """Return the median difference of repeated cells; None without any."""
    known = (row.noise for row in rows if row.figure == figure and not row.invalid)
    noises = [noise for noise in known if noise is not None]
    return median(noises) if noises else None


def ratios(rows: Iterable[Row]) -> list[Ratio]:
    """Return the pairs of storages whose rates differ enough, under each load."""
    by_kind: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.figure == RATE and row.counts:
            by_kind.setdefault(row.kind(), []).append(row)
    found = []
    for kind, same in by_kind.items():
        for pair in combinations(same, 2):
            below, above = sorted(pair, key=lambda row: row.reference)
            if above.reference >= LEAST_RATIO * below.reference:
                found.append(Ratio(kind, above, below))
    return found


def judged(rows: Sequence[Row]) -> Iterator[Judged]:
    """Yield every bar that has figures."""
    for figure, name in FIGURES.items():
        errors = [row.error for row in rows if row.figure == figure and row.counts]
        if errors:
            floor, bar = floor_of(rows, figure), BARS.get(figure)
            allowed = None if bar is None else bar + (floor or 0)
            yield Judged(f"{name}, median", len(errors), median(errors), floor, bar, allowed)
    found = ratios(rows)
    yield from _judged_ratios("ratios of two storages", found, rows)
    one_host = [ratio for ratio in found if ratio.is_of_one_host]
    yield from _judged_ratios("ratios within one slow motion", one_host, rows)


def _judged_ratios(name: str, found: Sequence[Ratio], rows: Sequence[Row]) -> Iterator[Judged]:
    """Yield the bars of ratios, whose floor is that of two independent rates."""
    if not found:
        return
    single = floor_of(rows, RATE)
    floor = None if single is None else math.sqrt(2) * single
    errors = [ratio.error for ratio in found]
    allowed = RATIO_BAR + (floor or 0)
    yield Judged(f"{name}, median", len(found), median(errors), floor, RATIO_BAR, allowed)
    near = sum(each <= NEAR + (floor or 0) for each in errors) / len(errors)
    share_name = f"{name}, share within {share(NEAR)}"
    yield Judged(share_name, len(found), near, floor, NEAR_SHARE, NEAR_SHARE, at_least=True)
    wrong = sum(ratio.is_wrong_sign for ratio in found)
    yield Judged(f"{name}, wrong sign", len(found), wrong, None, 0, 0, is_count=True)


def read(path: Path = TABLE) -> list[Row]:
    """Read the table; empty without the file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [_row(line) for line in csv.DictReader(file)]


def _row(line: Mapping[str, str]) -> Row:
    words = {key: line[key] for key in COLUMNS}
    numbers = {key: float(words.pop(key)) for key in ("slow", "reference", "ours")}
    again = words.pop("again")
    return Row(**words, **numbers, again=float(again) if again else None)  # type: ignore[arg-type]


def write(rows: Iterable[Row], path: Path = TABLE) -> None:
    """Write the table."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in rows:
            values = (getattr(row, key) for key in COLUMNS)
            writer.writerow([_written(value) for value in values])


def _written(value: object) -> str:
    return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


HEAD = """# A real MariaDB on emulated drives beside the simulated one

<!-- written by `python -m bench.beside_servers --write` from servers.csv -->

The engine's error, apart from that of drives ([scoreboard](scoreboard.md)): MariaDB 10.11 runs for
real on [emulated storages](../serve-studies.md), and the same study is simulated on the same models
of drives. One number of the host is fitted: the processors' speed, on one cell without input or
output. What a request costs the machine ({processor:.0f} us of processor, {rest:.0f} us of other
time) comes from random reads by four threads, without a server; what a page read costs the server
beyond that ({miss:.0f} us) from its counters of processor time, not from rates (`--path`). In
[slow motion](../serve-slow-motion.md) *K* the machine is *K* times as fast in both worlds.
`python/tameshi/data/evidence/servers.csv` holds all figures.

They are no longer blind. One parameter was fitted on a cell of the engine (redo of a reorganized
page, TPC-C in memory on NVMe). Rules were read out of the server's source and counters with these
figures in view: purge, page cleaner, redo records, the optimizer's estimates of rows, the log past
the page cache, and the state after a scan.

An error is a factor: 25 % is 25 % too much or 20 % too little. Factors are ours over the known
value. The *floor* is the median difference of repeated cells; of ratios, that of two rates. A bar
allows its value beyond the floor. Counts per transaction below {least} in both worlds are left out;
a smaller count next to a larger one is taken for {least}. Not counted are cells with an invalid
run, and those whose drive was not served as the model has it: `served_path` over 25 %, of reads
unless there are next to none (batches of flushed pages wait for each other in the kernel, and no
client for them), and `served_short` ([verdicts](../serve-studies.md#verdict)).
"""


def page(rows: Sequence[Row], planned: int) -> str:
    """Return the page of a table; `planned` is the number of cells of the whole matrix."""
    cells = dict.fromkeys(row.cell for row in rows)
    repeated = {row.cell for row in rows if row.again is not None}
    count = f"{len(cells)} of {planned} cells are measured, {len(repeated)} of them twice."
    path = {
        "processor": KNOWN_PATH.processor_us,
        "rest": KNOWN_PATH.rest_us,
        "miss": KNOWN_PATH.miss_us,
    }
    head = HEAD.format(least=LEAST_COUNT, **path)
    parts = [head, count, "\n## Bars\n", bars_table(rows)]
    if not rows:
        return "\n".join(parts)
    parts += ["## By storage\n", BY, groups(rows, "storage", lambda row: row.storage)]
    parts += ["## By load and pool\n", BY]
    parts += [groups(rows, "load, pool, commit", lambda row: ", ".join(row.kind()))]
    parts += [f"## The {WORST} ratios farthest off\n", worst(rows)]
    parts += ["## All cells\n", ALL, all_cells(rows), *_left_out(rows)]
    return "\n".join(parts).rstrip() + "\n"


BY = """Median error, and in parentheses the median factor.
"""
ALL = """Known → ours. Time to nine tenths of the final rate, in seconds of the run's own time, of
cells that start cold.
"""


def bars_table(rows: Sequence[Row]) -> str:
    """Return each bar with its value."""
    head = ("figure", "number", "value", "floor", "bar", "held")
    return table(head, (judged_line(each) for each in judged(rows)))


def judged_line(each: Judged) -> tuple[str, ...]:
    """Return a bar as a line of a table."""

    def shown(value: float | None) -> str:
        return "" if value is None else f"{value:g}" if each.is_count else share(value)

    held = {None: "", True: "met", False: "missed"}[each.is_met]
    bar = shown(each.bar) if each.bar is None or not each.at_least else f"≥ {shown(each.bar)}"
    return each.name, str(each.number), shown(each.value), shown(each.floor), bar, held


def groups(rows: Sequence[Row], title: str, key: Callable[[Row], str]) -> str:
    """Return errors and factors of each figure by a property of cells."""
    names = dict.fromkeys(key(row) for row in rows)
    lines = []
    for name in names:
        cells = [name]
        for figure in FIGURES:
            some = [r for r in rows if r.figure == figure and r.counts and key(r) == name]
            middle = median(row.factor for row in some) if some else 0
            error_of = share(median(row.error for row in some)) if some else ""
            cells.append(f"{error_of} ({middle:.2f})" if some else "")
        lines.append(cells)
    return table((title, *FIGURES.values()), lines)


def worst(rows: Sequence[Row]) -> str:
    """Return the ratios that are farthest off."""
    far = sorted(ratios(rows), key=lambda ratio: -ratio.error)[:WORST]
    head = ("load, pool, commit", "storages", "known", "ours", "error")
    return table(
        head,
        (
            (
                ", ".join(ratio.kind),
                f"{ratio.above.storage} : {ratio.below.storage}",
                *(f"{value:.2f}" for value in (ratio.known, ratio.ours)),
                share(ratio.error),
            )
            for ratio in far
        ),
    )


def all_cells(rows: Sequence[Row]) -> str:
    """Return the figures of each cell in both worlds."""
    by_cell: dict[str, dict[str, Row]] = {}
    for row in rows:
        by_cell.setdefault(row.cell, {})[row.figure] = row
    lines = []
    for name, figures in by_cell.items():
        first = next(iter(figures.values()))
        marks = "".join((" (fitted)" * bool(first.fitted), " ✕" * bool(first.invalid)))
        shown = (_both(figures.get(figure)) for figure in FIGURES)
        lines.append((name + marks, f"{first.slow:g}", *shown))
    return table(("cell", "K", *FIGURES.values()), lines)


def _both(row: Row | None) -> str:
    return f"{_amount(row.reference)} → {_amount(row.ours)}" if row else ""


def _amount(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _left_out(rows: Sequence[Row]) -> Iterator[str]:
    """Yield the cells whose measurement is invalid, with the reasons."""
    invalid = {row.cell: row.invalid for row in rows if row.invalid}
    if invalid:
        yield "✕: invalid, and not counted.\n"
        yield table(("cell", "reasons"), invalid.items())
