"""One worker process: started, told to go or to stop, and heard."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from tameshi import guard

KEPT_LINES = 20
NO_MEMORY = "memory allocation of "
"""How Rust begins to say so, before it aborts."""


class WorkerProcess:
    """A worker on a run folder.

    It sits in a session of its own, so that a terminal's Ctrl-C reaches it through the dispatcher
    alone; when the dispatcher dies its standard input ends, which stops it.
    """

    def __init__(
        self,
        folder: Path,
        targets: Mapping[str, guard.OpenTarget],
        inherited: Sequence[int],
        database: Mapping[str, Any] | None = None,
    ) -> None:
        arguments = [json.dumps(_described(name, target)) for name, target in targets.items()]
        arguments += [json.dumps({"database": database})] if database else []
        self.log = folder / "worker.log"
        errors = guard.append_file(self.log)
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", "tameshi.run.worker", str(folder), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            pass_fds=[
                *inherited,
                *(fd for target in targets.values() for fd in target.descriptors),
            ],
            start_new_session=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        errors.close()

    def messages(self) -> Iterable[dict[str, Any]]:
        """What it says until it ends; half a line of a killed worker is left out."""
        assert self.process.stdout
        for line in self.process.stdout:
            if line.endswith(b"\n"):
                yield json.loads(line)

    def go(self, t0_ns: int, backend: str) -> None:
        """Start at `t0_ns` of the monotonic clock; `backend` carries a measured run's requests."""
        self._tell({"kind": "go", "t0_ns": t0_ns, "backend": backend})

    def befall(self, word: str) -> None:
        """What befalls its database: `power_cut`, `back`, `gone`; `settled`: nothing any more."""
        self._tell({"kind": word})

    def stop(self) -> None:
        """End soon with a usable partial result."""
        self._tell({"kind": "stop"})

    def kill(self) -> None:
        """End at once: what it does is worth nothing half done."""
        self.process.kill()

    def _tell(self, message: Mapping[str, Any]) -> None:
        assert self.process.stdin
        with suppress(BrokenPipeError, ValueError):  # it has ended; how, `failure` will say
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def failure(self) -> str | None:
        """Wait for its end; a sentence when it did not end well by itself."""
        status = self.process.wait()
        if self.process.stdin:
            with suppress(BrokenPipeError):
                self.process.stdin.close()
        if status == 0:
            return None
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return ": ".join(filter(None, (f"the worker {how}", last_words(self.log))))


def last_words(log: Path) -> str:
    """What a worker said of its end: that it had no memory, which no trace of calls behind it
    tells, else its last lines.
    """
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    starved = [line for line in lines if line.startswith(NO_MEMORY)]
    return " / ".join(starved[:1] or lines[-KEPT_LINES:])


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
