"""Study folder: results.json and report.html, rebuilt from the sealed runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from tameshi import guard
from tameshi.analysis.results import results
from tameshi.analysis.unknown import assumed
from tameshi.core import compiled
from tameshi.core.errors import BadInput, unknown_version
from tameshi.core.reasons import verdict, worst
from tameshi.core.spec_types import Summary
from tameshi.record import store
from tameshi.record.packs import Packs, StoredRuns
from tameshi.record.seal import is_packed
from tameshi.record.store import DamagedRun, SealedRun
from tameshi.report.sections.over_time import RunWindow, database_series, over_written
from tameshi.report.study import render, terminal_doubts, terminal_summary
from tameshi.report.view.inputs import ReportInputs
from tameshi.study.file import read_text
from tameshi.workflow.large_report import large_inputs
from tameshi.workflow.large_results import LargeResults

NANOSECONDS = 1e9
STUDY = "study.toml"
SUMMARY = "summary.json"
ORDER = "order.json"
ASKED = "asked.json"
"""Question and answer of `tameshi ask`, in its study's folder."""
READABLE_ASKED = (1, 2)
"""Versions of asked.json that a report shows."""
MARKED = (
    *("fail", "replace", "rebuilt", "power_cut", "failover", "crash", "restart", "pool_loaded"),
    "hook_begin",
)
"""Events marked in plots over time."""
SERIES_COUNTS = {
    "read.count": "read",
    "write.count": "write",
    "commit.count": "commit",
    "transaction.count": "transaction",
}


def write_summary(folder: Path, study: Summary, reproduce: Sequence[str]) -> None:
    """Write what the report needs and no run holds: the study's summary and the command lines."""
    value = {"study": study.model_dump(mode="json", by_alias=True), "reproduce": list(reproduce)}
    store.write_json(folder / SUMMARY, value)


def read_summary(folder: Path) -> tuple[Summary, list[str]]:
    """Read the summary of a study folder; raise `BadInput` if it is absent or damaged."""
    try:
        value = json.loads((folder / SUMMARY).read_bytes())
        return Summary.model_validate(value["study"]), list(value["reproduce"])
    except OSError:
        accepted = ["a folder that `tameshi run` made (its --out)"]
        raise BadInput("this is no study folder", where=str(folder), accepted=accepted) from None
    except (ValueError, KeyError, TypeError):
        raise _damaged(folder / SUMMARY) from None


@dataclass(frozen=True)
class StudyRuns:
    """Sealed runs of a study folder in the order of the plan, and damaged ones.

    A damaged run with a readable spec is among `runs` as a failed one.
    """

    runs: Sequence[SealedRun]
    damaged: list[DamagedRun]


def read_runs(folder: Path) -> StudyRuns:
    """Read every sealed run of a study folder; raise `BadInput` if its order.json is damaged."""
    order = folder / ORDER
    try:
        identities = [str(identity) for identity in json.loads(order.read_bytes())]
    except (OSError, ValueError, TypeError):
        raise _damaged(order) from None
    packs = Packs(folder) if is_packed(folder) else None
    damaged = packs.damage() if packs else []
    loose: dict[str, SealedRun] = {}
    for identity in identities:
        if packs and identity in packs.places:
            continue
        try:
            run = store.read_run(store.run_folder(folder, identity))
            run = run or store.read_lost(folder, identity)
        except DamagedRun as found:
            damaged.append(found)
            run = found.as_failed()
        if run:
            loose[identity] = run
    if packs:
        return StudyRuns(StoredRuns(packs, loose, identities), damaged)
    return StudyRuns(list(loose.values()), damaged)


def _damaged(path: Path) -> BadInput:
    hint = "The same `tameshi run` command writes it anew; finished runs are kept."
    return BadInput("this file is damaged or missing", where=str(path), hint=hint)


def write_order(folder: Path, identities: Iterable[str]) -> None:
    """Write the identities of the study's runs as planned; other folders in `runs` are older."""
    store.write_json(folder / ORDER, list(identities))


def write_results(folder: Path, study: Summary, runs: StudyRuns) -> dict[str, Any]:
    """Write results.json atomically."""
    if isinstance(runs.runs, StoredRuns):
        large = LargeResults(folder, study)
        document = large.document(runs.runs, large.update(runs.runs))
        document = _completed(folder, document, runs)
    else:
        document = found_in(folder, study, runs)
    store.write_json(folder / "results.json", document)
    return document


def found_in(folder: Path, study: Summary, runs: StudyRuns) -> dict[str, Any]:
    """Return the content of results.json for these runs; raise `BadInput` if tables of a large
    study lack cells."""
    if isinstance(runs.runs, StoredRuns):
        return _completed(folder, LargeResults(folder, study).read(runs.runs), runs)
    return _completed(folder, results(study, runs.runs), runs)


