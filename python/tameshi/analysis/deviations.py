"""Deviations of a study from the published method that it follows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tameshi.core import compiled
from tameshi.core.reasons import distinct, quoted, reason
from tameshi.core.spec_types import RunSpec, Summary
from tameshi.record.phases import unsettled_in


def ledger(study: Summary, runs: Sequence[Any]) -> dict[str, Any] | None:
    """Return the study's method with every deviation; None if it names no method.

    `runs` are sealed. A method without deviations is compliant.
    """
    if study.method is None:
        return None
    reasons = [reason("shortened")] if study.quick else []
    reasons += map(quoted, study.method.deviations or [])
    for run in runs:
        reasons += _of_run(run.spec, run.environment)
        reasons += _of_outcome(run.outcome)
    return {"name": study.method.name, "compliant": not reasons, "deviations": distinct(reasons)}


def _of_run(spec: RunSpec, environment: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    if spec.world.value == "simulated":
        yield reason("modelled")
        for storage in spec.storage.values():
            if storage.scale and storage.scale > 1:
                yield reason("scaled", scale=storage.scale)
        return
    yield reason("not_purged")
    targets = environment.get("targets") or {}
    for code, applies in (
        ("file", lambda target: target.get("file_system") not in (None, "devtmpfs")),
        ("virtual", lambda target: _device(target).get("virtual")),
        ("cache_unknown", lambda target: not _device(target).get("write_cache")),
        ("cache_on", lambda target: _device(target).get("write_cache") == "write back"),
    ):
        if any(applies(target) for target in targets.values()):
            yield reason(code)
    smaller = [
        name
        for name, storage in spec.storage.items()
        if any(_is_larger(target, storage.size) for target in targets.values())
    ]
    if smaller:
        yield reason("part", names=smaller)


def _is_larger(target: Mapping[str, Any], size: str) -> bool:
    held = _device(target).get("size_bytes")
    return held is not None and int(held) > compiled.size_bytes(size)


def _of_outcome(outcome: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """Yield a steady state that was not reached, and a stopped run.

    If the method also ends a phase by an amount (write saturation: four times the capacity), that
    end is no deviation.
    """
    by_amount = [w for w in outcome.get("windows", ()) if w["ended_by"] == "amount"]
    own = [unsettled_in(window) for window in by_amount]
    return [cause for cause in outcome["verdict"]["reasons"] if cause not in own]


def _device(target: Mapping[str, Any]) -> Mapping[str, Any]:
    return target.get("device") or {}
