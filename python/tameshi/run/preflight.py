"""Preflight: check whether this machine can run these specs, before anything is created."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core import compiled
from tameshi.core.environment import diskstats_name, environment, identity
from tameshi.core.errors import BadInput, StudyError
from tameshi.core.reasons import distinct, reason, verdict
from tameshi.core.spec_types import FileCall, Plan, RunSpec, Start, World
from tameshi.run.sectors import refuse_partial_sectors
from tameshi.run.served_storages import check_served
from tameshi.run.standby_plan import check_standby
from tameshi.serve.nodes import described
from tameshi.servers import slow_clock
from tameshi.servers.placement import (
    ROLES,
    Place,
    Serving,
    connections_of,
    data_of,
    place_of,
    refuse_roles,
    roles_of,
    serving_of,
    volume_bytes,
)
from tameshi.study import least
from tameshi.study.bindings import Bindings
from tameshi.study.file import refusals
from tameshi.study.spec_texts import one_of_each

IN_DIRECTORY = {FileCall.create, FileCall.stat, FileCall.delete}
"""File system calls of streams whose storage is a directory."""


@dataclass(frozen=True)
class Examined:
    """Resources of one world's runs on this machine."""

    world: str
    targets: Mapping[str, guard.TargetPlan | guard.DirectoryPlan]
    environment: Mapping[str, Any]
    identity: Mapping[str, Any]
    """Part of the environment that distinguishes runs."""
    findings: Sequence[Mapping[str, Any]] = field(default_factory=list)
    """Verdicts on the comparison itself, such as two storages on one disk."""
    backend: str = "auto"
    """I/O backend."""
    events: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Commands of the user, by the event that each causes."""
    databases: Mapping[str, Place] = field(default_factory=dict)
    """Places of databases, by storage."""
    servers: Mapping[str, Serving] = field(default_factory=dict)
    """Server of each engine; the settings are those of one of its runs."""
    watched: Mapping[str, Path] = field(default_factory=dict)
    """Data places of the user's own servers, which are only sampled."""
    slow: float = 1
    """Slow motion of the runs."""
    plan: Plan | None = None
    """Plan of an emulated world: places are found for each run, on its drives."""
    stores: Mapping[str, Path] = field(default_factory=dict)
    """Directories of the data of served drives, by storage; data of others are in memory."""

    def findings_on(self, run: RunSpec) -> list[Mapping[str, Any]]:
        """Return verdicts on a run before it starts: on the comparison and on its settings."""
        found = [*self.findings, *least.findings(run)]
        if run.world is World.simulated and run.database and run.database.standby:
            found.append(verdict("warning", reason("standby_as_mirror")))
        if run.database and (serving := self.servers.get(run.database.engine)):
            found += serving.findings((run.engines or {})[run.database.engine])
        return found

    def devices(self) -> list[str]:
        """Return the names of the targets' disks in /proc/diskstats."""
        names = (diskstats_name(path) for path in (*self.paths(), *self.watched.values()))
        return sorted({name for name in names if name})

    def paths(self) -> list[Path]:
        """Return the paths that runs write to."""
        places = [place.folder for place in self.databases.values()]
        return [*(target.path for target in self.targets.values()), *places]


