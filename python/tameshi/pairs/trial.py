"""Failover trial: a pair under load, one event, failover, return, and the check of the ledger."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tameshi.core.errors import BadInput, RunFailed
from tameshi.pairs.deployment import Deployment, Failover, Return
from tameshi.pairs.ledger_load import LedgerLoad
from tameshi.pairs.single import no_link
from tameshi.pairs.warm_up import PoolReading, PoolWatch, WarmUp, warmths
from tameshi.pairs.way import Way

SPLIT_BRAIN, SLOW_LINK = "split-brain", "slow-link"
EVENTS: Mapping[str, str] = {
    "kill": "the primary's server is killed",
    "power-cut": "the power of the primary's host and drive is cut",
    "link-cut": "the link is cut, both ways; the primary goes on until it is fenced",
    "link-cut-one-way": "the same, only from the primary to the standby",
    "link-cut-then-kill": "the link is cut, and a while later the primary's server is killed",
    SPLIT_BRAIN: "the link is cut, and the standby takes over without a fence of the primary",
    SLOW_LINK: "the link is slowed for a while; the primary goes on, without a failover",
}
ALONE = ("kill", "power-cut")
"""Events of a server without a standby."""
LAGS = 5
"""Measurements of the lag before the event."""
_PAUSE_SECONDS = 0.05


@dataclass(frozen=True)
class TrialPlan:
    """Event of a trial, and its times in s.

    `before`: load before the event. `notice`: time from the event to the failover, which stands for
    a monitor's patience. `cut`: time without a link before the kill of `link-cut-then-kill`, or
    with two primaries. `after`: load after the return of the failed side. In `slow-link` the link
    takes `slow_factor` times as long for `slow` s, and `after` follows.
    """

    event: str
    before: float = 3.0
    notice: float = 0.0
    cut: float = 0.5
    after: float = 1.5
    slow: float = 3.0
    slow_factor: float = 100.0

    def __post_init__(self) -> None:
        if self.event not in EVENTS:
            message = "unknown event of a pair"
            raise BadInput(message, where="--event", found=self.event, accepted=list(EVENTS))


def can_have(way: Way, event: str) -> bool:
    """Return whether an event can be made of a way."""
    if event == SLOW_LINK:
        return way.has_slow_link
    return bool(way.standbys) or event in ALONE


def check_event(way: Way, event: str) -> None:
    """Raise `BadInput` for an event that needs a link, if there is none, or none to be slowed."""
    if not way.standbys and event not in ALONE:
        raise no_link(f"{event} of {way.name}")
    if not can_have(way, event):
        raise BadInput(
            "the link of a block mirror's drive cannot be slowed",
            where="--event",
            found=f"{event} of {way.name}",
            accepted=["link-cut", "a replication by a log"],
        )


@dataclass(frozen=True)
class Costs:
    """Costs before the event, per acknowledged commit.

    `link_bytes` of data crossed the link, both ways; processor time is that of all programs in a
    host, 0 for a standby that is not there.
    """

    link_bytes: float
    primary_cpu_ns: float
    standby_cpu_ns: float


@dataclass(frozen=True)
class TrialResult:
    """Findings of a trial; times in ns, rates in acknowledged commits per s.

    `rate_alone`: from the failover until the failed side has returned; None without a standby. If
    there was no failover, it is the rate with the slow link, and `rate_after` that afterwards.
    `latencies_ns`: median and 99th percentile before, alone and afterwards. `away_ns`: from the
    event to the first success on the new primary; None if there was none. `outage`: as clients saw
    it, from the first error; empty without an error. `ledger` is that of the new primary at the
    end, `returned_ledger` that of the side that came back. `losses`: of the drive whose power was
    cut. `errors`: that clients received, by code. `slow_lags_ns`: lags while the link was slow.
    """

    replication: str
    event: str
    rate: float
    rate_alone: float | None
    rate_after: float
    latencies_ns: tuple[tuple[int, int], ...]
    lags_ns: tuple[int, ...]
    costs: Costs
    failover: Failover | None
    away_ns: int | None
    outage: Mapping[str, Any]
    returned: Return | None
    ledger: Mapping[str, Any]
    returned_ledger: Mapping[str, Any]
    losses: Mapping[str, Any] = field(default_factory=dict)
    warm_up: WarmUp | None = None
    errors: Mapping[str, int] = field(default_factory=dict)
    slow_lags_ns: tuple[int, ...] = ()

    @property
    def lost(self) -> int:
        """Return the number of acknowledged commits that the new primary does not have."""
        return int(self.ledger["lost"])

    @property
    def unexplained(self) -> int:
        """Return the commits that are there twice, or that no client has sent."""
        return int(self.ledger["twice"]) + int(self.ledger["phantom"])

    @property
    def broken(self) -> int:
        """Return the rows that violate conditions of consistency."""
        return int(self.ledger["broken"])


def run_trial(deployment: Deployment, load: LedgerLoad, plan: TrialPlan) -> TrialResult:
    """Fail a deployment over under load once; return the findings.

    It is set up, and the load loaded. Raises `RunFailed` if the service does not come back.
    """
    check_event(deployment.way, plan.event)
    trial = _Trial(deployment, load, plan)
    try:
        with load:
            trial.before_event()
            if plan.event == SLOW_LINK:
                trial.slow_link()
            else:
                trial.fail_over()
    except BaseException:
        # Clients may wait for a commit that no standby acknowledges: end their connections.
        for side in deployment.sides:
            side.server.kill()
        load.stop()
        raise
    deployment.wait_ready()
    return trial.result()


@dataclass(frozen=True)
class _Reading:
    """State of a deployment at one time."""

    time_ns: int
    commits: int
    link_bytes: int
    cpu_seconds: tuple[float, ...]

    def until(self, later: _Reading) -> tuple[int, int]:
        """Return the times of this reading and a later one."""
        return self.time_ns, later.time_ns

    def rate_until(self, later: _Reading) -> float:
        """Return the commits per s from this reading to a later one."""
        return (later.commits - self.commits) * 1e9 / (later.time_ns - self.time_ns)

    def costs_until(self, later: _Reading) -> Costs:
        """Return the costs per commit from this reading to a later one."""
        commits = max(later.commits - self.commits, 1)
        spent = [
            (then - now) * 1e9
            for now, then in zip(self.cpu_seconds, later.cpu_seconds, strict=True)
        ]
        primary, standby = (*spent, 0.0)[:2]
        link_bytes = later.link_bytes - self.link_bytes
        return Costs(link_bytes / commits, primary / commits, standby / commits)


class _Trial:
    """Steps of a trial, with readings between them."""

    def __init__(self, deployment: Deployment, load: LedgerLoad, plan: TrialPlan) -> None:
        self._deployment = deployment
        self._load = load
        self._plan = plan
        self._readings: list[_Reading] = []
        self._lags_ns: list[int] = []
        self._slow_lags_ns: list[int] = []
        self._event_ns = 0
        self._losses: Mapping[str, Any] = {}
        self._pool = PoolWatch(deployment, load)
        self._pools_before: list[PoolReading] = []
        self._pools: list[PoolReading] = []
        self._failover: Failover | None = None
        self._returned: Return | None = None

    def before_event(self) -> None:
        """Observe the service under load."""
        begin = time.monotonic()
        self._pools_before.append(self._pool.read())
        self._read()
        self._lags_ns = self._lags()
        time.sleep(max(begin + self._plan.before - time.monotonic(), 0))
        self._read()
        self._pools_before.append(self._pool.read())

    def fail_over(self) -> None:
        """Make the event, fail over, and bring the failed side back."""
        self._event_ns = time.monotonic_ns()
        self._make_event()
        time.sleep(self._plan.notice)
        is_fenced = self._plan.event != SPLIT_BRAIN
        self._failover = self._deployment.fail_over(fence=is_fenced)
        with self._pool.following() as self._pools:
            if not is_fenced:
                time.sleep(self._plan.cut)
                for side in self._deployment.sides[1:]:
                    side.fence()
            self._read()
            self._returned = self._deployment.take_back()
            self._read()
            time.sleep(self._plan.after)
            self._read()

    def _lags(self) -> list[int]:
        """Return some lags of the standby; none without one."""
        found = []
        for _ in range(LAGS):
            lag_ns = self._deployment.lag_ns()
            if lag_ns is None:
                break
            found.append(lag_ns)
            time.sleep(_PAUSE_SECONDS)
        return found

    def slow_link(self) -> None:
        """Slow the link for a while; the service goes on."""
        self._event_ns = time.monotonic_ns()
        self._deployment.slow_link(self._plan.slow_factor)
        self._read()
        end = time.monotonic() + self._plan.slow
        self._slow_lags_ns = self._lags()
        time.sleep(max(end - time.monotonic(), 0))
        self._read()
        self._deployment.slow_link(1)
        time.sleep(self._plan.after)
        self._read()

    def result(self) -> TrialResult:
        """Return the findings, once clients have stopped and the standby has caught up."""
        begin, event, alone, back, end = self._readings
        outage, away_ns = self._outage()
        spans = [begin.until(event), alone.until(back), back.until(end)]
        return TrialResult(
            replication=self._deployment.way.name,
            event=self._plan.event,
            rate=begin.rate_until(event),
            rate_alone=alone.rate_until(back) if self._returned or not self._failover else None,
            rate_after=back.rate_until(end),
            latencies_ns=tuple(self._load.latencies_ns(spans)),
            lags_ns=tuple(self._lags_ns),
            slow_lags_ns=tuple(self._slow_lags_ns),
            costs=begin.costs_until(event),
            failover=self._failover,
            away_ns=away_ns,
            outage=outage,
            returned=self._returned,
            ledger=self._load.check(),
            returned_ledger=self._returned_ledger(),
            losses=self._losses,
            warm_up=self._warm_up(),
            errors=self._load.errors(),
        )

    def _returned_ledger(self) -> Mapping[str, Any]:
        """Return the ledger of the side that came back; empty without one."""
        for standby in self._deployment.sides[1:]:
            return self._load.check(standby.server.address)
        return {}

    def _warm_up(self) -> WarmUp | None:
        if not self._failover:
            return None
        before = warmths(self._pools_before, self._event_ns)
        return WarmUp(before[0] if before else None, warmths(self._pools, self._event_ns))

    def _read(self) -> None:
        cpu = tuple(side.cpu_seconds() for side in self._deployment.sides)
        commits, link_bytes = self._load.commits(), self._deployment.link_bytes()
        self._readings.append(_Reading(time.monotonic_ns(), commits, link_bytes, cpu))

    def _make_event(self) -> None:
        deployment = self._deployment
        match self._plan.event:
            case "kill":
                deployment.primary.server.kill()
            case "power-cut":
                self._load.fail_power()
                self._losses = deployment.primary.cut_power()
                self._load.restore_power()
            case "link-cut" | "split-brain":
                deployment.cut_link()
            case "link-cut-one-way":
                deployment.cut_link(one_way=True)
            case "link-cut-then-kill":
                deployment.cut_link()
                time.sleep(self._plan.cut)
                deployment.primary.server.kill()

    def _outage(self) -> tuple[Mapping[str, Any], int | None]:
        """Return the first outage that clients saw after the event, and the time to its end."""
        t0_ns = self._load.t0_ns
        for outage in self._load.outages():
            success_ns = outage["first_success_ns"]
            if success_ns is None:
                return outage, None
            if t0_ns + success_ns >= self._event_ns:
                return outage, t0_ns + success_ns - self._event_ns
        if not self._failover:
            return {}, None
        raise RunFailed("the clients did not notice the event")
