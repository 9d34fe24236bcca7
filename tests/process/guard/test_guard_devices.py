"""Guard's decisions on block devices; docs/guard.md names these tests."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import disks
import pytest
from disks import SIZE, blank, run, unable

from tameshi import guard
from tameshi.core.errors import GuardRefusal

Attach = Callable[..., Path]
PAYLOAD = 8 << 20


@pytest.fixture
def backing(tmp_path: Path) -> Path:
    """Make the backing file of a loop device, which is also the device's name."""
    return blank(tmp_path / "disk.img")


def check(node: Path, *destroy: object, **options: guard.Machine) -> guard.TargetPlan:
    return guard.check_target(node, PAYLOAD, "disk", [str(name) for name in destroy], **options)


def assert_refused(node: Path, backing: Path, found: str) -> GuardRefusal:
    """Assert that a named target is refused and unchanged."""
    before = backing.read_bytes()
    with pytest.raises(GuardRefusal, match=found) as caught:
        check(node, backing)
    assert caught.value.where == str(node)
    assert backing.read_bytes() == before
    return caught.value


@pytest.fixture
def partitions(backing: Path, attach: Attach) -> Iterator[tuple[Path, Path, Path]]:
    """Make a disk with two partitions."""
    disks.mbr(backing)
    disk = attach(backing)
    run("partx", "--add", disk)
    yield disk, Path(f"{disk}p1"), Path(f"{disk}p2")
    run("partx", "--delete", disk)


# --- Accepted --------------------------------------------------------------------------------


