"""Sampler of devices, machine and processes in each interval of a run.

One thread serves every world with a real clock. It reads the kernel's counters on a fixed schedule,
t0 + k × interval, and appends their increase to `series/sampler.csv`. A late wake-up extends one
interval and never shifts the schedule.
"""

from __future__ import annotations

import os
import resource
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Self

from tameshi import guard
from tameshi.core.clock import WALL, Clock
from tameshi.core.environment import names_in

HEADER = b"t_ns,dt_ns,subject,metric,value\n"
MACHINE = "machine"
SAMPLER = "sampler"

_TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
_MS_NS = 1_000_000
_SECTOR_BYTES = 512  # Unit of /proc/diskstats, independent of the device's block size.

# Columns of /proc/diskstats after the device's name, with the value of their units.
_DISK_COLUMNS = {
    "disk.reads": (0, 1),
    "disk.read_merges": (1, 1),
    "disk.read_bytes": (2, _SECTOR_BYTES),
    "disk.read_ns": (3, _MS_NS),
    "disk.writes": (4, 1),
    "disk.write_merges": (5, 1),
    "disk.written_bytes": (6, _SECTOR_BYTES),
    "disk.write_ns": (7, _MS_NS),
    "disk.flushes": (15, 1),
    "disk.busy_ns": (9, _MS_NS),
    "disk.weighted_ns": (10, _MS_NS),
}
# The kernel keeps these in 32 bits of milliseconds: they wrap after 50 days of device time.
_WRAPS_AT = dict.fromkeys(
    ("disk.read_ns", "disk.write_ns", "disk.busy_ns", "disk.weighted_ns"), _MS_NS << 32
)


@dataclass(frozen=True)
class Counters:
    """Counters of one subject since its start; a new `birth` marks a new subject."""

    birth: str
    values: dict[str, int]


Reading = dict[str, Counters]
"""Counters by subject, at one time."""


@dataclass(frozen=True)
class Row:
    """Line of the series without its times."""

    subject: str
    metric: str
    value: int | float


class Series(ABC):
    """Reader of counters on the schedule from `start()` (or `with`) to `stop()`, in a thread.

    `stop()` adds the last, shorter interval. `folder` is a run folder of Tameshi's; `t0_ns` is on
    `clock` and may be in the future: nothing before it is recorded. `problems` lists sentences on
    failed samples.
    """

    def __init__(
        self,
        folder: Path,
        source: str,
        t0_ns: int,
        interval_ns: int,
        subjects: Sequence[str],
        clock: Clock = WALL,
    ) -> None:
        self._clock = clock
        if interval_ns <= 0:
            raise ValueError(f"an interval of {interval_ns} ns")
        for subject in subjects:
            if set(subject) & set(',"\n'):
                raise ValueError(f"{subject!r} cannot stand in a CSV series")
        self.problems: list[str] = []
        self._t0_ns = t0_ns
        self._interval_ns = interval_ns
        self._subjects = list(subjects)
        self._file = guard.append_file(folder / "series" / f"{source}.csv")
        self._stop = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"tameshi-{source}", daemon=True)

    @abstractmethod
    def _read(self) -> Reading:
        """Return the counters now."""

    def _states(self, gained: Sequence[Row]) -> list[Row]:
        """Return states at the end of an interval, apart from increases."""
        return []

    def _is_wall(self, row: Row) -> bool:
        """Return whether times of this row are those of the wall, as the kernel's counters are."""
        return True

    def start(self) -> None:
        """Take the first reading, the base of the first row, before returning."""
        self._thread.start()
        self._ready.wait()

    def stop(self) -> None:
        """Take the last reading, write it and close the file; a second call does nothing."""
        self._stop.set()
        if self._thread.ident is not None:
            self._thread.join()
        self._file.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _run(self) -> None:
        try:
            with self._file as file:
                self._sample_until_stopped(file)
        except Exception as error:  # A run must not die of its sampler.
            self._note(f"the sampler ended early: {error}")
        finally:
            self._ready.set()

    def _sample_until_stopped(self, file: BinaryIO) -> None:
        if file.tell() == 0:
            file.write(HEADER)
            file.flush()
        before_ns, before = self._clock.now_ns(), self._read()
        for subject in self._subjects:
            if subject not in before:
                self._note(f"{subject} is not there to be sampled")
        self._ready.set()
        due_ns, stopped = 0, False
        while not stopped:
            due_ns = next_due(max(self._clock.now_ns(), due_ns), self._t0_ns, self._interval_ns)
            stopped = self._clock.wait(self._stop, due_ns - self._clock.now_ns())
            now_ns, now = self._clock.now_ns(), self._read()
            if before_ns >= self._t0_ns and now_ns > before_ns:
                rows, problems = gains(before, now)
                for problem in problems:
                    self._note(problem)
                rows = [slowed(row, self._clock) if self._is_wall(row) else row for row in rows]
                rows += self._states(rows)
                file.write(lines(now_ns - self._t0_ns, now_ns - before_ns, rows))
                file.flush()
            before_ns, before = now_ns, now

    def _note(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)


