"""Estimates of a database and its clients: statements, hit ratio, reads and writes, TpmC."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tameshi.analysis.stats import intervals
from tameshi.analysis.stats.estimates import NANOSECONDS, Estimate, WindowData, of_phase

SERVER, CLIENT, DISK = "server", "client", "disk"
"""Subjects besides the program and its transaction types."""

MINUTE_SECONDS = 60.0
TOLD_LATE_NS = 20_000_000_000
"""Least window in which a count reported a second late is at most 5 % off."""

CLIENT_RATES = {
    "statement.count": ("statement.rate", "1/s"),
    "transaction.retries": ("transaction.retry_rate", "1/s"),
    "transaction.failed": ("transaction.failure_rate", "1/s"),
    "transaction.ambiguous": ("transaction.ambiguous_rate", "1/s"),
}
"""Counters of the clients: metric and unit."""
SERVER_RATES = {
    "server.statements": ("server.statement_rate", "1/s"),
    "server.selects": ("server.select_rate", "1/s"),
    "server.inserts": ("server.insert_rate", "1/s"),
    "server.updates": ("server.update_rate", "1/s"),
    "server.deletes": ("server.delete_rate", "1/s"),
    "server.commits": ("server.commit_rate", "1/s"),
    "server.reads": ("server.read_rate", "1/s"),
    "server.read_bytes": ("server.read_bandwidth", "B/s"),
    "server.pages_read": ("server.page_read_rate", "1/s"),
    "server.writes": ("server.write_rate", "1/s"),
    "server.written_bytes": ("server.write_bandwidth", "B/s"),
    "server.pages_written": ("server.page_write_rate", "1/s"),
    "server.fsyncs": ("server.fsync_rate", "1/s"),
    "server.log_fsyncs": ("server.log_fsync_rate", "1/s"),
    "server.log_bytes": ("server.log_bandwidth", "B/s"),
    "server.lock_waits": ("server.lock_wait_rate", "1/s"),
}
"""Counters of the server."""
PROCESS_RATES = {
    "process.read_bytes": ("process.read_bandwidth", "B/s"),
    "process.written_bytes": ("process.write_bandwidth", "B/s"),
}
"""Kernel counters of a process, without processor time."""
DISK_RATES = {
    "disk.reads": ("disk.read_rate", "1/s"),
    "disk.read_bytes": ("disk.read_bandwidth", "B/s"),
    "disk.writes": ("disk.write_rate", "1/s"),
    "disk.written_bytes": ("disk.write_bandwidth", "B/s"),
}
"""Kernel counters of the disks."""
CLIENT_TIMES = (
    "processor",
    "page_reads",
    "free_pages",
    "page_latches",
    "pool_mutex",
    "row_locks",
    "tree_locks",
    "log",
    "log_space",
    "outage",
    "thinking",
)
"""Activities of a simulated server's clients: shares of their time."""
TIME_SHARE = "server.time_"
"""Metric prefix of these shares."""
GAUGES = ("server.dirty_bytes", "server.checkpoint_age_bytes", "server.threads_running")


NEW_ORDER = ".new_order"


def chief(rates: Mapping[str, float], default: str) -> str:
    """Return the transaction type that stands for a program: TPC-C's New-Order, else the most
    frequent."""
    named = (kind for kind in rates if kind.endswith(NEW_ORDER))
    return next(named, max(rates, key=lambda kind: rates[kind], default=default))


def of_client(subject: str, runs: Sequence[WindowData]) -> list[Estimate]:
    """Yield statements and errors of a whole program or of one transaction type."""
    metrics = _rates(subject, CLIENT_RATES, runs)
    if subject.endswith(NEW_ORDER) and runs:
        metrics.append(_tpmc(subject, runs))
    return metrics


def of_server(runs: Sequence[WindowData]) -> list[Estimate]:
    """Yield the server's counters, its hit ratio, and mean states."""
    metrics = _rates(SERVER, SERVER_RATES, runs)
    requests, misses = "server.page_requests", "server.page_misses"
    asked = [run for run in runs if sum(run.counters.get(requests, ())) > 0]
    if asked:
        metrics.append(_share_left("server.hit_ratio", requests, misses, asked))
    metrics += _shares_of_time(runs)
    for gauge in GAUGES:
        means = {
            run.repetition: sum(values) / len(values)
            for run in runs
            if (values := run.counters.get(gauge))
        }
        if means:
            unit = "B" if gauge.endswith("_bytes") else "1"
            metrics.append(_plain(gauge, SERVER, unit, means))
    return metrics


def counted(server: WindowData) -> tuple[float | None, float | None]:
    """Return statements and transactions per second as the server counts them; None if it does not.

    A server that counts statements counts no transaction for a lone statement. PostgreSQL's
    processes report transactions up to a second late, so short windows are excluded.
    """
    statements = server.counters.get("server.statements")
    if statements:
        return sum(statements) / server.length_ns * NANOSECONDS, None
    ended = [server.counters.get(f"server.{how}", ()) for how in ("commits", "rollbacks")]
    if not ended[0] or server.length_ns < TOLD_LATE_NS:
        return None, None
    return None, sum(map(sum, ended)) / server.length_ns * NANOSECONDS


