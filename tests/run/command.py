"""A small study, and the command line in a process of its own."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SMALL = """
title = "Small"
question = "Does it run?"
[storage.disk]
device = "sas-15k-146gb"
size = "8 MiB"
[axis.read]
set = "workload.stream.s.read"
levels = ["0 %", "100 %"]
[axis.depth]
set = "workload.stream.s.queue_depth"
varies = "within"
levels = [1, 4]
[workload.stream.s]
[phase.p]
workload = ["stream.s"]
ramp = "20 ms"
until = { time = "120 ms" }
[run]
interval = "10 ms"
repetitions = 2
"""


def arguments(*words: str | Path) -> list[str]:
    """The command line of Tameshi."""
    return [sys.executable, "-m", "tameshi", *map(str, words)]


def start(*words: str | Path) -> subprocess.Popen[str]:
    """Tameshi, started and left running, in a process group of its own."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        arguments(*words), stdout=pipe, stderr=pipe, text=True, start_new_session=True
    )


def tameshi(*words: str | Path) -> subprocess.CompletedProcess[str]:
    """Tameshi, run to its end."""
    return subprocess.run(arguments(*words), capture_output=True, text=True, check=False)


def results(folder: Path) -> dict:
    return json.loads((folder / "results.json").read_text())


def outcomes(folder: Path) -> list[dict]:
    """Every sealed outcome of a study folder."""
    return [json.loads(p.read_text()) for p in sorted(folder.glob("runs/*/outcome.json"))]


def digests(folder: Path) -> dict[str, str]:
    """Digest by identity of the complete simulated runs."""
    return {o["identity"]: o["digest"] for o in outcomes(folder) if o["status"] == "complete"}


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Until the condition holds; fails when the process ends before."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


def kill_group(process: subprocess.Popen[str]) -> None:
    """kill -9 for the dispatcher; its worker must find out by itself."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
