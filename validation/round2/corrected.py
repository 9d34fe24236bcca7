"""`python -m validation.round2.corrected`: correct round 2's predictions by known figures.

Where figures of the same host, storage and work are known, what ours is off by there corrects the
others (`residuals.py`), and gives their interval. Other predictions stay as simulated. Writes
predictions-round2.csv and corrections.md.
"""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from typing import Annotated

import typer

from tameshi.analysis.published import QUANTILE
from tameshi.commands.consoles import OUT
from validation import LISTS, PAGES, predictions
from validation.round2 import residuals
from validation.round2.__main__ import KNOWN, SIMULATED, lists, read_studies
from validation.round2.places import PlacedFigure, placed_figures
from validation.round2.residuals import Known, Residuals
from validation.scoreboard import as_ratio

TO = PAGES / "predictions-round2.csv"
PAGE = PAGES / "corrections.md"
NEAR = math.log(1.25)
HEAD = """# Corrections by known figures

<!-- written by `python -m validation.round2.corrected` -->

Predictions of [round 2](../predictions.md) are simulated and then corrected: where figures of the
same host, storage and work are known, a Gaussian process carries over what ours is off by. It has
a part in common with all works of a host on a storage, one of the work, and one that changes with
the load (requests outstanding and share of reads; pool over data and clients). Another server
(MariaDB for MySQL) shares half of the latter two: a guess, as no known figures tell it. Without
such a known figure, a prediction stays as simulated.

Known figures, each predicted from the others. *Figure*: without its repetitions. *Load*: without
all of the same load. *Experiment*: without all of its experiment. Errors are medians of factors
less one, before and after; *held*: inside of the interval, which should hold 90 %.
"""
COLUMNS = (
    "| left out | figures | error | within 25 % | held | half-width |\n|---|---|---|---|---|---|"
)


@dataclass(frozen=True)
class Tried:
    """Known figure, as logarithm of ours over it, before and after its correction."""

    known: Known
    before: float
    after: float
    deviation: float


@dataclass(frozen=True)
class KnownRow:
    """Experiment and repetition that a known figure belongs to."""

    experiment: str
    cluster: str


Key = Callable[[Known], object]


@dataclass(frozen=True)
class Evidence:
    """Figures with their places, and what ours is off by where they are known, by domain."""

    figures: Mapping[str, PlacedFigure]
    residuals: Mapping[str, Residuals]


def main(
    simulated: Annotated[Path, typer.Option(help="Predictions as simulated.")] = SIMULATED,
    known: Annotated[Path, typer.Option(help="Known figures, with ours.")] = KNOWN,
    to: Annotated[Path, typer.Option(help="File of the predictions.")] = TO,
    page: Annotated[Path, typer.Option(help="Page of the corrections' errors.")] = PAGE,
) -> None:
    """Correct predictions by known figures of the same host, storage and work."""
    found = evidence(known)
    rows = predictions.read(simulated)
    made = correct(rows, found)
    to.unlink(missing_ok=True)
    predictions.append(to, made)
    page.write_text(page_text(found, rows), encoding="utf-8")
    changed = sum(old != new for old, new in zip(rows, made, strict=True))
    OUT.print(f"{changed} of {len(rows)} predictions corrected; {to}")


def evidence(known: Path) -> Evidence:
    """Return the figures of all studies, and what ours is off by where they are known."""
    figures = {each.id: each for study in read_studies() for each in placed_figures(study)}
    offs = defaultdict(list)
    with known.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            figure = figures.get(row["id"])
            ours, theirs = (as_ratio(float(row[key]), row["unit"]) for key in ("ours", "published"))
            if figure and ours > 0 and theirs > 0:
                off = figure.sign * math.log(ours / theirs)
                offs[figure.place.domain].append(Known(figure, off))
    return Evidence(figures, {domain: residuals.fitted(each) for domain, each in offs.items()})


def correct(
    rows: Iterable[predictions.Prediction], found: Evidence
) -> list[predictions.Prediction]:
    """Return the predictions, with those corrected whose surroundings have known figures."""
    return [_corrected(row, found) for row in rows]


