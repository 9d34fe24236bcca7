"""Was it the disk that set the limit, or the tool? `docs/generator.md` tells how and why.

Judged per run, phase and stream over the steady window, from what load and sampler recorded.
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
"""Share of its time from which on a thread, or all processors, count as saturated."""
MACHINE_IDLE = 0.05
"""Idle share of the machine below which its processors count as saturated."""
AT_DEVICE = 0.5
"""Share of the requests' time at the device from which on it is the device that they waited for."""
FROM_MEMORY = 0.1
"""Share of the requests' time at the device below which something else answered."""
OWN_LATENCY = 0.25
"""Share of the latency from which on the generator's own lateness makes it worthless."""
OWN_PART = 0.1
"""Share of the latency from which on its own lateness is worth knowing."""
OWN_TAIL = 0.2
"""The same of the latency at a percentile."""
TAILS = (0.99, 0.999)
FEWEST_IN_TAIL = 10
"""Requests beyond a percentile without which it is not judged."""
FOREIGN = 0.2
"""Bytes that others may move, as a share of ours."""
FOREIGN_BYTES = 8 << 20
LATE = 0.05
"""Share of scheduled starts that may be late."""
UNSERVED = 0.001
"""Share of scheduled starts that may not come; as many as there are slots never count."""
GROWTH = 0.01
"""Share of what arrives by which a queue may grow in a window."""

Row = tuple[int, int, str, str, float]
"""A row of a series: t_ns, dt_ns, subject, metric, value."""

INVALID = ("generator", "processors", "others", "own_latency", "client", "failing", "no_disk")
WITH_SHARE = ("failing", "not_reclaiming", "not_overwritten")
"""Codes whose words name the share."""
FAILING = 0.01
"""Share of failed transactions from which on the others are not representative."""
COUNTS_APART = 0.1
"""Relative difference of the client's and the server's count of statements worth knowing: a window
cuts the two at slightly different moments."""


@dataclass(frozen=True)
class Finding:
    """Something about the generator to know before believing a figure of its stream."""

    code: str
    subject: str
    figures: Mapping[str, float]

    @property
    def level(self) -> str:
        """Of the verdict that it makes."""
        return "invalid" if self.code in INVALID else "warning"

    @property
    def reason(self) -> Reason:
        """As a reason of a verdict; figures of one run alone would keep cells from grouping."""
        shares = {"share": round(self.figures["share"], 2)} if self.code in WITH_SHARE else {}
        return reason(self.code, self.subject, **shares)

    def verdict(self) -> dict[str, Any]:
        """Level and reason, as verdicts are joined."""
        return verdict(self.level, self.reason)

    def as_json(self) -> dict[str, Any]:
        """The form of results.json."""
        figures = {name: digits(value) for name, value in self.figures.items()}
        return {"code": self.code, "subject": self.subject, "figures": figures}


@dataclass(frozen=True)
class Load:
    """What a stream's generator did in a window; times are sums over its jobs, in ns."""

    subject: str
    jobs: int
    slots: int
    open_loop: bool
    length_ns: int
    cpu_ns: float | None
    away_ns: float = 0.0
    """Handling completions and submitting, between waits."""
    started: float = 0.0
    late: float = 0.0
    unserved: float = 0.0
    grown: float = 0.0
    """Requests by which the queue grew from begin to end, if it grew throughout; else zero."""
    failed: float = 0.0
    slip_ns: float = 0.0
    lag_ns: float = 0.0
    latency_ns: float = 0.0
    service_ns: float = 0.0
    """Sum of the requests' time from submission to completion."""
    bytes: float = 0.0
    plain: bool = False
    """Past the page cache and without syncs: what the disk moves is what the stream asks for."""
    tails: Mapping[float, tuple[float, float]] | None = None
    """Per quantile the generator's lateness and the least latency of an operation."""

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
    """What the sampler saw in a window, in processors and shares; None where it saw nothing."""

    processors: float
    idle: float
    own: float
    """Processors that the worker kept busy, the kernel's threads for it included."""
    device_ns: float | None
    """Time that requests spent at the disks, summed over requests."""
    device_bytes: float = 0.0


def findings(
    phase: PhaseSpec,
    windows: Mapping[str, WindowData],
    samples: Iterable[Row],
    spans: Sequence[tuple[int, int]],
) -> list[Finding]:
    """All there is to say about one run's phase.

    `windows` holds the steady window of each of its streams, `samples` the sampler's rows, of
    which those count that overlap the window's `spans` (begin and end in ns from t0).
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
) -> list[Finding]:
    """Whether the clients of a program were the limit, and count what the server counts.

    `data` is the program's window, `server_statements` and `server_transactions` a second are the
    server's own counts, where it has them. A thread that is always busy never waits for an answer;
    clients that take half of a machine without idle time leave too little to the server. Not for a
    database that lives in its client.
    """
    found: list[Finding] = []
    cpu = sum(data.counters.get("load.cpu_ns", ())) / (threads * data.length_ns or 1)
    starved = machine is not None and machine.idle <= MACHINE_IDLE
    half = machine is not None and machine.own >= machine.processors / 2
    if cpu >= BUSY or (starved and half):
        figures = {"cpu": cpu, "idle": machine.idle if machine else 1.0}
        found.append(Finding("client", subject, figures))
    for code, counters, of_server in (
        ("counts", ("statement.count", "statement.ledger"), server_statements),
        ("transactions", ("statement.ended",), server_transactions),
    ):
        sent = sum(sum(data.counters.get(counter, ())) for counter in counters)
        counted = sent / data.length_ns * 1e9
        if of_server and counted:
            apart = abs(of_server - counted) / counted
            if apart > COUNTS_APART:
                found.append(Finding(code, subject, {"apart": apart}))
    return found


def program_findings(
    subject: str, completed: float, failed: float, machine: Machine | None, *, own_server: bool
) -> Iterator[Finding]:
    """Findings about a program's transactions and the disk of its database.

    `completed` and `failed` count transactions in the window; `machine` is None in virtual time;
    `own_server`: the user runs the server, maybe on another machine.
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
    """Findings about streams that ran at once; `machine` is None in virtual time."""
    at_device = _at_device(loads, machine)
    found: list[Finding] = []
    for load in loads:
        if load.failed:
            found.append(Finding("failed", load.subject, {"count": load.failed}))
        limit = list(_limit(load, loads, machine, at_device)) if machine else []
        found += limit
        if load.open_loop:
            blamed = any(finding.level == "invalid" for finding in limit)
            found += _schedule(load, blamed)
        if machine:
            found += _disk(load, loads, machine, at_device)
    return found