def examine(plan: Plan, world: World, bindings: Bindings) -> Examined:
    """Examine one world's plan; raises `BadInput` or `GuardRefusal`, and creates nothing."""
    plan = one_of_each(plan)
    _check_servers(plan, bindings)
    _check_events(plan, bindings)
    if refused := refusals(plan):
        raise StudyError("\n".join(each.text for each in refused), refused[0].fields)
    if world is World.simulated:
        core = {"core": compiled.core_hash()}
        return Examined(world.value, {}, {"world": world.value, **core, **_models(plan)}, core)
    servers = _servers(plan, bindings)
    if world is World.emulated:
        return _examine_emulated(plan, bindings, servers)
    places = _places(plan, bindings, servers)
    _check_crashes(plan, bindings, servers, places)
    elsewhere = _elsewhere(plan)
    watched = _watched(elsewhere, bindings)
    targets = _targets(plan, bindings, places, elsewhere)
    paths = {name: target.path for name, target in targets.items()}
    refuse_partial_sectors(plan, paths)
    paths |= {name: place.folder for name, place in places.items()} | watched
    machine = environment(list(paths.values()))
    facts = {"world": world.value, "core": compiled.core_hash(), **machine}
    own = _measured_identity(machine, targets, places)
    findings = [*_shared_disks(paths), *_cautions(servers)]
    if servers:
        facts["servers"] = {name: serving.as_json() for name, serving in servers.items()}
        own["servers"] = facts["servers"]
    if bindings.backend != "auto":
        own["backend"] = bindings.backend
    if bindings.event:
        own["events"] = {name: list(command) for name, command in bindings.event.items()}
    if bindings.backend == "null":
        findings.append(verdict("warning", reason("null_backend")))
    return Examined(
        *(world.value, targets, facts, own, findings, bindings.backend, bindings.event),
        databases=places,
        servers=servers,
        watched=watched,
    )


def _examine_emulated(plan: Plan, bindings: Bindings, servers: Mapping[str, Serving]) -> Examined:
    """Examine an emulated world's plan: the machine, the servers, and what can be served here."""
    _refuse_unknown(plan, bindings, "DIRECTORY")
    stores = {name: Path(os.path.realpath(path)) for name, path in bindings.storage.items()}
    check_served(plan, [name for name, serving in servers.items() if serving.running], stores)
    _check_crashes(plan, bindings, servers, None)
    for run in plan.runs:
        if run.database:
            serving = servers[run.database.engine]
            check_standby(run, serving.product.name, serving.program, bindings.slow or 1)
    machine = environment([])
    own: dict[str, Any] = {"core": compiled.core_hash(), "machine": identity(dict(machine))}
    facts = {"world": plan.runs[0].world.value, "core": own["core"], **machine, **_models(plan)}
    if servers:
        own["servers"] = {name: serving.as_json() for name, serving in servers.items()}
        facts["servers"] = own["servers"]
    if bindings.backend != "auto":
        own["backend"] = bindings.backend
    if stores:
        facts["stores"] = own["stores"] = sorted(stores)
    slow = bindings.slow or 1
    if slow != 1:
        facts["slow"] = own["slow"] = slow
        if any(not serving.product.embedded for serving in servers.values()):
            slow_clock.require_library()
    return Examined(
        *(World.emulated.value, {}, facts, own, _cautions(servers), bindings.backend),
        servers=servers,
        slow=slow,
        plan=plan,
        stores=stores,
    )


def placed(
    run: RunSpec, examined: Examined, storage: Mapping[str, Path], ours: Sequence[str]
) -> Examined:
    """Find the places of an emulated run on its drives, whose devices are named `ours`."""
    assert examined.plan
    sizes = {name: compiled.size_bytes(run.storage[name].size) for name in run.storage}
    plan = examined.plan.model_copy(update={"runs": [run], "storage_bytes": sizes})
    bindings = Bindings(dict(storage), destroy=tuple(ours))
    places = _places(plan, bindings, examined.servers)
    targets = _targets(plan, bindings, places, set())
    return replace(examined, targets=targets, databases=places)


def _servers(plan: Plan, bindings: Bindings) -> dict[str, Serving]:
    """Return the server of each engine; check all settings of all runs."""
    found: dict[str, Serving] = {}
    for run in plan.runs:
        if run.database:
            data_of(run.phases)
            name = run.database.engine
            serving = serving_of(name, (run.engines or {})[name], bindings.server)
            refuse_roles(serving, run.database)
            serving.require_connections(connections_of(run.phases))
            if name not in found or serving.pool_asked:
                found[name] = serving
            if serving.running and run.start is not Start.as_is:
                raise BadInput(
                    "a server that runs already is loaded as it is: it is never restarted, and its "
                    "caches are neither dropped nor filled",
                    key="run.start",
                    found=run.start.value,
                    accepted=[Start.as_is.value],
                )
    return found


