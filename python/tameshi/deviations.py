"""Where a study departs from the published method that it follows: the ledger of the report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tameshi import _core
from tameshi.spec_types import RunSpec, Summary
from tameshi.windows import unsettled_in

QUICK = "shortened: only the quick part of the study was run"
MODEL = "simulated: a model of a drive and not a drive"
SCALED = "simulated at a part of the capacity: one to {scale}"
PURGE = "the drive was not purged before the run"
FILE = "a file of a file system and not a whole drive"
VIRTUAL = "a virtual disk, whose hardware is shared and unknown"
CACHE = "the state of the write cache is unknown"
CACHED = "the write cache is on, as the specification for clients has it"
PART = "a part of the drive is used, not all of it: {names}"
SENTENCES = (QUICK, MODEL, SCALED, PURGE, FILE, VIRTUAL, CACHE, CACHED, PART)


def ledger(study: Summary, runs: Sequence[Any]) -> dict[str, Any] | None:
    """The method that the study names, and every deviation from it; None where it names none.

    `runs` are sealed ones. A method without a deviation would be compliant.
    """
    if study.method is None:
        return None
    told: dict[str, None] = dict.fromkeys([QUICK] if study.quick else [])
    told |= dict.fromkeys(study.method.deviations or [])
    for run in runs:
        told |= dict.fromkeys(_of_run(run.spec, run.environment))
        told |= dict.fromkeys(_of_outcome(run.outcome))
    return {"name": study.method.name, "compliant": not told, "deviations": list(told)}


def _of_run(spec: RunSpec, environment: Mapping[str, Any]) -> Iterator[str]:
    if spec.world.value == "simulated":
        yield MODEL
        for storage in spec.storage.values():
            if storage.scale and storage.scale > 1:
                yield SCALED.format(scale=storage.scale)
        return
    yield PURGE
    targets = environment.get("targets") or {}
    for sentence, applies in (
        (FILE, lambda target: target.get("file_system") not in (None, "devtmpfs")),
        (VIRTUAL, lambda target: _device(target).get("virtual")),
        (CACHE, lambda target: not _device(target).get("write_cache")),
        (CACHED, lambda target: _device(target).get("write_cache") == "write back"),
    ):
        if any(applies(target) for target in targets.values()):
            yield sentence
    smaller = [
        name
        for name, storage in spec.storage.items()
        if any(_is_larger(target, storage.size) for target in targets.values())
    ]
    if smaller:
        yield PART.format(names=" and ".join(smaller))


def _is_larger(target: Mapping[str, Any], size: str) -> bool:
    held = _device(target).get("size_bytes")
    return held is not None and int(held) > _core.size_bytes(size)


def _of_outcome(outcome: Mapping[str, Any]) -> Iterable[str]:
    """Steady state that was not attained, and a run that was stopped.

    Where a method ends a phase by an amount as well (write saturation: four times the capacity),
    that end is the method's own: its figures are of no steady state, and it departs from nothing.
    """
    by_amount = [w for w in outcome.get("windows", ()) if w["ended_by"] == "amount"]
    own = {unsettled_in(window) for window in by_amount}
    return [reason for reason in outcome["verdict"]["reasons"] if reason not in own]


def _device(target: Mapping[str, Any]) -> Mapping[str, Any]:
    return target.get("device") or {}
