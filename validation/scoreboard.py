"""`python -m validation.scoreboard`: docs/validation/scoreboard.md, our errors beside naive ones.

An error is |log(ours / known)| as a factor less one: 0.25 is 25 % too much or 20 % too little. Of a
gain it is the error of the ratio behind it. A drive's figures and a database's are kept apart.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, median

from tameshi.analysis import database_error, database_facts, drive_error
from tameshi.analysis.evidence import Offs, is_enough, quantile
from validation import LISTS, PAGES, mechanisms, scoreboard_plot
from validation.round2 import profiles
from validation.round2.naive_studies import DATABASES

PAGE = PAGES / "scoreboard.md"
IMAGE = PAGES.parent / "images" / "scoreboard.svg"
NEAR = 0.25
FIRST_ROUND = "first blind round"
WORST = 15
RIVALS = ("nothing_changes", "data_sheet", "spreadsheet")
HEAD = """# Scoreboard: known figures beside ours

<!-- written by `python -m validation.scoreboard` from known-round2.csv -->

Known figures of other houses (`validation/round2-calibration.csv`, `revealed-round1.csv`), ours by
the present models, and three naive predictors: *nothing changes* (every ratio is 1), *data sheet*
(the maker's figure or ratio), *spreadsheet* (Little's law, harmonic mix, hit ratio by the pool's
share). An error is a factor: 0.25 is 25 % too much or 20 % too little; of a gain, that of the ratio
behind it. A rival is scored on the figures that it has an answer for, and ours on the same ones.
The first blind round is scored by its first predictions.

Ours run databases for 2 to 6 minutes from a warm start, where hours were published: a large redo
log is not full by then, and rates come out too high. What is off carries over to other figures of
the same host and storage: [corrections](corrections.md) of predictions.
"""


@dataclass(frozen=True)
class Scored:
    """Figure with its known value, ours and the naive ones, as ratios to be compared."""

    id: str
    experiment: str
    kind: str
    metric: str
    unit: str
    study: str
    cell: str
    known: float
    ours: float
    rivals: Mapping[str, float]

    @property
    def error(self) -> float:
        """Error of ours, as a factor less one."""
        return self.error_of(self.ours)

    def error_of(self, value: float) -> float:
        """Error of a value, as a factor less one."""
        known, found = (as_ratio(each, self.unit) for each in (self.known, value))
        if known <= 0 or found <= 0:
            return math.inf
        return math.exp(abs(math.log(found / known))) - 1


def as_ratio(value: float, unit: str) -> float:
    """A gain in per cent as the ratio behind it; another value as it is."""
    return 1 + value / 100 if unit == "%" else value


def rows(path: Path) -> list[dict[str, str]]:
    """Rows of a CSV file."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def round2() -> list[Scored]:
    """Known figures of round 2 with ours."""
    lists = {row["id"]: row for row in rows(LISTS / "round2-calibration.csv")}
    naive = {row["id"]: row for row in rows(PAGES / "predictions-round2-naive.csv")}
    found = []
    for ours in rows(PAGES / "known-round2.csv"):
        listed, rivals = lists[ours["id"]], naive.get(ours["id"], {})
        found.append(
            Scored(
                id=ours["id"],
                experiment=listed["experiment"],
                kind="database" if ours["study"] in DATABASES else "drive",
                metric=listed["metric"],
                unit=listed["unit"],
                study=ours["study"],
                cell=ours["cell"],
                known=float(ours["published"]),
                ours=float(ours["ours"]),
                rivals={name: float(text) for name in RIVALS if (text := rivals.get(name))},
            )
        )
    return found


def round1() -> list[Scored]:
    """Figures of the first blind round that are known now, by their first predictions."""
    first = {row["id"]: row for row in rows(PAGES / "predictions.csv")}
    found = []
    for known in rows(LISTS / "revealed-round1.csv"):
        ours = first.get(known["id"])
        if ours is None or not ours["predicted"]:
            continue
        found.append(
            Scored(
                id=known["id"],
                experiment=known["experiment"],
                kind=FIRST_ROUND,
                metric=known["metric"],
                unit=known["unit"],
                study=ours["study"],
                cell=ours["cell"],
                known=float(known["value"]),
                ours=float(ours["predicted"]),
                rivals={},
            )
        )
    return found


