"""XFS file system of Tameshi's own for power cuts: an image file in a folder, mounted inside it.

`cut` shuts the file system down, which drops all data not yet written to its device. Only such a
file system is ever shut down, mounted or unmounted here.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import Self

from tameshi.core.environment import SYS, Mount, mounts, text_in
from tameshi.core.errors import GuardRefusal, RunFailed
from tameshi.guard.folders import claim_folder, remove_folder
from tameshi.guard.handles import OPEN_FOLDER, closing, open_regular, size_text, translated
from tameshi.guard.space import Need, require_space

SMALLEST_BYTES = 300 << 20
"""Minimum size accepted by mkfs.xfs since xfsprogs 5.19."""
IMAGE = "volume.img"
POINT = "mnt"

_GOING_DOWN = 0x8004587D  # XFS_IOC_GOINGDOWN, _IOR('X', 125, __u32)
_WITHOUT_LOG_FLUSH = 2  # XFS_FSOP_GOING_FLAGS_NOLOGFLUSH
_BUSY_SECONDS = 30.0
_TOOLS = ("mkfs.xfs", "mount", "umount")


class Volume:
    """File system of `size_bytes` in `folder`; a context manager that mounts and finally removes
    it.

    Removes an earlier volume in the folder first, mounted or not. Raises `GuardRefusal` for a
    foreign folder, for lack of space, and without tools or root rights.
    """

    def __init__(self, folder: Path, size_bytes: int) -> None:
        _require_means(folder)
        if size_bytes < SMALLEST_BYTES:
            raise GuardRefusal(
                "the size is too small for XFS",
                where=str(folder),
                found=size_text(size_bytes),
                accepted=[f"{size_text(SMALLEST_BYTES)} or more"],
            )
        claim_folder(folder)
        self.folder = Path(os.path.realpath(folder))
        self.image = self.folder / IMAGE
        self.point = self.folder / POINT
        self._size_bytes = size_bytes

    def make(self) -> None:
        """Create and mount the file system."""
        self._clear()
        require_space([Need(self.image, self.folder, self._size_bytes)])
        with translated(self.folder), closing(os.open(self.folder, OPEN_FOLDER)) as directory:
            flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
            with closing(os.open(IMAGE, flags, 0o600, dir_fd=directory)) as fd:
                os.posix_fallocate(fd, 0, self._size_bytes)
            os.mkdir(POINT, 0o755, dir_fd=directory)
        _run("mkfs.xfs", "-q", str(self.image))
        self.mount()

    def mount(self) -> None:
        """Mount the file system; after a cut, it recovers here from its device."""
        with translated(self.image), closing(open_regular(self.image, os.O_RDONLY)):
            _run("mount", "-t", "xfs", "-o", "loop,nodev,nosuid", str(self.image), str(self.point))
        os.chmod(self.point, 0o755)

    def cut(self) -> None:
        """Simulate a power failure: unwritten data is lost, and each later access fails.

        Only data still in the file system's memory is lost. Data that its device has accepted
        survives, flushed or not.
        """
        with closing(os.open(self.point, OPEN_FOLDER)) as directory:
            mount = self._mounted()
            status = os.fstat(directory)
            number = f"{os.major(status.st_dev)}:{os.minor(status.st_dev)}"
            if mount is None or mount.device != number:
                raise GuardRefusal(
                    "Tameshi shuts down only file systems that it made",
                    where=str(self.point),
                    found="another file system, or none",
                    accepted=[f"XFS mounted from {self.image}"],
                )
            fcntl.ioctl(directory, _GOING_DOWN, ctypes.c_uint32(_WITHOUT_LOG_FLUSH))

    def sync(self) -> None:
        """Write all dirty data to the device."""
        _run("sync", "--file-system", str(self.point))

    def unmount(self) -> None:
        """Unmount as soon as the file system is unused. Raises `RunFailed` after a time limit."""
        deadline = time.monotonic() + _BUSY_SECONDS
        while self._mounted():
            try:
                _run("umount", str(self.point))
            except RunFailed:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def remove(self) -> None:
        """Unmount, and remove the folder."""
        self.unmount()
        remove_folder(self.folder)

    def __enter__(self) -> Self:
        try:
            self.make()
        except BaseException:
            self.remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def _clear(self) -> None:
        self.unmount()
        with suppress(FileNotFoundError):
            os.rmdir(self.point)
        with suppress(FileNotFoundError):
            os.unlink(self.image)

    def _mounted(self) -> Mount | None:
        """Return the mount, if mounted; refuse any other mount at this point."""
        mounted = None
        for mount in mounts():
            if mount.point != self.point:
                continue
            node = SYS / "block" / Path(mount.source).name
            backing = text_in(node / "loop/backing_file")
            if mount.file_system != "xfs" or backing != str(self.image):
                raise GuardRefusal(
                    "another file system is mounted here",
                    where=str(self.point),
                    found=f"{mount.file_system} from {mount.source}",
                    accepted=[f"XFS from {self.image}"],
                )
            mounted = mount
        return mounted


def check_volume(folder: Path, size_bytes: int) -> None:
    """Refuse a folder in which no volume can be made; create nothing. Raises `GuardRefusal`."""
    _require_means(folder)
    place = folder if folder.exists() else folder.parent
    require_space([Need(folder, place, size_bytes)])


def _require_means(folder: Path) -> None:
    missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
    if os.geteuid() != 0 or missing:
        raise GuardRefusal(
            "a power cut needs its own file system, which only root can mount",
            where=str(folder),
            found=f"no {', '.join(missing)}" if missing else "not root",
            hint="Start Tameshi as root; on Debian: apt-get install xfsprogs",
        )


def _run(*command: str) -> None:
    """Run a command in its own session, out of reach of the terminal's Ctrl-C."""
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
        start_new_session=True,
    )
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())
        raise RunFailed(f"{command[0]} failed", where=command[-1], found=said)
