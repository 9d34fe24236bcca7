"""Limit of a measurement: the disk or the load generator; rules in docs/generator-validity.md.

Judged per run, phase and stream over the steady window, from the records of load and sampler.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.analysis.stats.estimates import WindowData
from tameshi.analysis.stats.intervals import digits
from tameshi.analysis.stats.offered_load import BY_CHANCE
from tameshi.core.reasons import Reason, reason, verdict
from tameshi.core.spec_types import Access, PhaseSpec, PhaseStream, StreamSpec

BUSY = 0.9
"""Least utilisation of a saturated thread, or of all processors."""
MACHINE_IDLE = 0.05
"""Idle share of the machine below which its processors count as saturated."""
AT_DEVICE = 0.5
"""Least share of the requests' time at the device for the device to be the limit."""
FROM_MEMORY = 0.1
"""Share of the requests' time at the device below which something else answered."""
OWN_LATENCY = 0.25
"""Share of the latency from which the generator's own delay invalidates it."""
OWN_PART = 0.1
"""Share of the latency from which the generator's own delay is reported."""
OWN_TAIL = 0.2
"""The same share at a percentile of the latency."""
TAILS = (0.99, 0.999)
FEWEST_IN_TAIL = 10
"""Least requests beyond a percentile to judge it."""
FOREIGN = 0.2
"""Bytes that other programs may move, as a share of ours."""
FOREIGN_BYTES = 8 << 20
LATE = 0.05
"""Tolerated share of late starts."""
UNSERVED = 0.001
"""Tolerated share of missing starts; as many as there are slots never count."""
GROWTH = 0.01
"""Tolerated growth of a queue in a window, as a share of the arrivals."""

IN_FLIGHT, SERVED = "load.in_flight_ns", "load.service_ns_sum"
"""Counted time in flight; and the sum of completed requests' times, for records without it."""

Row = tuple[int, int, str, str, float]
"""A row of a series: t_ns, dt_ns, subject, metric, value."""

INVALID = ("generator", "processors", "others", "own_latency", "client", "failing", "no_disk")
WITH_SHARE = ("failing", "not_reclaiming", "not_overwritten")
"""Codes whose words include the share."""
FAILING = 0.01
"""Share of failed transactions from which the others are not representative."""
COUNTS_APART = 0.1
"""Tolerated relative difference between the statement counts of client and server; in a window of
less than ten intervals one interval's share of it."""


@dataclass(frozen=True)
class Finding:
    """Validity finding about a stream's load generator."""

    code: str
    subject: str
    figures: Mapping[str, float]

    @property
    def level(self) -> str:
        """Level of the resulting verdict."""
        return "invalid" if self.code in INVALID else "warning"

    @property
    def reason(self) -> Reason:
        """Reason for the verdict, without figures of single runs, so that cells can be grouped."""
        shares = {"share": round(self.figures["share"], 2)} if self.code in WITH_SHARE else {}
        return reason(self.code, self.subject, **shares)

    def verdict(self) -> dict[str, Any]:
        """Level and reason as a verdict."""
        return verdict(self.level, self.reason)

    def as_json(self) -> dict[str, Any]:
        """The form of results.json."""
        figures = {name: digits(value) for name, value in self.figures.items()}
        return {"code": self.code, "subject": self.subject, "figures": figures}


@dataclass(frozen=True)
class Load:
    """Work of a stream's generator in a window; times are sums over its jobs, in ns."""

    subject: str
    jobs: int
    slots: int
    open_loop: bool
    length_ns: int
    cpu_ns: float | None
    away_ns: float = 0.0
    """Time for completions and submissions, between waits."""
    started: float = 0.0
    late: float = 0.0
    unserved: float = 0.0
    grown: float = 0.0
    """Requests by which the queue grew throughout the window; else zero."""
    failed: float = 0.0
    slip_ns: float = 0.0
    lag_ns: float = 0.0
    latency_ns: float = 0.0
    in_flight_ns: float = 0.0
    """Time that requests spent between submission and completion in the window, summed."""
    bytes: float = 0.0
    plain: bool = False
    """True if the stream bypasses the page cache without syncs, so that disk traffic equals its
    own."""
    tails: Mapping[float, tuple[float, float]] | None = None
    """By quantile, the generator's delay and the least latency of an operation."""

    @property
    def cpu(self) -> float:
        """Processor time as a share of its threads' time."""
        return (self.cpu_ns or 0.0) / (self.jobs * self.length_ns)

    @property
    def away(self) -> float:
        """Time between waits as a share of its threads' time."""
        return self.away_ns / (self.jobs * self.length_ns)


@dataclass(frozen=True)
class Machine:
    """Sampler data of a window, in processors and shares; None without samples."""

    processors: float
    idle: float
    own: float
    """Processors that the worker kept busy, including kernel threads on its behalf."""
    device_ns: float | None
    """Time that requests spent at the disks, summed over requests."""
    device_bytes: float = 0.0


