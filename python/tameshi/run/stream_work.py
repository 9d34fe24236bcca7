"""Interface of a worker's work, and streams on open storages.

Simulated runs import this module, so it avoids the types of a spec: their import takes longer than
a short run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from tameshi.core.clock import Clock
from tameshi.core.compiled import Execution, Target, nanoseconds, size_bytes

Say = Callable[..., None]
"""Callback that sends the dispatcher one line: kind and fields."""


class Work(Protocol):
    """Work of one run, each part in a thread of its own while another watches or stops it."""

    def prepare(self) -> dict[str, Any]:
        """Do the work before t0."""

    def measure(self, t0_ns: int, backend: str) -> dict[str, Any]:
        """Run all phases of the spec."""

    def finish(self) -> dict[str, Any]:
        """Do the work after the last phase, unsampled."""

    def progress(self) -> dict[str, Any]:
        """Return the progress."""

    def apply_fault(self, word: str) -> None:
        """Apply a server fault reported by the dispatcher."""

    def stop(self) -> None:
        """End soon."""


class StreamWork:
    """Streams on targets, which are laid out first unless already written."""

    def __init__(
        self,
        spec_json: str,
        folder: Path,
        targets: Sequence[Mapping[str, Any]],
        say: Say,
        clock: Clock,
    ) -> None:
        spec = json.loads(spec_json)
        self._seed = spec["seed"]
        self._phases = [_doing(phase["name"], phase["until"]) for phase in spec["phases"]]
        self._say = say
        self._clock = clock
        self._execution = Execution(spec_json, folder)
        sparse = {name for name, storage in spec["storage"].items() if storage.get("sparse")}
        self._unwritten = [
            _target(t) for t in targets if not t["laid_out"] and t["name"] not in sparse
        ]
        self._targets = [_target(t) for t in targets]

    def prepare(self) -> dict[str, Any]:
        """Lay out targets that no run has written yet."""
        for target in self._unwritten:
            if self._execution.lay_out(target, self._seed):
                self._say("laid_out", storage=target.name)
        return {"status": "prepared"}

    def measure(self, t0_ns: int, backend: str) -> dict[str, Any]:
        """Run all phases of the spec."""
        return self._execution.run(self._targets, t0_ns, backend, self._clock.slow)

    def finish(self) -> dict[str, Any]:
        """Do nothing."""
        return {}

    def progress(self) -> dict[str, Any]:
        """Return the core's progress, with a description of the current phase."""
        progress = self._execution.progress()
        doing = self._phases[progress["phase"]] if self._phases else None
        return progress | {"doing": doing}

    def apply_fault(self, word: str) -> None:
        """Do nothing."""

    def stop(self) -> None:
        """Do nothing: the core closes its files."""
        self._execution.stop()


def _doing(name: str, until: Mapping[str, Any]) -> dict[str, Any]:
    amount, time = until.get("amount"), until.get("time")
    return {
        "name": name,
        "total_bytes": size_bytes(amount) if amount else None,
        "total_ns": nanoseconds(time) if time else None,
    }


def _target(fields: Mapping[str, Any]) -> Target:
    names = ("name", "fd", "data_offset", "data_bytes", "direct", "buffered_fd")
    return Target(*(fields[name] for name in names))
