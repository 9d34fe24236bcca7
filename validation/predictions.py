"""Predictions of published figures, written once to docs/validation/predictions.csv.

The first row committed for an id stays; a later model's prediction goes into a file of its day.
Figures known beforehand are in calibration.csv next to ours.
"""

from __future__ import annotations

import csv
import hashlib
import io
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import date
from pathlib import Path
from typing import Any

from tameshi.record.store import SealedRun
from validation import LISTS


@dataclass(frozen=True)
class Prediction:
    """Prediction of a published figure by a study."""

    id: str
    predicted: str
    low: str
    high: str
    study: str
    cell: str
    digest: str


@dataclass(frozen=True)
class Calibration:
    """Figure known beforehand, with ours."""

    id: str
    unit: str
    published: str
    ours: str
    deviation_percent: str
    reason: str
    study: str
    cell: str
    digest: str


MET_PERCENT = 5.0
"""Largest error of a calibration figure that counts as met."""
MOST_DIGESTS = 4
COLUMNS = [field.name for field in fields(Prediction)]


def predictions(
    study: str, figures: Iterable[dict[str, Any]], runs: Sequence[SealedRun]
) -> list[Prediction]:
    """Return the predicted figures of a study's results, without those that no cell predicts."""
    rows = []
    for figure in figures:
        if figure["predicted"] is None or figure["published"] is not None:
            continue
        cell, digests = _place(figure["cell"], runs)
        value, low, high = (_number(figure[key]) for key in ("predicted", "low", "high"))
        row = Prediction(figure["id"], value, low, high, study, cell, digests)
        rows.append(row)
    return rows


def calibrations(
    study: str, figures: Iterable[dict[str, Any]], runs: Sequence[SealedRun]
) -> list[Calibration]:
    """Return the figures of a study's results that were known beforehand."""
    reasons, rows = exceptions(), []
    for figure in figures:
        if figure["predicted"] is not None and figure["published"]:
            cell, digests = _place(figure["cell"], runs)
            off = 100 * (float(_number(figure["predicted"])) / figure["published"] - 1)
            reason = reasons.get(figure["id"], "") if abs(off) > MET_PERCENT else ""
            values = (f"{figure['published']:.6g}", _number(figure["predicted"]), f"{off:+.1f}")
            row = Calibration(figure["id"], figure["unit"], *values, reason, study, cell, digests)
            rows.append(row)
    return rows


def exceptions() -> dict[str, str]:
    """Return reasons for missed calibration figures, by id."""
    table = tomllib.loads((LISTS / "exceptions.toml").read_text(encoding="utf-8"))
    groups = table["group"].values()
    return {figure: group["because"] for group in groups for figure in group["figures"]}


def _place(levels: dict[str, str], runs: Sequence[SealedRun]) -> tuple[str, str]:
    """Return a cell and its runs' digests as text; of many runs, a digest of the digests."""
    digests = sorted({run.outcome["digest"] for run in runs if _fits(run, levels)})
    joined = "+".join(digests)
    if len(digests) > MOST_DIGESTS:
        joined = hashlib.sha256(joined.encode()).hexdigest()[:32]
    return ";".join(f"{axis}={level}" for axis, level in levels.items()), joined


def _fits(run: SealedRun, cell: dict[str, str]) -> bool:
    own = run.spec.cell
    return all(own[axis] == level for axis, level in cell.items() if axis in own)


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.6g}"


def record(folder: Path, made: Iterable[Prediction], today: date) -> tuple[int, int]:
    """Append first predictions and changed ones; return the number of each."""
    first = folder / "predictions.csv"
    dated = folder / f"predictions-{today.isoformat()}.csv"
    last: dict[str, Prediction] = {}
    for path in [first, *sorted(folder.glob("predictions-[0-9]*.csv"))]:
        last |= {row.id: row for row in read(path)}
    new = [row for row in made if row.id not in last]
    changed = [row for row in made if row.id in last and row != last[row.id]]
    for path, rows in ((first, new), (dated, changed)):
        if rows:
            append(path, rows)
    return len(new), len(changed)


def read(path: Path) -> list[Prediction]:
    """Return the rows of a file; empty without the file."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [Prediction(**row) for row in csv.DictReader(file)]


def write_calibrations(
    path: Path, made: Mapping[str, Iterable[Calibration]], *, whole: bool
) -> int:
    """Write the calibration figures that studies reproduce, replacing those in the file.

    `whole`: replace all rows. Return the number of rows.
    """
    rows = [] if whole or not path.exists() else _read_calibrations(path)
    rows = [row for row in rows if row.study not in made]
    rows += [row for each in made.values() for row in each]
    rows.sort(key=lambda row: (row.id, row.study))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([field.name for field in fields(Calibration)])
    writer.writerows(astuple(row) for row in rows)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
    return len(rows)


def _read_calibrations(path: Path) -> list[Calibration]:
    with path.open(newline="", encoding="utf-8") as file:
        return [Calibration(**row) for row in csv.DictReader(file)]


def append(path: Path, rows: Iterable[Prediction]) -> None:
    """Append the rows to the file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    writer.writerows(astuple(row) for row in [*read(path), *rows])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.getvalue(), encoding="utf-8")
