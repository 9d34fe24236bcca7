"""Page docs/validation/simulated-databases.md: our figures next to known ones of databases."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from string import ascii_lowercase
from types import MappingProxyType

from tameshi.analysis.database_error import ODDS, family_of
from tameshi.analysis.model_error import WHOLE_STUDY, Validated, validated
from tameshi.analysis.published import listed
from validation.fitted import Fitted, fitted
from validation.predictions import Prediction, read

PAGE = "simulated-databases.md"
STUDIES = (
    *("mysql-disk-or-flash", "mysql-disk-or-flash-short", "mirrored-ha"),
    *("pcie-ssd-mysql", "pcie-ssd-mysql-failure", "pcie-ssd-mysql-atomic"),
    "flash-card-review-applications",
)
"""Studies with published figures of databases; a deleted one made first predictions."""
LATER = "predictions-"
"""Prefix of files with later predictions; the day follows."""
NEAR, FAR = 0.05, 0.25
HEAD = """# Simulated databases beside what is known

<!-- written by `python -m validation` and `python -m bench.beside_mariadb --write` -->

`databases.csv` holds the rows of short cells, of whole studies and of the real server. Those that
set no parameter are part of the evidence of
[model error](../model-error-databases.md). An error is ours over what is known, less one; of hit
ratios, in points.
"""


@dataclass(frozen=True)
class Latest:
    """Latest prediction of a figure, with its day."""

    predicted: str
    day: str


def write_page(folder: Path) -> None:
    """Write the page next to the lists that it is made of."""
    rows = [*validated()]
    path = folder / PAGE
    path.parent.mkdir(parents=True, exist_ok=True)
    text = page(rows, calibrations(folder), predicted(folder), latest(folder), fitted())
    path.write_text(text, encoding="utf-8")


def calibrations(folder: Path) -> list[dict[str, str]]:
    """Return the rows of calibration.csv of database studies; empty without the file."""
    path = folder / "calibration.csv"
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [row for row in csv.DictReader(file) if row["study"] in STUDIES]


def predicted(folder: Path) -> list[Prediction]:
    """Return the first predictions of database figures."""
    return [row for row in read(folder / "predictions.csv") if row.study in STUDIES]


def latest(folder: Path) -> dict[str, Latest]:
    """Return by figure a later model's prediction, if it differs from the first."""
    by_figure: dict[str, Latest] = {}
    for path in sorted(folder.glob(f"{LATER}[0-9]*.csv")):
        day = path.stem.removeprefix(LATER)
        by_figure |= {row.id: Latest(row.predicted, day) for row in read(path)}
    return by_figure


def page(
    rows: Sequence[Validated],
    known: Sequence[dict[str, str]],
    blind: Sequence[Prediction],
    later: Mapping[str, Latest] = MappingProxyType({}),
    parameters: Sequence[Fitted] = (),
) -> str:
    """Return the whole page."""
    short = [row for row in rows if row.note != WHOLE_STUDY]
    published = [row for row in short if row.source in listed()]
    measured = [row for row in rows if row.source not in listed()]
    parts = [HEAD]
    parts += ["## Published figures that may set parameters", ""]
    parts += _calibration_rows(published, known, parameters)
    parts += ["", "## A real MariaDB on the machine at hand", ""]
    parts += [*_measured(measured), "", "## Blind predictions", "", *_blind(blind, later)]
    parts += ["", "## Fitted parameters", "", *_parameters(parameters)]
    return "\n".join(parts).rstrip() + "\n"


def _calibration_rows(
    rows: Sequence[Validated], known: Sequence[dict[str, str]], parameters: Sequence[Fitted]
) -> Iterator[str]:
    """Return calibration cells: by whole studies where they were run, and short and warm."""
    if known:
        setting = {row["id"] for row in known} & {f for p in parameters for f in p.figures}
        yield "As whole studies (`make predictions`):"
        yield ""
        yield (
            f"{len(setting)} of {len({row['id'] for row in known})} figures set parameters "
            "(*fitted on it*): that they are met says little about others."
        )
        yield ""
        reasons, notes = lettered([row["reason"] for row in known])
        yield from _table(
            ("figure", "published", "ours", "error", "fitted on it", "why it is off"),
            (
                (
                    row["id"],
                    f"{float(row['published']):,.6g} {row['unit']}",
                    _amount(float(row["ours"])),
                    f"{row['deviation_percent']} %",
                    _set_by(row["id"], parameters),
                    reason,
                )
                for row, reason in zip(known, reasons, strict=True)
            ),
        )
        yield from notes
    if rows:
        if known:
            yield ""
        yield "Short cells (`python -m bench.beside_mariadb --published`):"
        yield ""
        yield from _compared(rows)
    if not rows and not known:
        yield "None has been run."


def _set_by(figure: str, parameters: Sequence[Fitted]) -> str:
    """Return the parameters that a figure has set, by the ends of their keys."""
    return ", ".join(
        f"`{'.'.join(each.key.split('.')[-2:])}`" for each in parameters if figure in each.figures
    )


