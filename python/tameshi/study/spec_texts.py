"""Specs of a large plan: packed as text, read when they are used.

A spec as Python's objects takes some 25 kB, and packed among its like some 0.1 kB.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, cast, overload

from tameshi.core.spec_types import RunSpec
from tameshi.study.file import longest_ns

if TYPE_CHECKING:
    from tameshi.core.spec_types import Plan

BLOCK_RUNS = 64
"""Specs that are packed together."""
CACHED_RUNS = 64
"""Specs that are kept after their last use."""
LEVEL = 1
LEVELS = ("cell", "unknown")


class Facts(NamedTuple):
    """Facts of a run that are needed before it begins; levels are JSON."""

    cell: str
    unknown: str
    repetition: int
    length_ns: int
    """Upper bound on its time; phases without a limit count as 0."""


class SpecTexts(Sequence[RunSpec]):
    """Specs in the order of execution: repetition by repetition, each cell by cell."""

    def __init__(self, described: Callable[[Mapping[str, Any]], str]) -> None:
        """`described`: name of a storage's model."""
        self._described = described
        self._blocks: list[list[bytes]] = []
        """Packed blocks by repetition."""
        self._rest: list[list[str]] = []
        """Texts by repetition that fill no block yet."""
        self._facts: list[list[Facts]] = []
        self._kinds: dict[str, tuple[int, int]] = {}
        """Repetition and place of the first run of each kind."""
        self._lengths: dict[str, int] = {}
        self.has_database = False
        self._spec = lru_cache(CACHED_RUNS)(self._read)
        self._texts = lru_cache(2)(self._unpacked)

    def add(self, repetition: int, text: str) -> None:
        """Add the JSON of the next run of a repetition."""
        while len(self._facts) <= repetition:
            for each in (self._blocks, self._rest, self._facts):
                each.append([])
        spec = json.loads(text)
        kind = self._kind(spec)
        self._kinds.setdefault(kind, (repetition, len(self._facts[repetition])))
        self.has_database |= bool(spec.get("database"))
        cell, unknown = (json.dumps(spec.get(key) or {}, ensure_ascii=False) for key in LEVELS)
        length_ns = self._length_ns(spec, text)
        self._facts[repetition].append(Facts(cell, unknown, repetition, length_ns))
        rest = self._rest[repetition]
        rest.append(text)
        if len(rest) == BLOCK_RUNS:
            self._blocks[repetition].append(zlib.compress(json.dumps(rest).encode(), LEVEL))
            rest.clear()

    def _kind(self, spec: Mapping[str, Any]) -> str:
        """Return what checks of all runs of a plan look at."""
        events = {name: event.get("command") for name, event in (spec.get("events") or {}).items()}
        models = [storage.get("model") for storage in spec["storage"].values()]
        named = [self._described(model) for model in models if model]
        return json.dumps([sorted(spec.get("engines") or ()), events, named])

    def _length_ns(self, spec: Mapping[str, Any], text: str) -> int:
        limits = [(phase["until"], phase.get("ramp")) for phase in spec["phases"]]
        key = json.dumps([limits, spec.get("rounds")])
        if key not in self._lengths:
            self._lengths[key] = longest_ns(RunSpec.model_validate_json(text))
        return self._lengths[key]

    def __len__(self) -> int:
        return sum(map(len, self._facts))

    @overload
    def __getitem__(self, place: int) -> RunSpec: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[RunSpec]: ...
    def __getitem__(self, place: int | slice) -> RunSpec | Sequence[RunSpec]:
        if isinstance(place, slice):
            return [self[each] for each in range(*place.indices(len(self)))]
        if not 0 <= place < len(self):
            raise IndexError(place)
        repetition = 0
        while place >= len(self._facts[repetition]):
            place -= len(self._facts[repetition])
            repetition += 1
        return self._spec(repetition, place)

    def __iter__(self) -> Iterator[RunSpec]:
        return (RunSpec.model_validate_json(text) for text, _ in self.texts())

    def texts(self) -> Iterator[tuple[str, PlannedRun]]:
        """Yield the JSON of each run, and the run as planned."""
        for repetition, facts in enumerate(self._facts):
            for place, each in enumerate(facts):
                yield self._text(repetition, place), PlannedRun(self, place, each)

    def _text(self, repetition: int, place: int) -> str:
        block, within = divmod(place, BLOCK_RUNS)
        if block == len(self._blocks[repetition]):
            return self._rest[repetition][within]
        return self._texts(repetition, block)[within]

    def _unpacked(self, repetition: int, block: int) -> list[str]:
        return list(json.loads(zlib.decompress(self._blocks[repetition][block])))

    def _read(self, repetition: int, place: int) -> RunSpec:
        return RunSpec.model_validate_json(self._text(repetition, place))

    def spec(self, repetition: int, place: int) -> RunSpec:
        """Return the run at a place of a repetition."""
        return self._spec(repetition, place)

    def one_of_each(self) -> list[RunSpec]:
        """Return the first run of each kind."""
        return [self._spec(*where) for where in self._kinds.values()]

    @property
    def facts(self) -> Iterator[Facts]:
        """Yield the facts of each run."""
        return (each for facts in self._facts for each in facts)


class PlannedRun(NamedTuple):
    """Run of a large plan, whose spec is read when it is used."""

    specs: SpecTexts
    place: int
    """Place among the runs of its repetition."""
    facts: Facts

    def read(self) -> RunSpec:
        """Return its spec."""
        return self.specs.spec(self.facts.repetition, self.place)


def one_of_each(plan: Plan) -> Plan:
    """Return a plan with one run of each kind, for checks of all runs of a large one."""
    if isinstance(plan.runs, SpecTexts):
        return plan.model_copy(update={"runs": plan.runs.one_of_each()})
    return plan


def with_texts(outline: Plan, specs: SpecTexts) -> Plan:
    """Return a plan whose runs are these specs."""
    return outline.model_copy(update={"runs": cast("list[RunSpec]", specs)})


def cells_and_tried(plan: Plan) -> tuple[int, int]:
    """Return the number of cells, and of runs that try an unknown setting."""
    if isinstance(plan.runs, SpecTexts):
        pairs = [(each.cell, each.unknown) for each in plan.runs.facts]
        return len({cell for cell, _ in pairs}), sum(unknown != "{}" for _, unknown in pairs)
    cells = {tuple(run.cell.items()) for run in plan.runs}
    return len(cells), sum(bool(run.unknown) for run in plan.runs)


def longest_of_all(plan: Plan) -> int:
    """Return the sum of the upper bounds on the times of the runs."""
    if isinstance(plan.runs, SpecTexts):
        return sum(each.length_ns for each in plan.runs.facts)
    return sum(map(longest_ns, plan.runs))


def has_database(plan: Plan) -> bool:
    """Return whether a run has a database."""
    if isinstance(plan.runs, SpecTexts):
        return plan.runs.has_database
    return any(run.database for run in plan.runs)
