"""Bindings of a study's names to real things: by options, or by a private bindings file."""

from __future__ import annotations

import shlex
import shutil
import tomllib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tameshi.core.errors import BadInput
from tameshi.study.file import read_text

MOST_SLOW = 1000
AUTO = "auto"


@dataclass(frozen=True)
class Bindings:
    """Real storages, servers and commands by their names in studies."""

    storage: dict[str, Path] = field(default_factory=dict)
    server: dict[str, str] = field(default_factory=dict)
    event: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Commands of the user, by the event that each causes."""
    destroy: tuple[str, ...] = ()
    """Values of `--destroy`; no file may set them for the user."""
    backend: str = "auto"
    """I/O backend of a measured run, one of `compiled.BACKENDS`."""
    slow: float | None = 1
    """Slow motion of emulated runs; None: as much as this machine needs."""
    may_spare: bool = False
    """Names in `destroy` may be left unused: they are a permission, not an order."""
    hosts: dict[str, dict[str, str]] = field(default_factory=dict)
    """Paths on other hosts, by host and storage."""


def slow_of(text: str) -> float | None:
    """Return the factor of slow motion; None for `auto`. Raise `BadInput`."""
    if text == AUTO:
        return None
    try:
        factor = round(float(text), 3)
    except ValueError:
        factor = 0.0
    if not 1 <= factor <= MOST_SLOW:
        accepted = [f"a factor from 1 to {MOST_SLOW}", AUTO]
        raise BadInput("unknown slow motion", where="--slow", found=text, accepted=accepted)
    return int(factor) if factor.is_integer() else factor


def check_worlds(worlds: Collection[str], bound: Bindings, slow_like: str | None = None) -> None:
    """Refuse contradictory options before anything is examined."""
    real = {"measured", "emulated"} & {*worlds}
    if bound.storage and not real:
        message = "this option applies to measured and emulated runs only"
        raise BadInput(message, where="--on", hint="Add --world measured or emulated.")
    measured_only = {"--destroy": bound.destroy, "--event": bound.event}
    for option, given in measured_only.items():
        if given and "measured" not in worlds:
            message = "this option applies to measured runs only"
            raise BadInput(message, where=option, hint="Add --world measured.")
    check_slow(bound.slow, worlds, slow_like)
    if bound.backend != "auto" and not real:
        message = "this option applies to measured and emulated runs only"
        raise BadInput(message, where="--backend", hint="Add --world measured or emulated.")


def check_hosts(worlds: Collection[str], bound: Bindings, cluster: object) -> None:
    """Refuse other hosts without a cluster, and what a host takes from no message."""
    if not bound.hosts:
        return
    hosts = ", ".join(bound.hosts)
    if list(worlds) != ["measured"]:
        message = "hosts are for measured runs only"
        raise BadInput(message, where="--on", found=hosts, accepted=["--world measured alone"])
    if cluster is None:
        hint = "Connect their workers to a scheduler, and name it: --cluster tls://HOST:PORT."
        raise BadInput("this needs a cluster", where="--on", found=hosts, hint=hint)
    backend = () if bound.backend == "auto" else (bound.backend,)
    here = {"--on": bound.storage, "--destroy": bound.destroy, "--event": bound.event}
    for option, given in {**here, "--server": bound.server, "--backend": backend}.items():
        if given:
            raise BadInput(
                "this does not go to other hosts",
                where=option,
                found=", ".join(map(str, given)),
                hint="A host's own worker says what may be destroyed: tameshi worker --destroy.",
            )


def check_slow(slow: float | None, worlds: Collection[str], like: str | None = None) -> None:
    """Raise `BadInput` for slow motion without an emulated world, or by two options.

    `like`: host profile of `--slow-like`.
    """
    where = "--slow" if like is None else "--slow-like"
    if (slow != 1 or like is not None) and "emulated" not in worlds:
        message = "slow motion applies to emulated runs only"
        raise BadInput(message, where=where, hint="Add --world emulated.")
    if slow != 1 and like is not None:
        message = "it chooses the factor that --slow sets"
        raise BadInput(message, where=where, accepted=["one of both options"])


def read_bindings(
    file: Path | None, on: Sequence[str], server: Sequence[str], event: Sequence[str] = ()
) -> Bindings:
    """Read the bindings of a file and of options; options win. Raise `BadInput`."""
    storage: dict[str, Path] = {}
    servers: dict[str, str] = {}
    commands: dict[str, str] = {}
    if file:
        tables = _read_file(file)
        storage |= {name: Path(path) for name, path in tables.get("storage", {}).items()}
        servers |= tables.get("server", {})
        commands |= tables.get("event", {})
    hosts: dict[str, dict[str, str]] = {}
    for place, path in _pairs("--on", on, "disk=/mnt/nvme").items():
        host, sign, name = place.rpartition(":")
        if sign:
            hosts.setdefault(host, {})[name] = path
        else:
            storage[name] = Path(path)
    servers |= _pairs("--server", server, "mysql=mariadb")
    commands |= _pairs("--event", event, 'fail="mdadm /dev/md0 --fail /dev/sdb"')
    events = {name: _words(name, command) for name, command in commands.items()}
    return Bindings(storage, servers, events, hosts=hosts)


def _words(name: str, command: str) -> tuple[str, ...]:
    """Split a command into words for the kernel, without a shell."""
    try:
        words = tuple(shlex.split(command))
    except ValueError as error:
        raise BadInput(
            "this command can't be read", where="--event", key=name, found=f"{command} ({error})"
        ) from None
    if not words or shutil.which(words[0]) is None:
        raise BadInput(
            "there is no such program to run",
            where="--event",
            key=name,
            found=words[0] if words else "nothing",
            accepted=["a program in PATH or by its path, with its arguments; no shell reads it"],
        )
    return words


def _pairs(option: str, values: Sequence[str], example: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for value in values:
        name, equals, thing = value.partition("=")
        if not (name and equals and thing):
            raise BadInput(
                "this binds no name",
                where=option,
                found=value,
                accepted=[f"NAME=VALUE, as in {example}"],
            )
        if name in pairs:
            raise BadInput(f"`{name}` is bound twice", where=option, found=value)
        pairs[name] = thing
    return pairs


def _read_file(file: Path) -> dict[str, dict[str, str]]:
    where = str(file)
    try:
        tables = tomllib.loads(read_text(file, "a bindings file"))
    except tomllib.TOMLDecodeError as error:
        raise BadInput("this is no TOML", where=where, found=str(error)) from None
    for name, table in tables.items():
        accepted = [
            "[storage] NAME = PATH",
            "[server] NAME = PRODUCT",
            "[event] NAME = COMMAND",
        ]
        if name not in ("storage", "server", "event") or not isinstance(table, dict):
            raise BadInput(f"`{name}` can't be bound", where=where, key=name, accepted=accepted)
        for key, value in table.items():
            if not isinstance(value, str):
                raise BadInput(
                    "a binding is a string",
                    where=where,
                    key=f"{name}.{key}",
                    found=repr(value),
                    accepted=accepted,
                )
    return tables
