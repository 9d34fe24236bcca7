"""Drive or stack that `tameshi serve` names: a profile, an array, or a storage of a file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tameshi import devices
from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.serve import nodes
from tameshi.study.file import StudyFile, profiles_of, read_study, read_text

WRITTEN = ("never", "once", "steady")
"""Writes to flash drives before they are served, as a study's `written` has them."""
AGES = ("worn_percent", "dead_channels", "hold_up")
"""Keys of a study's `aged`."""
FOUND_IN = "serve"
PROBED = "drive"
"""Storage of the text that is made for a profile."""


@dataclass(frozen=True)
class Target:
    """Resolved drive or stack to serve."""

    name: str
    description: str
    node: nodes.Node
    size_bytes: int
    capacity_bytes: int
    drives: int
    is_volatile: bool
    ignores_flush: bool


@dataclass(frozen=True)
class State:
    """Declared state of flash drives, from the options `--written` and `--age`."""

    written: str | None
    aged: Sequence[str]

    def as_toml(self) -> str:
        """Return the keys of a storage; raise `BadInput` for what is no state."""
        lines = [f"written = {json.dumps(self.written)}"] if self.written else []
        pairs = [_age(text) for text in self.aged]
        if pairs:
            lines.append(f"aged = {{ {', '.join(pairs)} }}")
        return "\n".join(lines)


def _age(text: str) -> str:
    key, _, value = text.partition("=")
    if key not in AGES or not value:
        raise BadInput(
            "this is no age of a drive",
            where="--age",
            found=text,
            accepted=["worn_percent=PERCENT", "dead_channels=NUMBER", "hold_up=TIME"],
        )
    return f"{key} = {value if value.isdecimal() else json.dumps(value)}"


def find_target(
    named: str,
    size_bytes: int | None,
    most_bytes: int,
    state: State,
    *,
    capacitor: bool,
    where: str = FOUND_IN,
) -> Target:
    """Resolve a target; raise `BadInput` if it cannot be served.

    `size_bytes`: size to have. `most_bytes`: most bytes of drives other than disks otherwise.
    `where`: place that an unknown name was found in.
    """
    study, storage, description = _study(named, state, where)
    found = compiled.served_storage(
        str(study.path),
        study.text,
        profiles_of(study),
        most_bytes=most_bytes,
        name=storage,
        size_bytes=size_bytes,
    )
    resolved = found["storage"]
    node = resolved["node"] if capacitor else nodes.without_capacitor(resolved["node"])
    return Target(
        name=study.name if storage == PROBED else f"{study.name}-{resolved['name']}",
        description=", ".join(
            filter(None, (description or nodes.described(node), nodes.state_of(node)))
        ),
        node=node,
        size_bytes=resolved["size_bytes"],
        capacity_bytes=resolved["capacity_bytes"],
        drives=found["drives"],
        is_volatile=found["is_volatile"] or not capacitor,
        ignores_flush=resolved["ignores_flush"],
    )


def _study(named: str, state: State, where: str) -> tuple[StudyFile, str | None, str]:
    """Return a study with the target as a storage, its name, and a description of profiles."""
    path, colon, storage = named.rpartition(":")
    path = path if colon else named
    if colon or _holds_storages(path):
        given = [("--written", state.written), ("--age", state.aged)]
        for option, value in given:
            if value:
                raise BadInput(
                    "a storage of a file declares its state itself, by `written` and `aged`",
                    where=option,
                    found=str(value),
                )
        return read_study(Path(path)), storage if colon else None, ""
    found = devices.find_storage(named, where)
    text = f"[storage.{PROBED}]\n{found.kind} = {json.dumps(found.name)}\n{state.as_toml()}\n"
    study = StudyFile(found.name, Path(where), text, found.extra)
    return study, PROBED, found.description


def _holds_storages(path: str) -> bool:
    """Return whether this is a file with storages; errors of its text have their place later."""
    if not Path(path).is_file():
        return False
    try:
        document = tomllib.loads(read_text(Path(path), "a file with a profile or a storage"))
    except tomllib.TOMLDecodeError:
        return False
    return "storage" in document
