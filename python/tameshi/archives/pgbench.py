"""Text of pgbench: PostgreSQL's own benchmark."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tameshi.archives.model import MS_NS, SECOND_NS, Archive, Figure, ImportedPhase, Step
from tameshi.archives.text_results import F, N, TextResults, refuse_newer

TOOL = "pgbench"
SIGN = r"(pgbench \(|transaction type: )"
NEWEST = 18
MIXES = {
    "<builtin: TPC-B (sort of)>": "tpcb_like",
    "<builtin: simple update>": "simple_update",
    "<builtin: select only>": "select_only",
}
"""Built-in scripts, with the mix of Tameshi's program `pgbench`."""
STEP = re.compile(rf"progress: ({F}) s, ({F}) tps, lat ({F}) ms stddev")
SETTINGS = {
    "script": r"transaction type: (.+)",
    "scale": rf"scaling factor: ({N})",
    "query mode": r"query mode: (\S+)",
    "clients": rf"number of clients: ({N})",
    "threads": rf"number of threads: ({N})",
    "schedule lag": rf"rate limit schedule lag: (avg {F} \(max {F}\) ms)",
}


def read(text: TextResults) -> Archive:
    """Return the figures of one run of pgbench."""
    stated = text.find(r"pgbench \((\S+?)[ )]")
    version = stated[1] if stated else ""
    refuse_newer(text.path, TOOL, version, NEWEST, f"pgbench up to {NEWEST}")
    settings = {key: found[1] for key, line in SETTINGS.items() if (found := text.find(line))}
    count = text.number(
        rf"number of transactions actually processed: ({N})", "number of transactions"
    )
    mean_ms = text.number(rf"latency average(?: =|:) ({F}) ms", "latency average")
    rate = text.number(rf"tps = ({F}) \((?:without|excluding)", "tps")
    stated_s = text.optional(rf"duration: ({N}) s")
    length_ns = round((stated_s or (count / rate if rate else 0.0)) * SECOND_NS)
    figures = [
        Figure(TOOL, "transaction.rate", rate),
        Figure(TOOL, "transaction.latency.mean", mean_ms * MS_NS),
    ]
    deviation = text.optional(rf"latency stddev(?: =|:) ({F}) ms")
    if deviation is not None:
        figures.append(
            Figure(TOOL, "transaction.latency.stddev", deviation * MS_NS, operations=int(count))
        )
    failed = text.optional(rf"number of failed transactions: ({N})")
    if failed is not None and length_ns:
        figures.append(Figure(TOOL, "transaction.failure_rate", failed * SECOND_NS / length_ns))
    steps = list(_steps(text, length_ns))
    phase = ImportedPhase(TOOL, length_ns, figures, programs=_programs(settings), steps=steps)
    return Archive(TOOL, version, [[phase]], settings)


def _programs(settings: dict[str, str]) -> list[dict[str, object]]:
    """Return Tameshi's program of a built-in script; nothing if its rate was limited, which the
    text states without the rate."""
    mix = MIXES.get(settings.get("script", ""))
    if not mix or "schedule lag" in settings or not {"clients", "scale"} <= settings.keys():
        return []
    table = {"mix": mix, "clients": int(settings["clients"]), "scale": int(settings["scale"])}
    return [{"pgbench": table}]


def _steps(text: TextResults, length_ns: int) -> Iterator[Step]:
    """Yield the progress lines, which go to standard error: many archives lack them."""
    before_ns = 0
    for line in text.lines:
        found = STEP.match(line)
        if not found:
            continue
        end_ns = round(float(found[1]) * SECOND_NS)
        if before_ns < end_ns <= length_ns:
            count = float(found[2]) * (end_ns - before_ns) / SECOND_NS
            counters = {
                (TOOL, "transaction.count"): count,
                (TOOL, "transaction.latency_sum"): count * float(found[3]) * MS_NS,
            }
            yield Step(end_ns, end_ns - before_ns, counters)
            before_ns = end_ns
