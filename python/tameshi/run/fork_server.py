"""Fork server of simulated runs: `python -m tameshi.run.fork_server` forks a worker per request.

An interpreter with the worker's imports takes longer to start than a short simulated run. The
server starts once, and each run still has a process of its own.

Standard input is the dispatcher's socket. A request is the run's folder, with descriptors: standard
input, output and error of the worker, the write end of its state pipe, and those that it inherits.
The state pipe gets JSON lines: `pid` or `error` of the fork, then the exit `status`. The server
ends with the last of its workers, after the dispatcher has closed the socket.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import select
import signal
import socket
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tameshi.run.worker import execute_run

LONGEST_PATH = 1 << 16
MOST_DESCRIPTORS = 16
STATE = 3
"""Position of the state pipe in the descriptors of a request; the standard streams precede it."""


class Server:
    """Requests of one dispatcher, and running workers."""

    def __init__(self) -> None:
        self._requests = socket.socket(fileno=0)
        self._is_open = True
        self._states: dict[int, int] = {}
        """State pipe by process id of a running worker."""
        self._ends, self._wake_up = socket.socketpair()
        for end in (self._ends, self._wake_up):
            end.setblocking(False)
        signal.set_wakeup_fd(self._wake_up.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)  # An ignored signal wakes nothing up.

    def serve(self) -> None:
        """Start workers until the dispatcher closes the socket; wait for the last one."""
        while self._is_open or self._states:
            sources = [self._ends, *([self._requests] if self._is_open else [])]
            ready, _, _ = select.select(sources, [], [])
            if self._ends in ready:
                self._ends.recv(4096)
                self._reap()
            if self._requests in ready:
                self._receive()

    def _receive(self) -> None:
        data, descriptors, _, _ = socket.recv_fds(self._requests, LONGEST_PATH, MOST_DESCRIPTORS)
        if not data:
            self._is_open = False
            return
        try:
            pid = os.fork()
        except OSError as error:
            self._report(descriptors[STATE], error=error.errno or errno.EAGAIN)
        else:
            if pid == 0:
                self._become_worker(Path(os.fsdecode(data)), descriptors)
            self._states[pid] = os.dup(descriptors[STATE])
            self._report(descriptors[STATE], pid=pid)
        for descriptor in descriptors:
            os.close(descriptor)

    def _reap(self) -> None:
        """Report the workers that have ended."""
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                state = self._states.pop(pid)
                self._report(state, status=os.waitstatus_to_exitcode(status))
                os.close(state)

    def _report(self, state: int, **fields: int) -> None:
        with suppress(BrokenPipeError):  # The dispatcher has ended.
            os.write(state, json.dumps(fields).encode() + b"\n")

    def _become_worker(self, folder: Path, descriptors: Sequence[int]) -> None:
        """Execute the run in this process, which is a fork, and end it."""
        status = 1
        try:
            os.setsid()
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for number, descriptor in enumerate(descriptors[:STATE]):
                os.dup2(descriptor, number)
            for unused in (*descriptors[: STATE + 1], *self._states.values()):
                os.close(unused)
            self._ends.close()
            self._wake_up.close()
            sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
            sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
            status = execute_run(folder, [])
        except BaseException:
            traceback.print_exc()
        finally:
            with suppress(OSError, ValueError):
                if sys.stdout:
                    sys.stdout.flush()
            os._exit(status)  # Threads that read standard input end with the process.


def main() -> None:
    """Serve until the dispatcher closes the socket."""
    server = Server()
    gc.freeze()  # A collection in a worker would copy the pages of all that is loaded here.
    server.serve()


if __name__ == "__main__":
    main()
