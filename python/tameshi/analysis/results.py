"""results.json: from a study's sealed runs to cells, estimates and ratios.

A pure function of the records.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from tameshi.analysis import drive_error, load_search, unknown
from tameshi.analysis.cell_ratios import ratios_between
from tameshi.analysis.database_facts import Facts, facts_of
from tameshi.analysis.deviations import ledger
from tameshi.analysis.document_store import arrives, facts_of_store
from tameshi.analysis.failovers import failovers
from tameshi.analysis.findings import (
    arrivals_vary,
    capacity_of,
    findings_of,
    loaded,
    phase_of,
    shared_drives,
    wear_of,
    writes,
)
from tameshi.analysis.hosts import flag_hosts
from tameshi.analysis.imported import imported_estimates, is_imported
from tameshi.analysis.left_out import left_out
from tameshi.analysis.model_error import down_ns, of_event, of_life, with_model
from tameshi.analysis.power_cuts import power_cuts
from tameshi.analysis.published import RAMPED, WHOLE, published
from tameshi.analysis.series import Frames, Stretch, program_words, sampled
from tameshi.analysis.stats import bottleneck, programs, timeline
from tameshi.analysis.stats.endurance import endurance
from tameshi.analysis.stats.estimates import (
    NANOSECONDS,
    PERCENTILES,
    Estimate,
    WindowData,
    entry,
    estimates,
)
from tameshi.analysis.stats.offered_load import bounded, is_offered, offered
from tameshi.analysis.stats.power import power
from tameshi.analysis.stats.served import served_drives
from tameshi.analysis.stats.stationarity import Flag, flags
from tameshi.analysis.streams import streams
from tameshi.core import compiled
from tameshi.core.reasons import verdict, worst
from tameshi.core.spec_types import PhaseSpec, PhaseStream, RunSpec, Summary, World
from tameshi.record.store import SealedRun

SIMULATED = World.simulated.value
RESULTS_VERSION = 2
"""Version of results.json. 1: first version; 2: reasons and methods as codes."""
ENDINGS = ("complete", "partial", "failed")
PROFILE, SCAN = "profile", "scan"
STORAGE, HOST = "storage.", "host"
"""Subjects of the load's series that are not streams: prefix of storages, and the host."""


@dataclass(frozen=True)
class Cell:
    """One phase at one combination of levels in one world, with its runs."""

    world: str
    phase: str
    levels: Mapping[str, str]
    index: int
    spec: PhaseSpec
    runs: Sequence[SealedRun]


def results(study: Summary, runs: Sequence[SealedRun]) -> dict[str, Any]:
    """Return the content of results.json; see docs/records-results.md."""
    cells = cells_of(study, runs)
    chosen = unknown.assumed(runs)
    loads = [loaded(c.world, c.levels, c.spec, c.runs[0].spec) for c in _cells(chosen)]
    axes = [
        {"name": axis.name, "varies": axis.varies.value, "levels": axis.levels}
        | ({"offered": True} if is_offered(axis.name, loads) else {})
        for axis in study.axes
    ]
    return {
        "schema_version": RESULTS_VERSION,
        "study": heading_of(study),
        "axes": axes,
        **unknown.settings_of(study),
        "streams": streams(run.spec for run in runs),
        "cells": cells,
        "ratios": list(ratios_between(axes, cells)),
        "published": published(study, cells),
        "method": ledger(study, chosen),
        "searches": list(load_search.answers(study, cells)),
        "left_out": left_out(run.spec for run in runs),
        "verdict": worst(cell["verdict"] for cell in cells),
    }


def heading_of(study: Summary) -> dict[str, Any]:
    """Return name, title, question and own words of a study."""
    return {
        "name": study.name,
        "title": study.title,
        "question": study.question,
        "quick": bool(study.quick),
        **({"answer": study.answer.model_dump(mode="json")} if study.answer else {}),
        **({"japanese": study.japanese.model_dump(mode="json")} if study.japanese else {}),
    }


