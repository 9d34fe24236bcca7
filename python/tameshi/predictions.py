"""What we predict of published figures, written down once: docs/validation/predictions.csv.

The first row committed for an id stays; when a later model says otherwise, a row goes into a file
of the day it said so.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from tameshi.store import SealedRun


@dataclass(frozen=True)
class Prediction:
    """One published figure as a study of ours predicts it."""

    id: str
    predicted: str
    low: str
    high: str
    study: str
    cell: str
    digest: str


COLUMNS = [field.name for field in fields(Prediction)]


def predictions(
    study: str, figures: Iterable[dict[str, Any]], runs: Sequence[SealedRun]
) -> list[Prediction]:
    """The predicted figures of a study's results; those that no cell predicts are left out."""
    found = []
    for figure in figures:
        if figure["predicted"] is None:
            continue
        digests = sorted({run.outcome["digest"] for run in runs if _fits(run, figure["cell"])})
        cell = ";".join(f"{axis}={level}" for axis, level in figure["cell"].items())
        value, low, high = (_number(figure[key]) for key in ("predicted", "low", "high"))
        row = Prediction(figure["id"], value, low, high, study, cell, "+".join(digests))
        found.append(row)
    return found


def _fits(run: SealedRun, cell: dict[str, str]) -> bool:
    own = run.spec.cell
    return all(own[axis] == level for axis, level in cell.items() if axis in own)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def record(folder: Path, made: Iterable[Prediction], today: date) -> tuple[int, int]:
    """Append first predictions, and those that differ from the last; returns how many of each."""
    first = folder / "predictions.csv"
    dated = folder / f"predictions-{today.isoformat()}.csv"
    last: dict[str, Prediction] = {}
    for path in [first, *sorted(folder.glob("predictions-*.csv"))]:
        last |= {row.id: row for row in read(path)}
    new = [row for row in made if row.id not in last]
    changed = [row for row in made if row.id in last and row != last[row.id]]
    for path, rows in ((first, new), (dated, changed)):
        if rows:
            append(path, rows)
    return len(new), len(changed)


def read(path: Path) -> list[Prediction]:
    """The rows of a file; none where there is no file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Prediction(**row) for row in csv.DictReader(file)]


def append(path: Path, rows: Iterable[Prediction]) -> None:
    """Write the file with the rows behind what it holds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(row) for row in [*read(path), *rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
