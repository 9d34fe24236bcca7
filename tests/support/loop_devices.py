"""Loop devices for the guard's tests."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from disks import run, unable

Attach = Callable[..., Path]


@pytest.fixture
def attach() -> Iterator[Attach]:
    """Make loop devices: `attach(backing, *options)` returns the node."""
    made: list[Path] = []

    def attached(backing: Path, *options: str) -> Path:
        if os.geteuid() != 0:
            unable("loop devices need root")
        command = ["losetup", "--find", "--show", *options, str(backing)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=True)
        except (OSError, subprocess.CalledProcessError) as error:
            unable(f"no loop device can be made: {getattr(error, 'stderr', error)}")
        made.append(Path(done.stdout.strip()))
        return made[-1]

    yield attached
    for node in reversed(made):
        with suppress(AssertionError):  # a test may have detached it
            run("losetup", "--detach", node)


@pytest.fixture
def mounted(tmp_path: Path) -> Iterator[Callable[[Path], Path]]:
    """Mount a device until the test ends."""
    points: list[Path] = []

    def mount(node: Path) -> Path:
        point = tmp_path / f"mounted {len(points)}"
        point.mkdir()
        run("mount", node, point)
        points.append(point)
        return point

    yield mount
    for point in points:
        run("umount", "--lazy", point)
