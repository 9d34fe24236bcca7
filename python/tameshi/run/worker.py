"""Worker of every world: `python -m tameshi.run.worker RUNDIR [TARGET …]` executes one RunSpec.

Standard output: JSON lines `ready`, `progress`, `measured`, `done`, `failed`. Standard input: JSON
lines `go` (with `t0_ns` on the run's clock and the `backend`), `stop`, and server faults
(`power_cut`, answered by `let_go`; `back`, `gone`, `settled`). The end of standard input means that
the dispatcher has ended, and is a stop as well. SIGINT leaves a usable partial result. A target is
the JSON of an inherited descriptor; the worker opens no storage itself. A `database` target holds
its address, and whether to `load` it. A `slow` argument is the run's slow motion.
"""

from __future__ import annotations

import json
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import FrameType
from typing import Any

from tameshi.core.clock import Clock
from tameshi.core.errors import TameshiError
from tameshi.run.stream_work import StreamWork, Work

PROGRESS_SECONDS = 0.25
_speaking = threading.Lock()
"""Lock of standard output: without it, lines of two threads could mix."""


def say(kind: str, **fields: Any) -> None:
    """Send the dispatcher one line; ignore a dispatcher that has ended."""
    try:
        with _speaking:
            print(json.dumps({"kind": kind, **fields}), flush=True)
    except (BrokenPipeError, ValueError):
        sys.stdout = None


class Worker:
    """One run: its work is done in one thread, another reads standard input."""

    def __init__(self, folder: Path, targets: list[dict[str, Any]]) -> None:
        clock = Clock(next((target["slow"] for target in targets if "slow" in target), 1))
        database = next((target["database"] for target in targets if "database" in target), None)
        targets = [target for target in targets if "name" in target]
        self.loads = bool(database and database["load"])
        self.work = _work(folder, targets, database, clock)
        self.go = threading.Event()
        self.stopped = False
        self.t0_ns = 0
        self.backend = "auto"

    def stop(self, *_: int | FrameType | None) -> None:
        """End soon: stop current work; a waiting worker runs nothing."""
        self.stopped = True
        self.work.stop()
        self.go.set()

    def listen(self) -> None:
        """Follow the dispatcher's lines until it ends."""
        for line in sys.stdin:
            message = json.loads(line)
            if message["kind"] == "go":
                self.t0_ns, self.backend = int(message["t0_ns"]), message["backend"]
                self.go.set()
            elif message["kind"] == "stop":
                self.stop()
            else:
                self.work.apply_fault(message["kind"])
                if message["kind"] == "power_cut":
                    say("let_go")
        self.stop()

    def watched(self, work: Any, stage: str) -> dict[str, Any]:
        """Do `work` in a thread and report its progress; raise its failure here."""
        result: dict[str, Any] = {}
        failure: list[BaseException] = []

        def body() -> None:
            try:
                result.update(work())
            except BaseException as error:
                failure.append(error)

        thread = threading.Thread(target=body)
        thread.start()
        while thread.is_alive():
            thread.join(PROGRESS_SECONDS)
            say("progress", stage=stage, **self.work.progress())
        if failure:
            raise failure[0]
        return result

    def execute(self) -> int:
        """Prepare, wait for go, run; return the exit status."""
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            self.watched(self.work.prepare, "load" if self.loads else "prepare")
            if not self.loads:
                say("ready")
                self.go.wait()
            if self.loads or (self.stopped and not self.t0_ns):
                say("done", status="partial")
                return 0
            done = self.watched(lambda: self.work.measure(self.t0_ns, self.backend), "run")
            say("measured")
            say("done", **done, **self.watched(self.work.finish, "check"))
        except TameshiError as error:
            say("failed", reason=str(error))
            return 1
        except BaseException as error:
            say("failed", reason=f"{type(error).__name__}: {error}")
            raise
        return 0


def _work(
    folder: Path,
    targets: list[dict[str, Any]],
    database: Mapping[str, Any] | None,
    clock: Clock,
) -> Work:
    spec_json = (folder / "spec.json").read_text(encoding="utf-8")
    if database is None:
        return StreamWork(spec_json, folder, targets, say, clock)
    # Import late: the spec's types take longer to import than a short simulated run takes.
    from tameshi.core.spec_types import RunSpec
    from tameshi.run.database_work import DatabaseWork, LoadWork

    spec = RunSpec.model_validate_json(spec_json)
    if database["load"]:
        return LoadWork(spec, folder, database, say)
    return DatabaseWork(spec, folder, database, clock)


def execute_run(folder: Path, targets: list[dict[str, Any]]) -> int:
    """Execute a run in this process, which does nothing else; return its exit status."""
    worker = Worker(folder, targets)
    signal.signal(signal.SIGINT, worker.stop)
    signal.signal(signal.SIGTERM, worker.stop)
    return worker.execute()


def main() -> int:
    """Execute the run whose folder the first argument names."""
    return execute_run(Path(sys.argv[1]), [json.loads(argument) for argument in sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
