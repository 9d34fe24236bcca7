"""End of served drives: by Ctrl-C, by the command's end, by SIGKILL; nothing is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import arguments, tameshi_process
from served import SMALL, left, on_drive, only_served_drives, running, session, wait_for


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    with session("sas-15k-146gb", "--at", point) as process:
        (point / "file").write_text("data")
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)
        assert process.returncode == 0
    assert left() == [] and not point.exists()


def test_killed_session_leaves_nothing(tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    with session("nvme-tlc-1tb-consumer", "--at", point) as process:
        (point / "file").write_text("data")
        process.kill()
        wait_for(lambda: left() == [])
    assert not point.exists()


def test_killed_private_session_takes_its_programs_along(tmp_path: Path) -> None:
    started = tmp_path / "started"
    program = (
        "import os, subprocess, sys, time; d = os.environ['TAMESHI_MOUNT']; "
        "subprocess.Popen(['sleep', '987'], cwd=d, start_new_session=True); "
        f"open({str(started)!r}, 'w').close(); time.sleep(987)"
    )
    line = arguments("serve", "null", *SMALL, "--", sys.executable, "-c", program)
    with subprocess.Popen(line, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        wait_for(started.exists)
        process.kill()
        wait_for(lambda: left() == [])
        wait_for(lambda: not running("987"))


def test_next_session_removes_what_a_killed_one_left(tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    with session("null", "--at", point) as process:
        name = next(Path("/run/tameshi").glob(f"*-{process.pid}"))
        for pid in running("tameshi.serve."):
            os.kill(pid, signal.SIGKILL)
        process.kill()
        process.wait()
        time.sleep(0.2)
        assert name.exists() and left()
        done = tameshi_process("serve", "null", *SMALL, "--", "true")
        assert done.returncode == 0, done.stderr
        assert f"removed what a killed session left: {name.name}" in done.stderr
    assert left() == [] and not point.exists()


def test_stopped_session_does_not_stop_the_drive(tmp_path: Path) -> None:
    point = tmp_path / "mounted"
    with session("null", "--at", point) as process:
        os.killpg(process.pid, signal.SIGSTOP)
        line = ["dd", "if=/dev/zero", f"of={point}/file", "bs=4k", "count=64", "oflag=dsync"]
        done = subprocess.run(line, capture_output=True, timeout=60, check=False)
        os.killpg(process.pid, signal.SIGCONT)
        assert done.returncode == 0
    assert left() == []


def test_command_decides_the_exit_status() -> None:
    done = tameshi_process("serve", "null", *SMALL, "--", "sh", "-c", "exit 7")
    assert done.returncode == 7, done.stderr
    assert left() == []


TRIMMED = """
fd = os.open(DEVICE, os.O_RDWR | os.O_SYNC)
os.pwrite(fd, b"x" * 65536, 0)
os.close(fd)
subprocess.run(["blkdiscard", DEVICE], check=True)
fd = os.open(DEVICE, os.O_RDONLY)
found["holds"] = os.pread(fd, 65536, 0).count(b"x")
found["node"] = DEVICE
"""


@pytest.mark.parametrize(("profile", "holds"), [("sata-7k2-1tb", 65_536), ("null", 0)])
def test_disk_ignores_trims_and_its_loop_device_can_trim_later(
    profile: str, holds: int, tmp_path: Path
) -> None:
    found = on_drive(tmp_path, TRIMMED, profile, "--block")
    assert found["holds"] == holds
    backing = tmp_path / "backing"
    backing.write_bytes(b"x" * (1 << 20))
    _tool("losetup", found["node"], str(backing))
    try:
        _tool("blkdiscard", found["node"])
    finally:
        _tool("losetup", "--detach", found["node"])
    assert not any(backing.read_bytes())


def _tool(*line: str) -> None:
    subprocess.run(line, check=True, capture_output=True, text=True)