def page(scored: Sequence[Scored]) -> str:
    """The page of all figures."""
    parts = [HEAD, headline(scored), PLOT]
    for kind in ("drive", "database", FIRST_ROUND):
        of_kind = [each for each in scored if each.kind == kind]
        if of_kind:
            parts += [f"## By experiment: {kind}\n", by_experiment(of_kind)]
    parts += ["## By mechanism\n", MECHANISMS, by_mechanism(scored)]
    parts += ["## Errata of the sources\n", ERRATA, errata()]
    parts += ["## Intervals\n", INTERVALS, intervals()]
    parts += ["## Fitted parameters of drives and hosts\n", FITTED, fitted()]
    worst = sorted(scored, key=lambda each: -each.error)[:WORST]
    parts += [f"## The {WORST} farthest\n", table(WORST_HEAD, map(worst_row, worst))]
    return "\n".join(parts)


PLOT = """![Ours against the known value of each figure](../images/scoreboard.svg)

Dashed: 25 % too much, 20 % too little. Gains are not shown.
"""
MECHANISMS = """Median errors of experiments that hang on a mechanism most, and their number of
figures. *Held*: experiments of two houses are within 25 %. *Not simulated*: known, but without ours
yet.
"""
ERRATA = """The list of known figures doubts these, for the reason beside them.
"""
INTERVALS = """90 % intervals of the report by one rule, of [drives](../model-error-drives.md) and
[databases](../model-error-databases.md). Coverage leaves out one experiment at a time; each has the
same weight. `pairs`: ratios of two known figures that differ in one thing alone. `by others`: too
few experiments have such figures, so that the width is that of a wider kind.
"""
FITTED = """Their figures are no evidence for the intervals. A parameter fitted on one experiment is
unvalidated.
"""


def by_mechanism(scored: Iterable[Scored]) -> str:
    """Experiments of each mechanism, and whether houses agree."""
    listed = rows(LISTS / "round2-calibration.csv")
    houses = {row["experiment"]: mechanisms.house_of(row["source"]) for row in listed}
    errors: dict[str, list[float]] = {}
    for each in scored:
        if each.kind != FIRST_ROUND:
            errors.setdefault(each.experiment, []).append(each.error)
    head = ("mechanism", "experiments", "not simulated", "held")
    return table(head, mechanisms.lines(mechanisms.mechanisms(houses, errors)))


def errata() -> str:
    """Known figures that their list doubts, by reason."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for row in rows(LISTS / "round2-calibration.csv"):
        doubt = row["trust"].partition(": ")[2]
        if doubt:
            by_reason.setdefault((row["experiment"], doubt), []).append(row["id"])
    lines = ((experiment, doubt, ", ".join(ids)) for (experiment, doubt), ids in by_reason.items())
    return table(("experiment", "doubt", "figures"), lines)


def intervals() -> str:
    """Half-width and coverage of each kind of interval."""
    head = ("figures of", "number", "experiments", "half-width", "coverage")
    return table(head, [*of_drives(), *of_databases()])


def of_drives() -> Iterator[tuple[str, ...]]:
    """Yield the lines of drives."""

    def width(family: str, drive: str, without: str) -> float:
        return drive_error.width(family, drive, without)[0]

    for family in (drive_error.RATE, drive_error.LATENCY, drive_error.TAIL):
        of_family = [k for k in drive_error.known() if drive_error.family_of(k.metric) == family]
        for drive in sorted({each.drive for each in of_family}):
            own = [(k.experiment, abs(k.off)) for k in of_family if k.drive == drive]
            yield covered(f"{drive}: {family}", own, partial(width, family, drive))
    for change in (drive_error.DRIVE, drive_error.LOAD):
        pairs = drive_error.pairs(drive_error.RATE, change)
        name = f"drives: pairs that differ in the {change}"
        yield covered(name, pairs, partial(drive_error.ratio_width, drive_error.RATE, change))


def of_databases() -> Iterator[tuple[str, ...]]:
    """Yield the lines of databases: of each family and program, and of pairs."""

    def width(family: str, word: str, slow_syncs: bool, without: str) -> float:
        found = database_error.evidence(family, word, without, slow_syncs=slow_syncs)
        return quantile(found[1])

    by_kind: dict[tuple[str, str, bool], list[tuple[str, float]]] = {}
    for each in database_error.known():
        kind = each.facts.workload.partition(" ")[0], each.family, each.facts.has_slow_syncs
        by_kind.setdefault(kind, []).append((each.experiment, abs(each.off)))
    for (word, family, slow_syncs), own in sorted(by_kind.items()):
        name = f"{word}: {family.replace('_', ' ')}"
        name += ", MySQL on flash without a capacitor" if slow_syncs else ""
        yield covered(name, own, partial(width, family, word, slow_syncs))
    for change in database_facts.CHANGES:
        pairs = database_error.pairs(database_error.RATE, change)
        if pairs:
            name = f"databases: pairs that differ in the {change}"
            width_of = partial(database_error.ratio_width, database_error.RATE, change)
            yield covered(name, pairs, width_of)


def covered(name: str, offs: Offs, width: Callable[[str], float]) -> tuple[str, ...]:
    """A line: the half-width as a factor less one, and the share inside by other evidence.

    `width`: the half-width without an experiment, or of all.
    """
    own = dict.fromkeys(experiment for experiment, _ in offs)
    inside = [[off <= width(each) for by, off in offs if by == each] for each in own]
    coverage = mean(mean(each) for each in inside)
    name += "" if is_enough(own) else " (by others)"
    return (name, str(len(offs)), str(len(own)), share(math.exp(width("")) - 1), share(coverage))


def fitted() -> str:
    """Each fitted parameter of round 2's profiles, with the figures that it was fitted on."""
    lines = [
        (name, key, str(change[0]), change[2])
        for kind in profiles.FILES
        for name, entry in profiles.entries(kind).items()
        for key, change in entry.get("change", {}).items()
        if len(change) > 2
    ]
    return table(("profile", "parameter", "value", "fitted on"), lines)


