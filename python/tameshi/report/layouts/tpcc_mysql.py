"""Report of TPC-C in the layout of tpcc-mysql, for scripts that parse it.

Response times are milliseconds. Their limits are seconds (5, 5, 5, 80, 20); the tool compares
milliseconds with them, which this layout does not copy. It echoes no password.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tameshi.record.store import SealedRun
from tameshi.report.layouts.phase_summary import (
    Counts,
    PhaseSummary,
    Step,
    longest_ms,
    number,
    percentile_ms,
    summarise,
)

TYPES = ("new_order", "payment", "order_status", "delivery", "stock_level")
NAMES = ("New-Order", "Payment", "Order-Status", "Delivery", "Stock-Level")
LIMITS_SECONDS = (5, 5, 5, 80, 20)
LEAST_PERCENT = (("Payment", 43.0), ("Order-Status", 4.0), ("Delivery", 4.0), ("Stock-Level", 4.0))
LEAST_WITHIN_PERCENT = 90.0
_STARS = "***************************************"


def reports(run: SealedRun) -> list[str]:
    """Return a report per phase of TPC-C."""
    return [
        "\n".join(_lines(run, phase)) + "\n" for phase in summarise(run) if phase.word == "tpcc"
    ]


def _lines(run: SealedRun, phase: PhaseSummary) -> Iterator[str]:
    clients = int(phase.settings["clients"])
    ramp, seconds = round(phase.ramp_seconds), round(phase.seconds)
    yield from (_STARS, "*** ###easy### TPC-C Load Generator ***", _STARS)
    yield f"option cell with value '{phase.heading}'"
    yield "option unit with value 'response times in ms, their limits in s'"
    yield "<Parameters>"
    engine = run.spec.database.engine if run.spec.database else "none"
    yield f"     [server]: {engine}"
    yield "     [port]: 0"
    yield "     [DBname]: tameshi"
    yield "       [user]: tameshi"
    yield "       [pass]: (not shown)"
    yield f"  [warehouse]: {phase.settings.get('warehouses') or 1}"
    yield f" [connection]: {clients}"
    yield f"     [rampup]: {ramp} (sec.)"
    yield f"    [measure]: {seconds} (sec.)"
    yield from ("", f"RAMP-UP TIME.({ramp} sec.)", "", "MEASURING START.", "")
    for step in phase.steps:
        yield _interval(step)
    yield from ("", "STOPPING THREADS" + "." * clients, "", "<Raw Results>")
    counts = _counts(phase.whole)
    totals = [number(kind) for kind in counts]
    within = [
        sum(n for ns, n in kind if ns <= limit * 1e9)
        for kind, limit in zip(counts, LIMITS_SECONDS, strict=True)
    ]
    tries = [_tries(phase.whole, kind) for kind in TYPES]
    for i, (retries, failed) in enumerate(tries):
        mean = _mean_ms(phase.whole, TYPES[i], totals[i])
        late, limit = totals[i] - within[i], LIMITS_SECONDS[i]
        yield (
            f"  [{i}] sc:{within[i]} lt:{late}  rt:{retries}  fl:{failed} "
            f"avg_rt: {mean:.1f} ({limit})"
        )
    yield from (f" in {seconds} sec.", "", "<Raw Results2(sum ver.)>")
    for i, (retries, failed) in enumerate(tries):
        yield f"  [{i}] sc:{within[i]}  lt:{totals[i] - within[i]}  rt:{retries}  fl:{failed} "
    yield from _constraints(totals, within)
    tpmc = totals[0] * 60 / phase.seconds if phase.seconds else 0.0
    yield from ("", "<TpmC>", f"                 {tpmc:.3f} TpmC")


def _constraints(totals: Sequence[int], within: Sequence[int]) -> Iterator[str]:
    yield from ("", "<Constraint Check> (all must be [OK])", " [transaction percentage]")
    all_types = sum(totals)
    for (name, least), total in zip(LEAST_PERCENT, totals[1:], strict=True):
        share = 100 * total / all_types if all_types else 0.0
        mark = "[OK]" if share >= least else "[NG] *"
        yield f"{name:>15}: {share:3.2f}% (>={least:4.1f}%) {mark}"
    yield " [response time (at least 90% passed)]"
    for name, total, fine in zip(NAMES, totals, within, strict=True):
        share = 100 * fine / total if total else 0.0
        mark = "[OK]" if share >= LEAST_WITHIN_PERCENT else "[NG] *"
        yield f"{name:>15}: {share:3.2f}%  {mark}"


def _interval(step: Step) -> str:
    """Return New-Orders with percentiles, then number and maximum of each other type."""
    first, *others = _counts(step)
    head = f"{step.at_seconds:4d}, trx: {number(first)}, 95%: {percentile_ms(first, 0.95):.3f}"
    rest = "".join(f", {number(kind)}|{longest_ms(kind):.3f}" for kind in others)
    return f"{head}, 99%: {percentile_ms(first, 0.99):.3f}, max_rt: {longest_ms(first):.3f}{rest}"


def _counts(step: Step) -> list[Counts]:
    return [step.latencies.get(f"tpcc.{kind}", ()) for kind in TYPES]


def _tries(step: Step, kind: str) -> tuple[int, int]:
    """Return the numbers of retries, and of failed or unanswered transactions."""

    def count(metric: str) -> int:
        return round(step.counters.get((f"tpcc.{kind}", f"transaction.{metric}"), 0))

    return count("retries"), count("failed") + count("ambiguous")


def _mean_ms(step: Step, kind: str, total: int) -> float:
    spent = step.counters.get((f"tpcc.{kind}", "transaction.latency_sum"), 0.0)
    return spent / total / 1e6 if total else 0.0