def _completed(folder: Path, document: dict[str, Any], runs: StudyRuns) -> dict[str, Any]:
    """Add damaged and unchecked runs, and the answer of `tameshi ask`."""
    if runs.damaged:
        document["damaged"] = [{"run": d.folder.name, "reason": d.damage} for d in runs.damaged]
        warning = verdict("warning", *(damaged.damage for damaged in runs.damaged))
        document["verdict"] = worst([document["verdict"], warning])
    # A packed run was checked.
    checked = runs.runs.loose.values() if isinstance(runs.runs, StoredRuns) else runs.runs
    unchecked = sum(not run.is_checked for run in checked if run.outcome["status"] != "failed")
    if unchecked:
        document["unchecked"] = unchecked
    asked = read_asked(folder)
    if asked is not None:
        document["asked"] = asked
    return document


def read_asked(folder: Path) -> dict[str, Any] | None:
    """Read the answer of `tameshi ask` in this folder; None if it is absent.

    Raises `BadInput` if it is damaged.
    """
    path = folder / ASKED
    try:
        asked = dict(json.loads(path.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError):
        hint = "Remove it and repeat `tameshi ask`; finished runs are kept."
        raise BadInput("this file is damaged", where=str(path), hint=hint) from None
    if (version := asked.get("schema_version")) not in READABLE_ASKED:
        raise unknown_version(
            "this answer has an unknown version", str(path), version, READABLE_ASKED
        )
    return asked


def inputs_of(
    folder: Path, found: dict[str, Any], runs: Sequence[SealedRun], reproduce: Sequence[str]
) -> ReportInputs:
    """Return everything that the report of a study folder shows."""
    if not isinstance(runs, StoredRuns):
        return report_inputs(found, runs, reproduce)
    text = read_text(folder / STUDY, "the study of these results")
    return large_inputs(folder, read_summary(folder)[0], text, found, runs, reproduce)


def report_inputs(
    found: dict[str, Any], runs: Sequence[SealedRun], reproduce: Sequence[str]
) -> ReportInputs:
    """Return everything that the report shows."""
    usable = [run for run in assumed(runs) if run.outcome["status"] != "failed"]
    environments: dict[str, Mapping[str, Any]] = {}
    for run in usable:
        environments.setdefault(run.spec.world.value, _shown(run.environment))
    first = {run.spec.world.value: run for run in reversed(usable)}
    return ReportInputs(
        results=found,
        environments=environments,
        reproduce=reproduce,
        percentiles=[curve for run in _first_of_cells(usable) for curve in _curves(run)],
        series=[
            *(series for run in _shown_over_time(usable, first) for series in _series(run)),
            *(series for run in first.values() for series in _over_written(run)),
            *database_series(_windows_of_databases(usable)),
        ],
        slowest=[slow for run in usable for slow in _slowest(run)],
    )


def _first_of_cells(usable: Sequence[SealedRun]) -> list[SealedRun]:
    """Return the first run of each world's cells."""
    first: dict[tuple[Any, ...], SealedRun] = {}
    for run in usable:
        first.setdefault((run.spec.world.value, *run.spec.cell.items()), run)
    return list(first.values())


def _shown_over_time(
    usable: Sequence[SealedRun], first: Mapping[str, SealedRun]
) -> list[SealedRun]:
    """Return the first run of each world, and of each cell with events.

    Cells with databases all have plots over time.
    """
    eventful = [run for run in usable if run.spec.events and not run.spec.repetition]
    others = [run for run in first.values() if run not in eventful and not run.spec.database]
    return others + eventful


def write_html(folder: Path, inputs: ReportInputs, lang: str) -> Path:
    """Replace report.html (report.ja.html in Japanese) in the study folder atomically."""
    path = folder / ("report.html" if lang == "en" else f"report.{lang}.html")
    guard.write_file(path, render(inputs, lang).encode(errors="replace"))
    return path


@dataclass(frozen=True)
class Shown:
    """Lines of a study's summary, and the path of its report."""

    answers: list[str]
    doubts: list[str]
    report: Path


def show(folder: Path, lang: str, found: dict[str, Any] | None = None) -> Shown:
    """Write results (rebuilt unless given) and report; return the summary."""
    summary, reproduce = read_summary(folder)
    runs = read_runs(folder)
    if found is None:
        found = write_results(folder, summary, runs)
    inputs = inputs_of(folder, found, runs.runs, reproduce)
    path = write_html(folder, inputs, lang)
    return Shown(terminal_summary(inputs, lang), terminal_doubts(inputs, lang), path)


def _shown(environment: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in environment.items() if key not in ("identity", "findings")}


def _curves(run: SealedRun) -> Iterable[dict[str, Any]]:
    """Return the latency percentile curves of one run, for phases that are not swept."""
    latencies = run.latencies()
    for index, phase in enumerate(run.spec.phases):
        if phase.levels:
            continue
        for tag, summary in latencies.items():
            number, part, stream, operation = tag.split("/")
            if int(number) == index and part == "steady":
                yield {
                    "world": run.spec.world.value,
                    "phase": phase.name,
                    "levels": {**run.spec.cell, **phase.levels},
                    "stream": stream,
                    "operation": operation,
                    "percentiles": summary["quantiles"],
                }


def _windows_of_databases(runs: Iterable[SealedRun]) -> Iterable[RunWindow]:
    """Yield the windows without levels of their own of each run with a database."""
    for run in runs:
        if run.spec.database:
            series = run.series()
            interval_s = compiled.nanoseconds(run.spec.interval) / NANOSECONDS
            cell = list(run.spec.cell.values())
            for window in run.outcome["windows"]:
                if not window["levels"]:
                    yield RunWindow(run.spec.world.value, cell, window, interval_s, series)


def _over_written(run: SealedRun) -> Iterable[dict[str, Any]]:
    """Return rates against the written amount, for phases that end by an amount or at steady
    state."""
    for window in run.outcome["windows"]:
        until = run.spec.phases[window["phase"]].until
        if not window["levels"] and until.amount and until.steady:
            curves = over_written(run.series(), window)
            if curves is not None:
                yield {"world": run.spec.world.value, **curves}


def _slowest(run: SealedRun) -> Iterable[dict[str, Any]]:
    """Return the slowest operations of each stream after each phase's ramp; of rounds, the
    window's."""
    counting = {
        window["phase"]: range(window["rounds"]["first"], window["rounds"]["last"] + 1)
        for window in run.outcome["windows"]
        if window["rounds"]
    }
    for event in run.events():
        if event["kind"] == "stream_end" and _counts(event, counting):
            phase = run.spec.phases[event["phase"]]
            for slow in event["slowest"]:
                yield {
                    "world": run.spec.world.value,
                    "phase": phase.name,
                    "levels": {**run.spec.cell, **phase.levels},
                    "stream": event["stream"],
                    **slow,
                }


def _counts(event: Mapping[str, Any], counting: Mapping[int, range]) -> bool:
    """Return whether a completion is within the spans of estimates."""
    kind, _, number = event["part"].partition("-")
    if kind == "round":
        return int(number) in counting.get(event["phase"], ())
    return bool(kind == "steady")


def _series(run: SealedRun) -> Iterable[dict[str, Any]]:
    """Return operations per second over time from one run, for phases that are not swept, and for
    the repetitions of a swept pause."""
    load = run.series().filter(
        pl.col("source") == "load", pl.col("metric").is_in(list(SERIES_COUNTS))
    )
    events = run.events() if run.spec.events else []
    marked = [event for event in events if event["kind"] in MARKED]
    repeated = [rounds.levels for rounds in run.spec.rounds or [] if rounds.times]
    for window in run.outcome["windows"]:
        if window["levels"] and window["levels"] not in repeated:
            continue
        begin = window["phase_begin_ns"]
        ends = pl.col("t_ns")
        during = ((ends > first) & (ends <= last) for first, last in window["visits"])
        inside = load.filter(pl.any_horizontal(*during))
        # Between two visits the phase is idle.
        returns = {first for first, _ in window["visits"][1:]} if len(inside) else set()
        times = sorted(returns | set(inside["t_ns"].to_list()))
        values: dict[str, list[float]] = {}
        for (subject, metric), frame in sorted(inside.group_by(["subject", "metric"])):
            rates = dict(
                zip(frame["t_ns"], frame["value"] / frame["dt_ns"] * NANOSECONDS, strict=True)
            )
            values[f"{subject} {SERIES_COUNTS[str(metric)]}"] = [rates.get(t, 0.0) for t in times]
        if values:
            happened = [e for e in marked if begin <= e["t_ns"] <= window["end_ns"]]
            cell = tuple(run.spec.cell.values()) if marked else ()
            yield {
                "levels": (*cell, *window["levels"].values()),
                "cell": {**run.spec.cell, **window["levels"]},
                "world": run.spec.world.value,
                "name": window["name"],
                "unit_key": "iops",
                "t_s": [(t - begin) / NANOSECONDS for t in times],
                "values": values,
                "marks": [
                    {"t_s": (e["t_ns"] - begin) / NANOSECONDS, "kind": e["kind"]} for e in happened
                ],
            }