def findings(
    phase: PhaseSpec,
    windows: Mapping[str, WindowData],
    samples: Iterable[Row],
    spans: Sequence[tuple[int, int]],
) -> list[Finding]:
    """Return all findings about one phase of a run.

    `windows` holds the steady window of each stream, `samples` the sampler's rows, of which those
    that overlap the window's `spans` (start and end in ns from t0) count.
    """
    loads = [
        load_of(stream, windows[stream.name], whole=len(spans) == 1)
        for stream in phase.streams
        if stream.name in windows
    ]
    return judge(loads, machine_of(samples, spans))


def client_findings(
    subject: str,
    threads: int,
    data: WindowData,
    machine: Machine | None,
    server_statements: float | None = None,
    server_transactions: float | None = None,
    compared: WindowData | None = None,
    spans: int = 1,
) -> list[Finding]:
    """Return whether a program's clients were the limit, and whether their counts match the
    server's.

    `data` is the program's window; `server_statements` and `server_transactions` per second are the
    server's own counts, if any, over the time of `compared`, which has `spans` spans; by default it
    is the same window. A thread that is always busy never waits for an answer; clients that take
    half of a machine without idle time leave too little to the server. Does not apply to an
    embedded database.
    """
    results: list[Finding] = []
    cpu = sum(data.counters.get("load.cpu_ns", ())) / (threads * data.length_ns or 1)
    starved = machine is not None and machine.idle <= MACHINE_IDLE
    half = machine is not None and machine.own >= machine.processors / 2
    if cpu >= BUSY or (starved and half):
        figures = {"cpu": cpu, "idle": machine.idle if machine else 1.0}
        results.append(Finding("client", subject, figures))
    for code, counters, of_server in (
        ("counts", ("statement.count", "statement.ledger"), server_statements),
        ("transactions", ("statement.ended",), server_transactions),
    ):
        window = compared or data
        sent = sum(sum(window.counters.get(counter, ())) for counter in counters)
        counted = sent / window.length_ns * 1e9 if window.length_ns else 0.0
        if of_server and counted:
            apart = abs(of_server - counted) / counted
            # Both ends of a span may be off by a part of an interval.
            edge = spans * max(window.lengths_ns, default=0) / window.length_ns
            if apart > max(COUNTS_APART, edge):
                results.append(Finding(code, subject, {"apart": apart}))
    return results


def processors_of_emulated(subject: str, machine: Machine | None) -> Iterator[Finding]:
    """Yield a finding if this machine's processors may limit a program on served drives.

    The drives are modelled and the processors are not. In the measured world the processors are
    part of what is measured.
    """
    if machine is not None and machine.idle <= MACHINE_IDLE:
        yield Finding("machine_full", subject, {"idle": machine.idle})


def program_findings(
    subject: str, completed: float, failed: float, machine: Machine | None, *, own_server: bool
) -> Iterator[Finding]:
    """Return findings about a program's transactions and the disk of its database.

    `completed` and `failed` count transactions in the window; `machine` is None in virtual time;
    `own_server`: the user runs the server, perhaps on another machine.
    """
    if not completed and not failed:
        yield Finding("nothing", subject, {})
    elif failed:
        share = failed / (completed + failed)
        code = "failing" if share >= FAILING else "few_failed"
        yield Finding(code, subject, {"count": failed, "share": share})
    if machine is not None and machine.device_ns is None:
        yield Finding("unseen" if own_server else "no_disk", subject, {})


def judge(loads: Sequence[Load], machine: Machine | None) -> list[Finding]:
    """Return findings about streams that ran at once; `machine` is None in virtual time."""
    at_device = _at_device(loads, machine)
    results: list[Finding] = []
    for load in loads:
        if load.failed:
            results.append(Finding("failed", load.subject, {"count": load.failed}))
        limit = list(_limit(load, loads, machine, at_device)) if machine else []
        results += limit
        if load.open_loop:
            blamed = any(finding.level == "invalid" for finding in limit)
            results += _schedule(load, blamed)
        if machine:
            results += _disk(load, loads, machine, at_device)
    return results


def _at_device(loads: Sequence[Load], machine: Machine | None) -> float | None:
    """Return the share of the time between submission and completion that requests spent at a
    disk."""
    if machine is None or machine.device_ns is None:
        return None
    under_way = sum(load.in_flight_ns for load in loads)
    return machine.device_ns / under_way if under_way > 0 else None