def cells_of(study: Summary, runs: Sequence[SealedRun]) -> list[dict[str, Any]]:
    """Return the cells of these runs, which may be some cells of the study with all their runs."""
    figures = study.published or ()
    asked = {figure.window for figure in figures if figure.window}
    # Figures with the ramp need the phase and the whole.
    asked |= {WHOLE for figure in figures if figure.model_dump(mode="json")["derived"] == RAMPED}
    read = [run for run in runs if run.outcome["status"] != "failed"]
    with ThreadPoolExecutor() as readers:
        frames = dict(zip((run.folder for run in read), readers.map(Frames, read), strict=True))
    cells = [_cell(study, cell, frames, asked) for cell in _cells(unknown.assumed(runs))]
    for setting, tried in unknown.others(runs).items():
        unknown.add(cells, (_cell(study, cell, frames, asked) for cell in _cells(tried)), setting)
    flag_hosts(cells)
    return cells


def _cells(runs: Sequence[SealedRun]) -> list[Cell]:
    cells: dict[tuple[Any, ...], Cell] = {}
    for run in runs:
        for index, phase in enumerate(run.spec.phases):
            levels = {**run.spec.cell, **phase.levels}
            key = (run.spec.world.value, phase.name, tuple(levels.items()))
            fresh = Cell(run.spec.world.value, phase.name, levels, index, phase, [])
            cells.setdefault(key, fresh).runs.append(run)  # type: ignore[attr-defined]
    return list(cells.values())


def _cell(
    study: Summary, cell: Cell, frames: Mapping[Any, Frames], asked: set[str]
) -> dict[str, Any]:
    statuses = [run.outcome["status"] for run in cell.runs]
    usable = [run for run in cell.runs if run.outcome["status"] == "complete"]
    usable = usable or [run for run in cell.runs if run.outcome["status"] == "partial"]
    by_name: dict[str, list[tuple[SealedRun, Stretch]]] = {}
    for run in usable:
        for stretch in _stretches(study, cell, run, asked):
            by_name.setdefault(stretch.name, []).append((run, stretch))
    if is_imported(usable):
        return _imported(cell, statuses, by_name.get(cell.phase, ()), frames)
    entries: list[dict[str, Any]] = []
    flagged: list[Flag] = []
    profiles = _profiles(cell, frames, usable)
    for name, parts in by_name.items():
        for stream in cell.spec.streams:
            data = _windows(cell, frames, parts, stream.name)
            scale = max(run.spec.storage[stream.storage].scale or 1 for run, _ in parts)
            of_stream = estimates(stream.name, data, _percentiles_asked(study))
            if cell.world == SIMULATED:
                of_stream = _modelled(of_stream, parts[0][0].spec, cell.spec, stream, data)
            entries += [entry(name, estimate, scale) for estimate in of_stream]
            if parts[0][1].steady:
                ordered, varied = cell.world != SIMULATED, arrivals_vary(stream.stream)
                flagged += flags(stream.name, data, ordered=ordered, varied=varied)
        for word in program_words([cell.spec]):
            of_program = _of_database(word, _percentiles_asked(study), cell, frames, parts)
            if word == SCAN and parts[0][1].steady:
                of_program += programs.of_profiles(word, profiles)
            rate = _arriving(cell, word)
            if rate is not None:
                data = _windows(cell, frames, parts, word)
                of_program = [*bounded(of_program, offered(word, rate, data))]
            if cell.world == SIMULATED:
                of_program = with_model(of_program, facts_of(parts[0][0].spec, cell.spec))
            entries += [entry(name, estimate, 1) for estimate in of_program]
    parts = [part for of_name in by_name.values() for part in of_name]
    judged = findings_of(frames, cell.index, parts, usable)
    warning = verdict("warning", *(flag.reason for flag in flagged))
    verdicts = [run.outcome["verdict"] for run in cell.runs]
    verdicts += [finding.verdict() for _, finding in judged]
    return {
        "world": cell.world,
        "phase": cell.phase,
        "levels": dict(cell.levels),
        **({} if cell.spec.streams or cell.spec.programs else {"pause": True}),
        "runs": {status: statuses.count(status) for status in ENDINGS},
        "verdict": worst([*verdicts, warning] if flagged else verdicts),
        "flags": [flag.as_json() for flag in flagged],
        "findings": [
            {"repetition": run.spec.repetition, **finding.as_json()} for run, finding in judged
        ],
        **_why(cell, frames, by_name),
        **_timeline(cell, frames, usable),
        "steady": [
            {"repetition": run.spec.repetition, **window["rounds"]}
            for run in usable
            if (window := _window_of(cell, run)) and window["rounds"]
        ],
        "windows": {name: _seconds(parts) for name, parts in by_name.items()},
        "estimates": entries,
        **_database(cell, frames, usable, profiles),
        **_drives(cell, frames, usable),
        **_slow(cell),
    }


