"""Guard's decisions on storage targets; docs/guard.md names these tests."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import os
import socket
import subprocess
import types
from collections.abc import Iterator
from pathlib import Path

import pytest

from tameshi import guard
from tameshi.core.errors import BadInput, GuardRefusal, RunFailed, TameshiError
from tameshi.servers.cache_state import _resident

SIZE = 2 << 20
FOREIGN = b"someone's thesis\n" * 100


def make(path: Path, size: int = SIZE, role: str = "disk") -> Path:
    """Make a target of Tameshi's at `path` and close it."""
    with guard.open_target(guard.check_target(path, size, role), direct=False) as target:
        return target.path


def tree(folder: Path) -> dict[str, tuple[int, int, bytes]]:
    """Return every entry below a folder with kind, number of links and content."""
    found = {}
    for path in sorted(folder.rglob("*")):
        status = path.lstat()
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        else:
            content = path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (status.st_mode, status.st_nlink, content)
    return found


def assert_refused(
    folder: Path, path: Path, found: str, kind: type[TameshiError] = GuardRefusal
) -> None:
    """Assert refusal as a target and for removal, with the finding and without changes."""
    before = tree(folder)
    with pytest.raises(kind, match=found) as caught:
        guard.check_target(path, SIZE, "disk")
    assert caught.value.exit_status == 2
    with pytest.raises(TameshiError):
        guard.remove_target(path)
    assert tree(folder) == before


# --- Accepted --------------------------------------------------------------------------------


def test_a_path_that_does_not_exist_is_planned_without_creating_it(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path / "new.dat", SIZE, "disk")
    assert (plan.action, plan.path) == ("create", tmp_path / "new.dat")
    assert plan.file_system
    assert list(tmp_path.iterdir()) == []


