"""Text of tpcc-mysql: TPC-C on MySQL."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tameshi.archives.model import MS_NS, SECOND_NS, Archive, Figure, ImportedPhase, Step
from tameshi.archives.text_results import REPEAT, F, N, TextResults
from tameshi.core.errors import BadInput

TOOL = "tpcc-mysql"
SIGN = r"\*+ .*TPC-C Load Generator"
PROGRAM = "tpcc"
TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
RAW = rf"  \[({N})\] sc:({N})\s+lt:({N})\s+rt:({N})\s+fl:({N})(?: avg_rt: ({F}))?"
STEP = re.compile(
    rf"\s*({N}), trx: ({N}), 95%: {F}, 99%: {F}, max_rt: ({F})" + rf", ({N})\|({F})" * 4
)
SETTINGS = {
    "warehouses": rf"\s*\[warehouse\]: ({N})",
    "connections": rf"\s*\[connection\]: ({N})",
    "ramp-up": rf"\s*\[rampup\]: ({N} \(sec\.\))",
}


def read(text: TextResults) -> Archive:
    """Return the figures of one run of tpcc-mysql."""
    settings = {key: found[1] for key, line in SETTINGS.items() if (found := text.find(line))}
    tpmc = text.number(rf"\s+({F}) TpmC", "<TpmC>")
    seconds = text.number(rf" in ({F}) sec\.", "in … sec.")
    # The second list repeats the first one, summed over threads.
    raw = list(text.matches(RAW))[: len(TYPES)]
    if [line[1] for line in raw] != [str(number) for number in range(len(TYPES))] or not seconds:
        raise BadInput(
            "<Raw Results> of the five types of transaction are not complete",
            where=str(text.path),
            found=f"{len(raw)} of {len(TYPES)} lines, over {seconds:g} s",
            accepted=["the whole text of tpcc-mysql"],
            hint=REPEAT,
        )
    steps, longest = _steps(text, round(seconds * SECOND_NS))
    figures = [*_of_all(raw, tpmc, seconds)]
    for line, kind, longest_ms in zip(raw, TYPES, longest, strict=True):
        figures += _of_type(line, f"{PROGRAM}.{kind}", longest_ms, seconds)
    programs = []
    if {"warehouses", "connections"} <= settings.keys():
        table = {
            "warehouses": int(settings["warehouses"]),
            "clients": int(settings["connections"]),
            "manner": TOOL,
            "waits": "none",
            "delivery": "at_once",
        }
        programs = [{PROGRAM: table}]
    length_ns = round(seconds * SECOND_NS)
    phase = ImportedPhase(PROGRAM, length_ns, figures, programs=programs, steps=steps)
    return Archive(TOOL, "", [[phase]], settings)


def _of_all(raw: Sequence[re.Match[str]], tpmc: float, seconds: float) -> Iterator[Figure]:
    counts = [_count(line) for line in raw]
    yield Figure(f"{PROGRAM}.{TYPES[0]}", "transaction.tpmc", tpmc)
    yield Figure(PROGRAM, "transaction.rate", sum(counts) / seconds)
    yield Figure(PROGRAM, "transaction.retry_rate", sum(int(line[4]) for line in raw) / seconds)
    yield Figure(PROGRAM, "transaction.failure_rate", sum(int(line[5]) for line in raw) / seconds)
    if sum(counts) and all(line[6] for line in raw):
        spent_ms = sum(n * float(line[6]) for n, line in zip(counts, raw, strict=True))
        yield Figure(PROGRAM, "transaction.latency.mean", spent_ms / sum(counts) * MS_NS)


def _of_type(
    line: re.Match[str], subject: str, longest_ms: float, seconds: float
) -> Iterator[Figure]:
    count = _count(line)
    yield Figure(subject, "transaction.rate", count / seconds)
    if count and line[6]:
        yield Figure(subject, "transaction.latency.mean", float(line[6]) * MS_NS)
    if longest_ms:
        yield Figure(subject, "transaction.latency.max", longest_ms * MS_NS, operations=count)


def _count(line: re.Match[str]) -> int:
    """Return transactions in time and late ones."""
    return int(line[2]) + int(line[3])


def _steps(text: TextResults, length_ns: int) -> tuple[list[Step], list[float]]:
    """Return the intervals, and the longest response of each type in ms."""
    steps: list[Step] = []
    longest = [0.0] * len(TYPES)
    before_ns = 0
    for line in text.lines:
        found = STEP.match(line)
        if not found:
            continue
        end_ns = int(found[1]) * SECOND_NS
        counts = [float(found[2]), *(float(found[place]) for place in (4, 6, 8, 10))]
        most = [float(found[3]), *(float(found[place]) for place in (5, 7, 9, 11))]
        longest = [max(pair) for pair in zip(longest, most, strict=True)]
        if before_ns < end_ns <= length_ns:
            named = zip(TYPES, counts, strict=True)
            counters = {(f"{PROGRAM}.{kind}", "transaction.count"): n for kind, n in named}
            steps.append(Step(end_ns, end_ns - before_ns, counters))
            before_ns = end_ns
    return steps, longest
