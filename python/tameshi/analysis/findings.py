"""Validity findings for one phase of a run, from the run's whole record."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from tameshi.analysis.series import Frames, Stretch, covered, sampled
from tameshi.analysis.stats import programs
from tameshi.analysis.stats.checkpoint_lag import checkpoint_lag
from tameshi.analysis.stats.endurance import Worn, worn
from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.offered_load import Loaded
from tameshi.analysis.stats.power import held
from tameshi.analysis.stats.preconditioning import is_fresh_flash, share_covered, share_used
from tameshi.analysis.stats.replica_lag import BEHIND, fallen_behind
from tameshi.analysis.stats.stopped_storage import dead_for, is_without_figures, leaves_nothing
from tameshi.analysis.stats.timeline import MISSED
from tameshi.analysis.stats.unwritten_reads import least_read_ns, share_met
from tameshi.analysis.stats.validity import (
    Finding,
    client_findings,
    findings,
    machine_of,
    processors_of_emulated,
    program_findings,
    program_unserved,
)
from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, RunSpec, StreamSpec, World
from tameshi.record.store import SealedRun

VARYING = ("ramp", "bursts")
"""Arrivals without a constant rate."""
ALL = "100 %"
"""Read share of a stream that writes nothing: the default."""
STAGED = ("crash", "restart", "pool_loaded", MISSED)
"""Events that happen in a phase without naming it; other events without a phase belong to the
run."""


def judged_in(frames: Frames, run: SealedRun, index: int, part: Stretch) -> list[Finding]:
    """Return findings about the load generator and the disk in one phase."""
    phase = run.spec.phases[index]
    windows = {
        stream.name: frames.window(run.spec.repetition, index, stream.name, part)
        for stream in phase.streams
    }
    return [
        *findings(phase, windows, frames.samples.iter_rows(), part.spans),
        *_empty(frames, run, index, list(windows.values())),
        *_dead(frames, run, index, part),
        *_missed(frames, run, index),
        *_worn_out(run, index),
        *_unwritten(frames, run, index, part),
        *_behind(frames, run, index, part),
        *_too_early(frames, run, index),
        *_of_clients(frames, run, index, part),
    ]


def phase_of(event: Mapping[str, Any], run: SealedRun, otherwise: int) -> int:
    """Return the phase of an event: the last to begin before it, or `other` for the whole run.

    An event that did not happen belongs to the phase of its planned time.
    """
    missed = event["kind"] == MISSED and run.spec.events
    named = missed[event["event"]].phase if missed else None
    begun = [
        (begin, int(window["phase"]))
        for window in run.outcome["windows"]
        for begin, _ in window["visits"]
        if begin <= event.get("t_ns", 0) and named in (None, window["name"])
    ]
    if event["kind"] in STAGED and begun:
        return max(begun)[1]
    return int(event.get("phase", otherwise))


def findings_of(
    frames: Mapping[Any, Frames],
    index: int,
    parts: Iterable[tuple[SealedRun, Stretch]],
    runs: Iterable[SealedRun],
) -> list[tuple[SealedRun, Finding]]:
    """Return findings about one phase of several runs: in their steady parts, and of runs without
    one."""
    dated = [
        (run, finding)
        for run, part in parts
        if part.steady
        for finding in judged_in(frames[run.folder], run, index, part)
    ]
    for run in runs:
        windows = [window for window in run.outcome["windows"] if window["phase"] == index]
        if run.outcome["status"] == "complete" and not windows:
            dated += [(run, finding) for finding in _unmeasured(run, index)]
    return dated


def _unmeasured(run: SealedRun, index: int) -> list[Finding]:
    """Yield findings about a complete run whose phase ended within its ramp."""
    phase = run.spec.phases[index]
    return [
        Finding("nothing" if stream.stream.amount is None else "ramped", stream.name, {})
        for stream in phase.streams
    ]


def _empty(
    frames: Frames, run: SealedRun, index: int, windows: Sequence[WindowData]
) -> Iterator[Finding]:
    """Yield streams that completed nothing in the phase's window, with the cause."""
    phase = run.spec.phases[index]
    if phase.programs or not is_without_figures(windows):
        return
    visits = [v for w in run.outcome["windows"] if w["phase"] == index for v in w["visits"]]
    stretch = Stretch("", [(begin, end) for begin, end in visits], steady=False)
    for stream in phase.streams:
        window = frames.window(run.spec.repetition, index, stream.name, stretch)
        used_up = stream.stream.amount is not None and not is_without_figures([window])
        yield Finding("ramped" if used_up else "nothing", stream.name, {})


