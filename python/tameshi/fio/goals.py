"""Goals and limits of a fio job: steady state, latency at the highest load, rates to keep."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.options import Reader
from tameshi.fio.values import bad


@dataclass(frozen=True)
class Limits:
    """Limits of a job, by direction; zero means no limit."""

    bytes_per_second: tuple[int, int, int]
    ios_per_second: tuple[int, int, int]
    cycle_ns: int
    latency_ns: int


def limits_of(settings: Mapping[str, Setting], kb_base: int) -> Limits:
    """Read the limits of a job."""

    def rates(key: str) -> tuple[int, int, int]:
        setting = settings.get(key)
        if setting is None:
            return 0, 0, 0
        read, write, trim = values.directions(setting)

        def rate(part: str) -> int:
            return values.size_of(setting, part, kb_base) if part else 0

        return rate(read), rate(write), rate(trim)

    cycle, longest = settings.get("rate_cycle"), settings.get("max_latency")
    return Limits(
        bytes_per_second=rates("rate_min"),
        ios_per_second=rates("rate_iops_min"),
        cycle_ns=(values.integer(cycle, 1) if cycle else 1000) * 1_000_000,
        latency_ns=values.time_us(longest, "us") * 1000 if longest else 0,
    )


Settings = Mapping[str, Setting]

_STEADY = re.compile(r"(iops|bw|lat)(_slope)?:(\d+(?:\.\d+)?)(%?)([kmgKMG]?)")
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_TRACKED = {"iops": "iops", "bw": "bandwidth", "lat": "latency"}
_ROUNDS_WITHOUT_END = 1_000_000
_WINDOW_US = 1_000_000
"""Default duration of each load in a search."""
_CURVE = '["50 %", "90 %"]'
"""Loads tested before the bisection, as shares of the closed loop's rate."""


@dataclass(frozen=True)
class Steady:
    """Steady state: limit on the spread or slope of `variable` over a window of samples."""

    variable: str
    """`iops`, `bw` or `lat`."""
    slope: bool
    """True to judge the slope of a line through the samples, false to judge deviations from their
    mean."""
    limit: Fraction
    """Upper limit, in per cent of the mean or, if `absolute`, in 1/s or B/s; for a slope, per
    sample."""
    absolute: bool
    interval_us: int
    samples: int
    ramp_us: int

    @property
    def name(self) -> str:
        """Return the criterion in fio's notation."""
        unit = "" if self.absolute else "%"
        return f"{self.variable}{'_slope' if self.slope else ''}:{float(self.limit):f}{unit}"

    @property
    def seconds(self) -> int:
        """Return the length of the window in s."""
        return self.interval_us * self.samples // 1_000_000

    def rule(self, runtime_us: int | None) -> str:
        """Return the steady-state rule of a study's phase.

        The range of the samples bounds their distance from the mean: the rule is slightly stricter
        than fio's. The unused criterion is as wide as possible.
        """
        allowed = self.limit * (self.samples - 1) if self.slope else self.limit
        if self.absolute:
            limits = f"absolute = {{ {'slope' if self.slope else 'range'} = {int(allowed)} }}"
        else:
            share = f"{float(min(allowed, Fraction(100))):.4f} %"
            span, slope = ("100 %", share) if self.slope else (share, "100 %")
            limits = f'range = "{span}", slope = "{slope}"'
        rounds = runtime_us // self.interval_us + 1 if runtime_us else _ROUNDS_WITHOUT_END
        return (
            f'{{ round = "{self.interval_us} us", rounds = {self.samples}, {limits}, '
            f'max_rounds = {max(rounds, self.samples)}, track = ["{_TRACKED[self.variable]}"] }}'
        )

    def found(self, samples: Sequence[Mapping[str, float]], attained: bool) -> dict[str, object]:
        """Return fio's steady-state object for the samples of the last window (1/s, B/s, ns)."""
        tracked = [sample[_TRACKED[self.variable]] for sample in samples]
        mean = sum(tracked) / len(tracked) if tracked else 0.0
        deviation = max((abs(value - mean) for value in tracked), default=0.0)
        slope = _slope(tracked)
        judged = abs(slope) if self.slope else deviation
        share = 100 * judged / mean if mean else 0.0
        iops, bandwidths = ([s[key] for s in samples] for key in ("iops", "bandwidth"))
        data: dict[str, object] = {
            "bw_mean": int(sum(bandwidths) / len(samples)) if samples else 0,
            "iops_mean": int(sum(iops) / len(samples)) if samples else 0,
        }
        if self.variable == "lat":
            data |= {"lat_mean": mean, "lat_ns": [round(value) for value in tracked]}
        return {
            "ss": self.name,
            "duration": self.seconds,
            "attained": int(attained),
            "criterion": f"{judged:f}" if self.absolute else f"{share:f}%",
            "max_deviation": 0.0 if self.slope else round(deviation, 6),
            "slope": round(slope, 6) if self.slope else 0.0,
            "data": data | {"iops": [int(v) for v in iops], "bw": [int(v) for v in bandwidths]},
        }