def _at_device(loads: Sequence[Load], machine: Machine | None) -> float | None:
    """Share of the time between submission and completion that requests spent at a disk."""
    if machine is None or machine.device_ns is None:
        return None
    under_way = sum(load.service_ns for load in loads)
    return machine.device_ns / under_way if under_way > 0 else None


def _limit(
    load: Load, loads: Sequence[Load], machine: Machine, at_device: float | None
) -> Iterator[Finding]:
    """What else than the disk set the limit; if the disk did its part, it was merely close."""
    figures = {"cpu": load.cpu, "away": load.away, "idle": machine.idle, "own": machine.own}
    if at_device is not None:
        figures["at_device"] = at_device
    code = None
    if _thread_is_busy(load):
        code = "generator"
    elif machine.idle <= MACHINE_IDLE or _kept_from_running(load, at_device):
        code = "processors" if machine.own >= machine.processors / 2 else "others"
    elif not any(other.open_loop for other in loads):
        # In closed loop nobody spins: slots that each keep a processor busy wait for no disk.
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
    # An open loop spins before each arrival: only one that is behind is short of time.
    return _is_behind(load) and load.away >= BUSY / 2


def _kept_from_running(load: Load, at_device: float | None) -> bool:
    """Behind its schedule though no disk kept its requests: the machine had other work then."""
    answered = at_device is not None and at_device < FROM_MEMORY
    return load.open_loop and answered and _is_behind(load)


def _is_behind(load: Load) -> bool:
    return load.late >= LATE * load.started or load.unserved > _tolerated(load)


def _tolerated(load: Load) -> float:
    return max(UNSERVED * (load.started + load.unserved), load.slots)


def _schedule(load: Load, blamed: bool) -> Iterator[Finding]:
    """How the schedule of an open loop was kept; `blamed`: why it was not is known already."""
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
    """Transactions of a program in open loop that arrived and that no client ever began."""
    started, unserved = (sum(data.counters.get(f"load.{of}", ())) for of in ("started", "unserved"))
    load = Load(subject, 1, clients, True, data.length_ns, None, started=started, unserved=unserved)
    if unserved > _tolerated(load):
        yield _unserved(load)


def _disk(
    load: Load, loads: Sequence[Load], machine: Machine, at_device: float | None
) -> Iterator[Finding]:
    """Whether it was the disk that answered, took what was submitted, and served nobody else."""
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
    """What the record of a window tells about its stream's generator.

    `whole`: the window is one stretch of time. Between several its queue empties unseen.
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
        service_ns=total("load.service_ns_sum"),
        bytes=total("read.bytes") + total("write.bytes"),
        plain=spec.sync is None and not spec.page_flush and spec.access is not Access.buffered,
        tails=_tails(data.latencies, operations),
    )


def _committers(spec: StreamSpec) -> int | None:
    """Committers of each job, of a stream whose commits share flushes."""
    group = getattr(spec.sync, "group_commit", None)
    return group.committers if group else None


def _started(spec: StreamSpec) -> Sequence[str]:
    """The operations whose latencies are those of what a schedule starts."""
    whole = _committers(spec) or spec.page_flush
    return ("commit",) if whole else ("read", "write", "sync", "trim")


def _ended(spec: StreamSpec) -> Sequence[str]:
    """The operations of which each ends one scheduled start: a sync belongs to its writes."""
    return [operation for operation in _started(spec) if operation != "sync"]


def _grown(data: WindowData, ended: Sequence[str]) -> float:
    """Requests by which the queue of an open loop grew in a window, or zero.

    More came than ended, by more than chance makes and `GROWTH`, and so in each half of the window:
    a queue that fills at the begin and then stays does not grow, nor does one that swings.
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
    """Per quantile that enough requests lie beyond: lateness, and the least latency there."""
    tails: dict[float, tuple[float, float]] = {}
    lag = latencies.get("lag")
    for level in TAILS:
        told = [
            value
            for operation in operations
            if operation != "sync"
            and operation in latencies
            and latencies[operation]["count"] * (1 - level) >= FEWEST_IN_TAIL
            for reached, value in latencies[operation]["quantiles"]
            if reached == level
        ]
        late = [value for reached, value in lag["quantiles"] if reached == level] if lag else []
        if told and late:
            tails[level] = (float(late[0]), float(min(told)))
    return tails


def machine_of(samples: Iterable[Row], spans: Sequence[tuple[int, int]]) -> Machine | None:
    """What the sampler saw in these spans; rows that lie there in part count in part."""
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
