"""A Linux guest on a drive that is served by NBD: writes, a flush, a power cut, another boot.

The guest is Debian's cloud kernel with busybox, emulated without hardware support.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import tameshi_process
from served import left, only_served_drives, session

KERNEL = "linux-image-cloud-amd64"
BOOT_SECONDS = 120
# 4 MiB with a flush, then writes without one until the end.
WRITE = """
dd if=/dev/zero bs=1M count=4 | tr '\\0' 'K' > /pattern
dd if=/pattern of=$disk bs=64k seek=256 conv=fsync
echo FLUSHED
while true; do dd if=/pattern of=$disk bs=64k seek=4096 conv=notrunc; done
"""
READ = """
dd if=/dev/zero bs=1M count=4 | tr '\\0' 'K' > /pattern
dd if=$disk of=/back bs=64k skip=256 count=64
cmp /pattern /back && echo KEPT
"""
INIT = """#!/bin/sh
export PATH=/bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
disk=/dev/nvme0n1
until [ -b $disk ]; do sleep 0.1; done
{program}
echo END
poweroff -f
"""
APPLETS = ("sh", "mount", "dd", "tr", "cmp", "sleep", "poweroff")

pytestmark = pytest.mark.soak


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """One test at a time: each checks that nothing is left of any served drive."""
    with only_served_drives():
        yield


def kernel(folder: Path) -> Path:
    """Fetch and unpack Debian's cloud kernel; installing it would change this machine's boot."""
    depends = subprocess.run(
        ("apt-cache", "depends", KERNEL), check=True, capture_output=True, text=True
    ).stdout
    found = re.search(r"Depends: (linux-image-\S+)", depends)
    assert found, depends
    subprocess.run(("apt-get", "-qq", "download", found[1]), cwd=folder, check=True)
    (package,) = folder.glob("*.deb")
    subprocess.run(("dpkg-deb", "-x", package, folder / "kernel"), check=True)
    (image,) = folder.glob("kernel/boot/vmlinuz-*")
    return image


def initial_files(folder: Path, program: str) -> Path:
    """Return an archive of the guest's files, whose first program is `program`."""
    root = folder / "root"
    shutil.rmtree(root, ignore_errors=True)
    for name in ("bin", "dev", "proc"):
        (root / name).mkdir(parents=True)
    shutil.copy("/bin/busybox", root / "bin/busybox")
    for applet in APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    (root / "init").write_text(INIT.format(program=program))
    (root / "init").chmod(0o755)
    names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
    archive = folder / "initial.cpio"
    with archive.open("wb") as out:
        line = ("busybox", "cpio", "-o", "-H", "newc")
        subprocess.run(line, cwd=root, input=names.encode(), stdout=out, check=True)
    return archive


@contextmanager
def guest(image: Path, files: Path, drive: Path) -> Iterator[subprocess.Popen[str]]:
    """Boot a guest on an NBD socket; its console is the process's output."""
    nbd = f"driver=raw,file.driver=nbd,file.server.type=unix,file.server.path={drive}"
    line = [
        *("qemu-system-x86_64", "-accel", "tcg", "-m", "512", "-nographic", "-no-reboot"),
        *("-kernel", str(image), "-initrd", str(files), "-append", "console=ttyS0 quiet panic=-1"),
        *("-drive", f"{nbd},if=none,id=drive,cache=none"),
        *("-device", "nvme,drive=drive,serial=1"),
    ]
    process = subprocess.Popen(
        line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    limit = threading.Timer(BOOT_SECONDS, process.kill)
    limit.start()
    try:
        yield process
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def told(process: subprocess.Popen[str], word: str) -> None:
    """Wait until the guest's console shows a word."""
    assert process.stdout
    seen = []
    for line in process.stdout:
        seen.append(line)
        if word in line:
            return
    raise AssertionError(f"no {word}:\n{''.join(seen)}")


@pytest.mark.timeout(600)
def test_guest_finds_its_flushed_data_after_a_power_cut(tmp_path: Path) -> None:
    image, socket = kernel(tmp_path), tmp_path / "nbd"
    with session("nvme-tlc-1tb-consumer", "--nbd", f"unix:{socket}") as process:
        name = next(Path("/run/tameshi").glob(f"*-{process.pid}")).name
        with guest(image, initial_files(tmp_path, WRITE), socket) as running:
            told(running, "FLUSHED")
            done = tameshi_process("serve", "ctl", "cut", "--drive", name)
            assert done.returncode == 0, done.stderr
        with guest(image, initial_files(tmp_path, READ), socket) as running:
            told(running, "KEPT")
    assert left() == []
