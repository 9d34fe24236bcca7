"""Memory of large served drives, and what a second command on one place may do."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from command import tameshi_process
from served import SMALL, left, on_drive, only_served_drives, session

MIB = 1 << 20


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


LARGE = """
def memory(pid):
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) << 10 for line in lines if line.startswith("VmRSS"))

state = json.loads(Path("/run/tameshi", os.environ["TAMESHI_DRIVE"], "state.json").read_text())
found["bytes"] = os.statvfs(MOUNT).f_blocks * os.statvfs(MOUNT).f_frsize
status = json.loads(ctl("status"))
found["capacity"], found["formatted"] = status["capacity_bytes"], status["used_bytes"]
for number in range(32):
    fd = os.open(MOUNT / f"{number}", os.O_WRONLY | os.O_CREAT, 0o600)
    os.pwrite(fd, os.urandom(65536), number << 34)
    os.fsync(fd)
    os.close(fd)
found["used"] = json.loads(ctl("status"))["used_bytes"]
found["resident"] = memory(state["server"][0])
"""


@pytest.mark.timeout(180)
def test_formatted_drive_of_1_tib_takes_a_few_mib(tmp_path: Path) -> None:
    stack = tmp_path / "large.toml"
    stack.write_text('[storage.large]\nraid0 = { members = 2, device = "sata-7k2-1tb" }\n')
    found = on_drive(tmp_path, LARGE, stack, sized=("--size", "1TiB", "--memory", "256MiB"))
    assert found["capacity"] == 1 << 40 and found["bytes"] > 0.98 * (1 << 40)
    assert found["formatted"] < 8 * MIB and found["used"] < 16 * MIB, found
    # The interpreter, the model, and 32 MiB of bits for pages, of which few are touched.
    assert found["resident"] < 160 * MIB, found


def test_second_command_on_one_place_is_refused(tmp_path: Path) -> None:
    point, path = tmp_path / "mounted", tmp_path / "nbd"
    with session("null", "--at", point):
        (point / "file").write_text("data")
        second = tameshi_process("serve", "null", *SMALL, "--at", point, "--", "true")
        assert second.returncode == 2 and "a mount point in use" in second.stderr
        assert (point / "file").read_text() == "data"
    with session("null", "--nbd", f"unix:{path}"):
        second = tameshi_process("serve", "null", *SMALL, "--nbd", f"unix:{path}", "--", "true")
        assert second.returncode == 2 and "there is a file of this name" in second.stderr
    assert left() == []


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--size", "2TiB"), '`--size` of at most "480 GB"'),
        (("--size", "8 apples"), "--size: `apples` is no unit of a size"),
        (("--memory", "1000TiB"), "there is not so much memory for the drive's data"),
        (("--written", "twice"), "never, once or steady"),
        (("--age", "old"), "worn_percent=PERCENT"),
        (("--age", "worn_percent=2000"), "0 to 1000"),
        (("--nbd", "unix:/tmp/x", "--block"), "by NBD there is no mount and no block device"),
    ],
)
def test_bad_options_are_refused_before_anything_is_served(
    options: tuple[str, ...], message: str
) -> None:
    done = tameshi_process("serve", "sata-ssd-480gb", *options, "--", "true")
    assert done.returncode == 2 and message in done.stderr, done.stderr
    assert left() == []


def test_drive_too_fast_for_the_path_is_announced(tmp_path: Path) -> None:
    done = tameshi_process("serve", "optane-p4800x-375g", *SMALL, "--block", "--", "true")
    assert done.returncode == 0
    told = re.search(r"its ([\d.]+) µs per request", done.stdout + done.stderr)
    assert told, done.stdout
    # Its reads take 8.9 µs; some machines' paths are shorter.
    warning = "warning: this drive is too fast for the path: a read of 4 KiB takes"
    assert (warning in done.stderr) == (float(told[1]) > 8.9)
    disk = tameshi_process("serve", "sas-15k-146gb", *SMALL, "--block", "--", "true")
    assert "too fast" not in disk.stderr