def _shares_of_time(runs: Sequence[WindowData]) -> list[Estimate]:
    """Yield each activity's share of the clients' time."""
    spent = {
        run.repetition: {
            name: sum(run.counters.get(f"server.time_{name}_ns", ())) for name in CLIENT_TIMES
        }
        for run in runs
    }
    timed = {run: times for run, times in spent.items() if sum(times.values()) > 0}
    return [
        _plain(
            f"{TIME_SHARE}{name}",
            SERVER,
            "1",
            {run: times[name] / sum(times.values()) for run, times in timed.items()},
        )
        for name in CLIENT_TIMES
        if any(times[name] > 0 for times in timed.values())
    ]


def time_shares(cell: Mapping[str, Any]) -> dict[str, float]:
    """Return a cell's shares of client time by activity; empty without any."""
    return {
        estimate["metric"].removeprefix(TIME_SHARE): estimate["value"]
        for estimate in of_phase(cell)
        if estimate["metric"].startswith(TIME_SHARE)
    }


def of_process(subject: str, runs: Sequence[WindowData]) -> list[Estimate]:
    """Yield busy processors of a process, and bytes read and written."""
    metrics = _rates(subject, PROCESS_RATES, runs)
    kinds = ("process.cpu_user_ns", "process.cpu_system_ns")
    busy = {
        run.repetition: sum(sum(run.counters.get(kind, ())) for kind in kinds) / run.length_ns
        for run in runs
        if any(kind in run.counters for kind in kinds) and run.length_ns
    }
    return [*metrics, _plain("process.processors", subject, "1", busy)] if busy else metrics


PROFILED = {
    "cpu_user_ns": ("statement.cpu_user", "ns"),
    "cpu_system_ns": ("statement.cpu_system", "ns"),
    "blocks_in": ("statement.blocks_in", "1"),
}
"""Figures of a mean statement, by the profile's columns."""
BLOCK_BYTES = 512
SCANNING = "Sending data"
"""Stage of a scan in which MySQL up to 5.7 and MariaDB read and send rows."""


def scan_profile(scans: WindowData, server: WindowData, host: WindowData) -> dict[str, Any] | None:
    """Return the profile that a server would report for scans, from the counters of one run's
    window.

    As in a real profile, a statement has the whole process's times while it ran: those of the scans
    that ended in the window. Page faults are unknown.
    """
    statements = round(sum(scans.counters.get("transaction.count", ())))
    ns = sum(scans.counters.get("transaction.latency_sum", ()))
    if not statements or not host.counters:
        return None
    part = ns / scans.length_ns
    stage = {"stage": SCANNING, "ns": ns}
    for kind in ("cpu_user_ns", "cpu_system_ns"):
        stage[kind] = part * sum(host.counters.get(f"process.{kind}", ()))
    stage["blocks_in"] = part * sum(server.counters.get("server.read_bytes", ())) / BLOCK_BYTES
    return {"statements": statements, "stages": [stage]}


def of_profiles(subject: str, profiles: Mapping[int, Mapping[str, Any]]) -> list[Estimate]:
    """Yield processor times and blocks of a mean statement, from the profiles by repetition."""
    return [
        _plain(
            metric,
            subject,
            unit,
            {
                repetition: sum(stage[key] for stage in profile["stages"]) / profile["statements"]
                for repetition, profile in profiles.items()
            },
        )
        for key, (metric, unit) in PROFILED.items()
        if profiles
    ]


def of_disk(runs: Sequence[WindowData]) -> list[Estimate]:
    """Yield figures of the disks under the database."""
    return _rates(DISK, DISK_RATES, runs)


def _rates(
    subject: str, table: dict[str, tuple[str, str]], runs: Sequence[WindowData]
) -> list[Estimate]:
    """Yield rates of the counters that any run has; a missing counter is zero."""
    return [
        _rate(metric, subject, unit, counter, runs)
        for counter, (metric, unit) in table.items()
        if any(counter in run.counters for run in runs)
    ]


def _rate(
    metric: str, subject: str, unit: str, counter: str, runs: Sequence[WindowData]
) -> Estimate:
    values = {
        run.repetition: sum(run.counters.get(counter, ())) / run.length_ns * NANOSECONDS
        for run in runs
        if run.length_ns
    }
    if len(values) != 1:
        return _plain(metric, subject, unit, values)
    (run,) = (run for run in runs if run.length_ns)
    (value,) = values.values()
    counts = run.counters.get(counter, ())
    sampling = intervals.within(counts, run.lengths_ns[: len(counts)], value)
    return Estimate(metric, subject, value, unit, sampling, values)


def _tpmc(subject: str, runs: Sequence[WindowData]) -> Estimate:
    """Return New-Order transactions per minute, intended rollbacks included."""
    by_second = _rate("", subject, "", "transaction.count", runs)
    values = {run: value * MINUTE_SECONDS for run, value in by_second.by_repetition.items()}
    return _plain("transaction.tpmc", subject, "1/min", values)


def _share_left(metric: str, total: str, part: str, runs: Sequence[WindowData]) -> Estimate:
    values = {
        run.repetition: max(0.0, 1 - sum(run.counters.get(part, ())) / sum(run.counters[total]))
        for run in runs
    }
    return _plain(metric, SERVER, "1", values)


def _plain(metric: str, subject: str, unit: str, values: dict[int, float]) -> Estimate:
    each = list(values.values())
    sampling = intervals.of_runs(each) if each else intervals.none("no_run", 0)
    return Estimate(metric, subject, intervals.centre(each or [0.0]), unit, sampling, values)
