"""Failover of real pairs: outage, lag, bytes over the link, lost commits, return of a side.

    python -m bench.pairs [--replication NAME …] [--event EVENT …] [--link tcp-10gbe]
        [--drive sata-ssd-480gb] [--clients 4] [--before 4] [--notice 0] [--write]

Per replication and event one trial, each with new hosts, drives and servers: load with a ledger of
acknowledged commits, the event, failover, return of the failed side under load, and the check.
`--notice`: time from the event to the failover in s, as a monitor's patience. `--write` writes
docs/validation/pairs.md. Needs root and a quiet machine.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from tameshi.commands.failover import (
    BUFFER_POOL,
    CLIENTS,
    DRIVE,
    ROWS,
    fail_over,
    pair_plan,
    prepare_machine,
    program_of,
)
from tameshi.commands.hosts import LINK
from tameshi.core.units import format_value
from tameshi.pairs import EVENTS, WAYS, TrialPlan, TrialResult, Warmth
from tameshi.pairs.assembly import check_pair
from tameshi.pairs.show import answer, span
from tameshi.pairs.trial import can_have

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/validation/pairs.md"
WARM_UP = (
    *("replication", "event", "hits before", "first second", "last second"),
    *("reads/commit before", "first second", "last second", "end of the last"),
)
CAPTIONS = (
    *("replication", "event", "commits/s", "alone", "after", "p50", "p99", "lag"),
    *("link/commit", "CPU primary", "CPU standby", "outage", "from the event", "9/10 of the rate"),
    *("fence", "catch up", "promotion", "acknowledged", "lost", "unexplained"),
    *("return by", "return", "over the link"),
)


def trial(name: str, event: str, arguments: argparse.Namespace) -> TrialResult:
    """Make a pair, and fail it over once."""
    program = program_of(0, ROWS, arguments.clients)
    plan = pair_plan(name, arguments.drive, arguments.link, program, BUFFER_POOL)
    check_pair(plan)
    return fail_over(plan, TrialPlan(event, before=arguments.before, notice=arguments.notice))


def time_or_none(ns: float | None) -> str:
    """Return a time in words."""
    return "–" if ns is None else span(ns)


def returned(of: TrialResult) -> list[str]:
    """Return the cells of a failed side's return; empty ones without a standby."""
    if of.returned is None:
        return ["–"] * 3
    crossed = format_value("bytes", of.returned.link_bytes)
    return [of.returned.means, span(of.returned.time_ns), crossed]


def warm_up_row(of: TrialResult) -> list[str]:
    """Return the cells of the buffer pool's warm-up."""
    found = of.warm_up
    if not found or not found.before or not found.after:
        return [of.replication, of.event, *["–"] * (len(WARM_UP) - 2)]
    moments = (found.before, found.after[0], found.after[-1])

    def hits(of: Warmth) -> str:
        return "–" if of.hit_ratio is None else f"{100 * of.hit_ratio:.2f} %"

    def reads(of: Warmth) -> str:
        return "–" if of.reads_per_commit is None else f"{of.reads_per_commit:.3g}"

    last = f"{moments[-1].end_ns / 1e9:.1f} s"
    return [of.replication, of.event, *map(hits, moments), *map(reads, moments), last]


def row(of: TrialResult) -> list[str]:
    """Return the cells of a trial."""

    outage, steps = of.outage, [*of.failover.spans_ns().values()] if of.failover else []
    error, success, recovered = (
        outage.get(key) for key in ("first_error_ns", "first_success_ns", "recovered_ns")
    )
    return [
        of.replication,
        of.event,
        *(f"{rate:,.0f}" if rate else "–" for rate in (of.rate, of.rate_alone, of.rate_after)),
        *map(span, of.latencies_ns[0]),
        span(sorted(of.lags_ns)[len(of.lags_ns) // 2]) if of.lags_ns else "–",
        f"{of.costs.link_bytes:,.0f} B",
        *(span(spent) for spent in (of.costs.primary_cpu_ns, of.costs.standby_cpu_ns)),
        time_or_none(None if success is None else success - error),
        time_or_none(of.away_ns),
        time_or_none(None if recovered is None else recovered - error),
        *(map(span, steps[:3]) if steps else "–––"),
        f"{of.ledger['acknowledged']:,}",
        f"{of.lost:,}",
        f"{of.unexplained:,}",
        *returned(of),
    ]


def page(found: list[TrialResult], arguments: argparse.Namespace, load: float) -> str:
    """Return the page of the documentation."""
    lines = [
        "# Pairs: failover of real servers",
        "",
        "<!-- written by `python -m bench.pairs --write` -->",
        "",
        "[Pairs](../pairs.md) of two hosts on one machine, each with a server on a",
        f"[served drive](../serve.md) (`{arguments.drive}`), joined by the link",
        f"`{arguments.link}`. {arguments.clients} clients update keys; each commit has a row in",
        "the [ledger](../programs-on-databases.md). One trial per row. *Alone*: rate until the",
        "failed side has returned. *p50*, *p99*: latency before the event. *Lag*: median time",
        "until the standby has applied what the primary had written. *Link*, *CPU*: data over the",
        "link, and processor time of a host, per commit. *Outage*: first error to first success.",
        f"The failover begins {arguments.notice:g} s after the event. *Unexplained*: commits that",
        "are there twice, or that no client sent.",
        f"{os.cpu_count()} processors, Linux {platform.release()}, load average {load:.1f} at the",
        "begin.",
        "",
        f"| {' | '.join(CAPTIONS)} |",
        f"|{'---|' * len(CAPTIONS)}",
        *(f"| {' | '.join(row(of))} |" for of in found),
        "",
        *(f"- `{event}`: {meaning}" for event, meaning in EVENTS.items()),
        "",
        "A return by copy means that the failed side had commits that the new primary does not",
        "have. Processors of this machine are shared by both hosts, the clients and the drives.",
        "A server alone (`-single`) restarts: its *catch up* is the mount of the drive, its",
        "*promotion* start and crash recovery.",
        "",
        "Hits of the buffer pool, and reads that the drive received per commit:",
        "",
        f"| {' | '.join(WARM_UP)} |",
        f"|{'---|' * len(WARM_UP)}",
        *(f"| {' | '.join(warm_up_row(of))} |" for of in found),
    ]
    return "\n".join(lines) + "\n"


def parsed() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--replication", action="append", choices=[*WAYS])
    parser.add_argument("--event", action="append", choices=[*EVENTS])
    parser.add_argument("--link", default=LINK)
    parser.add_argument("--drive", default=DRIVE)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--before", type=float, default=4)
    parser.add_argument("--notice", type=float, default=0)
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Run the trials, print what happened, and write the page."""
    arguments = parsed()
    console = Console(width=200)
    load = os.getloadavg()[0]
    prepare_machine()
    found = []
    for name in arguments.replication or WAYS:
        for event in arguments.event or EVENTS:
            if not can_have(WAYS[name], event):
                continue
            begin = time.monotonic()
            result = trial(name, event, arguments)
            found.append(result)
            table = Table(show_header=False)
            for caption, cell in zip(CAPTIONS, row(result), strict=True):
                table.add_row(caption, cell)
            console.print(table)
            refused = result.returned.refused if result.returned else ""
            took = f"{time.monotonic() - begin:.1f} s"
            console.print(f"{took}: {answer(result)} {refused}")
    if arguments.write:
        PAGE.write_text(page(found, arguments, load), encoding="utf-8")


if __name__ == "__main__":
    main()
