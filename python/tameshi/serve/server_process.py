"""Start of a server process, of a drive or of links, and questions to it."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.errors import RunFailed

ANSWER_BYTES = 1 << 20
SECONDS = 30.0
"""Limit of an answer; building a large flash drive takes seconds."""


class ServerProcess:
    """Server of one drive, in a session of its own: a terminal's Ctrl-Z must not freeze it.

    `module`, `noun`: another server, with its name in messages; `passed`: descriptors for it.
    """

    def __init__(
        self,
        spec: Mapping[str, Any],
        log: Path,
        *,
        module: str = "tameshi.serve.server",
        noun: str = "the drive's server",
        passed: Sequence[int] = (),
    ) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.settimeout(SECONDS)
        self._socket = ours
        self._log = log
        self._noun = noun
        self._asking = threading.Lock()
        errors = guard.append_file(log)
        words = [json.dumps(spec), str(theirs.fileno()), str(os.getpid())]
        self.process = subprocess.Popen(
            [sys.executable, "-X", "utf8", "-m", module, *words],
            stdin=subprocess.DEVNULL,
            stdout=errors,
            stderr=errors,
            pass_fds=[theirs.fileno(), *passed],
            start_new_session=True,
        )
        theirs.close()
        errors.close()

    def ask(self, message: str) -> dict[str, Any]:
        """Send a control message; return the answer. Raises `RunFailed` if the server is gone."""
        try:
            with self._asking:
                self._socket.send(message.encode())
                answer = self._socket.recv(ANSWER_BYTES)
        except TimeoutError:
            raise RunFailed(f"{self._noun} did not answer within {SECONDS:.0f} s") from None
        except OSError:
            answer = b""
        if not answer:
            raise RunFailed(self.last_words())
        return dict(json.loads(answer))

    def last_words(self) -> str:
        """Return a sentence on the end of the server."""
        status = self.process.wait(SECONDS)
        text = self._log.read_text(encoding="utf-8", errors="replace").strip()
        how = f"was killed by signal {-status}" if status < 0 else f"ended with status {status}"
        return f"{self._noun} {how}" + (f": {text}" if text else "")

    def end(self) -> None:
        """Close the control socket, which ends the server, and wait for it."""
        self._socket.close()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
