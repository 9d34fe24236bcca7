"""Can this machine run these specs? Examined before anything is created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi import _core, guard
from tameshi.bindings import Bindings
from tameshi.environment import diskstats_name, environment, identity
from tameshi.errors import BadInput
from tameshi.spec_types import Plan, World

NOTHING_CARRIED = "nothing was read or written (--backend null): this measures the generator"


@dataclass(frozen=True)
class Examined:
    """What one world's runs stand on here."""

    world: str
    targets: Mapping[str, guard.TargetPlan]
    environment: Mapping[str, Any]
    identity: Mapping[str, Any]
    """The part of the environment that makes two runs different runs."""
    findings: Sequence[Mapping[str, Any]] = field(default_factory=list)
    """Verdicts on the comparison itself, such as two storages on one disk."""
    backend: str = "auto"
    """What carries the requests."""
    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The user's commands, by the event that each makes happen."""

    def devices(self) -> list[str]:
        """Names of the targets' disks in /proc/diskstats."""
        names = (diskstats_name(target.path) for target in self.targets.values())
        return sorted({name for name in names if name})


def examine(plan: Plan, world: World, bindings: Bindings, where: str) -> Examined:
    """Examine one world's plan; raises `BadInput` or `GuardRefusal`, and creates nothing."""
    _check_servers(plan, bindings)
    _check_events(plan, bindings)
    missing = dict.fromkeys(sentence for run in plan.runs for sentence in _core.unsupported(run))
    if world is World.measured:
        missing = _not_bound(missing, bindings)
    if missing:
        raise BadInput(
            f"the {world.value} world can't run this study yet: {'; '.join(missing)}", where=where
        )
    if world is not World.measured:
        core = {"core": _core.core_hash()}
        return Examined(world.value, {}, {"world": world.value, **core, **_models(plan)}, core)
    targets = _targets(plan, bindings)
    machine = environment([target.path for target in targets.values()])
    facts = {"world": world.value, "core": _core.core_hash(), **machine}
    own = _measured_identity(machine, targets)
    findings = _shared_disks(targets)
    if bindings.backend != "auto":
        own["backend"] = bindings.backend
    if bindings.event:
        own["events"] = {name: list(command) for name, command in bindings.event.items()}
    if bindings.backend == "null":
        findings.append({"level": "warning", "reasons": [NOTHING_CARRIED]})
    return Examined(world.value, targets, facts, own, findings, bindings.backend, bindings.event)


def _models(plan: Plan) -> dict[str, Any]:
    """What stands for each storage name."""
    models: dict[str, str] = {}
    for run in plan.runs:
        for name, storage in run.storage.items():
            node = storage.model_dump(exclude_none=True, by_alias=True).get("model")
            if node:
                models[name] = _stack(node)
    return {"model": ", ".join(dict.fromkeys(models.values()))}


def _stack(node: Mapping[str, Any]) -> str:
    """A stack in words: `raid10 of 6 sas-15k-146gb`."""
    ((kind, inner),) = node.items()
    if "of" not in inner:
        return str(inner["profile"])
    members = f"{inner['members']} " if "members" in inner else ""
    return f"{kind} of {members}{_stack(inner['of'])}"


def _check_servers(plan: Plan, bindings: Bindings) -> None:
    named = list(dict.fromkeys(engine for run in plan.runs for engine in run.engines or {}))
    for name in bindings.server:
        if name not in named:
            accepted = [f"{engine}=PRODUCT" for engine in named] or ["nothing: it names no engine"]
            raise BadInput(
                "the study names no such engine", where="--server", found=name, accepted=accepted
            )


def _check_events(plan: Plan, bindings: Bindings) -> None:
    happening = {name: event for run in plan.runs for name, event in (run.events or {}).items()}
    for name, event in happening.items():
        if event.command is not None:
            raise BadInput(
                "no study names a command: it may come from somebody else",
                key=f"event.{name}.command",
                found=" ".join(event.command),
                hint=f"Say what happens (fail, replace …), and bind it: --event {name}=COMMAND",
            )
    named = list(happening)
    for name in bindings.event:
        if name not in named:
            accepted = [f"{event}=COMMAND" for event in named] or ["nothing: it names no event"]
            raise BadInput(
                "the study names no such event", where="--event", found=name, accepted=accepted
            )


def _not_bound(missing: Mapping[str, None], bindings: Bindings) -> dict[str, None]:
    """What no world does itself, without the events that a command of the user's makes happen."""
    left: dict[str, None] = {}
    for sentence in missing:
        key = sentence.partition(":")[0]
        name = key.removeprefix("event.")
        if key == name:
            left[sentence] = None
        elif name not in bindings.event:
            left[f"{key}: bind a command to it, --event {name}=COMMAND"] = None
    return left


def _targets(plan: Plan, bindings: Bindings) -> dict[str, guard.TargetPlan]:
    needed = plan.storage_bytes
    unknown = [name for name in bindings.storage if name not in needed]
    if unknown:
        accepted = [f"{name}=PATH" for name in needed]
        raise BadInput(
            "no run of the study uses this storage",
            where="--on",
            found=unknown[0],
            accepted=accepted,
        )
    unbound = [name for name in needed if name not in bindings.storage]
    if unbound:
        accepted = [f"--on {name}=PATH" for name in unbound]
        raise BadInput(
            "a measured run needs a real place for each storage",
            where="--on",
            found="nothing",
            accepted=accepted,
        )
    wanted = {name: (bindings.storage[name], size) for name, size in needed.items()}
    targets = guard.check_targets(wanted, bindings.destroy)
    guard.refuse_unused(bindings.destroy, targets.values())
    return targets


def _measured_identity(
    machine: Mapping[str, Any], targets: Mapping[str, guard.TargetPlan]
) -> dict[str, Any]:
    paths = {name: target.lasting_name for name, target in targets.items()}
    return {"core": _core.core_hash(), "machine": identity(dict(machine)), "targets": paths}


def _shared_disks(targets: Mapping[str, guard.TargetPlan]) -> list[dict[str, Any]]:
    by_disk: dict[str, list[str]] = {}
    for name, target in targets.items():
        disk = diskstats_name(target.path)
        if disk:
            by_disk.setdefault(disk, []).append(name)
    return [
        {
            "level": "invalid",
            "reasons": [f"the storages {' and '.join(names)} are one physical disk ({disk})"],
        }
        for disk, names in by_disk.items()
        if len(names) > 1
    ]
