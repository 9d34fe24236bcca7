"""Results of a failover trial in words and as plain data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from statistics import median
from typing import Any

from tameshi.core.units import format_value
from tameshi.pairs.catalog import WAYS
from tameshi.pairs.trial import EVENTS, TrialResult
from tameshi.pairs.warm_up import Warmth


def holds(result: TrialResult) -> bool:
    """Return whether a trial kept what the replication promises."""
    promised = WAYS[result.replication].promises
    return not (result.unexplained or result.broken or (promised and result.lost))


def answer(result: TrialResult) -> str:
    """Return the sentence that says what the failover cost."""
    acknowledged = f"{result.ledger['acknowledged']:,} acknowledged commits"
    lost = f"{result.lost:,} of {acknowledged}" if result.lost else f"None of {acknowledged}"
    away = "the service did not come back"
    if not result.failover:
        away = f"the service made {_rate_text(result)}"
    elif result.away_ns is not None:
        away = f"the service was back {span(result.away_ns)} after the event"
    were = "was" if result.lost <= 1 else "were"
    text = f"{lost} {were} lost, and {away}."
    if result.unexplained:
        text += f" {result.unexplained:,} commits are there twice, or unexplained."
    if result.broken:
        text += f" {result.broken:,} rows violate conditions of consistency."
    if not holds(result):
        text += " The replication's promise is broken."
    return text


def result_text(result: TrialResult) -> Iterator[str]:
    """Yield the answer, then each finding on a line."""
    costs = result.costs
    yield answer(result)
    yield f"replication: {result.replication}; event: {EVENTS[result.event]}"
    if result.failover:
        rates = (result.rate, result.rate_alone, result.rate_after)
        before, alone, after = ("" if rate is None else f"{rate:,.0f}" for rate in rates)
        meanwhile = f"{alone} until the failed side is back, " if alone else ""
        yield f"commits per s: {before} before, {meanwhile}{after} afterwards"
    latencies = [each for each in result.latencies_ns if any(each)]
    medians, tails = (", ".join(span(each[at]) for each in latencies) for at in range(2))
    yield f"latency of a transaction in the same times: median {medians}; p99 {tails}"
    if result.lags_ns:
        lag = span(median(result.lags_ns))
        slowed = ""
        if result.slow_lags_ns:
            slowed = f"; {span(median(result.slow_lags_ns))} with the slow link"
        yield f"lag of the standby: {lag} (median of {len(result.lags_ns)}){slowed}"
    standby = f", {span(costs.standby_cpu_ns)} of the standby's" if costs.standby_cpu_ns else ""
    yield (
        f"per commit: {costs.link_bytes:,.0f} B over the link, {span(costs.primary_cpu_ns)} of the "
        f"primary's processors{standby}"
    )
    if result.outage:
        yield f"outage: {_outage_text(result.outage)}"
    yield from _clients_text(result)
    steps = [f"{name.replace('_', ' ')} {span(ns)}" for name, ns in steps_ns(result).items()]
    if steps:
        yield f"failover: {', '.join(steps)}"
    yield from _warm_up_text(result)
    yield from _return_text(result)


def _rate_text(result: TrialResult) -> str:
    """Return the rates before, with and after a slow link."""
    slowed = f"{result.rate_alone or 0:,.0f} with the slow link"
    return f"{result.rate:,.0f} commits per s before, {slowed}, {result.rate_after:,.0f} afterwards"


def _clients_text(result: TrialResult) -> Iterator[str]:
    """Yield the errors that clients received, and their commits of unknown outcome."""
    if result.errors:
        named = ", ".join(f"{code} ({count:,})" for code, count in sorted(result.errors.items()))
        yield f"errors of clients: {named}"
    unknown, present = (int(result.ledger[key]) for key in ("ambiguous", "ambiguous_present"))
    if unknown:
        yield f"commits of unknown outcome: {unknown:,}, of which the database has {present:,}"


def _warm_up_text(result: TrialResult) -> Iterator[str]:
    """Yield hits of the buffer pool and reads from the drive, before the event and after it."""
    warm_up = result.warm_up
    if not warm_up or not warm_up.before or not warm_up.after:
        return
    first, last = warm_up.after[0], warm_up.after[-1]
    moments = [first] if first is last else [first, last]
    for name, value in (
        ("hits of the buffer pool", _hits),
        ("reads from the drive per commit", _reads),
    ):
        after = ", ".join(f"{value(each)} until {_seconds(each)}" for each in moments)
        yield f"{name}: {value(warm_up.before)} before the event; after the failover {after}"


def _hits(warmth: Warmth) -> str:
    return "–" if warmth.hit_ratio is None else f"{100 * warmth.hit_ratio:.2f} %"


def _reads(warmth: Warmth) -> str:
    return "–" if warmth.reads_per_commit is None else f"{warmth.reads_per_commit:.3g}"


def _seconds(warmth: Warmth) -> str:
    return f"{warmth.end_ns / 1e9:.1f} s"


def _return_text(result: TrialResult) -> Iterator[str]:
    """Yield means and costs of the failed side's return, if there is one."""
    returned = result.returned
    if not returned:
        return
    crossed = format_value("bytes", returned.link_bytes)
    yield (
        f"return of the failed side: by {returned.means} in {span(returned.time_ns)}, "
        f"{crossed} over the link"
    )
    if returned.refused:
        yield f"its own data did not suffice: {returned.refused}"


def _outage_text(outage: Any) -> str:
    """Return the times of an outage as clients saw it."""
    error, success = outage["first_error_ns"], outage["first_success_ns"]
    if success is None:
        return "from the first error to the end"
    recovered = outage["recovered_ns"]
    rate = "nine tenths of the rate were not reached"
    if recovered is not None:
        rate = f"nine tenths of the rate after {span(recovered - error)}"
    return f"{span(success - error)} from the first error to the first success; {rate}"


def steps_ns(result: TrialResult) -> dict[str, int]:
    """Return the time of each step of the failover; none without a failover."""
    return result.failover.spans_ns() if result.failover else {}


def span(ns: float) -> str:
    """Return a time in words."""
    return format_value("latency", ns)


def as_json(result: TrialResult) -> dict[str, Any]:
    """Return a result as plain data."""
    derived = {"lost": result.lost, "unexplained": result.unexplained, "holds": holds(result)}
    return {**asdict(result), **derived, "steps_ns": steps_ns(result)}
