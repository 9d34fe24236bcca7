"""Dispatcher's side of the fork server, which starts the workers of simulated runs."""

from __future__ import annotations

import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

ATTEMPTS = 2
"""Attempts at a fork: a server that was killed is replaced once."""


END_S = 5.0
"""Longest wait for the end of a server."""


class Fork:
    """Worker that a fork server started, with the interface of `subprocess.Popen` as far as used.

    Its parent is the server, which reports its end on the state pipe.
    """

    def __init__(self, pid: int, stdin: IO[bytes], stdout: IO[bytes], state: IO[bytes]) -> None:
        self.pid = pid
        self.stdin = stdin
        self.stdout = stdout
        self._state = state
        self._status: int | None = None

    def wait(self) -> int | None:
        """Wait for its end; return the exit status, None if the server has ended before."""
        if not self._state.closed:
            with self._state:
                line = self._state.readline()
            self._status = json.loads(line)["status"] if line else None
        return self._status

    def kill(self) -> None:
        """Kill it, unless its end was waited for: another process may have its number then."""
        if not self._state.closed:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)


class ForkServer:
    """Fork server that starts with the first run, and ends with this process at the latest."""

    def __init__(self) -> None:
        self._guarded = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._socket: socket.socket | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the server after the last of its workers; a later run starts another."""
        with self._guarded:
            self._end()

    def start(self, folder: Path, errors: IO[bytes], inherited: Sequence[int]) -> Fork:
        """Start a worker on a run folder; raise `OSError` if there is no room for a process."""
        stdin_read, stdin = os.pipe()
        stdout, stdout_write = os.pipe()
        kept = os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb")
        try:
            streams = [stdin_read, stdout_write, errors.fileno()]
            with self._guarded:
                pid, state = self._forked(os.fsencode(folder.absolute()), streams, inherited)
        except BaseException:
            for file in kept:
                file.close()
            raise
        finally:
            os.close(stdin_read)
            os.close(stdout_write)
        return Fork(pid, *kept, state)

    def _forked(
        self, folder: bytes, streams: Sequence[int], inherited: Sequence[int]
    ) -> tuple[int, IO[bytes]]:
        """Return process id and state pipe of a new worker."""
        for _ in range(ATTEMPTS):
            reading, writing = os.pipe()
            state = os.fdopen(reading, "rb")
            try:
                with suppress(BrokenPipeError):
                    given = [*streams, writing, *inherited]
                    socket.send_fds(self._running(), [folder], given)
            finally:
                os.close(writing)
            answer = json.loads(state.readline() or "{}")
            if "pid" in answer:
                return answer["pid"], state
            state.close()
            if "error" in answer:
                raise OSError(answer["error"], os.strerror(answer["error"]))
            self._end()
        raise OSError(errno.ECHILD, "the fork server of simulated runs ended")

    def _running(self) -> socket.socket:
        """Return the socket of the server, which is started if it is not there."""
        if self._socket is None:
            self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            with theirs:
                self._process = subprocess.Popen(
                    [sys.executable, "-X", "utf8", "-m", "tameshi.run.fork_server"],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    start_new_session=True,
                    env={**os.environ, "PYTHONUNBUFFERED": "1"},
                )
        return self._socket

    def _end(self) -> None:
        """End the server; with workers that still run, it ends by itself after the last."""
        if self._socket:
            self._socket.close()
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(END_S)
        self._socket = self._process = None