def test_a_device_is_refused_until_its_identity_is_named(
    backing: Path, attach: Attach, tmp_path: Path
) -> None:
    node = attach(backing)
    disks.put(backing, (SIZE // 2, b"a diary " * 512))
    for names in ([], [node], [node.name], [backing.parent], ["/dev"], [backing.name]):
        with pytest.raises(GuardRefusal, match="a block device") as caught:
            check(node, *names)
        assert f"--destroy {backing}, if its content may be destroyed" in caught.value.accepted
        assert "64.0 MiB" in caught.value.found
        assert "unrecognised data in 1 of 64 samples" in caught.value.found
    (tmp_path / "link").symlink_to(node)
    assert check(tmp_path / "link", backing).path == node


def test_device_named_by_identity_is_opened_exclusively(backing: Path, attach: Attach) -> None:
    node = attach(backing)
    with guard.open_target(check(node, backing), direct=True) as target:
        assert (target.data_offset, target.data_bytes, target.direct) == (0, PAYLOAD, True)
        with pytest.raises(OSError) as caught:
            os.open(node, os.O_RDONLY | os.O_EXCL)
        assert caught.value.errno == errno.EBUSY
        guard.mark_laid_out(target)
    assert not any(backing.read_bytes())  # no header


def test_a_device_is_shown_with_its_model_its_size_and_what_it_holds(
    backing: Path, attach: Attach
) -> None:
    node = attach(backing)
    assert check(node, backing).lasting_name == str(backing)
    assert check(node, backing).described() == [
        f"disk: destroys the first 8.0 MiB of {node}",
        "  model: unknown",
        "  size: 64.0 MiB",
        f"  known as: {backing}",
        "  found: only zeros in 64 samples",
    ]


def test_a_device_stays_laid_out_as_long_as_its_plan(backing: Path, attach: Attach) -> None:
    plan = check(attach(backing), backing)
    with guard.open_target(plan, direct=False) as target:
        assert not target.laid_out
        guard.mark_laid_out(target)
    with guard.open_target(plan, direct=False) as target:
        assert target.laid_out


def test_a_partition_is_named_by_its_disks_identity_and_its_number(
    backing: Path, partitions: tuple[Path, Path, Path]
) -> None:
    _, first, second = partitions
    with pytest.raises(GuardRefusal, match="a block device"):
        check(first, backing, f"{backing}-part2")
    with guard.open_target(check(first, f"{backing}-part1"), direct=True) as target:
        assert target.data_offset == 0
    assert check(second, f"{backing}-part2").device


def test_a_partition_beside_a_mounted_one_is_let_through(
    backing: Path, partitions: tuple[Path, Path, Path], mounted: Callable[[Path], Path]
) -> None:
    _, first, second = partitions
    run("mkfs.ext4", "-q", first)
    mounted(first)
    with guard.open_target(check(second, f"{backing}-part2"), direct=False):
        pass


# --- Absent hardware: trees of the kernel and udev with other drives ---------------------------


@pytest.fixture
def fake(backing: Path, attach: Attach, tmp_path: Path) -> tuple[Path, Path, guard.Machine]:
    """Describe a loop device as a flash drive in the kernel's tree; return its folder there."""
    node = attach(backing)
    machine = guard.Machine(tmp_path / "proc", tmp_path / "sys", tmp_path / "dev")
    drive = machine.sys / "devices/pci/nvme0n1"
    write(drive, "size", str(SIZE // 512))
    write(drive, "device/model", "Fast Drive")
    (machine.sys / "block").mkdir()
    (machine.sys / "dev/block").mkdir(parents=True)
    (machine.sys / "block/nvme0n1").symlink_to(drive)
    rdev = node.stat().st_rdev
    number = f"{os.major(rdev)}:{os.minor(rdev)}"
    write(drive, "dev", number)
    (machine.sys / "dev/block" / number).symlink_to(drive)
    (machine.dev / "disk/by-id").mkdir(parents=True)
    return node, drive, machine


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text + "\n")


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("serial", "S123 X"),
        ("device/serial", "S123"),
        ("wwid", "eui.0025385b71b00001"),
        ("device/wwid", "naa.5000c500a1b2c3d4"),
        ("device/vpd_pg80", "\0\0\0\x08 WX-42"),
    ],
)
def test_a_drive_is_named_by_its_serial_number_or_wwn(
    fake: tuple[Path, Path, guard.Machine], file: str, name: str
) -> None:
    node, drive, machine = fake
    write(drive, file, name)
    name = name.lstrip("\0\x08 ")
    plan = check(node, name, machine=machine)
    assert "  model: Fast Drive" in plan.described()
    with guard.open_target(plan, direct=False, machine=machine):
        pass
    for other in (name[:-1], name.lower() + "0", "Fast Drive"):
        with pytest.raises(GuardRefusal, match="Fast Drive"):
            check(node, other, machine=machine)


def test_a_drive_is_named_by_a_link_in_by_id(
    fake: tuple[Path, Path, guard.Machine], tmp_path: Path
) -> None:
    node, _, machine = fake
    links = machine.dev / "disk/by-id"
    (links / "nvme-Fast_Drive_S123").symlink_to(node)
    (links / "nvme-Other_Drive_S124").symlink_to("/dev/null")
    assert check(node, links / "nvme-Fast_Drive_S123", machine=machine).device
    (tmp_path / "link").symlink_to(node)
    for other in (links / "nvme-Other_Drive_S124", tmp_path / "link"):
        with pytest.raises(GuardRefusal, match="a block device"):
            check(node, other, machine=machine)


def test_a_serial_number_that_two_drives_share_names_neither(
    fake: tuple[Path, Path, guard.Machine],
) -> None:
    node, drive, machine = fake
    write(drive, "device/serial", "S123")
    write(drive, "wwid", "eui.1")
    write(machine.sys / "block/nvme0n2", "device/serial", "S123")
    with pytest.raises(GuardRefusal) as caught:
        check(node, "S123", machine=machine)
    assert "--destroy eui.1, if its content may be destroyed" in caught.value.accepted
    assert not any("S123" in way for way in caught.value.accepted)


def test_device_without_lasting_name_is_refused(
    fake: tuple[Path, Path, guard.Machine], backing: Path
) -> None:
    node, _, machine = fake
    with pytest.raises(GuardRefusal, match="without serial number, WWN"):
        check(node, node, machine=machine)
    backing.unlink()
    with pytest.raises(GuardRefusal, match="without serial number, WWN"):
        check(node, backing, f"{backing} (deleted)")


@pytest.mark.parametrize("holder", ["dm-0", "md127", "bcache0"])
@pytest.mark.parametrize("result", ["holders", "slaves"])
def test_a_device_held_by_another_is_refused(
    fake: tuple[Path, Path, guard.Machine], holder: str, result: str
) -> None:
    node, drive, machine = fake
    write(drive, "serial", "S123")
    if result == "holders":
        write(drive / "holders", holder, "")
    else:
        write(machine.sys / "block" / holder / "slaves", "nvme0n1", "")
    with pytest.raises(GuardRefusal, match=f"nvme0n1 is held by {holder}.*vgchange -an"):
        check(node, "S123", machine=machine)


def test_a_device_with_a_partition_that_is_held_is_refused(
    fake: tuple[Path, Path, guard.Machine],
) -> None:
    node, drive, machine = fake
    write(drive, "serial", "S123")
    write(drive / "nvme0n1p1", "partition", "1")
    write(drive / "nvme0n1p1/holders", "dm-3", "")
    with pytest.raises(GuardRefusal, match="nvme0n1p1 is held by dm-3"):
        check(node, "S123", machine=machine)


@pytest.mark.parametrize("used", ["held", "mounted"])
def test_a_partition_of_a_disk_used_as_a_whole_is_refused(
    fake: tuple[Path, Path, guard.Machine], used: str
) -> None:
    node, drive, machine = fake
    number = (drive / "dev").read_text().strip()
    write(drive, "serial", "S123")
    write(drive / "nvme0n1p1", "partition", "1")
    write(drive / "nvme0n1p1", "size", "4096")
    (machine.sys / "dev/block" / number).unlink()
    (machine.sys / "dev/block" / number).symlink_to(drive / "nvme0n1p1")
    write(drive, "dev", "259:0")
    if used == "held":
        write(drive / "holders", "md0", "")
    else:
        write(machine.proc, "self/mountinfo", "22 1 259:0 / /srv rw - ext4 /dev/nvme0n1 rw")
    with pytest.raises(GuardRefusal, match=r"nvme0n1 is (held by md0|mounted at /srv)"):
        check(node, "S123-part1", machine=machine)


def test_device_mounted_under_anonymous_number_is_refused(
    fake: tuple[Path, Path, guard.Machine],
) -> None:
    node, drive, machine = fake
    write(drive, "serial", "S123")
    write(machine.proc, "self/mountinfo", f"22 1 0:31 / /srv rw - btrfs {node} rw")
    with pytest.raises(GuardRefusal, match="nvme0n1 is mounted at /srv"):
        check(node, "S123", machine=machine)


# --- In use ----------------------------------------------------------------------------------


def test_a_mounted_device_is_refused(
    backing: Path, attach: Attach, mounted: Callable[[Path], Path]
) -> None:
    node = attach(backing)
    run("mkfs.ext4", "-q", node)
    point = mounted(node)
    (point / "thesis").write_text("years of work")
    os.sync()
    refusal = assert_refused(node, backing, "is in use")
    assert refusal.found == f"{node.name} is mounted at {point}"
    assert "umount" in refusal.hint


def test_a_device_with_a_mounted_partition_is_refused(
    backing: Path, partitions: tuple[Path, Path, Path], mounted: Callable[[Path], Path]
) -> None:
    disk, first, _ = partitions
    run("mkfs.ext4", "-q", first)
    mounted(first)
    os.sync()
    assert_refused(disk, backing, f"{first.name} is mounted at")


def test_swap_device_is_refused(backing: Path, attach: Attach) -> None:
    node = attach(backing)
    run("mkswap", node)
    try:
        run("swapon", node)
    except AssertionError as error:
        unable(f"swap can't be turned on: {error}")
    try:
        assert_refused(node, backing, f"{node.name} is active swap.*swapoff")
    finally:
        run("swapoff", node)


def test_exclusively_opened_device_is_refused(
    backing: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tameshi.guard.handles.LOCK_PATIENCE_SECONDS", 0.05)
    node = attach(backing)
    held = os.open(node, os.O_RDONLY | os.O_EXCL)
    assert_refused(node, backing, "has it open exclusively")
    os.close(held)


def test_a_device_under_a_loop_device_is_refused(backing: Path, attach: Attach) -> None:
    node = attach(backing)
    upper = attach(node)
    assert_refused(node, backing, f"{node.name} backs the loop device {upper.name}")
    with pytest.raises(GuardRefusal, match="without serial number, WWN"):
        check(upper, backing, node)


def test_a_loop_device_whose_file_another_one_shares_is_refused(
    backing: Path, attach: Attach, tmp_path: Path
) -> None:
    node = attach(backing)
    os.link(backing, tmp_path / "second name")
    other = attach(tmp_path / "second name")
    assert_refused(node, backing, f"the loop device {other.name} has the same backing file")


# --- Contents --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "found"),
    [
        (disks.xfs, "xfs at byte 0 .*wipefs -a"),
        (disks.lvm, "LVM2_member at byte 536 .*pvremove"),
        (disks.md, "linux_raid_member at byte 4096 .*mdadm --zero-superblock"),
        (disks.md_at_the_end, "linux_raid_member at byte 67043328.*mdadm"),
        (disks.zfs, "zfs_member at byte .*zpool labelclear"),
        (disks.luks, "crypto_LUKS at byte 0.*wipefs -a"),
        (disks.mbr, "dos at byte 510.*wipefs -a"),
        (disks.gpt, "gpt at byte 512.*wipefs -a"),
    ],
)
def test_a_device_with_a_recognised_signature_is_refused(
    backing: Path, attach: Attach, kind: Callable[[Path], None], found: str
) -> None:
    kind(backing)
    node = attach(backing)
    refusal = assert_refused(node, backing, found)
    assert "Tameshi must not destroy, even with --destroy" in refusal.message
    assert str(node) in refusal.hint


@pytest.mark.parametrize("kind", ["ext4", "swap"])
def test_device_with_file_system_is_refused_until_cleared(
    backing: Path, attach: Attach, kind: str
) -> None:
    node = attach(backing)
    run(*(["mkswap"] if kind == "swap" else ["mkfs.ext4", "-q"]), node)
    os.sync()
    assert_refused(node, backing, f"{kind} at byte .*clear it yourself")
    run("wipefs", "-a", node)
    assert check(node, backing).device


def test_device_with_unreadable_signatures_is_refused(
    backing: Path, attach: Attach, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    node = attach(backing)
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    assert_refused(node, backing, "wipefs is not installed.*util-linux")
    tool = tmp_path / "wipefs"
    monkeypatch.setattr("shutil.which", lambda *_, **__: str(tool))
    for script, found in (("echo no >&2; exit 1", "failed: no"), ("echo Hello", "unknown output")):
        tool.write_text(f"#!/bin/sh\n{script}\n")
        tool.chmod(0o755)
        assert_refused(node, backing, found)


def test_a_device_that_is_too_small_is_refused(backing: Path, attach: Attach) -> None:
    node = attach(backing)
    with pytest.raises(GuardRefusal, match=r"smaller than 64\.0 MiB"):
        guard.check_target(node, SIZE + 1, "disk", [str(backing)])


def test_a_device_that_is_read_only_is_refused(backing: Path, attach: Attach) -> None:
    assert_refused(attach(backing, "--read-only"), backing, "mounted read-only")


# --- Between examination and opening ---------------------------------------------------------


def test_a_device_exchanged_meanwhile_is_refused(
    backing: Path, attach: Attach, tmp_path: Path
) -> None:
    node = attach(backing)
    plan = check(node, backing)
    run("losetup", "--detach", node)
    other = blank(tmp_path / "other.img")
    run("losetup", node, other)
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)
    run("losetup", "--detach", node)
    run("losetup", node, backing)  # the same file again, but with another disk sequence number
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)
    assert not any(other.read_bytes())


def test_a_node_exchanged_meanwhile_is_refused(
    backing: Path, attach: Attach, tmp_path: Path
) -> None:
    node = tmp_path / "node"
    os.mknod(node, 0o060600, attach(backing).stat().st_rdev)
    plan = check(node, backing)
    other = attach(blank(tmp_path / "other.img"))
    node.unlink()
    os.mknod(node, 0o060600, other.stat().st_rdev)
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)
    node.unlink()
    node.write_bytes(b"a file")
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)
    assert node.read_bytes() == b"a file"


def test_device_signed_meanwhile_is_refused(
    backing: Path,
    attach: Attach,
    mounted: Callable[[Path], Path],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tameshi.guard.handles.LOCK_PATIENCE_SECONDS", 0.05)
    node = attach(backing)
    plan = check(node, backing)
    run("mkfs.ext4", "-q", node)
    with pytest.raises(GuardRefusal, match="ext4 at byte"):
        guard.open_target(plan, direct=False)
    mounted(node)
    with pytest.raises(GuardRefusal, match="in use"):
        guard.open_target(plan, direct=False)
