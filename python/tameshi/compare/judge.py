"""Judgement of one metric of one cell: the ratio B / A and its interval."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from scipy.special import ndtr, stdtr

from tameshi.analysis import model_ratio
from tameshi.analysis.stats import ratios
from tameshi.analysis.stats.estimates import RESOLUTION, of_phase
from tameshi.analysis.stats.intervals import CONFIDENCE, Interval, digits, none, quantile

Outcome = Literal["same", "better", "worse", "undecided", "not_judged"]
OUTCOMES: tuple[Outcome, ...] = ("better", "same", "worse", "undecided", "not_judged")
NORMAL_95 = 1.959963984540054

LARGE_TRANSFER = 128 * 1024 - 0.5
"""Bytes per operation from which bandwidth is the natural rate, as in the report."""
SAME_DIGEST = "same_digest"


@dataclass(frozen=True)
class Judgement:
    """Judgement of a metric. `ratio` is B / A; `why` is the basis of the outcome.

    `chance`: probability of a difference at least as great without a real one. `lone`: it rests on
    a single run per side, which excludes variation between runs. `firm`: it remains after
    correction for multiple comparisons (Holm), and is not lone.
    """

    metric: str
    subject: str
    unit: str
    better: str
    a: float
    b: float
    ratio: float | None
    sampling: Interval
    outcome: Outcome
    why: str
    chance: float | None = None
    lone: bool = False
    firm: bool = False
    models: Mapping[str, Any] | None = None
    """Model errors of databases: of `a`, of `b` and of their `ratio`."""

    def as_json(self) -> dict[str, Any]:
        """The form that `--format json` prints."""
        return {
            "metric": self.metric,
            "subject": self.subject,
            "unit": self.unit,
            "better": self.better,
            "a": self.a,
            "b": self.b,
            "ratio": digits(self.ratio),
            "sampling": self.sampling.as_json(),
            "outcome": self.outcome,
            "why": self.why,
            "chance": digits(self.chance),
            "lone": self.lone,
            "firm": self.firm,
            "models": self.models,
        }


@dataclass(frozen=True)
class Grounds:
    """Relation of a cell's two sides.

    `barred`: reason against judging, or empty; `identical`: same digests; `paired`: each repetition
    has the same seed in the same modelled world, so that sampling error cancels; `real`: a run used
    a real machine, whose next run differs.
    """

    barred: str
    identical: bool
    paired: bool
    real: bool


def judgements(
    a: Mapping[str, Any],
    b: Mapping[str, Any],
    grounds: Grounds,
    better: Mapping[str, str],
    *,
    within: float,
    every: bool,
) -> list[Judgement]:
    """Return judgements of the metrics that both cells have; `better` is the registry's direction
    by metric."""
    below = {(e["subject"], e["metric"]): e for e in _steady(a)}
    judged_metrics = []
    for above in chosen(list(_steady(b)), better, every=every):
        other = below.get((above["subject"], above["metric"]))
        if other is not None:
            direction = better[above["metric"]]
            judged_metrics.append(_judged(other, above, grounds, direction, within))
    return judged_metrics


def chosen(
    estimates: Sequence[Mapping[str, Any]], better: Mapping[str, str], *, every: bool
) -> list[Mapping[str, Any]]:
    """Return the estimates to judge: `every` one with a direction, or the primary ones.

    Primary are a stream's natural rate, mean latency and p99; of commits, if it commits.
    """
    directed = [e for e in estimates if better.get(e["metric"]) in ("higher", "lower")]
    if every:
        return directed
    committing = {e["subject"] for e in directed if e["metric"] == "commit.rate"}
    values = {(e["subject"], e["metric"]): e["value"] for e in directed}
    picked = []
    for estimate in directed:
        subject, (operation, _, measure) = estimate["subject"], estimate["metric"].partition(".")
        rate = values.get((subject, f"{operation}.iops")) or 0
        wide = (values.get((subject, f"{operation}.bandwidth")) or 0) >= LARGE_TRANSFER * rate > 0
        if subject in committing and operation != "commit":
            continue
        natural = ("bandwidth" if wide else "iops", "rate", "latency.mean", "latency.p99")
        # A sync belongs to its write's stream; without commits it has no figure of its own.
        if measure in natural and operation != "sync":
            picked.append(estimate)
    return picked


def _steady(cell: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    """Return estimates over the phase's own window that have a value."""
    return (e for e in of_phase(cell) if e["value"] is not None)


