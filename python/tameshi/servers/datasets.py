"""Kept data sets: cells that differ only in settings start from the same files.

A data set is a cleanly stopped data directory, copied under a key of everything that its files
depend on. Copies share blocks where the file system can (reflink), and are synced before they
count.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tameshi import guard
from tameshi.core.errors import GuardRefusal, RunFailed

FORM = 2
"""Version of the stored form; another version has other keys."""
KEY_DIGITS = 16
_MANIFEST = "dataset.json"
_FILES = "files"
_FICLONE = 0x40049409  # linux/fs.h
_CANNOT_CLONE = (
    *(errno.EOPNOTSUPP, errno.ENOTTY, errno.EINVAL, errno.EXDEV, errno.ENOSYS, errno.EPERM),
)
_PIECE_BYTES = 16 << 20

Progress = Callable[[int, int], None]
"""Callback for the bytes copied so far and in all."""


@dataclass(frozen=True)
class Facts:
    """Key of a data set: everything that its files depend on.

    `shaping` are the options that determine the files, `program` the workload with its size as in
    the run's spec.
    """

    product: str
    version: str
    shaping: Mapping[str, str]
    program: Mapping[str, Any]
    seed: int

    def key(self) -> str:
        """Return the hash under which the data set is kept."""
        canonical = json.dumps(self.as_json(), sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(canonical.encode()).hexdigest()

    def as_json(self) -> dict[str, Any]:
        """Return the facts as plain data."""
        return {
            "form": FORM,
            "product": self.product,
            "version": self.version,
            "shaping": dict(self.shaping),
            "program": dict(self.program),
            "seed": self.seed,
        }


@dataclass(frozen=True)
class Aside:
    """Files and folders at the top of a data directory that belong into another `folder`.

    `linked`: links in the data directory lead to them.
    """

    folder: Path
    patterns: tuple[str, ...]
    linked: bool

    def has(self, name: str) -> bool:
        """Return whether the file or folder belongs there."""
        return any(fnmatchcase(name, pattern) for pattern in self.patterns)


class DataSets:
    """Data sets kept in a folder of Tameshi's, preferably on the file system of the data directory.

    `folder` is created if needed. Raises `GuardRefusal` if it is not Tameshi's.
    """

    def __init__(self, folder: Path) -> None:
        guard.claim_folder(folder)
        self.folder = Path(os.path.realpath(folder))

    def find(self, facts: Facts) -> dict[str, Any] | None:
        """Return the manifest of the data set with these facts; None if absent or incomplete."""
        try:
            manifest = json.loads((self._place(facts) / _MANIFEST).read_bytes())
        except (FileNotFoundError, ValueError):
            return None
        return dict(manifest) if manifest.get("facts") == facts.as_json() else None

    def keep(self, facts: Facts, data: Path, progress: Progress | None = None) -> dict[str, Any]:
        """Keep the files of a cleanly stopped server in `data`; replace an older copy.

        Raises `GuardRefusal` for lack of space. An interrupted copy does not count.
        """
        place = self._place(facts)
        if place.exists():
            guard.remove_folder(place)
        files = _listed(data)
        size_bytes = sum(files.values())
        guard.require_space([guard.Need(place, self.folder, size_bytes)])
        guard.claim_folder(place)
        try:
            shared = _copy(data, place / _FILES, size_bytes, progress)
            _require_same(files, _listed(place / _FILES), place)
            _sync(place)
        except BaseException:
            guard.remove_folder(place)
            raise
        manifest = {
            "facts": facts.as_json(),
            "files": files,
            "size_bytes": size_bytes,
            "shared": shared,
        }
        # Written last: a data set without manifest does not count.
        guard.write_file(place / _MANIFEST, json.dumps(manifest, indent=1).encode())
        return manifest

    def restore(
        self,
        facts: Facts,
        data: Path,
        progress: Progress | None = None,
        aside: Aside | None = None,
    ) -> None:
        """Restore the data set to `data`, an empty folder of a data directory of Tameshi's, and the
        files of `aside` to another one.

        Syncs the copy, so that no run pays for its write-back. Raises `RunFailed` for a damaged
        data set, `GuardRefusal` for lack of space.
        """
        place = self._place(facts)
        manifest = self.find(facts)
        if manifest is None:
            raise RunFailed("no such data set", where=str(place))
        for folder in (data, *([aside.folder] if aside else [])):
            if not (folder.parent / guard.MARKER).exists() or any(folder.iterdir()):
                raise GuardRefusal(
                    "a data set is restored only into an empty data directory of Tameshi's",
                    where=str(folder),
                    found=f"{len(list(folder.iterdir()))} entries",
                )
        _require_same(manifest["files"], _listed(place / _FILES), place)
        guard.require_space([guard.Need(data, data, manifest["size_bytes"])])
        _copy(place / _FILES, data, manifest["size_bytes"], progress, aside)
        _sync(data)
        if aside:
            _sync(aside.folder)

    def kept(self) -> Iterator[dict[str, Any]]:
        """Return the manifests of all complete data sets."""
        for path in sorted(self.folder.glob(f"*/{_MANIFEST}")):
            yield json.loads(path.read_bytes())

    def forget(self, facts: Facts) -> None:
        """Delete a data set, if it exists."""
        place = self._place(facts)
        if place.exists():
            guard.remove_folder(place)

    def _place(self, facts: Facts) -> Path:
        return self.folder / f"{facts.product}-{facts.key()[:KEY_DIGITS]}"


def _listed(folder: Path) -> dict[str, int]:
    """Return the size of each file below a folder; refuse anything but files and folders."""
    sizes: dict[str, int] = {}
    for here, folders, names in os.walk(folder):
        for name in (*folders, *names):
            path = Path(here, name)
            status = os.lstat(path)
            if stat.S_ISREG(status.st_mode):
                sizes[str(path.relative_to(folder))] = status.st_size
            elif not stat.S_ISDIR(status.st_mode):
                raise RunFailed(
                    ("a data set may hold only files and folders: was the server stopped cleanly?"),
                    where=str(path),
                    found=stat.filemode(status.st_mode),
                )
    return dict(sorted(sizes.items()))


def _require_same(wanted: Mapping[str, int], actual: Mapping[str, int], place: Path) -> None:
    differing = sorted(dict(wanted.items() ^ actual.items()))
    if differing:
        raise RunFailed(
            "the data set is damaged: its files are not those that were kept",
            where=str(place),
            found=", ".join(differing[:5]),
            hint="Delete its folder; the next run loads it anew.",
        )


def _copy(
    source: Path,
    target: Path,
    size_bytes: int,
    progress: Progress | None,
    aside: Aside | None = None,
) -> bool:
    """Copy a folder with owners and modes; return whether all files share their blocks."""

    def copy_of(path: Path) -> Path:
        inside = path.relative_to(source)
        is_aside = aside and inside.parts and aside.has(inside.parts[0])
        return (aside.folder if aside and is_aside else target) / inside

    if aside and aside.linked:
        for path in source.iterdir():
            if aside.has(path.name):
                (target / path.name).symlink_to(aside.folder / path.name)
    done = 0
    shared = True
    for here, _, names in os.walk(source):
        inside = copy_of(Path(here))
        inside.mkdir(exist_ok=True)
        _take_after(Path(here), inside)
        for name in names:
            copied = copy_of(Path(here, name))
            shared &= _copy_file(Path(here, name), copied)
            _take_after(Path(here, name), copied)
            done += copied.stat().st_size
            if progress:
                progress(done, size_bytes)
    return shared


def _take_after(source: Path, target: Path) -> None:
    status = os.lstat(source)
    if os.geteuid() == 0:
        os.chown(target, status.st_uid, status.st_gid, follow_symlinks=False)
    shutil.copystat(source, target, follow_symlinks=False)


def _copy_file(source: Path, target: Path) -> bool:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    with open(source, "rb", buffering=0) as old, open(os.open(target, flags, 0o600), "wb") as new:
        try:
            fcntl.ioctl(new.fileno(), _FICLONE, old.fileno())
            return True
        except OSError as error:
            if error.errno not in _CANNOT_CLONE:
                raise
        while os.sendfile(new.fileno(), old.fileno(), None, _PIECE_BYTES):
            pass
        return False


def _sync(folder: Path) -> None:
    """Sync the folder's file system."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if libc.syncfs(fd):
            code = ctypes.get_errno()
            raise RunFailed("cannot be synced", where=str(folder), found=os.strerror(code))
    finally:
        os.close(fd)