def test_a_directory_stands_for_the_roles_file_in_it(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_bytes(FOREIGN)
    assert make(tmp_path, role="flash") == tmp_path / "tameshi-flash.dat"
    assert (tmp_path / "thesis.txt").read_bytes() == FOREIGN


def test_created_target_has_marker_size_and_aligned_payload(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path, SIZE, "disk")
    with guard.open_target(plan, direct=False) as target:
        assert (target.data_offset, target.data_bytes) == (1 << 20, SIZE)
        assert os.fstat(target.fd).st_size == target.data_offset + target.data_bytes
        assert not target.laid_out and not target.direct
    header = guard.Header.from_block(plan.path.read_bytes()[:4096])
    assert header and (header.role, header.size_bytes) == ("disk", SIZE)
    assert [path.name for path in tmp_path.iterdir()] == ["tameshi-disk.dat"]


def test_a_file_with_the_marker_is_reused_with_its_payload(tmp_path: Path) -> None:
    path = make(tmp_path)
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        os.pwrite(target.fd, b"payload", target.data_offset)
        guard.mark_laid_out(target)
    plan = guard.check_target(tmp_path, SIZE, "disk")
    assert plan.action == "reuse"
    with guard.open_target(plan, direct=False) as target:
        assert target.laid_out
        assert os.pread(target.fd, 7, target.data_offset) == b"payload"


def test_a_link_to_a_file_of_tameshis_is_resolved_and_named(tmp_path: Path) -> None:
    path = make(tmp_path)
    (tmp_path / "link").symlink_to(path)
    assert guard.check_target(tmp_path / "link", SIZE, "disk").path == path


@pytest.mark.parametrize("size", [SIZE // 2, SIZE * 2])
def test_another_size_resizes_and_forgets_the_layout(tmp_path: Path, size: int) -> None:
    path = make(tmp_path)
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        guard.mark_laid_out(target)
    with guard.open_target(guard.check_target(path, size, "disk"), direct=False) as target:
        assert not target.laid_out and target.data_bytes == size
        assert os.fstat(target.fd).st_size == target.data_offset + size


def test_truncated_file_loses_its_layout(tmp_path: Path) -> None:
    path = make(tmp_path)
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        guard.mark_laid_out(target)
    os.truncate(path, guard.DATA_OFFSET + 5)
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        assert not target.laid_out
        assert os.fstat(target.fd).st_size == target.data_offset + SIZE


def test_a_crash_before_the_file_has_its_size_leaves_it_usable(tmp_path: Path) -> None:
    path = make(tmp_path)
    os.truncate(path, 4096)
    with guard.open_target(guard.check_target(path, SIZE, "disk"), direct=False) as target:
        assert os.fstat(target.fd).st_size == target.data_offset + SIZE


def test_only_a_marked_file_is_removed(tmp_path: Path) -> None:
    path = make(tmp_path)
    guard.remove_target(path)
    assert list(tmp_path.iterdir()) == []


# --- Refused ---------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"", FOREIGN, b"\0" * (3 << 20)], ids=["empty", "text", "big"])
def test_a_file_without_the_marker_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "file").write_bytes(content)
    assert_refused(tmp_path, tmp_path / "file", "regular file of .* without Tameshi's marker")


@pytest.mark.parametrize("kept", [1, 80, 200, 4095])
def test_a_truncated_header_is_refused(tmp_path: Path, kept: int) -> None:
    path = make(tmp_path)
    os.truncate(path, kept)
    assert_refused(tmp_path, path, "without Tameshi's marker")


@pytest.mark.parametrize("position", [0, 40, 100, 160, 250, 4000])
def test_a_corrupted_header_is_refused(tmp_path: Path, position: int) -> None:
    path = make(tmp_path)
    with path.open("r+b") as file:
        file.seek(position)
        was = file.read(1)
        file.seek(position)
        file.write(bytes([was[0] ^ 1]))
    assert_refused(tmp_path, path, "without Tameshi's marker")


@pytest.mark.parametrize("body", [b"[]", b"7", b'{"uuid": "x"}', b"\xff", b'{"size_bytes": {}}'])
def test_header_with_wrong_fields_is_rejected(body: bytes) -> None:
    block = guard.Header("u", "disk", 1, False).to_block()
    magic = block[: block.index(b"\n") + 1]
    digest = hashlib.sha256(body).hexdigest().encode()
    forged = (magic + digest + b"\n" + body + b"\n").ljust(4096, b"\0")
    assert guard.Header.from_block(forged) is None


def test_header_fits_sector_and_round_trips() -> None:
    header = guard.Header("f" * 36, "r" * 100, 1 << 62, True)
    assert len(header.to_block().rstrip(b"\0")) <= 512
    assert guard.Header.from_block(header.to_block()) == header


def test_a_link_to_a_foreign_file_is_refused_with_the_real_path(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_bytes(FOREIGN)
    (tmp_path / "link").symlink_to("thesis")
    assert_refused(tmp_path, tmp_path / "link", f"{tmp_path}/thesis: .*regular file")


def test_link_of_role_to_foreign_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis").write_bytes(FOREIGN)
    (tmp_path / "tameshi-disk.dat").symlink_to("thesis")
    assert_refused(tmp_path, tmp_path, "without Tameshi's marker")


@pytest.mark.parametrize("leads_to", ["nowhere", "link"])
def test_a_link_to_nothing_is_refused(tmp_path: Path, leads_to: str) -> None:
    (tmp_path / "link").symlink_to(leads_to)
    assert_refused(tmp_path, tmp_path / "link", "symbolic link")


def test_file_with_hard_link_is_refused_even_with_marker(tmp_path: Path) -> None:
    path = make(tmp_path)
    os.link(path, tmp_path / "second")
    assert_refused(tmp_path, path, "2 names")


def test_a_directory_in_the_place_of_the_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tameshi-disk.dat").mkdir()
    assert_refused(tmp_path, tmp_path, "a directory")


def test_a_character_device_is_refused() -> None:
    with pytest.raises(GuardRefusal, match="a character device"):
        guard.check_target(Path("/dev/null"), SIZE, "disk")
    with pytest.raises(GuardRefusal, match="a character device"):
        guard.remove_target(Path("/dev/null"))


def test_a_named_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert_refused(tmp_path, tmp_path / "pipe", "a named pipe")


def test_a_socket_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # The path of a socket has at most 108 characters.
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("socket")
        assert_refused(tmp_path, tmp_path / "socket", "a socket")


@pytest.fixture
def block_device(tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """Make a block device and its backing file; a loop device, or else a bare node."""
    backing = tmp_path / "backing"
    backing.write_bytes(FOREIGN.ljust(1 << 20, b"\0"))
    try:
        command = ["losetup", "--find", "--show", str(backing)]
        loop = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        node = tmp_path / "node"
        try:
            os.mknod(node, 0o600 | 0o060000, os.makedev(7, 250))
        except PermissionError:
            pytest.skip("neither losetup nor mknod is permitted here")
        yield node, backing
        return
    yield Path(loop), backing
    subprocess.run(["losetup", "--detach", loop], check=True)


def test_a_block_device_is_refused(block_device: tuple[Path, Path], tmp_path: Path) -> None:
    node, backing = block_device
    before = backing.read_bytes()
    (tmp_path / "link").symlink_to(node)
    for path in (node, tmp_path / "link"):
        with pytest.raises(GuardRefusal, match="a block device"):
            guard.check_target(path, SIZE, "disk")
    with pytest.raises(GuardRefusal, match="a block device"):
        guard.remove_target(node)
    assert backing.read_bytes() == before


@pytest.mark.parametrize("path", ["/dev/nvme99n9", "/proc/tameshi", "/sys/tameshi"])
def test_mistyped_device_is_no_file_in_memory(path: str) -> None:
    with pytest.raises(GuardRefusal, match="file system of the kernel"):
        guard.check_target(Path(path), SIZE, "disk")
    assert not os.path.lexists(path)


def test_a_missing_directory_is_bad_input(tmp_path: Path) -> None:
    assert_refused(tmp_path, tmp_path / "typo" / "file", "no such directory", BadInput)


@pytest.mark.parametrize(("size", "role"), [(0, "disk"), (-1, "disk"), (SIZE, "../x"), (SIZE, "")])
def test_invalid_size_or_role_is_bad_input(tmp_path: Path, size: int, role: str) -> None:
    with pytest.raises(BadInput):
        guard.check_target(tmp_path, size, role)
    assert list(tmp_path.iterdir()) == []


def test_target_without_space_is_refused(tmp_path: Path) -> None:
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    with pytest.raises(GuardRefusal, match="not enough space"):
        guard.check_target(tmp_path, free, "disk")
    assert list(tmp_path.iterdir()) == []


def test_space_of_owned_file_counts_as_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make(tmp_path)
    with path.open("r+b") as file:
        file.seek(guard.DATA_OFFSET)
        file.write(b"x" * SIZE)
        os.fsync(file)
    occupied = path.stat().st_blocks * 512
    room = os.statvfs_result((512, 512, *[(guard.RESERVE_BYTES + SIZE) // 512] * 3, 0, 0, 0, 0, 9))
    monkeypatch.setattr(os, "statvfs", lambda _: room)
    assert occupied > SIZE
    assert guard.check_target(path, SIZE, "disk").action == "reuse"
    with pytest.raises(GuardRefusal, match="not enough space"):
        guard.check_target(tmp_path / "new", SIZE, "disk")


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Drop root's privileges, which pass every permission check, for one test."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    yield
    os.seteuid(0)


def test_a_place_without_permission_is_refused(unprivileged: None) -> None:
    for path in (Path("/"), Path("/new-file")):
        with pytest.raises(GuardRefusal, match="has no permission to write here"):
            guard.check_target(path, SIZE, "disk")
    assert not os.path.lexists("/tameshi-disk.dat")


# --- Between examination and opening ---------------------------------------------------------


def test_a_file_that_appears_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path / "file", SIZE, "disk")
    (tmp_path / "file").write_bytes(FOREIGN)
    before = tree(tmp_path)
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert tree(tmp_path) == before


def test_a_link_that_appears_meanwhile_is_not_followed(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path / "file", SIZE, "disk")
    (tmp_path / "file").symlink_to("nowhere")
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("by", ["foreign", "link", "other target", "nothing"])
def test_a_file_exchanged_meanwhile_is_refused(tmp_path: Path, by: str) -> None:
    path = make(tmp_path / "file")
    other = make(tmp_path / "other")
    plan = guard.check_target(path, SIZE, "disk")
    path.unlink()
    if by == "foreign":
        path.write_bytes(FOREIGN)
    elif by == "link":
        path.symlink_to(other)
    elif by == "other target":
        other.rename(path)
    before = tree(tmp_path)
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert tree(tmp_path) == before


def test_file_with_reused_inode_number_is_refused(tmp_path: Path) -> None:
    path = make(tmp_path)
    plan = guard.check_target(path, SIZE, "disk")
    with path.open("r+b") as file:
        file.write(guard.Header("another", "disk", SIZE, True).to_block())
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)


def test_a_directory_exchanged_meanwhile_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mnt").mkdir()
    plan = guard.check_target(tmp_path / "mnt", SIZE, "disk")
    (tmp_path / "mnt").rename(tmp_path / "old")
    (tmp_path / "mnt").mkdir()
    with pytest.raises(GuardRefusal, match="replaced"):
        guard.open_target(plan, direct=False)
    assert list((tmp_path / "mnt").iterdir()) == []


def test_a_target_in_use_is_neither_opened_nor_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tameshi.guard.handles.LOCK_PATIENCE_SECONDS", 0.05)
    path = make(tmp_path)
    plan = guard.check_target(path, SIZE, "disk")
    with guard.open_target(plan, direct=False):
        with pytest.raises(GuardRefusal, match="another run uses"):
            guard.open_target(plan, direct=False)
        with pytest.raises(GuardRefusal, match="another run uses"):
            guard.remove_target(path)
    guard.remove_target(path)


# --- Direct I/O ------------------------------------------------------------------------------


def test_direct_io_is_reported_as_effective(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path, SIZE, "disk")
    with guard.open_target(plan, direct=True, fallback=True) as target:
        assert target.direct == bool(fcntl.fcntl(target.fd, fcntl.F_GETFL) & os.O_DIRECT)
        guard.mark_laid_out(target)
        assert target.laid_out


@pytest.mark.parametrize("fallback", [False, True])
def test_without_direct_io_the_caller_decides(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: bool
) -> None:
    monkeypatch.setattr("tameshi.guard.targets.set_direct", lambda _: False)
    plan = guard.check_target(tmp_path, SIZE, "disk")
    if fallback:
        with guard.open_target(plan, direct=True, fallback=True) as target:
            assert not target.direct
        return
    with pytest.raises(RunFailed, match="direct I/O"):
        guard.open_target(plan, direct=True)
    assert list(tmp_path.iterdir()) == []


def test_a_file_system_without_renaming_is_served_by_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        ctypes.set_errno(errno.EINVAL)
        return -1

    libc = types.SimpleNamespace(renameat2=refuse)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: libc)
    path = make(tmp_path)
    assert path.stat().st_nlink == 1
    plan = guard.check_target(tmp_path / "file", SIZE, "disk")
    (tmp_path / "file").write_bytes(FOREIGN)
    with pytest.raises(GuardRefusal):
        guard.open_target(plan, direct=False)
    assert (tmp_path / "file").read_bytes() == FOREIGN


def test_a_target_opens_through_the_page_cache_beside(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path, SIZE, "disk")
    with guard.open_target(plan, direct=True, fallback=True) as target:
        target.open_buffered()
        assert (target.buffered_fd is not None) == target.direct
        for fd in target.descriptors:
            assert os.path.samestat(os.fstat(fd), os.stat(plan.path))
            past = bool(fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_DIRECT)
            assert past == (target.direct and fd == target.fd)
    assert target.descriptors == [-1]


def test_sparse_target_needs_no_space(tmp_path: Path) -> None:
    wanted = {"disk": (tmp_path / "disk", 1 << 50)}
    with pytest.raises(GuardRefusal, match="not enough space"):
        guard.check_targets(wanted)
    assert guard.check_targets(wanted, sparse={"disk"})["disk"].action == "create"
    assert list(tmp_path.iterdir()) == []


def test_cached_pages_of_a_target_are_dropped(tmp_path: Path) -> None:
    plan = guard.check_target(tmp_path / "disk.img", SIZE, "disk")
    with guard.open_target(plan, direct=False) as target:
        os.pwrite(target.fd, b"x" * (1 << 20), guard.DATA_OFFSET)
        _, size = _resident(tmp_path)
        target.drop_cached()
        cached, _ = _resident(tmp_path)
        assert cached < 1 << 19 < size
        assert os.pread(target.fd, 4, guard.DATA_OFFSET) == b"xxxx"