def _dead(frames: Frames, run: SealedRun, index: int, part: Stretch) -> Iterator[Finding]:
    """Yield storages that stopped serving, with the time since the start of the phase.

    If an event failed the storage, the time is that of the event.
    """
    own = next((w for w in run.outcome["windows"] if w["phase"] == index), None)
    if len(part.spans) > 1 or own is None:
        return
    streams, drives = run.spec.phases[index].streams, shared_drives(run)
    for name in dict.fromkeys(stream.storage for stream in streams):
        at = run.spec.repetition, index
        windows = [frames.window(*at, s.name, part) for s in streams if s.storage == name]
        together = {name, *(other for other in drives if drives[other] == drives.get(name))}
        fails = [event for event in frames.events if _is_failure(event, together)]
        model, end_ns = model_of(run, name), part.spans[0][1]
        gone = [end_ns - e["t_ns"] for e in fails if model and leaves_nothing(e, model)]
        silent_ns = dead_for(windows, max(gone, default=None))
        if silent_ns is None:
            continue
        since_ns = end_ns - silent_ns
        interval_ns = compiled.nanoseconds(run.spec.interval)
        near = [e["t_ns"] for e in fails if abs(e["t_ns"] - since_ns) <= interval_ns]
        figure, at_ns = ("failed_ns", max(near)) if near else ("since_ns", since_ns)
        yield Finding("dead", name, {figure: float(at_ns - own["visits"][0][0])})


def _is_failure(event: Mapping[str, Any], storages: Collection[str]) -> bool:
    """Return whether an event fails a member of one of the storages, or all of it."""
    return event["kind"] == "fail" and event["storage"] in storages and not event.get("survived")


def _missed(frames: Frames, run: SealedRun, index: int) -> Iterator[Finding]:
    """Events of the phase that did not happen."""
    for event in frames.events:
        if event["kind"] == MISSED and phase_of(event, run, index) == index:
            yield Finding(MISSED, event["event"], {})


def _worn_out(run: SealedRun, index: int) -> Iterator[Finding]:
    """Yield storages of the phase whose flash is worn beyond the endurance of its model."""
    for name in dict.fromkeys(stream.storage for stream in run.spec.phases[index].streams):
        wear = wear_of(run, name)
        if wear and not wear.is_readable:
            figures = {"worn": wear.behind, "readable": 1 + (wear.extra or 0.0)}
            yield Finding("worn_out", name, figures)


def _unwritten(frames: Frames, run: SealedRun, index: int, part: Stretch) -> Iterator[Finding]:
    """Yield streams whose reads mostly hit simulated flash that was never written."""
    for stream in run.spec.phases[index].streams:
        model = model_of(run, stream.storage)
        least_ns = least_read_ns(model) if model else None
        if least_ns:
            own, storage = (
                frames.window(run.spec.repetition, index, subject, part)
                for subject in (stream.name, f"storage.{stream.storage}")
            )
            share = share_met(own, storage, least_ns)
            if share:
                yield Finding("unwritten", stream.name, {"share": share})


def _behind(frames: Frames, run: SealedRun, index: int, part: Stretch) -> Iterator[Finding]:
    """Yield storages whose replicas fall behind without bound."""
    if len(part.spans) > 1:
        return
    for name in run.spec.storage:
        window = frames.window(run.spec.repetition, index, f"storage.{name}", part)
        if BEHIND not in window.counters:
            continue
        written = _written_to(frames, run, index, part, name)
        bytes_behind = fallen_behind(window, written)
        if bytes_behind is not None:
            yield Finding("behind", name, {"bytes": bytes_behind, "written": written})


