"""Errors that a fio job tolerates: `continue_on_error` and `ignore_error`."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tameshi.fio import values
from tameshi.fio.jobfile import Setting
from tameshi.fio.reader import Reader
from tameshi.fio.values import bad

KINDS = ("read", "write", "verify")
"""Kinds of errors, in the order of `ignore_error`'s lists."""
_WORDS = {
    "none": (),
    "0": (),
    "read": ("read",),
    "write": ("write",),
    "verify": ("verify",),
    "io": ("read", "write"),
    "all": KINDS,
    "1": KINDS,
}
_REQUESTS = {"read": ("read",), "write": ("write", "trim", "sync")}
"""Requests that fail with each kind of error: as in fio, everything but a read counts as a write.
"""


@dataclass(frozen=True)
class Failures:
    """Kinds of errors that a job tolerates, and errors that it ignores, by kind."""

    kinds: tuple[str, ...] = ()
    ignored: tuple[tuple[str, int], ...] = ()

    @property
    def tolerated(self) -> list[str]:
        """Return the requests that may fail, in a study's terms."""
        found = {*self.kinds, *(kind for kind, _ in self.ignored)}
        return [word for kind, words in _REQUESTS.items() if kind in found for word in words]

    def counted(self, failed: Iterable[Mapping[str, object]]) -> list[tuple[str, int, int]]:
        """Return kind, error and number of the counted failures of a record."""
        found = []
        for failure in failed:
            kind = "read" if failure["operation"] == "read" else "write"
            error, count = int(str(failure["error"])), int(str(failure["count"]))
            if (kind, error) not in self.ignored:
                found.append((kind, error, count))
        return found

    def fatal(self, failed: Iterable[Mapping[str, object]]) -> tuple[int, str] | None:
        """Return the first error that would have ended the job in fio, and a sentence."""
        for kind, error, count in self.counted(failed):
            if kind not in self.kinds:
                told = f"{count} requests failed ({kind}: {os.strerror(error)})"
                return error, told
        return None


def failures_of(reader: Reader) -> Failures:
    """Read the tolerated errors of a job; raise `BadInput` for an unknown kind or error."""
    setting = reader.get("continue_on_error")
    kinds: tuple[str, ...] = ()
    if setting:
        word = setting.value or "1"
        if word not in _WORDS:
            raise bad(setting, "unknown kind of error", *_WORDS)
        kinds = _WORDS[word]
        if "verify" in kinds and reader.get("verify"):
            note = "a block that fails verification fails the run, whatever this says"
            reader.notes.append(f"{setting.where}: continue_on_error: {note}")
    ignored: list[tuple[str, int]] = []
    setting = reader.get("ignore_error")
    if setting:
        lists = values.text(setting).split(",")
        if len(lists) > len(KINDS):
            raise bad(setting, "only reads, writes and verification have errors", "READ,WRITE")
        for kind, names in zip(KINDS, lists, strict=False):
            ignored += [(kind, _number(setting, name)) for name in names.split(":") if name]
    return Failures(kinds, tuple(ignored))


def _number(setting: Setting, name: str) -> int:
    """Return an error number from a name or number."""
    if name.isdigit() and int(name) in errno.errorcode:
        return int(name)
    found = getattr(errno, name, None)
    if not isinstance(found, int):
        raise bad(
            setting, f"`{name}` is not an error of this system", "a name such as ENOSPC", "28"
        )
    return found
