"""Values of a profile, each with its source, in the order of the file."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tameshi.core import compiled
from tameshi.core.errors import BadInput
from tameshi.study.file import StudyFile, plan, profiles, read_text

NEAREST = 5


@dataclass(frozen=True)
class Value:
    """Parameter: its key below the model, its value with the unit, its source."""

    key: str
    value: str
    source: str
    fitted_on: str | None


@dataclass(frozen=True)
class Described:
    """Checked device profile."""

    name: str
    file: tuple[str, str, str]
    description: str
    model: str
    capacity_bytes: int
    device: Mapping[str, Any]
    values: tuple[Value, ...]

    def number(self, key: str) -> int:
        """Return a parameter that is a plain number; 0 if absent."""
        return next((int(v.value) for v in self.values if v.key == key and v.value.isdigit()), 0)


@dataclass(frozen=True)
class Plain:
    """Host or link profile: values with sources, nothing to simulate alone."""

    name: str
    kind: str
    description: str
    values: tuple[Value, ...]


KINDS = {"host": "hosts", "link": "links"}
"""Kinds of profiles besides drives, and the folder of each."""


def plain(kind: str) -> list[Plain]:
    """Return the packaged profiles of a kind."""
    return [_plain(kind, name, text) for name, _, text in profiles(KINDS[kind])]


PROBES = {
    "host": "[host]\nprofile = {name}\n[storage.s]\ndevice = 'null'\n",
    "link": "[storage.s]\nreplica = {{ of = {{ device = 'null' }}, link = {name} }}\n",
}
"""Part of a study that names a profile of a kind, so that the core checks it."""
WORK = """title = "A profile"
question = "Can it be?"
[workload.stream.s]
[phase.s]
workload = ["stream.s"]
until.time = "1 s"
"""


def find_plain(name: str) -> Plain | None:
    """Find a host or link by name, or by the path of the user's file; raise `StudyError`."""
    own = _own(name)
    if own:
        kind = _kind_of(own[2])
        return checked_plain(kind, own) if kind in KINDS else None
    for kind, folder in KINDS.items():
        for known, _, text in profiles(folder):
            if known == name:
                return _plain(kind, known, text)
    return None


def checked_plain(kind: str, file: tuple[str, str, str]) -> Plain:
    """Check a host's or link's file; raise `StudyError` at an invalid place."""
    name, path, text = file
    asks = WORK + PROBES[kind].format(name=json.dumps(name))
    plan(StudyFile(name, Path(path), asks, {KINDS[kind]: [file]}), "simulated", quick=False)
    return _plain(kind, name, text)


def _own(name: str) -> tuple[str, str, str] | None:
    """Return name, path and text of the user's file; names of profiles take precedence."""
    path = Path(name)
    if path.suffix != ".toml" and (name in _every_name() or not path.is_file()):
        return None
    text = read_text(path, "a profile of a drive, an array, a host or a link")
    return path.name.removesuffix(".toml"), str(path), text


def _every_name() -> list[str]:
    folders = ("devices", "arrays", *KINDS.values())
    return [name for folder in folders for name, _, _ in profiles(folder)]


