"""Data of served drives on a disk: kept at power cuts, refused when it is full, gone at the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from command import tameshi_process
from disks import blank, run
from emulated_studies import database, events
from emulated_studies import run as run_study
from served import left, on_drive, only_served_drives, session, wait_for

MIB = 1 << 20
Disk = Callable[..., Path]


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """Make a mounted file system of some MiB on a loop device."""
    with ExitStack() as stack:

        def made(mib: int, kind: str = "ext4") -> Path:
            image, point = blank(tmp_path / "image", mib * MIB), tmp_path / "disk"
            point.mkdir()
            run(f"mkfs.{kind}", "-q", "-F", image)
            run("mount", "-o", "loop", image, point)
            stack.callback(run, "umount", point)
            return point

        yield made


def free_bytes(point: Path) -> int:
    os.sync()
    room = os.statvfs(point)
    return room.f_bavail * room.f_frsize


KEPT = """
data = os.urandom(64 << 20)
fd = put(MOUNT / "file", data)
os.fsync(fd)
os.close(fd)
found["cut"] = ctl("cut")
found["kept"] = (MOUNT / "file").read_bytes() == data
status = json.loads(ctl("status"))
found["store"], found["used"], found["limit"] = (
    status[key] for key in ("store", "used_bytes", "limit_bytes")
)
found["names"] = os.listdir(status["store"])
server = json.loads(Path("/run/tameshi", os.environ["TAMESHI_DRIVE"], "state.json").read_text())
maps = Path(f"/proc/{server['server'][0]}/smaps").read_text().split("VmFlags:")
found["flags"] = [
    after.splitlines()[0].split()
    for before, after in zip(maps, maps[1:])
    if f" {status['store']}/" in before
]
"""


def test_data_on_a_disk_survive_cuts_and_leave_nothing(tmp_path: Path, disk: Disk) -> None:
    point = disk(2048)
    before = free_bytes(point)
    sized = ("--size", "8GiB", "--store", str(point))
    found = on_drive(tmp_path, KEPT, "nvme-tlc-1tb-consumer", sized=sized)
    assert found["kept"] and "mounted again after" in found["cut"]
    assert found["store"] == str(point) and found["names"] == ["lost+found"]
    assert 64 * MIB < found["used"] < 80 * MIB < found["limit"] < before
    (flags,) = found["flags"]
    assert "sh" in flags and "lo" not in flags, "the kernel may evict the data"
    assert os.listdir(point) == ["lost+found"]
    assert before - free_bytes(point) < MIB


def test_killed_session_frees_the_disk(tmp_path: Path, disk: Disk) -> None:
    point, mounted = disk(2048), tmp_path / "mounted"
    before = free_bytes(point)
    with session("null", "--at", mounted, "--store", point, sized=("--size", "1GiB")) as process:
        (mounted / "file").write_bytes(os.urandom(32 * MIB))
        os.sync()
        assert before - free_bytes(point) > 32 * MIB
        process.send_signal(signal.SIGKILL)
        wait_for(lambda: left() == [])
    wait_for(lambda: before - free_bytes(point) < MIB)


FULL = """
def fill(first):
    fd = os.open(DEVICE, os.O_WRONLY | os.O_DIRECT)
    memory = mmap.mmap(-1, 1 << 20)
    memory[:] = bytes([7]) * (1 << 20)
    written = 0
    try:
        for number in range(first, 400):
            os.pwritev(fd, [memory], number << 20)
            written += 1
    except OSError as error:
        found["error"] = error.errno
    os.close(fd)
    return written

import mmap
if TAKEN:
    other = os.open(Path(STORE, "other"), os.O_WRONLY | os.O_CREAT, 0o600)
    room = os.statvfs(STORE)
    os.posix_fallocate(other, 0, room.f_bavail * room.f_frsize - (100 << 20))
found["written"] = fill(0)
status = json.loads(ctl("status"))
found["refused"], found["used"], found["limit"] = (
    status[key] for key in ("refused_writes", "used_bytes", "limit_bytes")
)
fd = os.open(DEVICE, os.O_RDONLY)
found["kept"] = all(
    set(os.pread(fd, 1 << 20, number << 20)) == {7} for number in range(found["written"])
)
os.close(fd)
"""


@pytest.mark.parametrize("taken", [False, True])
def test_full_disk_refuses_writes_and_keeps_data(tmp_path: Path, disk: Disk, taken: bool) -> None:
    point = disk(450)
    program = f"TAKEN, STORE = {taken}, {str(point)!r}\n{FULL}"
    sized = ("--size", "1GiB", "--store", str(point))
    found = on_drive(tmp_path, program, "null", "--block", sized=sized)
    assert found["refused"] and found["kept"] and 50 < found["written"] < 400, found
    if taken:  # Another program took the space: the limit was not reached.
        # 100 MiB are left, and what ext4 reserves for root.
        assert found["written"] < 140 and found["used"] < found["limit"] / 2
    else:
        assert found["limit"] - 2 * MIB < found["used"] <= found["limit"]


@pytest.mark.timeout(300)
def test_study_on_drives_with_data_on_a_disk_survives_a_cut(tmp_path: Path, disk: Disk) -> None:
    point = disk(2048)
    study = database("sqlite", "nvme-tlc-1tb-consumer", "512")
    out = run_study(tmp_path, study, "--on", f"disk={point}")
    (served,) = events(out, "drive_served")
    (figures,) = events(out, "drive_figures")
    (check,) = events(out, "check")
    assert served["on_disk"] and figures["used_bytes"] > MIB
    assert check["holds"] and check["ledger"]["acknowledged"] > 10 and not check["ledger"]["lost"]
    assert os.listdir(point) == ["lost+found"]


@pytest.mark.parametrize(
    ("mib", "kind", "message"),
    [
        (200, "ext4", "there is too little free space for the drive's data"),
        (600, "ext2", "its file system has no holes in files (fallocate)"),
    ],
)
def test_unfit_disk_is_refused(disk: Disk, mib: int, kind: str, message: str) -> None:
    done = tameshi_process("serve", "null", "--size", "1GiB", "--store", disk(mib, kind))
    assert done.returncode == 2 and message in " ".join(done.stderr.split()), done.stderr
    assert left() == []
