"""Facts about a run and its environment that a comparison checks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tameshi.compare.rules import BY_KEY, RULES, Effect, effect
from tameshi.core import compiled
from tameshi.record.store import SealedRun

Key = tuple[str, str]
"""Key of a rule, and its subject: a storage, a stream's setting."""
Facts = Mapping[Key, Any]

MODELLED = ("simulated", "emulated")
# Parts of a RunSpec with rules of their own; all others are the workload.
_NOT_WORK = {
    "schema_version",
    "study",
    "world",
    "cell",
    "repetition",
    "seed",
    "interval",
    "storage",
    "phases",
}
_NOT_FACTS = {
    *("identity", "world", "findings", "model", "machine", "targets", "storages"),
    "imported",
}
_DIGITS = 8
NO = "no"
OWN = "Tameshi"
"""Tool of runs that were not imported."""
# If an examined device has none of these, that is a fact, not a gap.
_MAY_BE_NONE = ("device.virtual", "device.members", "device.backing_file")


@dataclass(frozen=True)
class Difference:
    """Fact that differs, with its effect on the comparison; None is unknown."""

    key: str
    subject: str
    effect: Effect
    a: str | None
    b: str | None


def differences(
    a: Facts, b: Facts, *, modelled: bool, across: bool, changed: frozenset[str]
) -> list[Difference]:
    """Return every fact that differs between the sides, in the order of the rules.

    `across`: two different worlds on purpose; then only the workload is compared.
    """
    differing = []
    rank = {rule.key: place for place, rule in enumerate(RULES)}
    for key, subject in sorted({*a, *b}, key=lambda k: (rank[k[0]], k[1])):
        rule = BY_KEY[key]
        if across and (rule.of != "spec" or key == "model"):
            continue
        # If one side has no disk, `device` alone says so.
        if rule.of == "device" and not ((key, subject) in a and (key, subject) in b):
            continue
        left, right = a.get((key, subject)), b.get((key, subject))
        if left == right:
            continue
        # A setting missing from the other's spec is a difference; an unread fact is none.
        one_sided = rule.of != "spec" and (left is None or right is None)
        consequence = effect(rule, modelled=modelled, one_sided=one_sided, changed=changed)
        differing.append(Difference(key, subject, consequence, left, right))
    return differing


def facts_of(runs: Iterable[tuple[SealedRun, int]]) -> dict[Key, str | None]:
    """Return the facts of one cell's runs; values that vary among them are listed."""
    seen: dict[Key, list[str]] = {}
    for number, (run, index) in enumerate(runs):
        for key, value in _facts(run, index):
            # Repetitions differ in their seeds by design; the first represents all.
            if number and key[0] == "seed":
                continue
            values = seen.setdefault(key, [])
            if value is not None and _plain(value) not in values:
                values.append(_plain(value))
    return {key: ", ".join(sorted(values)) or None for key, values in seen.items()}


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(str(item) for item in value)
    return str(value)


def _facts(run: SealedRun, index: int) -> Iterator[tuple[Key, Any]]:
    spec: dict[str, Any] = json.loads(compiled.to_json(run.spec))
    phase = spec["phases"][index]
    yield ("world", ""), spec["world"]
    yield ("study", ""), spec["study"]
    yield ("seed", ""), spec["seed"]
    yield ("interval", ""), spec["interval"]
    for name in dict.fromkeys(stream["storage"] for stream in phase["streams"]):
        storage = spec["storage"].get(name, {})
        yield ("storage_size", name), storage.get("size")
        if "model" in storage:
            yield ("model", name), model_name(storage["model"])
    for name, value in flat({k: v for k, v in spec.items() if k not in _NOT_WORK}):
        yield ("work", name), value
    for stream in phase["streams"]:
        for name, value in flat({k: v for k, v in stream.items() if k != "name"}):
            yield ("work", f"{stream['name']}.{name.removeprefix('stream.')}"), value
    timing = {"ramp": phase["ramp"], "until": phase["until"]}
    yield from ((("duration", name), value) for name, value in flat(timing))
    yield ("history", ""), _history(spec["phases"][:index])
    yield from _environment(run.environment, list(spec["storage"]))


def _history(phases: Sequence[Mapping[str, Any]]) -> str:
    """Return the preceding phases, which determine the device's state."""
    return f"{len(phases)} ({_digest(phases)})" if phases else "0"


def _environment(environment: Mapping[str, Any], storages: Sequence[str]) -> Iterator[Any]:
    machine, targets = environment.get("machine") or {}, environment.get("targets") or {}
    if environment:
        yield ("tool", ""), environment.get("tool", OWN)
    for rule in RULES:
        if rule.of == "environment" and rule.name in environment and rule.key != "tool":
            yield (rule.key, ""), environment[rule.name]
        if rule.of == "machine" and machine:
            yield (rule.key, ""), machine.get(rule.name)
    named = {str(path): name for name, path in (environment.get("storages") or {}).items()}
    for path, target in targets.items():
        name = named.get(path) or (storages[0] if len(targets) == len(storages) == 1 else path)
        device = target.get("device") or {}
        for rule in RULES:
            if rule.key == "device":
                yield (rule.key, name), "disk" if device else "none"
            elif rule.of == "target":
                yield (rule.key, name), target.get(rule.name)
            if rule.of == "device" and device:
                value = device.get(rule.name)
                nothing = not value and rule.key in _MAY_BE_NONE
                yield (rule.key, name), NO if nothing else value
    yield from _others(environment, machine)


def _others(environment: Mapping[str, Any], machine: Mapping[str, Any]) -> Iterator[Any]:
    """Return facts of newer environments without a rule."""
    known = {rule.name for rule in RULES if rule.of == "environment"} | _NOT_FACTS
    for name, value in flat({k: v for k, v in environment.items() if k not in known}):
        yield ("other", name), value
    known = {rule.name for rule in RULES if rule.of == "machine"}
    for name, value in flat({k: v for k, v in machine.items() if k not in known}):
        yield ("other", f"machine.{name}"), value


def flat(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Return nested tables as dotted names and plain values."""
    for name, inner in value.items():
        if isinstance(inner, Mapping) and inner:
            yield from flat(inner, f"{prefix}{name}.")
        elif inner is not None:
            plain = isinstance(inner, str | int | float | bool)
            yield f"{prefix}{name}", inner if plain else json.dumps(inner, ensure_ascii=False)


def model_name(model: Mapping[str, Any]) -> str:
    """Return the profiles of a storage, and a digest of their values without sources."""
    names = dict.fromkeys(_profiles(model))
    return f"{', '.join(names) or '?'} ({_digest(_without_sources(model))})"


def _profiles(node: Any) -> Iterator[str]:
    if isinstance(node, Mapping):
        if isinstance(node.get("profile"), str):
            yield node["profile"]
        for inner in node.values():
            yield from _profiles(inner)
    elif isinstance(node, list):
        for inner in node:
            yield from _profiles(inner)


def _without_sources(node: Any) -> Any:
    if isinstance(node, Mapping):
        return {k: _without_sources(v) for k, v in node.items() if k != "source"}
    return [_without_sources(v) for v in node] if isinstance(node, list) else node


def _digest(value: Any) -> str:
    canonical = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:_DIGITS]