def _limit(
    load: Load, loads: Sequence[Load], machine: Machine, at_device: float | None
) -> Iterator[Finding]:
    """Return a limit other than the disk; if the disk was busy too, the two are close."""
    figures = {"cpu": load.cpu, "away": load.away, "idle": machine.idle, "own": machine.own}
    if at_device is not None:
        figures["at_device"] = at_device
    code = None
    if _thread_is_busy(load):
        code = "generator"
    elif machine.idle <= MACHINE_IDLE or _kept_from_running(load, at_device):
        code = "processors" if machine.own >= machine.processors / 2 else "others"
    elif not any(other.open_loop for other in loads):
        # A closed loop never spins: slots that each keep a processor busy wait for no disk.
        possible = min(float(sum(other.slots for other in loads)), machine.processors)
        code = "processors" if machine.own >= BUSY * possible else None
    if code:
        exonerated = at_device is not None and at_device >= AT_DEVICE
        yield Finding("close" if exonerated else code, load.subject, figures)


def _thread_is_busy(load: Load) -> bool:
    if load.cpu < BUSY:
        return False
    if not load.open_loop:
        return True
    # An open loop spins before each arrival, so only a late one lacks processor time.
    return _is_behind(load) and load.away >= BUSY / 2


def _kept_from_running(load: Load, at_device: float | None) -> bool:
    """Return whether a stream fell behind its schedule because other programs used the
    processors."""
    answered = at_device is not None and at_device < FROM_MEMORY
    return load.open_loop and answered and _is_behind(load)


def _is_behind(load: Load) -> bool:
    return load.late >= LATE * load.started or load.unserved > _tolerated(load)


def _tolerated(load: Load) -> float:
    return max(UNSERVED * (load.started + load.unserved), load.slots)


def _schedule(load: Load, blamed: bool) -> Iterator[Finding]:
    """Yield findings about the schedule of an open loop; `blamed`: the cause is already known."""
    own = load.lag_ns / load.latency_ns if load.latency_ns > 0 else 0.0
    shares = [lag / latency for lag, latency in (load.tails or {}).values() if latency > 0]
    tail = max(shares, default=0.0)
    if own >= OWN_LATENCY:
        yield Finding("own_latency", load.subject, {"share": own, "tail": tail})
    elif own >= OWN_PART or tail >= OWN_TAIL:
        yield Finding("own_part", load.subject, {"share": own, "tail": tail})
    if blamed:
        return
    if load.unserved > _tolerated(load):
        yield _unserved(load)
    elif load.grown:
        arrived = load.started + load.unserved
        yield Finding("growing", load.subject, {"count": load.grown, "share": load.grown / arrived})
    elif load.late >= LATE * load.started > 0 and load.lag_ns < load.slip_ns / 2:
        yield Finding("waited", load.subject, {"share": load.late / load.started})


def _unserved(load: Load) -> Finding:
    arrived = load.started + load.unserved
    figures = {"count": load.unserved, "arrived": arrived, "share": load.unserved / arrived}
    return Finding("unserved", load.subject, figures)


def program_unserved(subject: str, clients: int, data: WindowData) -> Iterator[Finding]:
    """Yield transactions of an open-loop program that arrived and that no client began."""
    started, unserved = (
        sum(data.counters.get(f"load.{metric}", ())) for metric in ("started", "unserved")
    )
    load = Load(subject, 1, clients, True, data.length_ns, None, started=started, unserved=unserved)
    if unserved > _tolerated(load):
        yield _unserved(load)


def _disk(
    load: Load, loads: Sequence[Load], machine: Machine, at_device: float | None
) -> Iterator[Finding]:
    """Yield findings about the disk: whether it answered, accepted all requests, and served only
    us."""
    if load.away >= BUSY and load.cpu < AT_DEVICE and machine.idle > MACHINE_IDLE:
        yield Finding("queue_full", load.subject, {"away": load.away, "cpu": load.cpu})
    if at_device is None:
        yield Finding("unseen", load.subject, {})
    elif at_device < FROM_MEMORY:
        yield Finding("memory", load.subject, {"at_device": at_device})
    own = sum(other.bytes for other in loads)
    foreign = machine.device_bytes - own
    if all(other.plain for other in loads) and foreign > max(FOREIGN * own, FOREIGN_BYTES):
        yield Finding("shared", load.subject, {"share": foreign / own if own else 1.0})


