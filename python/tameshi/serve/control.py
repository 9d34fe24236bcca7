"""Control socket of a session: one line of words from a client, one line of JSON in answer."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tameshi.core.errors import BadInput, RunFailed
from tameshi.serve.messages import parse_message
from tameshi.serve.state import State, is_alive, states

SECONDS = 180.0
"""Limit of an answer: a cut ends with the file system's recovery."""
CLIENT_SECONDS = 5.0
LINE_BYTES = 4096


class ControlSocket:
    """Listening socket; `obey` turns a message into an answer."""

    def __init__(self, path: Path, obey: Callable[[str], Mapping[str, Any]]) -> None:
        self._obey = obey
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.bind(str(path))
        os.chmod(path, 0o600)
        self._socket.listen(8)

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return self._socket.fileno()

    def serve_client(self) -> None:
        """Answer one client; a client that leaves early is no error."""
        client, _ = self._socket.accept()
        with client:
            client.settimeout(CLIENT_SECONDS)
            try:
                message = client.recv(LINE_BYTES).decode(errors="replace").strip()
                client.sendall(json.dumps(self._answer(message)).encode() + b"\n")
            except OSError:
                return

    def _answer(self, message: str) -> Mapping[str, Any]:
        try:
            return self._obey(message)
        except RunFailed as error:
            return {"error": error.message}

    def close(self) -> None:
        """Stop listening."""
        self._socket.close()


def sessions() -> list[State]:
    """Return the sessions that take messages: not the drives of a study."""
    return [state for state in states() if is_alive(state.owner) and state.control.exists()]


def ask_session(words: Sequence[str], name: str | None = None) -> dict[str, Any]:
    """Send a message to a session, by default the only one; return its answer."""
    message = parse_message(words)
    running = sessions()
    chosen = [state for state in running if name in (None, state.name)]
    if len(chosen) != 1:
        raise BadInput(
            "no drive of this name is served" if name or not running else "several drives",
            where="--drive" if name or running else "serve ctl",
            found=name or f"{len(running)} served drives",
            accepted=[state.name for state in running],
            hint="" if running else "Serve one: tameshi serve PROFILE.",
        )
    return ask_socket(chosen[0].control, chosen[0].name, message)


def ask_socket(path: Path, name: str, message: str) -> dict[str, Any]:
    """Send a message to the control socket of a session; return its answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(SECONDS)
        try:
            client.connect(str(path))
            client.sendall(message.encode() + b"\n")
            answer = client.makefile("rb").readline()
        except OSError as error:
            raise RunFailed(f"{name} does not answer: {error}") from None
    if not answer:
        raise RunFailed(f"{name} ended before it answered")
    found = dict(json.loads(answer))
    if "error" in found:
        raise RunFailed(str(found["error"]))
    return found
