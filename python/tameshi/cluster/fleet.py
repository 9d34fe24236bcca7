"""Fleet: measured runs on hosts that are named, at most one at a time on each.

Each host has a worker that its own user started with a permission (`tameshi worker`). The host
examines itself; the collector stores the records that come back. Hosts measure side by side.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tameshi.cluster import measuring, remote
from tameshi.cluster.fleet_runs import FleetRuns
from tameshi.core.errors import BadInput
from tameshi.core.spec_types import Plan, World
from tameshi.run.dispatcher import Session
from tameshi.run.preflight import Examined
from tameshi.run.tasks import Task

WAIT_S = 30.0
"""Time in which the workers of all hosts must be there."""
POLL_S = 0.25
ANSWER_S = 300.0
"""Time in which a host must answer an examination; a run of another command may take that long."""


@dataclass
class Fleet:
    """Hosts of a cluster: address of the worker of each, and the storages that are bound there."""

    client: Any
    storage: Mapping[str, Mapping[str, str]]
    """Paths by host and storage."""
    plan: Plan | None = None
    places: dict[str, str] = field(default_factory=dict)
    """Address of the worker of each host that is there."""
    name: str = field(default_factory=lambda: f"tameshi-{uuid.uuid4().hex[:12]}")

    def __post_init__(self) -> None:
        self.needs = remote.described()
        self._find()

    def _find(self) -> None:
        """Wait for the worker of each host; raise `BadInput` without."""
        until_s = time.monotonic() + WAIT_S
        while missing := self.refresh():
            if time.monotonic() > until_s:
                raise BadInput(
                    "no worker measures on this host",
                    where="--on",
                    found=", ".join(missing),
                    accepted=sorted(self._there()) or ["a host whose worker is connected"],
                    hint="Start it there: tameshi worker ADDRESS --host NAME --allow PATH.",
                )
            time.sleep(POLL_S)

    def _there(self) -> dict[str, str]:
        """Return the address of each host's worker that is connected now."""
        workers = self.client.scheduler_info()["workers"]
        return {
            str(worker["name"]): address
            for address, worker in workers.items()
            if worker["resources"].get(measuring.RESOURCE)
        }

    def refresh(self) -> list[str]:
        """Look which hosts are there; return those that are not."""
        there = self._there()
        self.places = {host: there[host] for host in self.storage if host in there}
        return [host for host in self.storage if host not in there]

    def request(self, host: str, **more: Any) -> bytes:
        """Return a request to a host about the plan that it has examined."""
        assert self.plan
        return measuring.request(self.needs, self.plan, self.storage[host], **more)

    def examine(self, plan: Plan) -> tuple[dict[str, Examined], list[str]]:
        """Let every host examine itself; return the findings by host, and lines to announce.

        Raises `BadInput` for a host that refuses, or does not answer.
        """
        self.plan = plan
        found: dict[str, Examined] = {}
        lines = []
        for host, answer in self._ask_all(measuring.examine).items():
            if "refused" in answer:
                message = f"host {host} refuses to measure"
                raise BadInput(message, where="--on", found=answer["refused"])
            facts = answer["environment"], answer["identity"], answer["findings"]
            found[host] = Examined(World.measured.value, {}, *facts)
            lines += [f"{host}: {line}" for line in answer["lines"]]
        return found, lines

    def _ask_all(self, work: Any) -> dict[str, dict[str, Any]]:
        """Return the answer of every host; one that fails is `refused`."""
        asked = {
            host: self.client.submit(work, self.request(host), workers=[address], pure=False)
            for host, address in self.places.items()
        }
        found: dict[str, dict[str, Any]] = {}
        for host, future in asked.items():
            try:
                found[host] = future.result(timeout=ANSWER_S)
            except Exception as error:
                # The host is gone, measures for another command, or has no Tameshi.
                found[host] = {"refused": f"no answer: {type(error).__name__}: {error}"}
                future.cancel()
        return found

    def run(self, session: Session, tasks: Sequence[Task]) -> None:
        """Make the runs of each host in order, and store their records."""
        FleetRuns(self, session, tasks).work()

    def clean(self) -> list[str]:
        """Remove what was made for storages on all hosts; return why some keep their files."""
        missing = self.refresh()
        kept = [f"host {host} is gone, and keeps the files of its storages" for host in missing]
        for host, answer in self._ask_all(measuring.clean).items():
            if "refused" in answer:
                kept.append(f"host {host} keeps the files of its storages: {answer['refused']}")
        return kept
