"""Tameshi as a command, whose output goes into a file."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path


def tameshi_run(study: Path, log: Path, *options: str) -> int:
    """Run a study; return the exit status. Ctrl-C stops it gently, and then this program."""
    command = [sys.executable, "-m", "tameshi", "run", str(study), *options]
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("w", encoding="utf-8") as file:
        # A session of its own: the terminal's Ctrl-C reaches it once, from here.
        child = subprocess.Popen(
            command, stdout=file, stderr=subprocess.STDOUT, start_new_session=True
        )
        try:
            return child.wait()
        except KeyboardInterrupt:
            child.send_signal(signal.SIGINT)
            child.wait()
            raise