def _imported(
    cell: Cell,
    statuses: Sequence[str],
    parts: Sequence[tuple[SealedRun, Stretch]],
    frames: Mapping[Any, Frames],
) -> dict[str, Any]:
    """Return a cell of imported runs: another tool's figures, its load not judged."""
    found = imported_estimates(cell.phase, parts, frames)
    return {
        "world": cell.world,
        "phase": cell.phase,
        "levels": dict(cell.levels),
        "runs": {status: statuses.count(status) for status in ENDINGS},
        "verdict": worst(run.outcome["verdict"] for run in cell.runs),
        **{key: [] for key in ("flags", "findings", "breakdown", "busy", "endurance", "power")},
        "bottleneck": None,
        "steady": [],
        "windows": {cell.phase: _seconds(parts)} if parts else {},
        "estimates": [entry(cell.phase, estimate, 1) for estimate in found],
    }


def _modelled(
    of_stream: Sequence[Estimate],
    run: RunSpec,
    phase: PhaseSpec,
    stream: PhaseStream,
    data: Sequence[WindowData],
) -> list[Estimate]:
    """Return the estimates of a simulated stream with the model error of its store or drive."""
    store = facts_of_store(run, phase, stream.storage)
    bound = [*bounded(of_stream, arrives(stream, data) if store else None)]
    if store:
        return with_model(bound, store)
    return drive_error.with_model(bound, run.storage[stream.storage])


def _drives(
    cell: Cell, frames: Mapping[Any, Frames], usable: Sequence[SealedRun]
) -> dict[str, Any]:
    """Return drives of emulated runs, in the first phase's cells: figures cover whole runs."""
    if cell.world != World.emulated.value or cell.index:
        return {}
    found = [
        {"repetition": run.spec.repetition, **drive}
        for run in usable
        for drive in served_drives(frames[run.folder].events)
    ]
    return {"served": found} if found else {}


def _slow(cell: Cell) -> dict[str, Any]:
    """Return the slow motion of an emulated cell, whose figures are all in slowed time."""
    if cell.world != World.emulated.value:
        return {}
    factors = {run.environment.get("slow", 1) for run in cell.runs} - {1}
    return {"slow": max(factors)} if factors else {}


def _arriving(cell: Cell, word: str) -> str | None:
    """Return the arrival rate of a program's transactions; None in closed loop."""
    for program in cell.spec.programs or ():
        ((name, settings),) = program.model_dump(mode="json", by_alias=True).items()
        if name == word and settings.get("rate"):
            return str(settings["rate"])
    return None


def _windows(
    cell: Cell,
    frames: Mapping[Any, Frames],
    parts: Sequence[tuple[SealedRun, Stretch]],
    subject: str,
) -> list[WindowData]:
    """Return the windows of a stream, program, storage or host in each run's stretch."""
    return [
        frames[run.folder].window(run.spec.repetition, cell.index, subject, part)
        for run, part in parts
    ]


def _seconds(parts: Sequence[tuple[SealedRun, Stretch]]) -> float:
    """Return the length of a window, averaged over runs."""
    return sum(part.length_ns for _, part in parts) / len(parts) / NANOSECONDS