class Sampler(Series):
    """Counters of the kernel: `devices` by their names in /proc/diskstats, the machine, processes.

    `pids` are the processes by subject, `families` those that count with all their descendants; the
    root of a family may change between readings.
    """

    def __init__(
        self,
        folder: Path,
        t0_ns: int,
        interval_ns: int,
        devices: Sequence[str],
        pids: Mapping[str, int],
        *,
        families: Mapping[str, Callable[[], int | None]] | None = None,
        proc: Path = Path("/proc"),
        clock: Clock = WALL,
    ) -> None:
        families = families or {}
        subjects = [*devices, MACHINE, *pids, *families]
        super().__init__(folder, SAMPLER, t0_ns, interval_ns, subjects, clock)
        self._devices = list(devices)
        self._pids = dict(pids)
        self._families = {subject: Family(first) for subject, first in families.items()}
        self._proc = proc

    def _read(self) -> Reading:
        reading = read_devices(self._proc, self._devices)
        reading |= read_machine(self._proc)
        for subject, pid in self._pids.items():
            reading |= read_process(self._proc, subject, pid)
        for subject, family in self._families.items():
            reading |= family.read(self._proc, subject)
        return reading | {SAMPLER: own_time()}


class Family:
    """Process with its descendants; counters of finished ones still count."""

    def __init__(self, first: Callable[[], int | None]) -> None:
        self._first = first
        self._birth = ""
        self._last: dict[tuple[int, str], dict[str, int]] = {}
        self._ended: dict[str, int] = {}

    def read(self, proc: Path, subject: str) -> Reading:
        """Return the sum of their counters; None if the root has ended."""
        first_pid = self._first()
        first = read_process(proc, subject, first_pid).get(subject) if first_pid else None
        if first is None or first_pid is None:
            return {}
        if first.birth != self._birth:  # another one, started since
            self._birth, self._last, self._ended = first.birth, {}, {}
        now = {(first_pid, first.birth): first.values}
        for pid in descendants(proc, first_pid):
            counters = read_process(proc, subject, pid).get(subject)
            if counters is not None:
                now[pid, counters.birth] = counters.values
        for member, values in self._last.items():
            if member not in now:
                self._ended = summed([self._ended, values])
        self._last = now
        total = summed([self._ended, *now.values()])
        return {subject: Counters(first.birth, {name: total[name] for name in first.values})}