def _slope(values: Sequence[float]) -> float:
    """Return the least-squares slope of the values, per sample."""
    count = len(values)
    if count < 2:
        return 0.0
    middle, mean = (count - 1) / 2, sum(values) / count
    rise = sum((place - middle) * (value - mean) for place, value in enumerate(values))
    return rise / sum((place - middle) ** 2 for place in range(count))


def steady_of(settings: Settings, notes: list[str]) -> Steady | None:
    """Read the steady state of a job; raise `BadInput` for one that cannot be judged."""
    setting = settings.get("steadystate")
    duration = settings.get("steadystate_duration")
    if setting is None or not setting.value:
        return None
    match = _STEADY.fullmatch(setting.value)
    if not match:
        raise bad(setting, "invalid criterion", "iops:10%, bw_slope:1% or similar")
    absolute = not match[4]
    limit = Fraction(match[3]) * _SIZES[match[5].lower() if match[5] else ""]
    if absolute and match[1] == "lat":
        raise bad(setting, "the spread of latencies is a share of their mean here", "lat:5%")
    if match[5] and not (absolute and match[1] == "bw"):
        raise bad(setting, "only a bandwidth may have this suffix", "bw:1m")
    window_us = values.time_us(duration) if duration else 0
    if not window_us:
        notes.append(f"{setting.where}: steadystate: ignored without ss_dur, as in fio")
        return None
    checks = settings.get("steadystate_check_interval")
    interval_us = values.time_us(checks) if checks else 1_000_000
    samples = window_us // interval_us if interval_us else 0
    if samples < 2:
        raise bad(
            duration or setting, "this window holds fewer than two samples", "a longer window"
        )
    ramp = settings.get("steadystate_ramp_time")
    return Steady(
        variable=match[1],
        slope=bool(match[2]),
        limit=limit,
        absolute=absolute,
        interval_us=interval_us,
        samples=samples,
        ramp_us=values.time_us(ramp) if ramp else 0,
    )


@dataclass(frozen=True)
class Target:
    """Percentile latency to be kept at the highest possible load."""

    below_us: int
    percentile: float
    window_us: int

    def search(self, stream: str, operation: str) -> str:
        """Return the search table of a study."""
        metric = f"{operation}.latency.{_statistic(self.percentile)}"
        return (
            f'[search]\nstream = "{stream}"\nshares = {_CURVE}\nwithin = "5 %"\n'
            f'limit = {{ metric = "{metric}", below = "{self.below_us} us" }}\n'
        )


def _statistic(percentile: float) -> str:
    """Return the percentile as a study names it: two digits, then the decimals."""
    if percentile == 100:
        return "max"
    digits, _, decimals = f"{percentile:07.4f}".partition(".")
    return f"p{digits}{decimals.rstrip('0')}"


def target_of(settings: Settings, runtime_us: int | None) -> Target | None:
    """Read the latency target of a job; raise `BadInput` for an impossible search."""
    setting = settings.get("latency_target")
    below_us = values.time_us(setting, "us") if setting else 0
    if setting is None or not below_us:
        return None
    percent = settings.get("latency_percentile")
    percentile = values.number(percent) if percent else 100.0
    if not 0 < percentile <= 100 or round(percentile, 4) != percentile:
        accepted = "above 0, up to 100, with four decimals at most"
        raise bad(percent or setting, "no search for this percentile is possible", accepted)
    window = settings.get("latency_window")
    window_us = (values.time_us(window, "us") if window else 0) or _WINDOW_US
    goes_on = settings.get("latency_run")
    if goes_on and values.flag(goes_on):
        window_us = max(window_us, runtime_us or 0)
    return Target(below_us, percentile, window_us)


@dataclass(frozen=True)
class Goals:
    """Goals and limits of a job."""

    steady: Steady | None
    target: Target | None
    limits: Limits


def goals_of(reader: Reader, runtime_us: int | None) -> Goals:
    """Read the goals of a job; raise `BadInput` for goals that cannot be judged or searched."""
    return Goals(
        steady=steady_of(reader.settings, reader.notes),
        target=target_of(reader.settings, runtime_us),
        limits=limits_of(reader.settings, reader.kb_base),
    )
