"""Comparison of two sides: common cells, comparability, and judgements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from tameshi.analysis.stats.intervals import CONFIDENCE
from tameshi.compare.facts import MODELLED, Difference, differences, facts_of
from tameshi.compare.judge import OUTCOMES, Grounds, Judgement, judgements, with_firmness
from tameshi.compare.rules import CHANGEABLE, EFFECTS, RULES
from tameshi.compare.sides import Levels, Side
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.core.exit_status import ExitStatus
from tameshi.record.store import SealedRun

COMPARISON_VERSION = 1
"""Form of `--format json`; history: 1, the first."""
WORLDS = ("simulated", "emulated", "measured")
Level = Literal["comparable", "differences", "incomparable"]
Runs = Mapping[int, tuple[SealedRun, int]]


@dataclass(frozen=True)
class Options:
    """Options of a comparison.

    `world`: `measured`, or `simulated:measured` to compare A's world with B's other one; by default
    every common world. `within`: relative difference that counts as same. `every`: all metrics, not
    only primary ones. `changed`: intended changes.
    """

    world: str = ""
    within: float = 0.05
    every: bool = False
    changed: Sequence[str] = ()


@dataclass(frozen=True)
class CellPair:
    """Cell that both sides have."""

    phase: str
    levels: Mapping[str, str]
    worlds: tuple[str, str]
    verdicts: tuple[str, str]
    judgements: tuple[Judgement, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--format json` prints; see docs/compare.md."""
        return {
            "phase": self.phase,
            "levels": dict(self.levels),
            "world": _ab(self.worlds),
            "verdict": _ab(self.verdicts),
            "judgements": [judgement.as_json() for judgement in self.judgements],
        }


