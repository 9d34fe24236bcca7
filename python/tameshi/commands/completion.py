"""Completion in the shell: names of ready studies and profiles, next to files and folders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from tameshi.core.data import PROFILES
from tameshi.study.explain import names
from tameshi.study.file import ready_names

DRIVES = ("arrays", "devices")
CONTROL = "ctl"
"""First word of `tameshi serve` for a message to a served drive."""


def complete_ready(incomplete: str) -> list[str]:
    """Return the ready studies that begin with what was typed."""
    return _beginning(ready_names(), incomplete)


def complete_study(incomplete: str) -> list[str]:
    """Return ready studies, study files and folders."""
    return [*complete_ready(incomplete), *_files(incomplete)]


def complete_served(incomplete: str) -> list[str]:
    """Return profiles of drives and arrays, and ready studies up to the colon before a storage."""
    names = [*_profiles(DRIVES), CONTROL, *(f"{name}:" for name in ready_names())]
    return [*_beginning(names, incomplete), *_files(incomplete)]


def complete_storages(incomplete: str) -> list[str]:
    """Return lists of drives and arrays that end with one that begins as typed."""
    before, comma, last = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in _beginning(_profiles(DRIVES), last)]


def complete_links(incomplete: str) -> list[str]:
    """Return profiles of links, and profile files."""
    return [*_beginning(_profiles(("links",)), incomplete), *_files(incomplete)]


def complete_profile(incomplete: str) -> list[str]:
    """Return profiles of any kind, and profile files."""
    kinds = sorted(folder.name for folder in PROFILES.iterdir() if folder.is_dir())
    return [*_beginning(_profiles(kinds), incomplete), *_files(incomplete)]


def complete_explained(incomplete: str) -> list[str]:
    """Return metrics, and keys of study and profile files."""
    return _beginning(names(), incomplete)


def _beginning(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _profiles(kinds: Iterable[str]) -> list[str]:
    return sorted({path.stem for kind in kinds for path in (PROFILES / kind).glob("*.toml")})


def _files(incomplete: str) -> Iterator[str]:
    """Yield TOML files and folders; a folder ends with a slash."""
    _, _, beginning = incomplete.rpartition("/")
    before = incomplete[: len(incomplete) - len(beginning)]
    try:
        entries = sorted(Path(before or ".").expanduser().iterdir())
    except OSError:
        return
    for path in entries:
        if path.name.startswith(beginning) and (beginning or not path.name.startswith(".")):
            if path.is_dir():
                yield f"{before}{path.name}/"
            elif path.suffix == ".toml":
                yield f"{before}{path.name}"
