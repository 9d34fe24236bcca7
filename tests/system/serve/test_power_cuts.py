"""Power cuts of served drives: durable data stay, other data may go, a lie is caught."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served import RING_SWITCH, on_drive, only_served_drives


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


@pytest.fixture(params=["plain", "ring"])
def door(request: pytest.FixtureRequest) -> Iterator[str]:
    """Serve over each door; the kernel's switch is set back afterwards."""
    before = RING_SWITCH.read_text() if RING_SWITCH.exists() else None
    if request.param == "ring":
        if before is None:
            pytest.xfail("this kernel has no FUSE over io_uring")
        RING_SWITCH.write_text("Y")
    yield request.param
    if before is not None:
        RING_SWITCH.write_text(before)


FSYNCED = """
for round in range(3):
    fd = put(MOUNT / f"durable {round}", bytes([round + 1]) * 1_000_000)
    os.fsync(fd)
    os.close(fd)
    directory = os.open(MOUNT, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)
    loose = put(MOUNT / f"loose {round}", b"x" * 4096)
    os.close(loose)
    found[f"cut {round}"] = ctl("cut")
    for before in range(round + 1):
        data = (MOUNT / f"durable {before}").read_bytes()
        assert data == bytes([before + 1]) * 1_000_000, before
    assert not (MOUNT / f"loose {round}").exists() or not (MOUNT / f"loose {round}").stat().st_size
found["door"] = json.loads(ctl("status"))["door"]
"""


@pytest.mark.parametrize(
    "drive", [("nvme-tlc-1tb-consumer", "--fs", "xfs"), ("sas-15k-146gb", "--fs", "ext4")]
)
def test_fsynced_files_survive_power_cuts(
    drive: tuple[str, ...], door: str, tmp_path: Path
) -> None:
    found = on_drive(tmp_path, FSYNCED, *drive)
    assert found["door"] == door
    assert all("mounted again after" in found[f"cut {round}"] for round in range(3))


RAW = """
BLOCK = 4096
import mmap
memory = mmap.mmap(-1, BLOCK)

def write(number, flush):
    fd = os.open(DEVICE, os.O_WRONLY | os.O_DIRECT)
    memory[:] = number.to_bytes(8, "little") * (BLOCK // 8)
    os.pwritev(fd, [memory], number * BLOCK)
    if flush:
        os.fsync(fd)
    os.close(fd)

def holds(number):
    fd = os.open(DEVICE, os.O_RDONLY | os.O_DIRECT)
    os.preadv(fd, [memory], number * BLOCK)
    os.close(fd)
    return memory[:8] == number.to_bytes(8, "little")

found["lost"] = 0
number = 0
for cut in range(CUTS):
    written = range(number + 1, number + 8 + cut)
    for number in written:
        write(number, flush=FLUSH)
    ctl("cut")
    found["lost"] += sum(not holds(number) for number in written)
    if found["lost"]:
        break
"""


@pytest.mark.parametrize(
    ("flush", "options", "loses"),
    [
        (True, ("nvme-tlc-1tb-consumer",), False),
        (True, ("nvme-tlc-1tb-consumer", "--lie", "flush"), True),
        (False, ("nvme-tlc-1tb-consumer",), True),
        (False, ("sata-ssd-480gb",), False),
        (True, ("sata-ssd-480gb", "--without-capacitor"), False),
        (False, ("sata-ssd-480gb", "--without-capacitor"), True),
    ],
)
def test_unflushed_or_falsely_flushed_blocks_are_lost(
    flush: bool, options: tuple[str, ...], loses: bool, tmp_path: Path
) -> None:
    found = on_drive(
        tmp_path, f"FLUSH, CUTS = {flush}, {10 if loses else 3}\n{RAW}", *options, "--block"
    )
    assert (found["lost"] > 0) == loses, found


def test_cut_kills_users_and_ends_within_seconds(tmp_path: Path) -> None:
    program = """
writer = subprocess.Popen(["dd", "if=/dev/urandom", f"of={MOUNT}/stream", "bs=64k", "oflag=dsync"])
time.sleep(0.5)
begin = time.monotonic()
found["cut"] = ctl("cut")
found["seconds"] = time.monotonic() - begin
found["writer"] = writer.wait(10)
found["stuck"] = []
for path in Path("/proc").glob("[0-9]*"):
    try:
        waits = path.joinpath("stat").read_text().rpartition(") ")[2].startswith("D")
        if waits and b"dd" in path.joinpath("cmdline").read_bytes():
            found["stuck"].append(path.name)
    except (FileNotFoundError, ProcessLookupError):
        pass  # It has ended.
"""
    found = on_drive(tmp_path, program, "nvme-tlc-1tb-consumer")
    assert found["writer"] in (-9, 1), "killed, or ended by the error"
    assert found["stuck"] == []
    assert found["seconds"] < 20


def test_full_store_refuses_writes_and_keeps_data(tmp_path: Path) -> None:
    program = """
try:
    for number in range(80):
        fd = put(MOUNT / f"{number}", os.urandom(8 << 20), os.O_SYNC)
        os.close(fd)
    found["refused"] = False
except OSError:
    found["refused"] = True
status = json.loads(ctl("status"))
found["counted"] = status["refused_writes"]
found["within"] = status["used_bytes"] <= status["limit_bytes"]
"""
    found = on_drive(tmp_path, program, "optane-p4800x-375g")
    assert found["refused"] and found["counted"] and found["within"]