@dataclass(frozen=True)
class Spread:
    """Difference, and the number of common cells that have it."""

    difference: Difference
    cells: int
    of: int

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--format json` prints; see docs/compare.md."""
        d = self.difference
        form = {"fact": d.key, "subject": d.subject, "effect": d.effect, "a": d.a, "b": d.b}
        return {**form, "cells": self.cells, "of": self.of}


@dataclass(frozen=True)
class Comparison:
    """Result of comparing two sides."""

    paths: tuple[str, str]
    names: tuple[str, str]
    options: Options
    worlds: tuple[tuple[str, str], ...]
    cells: tuple[CellPair, ...]
    differences: tuple[Spread, ...]
    equal: tuple[str, ...]
    only: tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]
    level: Level
    because: str

    @property
    def judgements(self) -> list[Judgement]:
        """Judgements of all cells."""
        return [judgement for cell in self.cells for judgement in cell.judgements]

    def as_json(self) -> dict[str, Any]:
        """Return the form that `--format json` prints; see docs/compare.md."""
        sides = zip(self.paths, self.names, strict=True)
        outcomes = [judgement.outcome for judgement in self.judgements]
        return {
            "schema_version": COMPARISON_VERSION,
            **_ab([{"path": path, "study": name} for path, name in sides]),
            "verdict": {"level": self.level, "because": self.because},
            "options": {
                "worlds": [_ab(pair) for pair in self.worlds],
                "within": self.options.within,
                "metrics": "all" if self.options.every else "primary",
                "changed": sorted(self.options.changed),
            },
            "counts": {outcome: outcomes.count(outcome) for outcome in OUTCOMES},
            "chance": self._chance(),
            "differences": [spread.as_json() for spread in self.differences],
            "equal": list(self.equal),
            "only": _ab(self.only),
            "cells": [cell.as_json() for cell in self.cells],
        }

    def _chance(self) -> dict[str, Any]:
        """Return the expected number of false differences, and the number found and confirmed."""
        tested = sum(judgement.chance is not None for judgement in self.judgements)
        differ = [j for j in self.judgements if j.outcome in ("better", "worse")]
        return {
            "confidence": CONFIDENCE,
            "tested": tested,
            "expected": round(tested * (1 - CONFIDENCE), 2),
            "found": len(differ),
            "lone": sum(judgement.lone for judgement in self.judgements),
            "firm": sum(judgement.firm for judgement in differ),
        }


def compare(a: Side, b: Side, options: Options | None = None) -> Comparison:
    """Compare B with A, cell by cell; raises `BadInput` for impossible options."""
    options = options or Options()
    _check(options)
    worlds = _worlds(a, b, options.world)
    better = {metric["name"]: metric["better"] for metric in compiled.metrics()}
    pairs: list[CellPair] = []
    by_cell: list[list[Difference]] = []
    facts: list[set[str]] = []
    only: tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]] = ([], [])
    for left, right in worlds:
        cells = a.cells(left), b.cells(right)
        for key in cells[0].keys() - cells[1].keys():
            only[0].append(_place(cells[0][key]))
        for key in cells[1].keys() - cells[0].keys():
            only[1].append(_place(cells[1][key]))
        for key, cell in cells[0].items():
            if key in cells[1]:
                runs = a.runs_of(left, *key), b.runs_of(right, *key)
                cell_differences, known = _differences(runs, (left, right), options.changed)
                by_cell.append(cell_differences)
                facts.append(known)
                pairs.append(_pair((cell, cells[1][key]), runs, cell_differences, better, options))
    pairs = _corrected(pairs)
    spread = _spread(by_cell)
    differing = {s.difference.key for s in spread}
    matter = [rule.key for rule in RULES if rule.weight != "harmless"]
    equal = [key for key in matter if any(key in known for known in facts)]
    level, because = _verdict(a, b, options, by_cell)
    return Comparison(
        paths=(a.path, b.path),
        names=(_name(a), _name(b)),
        options=options,
        worlds=tuple(worlds),
        cells=tuple(pairs),
        differences=tuple(spread),
        equal=tuple(key for key in equal if key not in differing),
        only=(sorted(only[0], key=str), sorted(only[1], key=str)),
        level=level,
        because=because,
    )


def exit_status(comparison: Comparison, fail_on: str) -> int:
    """Return 3 if the two are incomparable; with `fail_on` worse, 1 if something is certainly
    worse.

    With `fail_on`, 3 also stands for a partly judged comparison: a gate must not pass what it did
    not see.
    """
    if comparison.level == "incomparable":
        return ExitStatus.INVALID
    if fail_on != "worse":
        return ExitStatus.DONE
    if any(j.outcome == "worse" and j.firm for j in comparison.judgements):
        return ExitStatus.FAILED
    unseen = any(j.outcome == "not_judged" for j in comparison.judgements)
    return ExitStatus.INVALID if unseen else ExitStatus.DONE


def _check(options: Options) -> None:
    if not 0 < options.within < 1:
        raise BadInput(
            "what counts as the same is a share between 0 and 100 %",
            where="--within",
            found=f"{options.within * 100:g} %",
            accepted=["a percentage such as 5"],
        )
    for name in options.changed:
        if name not in CHANGEABLE:
            raise BadInput(
                "this can't be named as changed",
                where="--changed",
                found=name,
                accepted=CHANGEABLE,
            )
    for name in options.world.split(":") if options.world else ():
        if name not in WORLDS or options.world.count(":") > 1:
            accepted = [*WORLDS, "two of them as A:B"]
            raise BadInput(
                "there is no such world", where="--world", found=options.world, accepted=accepted
            )


def _worlds(a: Side, b: Side, asked: str) -> list[tuple[str, str]]:
    """Return pairs of a world of A and one of B."""
    if asked:
        left, _, right = asked.partition(":")
        for side, world in ((a, left), (b, right or left)):
            if world not in side.worlds():
                raise BadInput(
                    f"it has no {world} cells",
                    where=side.path,
                    found=", ".join(side.worlds()) or "no cells",
                )
        return [(left, right or left)]
    return [(world, world) for world in a.worlds() if world in b.worlds()]


def _differences(
    runs: tuple[Runs, Runs], worlds: tuple[str, str], asked: Sequence[str]
) -> tuple[list[Difference], set[str]]:
    """Return the differences of one cell, and the keys of the facts known on both sides."""
    across = worlds[0] != worlds[1]
    if not runs[0] or not runs[1]:
        texts = ["known" if side else None for side in runs]
        return [Difference("unknown", "", "may", texts[0], texts[1])], set()
    changed = frozenset(asked) | ({"world"} if across else set())
    left, right = (facts_of(side.values()) for side in runs)
    modelled = worlds[0] in MODELLED
    differing = differences(left, right, modelled=modelled, across=across, changed=changed)
    known = {key[0] for key, value in left.items() if value is not None and key in right}
    return differing, known


def _pair(
    cells: tuple[Mapping[str, Any], Mapping[str, Any]],
    runs: tuple[Runs, Runs],
    differing: Iterable[Difference],
    better: Mapping[str, str],
    options: Options,
) -> CellPair:
    levels = [cell["verdict"]["level"] for cell in cells]
    barred = "incomparable" if any(d.effect == "breaks" for d in differing) else ""
    if not barred and "invalid" in levels:
        barred = "invalid"
    real = any(cell["world"] != "simulated" for cell in cells)
    grounds = Grounds(barred, *_kinship(cells, runs, differing), real)
    judged_metrics = judgements(*cells, grounds, better, within=options.within, every=options.every)
    worlds = (cells[0]["world"], cells[1]["world"])
    verdicts = (levels[0], levels[1])
    return CellPair(cells[0]["phase"], cells[0]["levels"], worlds, verdicts, tuple(judged_metrics))


def _kinship(
    cells: tuple[Mapping[str, Any], Mapping[str, Any]],
    runs: tuple[Runs, Runs],
    differing: Iterable[Difference],
) -> tuple[bool, bool]:
    """Return whether the two are identical, and whether their repetitions share their seeds."""
    a, b = runs
    modelled = {cell["world"] for cell in cells} == {"simulated"}
    if not modelled or not a or a.keys() != b.keys():
        return False, False
    digests = [(a[n][0].outcome["digest"], b[n][0].outcome["digest"]) for n in a]
    identical = all(left == right and left for left, right in digests)
    seeds = all(a[n][0].spec.seed == b[n][0].spec.seed for n in a)
    return identical, seeds and not any(d.key in ("work", "storage_size") for d in differing)


def _corrected(pairs: Sequence[CellPair]) -> list[CellPair]:
    """Return the cells with each difference marked that remains after correction over all
    comparisons."""
    marked = iter(with_firmness([j for pair in pairs for j in pair.judgements]))
    return [replace(p, judgements=tuple(next(marked) for _ in p.judgements)) for p in pairs]


def _spread(by_cell: Sequence[Sequence[Difference]]) -> list[Spread]:
    """Return each difference once, most serious first, with its number of cells."""
    counts: dict[Difference, int] = {}
    for differences_of_cell in by_cell:
        for difference in differences_of_cell:
            counts[difference] = counts.get(difference, 0) + 1
    spread = [Spread(difference, cells, len(by_cell)) for difference, cells in counts.items()]
    order = {rule.key: place for place, rule in enumerate(RULES)}
    return sorted(
        spread, key=lambda s: (EFFECTS.index(s.difference.effect), order[s.difference.key])
    )


def _verdict(
    a: Side, b: Side, options: Options, by_cell: Sequence[Sequence[Difference]]
) -> tuple[Level, str]:
    """Return the level and its code: incomparable only if no common cell may be judged."""
    if not by_cell:
        shared = options.world or set(a.worlds()) & set(b.worlds())
        return "incomparable", "no_cells" if shared else "no_world"
    broken = [any(d.effect == "breaks" for d in cell) for cell in by_cell]
    if all(broken):
        return "incomparable", "facts"
    if any(broken):
        return "differences", "some_cells"
    effects = {d.effect for cell in by_cell for d in cell}
    if "may" in effects:
        unknown = all(d.key == "unknown" for cell in by_cell for d in cell if d.effect == "may")
        return "differences", "unknown" if unknown else "facts"
    return "comparable", "asked" if "question" in effects else "nothing"


def _place(cell: Mapping[str, Any]) -> dict[str, Any]:
    return {key: cell[key] for key in ("world", "phase", "levels")}


def _name(side: Side) -> str:
    study = side.results.get("study") or {}
    return str(study.get("title") or study.get("name") or "")


def _ab(values: Sequence[Any]) -> dict[str, Any]:
    return {"a": values[0], "b": values[1]}


__all__ = ["COMPARISON_VERSION", "Comparison", "Levels", "Options", "compare", "exit_status"]
