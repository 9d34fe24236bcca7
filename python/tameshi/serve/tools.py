"""Programs of util-linux and of file systems that a session runs."""

from __future__ import annotations

import os
import shutil
import subprocess

from tameshi.core.errors import BadInput, RunFailed

PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
SECONDS = 120.0
"""Limit of any of them, so that a stuck device never holds a session forever."""


def require_tool(name: str, package: str) -> None:
    """Raise `BadInput` unless a program is installed."""
    if shutil.which(name, path=PATH) is None:
        raise BadInput(
            "a program is missing",
            where=name,
            hint=f"Install it: apt-get install {package}.",
        )


def run_tool(*words: str, seconds: float = SECONDS) -> str:
    """Return the output of a program; raise `RunFailed` with its message."""
    command = [shutil.which(words[0], path=PATH) or words[0], *words[1:]]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=seconds,
            check=False,
            env={**os.environ, "LC_ALL": "C"},
        )
    except subprocess.TimeoutExpired:
        raise RunFailed(f"{words[0]} did not end within {seconds:.0f} s") from None
    if done.returncode:
        message = " ".join(done.stderr.split()) or f"status {done.returncode}"
        raise RunFailed(f"{' '.join(words)} failed: {message}")
    return done.stdout.strip()
