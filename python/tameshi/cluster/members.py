"""Workers of a cluster: threads of those that make runs, and refusals of others."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from tameshi.cluster import remote

HASH_DIGITS = 12
REMEDY = "install the Tameshi of this machine there"


class Members:
    """Workers of a cluster, as of the last look at them."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self.needs = remote.described()
        """Description that a worker must match to make the same records as this machine."""
        self._all: dict[str, int] = {}
        """Threads of every worker by its address."""
        self.refused: dict[str, str] = {}
        """Reason by the address of each worker that gets no runs."""
        self._checked: set[str] = set()

    @property
    def is_empty(self) -> bool:
        """Return whether no worker is there."""
        return not self._all

    @property
    def usable(self) -> dict[str, int]:
        """Return the threads of each worker that may make runs."""
        refused = self.refused
        return {address: n for address, n in self._all.items() if address not in refused}

    @property
    def threads(self) -> int:
        """Return the number of runs that can be made at the same time."""
        return sum(self.usable.values())

    def refresh(self) -> list[str]:
        """Look at the workers; return a sentence per new refusal."""
        found = self._client.scheduler_info()["workers"]
        self._all = {address: int(worker["nthreads"]) for address, worker in found.items()}
        self._checked &= set(found)
        new = sorted(set(found) - self._checked - set(self.refused))
        return self._check(new) if new else []

    def _check(self, new: Collection[str]) -> list[str]:
        answers = self._client.run(remote.described, workers=list(new), on_error="return")
        lines = []
        for address in new:
            answer = answers.get(address)
            if answer is None or isinstance(answer, OSError):
                continue  # It is gone, or will be asked again.
            self._checked.add(address)
            if isinstance(answer, Exception):
                error = f"{type(answer).__name__}: {answer}"
                lines.append(self.refuse(address, f"Tameshi cannot be loaded there ({error})"))
            elif answer != self.needs:
                lines.append(self.refuse(address, self.difference(answer)))
        return lines

    def refuse(self, address: str, why: str) -> str:
        """Give a worker no more runs; return a sentence."""
        self.refused[address] = why
        return f"worker {address} gets no runs: {why}: {REMEDY}"

    def difference(self, found: Mapping[str, Any]) -> str:
        """Return a phrase on another Tameshi than this one."""
        return f"it has {_named(found)}, this machine {_named(self.needs)}"


def _named(described: Mapping[str, Any]) -> str:
    core = str(described["core"])[:HASH_DIGITS]
    return f"Tameshi {described['version']} with core {core}"
