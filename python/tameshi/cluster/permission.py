"""Permission of a worker: paths that measured runs from the network may use on its host.

It is given when the worker starts (`tameshi worker --allow`), lives in its process, and is never
taken from a message.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi.core.errors import BadInput, GuardRefusal
from tameshi.study.bindings import Bindings

HINT = "Start the worker on that host with: tameshi worker ADDRESS --allow PATH."


@dataclass(frozen=True)
class Permission:
    """Host name of a worker, real paths that it may use, and names that it may destroy."""

    host: str
    paths: tuple[Path, ...]
    destroy: tuple[str, ...] = ()


_granted: list[Permission] = []
"""Permission of this process: none, or one."""


def grant(host: str, paths: Sequence[Path], destroy: Sequence[str] = ()) -> Permission:
    """Set the permission of this process, once; raise `BadInput` for a path that is not there."""
    if _granted:
        raise BadInput("this process has a permission already", where="--allow")
    real = []
    for path in paths:
        if not path.exists():
            found = str(path)
            raise BadInput("there is no such path to allow", where="--allow", found=found)
        real.append(Path(os.path.realpath(path)))
    if Path("/") in real:
        message = "the root directory is no place for measurements"
        accepted = ["a directory for files of Tameshi's, a file, or a device"]
        raise BadInput(message, where="--allow", found="/", accepted=accepted)
    _granted.append(Permission(host, tuple(real), tuple(destroy)))
    return _granted[0]


def granted() -> Permission | None:
    """Return the permission of this process; None if it was started without."""
    return _granted[0] if _granted else None


def bindings_within(storage: Mapping[str, str]) -> Bindings:
    """Return bindings for these paths; raise `GuardRefusal` for one beyond the permission.

    The result holds real paths, so that a link that changes later leads nowhere else. What may be
    destroyed is the permission's own, and a study need not use all of it.
    """
    permission = _required()
    bound = {}
    for name, path in storage.items():
        bound[name] = Path(os.path.realpath(path))
        _refuse_beyond(permission, bound[name], name)
    return Bindings(bound, destroy=permission.destroy, may_spare=True)


def require_within(paths: Sequence[Path]) -> None:
    """Raise `GuardRefusal` unless what runs would write is within the permission: a link in an
    allowed directory may lead out of it."""
    permission = _required()
    for path in paths:
        _refuse_beyond(permission, Path(os.path.realpath(path)), "")


def _required() -> Permission:
    permission = granted()
    if permission is None:
        raise GuardRefusal("this worker was started without a permission to measure", hint=HINT)
    return permission


def _refuse_beyond(permission: Permission, real: Path, key: str) -> None:
    if not any(real == own or real.is_relative_to(own) for own in permission.paths):
        raise GuardRefusal(
            "this worker was not started with a permission for this path",
            where=permission.host,
            key=key,
            found=str(real),
            accepted=map(str, permission.paths),
            hint=HINT,
        )