def _check_crashes(
    plan: Plan,
    bindings: Bindings,
    servers: Mapping[str, Serving],
    places: Mapping[str, Place] | None,
) -> None:
    """Check whether this machine can kill servers and cut power as the study asks.

    `places` None: each storage is a served drive.
    """
    for run in plan.runs:
        for name, event in (run.events or {}).items():
            if run.database is None or name in bindings.event:
                continue
            if _dsn_of(run):
                raise BadInput(
                    "a server of your own is neither killed nor cut off its power",
                    key=f"event.{name}",
                    hint=f"Bind a command of yours: --event {name}=COMMAND, or leave the dsn out.",
                )
            product = servers[run.database.engine].product
            if event.kill is not None and product.embedded:
                raise BadInput(
                    f"{product.title} lives in its client: there is no server to kill",
                    key=f"event.{name}.kill",
                    accepted=["power_cut", "a product with a server"],
                )
            if event.power_cut is None or places is None:
                continue
            if event.power_cut.storage not in (None, run.database.storage):
                raise BadInput(
                    "power is cut under the storage of the run's database",
                    key=f"event.{name}.power_cut.storage",
                    found=event.power_cut.storage,
                    accepted=[run.database.storage],
                )
            if apart := [role for role in ROLES if roles_of(run.database).get(role)]:
                raise BadInput(
                    "power is cut under one storage, and the database has files on others",
                    key=f"event.{name}.power_cut",
                    found=", ".join(f"use.{role}" for role in apart),
                    hint="Keep all files on one storage, simulate it, or bind a command: "
                    f"--event {name}=COMMAND",
                )
            place = places[run.database.storage]
            guard.check_volume(place.volume, volume_bytes(place.size_bytes))


def _cautions(servers: Mapping[str, Serving]) -> list[dict[str, Any]]:
    """Return the cautions with which every report on these servers starts."""
    found = []
    for serving in servers.values():
        product = serving.product.title
        if serving.replaced:
            named = f"{product} {serving.program.version}"
            found.append(reason("replaced_engine", product=named, engine=serving.replaced))
        if not serving.product.tested:
            found.append(reason("untested_product", product=product))
    return [verdict("warning", each) for each in distinct(found)]


def _places(plan: Plan, bindings: Bindings, servers: Mapping[str, Serving]) -> dict[str, Place]:
    """Return the places of the databases of each storage."""
    needed: dict[str, int] = {}
    for run in plan.runs:
        if run.database and not _dsn_of(run):
            for name in (run.database.storage, *roles_of(run.database).values()):
                size_bytes = compiled.size_bytes(run.storage[name].size)
                needed[name] = max(needed.get(name, 0), size_bytes)
    _refuse_unbound(plan, bindings, _elsewhere(plan))
    serving = [one for one in servers.values() if not one.running]
    return {
        name: place_of(name, bindings.storage[name], size_bytes, bindings.destroy, serving)
        for name, size_bytes in needed.items()
    }


def _dsn_of(run: RunSpec) -> str | None:
    """Return the connection string of a run on a server of the user; None without one."""
    return (run.engines or {})[run.database.engine].dsn if run.database else None


def _elsewhere(plan: Plan) -> set[str]:
    """Return storages used only by the user's own servers: nothing is created there."""
    where = {True: set[str](), False: set[str]()}
    for run in plan.runs:
        where[_dsn_of(run) is not None] |= set(run.storage)
    return where[True] - where[False]


