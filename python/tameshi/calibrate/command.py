"""`tameshi calibrate`: target or results to a profile with a report of its fit."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any

from rich.console import Console

from tameshi import guard
from tameshi.calibrate import design
from tameshi.calibrate.cells import KINDS, Cell, Figures, with_held_out
from tameshi.calibrate.documents import is_results
from tameshi.calibrate.fio_cells import read_fio
from tameshi.calibrate.fit import Fitted, beyond, error_of, fit_all
from tameshi.calibrate.models import candidates
from tameshi.calibrate.profile import profile_text
from tameshi.calibrate.recorded import Recorded, in_words, read_recorded
from tameshi.core import compiled
from tameshi.core.errors import BadInput, counted
from tameshi.core.reasons import about
from tameshi.core.spec_types import World
from tameshi.fio.documents import documents_of
from tameshi.fio.json import is_fio, last_state
from tameshi.record import store
from tameshi.report.fit import fit_markdown, fit_page
from tameshi.study.bindings import Bindings
from tameshi.study.file import StudyFile
from tameshi.workflow.execute import Conducted, conduct, remove_targets
from tameshi.workflow.prepare import Prepared, prepare

FIT_VERSION = 1
"""Version of fit.json; 1 is the first."""
MODELS = ("volume", "flash", "hdd")
USED_BYTES = 1 << 30
"""Default size of the used part of a target."""
SHOWN = 3
"""Excluded cells named in an error."""
FAR = 0.25
"""Relative error above which a rate counts as not predicted."""
FEWEST = 3
"""Least number of cells for a fit."""


TARGETS = (
    "a directory, in which Tameshi creates its own file",
    "a file or a whole drive, with --destroy",
    "a folder or results.json of `tameshi run`, or fio's JSON",
)
"""Words for what a profile can be fitted to."""


@dataclass(frozen=True)
class Asked:
    """Request of `tameshi calibrate`."""

    what: Path
    out: Path
    name: str
    model: str | None = None
    size_bytes: int | None = None
    """Used bytes of a target (default 1 GiB); for results, the size of their device or file."""
    budget_s: float = 300.0
    repetitions: int = 3
    quick: bool = False
    destroy: tuple[str, ...] = ()
    keep: bool = False
    fresh: bool = False


@dataclass(frozen=True)
class Calibrated:
    """Result of a calibration."""

    document: Mapping[str, Any]
    profile: Path
    report: Path


def check_target(asked: Asked) -> None:
    """Raise `BadInput` if there is nothing to measure: with a mistyped name of results, a
    measurement would start."""
    if not asked.what.exists() and not asked.out.exists():
        raise BadInput("no such file or directory", where=str(asked.what), accepted=TARGETS)


def measuring(asked: Asked) -> Prepared:
    """Return the measuring study, examined; nothing is created yet."""
    cells = len(design.QUICK if asked.quick else design.CELLS)
    least = design.least_budget(cells, asked.repetitions)
    if asked.budget_s < least:
        raise BadInput(
            (
                f"{counted(cells, 'cell')}, {asked.repetitions} times each, cannot be measured "
                "in this time"
            ),
            where="--time",
            found=f"{asked.budget_s:.0f} s",
            accepted=[f"{math.ceil(least)} s or more", "fewer --repetitions", "--quick"],
        )
    seconds = design.run_seconds(cells, asked.repetitions, asked.budget_s)
    text = design.study_text(
        asked.size_bytes or USED_BYTES, seconds, asked.repetitions, quick=asked.quick
    )
    study = StudyFile(design.NAME, asked.out / "study.toml", text)
    bound = Bindings(storage={design.STORAGE: asked.what}, destroy=asked.destroy)
    return prepare(study, [World.measured], bound, quick=False)


def measure(
    prepared: Prepared, asked: Asked, console: Console, reproduce: Sequence[str]
) -> Conducted:
    """Measure the missing cells; a later call with the same request resumes."""
    if asked.fresh and asked.out.exists():
        guard.remove_folder(asked.out)
    done = conduct(prepared, asked.out, console, jobs=1, reproduce=reproduce)
    if done.complete and not asked.keep:
        remove_targets(prepared.examined.values(), asked.out)
    return done


def calibrate(asked: Asked, console: Console) -> Calibrated:
    """Fit the measurements, and write profile and report.

    Raises `BadInput` for files that are not results or hold too few cells.
    """
    recorded = trusted(_read(asked))
    cells = _with_roles(recorded, asked)
    if recorded.ignored:
        words = f"note: ignored, without bearing on these results: {', '.join(recorded.ignored)}"
        console.print(words, markup=False, soft_wrap=True)
    if len([cell for cell in cells if not cell.held_out]) < FEWEST:
        left_out = in_words(recorded.left_out[:SHOWN])
        reasons = "; ".join(filter(None, (counted(len(cells), "cell"), left_out)))
        accepted = [f"{FEWEST} cells or more that are not held out"]
        message = "too few cells for a fit"
        raise BadInput(message, where=str(asked.what), found=reasons, accepted=accepted)
    models = candidates(cells, recorded.capacity, asked.model)
    if not models:
        message = (
            "no model can be fitted: there is neither a cell of only reads nor one of only writes"
        )
        raise BadInput(message, where=str(asked.what))

    def watch(model: str, simulated: int) -> None:
        if simulated % 20 == 0:
            console.print(f"fitting {model}: {simulated} candidates simulated", markup=False)

    fits = fit_all(cells, models, watch)
    basis = basis_of(asked, recorded, cells)
    tried = {fit.model.name for fit in fits}
    document = _document(asked, recorded, cells, fits, basis) | {
        "not_tried": [
            {"model": model.name, "parameters": len(model.parameters)}
            for model in beyond(cells, models)
            if model.name not in tried
        ]
    }
    return _write(asked, fits[0], document, basis)


def _read(asked: Asked) -> Recorded:
    path = asked.what
    if not is_results(path):
        return read_recorded(asked.out)
    if not path.is_dir():
        documents = documents_of(path)
        if all(is_fio(document) for document in documents):
            recorded = read_fio(path, last_state(path, documents), asked.size_bytes)
            environment = {**recorded.environment, "states": len(documents)}
            return replace(recorded, environment=environment)
        document = documents[0]
        if len(documents) > 1 or not isinstance(document, dict) or "cells" not in document:
            accepted = ["results.json of `tameshi run`", "fio --output-format=json"]
            raise BadInput("no results found here", where=str(path), accepted=accepted)
    recorded = read_recorded(path)
    return replace(recorded, capacity=asked.size_bytes or recorded.capacity)


def trusted(recorded: Recorded) -> Recorded:
    """Return the cells without contradictory figures, and the names of the others."""
    doubted = [about(cell.name, cell.distrust) for cell in recorded.cells if cell.distrust]
    cells = [cell for cell in recorded.cells if not cell.distrust]
    return replace(recorded, cells=cells, left_out=[*recorded.left_out, *doubted])


def _with_roles(recorded: Recorded, asked: Asked) -> list[Cell]:
    """Mark held-out cells: by the design if it was measured, else by the rule."""
    names = {cell.name for cell in recorded.cells}
    if names <= {cell.name for cell in design.CELLS}:
        return [replace(cell, held_out=cell.name in design.HELD_OUT) for cell in recorded.cells]
    return with_held_out(recorded.cells)


def basis_of(asked: Asked, recorded: Recorded, cells: Sequence[Cell]) -> str:
    """Return a phrase on the measurements behind a profile."""
    count = len([cell for cell in cells if not cell.held_out])
    facts = [counted(count, "cell"), date.today().isoformat()]
    environment = recorded.environment
    if "fio" in environment:
        facts.append(f"results of {environment['fio']}")
    if (states := environment.get("states", 1)) > 1:
        facts.append(f"the last of {states} states of the run that the file holds")
    if environment.get("kernel"):
        facts.append(f"Linux {environment['kernel']}")
    for target in environment.get("targets", {}).values():
        device = target.get("device") or {}
        known = [device.get("model"), device.get("serial"), device.get("name")]
        facts.append(" ".join(str(each) for each in known if each) or "an unknown device")
        if target.get("file_system"):
            facts.append(f"through {target['file_system']}")
    if environment.get("world") == "simulated":
        facts.append(f"simulated: {environment.get('model', '')}")
    return ", ".join(facts)


def _document(
    asked: Asked, recorded: Recorded, cells: Sequence[Cell], fits: Sequence[Fitted], basis: str
) -> dict[str, Any]:
    best = fits[0]
    rows = [_row(cell, best.figures[cell.name]) for cell in cells]
    return {
        "schema_version": FIT_VERSION,
        "name": asked.name,
        "source": str(asked.what),
        "basis": basis,
        "model": best.model.kind,
        "considered": [
            {
                "model": fit.model.name,
                "score": round(fit.score, 2),
                "penalty": round(fit.penalty, 2),
                "error": round(fit.error, 4),
            }
            for fit in fits
        ],
        "parameters": [
            {
                "key": each.parameter.key,
                "unit": each.parameter.unit,
                "value": each.value,
                "error": each.error,
                "told": each.determined,
            }
            for each in best.estimates
        ],
        "untold": list(best.model.undetermined),
        "cells": rows,
        "summary": {role: _summary(rows, role == "held_out") for role in ("fitted", "held_out")},
        "left_out": recorded.left_out,
    }


def _row(cell: Cell, figures: Mapping[str, Figures]) -> dict[str, Any]:
    spread = cell.spread
    low_high = {}
    if spread is not None:
        low_high = {"low": cell.rate * math.exp(-spread), "high": cell.rate * math.exp(spread)}
    simulated = sum(figures[kind].rate for kind in KINDS if kind in figures)
    return {
        "cell": cell.name,
        "held_out": cell.held_out,
        "measured": {"rate": cell.rate, **low_high, **_latencies(cell.operations)},
        "simulated": {"rate": simulated, **_latencies(figures)},
        "error": error_of(cell, figures),
        "findings": list(cell.findings),
    }


def _latencies(figures: Mapping[str, Figures]) -> dict[str, float | None]:
    """Return median and p99 of the kind with the most operations."""
    kinds = [figures[kind] for kind in KINDS if kind in figures]
    if not kinds:
        return {"p50": None, "p99": None}
    most = max(kinds, key=lambda each: each.rate)
    return {"p50": most.quantile(0.5), "p99": most.quantile(0.99)}


def _summary(rows: Sequence[Mapping[str, Any]], held_out: bool) -> dict[str, Any]:
    rows = [row for row in rows if row["held_out"] == held_out]
    errors = [abs(row["error"]) for row in rows]
    medians = [
        abs(row["simulated"]["p50"] / row["measured"]["p50"] - 1)
        for row in rows
        if row["measured"]["p50"] and row["simulated"]["p50"]
    ]
    repeated = [row for row in rows if "low" in row["measured"]]
    return {
        "cells": len(errors),
        "within_10": len([error for error in errors if error <= 0.1]),
        "beyond_25": len([error for error in errors if error > FAR]),
        "median_error": median(errors) if errors else None,
        "worst_error": max(errors, default=None),
        "median_error_p50": median(medians) if medians else None,
        "within_10_p50": len([error for error in medians if error <= 0.1]),
        "repeated": len(repeated),
        "known_to_10": len([row for row in repeated if _is_known(row["measured"])]),
        "within_10_of_interval": len([row for row in repeated if _is_near(row)]),
    }


def _is_known(measured: Mapping[str, float], share: float = 0.1) -> bool:
    """Return whether the relative 95 % interval of a rate is at most this wide."""
    rate, low, high = measured["rate"], measured["low"], measured["high"]
    return low >= rate * (1 - share) and high <= rate * (1 + share)


def _is_near(row: Mapping[str, Any], share: float = 0.1) -> bool:
    """Return whether a rate within the measurement's interval is this near to the simulated one."""
    low, high = row["measured"]["low"] * (1 - share), row["measured"]["high"] * (1 + share)
    return bool(low <= row["simulated"]["rate"] <= high)


def _write(asked: Asked, best: Fitted, document: Mapping[str, Any], basis: str) -> Calibrated:
    guard.claim_folder(asked.out)
    folder = asked.out / "profiles" / "devices"
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / f"{asked.name}.toml"
    description = f"Calibrated by Tameshi: {basis}"
    outside = {
        "volume": "the requested data or nothing",
        "flash": "of profile nvme-tlc-3.84tb",
        "hdd": "of profile sas-15k-146gb",
    }[best.model.kind]
    text = profile_text(best, description, basis, outside)
    compiled.device_profile(asked.name, str(profile), text)
    guard.write_file(profile, text.encode())
    store.write_json(asked.out / "fit.json", document)
    guard.write_file(asked.out / "fit.md", fit_markdown(document).encode())
    report = asked.out / "fit.html"
    guard.write_file(report, fit_page(document).encode())
    return Calibrated(document, profile, report)


def plain_name(wanted: str) -> str:
    """Return a valid name of a profile."""
    return re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-.") or "disk"