def _kind_of(text: str) -> str:
    """Return the kind of a profile's text; errors of device profiles have their place."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return "device"
    return next((kind for kind in ("array", *KINDS) if kind in document), "device")


def _plain(kind: str, name: str, text: str) -> Plain:
    document = tomllib.loads(text)
    return Plain(name, kind, document["description"], tuple(_values(document[kind])))


def drives() -> list[Described]:
    """Return the packaged drives."""
    return [described(*each) for each in profiles("devices")]


def find(name: str, where: str) -> Described:
    """Find a profile by name, or by the path of the user's file.

    Raises `BadInput` for an unknown one; `where` is the command that asks.
    """
    own = _own(name)
    if own:
        return described(*own)
    for known, file, text in profiles("devices"):
        if known == name:
            return described(known, file, text)
    every = _every_name()
    near = [known for known in every if _alike(known, name)][:NEAREST]
    message = "there is no such profile of a drive, an array, a host or a link, and no such file"
    raise BadInput(message, where=where, found=name, accepted=near or every)


@dataclass(frozen=True)
class Storage:
    """Profile of a drive or an array as a study names it: `device = NAME` or `array = NAME`.

    `extra`: profiles by kind that a study treats as neighbouring files.
    """

    kind: str
    name: str
    description: str
    extra: Mapping[str, Sequence[tuple[str, str, str]]]


def find_storage(name: str, where: str) -> Storage:
    """Find a drive or an array by name or path; raise `BadInput` for an unknown one."""
    array = find_array(name)
    if array:
        extra = {"arrays": [array.file], **array.beside}
        return Storage("array", array.name, array.description, extra)
    drive = find(name, where)
    return Storage("device", drive.name, drive.description, {"devices": [drive.file]})


def _alike(known: str, name: str) -> bool:
    return any(len(part) > 1 and part in known for part in name.lower().split("-"))


def described(name: str, file: str, text: str) -> Described:
    """Check and parse a profile's text; raise `StudyError` at an invalid place."""
    checked = compiled.device_profile(name, file, text)
    ((model, device),) = checked["device"].items()
    values = tuple(_values(device))
    capacity = compiled.size_bytes(device["capacity"]["value"])
    description = checked["description"]
    return Described(name, (name, file, text), description, model, capacity, device, values)


@dataclass(frozen=True)
class Array:
    """Checked array profile: stack, model and values of its drives.

    `beside`: profiles of devices and links that it may name, by kind.
    """

    name: str
    file: tuple[str, str, str]
    description: str
    made_of: str
    capacity_bytes: int
    drives: int
    model: str
    device: Mapping[str, Any]
    values: tuple[Value, ...]
    beside: Mapping[str, Sequence[tuple[str, str, str]]]


def arrays() -> list[Array]:
    """Return the packaged arrays."""
    return [described_array(*each) for each in profiles("arrays")]


def find_array(name: str) -> Array | None:
    """Find an array by name, or by the path of the user's file; raise `StudyError`."""
    own = _own(name)
    if own:
        # In a folder `arrays` of profiles, an array may name their devices.
        beside = Path(own[1]).parent.parent
        return described_array(*own, beside) if _kind_of(own[2]) == "array" else None
    return next((described_array(*each) for each in profiles("arrays") if each[0] == name), None)


def described_array(name: str, file: str, text: str, beside: Path | None = None) -> Array:
    """Check and parse an array profile's text; raise `StudyError` at an invalid place."""
    other = {kind: profiles(kind, beside) for kind in ("devices", "links")}
    answer = compiled.array_profile(name, {"arrays": [(name, file, text)], **other})
    profile, ((model, device),) = answer["profile"], answer["device"].items()
    return Array(
        name=name,
        file=(name, file, text),
        description=profile["description"],
        made_of=_made_of(profile["array"]),
        capacity_bytes=answer["capacity_bytes"],
        drives=answer["drives"],
        model=model,
        device=device,
        values=tuple(_values(profile["array"])),
        beside=other,
    )


def _made_of(stack: Mapping[str, Any]) -> str:
    """Return a phrase on a stack: `cache of raid10 of 24 sas-15k-300gb`."""
    ((kind, inner),) = stack.items()
    if kind == "device":
        return str(inner["value"])
    members = f"{inner['members']['value']} " if "members" in inner else ""
    below = _made_of(inner["of"]) if "of" in inner else str(inner["device"]["value"])
    return f"{kind} of {members}{below}"


def _values(table: Mapping[str, Any], above: str = "") -> Iterator[Value]:
    for key, below in table.items():
        place = f"{above}{key}"
        if not isinstance(below, dict):
            continue
        if "source" in below:
            yield Value(place, _written(below["value"]), below["source"], below.get("fitted_on"))
        else:
            yield from _values(below, f"{place}.")


def _written(value: Any) -> str:
    """Return a value as its file has it."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_written(each) for each in value)
    if isinstance(value, dict):
        return ", ".join(f"{key} {_written(inner)}" for key, inner in value.items())
    return str(value)
