"""Guard's decisions on volumes for power cuts."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from disks import run, unable

from tameshi import guard
from tameshi.core.errors import GuardRefusal, RunFailed
from tameshi.guard import volumes

SIZE = 320 << 20


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    if os.geteuid() != 0:
        unable("only root mounts")
    path = tmp_path / "volume"
    yield path
    point = path / volumes.POINT
    while os.path.ismount(point):
        run("umount", point)


def loops() -> str:
    return run("losetup", "--noheadings", "--list", "--output", "BACK-FILE")


def test_volume_is_made_mounted_and_removed(folder: Path) -> None:
    with guard.Volume(folder, SIZE) as volume:
        assert os.path.ismount(volume.point)
        (volume.point / "file").write_text("x")
        assert str(volume.image) in loops()
        with pytest.raises(GuardRefusal, match="does not claim or delete"):
            guard.remove_folder(folder)
    assert not folder.exists()
    assert str(folder) not in loops()


def test_only_written_data_survives_a_cut(folder: Path) -> None:
    with guard.Volume(folder, SIZE) as volume:
        with (volume.point / "synced").open("wb") as file:
            file.write(b"kept" * 5000)
            file.flush()
            os.fsync(file.fileno())
        (volume.point / "cached").write_bytes(b"lost" * 5000)
        volume.cut()
        with pytest.raises(OSError, match="Input/output error"):
            (volume.point / "late").write_bytes(b"x")
        volume.unmount()
        volume.mount()
        assert (volume.point / "synced").read_bytes() == b"kept" * 5000
        cached = volume.point / "cached"
        assert not cached.exists() or b"lost" not in cached.read_bytes()
        assert not (volume.point / "late").exists()


def test_a_foreign_folder_takes_no_volume(folder: Path) -> None:
    folder.mkdir()
    (folder / "file").write_text("mine")
    with pytest.raises(GuardRefusal, match="did not make"):
        guard.Volume(folder, SIZE)
    assert [entry.name for entry in folder.iterdir()] == ["file"]


def test_nothing_but_its_own_file_system_is_cut(folder: Path) -> None:
    volume = guard.Volume(folder, SIZE)
    volume.point.mkdir()
    with pytest.raises(GuardRefusal, match="only file systems that it made"):
        volume.cut()
    run("mount", "-t", "tmpfs", "tmpfs", volume.point)
    for deed in (volume.cut, volume.unmount, volume.make, volume.remove):
        with pytest.raises(GuardRefusal, match="another file system is mounted here"):
            deed()
    assert os.path.ismount(volume.point)


def test_mounted_volume_is_removed_first(folder: Path) -> None:
    left = guard.Volume(folder, SIZE)
    left.make()
    (left.point / "file").write_text("old")
    with guard.Volume(folder, SIZE) as volume:
        assert list(volume.point.iterdir()) == []
    assert not folder.exists()


def test_volume_without_root_tools_or_space_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(GuardRefusal, match="too small for XFS"):
        guard.Volume(folder, 1 << 20)
    with pytest.raises(GuardRefusal, match="not enough space"), guard.Volume(folder, 1 << 50):
        pass
    assert not folder.exists()
    with monkeypatch.context() as patched:
        patched.setattr("os.geteuid", lambda: 1000)
        with pytest.raises(GuardRefusal, match="only root can mount"):
            guard.Volume(folder, SIZE)
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(GuardRefusal, match=r"no mkfs\.xfs, mount, umount"):
        guard.Volume(folder, SIZE)
    assert not folder.exists()


def test_volume_in_use_is_not_unmounted_with_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(volumes, "_BUSY_SECONDS", 0.2)
    with guard.Volume(folder, SIZE) as volume:
        with (
            subprocess.Popen(["sleep", "600"], cwd=volume.point) as user,
            pytest.raises(RunFailed, match=r"umount failed.*busy"),
        ):
            try:
                volume.unmount()
            finally:
                user.kill()
        assert os.path.ismount(volume.point)
