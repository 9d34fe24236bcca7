"""Slow motion of emulated runs: the factor that a plan needs on this machine, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass

from tameshi.analysis.stats.served import PATH_NS
from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, Plan, RunSpec
from tameshi.core.units import format_value
from tameshi.run.served_storages import serve_plan
from tameshi.serve.drive import ServedDrive

FACTORS = (1, 2, 4, 8, 16, 20)
"""Factors that are chosen from."""
REQUEST_NS = 15_000
"""Processor time of a stream's request: generator, kernel and the drive's server."""
STATEMENTS_NS = 150_000
"""Processor time of a client and its server between two requests of a database."""
HEADROOM = 0.7
"""Share of the processors that a run may need."""


@dataclass(frozen=True)
class Demand:
    """Need of a plan, as far as it is known before a run."""

    fastest_ns: int
    """Shortest latency of an idle drive."""
    operation: str
    """Operation and storage of that latency."""
    load: float
    """Processors that the load keeps busy without slow motion, at most."""
    shares: tuple[tuple[int, int, int], ...]
    """Outstanding requests, processor time and latency of each request, by phase."""

    def processors(self, slow: float) -> float:
        """Return the processors that the load keeps busy in slow motion, at most."""
        return max((_busy(share, slow) for share in self.shares), default=0.0)


@dataclass(frozen=True)
class Choice:
    """Factor with a sentence on it."""

    factor: float
    why: str


def choose(plan: Plan, path_ns: int = PATH_NS, processors: int | None = None) -> Choice:
    """Return the least factor at which path and processors carry the plan's drives and load."""
    processors = processors or os.cpu_count() or 1
    demand = demand_of(plan)
    room = HEADROOM * processors
    served = [k for k in FACTORS if path_ns <= demand.fastest_ns * k]
    fitting = [k for k in served if demand.processors(k) <= room]
    factor = (fitting or FACTORS[-1:])[0]
    path, fastest = (format_value("latency", ns) for ns in (path_ns / factor, demand.fastest_ns))
    why = (
        f"slow motion {factor}: the path takes {path} of slowed time, the fastest operation of the "
        f"drives {fastest} ({demand.operation}); the load keeps at most "
        f"{demand.processors(factor):.1f} of {processors} processors busy "
        f"({demand.load:.1f} without slow motion)"
    )
    if not fitting:
        lacking = "the path" if not served else "the processors"
        why += f"; no accepted factor is enough for {lacking}"
    return Choice(factor, why)


def demand_of(plan: Plan) -> Demand:
    """Return what the runs of a plan need."""
    idle: dict[str, dict[str, int]] = {}
    shares: list[tuple[int, int, int]] = []
    fastest: tuple[int, str] | None = None
    for run in plan.runs:
        for name, storage in run.storage.items():
            assert storage.model
            node = storage.model.model_dump(mode="json", by_alias=True, exclude_none=True)
            key = repr(node)
            if key not in idle:
                idle[key] = compiled.idle_latencies(node)
            times = {kind: ns for kind, ns in idle[key].items() if ns or kind != "flush"}
            kind = min(times, key=lambda kind: times[kind])
            candidate = (times[kind], f"{kind} on `{name}`")
            fastest = min(fastest or candidate, candidate)
            shares += _shares(run, name, times)
    assert fastest
    load = max((_busy(share, 1) for share in shares), default=0.0)
    return Demand(*fastest, load, tuple(dict.fromkeys(shares)))


def _shares(run: RunSpec, name: str, times: dict[str, int]) -> Iterator[tuple[int, int, int]]:
    for phase in run.phases:
        if run.database and run.database.storage == name and (clients := _clients(phase)):
            yield clients, STATEMENTS_NS, times["read"]
        outstanding = sum(
            (each.stream.jobs or 1) * (each.stream.queue_depth or 1)
            for each in phase.streams
            if each.storage == name
        )
        if outstanding:
            yield outstanding, REQUEST_NS, min(times["read"], times["write"])


def _clients(phase: PhaseSpec) -> int:
    programs = (program.model_dump(mode="json") for program in phase.programs or ())
    return sum(int(next(iter(each.values())).get("clients") or 1) for each in programs)


def _busy(share: tuple[int, int, int], slow: float) -> float:
    """Return the processors that requests keep busy: each needs one, and then waits."""
    outstanding, work_ns, latency_ns = share
    work = work_ns / slow
    return outstanding * work / (latency_ns + work)


def measured_path_ns(plan: Plan) -> int:
    """Measure the path on a drive that is served for this alone.

    Return the usual time, or a multiple by a power of two: repeated commands choose one factor.
    """
    run = plan.runs[0]
    served = serve_plan(run, next(iter(run.storage)))
    with ServedDrive(served, f"path-{os.getpid()}", private=False) as drive:
        drive.switch_on()
        found_ns = drive.offset_ns
    path_ns = PATH_NS
    while path_ns < found_ns:
        path_ns *= 2
    return path_ns
