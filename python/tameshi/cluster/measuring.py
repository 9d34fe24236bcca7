"""Worker side of a fleet: examines its host, and measures one run at a time on it.

The host's own guard decides, with the permission that the worker was started with. A message names
paths and runs; it carries no names to destroy, no commands and no server.
"""

from __future__ import annotations

import json
import time
import zlib
from collections.abc import Mapping
from typing import Any

from tameshi import guard
from tameshi.cluster import permission, remote
from tameshi.core.errors import TameshiError
from tameshi.core.spec_types import Plan, RunSpec, World
from tameshi.record import store
from tameshi.record.seal import OUTCOME
from tameshi.record.transfer import packed
from tameshi.run.dispatcher import Session, Task, run_one
from tameshi.run.preflight import Examined
from tameshi.run.preflight import examine as examine_here

RESOURCE = "tameshi-measure"
"""Resource of Dask: a worker has one, and a measured run takes it."""
LEVEL = 1


def request(needs: Mapping[str, Any], plan: Plan, storage: Mapping[str, str], **more: Any) -> bytes:
    """Return a request as bytes: the plan that is examined, and paths by storage."""
    asked = {"needs": needs, "plan": plan.model_dump_json(by_alias=True), "storage": dict(storage)}
    return zlib.compress(json.dumps({**asked, **more}).encode(), LEVEL)


def examine(batch: bytes) -> dict[str, Any]:
    """Examine this host for a plan: `environment`, `identity`, `findings`, `lines` to announce, or
    why it is `refused`."""
    asked = json.loads(zlib.decompress(batch))
    try:
        examined = _examined(asked)
    except TameshiError as error:
        return {"refused": str(error)}
    lines = [line for target in examined.targets.values() for line in target.described()]
    for place in examined.databases.values():
        lines += [f"{place.storage}: {line}" for line in place.plan.described()]
    return {
        "environment": dict(examined.environment),
        "identity": dict(examined.identity),
        "findings": list(examined.findings),
        "lines": lines,
    }


def measure(batch: bytes) -> dict[str, Any]:
    """Make one run here: `files` of its record, or why it is `lost` or `refused`."""
    from distributed import get_worker

    asked = json.loads(zlib.decompress(batch))
    worker = get_worker()
    spec = RunSpec.model_validate_json(asked["spec"])
    identity = asked["identity"]
    try:
        examined = _examined(asked)
    except TameshiError as error:
        return {"refused": str(error)}
    if store.identity(spec, examined.identity) != identity:
        return {"refused": "the host is no longer as it was examined"}
    report = remote.Report(worker, asked["name"])
    report.turn_to(identity)
    begun_s = time.monotonic()
    with remote.scratch(worker) as folder, store.locked_study(folder) as lock:
        session = Session(folder, lock, report, lambda: None, is_scratch=True)
        with remote.registered(asked["name"], session), remote.watched(worker, session):
            run_one(session, Task(identity, spec, examined))
        place = store.run_folder(folder, identity)
        if (place / OUTCOME).exists():
            return {"files": packed(place), "took_s": time.monotonic() - begun_s}
    return {"lost": report.reason or "stopped before it began"}


def clean(batch: bytes) -> None:
    """Remove what was made for storages on this host."""
    asked = json.loads(zlib.decompress(batch))
    examined = _examined(asked)
    for target in examined.targets.values():
        if isinstance(target, guard.DirectoryPlan):
            target.remove()
        elif target.ours and target.path.exists():
            guard.remove_target(target.path)
    for place in examined.databases.values():
        place.remove()


def _examined(asked: Mapping[str, Any]) -> Examined:
    """Examine this host by its own guard; raise `TameshiError`."""
    own = remote.described()
    if own != asked["needs"]:
        raise TameshiError(f"this worker has another Tameshi: {own['version']}")
    bindings = permission.bindings_within(asked["storage"])
    plan = Plan.model_validate_json(asked["plan"])
    return examine_here(plan, World.measured, bindings)
