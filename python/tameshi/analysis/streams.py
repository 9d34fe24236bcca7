"""Streams of a study: size, pattern and direction of their requests, from the runs' specs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tameshi.core import compiled
from tameshi.core.spec_types import PhaseSpec, RunSpec, StreamSpec

RANDOM, SEQUENTIAL, STRIDED = "random", "sequential", "strided"


def streams(specs: Iterable[RunSpec]) -> dict[str, dict[str, Any]]:
    """Return by stream what all its phases have in common; null what differs between them.

    `alone`: no phase has another load at the same time.
    """
    seen: dict[str, list[dict[str, Any]]] = {}
    for phase in (phase for spec in specs for phase in spec.phases):
        for name, facts in _of_phase(phase):
            if facts not in seen.setdefault(name, []):
                seen[name].append(facts)
    return {name: _common(each) for name, each in seen.items()}


def merged(groups: Iterable[Mapping[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """Return what several groups of runs have in common, each as `streams` returns it."""
    seen: dict[str, list[dict[str, Any]]] = {}
    for group in groups:
        for name, facts in group.items():
            if facts not in seen.setdefault(name, []):
                seen[name].append(facts)
    return {name: _common(each) for name, each in seen.items()}


def _of_phase(phase: PhaseSpec) -> Iterator[tuple[str, dict[str, Any]]]:
    alone = len(phase.streams) == 1 and not phase.programs
    for stream in phase.streams:
        yield stream.name, {**_facts(stream.stream), "alone": alone}


def _facts(stream: StreamSpec) -> dict[str, Any]:
    mixed = stream.block_size_mix or stream.write_block_size_mix
    share = (stream.read or "100 %").removesuffix("%").replace("_", "")
    return {
        "pattern": _pattern(stream.pattern),
        "read_share": float(share) / 100,
        "block_bytes": None if mixed else compiled.size_bytes(stream.block_size or "4 KiB"),
        "commits": stream.sync is not None,
    }


def _pattern(pattern: Any) -> str:
    """Return the order of offsets: strided and sequential ones, or random with any distribution."""
    if pattern == SEQUENTIAL:
        return SEQUENTIAL
    return STRIDED if hasattr(pattern, STRIDED) else RANDOM


def _common(each: list[dict[str, Any]]) -> dict[str, Any]:
    first = each[0]
    common = {key: first[key] if _same(each, key) else None for key in first}
    return common | {"alone": all(facts["alone"] for facts in each)}


def _same(each: list[dict[str, Any]], key: str) -> bool:
    return all(facts[key] == each[0][key] for facts in each)