def _percentiles_asked(study: Summary) -> list[str]:
    """Return the percentiles that the search limits and that were published, the usual ones left
    out."""
    limit = study.search.limit if study.search else None
    metrics = [figure.metric for figure in study.published or ()]
    named = [limit.metric, *metrics] if limit else metrics
    statistics = dict.fromkeys(metric.rpartition(".")[2] for metric in named)
    return [each for each in statistics if each[1:].isdigit() and each not in PERCENTILES]


def _of_database(
    word: str,
    percentiles: Sequence[str],
    cell: Cell,
    frames: Mapping[Any, Frames],
    parts: Sequence[tuple[SealedRun, Stretch]],
) -> list[Estimate]:
    """Yield estimates of the program, its transaction types, its server and its disks."""

    def windows(subject: str) -> list[WindowData]:
        return _windows(cell, frames, parts, subject)

    def looked(source: str, subject: str | None) -> list[WindowData]:
        return [
            sampled(getattr(frames[run.folder], source), run.spec.repetition, subject, part)
            for run, part in parts
        ]

    names = dict.fromkeys(
        name
        for run, _ in parts
        for name in frames[run.folder].by_stream
        if name == word or name.startswith(f"{word}.")
    )
    collected: list[Estimate] = []
    for name in sorted(names, key=lambda name: (name != word, name)):
        data = windows(name)
        collected += [*estimates(name, data, percentiles), *programs.of_client(name, data)]
    collected += programs.of_server(looked("server", programs.SERVER))
    collected += programs.of_process(programs.SERVER, looked("samples", programs.SERVER))
    if cell.world == SIMULATED:
        collected += programs.of_process(programs.SERVER, windows(HOST))
    collected += programs.of_process(programs.CLIENT, looked("samples", "worker"))
    return collected + programs.of_disk(looked("samples", None))


def _profiles(
    cell: Cell, frames: Mapping[Any, Frames], runs: Sequence[SealedRun]
) -> dict[int, dict[str, Any]]:
    """Return the scan profile of each run by repetition: the server's own or the simulated one.

    If a phase ran several times, the stages of all follow one another.
    """
    profiles = {}
    for run in runs:
        frame = frames[run.folder]
        recorded = [
            e["profile"] for e in frame.events if e["kind"] == PROFILE and e["phase"] == cell.index
        ]
        window = _window_of(cell, run)
        if cell.world == SIMULATED and window and program_words([cell.spec]) == [SCAN]:
            part = Stretch(cell.phase, _real(window["spans"]), steady=True)
            at = (run.spec.repetition, cell.index)
            server = sampled(frame.server, run.spec.repetition, programs.SERVER, part)
            made = programs.scan_profile(
                frame.window(*at, SCAN, part), server, frame.window(*at, HOST, part)
            )
            recorded = [made] if made else []
        if recorded:
            stages = [stage for profile in recorded for stage in profile["stages"]]
            statements = sum(profile["statements"] for profile in recorded)
            profiles[run.spec.repetition] = {"statements": statements, "stages": stages}
    return profiles


TOLD = (
    *("check", "crash", "outage", "errors", "mix_audit", "caches", "loaded"),
    *("restart", "pool_loaded", "simulated"),
)
"""Kinds of database events that results.json holds."""


def _database(
    cell: Cell,
    frames: Mapping[Any, Frames],
    runs: Sequence[SealedRun],
    profiles: Mapping[int, Mapping[str, Any]],
) -> dict[str, Any]:
    """Return the database events of the runs."""
    if not cell.spec.programs:
        return {}
    database_events = []
    for run in runs:
        facts, events = facts_of(run.spec, cell.spec), frames[run.folder].events
        database_events += [
            {
                "repetition": run.spec.repetition,
                **of_event(event, facts, down_ns(event, run.spec, events) if facts else 0),
            }
            for event in events
            if event["kind"] in TOLD and phase_of(event, run, cell.index) == cell.index
        ]
    database_events += [
        {"repetition": at, "kind": PROFILE, "profile": profile} for at, profile in profiles.items()
    ]
    told = [{k: v for k, v in event.items() if k != "source"} for event in database_events]
    return {"database": told, **power_cuts(cell.runs, cell.index), **failovers(runs, cell.index)}