def headline(scored: Sequence[Scored]) -> str:
    """One row for each kind, and one for the gains of each."""
    lines = []
    for kind in dict.fromkeys(each.kind for each in scored):
        of_kind = [each for each in scored if each.kind == kind]
        groups: list[tuple[str, Callable[[Scored], bool]]] = [
            (kind, lambda each: each.unit != "%" and not is_tail(each)),
            (f"{kind}: ratios", lambda each: each.unit == "%"),
            (f"{kind}: tails", is_tail),
        ]
        for name, belongs in groups:
            some = [each for each in of_kind if belongs(each)]
            lines += [row_of(name, some)] if some else []
    return table(SUM_HEAD, lines)


def is_tail(figure: Scored) -> bool:
    """True of percentiles."""
    return figure.metric.rpartition(" ")[2] in ("p95", "p99", "p99.9")


SUM_HEAD = ("figures of", "number", "median error", "within 25 %", *(f"{r} (ours)" for r in RIVALS))
WORST_HEAD = ("id", "experiment", "metric", "cell", "known", "ours", "factor")


def by_experiment(scored: Sequence[Scored]) -> str:
    """One row for each experiment."""
    names = dict.fromkeys(each.experiment for each in scored)
    return table(SUM_HEAD, (row_of(n, [e for e in scored if e.experiment == n]) for n in names))


def row_of(name: str, some: Sequence[Scored]) -> tuple[str, ...]:
    """Number, median and share of ours, and each rival's median next to ours on its figures."""
    errors = [each.error for each in some]
    within = sum(error <= NEAR for error in errors) / len(errors)
    rivals = []
    for rival in RIVALS:
        answered = [each for each in some if rival in each.rivals]
        if not answered:
            rivals.append("")
            continue
        theirs = median(each.error_of(each.rivals[rival]) for each in answered)
        rivals.append(f"{share(theirs)} ({share(median(e.error for e in answered))})")
    return (name, str(len(some)), share(median(errors)), share(within), *rivals)


def share(value: float) -> str:
    """A share in per cent."""
    return "-" if math.isinf(value) else f"{100 * value:.0f} %"


def worst_row(each: Scored) -> tuple[str, ...]:
    """A figure that is far off."""
    known, ours = (as_ratio(value, each.unit) for value in (each.known, each.ours))
    factor = f"{ours / known:.2f}" if known > 0 else "-"
    return (
        *(each.id, each.experiment, each.metric, each.cell.replace(";", ", ")),
        *(f"{each.known:g} {each.unit}", f"{each.ours:g} {each.unit}", factor),
    )


def table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruled = [head, ["---"] * len(head), *lines]
    return "".join(f"| {' | '.join(line)} |\n" for line in ruled)


def main() -> None:
    """Write the page and its picture."""
    scored = [*round2(), *round1()]
    plain = [each for each in scored if each.unit != "%" and each.known > 0 and each.ours > 0]
    kinds = dict.fromkeys(each.kind for each in plain)
    groups = ((k, [(e.known, e.ours) for e in plain if e.kind == k]) for k in kinds)
    scoreboard_plot.draw(groups, IMAGE)
    PAGE.write_text(page(scored), encoding="utf-8")


if __name__ == "__main__":
    main()
