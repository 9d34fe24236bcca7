"""Storages of a run as served drives: plans and checks, before anything is created."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Plan, RunSpec, Verify
from tameshi.serve.nodes import described, profile_of
from tameshi.serve.plans import LEAST_BYTES, ServePlan, check_plan, default_memory
from tameshi.serve.stores import store_limit
from tameshi.servers.placement import roles_of, volume_bytes

FILE_SYSTEM = "xfs"
IN_MEMORY: Mapping[str, Path] = MappingProxyType({})
"""Directories of data, by storage: none."""


def serve_plan(run: RunSpec, name: str, stores: Mapping[str, Path] = IN_MEMORY) -> ServePlan:
    """Return how a storage of a run is served: with a file system if files are used on it.

    `stores`: directories of the data that are not in memory, by storage.
    """
    storage = run.storage[name]
    assert storage.model
    node = storage.model.model_dump(mode="json", by_alias=True, exclude_none=True)
    size_bytes = compiled.size_bytes(storage.size)
    with_files = name in _with_files(run)
    served_bytes = max(volume_bytes(size_bytes), LEAST_BYTES) if with_files else size_bytes
    store = stores.get(name)
    standbys = int(bool(run.database and run.database.standby))
    if store:
        limit_bytes = store_limit(store, served_bytes, "--on") // (len(stores) + standbys)
    else:
        limit_bytes = default_memory() // (len(run.storage) + standbys)
    return ServePlan(
        profile=profile_of(node),
        description=described(node),
        node=node,
        capacity_bytes=size_bytes,
        size_bytes=served_bytes,
        limit_bytes=limit_bytes,
        store=store,
        seed=run.seed,
        lies=("flush",) if storage.ignores_flush else (),
        file_system=FILE_SYSTEM if with_files else None,
        storage=name,
        fails=name in failing(run),
        forgets=_forgets(run, name),
    )


def _forgets(run: RunSpec, name: str) -> bool:
    """Return whether what is written to a storage is never looked at."""
    return name not in _with_files(run) and not verifies(run, name)


def _with_files(run: RunSpec) -> set[str]:
    """Return the storages on which a database or file calls need a file system."""
    found = {
        stream.storage
        for phase in run.phases
        for stream in phase.streams
        if stream.stream.call is not None
    }
    if run.database:
        found |= {run.database.storage, *roles_of(run.database).values()}
    return found


def failing(run: RunSpec) -> set[str]:
    """Return the storages with members that fail."""
    events = (run.events or {}).values()
    return {event.fail.storage for event in events if event.fail and event.fail.storage}


def verifies(run: RunSpec, name: str) -> bool:
    """Return whether a stream checks what it reads from a storage."""
    streams = [s for phase in run.phases for s in phase.streams if s.storage == name]
    return any((s.stream.verify or Verify.off) is not Verify.off for s in streams)


def check_served(plan: Plan, running: Sequence[str], stores: Mapping[str, Path]) -> None:
    """Raise `BadInput` for what this machine cannot serve; `running`: engines with a dsn.

    `stores`: directories of the data that are not in memory, by storage.
    """
    if running:
        raise BadInput(
            "a server that runs already is on no emulated drive",
            key=f"engine.{running[0]}.dsn",
            hint="Leave the dsn out, and Tameshi starts a private server, or measure.",
        )
    seen: set[tuple[str, int, bool]] = set()
    for run in plan.runs:
        for name in run.storage:
            if name in stores and _forgets(run, name):
                raise BadInput(
                    "this storage keeps no data: its streams do not verify what they read",
                    where="--on",
                    found=name,
                    hint="Leave the option out.",
                )
            served = serve_plan(run, name, stores)
            key = name, served.size_bytes, served.file_system is not None
            if key not in seen:
                seen.add(key)
                check_plan(served)
