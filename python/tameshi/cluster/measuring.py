"""Worker side of a fleet: examines its host, and measures one run at a time on it.

The host's own guard decides, with the permission that the worker was started with. A message names
paths and runs; it carries no names to destroy, no commands and no server.
"""

from __future__ import annotations

import json
import sys
import time
import zlib
from collections.abc import Mapping
from typing import Any

from tameshi import guard
from tameshi.cluster import permission, remote
from tameshi.core.errors import GuardRefusal, TameshiError
from tameshi.core.spec_types import Plan, RunSpec, World
from tameshi.record import store
from tameshi.record.seal import OUTCOME
from tameshi.record.transfer import packed
from tameshi.run.dispatcher import Session, run_one
from tameshi.run.preflight import Examined
from tameshi.run.preflight import examine as examine_here
from tameshi.run.tasks import Task

HOST = "host"
"""Axis of a study that is measured on a fleet."""
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
        examined, _ = _examined(asked)
    except TameshiError as error:
        return _refused(str(error))
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
        examined, plan = _examined(asked)
    except TameshiError as error:
        return _refused(str(error))
    cell = {axis: level for axis, level in spec.cell.items() if axis != HOST}
    if spec.model_copy(update={"cell": cell}) not in plan.runs:
        return _refused("the run is none of the plan that this host has examined")
    if store.identity(spec, examined.identity) != identity:
        return _refused("the host is no longer as it was examined")
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


def clean(batch: bytes) -> dict[str, Any]:
    """Remove what was made for storages on this host; return why it stays, if it is `refused`."""
    asked = json.loads(zlib.decompress(batch))
    try:
        examined, _ = _examined(asked)
        for target in examined.targets.values():
            if isinstance(target, guard.DirectoryPlan):
                target.remove()
            elif target.ours and target.path.exists():
                guard.remove_target(target.path)
        for place in examined.databases.values():
            place.remove()
    except TameshiError as error:
        return _refused(str(error))
    return {}


def _refused(why: str) -> dict[str, Any]:
    """Return a refusal, and print it for the operator of this host."""
    print(f"refused: {why}", file=sys.stderr, flush=True)
    return {"refused": why}


def _examined(asked: Mapping[str, Any]) -> tuple[Examined, Plan]:
    """Examine this host by its own guard; return its findings and the plan.

    Raises `TameshiError` for what goes beyond the worker's permission.
    """
    own = remote.described()
    if own != asked["needs"]:
        raise TameshiError(f"this worker has another Tameshi: {own['version']}")
    bindings = permission.bindings_within(asked["storage"])
    plan = Plan.model_validate_json(asked["plan"])
    _refuse_servers(plan)
    examined = examine_here(plan, World.measured, bindings)
    permission.require_within(examined.paths())
    return examined, plan


def _refuse_servers(plan: Plan) -> None:
    """Refuse a server that runs already, and options beyond those that Tameshi sets.

    A permission names paths, and an option of a server may name files and commands.
    """
    for run in plan.runs:
        for name, engine in (run.engines or {}).items():
            for key, given in (("dsn", engine.dsn), ("options", ", ".join(engine.options or {}))):
                if given:
                    raise GuardRefusal(
                        "no worker's permission covers this",
                        key=f"engine.{name}.{key}",
                        found=given,
                        hint="Measure it by a command on the host itself.",
                    )
