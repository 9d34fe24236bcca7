"""Text of sysbench: tests of databases and of files."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tameshi.archives.model import MS_NS, SECOND_NS, Archive, Figure, ImportedPhase, Step
from tameshi.archives.text_results import F, N, TextResults, refuse_newer
from tameshi.core.errors import BadInput

TOOL = "sysbench"
SIGN = r"sysbench (\d\S*)"
NEWEST = 1
OLTP, FILEIO = "oltp", "fileio"
"""Subjects: Tameshi's program of sysbench's transactions, and the test of files."""
MIB = 1 << 20
PER_SEC = rf"\(({F}) per sec\.\)"
OLTP_STEP = re.compile(
    rf"\[ ({N})s \] thds: {N} tps: ({F}) qps: ({F}) .*? err/s: ({F}) reconn/s: {F}"
)
FILE_STEP = re.compile(
    rf"\[ ({N})s \] reads: ({F}) MiB/s writes: ({F}) MiB/s fsyncs: ({F})/s latency"
)
SETTINGS = {
    "threads": rf"Number of threads: ({N})",
    "rate": rf"Target transaction rate: ({F}/sec)",
    "files": rf"({N} files, \S+ each)",
    "file size": r"(\S+) total file size",
    "block size": r"Block size (\S+)",
    "mode": r"Using (\S+) I/O mode",
    "open flags": r"Extra file open flags: (.+)",
    "fsync": rf"Periodic FSYNC enabled, calling fsync\(\) each ({N} requests)",
    "pattern": r"Doing (.+) test",
    "read/write ratio": rf"Read/Write ratio for combined random IO test: ({F})",
}


def read(text: TextResults) -> Archive:
    """Return the figures of one run of sysbench."""
    version = text.needed(SIGN, "sysbench")[1]
    refuse_newer(text.path, TOOL, version, NEWEST, "sysbench 1.0 or 1.1")
    if version.startswith("0."):
        message = "these results are of an old sysbench, whose form differs"
        accepted = ["sysbench 1.0 or 1.1"]
        raise BadInput(
            message, where=str(text.path), found=f"sysbench {version}", accepted=accepted
        )
    text.needed(rf"\s+execution time \(avg/stddev\):\s+{F}", "execution time")  # its last line
    settings = {key: found[1] for key, line in SETTINGS.items() if (found := text.find(line))}
    seconds = text.number(rf"\s+total time:\s+({F})s", "total time:")
    length_ns = round(seconds * SECOND_NS)
    if text.find(r"SQL statistics:"):
        name, figures = OLTP, _of_sql(text, seconds)
    elif text.find(r"(File operations|Throughput):"):
        name, figures = FILEIO, _of_files(text)
    else:
        kind = text.find(r"(CPU speed|Total operations):")
        raise BadInput(
            "this test of sysbench measures no storage and no database",
            where=str(text.path),
            found=kind[1] if kind else "none of their sections",
            accepted=["oltp_*", "fileio"],
        )
    steps = list(_steps(text, length_ns))
    phase = ImportedPhase(name, length_ns, figures, steps=steps)
    return Archive(TOOL, version, [[phase]], settings)


def _of_sql(text: TextResults, seconds: float) -> list[Figure]:
    count = text.number(rf"    transactions:\s+({N})", "transactions:")
    rate = text.number(rf"    transactions:\s+{N}\s+{PER_SEC}", "transactions:")
    figures = [Figure(OLTP, "transaction.rate", rate)]
    queries = text.optional(rf"    queries:\s+{N}\s+{PER_SEC}")
    errors = text.optional(rf"    ignored errors:\s+({N})")
    if queries is not None:
        figures.append(Figure(OLTP, "statement.rate", queries))
    if errors is not None and seconds:
        figures.append(Figure(OLTP, "transaction.failure_rate", errors / seconds))
    return [*figures, *_latencies(text, OLTP, "transaction", int(count))]


def _of_files(text: TextResults) -> list[Figure]:
    """Return rates of reads, writes and syncs; latencies if all operations are of one kind."""
    rates = {
        "read.iops": text.number(rf"    reads/s:\s+({F})", "reads/s:"),
        "write.iops": text.number(rf"    writes/s:\s+({F})", "writes/s:"),
        "sync.rate": text.number(rf"    fsyncs/s:\s+({F})", "fsyncs/s:"),
        "read.bandwidth": MIB * text.number(rf"    read, MiB/s:\s+({F})", "read, MiB/s:"),
        "write.bandwidth": MIB * text.number(rf"    written, MiB/s:\s+({F})", "written, MiB/s:"),
    }
    figures = [Figure(FILEIO, metric, value) for metric, value in rates.items() if value]
    done = [m.partition(".")[0] for m in ("read.iops", "write.iops", "sync.rate") if rates[m]]
    if len(done) == 1:
        count = text.number(rf"    total number of events:\s+({N})", "total number of events:")
        figures += _latencies(text, FILEIO, done[0], int(count))
    return figures


def _latencies(text: TextResults, subject: str, operation: str, count: int) -> Iterator[Figure]:
    """Yield mean, maximum and the percentile that the run asked for; 0.00 ms is below its
    resolution."""
    named = {
        "mean": text.number(rf"\s+avg:\s+({F})", "avg:"),
        "max": text.number(rf"\s+max:\s+({F})", "max:"),
    }
    percentile = text.find(rf"\s+({N})th percentile:\s+({F})")
    if percentile and int(percentile[1]) > 0:
        named[f"p{int(percentile[1])}"] = float(percentile[2])
    for statistic, value_ms in named.items():
        if value_ms > 0:
            operations = count if statistic == "max" else None
            metric = f"{operation}.latency.{statistic}"
            yield Figure(subject, metric, value_ms * MS_NS, operations)


def _steps(text: TextResults, length_ns: int) -> Iterator[Step]:
    """Yield the intermediate reports; sysbench prints their rates, not their counts."""
    before_ns = 0
    for line in text.lines:
        of_sql, of_files = OLTP_STEP.match(line), FILE_STEP.match(line)
        found = of_sql or of_files
        if not found:
            continue
        end_ns = int(found[1]) * SECOND_NS
        if not before_ns < end_ns <= length_ns:
            continue
        seconds = (end_ns - before_ns) / SECOND_NS
        values = [float(value) * seconds for value in found.groups()[1:]]
        names = (
            [(OLTP, "transaction.count"), (OLTP, "statement.count"), (OLTP, "transaction.failed")]
            if of_sql
            else [(FILEIO, "read.bytes"), (FILEIO, "write.bytes"), (FILEIO, "sync.count")]
        )
        scale = (1, 1, 1) if of_sql else (MIB, MIB, 1)
        counters = {n: v * s for n, v, s in zip(names, values, scale, strict=True)}
        yield Step(end_ns, end_ns - before_ns, counters)
        before_ns = end_ns
