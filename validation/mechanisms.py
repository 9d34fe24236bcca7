"""Mechanisms of the models: do experiments of several houses agree with one rule?"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

TABLE = Path(__file__).with_name("mechanisms.toml")
NEAR = 0.25
HOUSES = 2


@dataclass(frozen=True)
class Experiment:
    """Figures of an experiment: how far ours are off, as factors less one."""

    name: str
    house: str
    errors: Sequence[float]

    @property
    def error(self) -> float:
        """Median error."""
        return median(self.errors)

    @property
    def is_near(self) -> bool:
        """True within 25 %."""
        return self.error <= NEAR


@dataclass(frozen=True)
class Mechanism:
    """A mechanism with the experiments that show it; those without our figures are unknown."""

    name: str
    shown: Sequence[Experiment]
    unknown: Sequence[str]

    @property
    def is_held(self) -> bool:
        """True if experiments of two houses agree with the one rule."""
        return len({each.house for each in self.shown if each.is_near}) >= HOUSES


def house_of(source: str) -> str:
    """Return the house of a source: what stands before its details."""
    return source.partition(" (")[0].partition("/")[0].strip()


def mechanisms(
    houses: Mapping[str, str], errors: Mapping[str, Sequence[float]]
) -> Iterator[Mechanism]:
    """Yield every mechanism; `houses` and `errors` are by experiment."""
    table: dict[str, list[str]] = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    for name, experiments in table.items():
        known = [each for each in experiments if errors.get(each)]
        shown = [Experiment(each, houses[each], errors[each]) for each in known]
        yield Mechanism(name, shown, [each for each in experiments if each not in known])


def share(value: float) -> str:
    """Return a share in per cent."""
    return f"{100 * value:.0f} %"


def lines(found: Iterator[Mechanism]) -> Iterator[tuple[str, ...]]:
    """Yield the table's lines: mechanism, median errors, whether two houses agree."""
    for each in found:
        own = [f"{one.name} {share(one.error)} ({len(one.errors)})" for one in each.shown]
        yield each.name, "; ".join(own), ", ".join(each.unknown), "yes" if each.is_held else "no"