def summed(counters: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Return counters added up by name."""
    total: dict[str, int] = {}
    for values in counters:
        for name, value in values.items():
            total[name] = total.get(name, 0) + value
    return total


def descendants(proc: Path, pid: int) -> Iterator[int]:
    """Return all descendants of a process, from all processes: kernels may not list a process's
    children."""
    below: dict[int, list[int]] = {}
    for name in names_in(proc):
        if name.isdigit():
            fields = _text(proc / name / "stat").rpartition(")")[2].split()
            if len(fields) > 1:
                below.setdefault(int(fields[1]), []).append(int(name))
    left = list(below.get(pid, ()))
    while left:
        yield left[-1]
        left += below.get(left.pop(), ())


def own_time() -> Counters:
    """Return the processor time of the calling thread in ns."""
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return Counters(
        "",
        {
            "process.cpu_user_ns": round(used.ru_utime * 1e9),
            "process.cpu_system_ns": round(used.ru_stime * 1e9),
        },
    )


def slowed(row: Row, clock: Clock) -> Row:
    """Return a row of wall time in slowed time; others as they are."""
    if clock == WALL or not row.metric.endswith("_ns"):
        return row
    return replace(row, value=clock.slowed_ns(int(row.value)))


def next_due(now_ns: int, t0_ns: int, interval_ns: int) -> int:
    """Return the first time of the schedule t0 + k × interval, k ≥ 0, after `now_ns`, in ns."""
    if now_ns < t0_ns:
        return t0_ns
    return t0_ns + ((now_ns - t0_ns) // interval_ns + 1) * interval_ns


def gains(before: Reading, now: Reading) -> tuple[list[Row], list[str]]:
    """Return each subject's increase between two readings, and problems in sentences.

    A subject that has ended or restarted has no rows for this interval.
    """
    rows: list[Row] = []
    problems: list[str] = []
    for subject, old in before.items():
        new = now.get(subject)
        if new is None:
            problems.append(f"{subject} vanished during the run")
            continue
        gained = {
            metric: _gain(metric, old.values[metric], value)
            for metric, value in new.values.items()
            if metric in old.values
        }
        if new.birth != old.birth or any(value < 0 for value in gained.values()):
            problems.append(f"the counters of {subject} began anew during the run")
            continue
        rows += [Row(subject, metric, value) for metric, value in gained.items()]
    return rows, problems


def lines(t_ns: int, dt_ns: int, rows: Sequence[Row]) -> bytes:
    """Return the rows as lines of `series/SOURCE.csv`."""
    return "".join(
        f"{t_ns},{dt_ns},{row.subject},{row.metric},{row.value}\n" for row in rows
    ).encode()


def read_devices(proc: Path, devices: Sequence[str]) -> Reading:
    """Return the counters of the named block devices; absent ones are omitted."""
    reading: Reading = {}
    for line in _text(proc / "diskstats").splitlines():
        fields = line.split()
        if len(fields) < 14 or fields[2] not in devices:
            continue
        counts = [int(field) for field in fields[3:]]
        # Kernels before 5.5 do not count flushes.
        values = {
            metric: counts[column] * worth
            for metric, (column, worth) in _DISK_COLUMNS.items()
            if column < len(counts)
        }
        reading[fields[2]] = Counters("", values)
    return reading


def read_machine(proc: Path) -> Reading:
    """Return the machine's CPU time, summed over its CPUs, in ns."""
    first = _text(proc / "stat").partition("\n")[0].split()
    if len(first) < 8 or first[0] != "cpu":
        return {}
    user, nice, system, idle, iowait, irq, softirq = (int(field) for field in first[1:8])
    ticks = {
        "machine.cpu_user_ns": user + nice,
        "machine.cpu_system_ns": system + irq + softirq,
        "machine.cpu_iowait_ns": iowait,
        "machine.cpu_idle_ns": idle,
    }
    return {MACHINE: Counters("", {metric: count * _TICK_NS for metric, count in ticks.items()})}


def read_process(proc: Path, subject: str, pid: int) -> Reading:
    """Return CPU time (ns) of a process and its storage I/O in bytes.

    Bytes are omitted if the kernel denies access.
    """
    # The name in parentheses may contain spaces and parentheses.
    fields = _text(proc / str(pid) / "stat").rpartition(")")[2].split()
    # The counters of a zombie are final; for a run the process has ended.
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return {}
    values = {
        "process.cpu_user_ns": int(fields[11]) * _TICK_NS,
        "process.cpu_system_ns": int(fields[12]) * _TICK_NS,
    }
    io = dict(
        line.split(": ", 1) for line in _text(proc / str(pid) / "io").splitlines() if ": " in line
    )
    if "read_bytes" in io and "write_bytes" in io:
        values["process.read_bytes"] = int(io["read_bytes"])
        values["process.written_bytes"] = int(io["write_bytes"])
    return {subject: Counters(birth=fields[19], values=values)}


def _gain(metric: str, old: int, new: int) -> int:
    if new < old and metric in _WRAPS_AT:
        return new - old + _WRAPS_AT[metric]
    # The kernel estimates idle and iowait, which may decrease (proc_stat(5)).
    return max(0, new - old) if metric.startswith("machine.") else new - old


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
