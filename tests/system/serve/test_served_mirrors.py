"""Served block mirrors: a cut link, the loss of the near side, and its return."""

from __future__ import annotations

from pathlib import Path

import pytest
from served import on_drive, only_served_drives

STORAGE = """
[storage.pair]
replica = { of = { device = "sata-ssd-480gb" }, link = "tcp-1gbe", protocol = "PROTOCOL" }
"""
LOST = """
mirror = lambda: json.loads(ctl("status"))["mirror"]
def wait(sides):
    end = time.monotonic() + 20
    while mirror()["sides"] != sides and time.monotonic() < end:
        time.sleep(0.02)
found["refused"] = ctl_process("take-back").stderr, ctl_process("fail", "0").stderr
data = os.urandom(1 << 20)
os.close(put(MOUNT / "kept", data, os.O_SYNC))
fd = os.open(MOUNT, os.O_RDONLY)
os.fsync(fd)
os.close(fd)
while mirror()["behind_bytes"]:
    time.sleep(0.02)
found["cut"] = ctl("link", "cut")
os.close(put(MOUNT / "lost", data, os.O_SYNC))
found["behind"] = mirror()["behind_bytes"]
found["failover"] = ctl("failover")
found["files"] = sorted(each.name for each in MOUNT.iterdir())
found["holds"] = (MOUNT / "kept").read_bytes() == data
found["again"] = ctl_process("failover").stderr
os.close(put(MOUNT / "later", data, os.O_SYNC))
found["alone"] = mirror()["sides"]
found["back"] = ctl("take-back")
wait("both")
found["second"] = ctl("failover")
found["later"] = (MOUNT / "later").read_bytes() == data
"""


@pytest.mark.soak
def test_far_side_lacks_only_what_a_cut_link_held_back(tmp_path: Path) -> None:
    file = tmp_path / "pair.toml"
    file.write_text(STORAGE.replace("PROTOCOL", "asynchronous"))
    with only_served_drives():
        found = on_drive(tmp_path, LOST, str(file))
    early, member = found["refused"]
    assert "no side is lost" in early and "drives of a block mirror do not fail" in member
    assert found["cut"] == "the link is cut\n" and found["behind"] >= 1 << 20
    assert "acknowledged writes are lost" in found["failover"]
    assert found["files"] == ["kept"] and found["holds"]
    assert "there is no far side" in found["again"] and found["alone"] == "alone"
    assert "the lost side is back, and receives" in found["back"]
    assert "failover: 0 acknowledged writes are lost" in found["second"] and found["later"]
