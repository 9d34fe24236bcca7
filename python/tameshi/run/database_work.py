"""Work of a worker on a database: programs, and loading of their data sets."""

from __future__ import annotations

import os
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tameshi.core.clock import WALL, Clock
from tameshi.core.compiled import Oltp, database_target
from tameshi.core.reasons import reason, verdict
from tameshi.core.spec_types import Protocol, Replication, RunSpec
from tameshi.record.events import append_event
from tameshi.run.stream_work import Say

JOURNAL = "journal"
"""Folder of the clients' journals in a run folder, if a ledger is kept."""


class DatabaseWork:
    """Programs on a database that the dispatcher has started, with a loaded data set."""

    def __init__(
        self, spec: RunSpec, folder: Path, database: Mapping[str, Any], clock: Clock
    ) -> None:
        self._clock = clock
        self._folder = folder
        self._checks = "tpcc" in words_of(spec) or database["ledger"]
        self._may_lose = may_lose(spec)
        self._ran = False
        self._t0_ns = 0
        self._settled = threading.Event()
        if not database["crashes"]:
            self._settled.set()
        if database["ledger"]:
            (folder / JOURNAL).mkdir(exist_ok=True)
        ledger = folder / JOURNAL if database["ledger"] else None
        self._oltp = Oltp(oltp_spec(spec, database["address"], ledger, clock))

    def prepare(self) -> dict[str, Any]:
        """Do nothing: a look at the data would warm caches that must be cold."""
        return {}

    def measure(self, t0_ns: int, backend: str) -> dict[str, Any]:
        """Run all phases of the spec."""
        self._t0_ns = t0_ns
        done = self._oltp.execute(self._folder, t0_ns)
        self._ran = done["status"] == "complete"
        return done

    def finish(self) -> dict[str, Any]:
        """Check the conditions of consistency and the ledger, if there is one."""
        self._settled.wait()
        if not (self._ran and self._checks):
            return {}
        check = self._oltp.check(fresh=False)
        now_ns = self._clock.now_ns() - self._t0_ns
        note_check(self._folder, now_ns, check, may_lose=self._may_lose)
        return {"checked": check["holds"]}

    def progress(self) -> dict[str, Any]:
        """Return the driver's progress."""
        return self._oltp.progress()

    def apply_fault(self, word: str) -> None:
        """Apply a server fault reported by the dispatcher."""
        match word:
            case "power_cut":
                self._oltp.fail_power()
            case "back":
                self._oltp.restore_power()
            case "settled":
                self._settled.set()
            case "gone":
                self.stop()

    def stop(self) -> None:
        """Stop clients after their current transactions."""
        self._oltp.stop()
        self._settled.set()


