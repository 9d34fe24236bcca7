"""Coverage of intervals: random runs with a known truth.

`python tests/support/covering.py` prints the tables of docs/validation/coverage.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator, default_rng
from scipy.signal import lfilter

from tameshi.analysis.stats import intervals, ratios
from tameshi.analysis.stats.intervals import Interval

Trial = Callable[[Generator], tuple[Interval, float]]
SEED = 20261121
PER_INTERVAL = 200
"""Operations per recorded interval in percentile cases."""


@dataclass(frozen=True)
class Case:
    """One cell of a table: `trial` returns an interval and the true value."""

    table: str
    row: str
    column: str
    trial: Trial

    @property
    def name(self) -> str:
        """Return the name of the case."""
        return f"{self.table}/{self.row}/{self.column}"


def observed(case: Case, trials: int) -> tuple[float, float]:
    """Return the percentage of intervals that contain the truth, and the percentage of trials with
    an interval."""
    random = default_rng([SEED, *case.name.encode()])
    held = given = 0
    for _ in range(trials):
        interval, truth = case.trial(random)
        if interval.low is not None and interval.high is not None:
            given += 1
            held += interval.low <= truth <= interval.high
    return 100 * held / max(given, 1), 100 * given / trials


def shown(case: Case, trials: int) -> str:
    """Return the cell's text; for a case that often has no interval, with its frequency."""
    share, given = observed(case, trials)
    if given < 1:
        return "none"
    return f"{share:.1f}" if given > 99 else f"{share:.1f} of {given:.0f} %"


def autoregression(random: Generator, correlation: float, count: int) -> np.ndarray:
    """Return a series of variance 1 with this autocorrelation of neighbours."""
    warm = 200
    noise = random.standard_normal(count + warm) * np.sqrt(1 - correlation**2)
    return lfilter([1], [1, -correlation], noise)[warm:]


def _slow(random: Generator, count: int) -> np.ndarray:
    """Return noise from interval to interval on top of a slow change."""
    noise = random.standard_normal(count)
    return (noise + 1.15 * autoregression(random, 0.9, count)) / np.sqrt(1 + 1.15**2)


def _periodic(random: Generator, count: int) -> np.ndarray:
    """Return an effect that recurs every ten intervals, such as garbage collection."""
    wave = np.sign(np.sin(2 * np.pi * (np.arange(count) / 10 + random.random())))
    return (wave + 0.5 * random.standard_normal(count)) / np.sqrt(1.25)


SERIES: dict[str, Callable[[Generator, int], np.ndarray]] = {
    "ρ = 0": lambda random, count: autoregression(random, 0.0, count),
    "ρ = 0.3": lambda random, count: autoregression(random, 0.3, count),
    "ρ = 0.6": lambda random, count: autoregression(random, 0.6, count),
    "ρ = 0.8": lambda random, count: autoregression(random, 0.8, count),
    "ρ = 0.9": lambda random, count: autoregression(random, 0.9, count),
    "ρ = −0.5": lambda random, count: autoregression(random, -0.5, count),
    "noise and a slow ρ = 0.9": _slow,
    "a period of ten": _periodic,
}
LENGTHS = (12, 25, 50, 100, 200, 400)
SKEWED = 0.5


def within(series: str, count: int) -> Trial:
    """Return a rate around 100 that varies by 20 %, from the intervals of one run."""

    def trial(random: Generator) -> tuple[Interval, float]:
        counts = (100 + 20 * SERIES[series](random, count)).tolist()
        return intervals.within(counts, [1.0] * count, sum(counts) / count), 100.0

    return trial


def skewed(count: int) -> Trial:
    """Return a rate with rare high intervals, ρ = 0.6."""

    def trial(random: Generator) -> tuple[Interval, float]:
        counts = np.exp(SKEWED * autoregression(random, 0.6, count)).tolist()
        truth = float(np.exp(SKEWED**2 / 2))
        return intervals.within(counts, [1.0] * count, sum(counts) / count), truth

    return trial


def latency(count: int) -> Trial:
    """Return a mean latency: time over operations, which are fewer when slow."""

    def trial(random: Generator) -> tuple[Interval, float]:
        counts = random.poisson(100 * np.exp(0.2 * autoregression(random, 0.6, count)))
        each = 1 + 1 / (counts + 10) + 0.05 * random.standard_normal(count)
        sums = counts * each
        truth = _latency_truth()
        return intervals.within(sums.tolist(), counts.tolist(), sums.sum() / counts.sum()), truth

    return trial


def _latency_truth(known: list[float] = []) -> float:  # noqa: B006
    if not known:
        random = default_rng(SEED)
        counts = random.poisson(100 * np.exp(0.2 * random.standard_normal(4_000_000)))
        known.append(float((counts * (1 + 1 / (counts + 10))).sum() / counts.sum()))
    return known[0]


