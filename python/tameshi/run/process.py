"""Worker process: start, control and messages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

from tameshi import guard
from tameshi.run.forks import ForkServer

KEPT_LINES = 20
NO_MEMORY = "memory allocation of "
"""Prefix of Rust's out-of-memory message, before it aborts."""


class WorkerProcess:
    """Worker on a run folder.

    It has a session of its own, so that a terminal's Ctrl-C reaches it only through the dispatcher.
    If the dispatcher dies, its standard input ends, which stops the worker.
    """

    def __init__(
        self,
        folder: Path,
        targets: Mapping[str, guard.OpenTarget],
        inherited: Sequence[int],
        database: Mapping[str, Any] | None = None,
        slow: float = 1,
        forks: ForkServer | None = None,
    ) -> None:
        """Start it; without arguments, as a fork if there is a server."""
        arguments = [json.dumps(_described(name, target)) for name, target in targets.items()]
        arguments += [json.dumps({"database": database})] if database else []
        arguments += [json.dumps({"slow": slow})] if slow != 1 else []
        self.log = folder / "worker.log"
        with guard.append_file(self.log) as errors:
            self.process = (
                forks.start(folder, errors, inherited)
                if forks and not arguments
                else _started(folder, arguments, errors, [*inherited, *_descriptors(targets)])
            )

    def messages(self) -> Iterable[dict[str, Any]]:
        """Yield messages until the worker ends, without a killed worker's incomplete last line."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)

    def go(self, t0_ns: int, backend: str) -> None:
        """Start the run at `t0_ns` of its clock; `backend` is that of a measured run."""
        self._tell({"kind": "go", "t0_ns": t0_ns, "backend": backend})

    def apply_fault(self, word: str) -> None:
        """Report a server fault: `power_cut`, `back`, `gone`; `settled`: no more faults."""
        self._tell({"kind": word})

    def stop(self) -> None:
        """Request an early end with a usable partial result."""
        self._tell({"kind": "stop"})

    def kill(self) -> None:
        """Kill the worker: its partial work is worthless."""
        self.process.kill()

    def _tell(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin
        with suppress(BrokenPipeError, ValueError):  # the worker has ended; `failure` reports how
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def failure(self) -> str | None:
        """Wait for the worker's end; return a sentence if it failed."""
        status = self.process.wait()
        if self.process.stdin:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        if status == 0:
            return None
        if status is None:
            return "the worker's end is unknown: the fork server of simulated runs was killed"
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return ": ".join(filter(None, (f"the worker {how}", last_words(self.log))))


def last_words(log: Path) -> str:
    """Return the reason of a worker's end: out of memory without the stack trace, else its last
    lines."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    starved = [line for line in lines if line.startswith(NO_MEMORY)]
    return " / ".join(starved[:1] or lines[-KEPT_LINES:])


def _started(
    folder: Path, arguments: Sequence[str], errors: IO[bytes], descriptors: Sequence[int]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-X", "utf8", "-m", "tameshi.run.worker", str(folder), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        pass_fds=descriptors,
        start_new_session=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )


def _descriptors(targets: Mapping[str, guard.OpenTarget]) -> list[int]:
    return [descriptor for target in targets.values() for descriptor in target.descriptors]


def _described(name: str, target: guard.OpenTarget) -> dict[str, Any]:
    return {
        "name": name,
        "fd": target.fd,
        "data_offset": target.data_offset,
        "data_bytes": target.data_bytes,
        "direct": target.direct,
        "buffered_fd": target.buffered_fd,
        "laid_out": target.laid_out,
    }
