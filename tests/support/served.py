"""Served drives for tests: programs that run on them, and what a session may leave."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from command import arguments
from disks import unable

from tameshi.hosts.state import hosts_states
from tameshi.serve.state import is_alive, states

RING_SWITCH = Path("/sys/module/fuse/parameters/enable_uring")
SMALL = ("--size", "1GiB", "--memory", "256MiB")
SECONDS = 120
Session = AbstractContextManager[subprocess.Popen[str]]

ON_DRIVE = """
import json, os, subprocess, sys, time
from pathlib import Path

DEVICE, MOUNT = os.environ["TAMESHI_DEVICE"], Path(os.environ.get("TAMESHI_MOUNT", "/nowhere"))
TAMESHI = [sys.executable, "-m", "tameshi"]

def ctl_process(*words):
    line = [*TAMESHI, "serve", "ctl", *words, "--drive", os.environ["TAMESHI_DRIVE"]]
    return subprocess.run(line, capture_output=True, text=True, timeout=100)

def ctl(*words):
    done = ctl_process(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout

def put(path, data, flags=0):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o600)
    os.write(fd, data)
    return fd

found = {}
"""


@contextmanager
def only_served_drives() -> Iterator[None]:
    """Hold the only place for tests of served drives; skip where none can be served."""
    for node in ("/dev/fuse", "/dev/loop-control"):
        if os.geteuid() != 0 or not os.access(node, os.R_OK | os.W_OK):
            unable(f"serving a drive needs root and {node}")
    with no_drives_served():
        yield


@contextmanager
def only_hosts() -> Iterator[None]:
    """Hold the same place for tests of hosts; skip where none can be made."""
    if os.geteuid() != 0 or not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        unable("hosts need root and /dev/net/tun")
    with no_drives_served():
        yield


@contextmanager
def no_drives_served() -> Iterator[None]:
    """Wait until no test serves drives, and let none meanwhile.

    What serves them has a mount namespace, which keeps file systems that are unmounted elsewhere.
    """
    with open(Path(tempfile.gettempdir(), "tameshi-served-tests.lock"), "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def on_drive(
    tmp_path: Path, program: str, *options: str | Path, sized: Sequence[str] = SMALL
) -> dict[str, Any]:
    """Run a program on a served drive; return what it put into `found`."""
    script, out = tmp_path / "program.py", tmp_path / "found.json"
    end = f"Path({str(out)!r}).write_text(json.dumps(found))\n"
    script.write_text(ON_DRIVE + program + "\n" + end)
    line = arguments("serve", *options, *sized, "--", sys.executable, script)
    done = subprocess.run(line, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, done.stderr
    assert left() == []
    return dict(json.loads(out.read_text()))


def session(*options: str | Path, sized: Sequence[str] = SMALL) -> Session:
    """Serve a drive by hand, until it is ready; kill what is left of it afterwards."""
    return until_ready(arguments("serve", *options, *sized), "cut its power")


@contextmanager
def until_ready(line: Sequence[str], ready: str) -> Iterator[subprocess.Popen[str]]:
    """Start a session of its own process group, and wait for the line that says that it is ready;
    end what is left of it afterwards."""
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as process:
        assert process.stderr
        said = []
        while words := process.stderr.readline():
            said.append(words)
            if words.startswith(ready):
                break
        else:
            pytest.fail("".join(said))
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.terminate()
            process.communicate(timeout=SECONDS)


def running(word: str) -> list[int]:
    """Return processes with a word of their command line that begins so."""
    return [pid for pid, words in _command_lines() if any(w.startswith(word) for w in words)]


def _command_lines() -> Iterator[tuple[int, list[str]]]:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        yield int(path.parent.name), words


def left() -> list[str]:
    """Return what ended sessions left: mounts, loop devices, processes, folders, groups."""
    table = Path("/proc/self/mountinfo").read_text().splitlines()
    found = [line for line in table if " fuse.tameshi " in line or "/run/tameshi/" in line]
    for backing in Path("/sys/block").glob("loop*/loop/backing_file"):
        text = backing.read_text().strip()
        found += [text] if text.startswith("/run/tameshi/") else []
    for _, words in _command_lines():
        if any(word.startswith(("tameshi.serve.", "tameshi.hosts.")) for word in words):
            found.append(" ".join(words))
    root = Path("/run/tameshi")
    found += [str(path) for path in root.iterdir() if path.is_dir()] if root.is_dir() else []
    for pattern in ("tameshi-*", "*/tameshi-*"):
        found += map(str, Path("/sys/fs/cgroup").glob(pattern))
    # Other sessions may run on this machine.
    running = [state.name for state in (*states(), *hosts_states()) if is_alive(state.owner)]
    return [text for text in found if not any(name in text for name in running)]


def wait_for(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Wait until the condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, left()
        time.sleep(0.05)