def _written_to(frames: Frames, run: SealedRun, index: int, part: Stretch, storage: str) -> float:
    """Return the bytes that the streams of a phase wrote to a storage."""
    windows = (
        frames.window(run.spec.repetition, index, stream.name, part)
        for stream in run.spec.phases[index].streams
        if stream.storage == storage
    )
    return sum(sum(window.counters.get("write.bytes", ())) for window in windows)


def _too_early(frames: Frames, run: SealedRun, index: int) -> Iterator[Finding]:
    """Yield drives declared steady in the phase or earlier, before they were overwritten."""
    own = next((w for w in run.outcome["windows"] if w["phase"] == index), None)
    if own is None:
        return
    end = own["visits"][-1][1]
    judged = [
        window["phase"]
        for window in run.outcome["windows"]
        if (window["rounds"] or {}).get("attained") and window["end_ns"] <= end
    ]
    found_steady = {storage for phase in judged for storage in _written_in(run, phase)}
    for storage in _written_in(run, index):
        if storage not in found_steady:
            continue
        if run.spec.world.value == "simulated":
            code, share = "not_reclaiming", _share_used(frames, run, storage, end)
        else:
            code, share = "not_overwritten", _share_covered(frames, run, storage, end)
        if share is not None:
            yield Finding(code, storage, {"share": share})


def _written_in(run: SealedRun, index: int) -> list[str]:
    """Return the storages that a phase's streams write to."""
    streams = run.spec.phases[index].streams
    return list(dict.fromkeys(s.storage for s in streams if writes(s.stream)))


def writes(stream: StreamSpec) -> bool:
    """Return whether a stream writes."""
    return stream.read not in (None, ALL)


def arrivals_vary(stream: StreamSpec) -> bool:
    """Return whether the study itself varies a stream's load within a run."""
    return stream.duty is not None or any(hasattr(stream.arrivals, kind) for kind in VARYING)


def loaded(world: str, levels: Mapping[str, str], phase: PhaseSpec, run: RunSpec) -> Loaded:
    """Return a cell split into its arrivals and everything else that it does."""
    streams = [each.stream.model_copy(update={"arrivals": None}) for each in phase.streams]
    rest = (streams, phase.programs, run.storage, run.host, run.engines, run.database)
    return Loaded((world, phase.name), levels, [s.stream.arrivals for s in phase.streams], rest)


def _share_used(frames: Frames, run: SealedRun, storage: str, end_ns: int) -> float | None:
    """Return the used share of a simulated storage's flash so far; None if it is enough."""
    model = model_of(run, storage)
    if model is None or not is_fresh_flash(model):
        return None
    since_begin = Stretch("", [(0, end_ns)], steady=False)
    drives = shared_drives(run)
    first = next((name for name in drives if drives[name] == drives.get(storage)), storage)
    subject = f"storage.{first}"
    return share_used(frames.window(run.spec.repetition, 0, subject, since_begin))


def _share_covered(frames: Frames, run: SealedRun, storage: str, end_ns: int) -> float | None:
    """Return the share of a real drive's capacity written so far; None if it is enough."""
    device = _device_of(run, storage)
    if device is None or (device.get("rotational") == 1 and not device.get("virtual")):
        return None
    written = 0.0
    for window in run.outcome["windows"]:
        spans = [(begin, min(last, end_ns)) for begin, last in window["visits"] if begin < end_ns]
        for stream in run.spec.phases[window["phase"]].streams:
            if spans and stream.storage == storage:
                part = Stretch("", spans, steady=False)
                at = (run.spec.repetition, window["phase"])
                counters = frames.window(*at, stream.name, part).counters
                written += sum(counters.get("write.bytes", ()))
    size = device.get("size_bytes") or compiled.size_bytes(run.spec.storage[storage].size)
    return share_covered(written, int(size))


