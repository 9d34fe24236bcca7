"""Report of a run in the layout of sysbench 1.0, for scripts that parse it.

Latencies are milliseconds. The tool's ignored errors are transactions that the database rolled back
and the client retried, failed ones, and unanswered ones. Queue length and concurrency are counted
means over the interval; sysbench shows momentary values. A record without these counts has no such
line.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import version
from statistics import fmean

from tameshi.record.store import SealedRun
from tameshi.report.layouts.phase_summary import (
    Counts,
    PhaseSummary,
    Step,
    longest_ms,
    number,
    percentile_ms,
    summarise,
)

PERCENTILE = 95
_LATENCY_COLUMN = 53
ERRORS = ("transaction.retries", "transaction.failed", "transaction.ambiguous")
KINDS = ("statement.reads", "statement.writes", "statement.others")


def reports(run: SealedRun) -> list[str]:
    """Return a report per phase of a program."""
    return ["\n".join(_lines(run, phase)) + "\n" for phase in summarise(run)]


def _lines(run: SealedRun, phase: PhaseSummary) -> Iterator[str]:
    clients = int(phase.settings["clients"])
    yield f"Tameshi {version('tameshi')} (layout of sysbench 1.0; {phase.word}; {phase.heading})"
    yield from ("", "Running the test with following options:", f"Number of threads: {clients}")
    if phase.settings.get("rate"):
        yield f"Target transaction rate: {float(phase.settings['rate'].removesuffix('/s')):.0f}/sec"
    yield f"Report intermediate results every {phase.step_seconds} second(s)"
    yield f"Initializing random number generator from seed ({run.spec.seed})."
    yield from ("", "", "Initializing worker threads...", "", "Threads started!", "")
    for step in phase.steps:
        yield from _interval(phase, step, clients)
    yield from _cumulative(phase, clients)


def _interval(phase: PhaseSummary, step: Step, clients: int) -> Iterator[str]:
    seconds = phase.step_seconds
    reads, writes, others = (phase.total(kind, step) / seconds for kind in KINDS)
    latencies = merged(step)
    errors = sum(phase.total(metric, step) for metric in ERRORS) / seconds
    reconnects = phase.total("load.reconnects", step) / seconds
    yield (
        f"[ {step.at_seconds}s ] thds: {clients} tps: {number(latencies) / seconds:4.2f} "
        f"qps: {reads + writes + others:4.2f} (r/w/o: {reads:4.2f}/{writes:4.2f}/{others:4.2f}) "
        f"lat (ms,{PERCENTILE}%): {percentile_ms(latencies, PERCENTILE / 100):4.2f} "
        f"err/s: {errors:4.2f} reconn/s: {reconnects:4.2f}"
    )
    if phase.settings.get("rate") and phase.counts("load.in_flight_ns"):
        waiting = phase.total("load.waiting_ns", step) / seconds / 1e9
        working = phase.total("load.in_flight_ns", step) / seconds / 1e9
        yield (
            f"[ {step.at_seconds}s ] queue length: {round(waiting)}, concurrency: {round(working)}"
        )


def _cumulative(phase: PhaseSummary, clients: int) -> Iterator[str]:
    reads, writes, others = (round(phase.total(kind)) for kind in KINDS)
    queries, latencies = reads + writes + others, merged(phase.whole)
    events = number(latencies)
    errors = round(sum(phase.total(metric) for metric in ERRORS))
    reconnects = round(phase.total("load.reconnects"))
    yield from ("SQL statistics:", "    queries performed:")
    for name, count in (("read", reads), ("write", writes), ("other", others), ("total", queries)):
        yield f"        {name + ':':<33}{count}"
    for name, count in (
        *(("transactions", events), ("queries", queries)),
        *(("ignored errors", errors), ("reconnects", reconnects)),
    ):
        rate = count / phase.seconds if phase.seconds else 0.0
        yield f"    {name + ':':<37}{count:<6} ({rate:.2f} per sec.)"
    yield from ("", "General statistics:")
    yield f"    total time:                          {phase.seconds:.4f}s"
    yield f"    total number of events:              {events}"
    yield from ("", "Latency (ms):")
    spent = phase.total("transaction.latency_sum") / 1e6
    rows = (
        ("min", latencies[0][0] / 1e6 if latencies else 0.0),
        ("avg", spent / events if events else 0.0),
        ("max", longest_ms(latencies)),
        (f"{PERCENTILE}th percentile", percentile_ms(latencies, PERCENTILE / 100)),
        ("sum", spent),
    )
    for name, value in rows:
        head = f"         {name}: "
        yield f"{head}{value:{_LATENCY_COLUMN - len(head)}.2f}"
    yield from ("", "Threads fairness:")
    done, took = [n for n, _ in phase.clients], [s for _, s in phase.clients]
    yield f"    events (avg/stddev):           {_spread(done)}"
    yield f"    execution time (avg/stddev):   {_spread(took)}"
    yield ""


def merged(step: Step) -> Counts:
    """Return the latencies of all types together."""
    counts_by_latency: dict[int, int] = {}
    for counts in step.latencies.values():
        for ns, count in counts:
            counts_by_latency[ns] = counts_by_latency.get(ns, 0) + count
    return sorted(counts_by_latency.items())


def _spread(values: list[int] | list[float]) -> str:
    """Return mean and standard deviation over the clients."""
    mean = fmean(values) if values else 0.0
    deviation = math.sqrt(fmean((v - mean) ** 2 for v in values)) if values else 0.0
    return f"{mean:.4f}/{deviation:3.2f}"