def _corrected(row: predictions.Prediction, found: Evidence) -> predictions.Prediction:
    figure, unit = found.figures[row.id], lists()[row.id].unit
    known = found.residuals.get(figure.place.domain)
    ours = as_ratio(float(row.predicted), unit)
    if known is None or ours <= 0 or not known.reaches(figure):
        return row
    (off,), (deviation,) = known.of([figure])
    middle = ours * math.exp(-figure.sign * off)
    width = math.exp(QUANTILE * deviation)
    values = (middle, middle / width, middle * width)
    if unit == "%":
        values = (100 * (middle - 1), 100 * (middle / width - 1), 100 * (middle * width - 1))
    value, low, high = (f"{each:.6g}" for each in values)
    return replace(row, predicted=value, low=low, high=high)


def page_text(found: Evidence, rows: Sequence[predictions.Prediction]) -> str:
    """Return the page: errors of known figures, and the number of corrected predictions."""
    listed = known_rows()
    keys: Mapping[str, Key] = {
        "figure": lambda known: listed[known.figure.id].cluster,
        "load": lambda known: (known.figure.place.surroundings, known.figure.place.load),
        "experiment": lambda known: listed[known.figure.id].experiment,
    }
    parts = [HEAD]
    for domain, known in sorted(found.residuals.items()):
        parts += [f"\n## {domain.capitalize()}\n\n{COLUMNS}\n"]
        parts += [summary(name, tried(known, key)) for name, key in keys.items()]
        parts += [_shape(known)]
    reached: dict[str, int] = defaultdict(int)
    for row in rows:
        figure = found.figures[row.id]
        reached[figure.study] += found.residuals[figure.place.domain].reaches(figure)
    parts += ["\n## Corrected predictions\n\n| study | figures |\n|---|---|\n"]
    parts += [f"| {study} | {number} |\n" for study, number in sorted(reached.items()) if number]
    return "".join(parts)


def _shape(known: Residuals) -> str:
    common, own, changing, noise, *lengths = known.shape
    names = ("host and storage", "work", "load", "noise")
    parts = [
        f"{name} {100 * (math.exp(math.sqrt(each)) - 1):.0f} %"
        for name, each in zip(names, (common, own, changing, noise), strict=True)
    ]
    return (
        f"\nOne standard deviation: {', '.join(parts)}; lengths of the load: "
        f"{', '.join(f'{each:.2g}' for each in lengths)}.\n"
    )


def known_rows() -> dict[str, KnownRow]:
    """Return experiment and repetition of every known figure by its id."""
    with (LISTS / "round2-calibration.csv").open(newline="", encoding="utf-8") as file:
        rows = csv.DictReader(file)
        return {row["id"]: KnownRow(row["experiment"], row["cluster"]) for row in rows}


def tried(known: Residuals, key: Key) -> list[Tried]:
    """Return the known figures that others of their surroundings correct.

    Left out is all that has the same key.
    """
    groups = defaultdict(list)
    for each in known.known:
        groups[key(each)].append(each)
    found = []
    for group in groups.values():
        rest = known.without(group)
        reached = [each for each in group if rest.reaches(each.figure)]
        offs, deviations = rest.of([each.figure for each in reached]) if reached else ((), ())
        for each, off, deviation in zip(reached, offs, deviations, strict=True):
            found.append(Tried(each, each.off, each.off - float(off), float(deviation)))
    return found


def summary(name: str, found: Sequence[Tried]) -> str:
    """Return a row of the table."""
    if not found:
        return f"| {name} | 0 | – | – | – | – |\n"
    befores, afters = ([abs(off) for off in offs] for offs in _both(found))
    errors = " → ".join(f"{_percent(median(offs))} %" for offs in (befores, afters))
    near = " → ".join(
        f"{100 * sum(off <= NEAR for off in offs) / len(offs):.0f} %" for offs in (befores, afters)
    )
    held = sum(abs(each.after) <= QUANTILE * each.deviation for each in found) / len(found)
    half = _percent(QUANTILE * median(each.deviation for each in found))
    return f"| {name} | {len(found)} | {errors} | {near} | {100 * held:.0f} % | {half} % |\n"


def _both(found: Sequence[Tried]) -> tuple[list[float], list[float]]:
    return [each.before for each in found], [each.after for each in found]


def _percent(logarithm: float) -> str:
    return f"{100 * (math.exp(logarithm) - 1):.0f}"


if __name__ == "__main__":
    typer.run(main)