def _judged(
    a: Mapping[str, Any], b: Mapping[str, Any], grounds: Grounds, better: str, within: float
) -> Judgement:
    ratio, sampling = _ratio(a, b, grounds)
    outcome, why = ("not_judged", grounds.barred) if grounds.barred else ("undecided", "")
    if not grounds.barred:
        outcome, why = judged(ratio, sampling, better, within)
    return Judgement(
        metric=b["metric"],
        subject=b["subject"],
        unit=b["unit"],
        better=better,
        a=a["value"],
        b=b["value"],
        ratio=ratio,
        sampling=sampling,
        outcome=outcome,  # type: ignore[arg-type]
        why=why,
        chance=None if grounds.barred else chance(ratio, sampling),
        models=_models(a, b),
        lone=grounds.real and sampling.runs < 2 and sampling.low is not None,
    )


def _models(a: Mapping[str, Any], b: Mapping[str, Any]) -> Mapping[str, Any] | None:
    ratio_model = model_ratio.of_figures(b, a)
    return {"a": a.get("model"), "b": b.get("model"), "ratio": ratio_model} if ratio_model else None


def _ratio(
    a: Mapping[str, Any], b: Mapping[str, Any], grounds: Grounds
) -> tuple[float | None, Interval]:
    if grounds.identical and a["value"] == b["value"]:
        return 1.0, Interval(1.0, 1.0, len(b.get("by_repetition") or {}), SAME_DIGEST)
    if b["metric"].endswith(".max"):
        value = b["value"] / a["value"] if a["value"] > 0 else None
        return value, none("extreme", int(b["sampling"]["runs"] or 0))
    rough = RESOLUTION if ".latency.p" in b["metric"] else 0.0
    return ratios.ratio(_side(b), _side(a), paired=grounds.paired, resolution=rough)


def _side(estimate: Mapping[str, Any]) -> ratios.Side:
    sampling = estimate["sampling"]
    interval = Interval(
        sampling["low"],
        sampling["high"],
        int(sampling["runs"] or 0),
        sampling["method"],
        sampling.get("degrees"),
    )
    by_repetition = {int(k): v for k, v in (estimate.get("by_repetition") or {}).items()}
    return ratios.Side(estimate["value"], interval, by_repetition, estimate.get("at_most"))


def judged(
    ratio: float | None, sampling: Interval, better: str, within: float
) -> tuple[Outcome, str]:
    """Return the outcome that a ratio's interval allows.

    `same`: the whole interval lies between 1 / (1 + within) and 1 + within, even if it excludes 1.
    `better`, `worse`: it excludes 1. Otherwise undecided: too wide, or no interval.
    """
    if ratio is None or sampling.low is None or sampling.high is None:
        return "undecided", "no_interval"
    if 1 / (1 + within) <= sampling.low and sampling.high <= 1 + within:
        if sampling.method == SAME_DIGEST:
            return "same", "identical"
        return "same", "within" if sampling.low <= 1 <= sampling.high else "small"
    if sampling.low <= 1 <= sampling.high:
        return "undecided", "wide"
    rises = sampling.low > 1
    return ("better" if rises == (better == "higher") else "worse"), "excludes_one"


def chance(ratio: float | None, sampling: Interval) -> float | None:
    """Return the probability of a ratio at least as far from 1 without a real difference.

    None without an interval, and without chance.
    """
    if sampling.method == SAME_DIGEST:
        return None
    if not ratio or not sampling.low or not sampling.high or ratio <= 0 or sampling.low <= 0:
        return None
    distance = abs(math.log(ratio))
    half = math.log(ratio / sampling.low) if ratio > 1 else math.log(sampling.high / ratio)
    if half <= 0:
        return 1.0 if distance == 0 else 0.0
    if sampling.degrees:
        errors = distance / half * quantile(sampling.degrees)
        return 2 * float(stdtr(sampling.degrees, -errors))
    return 2 * float(ndtr(-distance / half * NORMAL_95))


def with_firmness(judged_metrics: Sequence[Judgement]) -> list[Judgement]:
    """Return the judgements with those marked that remain after correction for multiple comparisons
    (Holm)."""
    ranked = sorted(
        (j.chance, place) for place, j in enumerate(judged_metrics) if j.chance is not None
    )
    firm = set()
    for rank, (value, place) in enumerate(ranked):
        if value > (1 - CONFIDENCE) / (len(ranked) - rank):
            break
        firm.add(place)
    differ = ("better", "worse")
    return [
        replace(j, firm=place in firm and j.outcome in differ and not j.lone)
        for place, j in enumerate(judged_metrics)
    ]
