"""Slowed drives and corrupt content: what programs and databases on them see."""

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


RAW = """
import mmap
memory = mmap.mmap(-1, 4096)
raw = os.open(DEVICE, os.O_RDWR | os.O_DIRECT)

def write(page, byte):
    memory[:] = bytes([byte]) * 4096
    os.pwritev(raw, [memory], page * 4096)

def read(page):
    try:
        os.preadv(raw, [memory], page * 4096)
    except OSError as error:
        return error.errno
    return sorted(set(memory[:]))

def status():
    return json.loads(ctl("status"))
"""

ERROR = """
for page in range(4):
    write(page, 1)
found["told"] = ctl("corrupt", "error", "4KiB", "8KiB")
found["bad"] = [read(page) for page in range(4)]
write(1, 2)
found["healed"] = [read(page) for page in range(4)]
found["counted"] = status()["corruption"]
found["refused"] = [ctl_process("corrupt", *words).stderr for words in (
    ("error", "0", "100"), ("flip", "1GiB", "4KiB"), ("flip", "0", "800MiB"),
)]
"""


def test_unreadable_range_fails_with_eio_until_rewritten(tmp_path: Path) -> None:
    found = on_drive(tmp_path, RAW + ERROR, "sata-ssd-480gb", "--block")
    assert "reads that touch 8.0 KiB at byte 4,096 fail" in found["told"]
    assert found["bad"] == [[1], 5, 5, [1]]
    assert found["healed"] == [[1], [2], 5, [1]]
    assert found["counted"]["unreadable_bytes"] == 4096 and found["counted"]["failed_reads"] >= 3
    unaligned, beyond, full = (" ".join(text.split()) for text in found["refused"])
    assert "multiples of 512 bytes" in unaligned
    assert "ends after the drive, which has" in beyond
    assert "or serve it with more --memory" in full


MISDIRECTED = """
for page in range(4):
    write(page, page + 1)
ctl("corrupt", "misdirect", "4KiB", "4KiB")
write(1, 9)
found["held"] = [read(page) for page in range(4)]
os.close(raw)
ctl("cut")
raw = os.open(DEVICE, os.O_RDWR | os.O_DIRECT)
found["kept"] = [read(page) for page in range(4)]
found["writes"] = status()["corruption"]["misdirected"]
"""


def test_misdirected_write_replaces_its_neighbour_silently(tmp_path: Path) -> None:
    found = on_drive(tmp_path, RAW + MISDIRECTED, "sata-ssd-480gb", "--block")
    assert found["held"] == found["kept"] == [[1], [2], [9], [4]]
    assert found["writes"] == [[4096, 8192, 4096]]


SLOWED = """
import random
draw = random.Random(1)

def figures():
    ctl("reset")
    for _ in range(15):
        read(draw.randrange(200_000))
    of = status()["operations"]["read"]
    return {key: of[key]["p50"] for key in ("modelled_ns", "met_ns")}

found["plain"] = figures()
found["told"] = ctl("slow", "8")
found["state"] = status()["slowdown"]
found["slowed"] = figures()
found["ended"] = ctl("slow", "1")
found["again"] = figures()
ctl("slow", "20", "4")
found["timed"] = status()["slowdown"]
time.sleep(4.1)
found["over"] = status()["slowdown"]
"""


def test_slowed_drive_meets_the_slowed_latency(tmp_path: Path) -> None:
    found = on_drive(tmp_path, RAW + SLOWED, "sas-15k-146gb", "--block")
    plain, slowed, again = (found[key]["modelled_ns"] for key in ("plain", "slowed", "again"))
    assert 5 < slowed / plain < 12 and 0.6 < again / plain < 1.6, found
    assert found["slowed"]["met_ns"] == pytest.approx(slowed, rel=0.05)
    assert "8 times as late, until `tameshi serve ctl slow 1`" in found["told"]
    assert found["state"] == {"factor": 8.0, "left_ns": None}
    assert "by the model's time alone" in found["ended"]
    assert found["timed"]["factor"] == 20 and 0 < found["timed"]["left_ns"] <= 4_000_000_000
    assert found["over"] == {"factor": 1.0, "left_ns": None}


DATABASE = """
import fcntl, pwd, struct

BIN = sorted(Path("/usr/lib/postgresql").glob("*/bin"))[-1]
data = MOUNT / "db"
data.mkdir()
user = pwd.getpwnam("postgres")
os.chown(data, user.pw_uid, user.pw_gid)

def run(tool, *words):
    line = ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", BIN / tool]
    done = subprocess.run([*line, *words], capture_output=True, text=True, cwd=data)
    return done.stdout.strip() if done.returncode == 0 else done.stderr

def server(word):
    options = f"-c listen_addresses='' -c unix_socket_directories={data} -c fsync=on"
    words = ["-o", options, "-l", data / "log"] if word == "start" else []
    run("pg_ctl", word, "--wait", "--pgdata", data, *words)

def ask(text):
    return run("psql", "--host", data, "--tuples-only", "--no-align", "--command", text, "postgres")

def place(path):
    # The first extent of the file on the drive, from the file system.
    extents = bytearray(struct.pack("=QQLLLL", 0, 1 << 40, 1, 0, 1, 0) + bytes(56))
    fd = os.open(path, os.O_RDONLY)
    fcntl.ioctl(fd, 0xC020660B, extents)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(fd)
    return struct.unpack_from("=QQQ", extents, 32)[1:]

run("initdb", "--pgdata", data, "--data-checksums")
server("start")
ask("create table t as select n, repeat('x', 100) from generate_series(1, 20000) n")
ask("create table u as select * from t")
ask("checkpoint")
files = [data / ask(f"select pg_relation_filepath('{table}')") for table in "tu"]
found["rows"] = ask("select count(*) from t")
offset, length = place(files[1])
ctl("corrupt", "misdirect", str(offset + 9 * 8192), "8KiB")
ask("update u set n = -1 where ctid = '(9,1)'")
ask("checkpoint")
writes = json.loads(ctl("status"))["corruption"]["misdirected"]
found["writes"] = [intended - offset for intended, stored, length in writes]
server("stop")
place(files[1])
offset, length = place(files[0])
found["extent"] = length
ctl("corrupt", "flip", str(offset + 5 * 8192), "8KiB")
server("start")
found["flipped"], found["misdirected"] = (ask(f"select count(*) from {table}") for table in "tu")
server("stop")
found["checked"] = run("pg_checksums", "--check", "--pgdata", data)
"""


def test_corrupt_pages_are_found_by_the_database_checksum(tmp_path: Path) -> None:
    found = on_drive(tmp_path, DATABASE, "sata-ssd-480gb")
    assert found["rows"] == "20000" and found["extent"] > 6 * 8192, found
    assert "invalid page in block 5" in found["flipped"], found
    assert found["writes"] == [9 * 8192] and "invalid page in block 10" in found["misdirected"]
    assert "block 5" in found["checked"] and "block 10" in found["checked"], found