def over_runs(kind: str, spread: float, count: int) -> Trial:
    """Return runs with normal or lognormal variation."""

    def trial(random: Generator) -> tuple[Interval, float]:
        deviates = spread * random.standard_normal(count)
        values = 1 + deviates if kind == "normal" else np.exp(deviates)
        return intervals.of_runs(values.tolist()), 1.0

    return trial


def ratio(shared: float, own: tuple[float, float], runs: int, *, paired: bool) -> Trial:
    """Return the ratio of two cells whose repetitions share part of the variation."""

    def trial(random: Generator) -> tuple[Interval, float]:
        common = shared * random.standard_normal(runs)
        sides = []
        for spread, scale in zip(own, (2.0, 1.0), strict=True):
            values = (scale * np.exp(common + spread * random.standard_normal(runs))).tolist()
            interval = intervals.of_runs(values)
            sides.append(ratios.Side(intervals.centre(values), interval, dict(enumerate(values))))
        return ratios.ratio(*sides, paired=paired)[1], 2.0

    return trial


def ratio_within(count: int) -> Trial:
    """Return the ratio of two cells of one run each, ρ = 0.6."""

    def trial(random: Generator) -> tuple[Interval, float]:
        sides = []
        for scale in (200.0, 100.0):
            counts = (scale * (1 + 0.2 * autoregression(random, 0.6, count))).tolist()
            value = sum(counts) / count
            sampling = intervals.within(counts, [1.0] * count, value)
            sides.append(ratios.Side(value, sampling))
        return ratios.ratio(*sides, paired=True)[1], 2.0

    return trial


def percentile(level: float, correlation: float, count: int) -> Trial:
    """Return percentiles of exponential latencies whose mean varies over intervals of one run."""
    truth = _percentile_truth(level, correlation)

    def trial(random: Generator) -> tuple[Interval, float]:
        means = np.exp(_moving(correlation) * autoregression(random, correlation, count))
        all_of = random.exponential(size=(count, PER_INTERVAL)) * means[:, None]
        ordered = np.sort(all_of, axis=None)

        def value_at(share: float) -> float:
            return float(ordered[min(int(np.ceil(share * ordered.size)), ordered.size) - 1])

        below = (all_of <= value_at(level)).sum(axis=1).tolist()
        counts = [float(PER_INTERVAL)] * count
        return intervals.of_quantile(level, below, counts, value_at), truth

    return trial


def _moving(correlation: float) -> float:
    return 0.3 if correlation else 0.0


def _percentile_truth(level: float, correlation: float) -> float:
    random = default_rng(SEED)
    spread = np.exp(_moving(correlation) * random.standard_normal(4_000_000))
    return float(np.quantile(random.exponential(size=spread.size) * spread, level))


def cases() -> Iterator[Case]:
    """Return every cell of the tables."""
    for runs in (2, 3, 5, 10):
        column = f"{runs} runs"
        yield Case("runs", "normal, varying by 5 %", column, over_runs("normal", 0.05, runs))
        yield Case("runs", "normal, varying by 20 %", column, over_runs("normal", 0.2, runs))
        yield Case("runs", "by a factor (log-normal, 0.5)", column, over_runs("log", 0.5, runs))
    for count in LENGTHS:
        for series in SERIES:
            yield Case("within", f"rate, {series}", str(count), within(series, count))
        yield Case("within", "rate, skewed, ρ = 0.6", str(count), skewed(count))
        yield Case("within", "mean latency, ρ = 0.6", str(count), latency(count))
        for name, level in (("median", 0.5), ("p99", 0.99)):
            for correlation in (0.0, 0.6):
                trial = percentile(level, correlation, count)
                yield Case("within", f"{name}, ρ = {correlation:g}", str(count), trial)
    for runs in (2, 3, 5, 10):
        column = f"{runs} runs"
        even, uneven = (0.1, 0.1), (0.2, 0.05)
        for row, shared, own, paired in (
            ("paired, repetitions share most", 0.3, even, True),
            ("paired, repetitions share nothing", 0.0, even, True),
            ("not paired, varying alike", 0.0, even, False),
            ("not paired, one varying four times as much", 0.0, uneven, False),
        ):
            yield Case("ratios", row, column, ratio(shared, own, runs, paired=paired))
    for count in LENGTHS:
        yield Case("ratios of single runs", "rates, ρ = 0.6", str(count), ratio_within(count))


def tables(trials: int) -> str:
    """Return every table as Markdown, in percent."""
    found: dict[str, dict[str, dict[str, str]]] = {}
    for case in cases():
        row = found.setdefault(case.table, {}).setdefault(case.row, {})
        row[case.column] = shown(case, trials)
    lines = []
    for table, rows in found.items():
        columns = list(next(iter(rows.values())))
        lines += [f"| {table} | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
        lines += [f"| {row} | {' | '.join(row_of.values())} |" for row, row_of in rows.items()]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    print(tables(10_000))