def _why(
    cell: Cell,
    frames: Mapping[Any, Frames],
    by_name: Mapping[str, Sequence[tuple[SealedRun, Stretch]]],
) -> dict[str, Any]:
    """Return the latency breakdown and the bottleneck of the phase's own window."""
    parts = [(run, part) for parts in by_name.values() for run, part in parts if part.steady]

    def windows(subject: str) -> list[WindowData]:
        return _windows(cell, frames, parts, subject)

    names = [stream.name for stream in cell.spec.streams]
    breakdown_parts = [bottleneck.breakdown(name, windows(name)) for name in names]
    breakdowns = [each for each in breakdown_parts if each]
    subjects = {
        subject: None
        for run, _ in parts
        for subject in frames[run.folder].by_stream
        if subject == HOST or subject.startswith(STORAGE)
    }
    busy = [
        each for subject in sorted(subjects) for each in bottleneck.busy(subject, windows(subject))
    ]
    served = _served(cell, sorted(subjects))
    written = _written(cell, served)
    aged = [
        endurance(
            subject,
            windows(subject),
            [] if cell.spec.programs else [windows(name) for name in streams],
            retried=_is_retried(parts, subject),
            is_written=subject in written,
        )
        for subject, streams in served.items()
    ]
    drawn = [
        power(subject, windows(subject), [windows(name) for name in streams])
        for subject, streams in served.items()
    ]
    limit = bottleneck.bottleneck(breakdowns, busy)
    drives = shared_drives(cell.runs[0])

    def of_drive(entry: Mapping[str, Any]) -> dict[str, Any]:
        drive = drives.get(str(entry["subject"]).removeprefix(STORAGE))
        return {**entry, "drive": drive} if drive else dict(entry)

    return {
        "breakdown": breakdowns,
        "busy": [of_drive(each) for each in busy] if breakdowns or cell.spec.programs else [],
        "bottleneck": of_drive(limit) if limit else limit,
        "endurance": [
            of_drive(of_life(each, _facts_on(parts, cell, each["subject"])))
            for each in aged
            if each
        ],
        "power": [
            of_drive({**each, **capacity_of(cell.runs[0], each["subject"].removeprefix(STORAGE))})
            for each in drawn
            if each
        ],
    }


def _facts_on(parts: Sequence[tuple[SealedRun, Stretch]], cell: Cell, subject: str) -> Facts | None:
    """Return the simulated database or document store on a storage; None without one."""
    spec = parts[0][0].spec
    storage = STORAGE + spec.database.storage if spec.database else None
    if storage == subject:
        return facts_of(spec, cell.spec)
    return facts_of_store(spec, cell.spec, subject.removeprefix(STORAGE))


def _is_retried(parts: Sequence[tuple[SealedRun, Stretch]], subject: str) -> bool:
    """Return whether read retry keeps a storage's flash readable beyond its endurance."""
    wears = (wear_of(run, subject.removeprefix(STORAGE)) for run, _ in parts)
    return any(wear is not None and wear.extra is not None for wear in wears)


def _served(cell: Cell, subjects: Sequence[str]) -> dict[str, list[str]]:
    """Return the streams of each storage; those of storages on a shared drive count for the
    first."""
    drives: dict[str, str] = {}
    homes = {}
    shared = shared_drives(cell.runs[0])
    for name in cell.runs[0].spec.storage:
        drive = shared.get(name)
        homes[name] = STORAGE + (drives.setdefault(drive, name) if drive else name)
    return {
        subject: [stream.name for stream in cell.spec.streams if homes[stream.storage] == subject]
        for subject in subjects
    }