def _device_of(run: SealedRun, storage: str) -> Mapping[str, Any] | None:
    """Return facts about the disk under a measured storage; None if the disk is unknown."""
    targets = run.environment.get("targets") or {}
    named = (run.environment.get("storages") or {}).get(storage)
    alone = len(targets) == len(run.spec.storage) == 1
    target = next(iter(targets.values())) if alone else targets.get(str(named))
    return (target or {}).get("device")


def wear_of(run: SealedRun, storage: str) -> Worn | None:
    """Return the flash wear of a simulated storage at the start of the run."""
    model = model_of(run, storage)
    return worn(model) if model else None


def shared_drives(run: SealedRun) -> dict[str, str]:
    """Return the drive name of each storage that is an SR-IOV function of a shared drive.

    The record holds the drive's activity once, under the first of its functions.
    """
    drives = {}
    for name, storage in run.spec.storage.items():
        partition = getattr(storage.model, "partition", None)
        if partition and partition.function.drive:
            drives[name] = str(partition.function.drive)
    return drives


def model_of(run: SealedRun, storage: str) -> Mapping[str, Any] | None:
    """Return the device tree of a simulated storage as plain data."""
    model = getattr(run.spec.storage.get(storage), "model", None)
    return model.model_dump(mode="json", by_alias=True) if model else None


def capacity_of(run: SealedRun, name: str) -> dict[str, int]:
    """Return capacity and used bytes of a simulated storage, or of the drive that its function
    shares."""
    drives = shared_drives(run)
    sharing = [each for each, drive in drives.items() if drive == drives.get(name)] or [name]
    models = {each: model for each in sharing if (model := model_of(run, each))}
    if name not in models:
        return {}
    host_model = models[name]["partition"]["of"] if name in drives else models[name]
    return held(host_model, [(model, run.spec.storage[each]) for each, model in models.items()])


def _of_clients(frames: Frames, run: SealedRun, index: int, part: Stretch) -> list[Finding]:
    """Yield findings about a phase's programs, their clients and their database."""
    machine = machine_of(frames.samples.iter_rows(), part.spans)
    engine = (run.spec.engines or {})[run.spec.database.engine] if run.spec.database else None
    own_server = engine is not None and engine.dsn is not None
    counts: dict[str, Any] = {}
    findings: list[Finding] = []
    told = part
    if run.spec.database:
        server = sampled(frames.server, run.spec.repetition, programs.SERVER, part, wholly=True)
        if "server" in frames.samples["subject"]:
            told = covered(frames.server, programs.SERVER, part)
            statements, transactions = programs.counted(server)
            counts = {"server_statements": statements, "server_transactions": transactions}
            counts["machine"] = machine
        lag = checkpoint_lag(server)
        if lag is not None:
            findings.append(Finding("checkpoint", programs.SERVER, dict(grown=lag[0], log=lag[1])))
    for program in run.spec.phases[index].programs or ():
        ((word, settings),) = program.model_dump(mode="json").items()
        clients = settings.get("clients") or 1
        data = frames.window(run.spec.repetition, index, word, part)
        compared = frames.window(run.spec.repetition, index, word, told)
        over: dict[str, Any] = {"compared": compared, "spans": len(told.spans)}
        limits = client_findings(word, clients, data, **counts, **over) if counts else []
        blamed = any(finding.level == "invalid" for finding in limits)
        findings += limits if blamed else [*limits, *program_unserved(word, clients, data)]
        kinds = [name for name in frames.by_stream if name.startswith(f"{word}.")] or [word]
        windows = [frames.window(run.spec.repetition, index, kind, part) for kind in kinds]
        completed, failed = (
            sum(sum(window.counters.get(f"transaction.{metric}", ())) for window in windows)
            for metric in ("count", "failed")
        )
        findings += program_findings(word, completed, failed, machine, own_server=own_server)
        if run.spec.world is World.emulated:
            findings += processors_of_emulated(word, machine)
    return findings