def _watched(elsewhere: set[str], bindings: Bindings) -> dict[str, Path]:
    """Return the data place of the user's server, whose disk is sampled."""
    found = {}
    for name in sorted(elsewhere & set(bindings.storage)):
        path = bindings.storage[name]
        if not path.exists():
            message = "there is nothing whose disk could be sampled"
            raise BadInput(message, where="--on", key=name, found=str(path))
        found[name] = path
    return found


def _models(plan: Plan) -> dict[str, Any]:
    """Return the models of the storages, in any cell."""
    storages = (storage for run in plan.runs for storage in run.storage.values())
    nodes = (each.model_dump(exclude_none=True, by_alias=True).get("model") for each in storages)
    return {"model": ", ".join(dict.fromkeys(described(node) for node in nodes if node))}


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


def _refuse_unknown(plan: Plan, bindings: Bindings, place: str) -> None:
    needed = plan.storage_bytes
    unknown = [name for name in bindings.storage if name not in needed]
    if unknown:
        accepted = [f"{name}={place}" for name in needed]
        raise BadInput(
            "no run of the study uses this storage",
            where="--on",
            found=unknown[0],
            accepted=accepted,
        )


def _refuse_unbound(plan: Plan, bindings: Bindings, elsewhere: set[str]) -> None:
    needed = plan.storage_bytes
    _refuse_unknown(plan, bindings, "PATH")
    unbound = [name for name in needed if name not in bindings.storage and name not in elsewhere]
    if unbound:
        accepted = [f"--on {name}=PATH" for name in unbound]
        raise BadInput(
            "a measured run needs a real place for each storage",
            where="--on",
            found="nothing",
            accepted=accepted,
        )


def _targets(
    plan: Plan, bindings: Bindings, places: Mapping[str, Place], elsewhere: set[str]
) -> dict[str, guard.TargetPlan | guard.DirectoryPlan]:
    """Return the targets of streams, and the directories of streams of file calls."""
    used = {name for run in plan.runs if not run.database for name in run.storage}
    wanted = {
        name: (bindings.storage[name], size)
        for name, size in plan.storage_bytes.items()
        if name in used or name not in places.keys() | elsewhere
    }
    filled = {
        name: guard.check_data_directory(*wanted.pop(name), bindings.destroy)
        for name in sorted(_directories(plan) & wanted.keys())
    }
    targets = guard.check_targets(wanted, bindings.destroy, sparse=_sparse(plan))
    directories = [*(place.plan for place in places.values()), *filled.values()]
    left = [name for name in bindings.destroy if not any(d.named_by([name]) for d in directories)]
    if not bindings.may_spare:
        guard.refuse_unused(left, targets.values())
    return {**targets, **filled}


def _sparse(plan: Plan) -> set[str]:
    """Return storages that no run writes before it starts."""
    found = {True: set[str](), False: set[str]()}
    for run in plan.runs:
        for name, storage in run.storage.items():
            found[bool(storage.sparse)].add(name)
    return found[True] - found[False]


def _directories(plan: Plan) -> set[str]:
    """Return storages that streams use as directories."""
    streams = [s for run in plan.runs for phase in run.phases for s in phase.streams]
    return {s.storage for s in streams if s.stream.call in IN_DIRECTORY}


def _measured_identity(
    machine: Mapping[str, Any],
    targets: Mapping[str, guard.TargetPlan | guard.DirectoryPlan],
    places: Mapping[str, Place],
) -> dict[str, Any]:
    paths = {name: target.lasting_name for name, target in targets.items()}
    paths |= {name: str(place.directory) for name, place in places.items()}
    return {"core": compiled.core_hash(), "machine": identity(dict(machine)), "targets": paths}


def _shared_disks(paths: Mapping[str, Path]) -> list[dict[str, Any]]:
    by_disk: dict[str, list[str]] = {}
    for name, path in paths.items():
        disk = diskstats_name(path)
        if disk:
            by_disk.setdefault(disk, []).append(name)
    return [
        verdict("invalid", reason("shared_disk", names=names, disk=disk))
        for disk, names in by_disk.items()
        if len(names) > 1
    ]