def _written(cell: Cell, served: Mapping[str, Sequence[str]]) -> set[str]:
    """Return the storages that the phase itself writes to.

    Other storages may finish earlier writes. A database may write after each program except a scan,
    on any storage.
    """
    if set(program_words([cell.spec])) - {SCAN}:
        return set(served)
    writing = {stream.name for stream in cell.spec.streams if writes(stream.stream)}
    return {subject for subject, streams in served.items() if writing.intersection(streams)}


def _timeline(
    cell: Cell, frames: Mapping[Any, Frames], runs: Sequence[SealedRun]
) -> dict[str, Any]:
    """Return each run's stretches between the phase's events; empty without events."""
    entries = []
    for run in runs:
        window = _window_of(cell, run)
        if window is None:
            continue
        visits = window["visits"]
        begin, end = visits[0][0], visits[-1][1]
        frame = frames[run.folder]
        events = [
            event
            for event in frame.events
            if event["kind"] != timeline.MISSED or phase_of(event, run, cell.index) == cell.index
        ]
        names = [s.name for s in cell.spec.streams] + program_words([cell.spec])
        parts = timeline.stretches(events, begin, end)
        failed = {
            name: timeline.failed_around(parts, visits, frame.counted(name, timeline.FAILED))
            for name in names
        }
        for place, (first, last, happened) in enumerate(parts):
            during = _real((max(first, b), min(last, e)) for b, e in visits)
            if first < last and not during:
                continue
            part = Stretch("", during, steady=False)

            def data(subject: str, part: Stretch = part, run: SealedRun = run) -> WindowData:
                return frames[run.folder].window(run.spec.repetition, cell.index, subject, part)

            storages = (name for name in frame.by_stream if name.startswith(STORAGE))
            rebuilds = (timeline.rebuild(name, data(name)) for name in sorted(storages))
            entries.append(
                {
                    "repetition": run.spec.repetition,
                    "from_ns": first - begin,
                    "to_ns": last - begin,
                    "happened": [_scaled(run, event) for event in happened],
                    "streams": [
                        timeline.service(name, data(name), failed[name][place]) for name in names
                    ],
                    "rebuilds": [each for each in rebuilds if each],
                }
            )
    return {"timeline": entries} if entries else {}


def _scaled(run: SealedRun, event: dict[str, Any]) -> dict[str, Any]:
    """Return the event with the capacity scale of its storage, unless that is 1."""
    storage = run.spec.storage.get(event.get("storage", ""))
    scale = storage.scale if storage else None
    return {**event, "scale": scale} if scale and scale > 1 else event


def _window_of(cell: Cell, run: SealedRun) -> Mapping[str, Any] | None:
    return next((w for w in run.outcome["windows"] if w["phase"] == cell.index), None)


def _stretches(study: Summary, cell: Cell, run: SealedRun, asked: set[str]) -> list[Stretch]:
    """Return the phase's steady part, the windows that the study defines in it, and `all` on
    request."""
    window = _window_of(cell, run)
    if window is None:
        return []
    visits = window["visits"]
    stretches = [Stretch(cell.phase, _real(window["spans"]), steady=True)]
    if WHOLE in asked:
        stretches.append(Stretch(WHOLE, _real(visits), steady=False))
    for name, defined in (study.windows or {}).items():
        if defined.phase in (None, cell.phase):
            cut = [
                (
                    begin + _nanoseconds(defined.from_, 0),
                    min(begin + _nanoseconds(defined.to, end - begin), end),
                )
                for begin, end in visits
            ]
            stretches.append(Stretch(name, _real(cut), steady=False))
    return [stretch for stretch in stretches if stretch.spans]


def _real(spans: Iterable[Sequence[int]]) -> list[tuple[int, int]]:
    """Return the stretches that have a length."""
    return [(begin, end) for begin, end in spans if end > begin]


def _nanoseconds(time: Any, otherwise: int) -> int:
    return otherwise if time is None else compiled.nanoseconds(str(getattr(time, "root", time)))
