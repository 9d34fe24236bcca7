"""A small study, and the command line: within this process, or in one of its own."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

from tameshi.commands.cli import main

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
    """Return the command line of Tameshi."""
    return [sys.executable, "-m", "tameshi", *map(str, words)]


def start(*words: str | Path, cwd: Path | None = None) -> subprocess.Popen[str]:
    """Start Tameshi in its own process group, and leave it running."""
    pipe = subprocess.PIPE
    return subprocess.Popen(
        arguments(*words), stdout=pipe, stderr=pipe, text=True, start_new_session=True, cwd=cwd
    )


def tameshi_process(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Tameshi in a process of its own: for exit status, streams, signals, isolation.

    `env` is added to the environment.
    """
    return subprocess.run(
        arguments(*words),
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        env={**os.environ, **(env or {})},
    )


def tameshi(*words: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command line within this process, without starting Python and its libraries again."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    line = ["tameshi", *map(str, words)]
    status: int | str | None = 0
    with (
        chdir(cwd or Path.cwd()),
        patch.object(sys, "argv", line),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            status = ended.code
    texts = []
    for stream in (out, err):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode())
    return subprocess.CompletedProcess(line, int(status or 0), *texts)


def results(folder: Path) -> dict:
    return json.loads((folder / "results.json").read_text())


def outcomes(folder: Path) -> list[dict]:
    """Return every sealed outcome of a study folder."""
    return [json.loads(p.read_text()) for p in sorted(folder.glob("runs/*/outcome.json"))]


def codes(verdict: dict) -> list[str]:
    """Return the codes of a verdict's reasons."""
    return [reason["code"] for reason in verdict["reasons"]]


def digests(folder: Path) -> dict[str, str]:
    """Return the digests of the complete simulated runs, by identity."""
    return {o["identity"]: o["digest"] for o in outcomes(folder) if o["status"] == "complete"}


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until the condition holds; fail if the process ends first."""
    while not condition():
        assert process.poll() is None, process.communicate()
        time.sleep(0.002)


def kill_group(process: subprocess.Popen[str]) -> None:
    """Kill the dispatcher with SIGKILL; its worker must notice by itself."""
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
