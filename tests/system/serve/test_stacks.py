"""Served stacks of drives: failed members, rebuilds, declared states, refused power cuts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from served import on_drive, only_served_drives


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


FAILED = """
data = os.urandom(4 << 20)
fd = put(MOUNT / "file", data)
os.fsync(fd)
members = lambda: json.loads(ctl("status"))["members"]
found["refused"] = [ctl_process(*words).stderr for words in (
    ("replace", "1"), ("fail", "2"), ("fail",), ("fail", "x"),
)]
found["failed"] = ctl("fail", "1"), members()["failed"]
found["again"] = ctl_process("fail", "1").stderr
os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
found["holds"] = (MOUNT / "file").read_bytes() == data
os.close(fd)
os.close(put(MOUNT / "other", b"x" * 4096, os.O_SYNC))
found["replaced"] = ctl("replace", "1")
found["rebuilding"] = members()
end = time.monotonic() + 60
while not members()["rebuilt"] and time.monotonic() < end:
    time.sleep(0.2)
found["rebuilt"] = members()
found["cut"] = ctl("cut")
found["kept"] = (MOUNT / "file").read_bytes() == data
"""


def test_mirror_survives_a_failed_member_and_is_rebuilt(tmp_path: Path) -> None:
    found = on_drive(tmp_path, FAILED, "sata-ssd-2x480gb-mirror")
    alive, unknown, missing, word = found["refused"]
    assert "member 1 cannot be replaced: it has not failed: fail it first" in alive
    assert "this stack has no member 2, only 0 to 1" in unknown
    assert "fail MEMBER" in missing and "fail MEMBER" in word
    assert found["failed"] == ["member 1 failed; the others continue\n", [1]]
    assert "member 1 has failed already" in found["again"]
    assert found["holds"] and found["kept"] and "mounted again after" in found["cut"]
    assert "its rebuild has begun" in found["replaced"]
    assert found["rebuilding"]["rebuilding"] == [1] and found["rebuilding"]["failed"] == []
    (rebuilt,) = found["rebuilt"]["rebuilt"]
    assert rebuilt["member"] == 1 and rebuilt["bytes"] > 1_000_000_000
    assert found["rebuilt"]["rebuilding"] == []


BROKEN = """
found["first"], found["second"] = ctl("fail", "0"), ctl("fail", "1")
try:
    fd = os.open(DEVICE, os.O_RDONLY)
    os.pread(fd, 4096, 0)
    found["reads"] = True
except OSError:
    found["reads"] = False
found["replace"] = ctl_process("replace", "0").stderr
"""


def test_mirror_without_members_fails_all_requests(tmp_path: Path) -> None:
    found = on_drive(tmp_path, BROKEN, "sata-ssd-2x480gb-mirror", "--block")
    assert "all requests fail" in found["second"] and not found["reads"]
    assert "its data are lost" in found["replace"]


STACKS = """
[storage.volatile]
raid1 = { members = 2, device = "nvme-tlc-1tb-consumer" }
[storage.worn]
device = "nvme-tlc-1tb-consumer"
written = "steady"
aged = { worn_percent = 70 }
"""
CUT = """
found["cut"] = ctl_process("cut").stderr
fd = put(MOUNT / "file", b"y" * 4096, os.O_SYNC)
found["power"] = json.loads(ctl("status"))["power"]
found["alone"] = ctl_process("fail", "0").stderr
"""


def test_cut_of_an_array_with_volatile_buffers_is_refused(tmp_path: Path) -> None:
    (tmp_path / "stacks.toml").write_text(STACKS)
    found = on_drive(tmp_path, CUT, f"{tmp_path}/stacks.toml:volatile")
    assert "an array of them loses is not known yet" in found["cut"]
    assert found["power"] == "on"


def test_drive_alone_has_no_members_to_fail(tmp_path: Path) -> None:
    found = on_drive(tmp_path, CUT, "sas-15k-146gb")
    assert found["cut"] == "" and "a drive alone has no members" in found["alone"]


READ = """
import mmap, random
memory = mmap.mmap(-1, 4096)
fd = os.open(DEVICE, os.O_RDONLY | os.O_DIRECT)
draw = random.Random(1)
blocks = os.lseek(fd, 0, os.SEEK_END) // 4096
ctl("reset")
for _ in range(500):
    os.preadv(fd, [memory], draw.randrange(blocks) * 4096)
found["p50"] = json.loads(ctl("status"))["operations"]["read"]["modelled_ns"]["p50"]
"""


def test_written_drive_reads_from_flash_and_a_new_one_does_not(tmp_path: Path) -> None:
    (tmp_path / "stacks.toml").write_text(STACKS)
    new, written, of_file = (
        on_drive(tmp_path, READ, *target, "--block")["p50"]
        for target in (
            ("nvme-tlc-1tb-consumer",),
            ("nvme-tlc-1tb-consumer", "--written", "once", "--age", "worn_percent=10"),
            (f"{tmp_path}/stacks.toml:worn",),
        )
    )
    assert written > 2 * new and of_file > 2 * new, (new, written, of_file)