class LoadWork:
    """Load of the data sets of a run's programs, with a check of completeness."""

    def __init__(self, spec: RunSpec, folder: Path, database: Mapping[str, Any], say: Say) -> None:
        self._say = say
        self._stopped = False
        first, specs = loads_of(spec, folder, database["address"])
        self._words = list(first)
        self._loads = [Oltp(one) for one in specs]
        self._specs = specs

    def prepare(self) -> dict[str, Any]:
        """Load, and check TPC-C's conditions."""
        holds = True
        checks: dict[str, Any] = {}
        for word, load, spec in zip(self._words, self._loads, self._specs, strict=True):
            if self._stopped:
                return {"status": "stopped"}
            load.load()
            if word == "tpcc":
                checks = Oltp(spec | {"ledger": None}).check(fresh=True)
                holds = holds and checks["holds"]
        self._say("loaded", holds=holds, conditions=checks.get("conditions", []))
        return {"status": "loaded"}

    def measure(self, t0_ns: int, backend: str) -> dict[str, Any]:
        """Do nothing."""
        return {"status": "loaded"}

    def finish(self) -> dict[str, Any]:
        """Do nothing."""
        return {}

    def progress(self) -> dict[str, Any]:
        """Return the rows so far."""
        return {"rows": sum(load.loaded() for load in self._loads)}

    def apply_fault(self, word: str) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Continue: loading runs to its end, unless the dispatcher kills the worker."""
        self._stopped = True


def loads_of(
    spec: RunSpec, folder: Path, address: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    """Return the programs of a run, each once by name, with their loads, in this order."""
    first: dict[str, dict[str, Any]] = {}
    for phase in spec.phases:
        for program in phase.programs or ():
            made = program.model_dump(mode="json", exclude_none=True)
            first.setdefault(next(iter(made)), made)
    # The first of them makes the ledger's table.
    ledgers = [folder / JOURNAL, *[None] * len(first)]
    specs = [
        oltp_spec(spec, address, ledger) | {"program": program, "phases": []}
        for program, ledger in zip(first.values(), ledgers, strict=False)
    ]
    return first, specs


def words_of(spec: RunSpec) -> list[str]:
    """Return the programs of a run, each once."""
    programs = (p for phase in spec.phases for p in phase.programs or ())
    return list(dict.fromkeys(next(iter(p.model_dump(mode="json"))) for p in programs))


def oltp_spec(
    spec: RunSpec, address: Mapping[str, Any], ledger: Path | None, clock: Clock = WALL
) -> dict[str, Any]:
    """Return a run's spec as the database driver reads it."""
    assert spec.database
    phases = []
    for phase in spec.phases:
        assert phase.until.time
        (program,) = phase.programs or []
        phases.append(
            {
                "name": phase.name,
                "program": program.model_dump(mode="json", exclude_none=True),
                "ramp": phase.ramp,
                "time": phase.until.time.root,
            }
        )
    return {
        "target": _database(address),
        "program": phases[0]["program"],
        "data_seed": spec.database.seed,
        "seed": spec.seed,
        "interval": spec.interval,
        "phases": phases,
        "ledger": {"journal": str(ledger)} if ledger else None,
        "loaders": address.get("loaders", 2),
        "slow": clock.slow,
        "own_session": address.get("own_session", []),
    }


def _database(address: Mapping[str, Any]) -> dict[str, Any]:
    """Return the database with its password from the environment: no command line shows it."""
    ((product, where),) = database_target(address).items()
    secret = os.environ.get(address.get("secret_in", ""), "")
    return {product: {**where, **({"password": secret} if secret else {})}}


def may_lose(spec: RunSpec) -> bool:
    """Return whether a failover may lose acknowledged commits: they wait for no other side."""
    if spec.database is None or not any(e.failover for e in (spec.events or {}).values()):
        return False
    if spec.database.standby:
        return spec.database.standby.replication is Replication.asynchronous
    model = spec.storage[spec.database.storage].model
    node = model.model_dump(mode="json", by_alias=True) if model else {}
    return (node.get("replica") or {}).get("protocol") == Protocol.asynchronous.value


def note_check(
    folder: Path, t_ns: int, check: Mapping[str, Any], *, may_lose: bool = False
) -> None:
    """Record a check as an event, and violations as findings.

    `may_lose`: lost commits are a warning, since the settings allow them.
    """
    append_event(folder, t_ns, "check", **check)
    broken = [c for c in check["conditions"] if c["broken"]]
    ledger = check.get("ledger") or {}
    found = [reason("inconsistent", number=c["number"], rows=c["broken"]) for c in broken]
    found += [
        reason(f"commits_{key}", count=ledger[key])
        for key in ("twice", "phantom")
        if ledger.get(key)
    ]
    lost = [reason("commits_lost", count=ledger["lost"])] if ledger.get("lost") else []
    if may_lose and lost:
        append_event(folder, t_ns, "finding", **verdict("warning", *lost))
        lost = []
    if found + lost:
        append_event(folder, t_ns, "finding", **verdict("invalid", *found, *lost))
