"""Check that all jobs of fio's results used one device."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath
from typing import Any

from tameshi import fio
from tameshi.calibrate.fio_figures import Place
from tameshi.core.errors import BadInput
from tameshi.fio import values

ACCEPTED = "results of jobs on one device; keep other devices in other files"
SHOWN = 4
"""Devices named in an error."""


def refuse_several(whole: Place, jobs: Iterable[tuple[str, Mapping[str, str]]]) -> None:
    """Raise `BadInput` if jobs, given with their options, used several devices.

    Files in several directories may share a device: fio lists the disks that it used.
    """
    first: dict[str, str] = {}
    for name, options in jobs:
        own = _places(f"{whole.file}: job {name}", options)
        first |= {place: name for place in own if place not in first}
        if _are_several(own, whole.table):
            message = "this job used several devices, and a profile describes one"
            raise _refused(f"{whole.file}: job {name}", message, own)
    if _are_several(first, whole.table):
        message = "these jobs used several devices, and a profile describes one"
        raise _refused(
            whole.file, message, [f"{place} (job {job})" for place, job in first.items()]
        )


def _refused(where: str, message: str, found: Iterable[str]) -> BadInput:
    places = list(found)
    more = [f"{len(places) - SHOWN} more"] if len(places) > SHOWN else []
    shown = ", ".join([*places[:SHOWN], *more])
    return BadInput(message, where=where, key="filename", found=shown, accepted=[ACCEPTED])


def _places(where: str, options: Mapping[str, str]) -> list[str]:
    """Return the devices of a job and the directories of its files."""

    def split(key: str) -> list[str]:
        return values.files(fio.Setting(key, options[key], where)) if options.get(key) else []

    folders = split("directory") or ["."]
    names = split("filename") or ["file"]
    paths = [PurePosixPath(folder, name) for folder in folders for name in names]
    return list(dict.fromkeys(str(path if _is_device(path) else path.parent) for path in paths))


def _is_device(path: PurePosixPath) -> bool:
    return path.is_relative_to("/dev") and not path.is_relative_to("/dev/shm")


def _are_several(places: Iterable[str], whole: Mapping[str, Any]) -> bool:
    found = [PurePosixPath(place) for place in places]
    devices = [place for place in found if _is_device(place)]
    disks = whole.get("disk_util")
    is_one_disk = isinstance(disks, list) and len(disks) == 1
    return len(found) > 1 and (bool(devices) or not is_one_disk)