def lettered(reasons: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return repeated reasons as a letter each, with the lines that explain them."""
    shared = [reason for reason, times in Counter(reasons).items() if reason and times > 1]
    letters = {
        reason: f"({letter})" for reason, letter in zip(shared, ascii_lowercase, strict=False)
    }
    letter_rows = [letters.get(reason, reason) for reason in reasons]
    notes = [line for reason, letter in letters.items() for line in ("", f"{letter} {reason}")]
    return letter_rows, notes


def _compared(rows: Sequence[Validated]) -> Iterator[str]:
    yield from _table(
        ("figure", "what", "known", "ours", "error", "fitted on it", "note"),
        (
            (
                row.source,
                f"{row.facts.profile}, {row.facts.storage}, pool {row.facts.pool_share:.0%}",
                _number(row.reference, row.metric),
                _number(row.ours, row.metric),
                _error(row),
                row.fitted,
                row.note,
            )
            for row in rows
        ),
    )


def _measured(rows: Sequence[Validated]) -> Iterator[str]:
    """Return a table of each cell's metrics with their errors."""
    if not rows:
        yield "Nothing has been measured: `python -m bench.beside_mariadb --write`."
        return
    sound = [row for row in rows if not row.invalid]
    for family, figures in _by_family(sound).items():
        errors = [abs(row.off) for row in figures]
        near = sum(error <= math.log1p(NEAR) for error in errors)
        far = sum(error > math.log1p(FAR) for error in errors)
        middle = math.expm1(median(errors))
        yield (
            f"- {family}: median error {middle:.0%}, worst {math.expm1(max(errors)):.0%}; "
            f"{near} of {len(figures)} within {NEAR:.0%}, {far} beyond {FAR:.0%}."
        )
    yield ""
    yield from _table(
        ("cell", "metric", "measured", "simulated", "error"),
        (
            (
                row.source,
                row.metric,
                _number(row.reference, row.metric),
                _number(row.ours, row.metric),
                f"({_error(row)})" if row.invalid else _error(row),
            )
            for row in rows
        ),
    )
    invalid = (
        f"In brackets, and not counted: {row.source}, whose measurement is invalid: {row.invalid}."
        for row in rows
        if row.invalid
    )
    notes = dict.fromkeys([*(row.note for row in rows if row.note), *invalid])
    yield from ["", *notes]


def _by_family(rows: Iterable[Validated]) -> dict[str, list[Validated]]:
    families: dict[str, list[Validated]] = {}
    for row in rows:
        odds = " (odds)" if family_of(row.metric) in ODDS else ""
        families.setdefault(f"{row.metric}{odds}", []).append(row)
    return families


def _blind(rows: Sequence[Prediction], later: Mapping[str, Latest]) -> Iterator[str]:
    """Return the blind predictions, without a statement on their errors."""
    if not rows:
        yield "None of a database has been made yet."
        return
    yield "Not scored here: their values are not known to this project."
    yield ""
    changed = [later.get(row.id) for row in rows]
    sides = [_outside(row, last) for row, last in zip(rows, changed, strict=True)]
    apart = [f"{row.id} {side}" for row, side in zip(rows, sides, strict=True) if side]
    if apart:
        yield (
            f"What the latest model says lies outside the first prediction's interval for "
            f"{len(apart)} of {len(rows)}: {', '.join(apart)}. The interval that came first stays, "
            "and where it was too narrow for what the model was still to become, it was too narrow."
        )
    else:
        yield "What the latest model says lies within the first prediction's interval throughout."
    yield ""
    yield from _table(
        ("figure", "unit", "predicted", "from", "to", "latest", "on", "outside the first", "cell"),
        (
            (
                *(row.id, listed()[row.id].unit, row.predicted, row.low, row.high),
                *((last.predicted, last.day) if last else ("as first", "")),
                side,
                row.cell,
            )
            for row, last, side in zip(rows, changed, sides, strict=True)
        ),
    )


def _outside(first: Prediction, last: Latest | None) -> str:
    """Return the side of the first interval on which a later prediction lies; empty within it."""
    if last is None or not (first.low and first.high and last.predicted):
        return ""
    value = float(last.predicted)
    return "below" if value < float(first.low) else "above" if value > float(first.high) else ""


def _parameters(parameters: Sequence[Fitted]) -> Iterator[str]:
    """Return the fitted parameters with their basis; all others have a source or are priors."""
    if not parameters:
        yield "None."
        return
    yield (
        "Of engine and host profiles (`fitted_on` there) and of studies (their comments); what "
        "does not stand here was set from its source, or is called a prior there."
    )
    yield ""
    yield from _table(
        ("profile or study", "parameter", "value", "fitted on"),
        ((each.place, f"`{each.key}`", each.value, each.on) for each in parameters),
    )


def _number(value: float, metric: str) -> str:
    return f"{value:.2%}" if family_of(metric) in ODDS else _amount(value)


def _amount(value: float) -> str:
    """Return a number to four significant digits, or as a whole number."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.4g}"


def _error(row: Validated) -> str:
    if family_of(row.metric) in ODDS:
        return f"{100 * (row.ours - row.reference):+.2f} points"
    return f"{row.ours / row.reference - 1:+.1%}"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', '/') for cell in row)} |"
