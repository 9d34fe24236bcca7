"""Small study with 40 cells: the load of one disk, for benchmarks and tests of many runs."""

from __future__ import annotations

CELLS = 40
SHORT, INTERVAL = "200 ms", "10 ms"
"""Virtual time of a run that takes some ms of processor time, and its interval."""
STUDY = """
title = "Many cells"
question = "Which setting matters?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.read]
set = "workload.stream.s.read"
levels = ["0 %", "25 %", "50 %", "75 %", "100 %"]
[axis.depth]
set = "workload.stream.s.queue_depth"
levels = [1, 2, 3, 4, 5, 6, 7, 8]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
ramp = "20 ms"
"""
JOBS = """
[axis.jobs]
set = "workload.stream.s.jobs"
levels = {levels}
"""
END = """
[phase.p.until]
time = "{time}"
[run]
interval = "{interval}"
repetitions = {repetitions}
"""


def many_cells(
    *, repetitions: int = 1, jobs: int = 0, time: str = SHORT, interval: str = INTERVAL
) -> str:
    """Return the text of a study with 40 cells, or with 40 for each number up to `jobs`."""
    more = JOBS.format(levels=list(range(1, jobs + 1))) if jobs else ""
    return STUDY + END.format(time=time, interval=interval, repetitions=repetitions) + more