def load_of(stream: PhaseStream, data: WindowData, *, whole: bool = True) -> Load:
    """Return the work of a stream's generator from the record of a window.

    `whole`: the window is one stretch; between several stretches its queue empties unobserved.
    """

    def total(metric: str) -> float:
        return float(sum(data.counters.get(metric, ())))

    spec = stream.stream
    jobs, depth = spec.jobs or 1, spec.queue_depth or 1
    operations = _started(spec)
    return Load(
        subject=stream.name,
        jobs=jobs,
        slots=jobs * (_committers(spec) or depth),
        open_loop=total("load.started") > 0 or total("load.unserved") > 0,
        length_ns=data.length_ns,
        cpu_ns=total("load.cpu_ns") if "load.cpu_ns" in data.counters else None,
        away_ns=total("load.reap_ns_sum"),
        started=total("load.started"),
        late=total("load.late"),
        unserved=total("load.unserved"),
        grown=_grown(data, _ended(spec)) if whole else 0.0,
        failed=total("load.failed"),
        slip_ns=total("load.slip_ns_sum"),
        lag_ns=total("load.lag_ns_sum"),
        latency_ns=sum(total(f"{operation}.latency_sum") for operation in operations),
        in_flight_ns=total(IN_FLIGHT if IN_FLIGHT in data.counters else SERVED),
        bytes=total("read.bytes") + total("write.bytes"),
        plain=spec.sync is None and not spec.page_flush and spec.access is not Access.buffered,
        tails=_tails(data.latencies, operations),
    )


def _committers(spec: StreamSpec) -> int | None:
    """Return the committers per job of a stream with group commit."""
    group = getattr(spec.sync, "group_commit", None)
    return group.committers if group else None


def _started(spec: StreamSpec) -> Sequence[str]:
    """Return the operations whose latencies are those of scheduled starts."""
    is_joint = _committers(spec) or spec.page_flush
    return ("commit",) if is_joint else ("read", "write", "sync", "trim")


def _ended(spec: StreamSpec) -> Sequence[str]:
    """Return the operations that each end one scheduled start: a sync belongs to its writes."""
    return [operation for operation in _started(spec) if operation != "sync"]


def _grown(data: WindowData, ended: Sequence[str]) -> float:
    """Return the requests by which an open loop's queue grew in a window, or zero.

    More arrived than completed, beyond chance and `GROWTH`, in each half of the window. A queue
    that fills early and stays, or that swings, does not grow.
    """

    def count(metrics: Iterable[str], half: slice) -> float:
        return float(sum(sum(data.counters.get(metric, ())[half]) for metric in metrics))

    came = ("load.started", "load.unserved")
    gone = ("load.failed", *(f"{operation}.count" for operation in ended))
    intervals = len(data.lengths_ns)
    halves = (slice(intervals // 2), slice(intervals // 2, intervals))
    first, second = (count(came, half) - count(gone, half) for half in halves)
    arrived, grown = count(came, slice(intervals)), first + second
    if grown <= max(GROWTH * arrived, BY_CHANCE * math.sqrt(arrived)):
        return 0.0
    return grown if min(first, second) >= grown / 4 else 0.0


def _tails(
    latencies: Mapping[str, Mapping[str, Any]], operations: Sequence[str]
) -> dict[float, tuple[float, float]]:
    """Return by quantile with enough requests beyond it: delay, and the least latency there."""
    tails: dict[float, tuple[float, float]] = {}
    lag = latencies.get("lag")
    for level in TAILS:
        latencies_at = [
            value
            for operation in operations
            if operation != "sync"
            and operation in latencies
            and latencies[operation]["count"] * (1 - level) >= FEWEST_IN_TAIL
            for reached, value in latencies[operation]["quantiles"]
            if reached == level
        ]
        late = [value for reached, value in lag["quantiles"] if reached == level] if lag else []
        if latencies_at and late:
            tails[level] = (float(late[0]), float(min(latencies_at)))
    return tails


def machine_of(samples: Iterable[Row], spans: Sequence[tuple[int, int]]) -> Machine | None:
    """Return the sampler's data over these spans; partial rows count in part."""
    totals: dict[str, float] = {}
    for t_ns, dt_ns, subject, metric, value in samples:
        overlaps = (min(t_ns, end) - max(t_ns - dt_ns, begin) for begin, end in spans)
        inside = sum(overlap for overlap in overlaps if overlap > 0)
        if inside > 0 and dt_ns > 0 and (subject == "worker" or not metric.startswith("process.")):
            totals[metric] = totals.get(metric, 0.0) + value * inside / dt_ns
    if "machine.cpu_idle_ns" not in totals:
        return None
    kinds = ("user", "system", "iowait", "idle")
    spent = {kind: totals.get(f"machine.cpu_{kind}_ns", 0.0) for kind in kinds}
    all_ns, length_ns = sum(spent.values()), sum(end - begin for begin, end in spans)
    own = totals.get("process.cpu_user_ns", 0.0) + totals.get("process.cpu_system_ns", 0.0)
    return Machine(
        processors=all_ns / length_ns,
        idle=(spent["idle"] + spent["iowait"]) / all_ns if all_ns else 1.0,
        own=own / length_ns,
        device_ns=totals.get("disk.weighted_ns"),
        device_bytes=totals.get("disk.read_bytes", 0.0) + totals.get("disk.written_bytes", 0.0),
    )
